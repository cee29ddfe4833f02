"""Controllers and references for `simulate`: equations with a proof of stability, that compile with
the mechanism.

A controller is a frozen object whose call (t, q, qd) -> tau runs on floats and on expressions. A
reference is a function t -> (q, qd, qdd) of the same kind.
"""

from dalembert.controllers.elastic_links import ElasticPD
from dalembert.controllers.limits import Limited
from dalembert.controllers.passivity_based import AdaptivePassivity, Passivity
from dalembert.controllers.sampled import Sampled
from dalembert.controllers.samples import Samples
from dalembert.controllers.set_point import PD, GravityPD
from dalembert.controllers.tip_inversion import TipInversion, tip_inversion
from dalembert.controllers.tracking import ComputedTorque, FeedForward
from dalembert.generators import Hold, Quintic, Sinusoids
from dalembert.model.limit_vectors import effort_limits

__all__ = [
    "PD",
    "AdaptivePassivity",
    "ComputedTorque",
    "ElasticPD",
    "FeedForward",
    "GravityPD",
    "Hold",
    "Limited",
    "Passivity",
    "Quintic",
    "Sampled",
    "Samples",
    "Sinusoids",
    "TipInversion",
    "effort_limits",
    "tip_inversion",
]


def __dir__() -> list[str]:
    return __all__
