"""Forces and moments in the cross-sections of a beam, by the balance of the part beyond each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import (
    dataclass,
    field,
    replace,
)
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.arguments import (
    check_choice,
    real_array,
)
from dalembert.beams.beam_properties import BeamProperty
from dalembert.beams.cross_sections import Stress
from dalembert.beams.shape_functions import STRETCH
from dalembert.displays import brief_repr
from dalembert.errors import (
    DalembertError,
    ModelError,
    ShapeError,
    UnknownNameError,
)
from dalembert.formulations.newton_euler.body_rates import (
    base_rates,
    body_wrench,
    outward_step,
)
from dalembert.formulations.newton_euler.inverse import joint_motion
from dalembert.kinematics.forces import external_wrenches
from dalembert.model.elastic.beam_sections import BeamSection
from dalembert.model.elastic.bending import AXIS_OF
from dalembert.model.linkage import Entry
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.model.parts import Body
from dalembert.model.tree import Tree
from dalembert.spatial.arrays import (
    Array,
    Values,
)
from dalembert.spatial.motion_force import (
    NO_FORCE,
    Force,
)
from dalembert.spatial.turns import rate_map

# Names of the forces [N] and moments [N m] in a section.
FORCES = ("N", "V_y", "V_z")
MOMENTS = ("M_x", "M_y", "M_z")
STRESSES = Stress._fields
NEAR = 1e-9  # of the length: a part this near to a place is there


class SectionPeak(NamedTuple):
    """The largest value, in size, of a force, moment or stress along a beam and over a run.

    value : with its sign [N, N m, Pa]
    x : where [m]; time : when [s], NaN of states without times; record : its place among states

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
    >>> rod = da.Mechanism("rod", [da.Body("wall"), da.Body("rod", beam=beam, modes={"bend_z": 3})],
    ...                    [da.Joint("clamp", da.Fixed(), "wall", "rod")])
    >>> found = da.section_forces_at(rod, da.static_deflection(rod, rod.neutral()).q, [0] * 3, [0] * 3, "rod", [0, 0.5])
    >>> found.largest("M_y").x
    0.0
    """

    value: float
    x: float
    time: float
    record: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SectionForces:
    """Forces and moments in the cross-sections of a beam: these of the part beyond x on the part before
    it, in the axes of the bent section, x along the centre line; N > 0 pulls.

    Attributes
    ----------
    body : name of the beam's body
    x : (m,), places along it [m]
    times : (K,) of a run [s]; None of states
    force, moment : (m, 3), or (K, m, 3), (N, K, m, 3) [N], [N m]

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
    >>> rod = da.Mechanism("rod", [da.Body("wall"), da.Body("rod", beam=beam, modes={"bend_z": 3})],
    ...                    [da.Joint("clamp", da.Fixed(), "wall", "rod")])
    >>> found = da.section_forces_at(rod, rod.neutral(), [0] * 3, [0] * 3, "rod", [0.0, 0.5])
    >>> found.V_z, found.M_y
    (array([-9.81 , -4.905]), array([4.905  , 1.22625]))
    """

    __repr__ = brief_repr

    mechanism: Mechanism = field(repr=False)
    body: str
    x: Array
    times: Array | None
    force: Array
    moment: Array

    @property
    def N(self) -> Array:
        """Axial force (..., m) [N]."""
        return self.force[..., 0]

    @property
    def V_y(self) -> Array:
        """Shear force along y (..., m) [N]."""
        return self.force[..., 1]

    @property
    def V_z(self) -> Array:
        """Shear force along z (..., m) [N]."""
        return self.force[..., 2]

    @property
    def M_x(self) -> Array:
        """Moment of torsion (..., m) [N m]."""
        return self.moment[..., 0]

    @property
    def M_y(self) -> Array:
        """Bending moment about y (..., m) [N m]."""
        return self.moment[..., 1]

    @property
    def M_z(self) -> Array:
        """Bending moment about z (..., m) [N m]."""
        return self.moment[..., 2]

    def stresses(self, section: Any = None) -> Stress:
        """Largest stresses of each section: normal, shear by torsion, and von Mises', (..., m) each [Pa].

        Parameters
        ----------
        section : CrossSection, or function of x / length, optional
            By default the section that the beam was made of.

        Raises
        ------
        ModelError
            The beam has no section, or the section no outer fibres.

        Examples
        --------
        >>> import dalembert as da
        >>> bar = da.beams.rectangle(height=0.02, width=0.02)
        >>> beam = da.Beam.of_section(1.0, bar, da.beams.material("steel"))
        >>> rod = da.Mechanism("rod", [da.Body("wall"), da.Body("rod", beam=beam, modes={"bend_z": 3})],
        ...                    [da.Joint("clamp", da.Fixed(), "wall", "rod")])
        >>> found = da.section_forces_at(rod, rod.neutral(), [0] * 3, [0] * 3, "rod", [0.0])
        >>> (found.stresses().normal / 1e6).round(2)
        array([11.55])
        """
        beam = self.mechanism.body(self.body).beam
        assert beam is not None
        section = beam.section if section is None else section
        if section is None:
            raise ModelError(
                f"the beam of body {self.body!r} has no section: give stresses(section), or make the "
                "beam by da.Beam.of_section."
            )
        length = as_float(beam.length)
        found = []
        for k, x in enumerate(self.x):
            here = section(float(x) / length) if callable(section) else section
            found.append(here.stress(self.force[..., k, :], self.moment[..., k, :]))
        return Stress(*(np.stack(values, axis=-1) for values in zip(*found, strict=True)))

    def largest(self, name: str, section: Any = None) -> SectionPeak:
        """The largest value, in size, with where and when: of 'N', 'V_y', 'V_z', 'M_x', 'M_y', 'M_z',
        'normal', 'shear', 'von_mises'.

        Parameters
        ----------
        name : str
        section : CrossSection, or function of x / length, optional
            For stresses.

        Raises
        ------
        UnknownNameError, ModelError
            There is no such quantity; the beam has no section.

        Examples
        --------
        >>> import dalembert as da
        >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
        >>> rod = da.Mechanism("rod", [da.Body("wall"), da.Body("rod", beam=beam, modes={"bend_z": 3})],
        ...                    [da.Joint("clamp", da.Fixed(), "wall", "rod")])
        >>> found = da.section_forces_at(rod, rod.neutral(), [0] * 3, [0] * 3, "rod", [0.0, 0.5])
        >>> round(found.largest("M_y").value, 3)
        4.905
        """
        check_choice("section quantity", name, (*FORCES, *MOMENTS, *STRESSES))
        of_stress = name in STRESSES
        values = getattr(self.stresses(section) if of_stress else self, name)
        if np.isnan(values).all():
            raise DalembertError(f"{name} of body {self.body!r} has no finite value.")
        at = np.unravel_index(int(np.nanargmax(np.abs(values))), values.shape)
        *record, k = (int(i) for i in at)
        time = np.nan if self.times is None else float(self.times[record[-1]])
        return SectionPeak(float(values[at]), float(self.x[k]), time, tuple(record))


def section_forces_at(
    mechanism: Mechanism,
    q: Values,
    qd: Values,
    qdd: Values,
    body: str,
    x: float | Values,
    external_forces: Any = (),
) -> SectionForces:
    """Section forces and moments along a beam, of states with their accelerations.

    The balance of inertia, gravity and loads of all that lies beyond x gives them, exactly for the
    motion given; a part attached at x itself counts as beyond.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (K, nq) array
        Coordinates [rad, m].
    qd, qdd : (nv,) or (K, nv) arrays
        Velocities and accelerations [rad/s, m/s; rad/s^2, m/s^2].
    body : str
        Elastic body.
    x : number or (m,) array
        Places along its beam [m].
    external_forces : sequence of ExternalForce, optional
        Forces that act then.

    Returns
    -------
    SectionForces
        force and moment, (m, 3) or (K, m, 3) [N], [N m].

    Raises
    ------
    DalembertError
        The body has no elastic beam; a place is not on it; the mechanism has constraints.
    ShapeError, UnknownNameError, ValueError, QuaternionError
        A vector has the wrong length; there is no such body.

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
    >>> rod = da.Mechanism("rod", [da.Body("wall"), da.Body("rod", beam=beam, modes={"bend_z": 3})],
    ...                    [da.Joint("clamp", da.Fixed(), "wall", "rod")])
    >>> da.section_forces_at(rod, rod.neutral(), [0] * 3, [0] * 3, "rod", 0.0).M_y     # w l^2 / 2
    array([4.905])
    """
    owner = elastic_body(mechanism, body)
    places = places_on(owner, x)
    if mechanism.constraints:
        raise DalembertError(
            f"section forces of {mechanism.name!r}: its constraints act with forces that are not part "
            "of this balance. Cut the loop: mechanism.without('constraints'), with the multipliers as "
            "external forces."
        )
    cut = _cut(mechanism, owner, places)
    tree, (q_, qd_, qdd_, loads), pack = cut.at(
        q=q, qd=qd, qdd=qdd, external_forces=external_forces
    )
    wrenches = _transmitted(tree, (q_, qd_, qdd_), external_wrenches(tree, q_, loads))
    entry = mechanism.body_entries[body]
    found = [_section_wrench(tree, owner, entry, q_, wrenches, float(xi)) for xi in places]
    rows = [[[-c for c in (*f.force, *f.moment)] for f in found]]
    values = pack(rows)[..., 0, :, :]
    return SectionForces(
        mechanism,
        body,
        places * as_float(owner.beam.length),
        None,
        values[..., :3],
        values[..., 3:],
    )


def elastic_body(mechanism: Mechanism, name: str) -> Any:
    """The body of that name, if it has an elastic beam.

    Raises
    ------
    UnknownNameError, DalembertError
    """
    bodies = {b.name: b for b in mechanism.elastic_bodies}
    if name in bodies:
        return bodies[name]
    if name not in {b.name for b in mechanism.bodies}:
        raise UnknownNameError("elastic body", name, tuple(bodies))
    known = ", ".join(bodies) or "none"
    raise DalembertError(
        f"body {name!r} is rigid, without sections that bend; elastic bodies: {known}. Give it a "
        "beam with modes."
    )


def places_on(body: Body, x: Any) -> Array:
    """x / length of places along a beam, (m,), which rise or not.

    Raises
    ------
    ShapeError, DalembertError
    """
    assert body.beam is not None
    length = as_float(body.beam.length)
    places = np.atleast_1d(real_array("x", x)) / length
    if places.ndim != 1 or not len(places):
        raise ShapeError(f"x has shape {np.shape(x)}, expected () or (m,).", "x", np.shape(x))
    outside = ~((places >= -NEAR) & (places <= 1 + NEAR))
    if outside.any():
        raise DalembertError(
            f"x = {places[outside][0] * length:g} m is not on the beam of body {body.name!r}, from 0 to "
            f"{length:g} m."
        )
    return np.clip(places, 0.0, 1.0)


def _cut(mechanism: Mechanism, body: Any, places: Array) -> Mechanism:
    """The mechanism with the mass of a beam in pieces that end at the places."""
    ends = sorted({0, 1, *(float(xi) for xi in places if NEAR < xi < 1 - NEAR)})
    along = body.beam.along("mass_per_length")
    breaks: list[Any] = [0]
    values: list[Any] = []
    for left, right in zip(ends[:-1], ends[1:], strict=True):
        piece = along.between(left, right)
        breaks += [left + (right - left) * b for b in piece.breaks[1:-1]]
        breaks.append(right)
        values += piece.values
    beam = replace(body.beam, mass_per_length=BeamProperty(tuple(breaks), tuple(values)))
    cut_body = replace(body, beam=beam)
    bodies = tuple(cut_body if b.name == body.name else b for b in mechanism.bodies)
    return replace(mechanism, bodies=bodies)


def _transmitted(tree: Tree, state: Sequence[Any], loads: dict[int, Force]) -> dict[int, Force]:
    """Force that each body gets from its parent, about its origin in its axes, for its own motion and
    its children.
    """
    rates = {0: base_rates(tree.gravity)}
    f = {0: NO_FORCE}
    X = {}
    for i in tree.outward():
        X[i] = tree.joint[i].placement(state[0])
        _, velocity, rate = joint_motion(tree, i, *state)
        rates[i] = outward_step(rates[tree.parent[i]], X[i], velocity, rate)
        f[i] = body_wrench(tree.inertia[i], rates[i])
        if i in loads:
            f[i] = f[i] - loads[i]
    for i in tree.inward():
        j = tree.parent[i]
        f[j] = f[j] + X[i].force_to_parent(f[i])
    return f


def _section_wrench(
    tree: Tree,
    body: Any,
    entry: Entry,
    q: Sequence[Any],
    wrenches: dict[int, Force],
    place: float,
) -> Force:
    """Force on the part of a beam beyond a place, about the section's centre in its axes."""
    along = place * body.elements
    number = min(int(along + NEAR), body.elements - 1)
    xi = along - number
    first = entry.at_v.start + number * body.bending.count
    total = NO_FORCE
    joint: Any = None
    for i in tree.outward():
        section = tree.joint[i]
        if not section.is_section or section.body != body.name or section.dof.start != first:
            continue
        joint = section
        if section.type.xi >= xi - NEAR:
            total = total + section.placement(q).force_to_parent(wrenches[i])
    assert joint is not None, f"body {body.name!r} has no sections"
    at = BeamSection(body.bending, joint.type.length, xi)
    X = replace(joint, type=at).placement(q)
    force = X.R.to_child(total.force)
    moment = X.R.to_child(total.moment - X.p.cross(total.force))
    return Force(moment, force)


