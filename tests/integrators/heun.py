"""A method that tests register: Heun's, of order 2. One file, which the package does not know."""

from dalembert.integrators.kinds import Fixed


def step(f, t, x, h):
    k = f(t, x)
    return x + h / 2 * (k + f(t + h, x + h * k))


METHOD = Fixed("heun", 2, step)
