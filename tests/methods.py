"""Names of the methods of integration, by kind: a new one is tested by being listed in the package."""

import pytest

from dalembert.integrators import METHODS, Adaptive, External, FixedStep
from dalembert.integrators.method_kinds import CONTACT, MOMENTA, VELOCITIES


def names(kind, state=VELOCITIES):
    """Methods of a kind that are for such states, and for joints that stick and stop."""
    return [name for name, method in METHODS.items() if isinstance(method, kind) and not {state, CONTACT} & {*method.refuses}]


FIXED, ADAPTIVE, EXTERNAL = (names(kind) for kind in (FixedStep, Adaptive, External))
EVERY = [*FIXED, *ADAPTIVE, *EXTERNAL]
IN_MOMENTA = [name for kind in (FixedStep, Adaptive, External) for name in names(kind, MOMENTA)]
WITHOUT_CONTACT = [name for name, method in METHODS.items() if CONTACT in method.refuses]
EXACT = [name for name in EVERY if METHODS[name].order > 1]      # under constant forces

ONE_OF_EACH = ("rk4", "gauss4", "dopri5", "radau5")      # explicit, implicit, with a step that it chooses, a library's


def each(names, quick=ONE_OF_EACH):
    """Parameters of a test, the methods `quick` always, the others where slow tests run.

    For what does not depend on more than the kind; tests/integrators/test_conformance.py runs every method.
    """
    return [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in names]


def tolerances(method, rtol):
    """Options of a method: of fixed step it has no tolerance."""
    return {} if isinstance(METHODS[method], FixedStep) else {"rtol": rtol, "atol": rtol}
