"""A method that tests register: Heun's, of order 2. One file, which the package does not know."""

from dalembert.integrators.method_kinds import FixedStep


def step(f, t, x, h):
    k = f(t, x)
    return x + h / 2 * (k + f(t + h, x + h * k))


METHOD = FixedStep("heun", 2, step)
