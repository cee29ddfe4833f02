"""Controllers and references for `simulate`: equations with a proof of stability, that compile with the mechanism.

A controller is a frozen object whose call (t, q, qd) -> tau runs on floats and on expressions. A reference is a function
t -> (q, qd, qdd) of the same kind.
"""

from dalembert.control.limits import Limited, effort_limits
from dalembert.control.passivity import AdaptivePassivity, Passivity
from dalembert.control.references import Hold, Quintic, Sinusoids
from dalembert.control.sampled import Sampled
from dalembert.control.samples import Samples
from dalembert.control.set_point import PD, GravityPD
from dalembert.control.tracking import ComputedTorque, FeedForward

__all__ = ["PD", "AdaptivePassivity", "ComputedTorque", "FeedForward", "GravityPD", "Hold", "Limited", "Passivity",
           "Quintic", "Sampled", "Samples", "Sinusoids", "effort_limits"]
