"""Inertias of bodies as MuJoCo takes them: positive, and those of some distribution of mass to the
last bit.
"""

from __future__ import annotations

import numpy as np

from dalembert.model.parts import Body
from dalembert.model.repairs import (
    nearest_tensor,
    second_moments,
)
from dalembert.spatial.rotations import quaternion_of
from dalembert.writers.numerals import (
    decimal,
    decimals,
)
from dalembert.writers.xml_elements import (
    XmlElement,
    xml_element,
)

LEAST = 1e-14  # kg m^2, of second moments; MuJoCo refuses moments below 1e-15
LEAST_MASS = 1e-15  # kg; MuJoCo refuses bodies below
ROUNDING = 1e-11  # of the largest moment; MuJoCo's own principal moments are off by 1e-12
EXCUSED = 1e-9  # of the largest moment: what is missing is rounding
DIAGONAL_FIRST = (0, 2, 5, 1, 3, 4)  # entries of Body.inertia as MuJoCo has them


def is_massless(body: Body) -> bool:
    """Whether a body has neither a mass nor moments."""
    return not any((body.mass, *body.inertia))


def is_too_light(body: Body) -> bool:
    """Whether MuJoCo refuses the mass of a body that moves, since it is above 0 and very small."""
    return bool(0 < body.mass < LEAST_MASS)


def is_refused(body: Body) -> bool:
    """Whether MuJoCo refuses the inertia of a body that moves, but for rounding."""
    if is_massless(body):
        return False
    tensor = np.array(body.tensor(), dtype=float)
    moments = np.linalg.eigvalsh(second_moments(tensor))
    return body.mass < 0 or bool(-moments[0] > EXCUSED * np.abs(moments).max())


def inertial(body: Body) -> XmlElement:
    """The <inertial> of a body; where its moments are at the border of the possible, with second
    moments raised by no more than rounding.
    """
    place = {"pos": decimals(body.com), "mass": decimal(body.mass)}
    tensor = np.array(body.tensor(), dtype=float)
    moments = np.linalg.eigvalsh(second_moments(tensor))
    least = max(LEAST, ROUNDING * float(np.abs(moments).max()))
    is_diagonal = not any(body.inertia[k] for k in (1, 3, 4))
    if moments[0] >= least:
        if is_diagonal:
            return xml_element(
                "inertial", **place, diaginertia=decimals(body.inertia[k] for k in (0, 2, 5))
            )
        return xml_element(
            "inertial", **place, fullinertia=decimals(body.inertia[k] for k in DIAGONAL_FIRST)
        )
    raised = nearest_tensor(tensor, least)
    if is_diagonal:
        return xml_element("inertial", **place, diaginertia=decimals(np.diag(raised).tolist()))
    principal, axes = np.linalg.eigh(raised)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return xml_element(
        "inertial",
        **place,
        quat=decimals(quaternion_of(axes)),
        diaginertia=decimals(_possible(principal).tolist()),
    )


def _possible(principal: np.ndarray) -> np.ndarray:
    """Principal moments in rising order, the largest no more than the sum of the others."""
    a, b, c = principal
    return np.array([a, b, min(c, a + b)])
