"""Names of the methods of integration, by kind: a new one is tested by being listed in the package."""

from dalembert.integrators import METHODS, Adaptive, External, Fixed
from dalembert.integrators.kinds import MOMENTA, VELOCITIES


def names(kind, state=VELOCITIES):
    """Methods of a kind that are for such states."""
    return [name for name, method in METHODS.items() if isinstance(method, kind) and state not in method.refuses]


FIXED, ADAPTIVE, EXTERNAL = (names(kind) for kind in (Fixed, Adaptive, External))
EVERY = [*FIXED, *ADAPTIVE, *EXTERNAL]
IN_MOMENTA = [name for kind in (Fixed, Adaptive, External) for name in names(kind, MOMENTA)]
EXACT = [name for name in EVERY if METHODS[name].order > 1]      # under constant forces


def tolerances(method, rtol):
    """Options of a method: of fixed step it has no tolerance."""
    return {} if isinstance(METHODS[method], Fixed) else {"rtol": rtol, "atol": rtol}