def strain_forces(mechanism: Mechanism, q: Values, body: str, x: float | Values) -> Array:
    """Section forces by the strains of the shape functions, as a check of these of the balance: they
    converge more slowly with the number of modes.

        N = EA u',   M_x = GJ twist',   M_y = -EIy w'',   M_z = EIz v''

    Of a beam that twists and bends about both axes, or far about several, by the curvature T(theta)
    theta'. Directions without modes have 0.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (K, nq) array
        Coordinates [rad, m].
    body : str
        Elastic body.
    x : number or (m,) array
        Places along its beam [m].

    Returns
    -------
    (m, 4) or (K, m, 4) array
        N, M_x, M_y, M_z [N, N m].

    Raises
    ------
    DalembertError
        The body has no elastic beam; a place is not on it.
    ShapeError, UnknownNameError, ValueError, QuaternionError
        A vector has the wrong length; there is no such body.

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIy=100.0, EIz=100.0, mass_per_length=1.0)
    >>> rod = da.Mechanism("rod", [da.Body("wall"), da.Body("rod", beam=beam, modes={"bend_z": 3})],
    ...                    [da.Joint("clamp", da.Fixed(), "wall", "rod")])
    >>> bent = da.static_deflection(rod, rod.neutral())
    >>> da.strain_forces(rod, bent.q, "rod", 0.0)[0].round(1) + 0      # M_y of the balance is 4.905
    array([0. , 0. , 4.9, 0. ])
    """
    owner = elastic_body(mechanism, body)
    places = places_on(owner, x)
    _, (columns,), pack = mechanism.at(q=q)
    entry = mechanism.body_entries[body]
    rows = [_strain_row(owner, entry, columns, float(xi)) for xi in places]
    stiffness = np.array([_stiffness_at(owner, float(xi)) for xi in places])
    return np.asarray(pack([rows])[..., 0, :, :] * stiffness, dtype=float)


def _strain_row(body: Any, entry: Entry, q: Sequence[Any], place: float) -> list[Any]:
    """u', and the twist and curvatures about y and z, at a place of a beam [1, 1/m]."""
    along = place * body.elements
    number = min(int(along + NEAR), body.elements - 1)
    xi = along - number
    bending = body.bending
    start = entry.at_q.start + number * bending.count
    delta = q[start : start + bending.count]
    length = as_float(body.beam.length) / body.elements
    stretch = bending.displacement(STRETCH, delta, xi, 1) / length
    kappa = bending.rotation_vector(delta, length, xi, 1) * (1 / length)
    if bending.is_curved or bending.couples_twist:
        kappa = rate_map(bending.rotation_vector(delta, length, xi), kappa)
    curvatures = zip(AXIS_OF, kappa, strict=True)
    return [stretch, *(k if direction in bending.at else 0 for direction, k in curvatures)]


def _stiffness_at(body: Any, place: float) -> list[float]:
    """EA, GJ, EIy, EIz at a place; 0 where the beam has none."""
    beam = body.beam
    names = ("EA", "GJ", "EIy", "EIz")
    return [
        0.0 if getattr(beam, name) is None else float(beam.at(name, place, as_float))
        for name in names
    ]
