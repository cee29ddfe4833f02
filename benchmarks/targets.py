"""What this package means to reach; docs/benchmarks.md lists every one as met or missed."""

from __future__ import annotations

from typing import NamedTuple

MICRO, SECONDS, PART, MEGABYTES = "{us:.2f} us", "{:.3g} s", "{:.2f}", "{mb:.0f} MB"
FIRST = ("startup", "panda", "inverse_dynamics")
# part of a ratio that is meant to be reached without AVX-512: half as many states per vector
NARROW = 0.5


class Target(NamedTuple):
    """At least (or at most) so much of a measured number."""

    text: str
    key: tuple[str, ...]  # of the measured number
    bound: float
    least: bool = True
    form: str = "{:.1f} times"

    def narrow(self) -> Target:
        """What it is without AVX-512: half, where speeds are compared with engines that do not use
        vectors as wide.
        """
        return self._replace(bound=NARROW * self.bound) if self.key[0] == "ratio" else self

    def met(self, value: float) -> bool:
        return value >= self.bound if self.least else value <= self.bound


def _ratios(
    robot: str,
    title: str,
    quantity: str,
    pinocchio: float,
    casadi: float | None = None,
    mujoco: float | None = None,
) -> list[Target]:
    peers = {"Pinocchio": pinocchio, "CasADi": casadi, "MuJoCo": mujoco}
    return [
        Target(
            f"{title}, {quantity.replace('_', ' ')}: times {peer}'s speed",
            ("ratio", robot, quantity, peer),
            bound,
        )
        for peer, bound in peers.items()
        if bound is not None
    ]


def _long(quantity: str) -> list[Target]:
    title = f"Planar chain, {quantity.replace('_', ' ')}"
    return [
        Target(f"{title}: cost per joint, n = 10 000 by n = 100", ("growth", quantity), 2, False),
        *(
            Target(
                f"{title}, n = {n}: {text}", ("chains", quantity, str(n), key), bound, False, form
            )
            for n in (1000, 10_000)
            for text, key, bound, form in (
                ("trace and compile", "first", 2, SECONDS),
                ("memory of the process", "memory", 300e6, MEGABYTES),
            )
        ),
    ]


TARGETS = [
    *_ratios("panda", "Panda", "inverse_dynamics", 45, 11),
    *_ratios("panda", "Panda", "forward_dynamics", 40, 9),
    *_ratios("panda", "Panda", "mass_matrix", 16, 10),
    *_ratios("panda", "Panda", "inverse_dynamics_derivatives", 17, 8),
    *_ratios("panda", "Panda", "forward_dynamics_derivatives", 10, 10),
    *_ratios("panda", "Panda", "regressor", 15, 5),
    *_ratios("panda", "Panda", "rk4_step", 40, 8, 28),
    *_ratios("g1", "Humanoid", "inverse_dynamics", 18, 5),
    *_ratios("g1", "Humanoid", "forward_dynamics", 18, 5),
    *_ratios("g1", "Humanoid", "inverse_dynamics_derivatives", 8),
    *_ratios("chain100", "Planar chain, n = 100", "inverse_dynamics", 15),
    *_ratios("chain100", "Planar chain, n = 100", "forward_dynamics", 15),
    *_long("inverse_dynamics"),
    *_long("forward_dynamics"),
    Target(
        "Panda, inverse dynamics, one state from Python with out=",
        ("single", "dalembert, out="),
        0.3e-6,
        False,
        MICRO,
    ),
    Target(
        "Panda, inverse dynamics, one state from Python",
        ("single", "dalembert"),
        0.5e-6,
        False,
        MICRO,
    ),
    Target("Import", (*FIRST, "import"), 0.15, False, SECONDS),
    Target("Panda, inverse dynamics, trace and compile", (*FIRST, "first"), 0.3, False, SECONDS),
    Target("Panda, inverse dynamics: from the cache", (*FIRST, "again"), 0.02, False, SECONDS),
    Target(
        "Panda, the six quantities: trace and compile",
        ("startup", "panda", "all", "first"),
        3,
        False,
        SECONDS,
    ),
    Target(
        "Humanoid, inverse dynamics: trace and compile",
        ("startup", "g1", "inverse_dynamics", "first"),
        2,
        False,
        SECONDS,
    ),
    Target(
        "Humanoid, inverse dynamics derivatives: trace and compile",
        ("startup", "g1", "inverse_dynamics_derivatives", "first"),
        20,
        False,
        SECONDS,
    ),
    Target(
        "Panda, inverse dynamics, 100 000 states: two threads", ("threads", "inverse_dynamics"), 1.8
    ),
    Target(
        "Panda, inverse dynamics: part of the nearer hardware limit",
        ("limit", "panda", "inverse_dynamics"),
        0.5,
        True,
        PART,
    ),
    Target(
        "Panda, forward dynamics: part of the nearer hardware limit",
        ("limit", "panda", "forward_dynamics"),
        0.5,
        True,
        PART,
    ),
]
