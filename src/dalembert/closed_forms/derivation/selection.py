"""Numbers of a mechanism that become symbols, and the names of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from dalembert.closed_forms.derivation.meanings import meanings_of
from dalembert.errors import DalembertError, UnknownNameError
from dalembert.expr import Expr, Graph, free_symbols, symbol
from dalembert.model.constraint import FramePlace
from dalembert.model.elastic.beam import Beam
from dalembert.model.mechanism import Mechanism, without_warnings
from dalembert.model.numbers import as_float, is_symbolic, several
from dalembert.model.origins import Origin
from dalembert.model.paths import GRAVITY, numbers
from dalembert.spatial.angles import STEPS, PiMultiple
from dalembert.spatial.vectors import IDENTITY

INERTIAL = ("mass", "com", "inertia", "rotor_inertia", "mass_per_length", "rotary_inertia")
GEOMETRY = ("origin", "pitch", "length", "beam_origin")
ELASTIC = ("EA", "EIy", "EIz", "GJ")
VARYING = (*ELASTIC, "mass_per_length")  # along a beam, perhaps
AXIAL = ("com", "inertia", "origin", "axis", "rotary_inertia", "beam_origin")
PASSIVE = ("stiffness", "rest")
KEYWORDS = {
    "all": (*INERTIAL, *GEOMETRY, *ELASTIC, *PASSIVE, "gravity"),
    "inertial": (*INERTIAL, "gravity"),
    "geometry": GEOMETRY,
    "elastic": ELASTIC,
    "gravity": ("gravity",),
}
NOISE = 1e-12  # of a cosine
PLACES = {"first": "1", "second": "2", "frame": ""}  # roles of places in constraints
LETTER = {
    "mass": "m",
    "com": "c",
    "inertia": "I",
    "origin": "p",
    "pitch": "h",
    "rotor_inertia": "Jm",
    "gear_ratio": "n",
    "stiffness": "ks",
    "rest": "rest",
    "rotation": "alpha",
    "viscous": "fv",
    "coulomb": "fc",
    "axis": "ax",
    "multiplier": "mu",
    "offset": "off",
    "length": "l",
    "mass_per_length": "rho",
    "rotary_inertia": "j",
    "beam_origin": "pb",
    "beam_rotation": "beta",
}


@dataclass(frozen=True)
class Selection:
    """A mechanism with symbols for numbers.

    mechanism: numbers replaced (inertias only where they are not grouped); symbols: name -> path of
    the number, with a minus in front where the symbol is the negative of it; values: name -> number
    where the model has one; grouped: whether inertial parameters are to be combined to base
    parameters; wishes: what was asked for.
    """

    mechanism: Mechanism
    graph: Graph
    symbols: dict[str, str]
    values: dict[str, float]
    grouped: bool
    wishes: tuple[str, ...] = ()


def select(
    mechanism: Mechanism, wanted: str | Iterable[str] | None, grouped: bool | None
) -> Selection:
    """Symbols for the numbers that `wanted` names: 'all', 'inertial', 'geometry', 'elastic',
    'gravity', paths, patterns with * and ?.

    Zeros stay zeros: they are the structure. Without a wish, the mechanism's own symbols are all
    there are; if it has none, 'inertial' is taken, and of elastic links 'elastic' and their lengths.

    Raises
    ------
    UnknownNameError
        A path or pattern matches no number.
    DalembertError
        Inertias of elastic links are to be grouped.
    """
    all_paths = dict(numbers(mechanism))
    own = [(path, x) for path, x in all_paths.items() if is_symbolic(x)]
    wishes = _wishes(mechanism, wanted, bool(own))
    inertial = any(w in ("all", "inertial") for w in wishes)
    grouped = _is_grouped(mechanism, inertial, grouped)
    frames = tuple(f"{f.name}." for f in mechanism.frames)
    chosen = [
        path
        for w in wishes
        for path in _matching(w, all_paths)
        if w not in KEYWORDS or not path.startswith(frames)
    ]
    moving = numbers_of_bodies(mechanism)
    graph = own[0][1].graph if own else Graph("equations")
    taken = {s.name for _, x in own for s in free_symbols(x)}
    replaced: dict[str, Any] = {}
    symbols: dict[str, str] = {}
    values: dict[str, float] = {}
    gravity = [path for path in GRAVITY if not _zero(all_paths[path])]
    ends, between = _places_on_beams(mechanism)
    for path in dict.fromkeys([*chosen, *_oblique(all_paths)]):
        x = all_paths[path]
        part, _, suffix = path.rpartition(".")
        kind = suffix.partition("[")[0]
        if is_symbolic(x) or _zero(x) or grouped and kind in INERTIAL[:3]:
            continue
        if path in between or path in ends:
            continue
        name = unused(_name(path, mechanism, moving, gravity), taken)
        turned = path in GRAVITY and as_float(x) < 0
        replaced[path] = -symbol(name, graph) if turned else symbol(name, graph)
        symbols[name], values[name] = (
            ("-" if turned else "") + path,
            abs(as_float(x)) if turned else as_float(x),
        )
    replaced |= {path: replaced[end] for path, end in ends.items() if end in replaced}
    with without_warnings():  # the mechanism warned of these numbers when it was made
        symbolic = mechanism.replace(replaced) if replaced else mechanism
    symbols |= meanings_of(own)
    return Selection(symbolic, graph, symbols, values, grouped, wishes)


def _wishes(
    mechanism: Mechanism, wanted: str | Iterable[str] | None, has_own: bool
) -> tuple[str, ...]:
    """Texts that say which numbers become symbols; has_own: whether there are symbols already."""
    if wanted is None:
        wanted = () if has_own else ("inertial", *_of_beams(mechanism))
    wishes = (
        (wanted,)
        if isinstance(wanted, str)
        else several(wanted, "symbols", "a text such as 'all', or a list of these")
    )
    if wrong := [wish for wish in wishes if not isinstance(wish, str)]:
        raise TypeError(
            f"symbols has {wrong[0]!r} ({type(wrong[0]).__name__}); expected texts such as "
            "'inertial' or 'hand.mass'."
        )
    return tuple(wishes)


def _of_beams(mechanism: Mechanism) -> tuple[str, ...]:
    """Wishes for the numbers of elastic links."""
    if not mechanism.elastic_bodies:
        return ()
    return "elastic", *(f"{body.name}.length" for body in mechanism.elastic_bodies)


def _is_grouped(mechanism: Mechanism, inertial: bool, grouped: bool | None) -> bool:
    """Whether inertial parameters are combined to base parameters.

    Raises
    ------
    DalembertError
        They are to be, and there are elastic links.
    """
    elastic = [body.name for body in mechanism.elastic_bodies]
    if grouped and elastic:
        raise DalembertError(
            f"the inertial parameters of {mechanism.name!r} cannot be grouped: the mass of elastic "
            f"links ({', '.join(elastic)}) moves with their bending. Leave grouped out."
        )
    return inertial and not elastic if grouped is None else grouped


def _places_on_beams(mechanism: Mechanism) -> tuple[dict[str, str], set[str]]:
    """Paths of places at ends of elastic links with the path of the length, which has the same
    symbol; and the paths that keep their numbers: of places between the ends, and lengths there.
    """
    ends: dict[str, str] = {}
    between: set[str] = set()
    beams = {body.name: body.beam for body in mechanism.elastic_bodies if body.beam}
    for body, origin, path in _places(mechanism):
        if body not in beams:
            continue
        beam, end = beams[body], f"{body}.length"
        axis = _axis_of(beam)
        if axis is None:
            turned = [f"{body}.beam_{name}" for name in beam.origin.numbers()]
            between |= {end, *turned, *(f"{path}[{k}]" for k in range(3))}
            continue
        x, path = origin.xyz[axis], f"{path}[{axis}]"
        if is_symbolic(x) or is_symbolic(beam.length):
            between.add(path)
        elif as_float(x) == as_float(beam.length):
            ends[path] = end
        elif not _zero(x):
            between |= {path, end}
    return {path: end for path, end in ends.items() if end not in between}, between


def _axis_of(beam: Beam) -> int | None:
    """The axis of the body along which the beam lies from the body's origin; None: it has another
    place.
    """
    if beam.origin == Origin():
        return 0
    if not all(map(_zero, beam.origin.xyz)) or any(
        map(is_symbolic, beam.origin.numbers().values())
    ):
        return None
    turn = beam.origin.transform(as_float).R
    for k, axis in enumerate(IDENTITY):
        if abs(turn.to_child(axis)[0] - 1) < NOISE:
            return k
    return None


def _places(mechanism: Mechanism) -> Iterator[tuple[str, Origin, str]]:
    """Places on bodies: body, origin, and the path of its vector."""
    for joint in mechanism.joints:
        yield joint.parent, joint.origin, f"{joint.name}.origin"
    for frame in mechanism.frames:
        yield frame.body, frame.origin, f"{frame.name}.origin"
    for constraint in mechanism.constraints:
        for role in PLACES:
            place = getattr(constraint, role, None)
            if isinstance(place, FramePlace):
                yield place.body, place.origin, f"{constraint.name}.{role}_origin"


def _matching(wish: str, paths: Mapping[str, Any]) -> list[str]:
    if wish in KEYWORDS:
        kinds = KEYWORDS[wish]
        return [
            p
            for p in paths
            if (p.rpartition(".")[2] if p not in GRAVITY else p).partition("[")[0] in kinds
        ]
    found = [p for p in paths if p == wish or fnmatchcase(p, wish.replace("[", "[[]"))]
    found += [p for p in paths if p == f"{wish}[0]"] if not found else []
    if not found:
        raise UnknownNameError("path or pattern", wish, (*KEYWORDS, *paths))
    return found


def _oblique(paths: Mapping[str, Any]) -> list[str]:
    """Constant angles whose sine and cosine are no roots: they stay angles, by name."""
    return [
        p
        for p, x in paths.items()
        if ".rotation[" in p
        and not (
            isinstance(x, Expr)
            or _zero(x)
            or isinstance(x, PiMultiple)
            and (x.turns * STEPS).denominator == 1
        )
    ]


def _zero(x: Any) -> bool:
    return isinstance(x, (int, float, Fraction)) and x == 0


def numbers_of_bodies(mechanism: Mechanism) -> dict[str, str]:
    """Number of each joint, of its child and of its actuators: 1, 2, ... for those that move, F1,
    F2, ... for the fixed ones.
    """
    found: dict[str, str] = {mechanism.bodies[0].name: "0"}
    moving = fixed = 0
    for joint in mechanism.joints:
        fixed = fixed + joint.is_fixed
        moving = moving + (not joint.is_fixed)
        found[joint.name] = found[joint.child] = f"F{fixed}" if joint.is_fixed else f"{moving}"
    for actuator in mechanism.actuators:
        found.setdefault(actuator.name, found[actuator.joint])
    return found


def _name(path: str, mechanism: Mechanism, number: Mapping[str, str], gravity: list[str]) -> str:
    if path in GRAVITY:
        return "g" if gravity == [path] else f"g{'xyz'[GRAVITY[path]]}"
    part, _, suffix = path.rpartition(".")
    kind, _, at = suffix.rstrip("]").partition("[")
    role, _, of_place = kind.partition("_")
    if role in PLACES and of_place in LETTER:  # a place of a constraint
        letter = LETTER[of_place] + ("xyz"[int(at)] if of_place == "origin" else at)
        return f"{letter}_{part}{PLACES[role]}"
    axes = "".join("xyz"[int(k)] for k in at.split(",")) if at and kind in AXIAL else ""
    if kind in VARYING and at:
        at = f"_{int(at) + 1}"
        return f"{LETTER.get(kind, kind)}{number.get(part, '')}{at}"
    if kind == "rotation" or kind in (*PASSIVE, "rotor_inertia", "gear_ratio"):
        at = "" if at in ("", "0") else f"_{int(at) + 1}"
        return f"{LETTER[kind]}{number.get(part, '')}{at}"
    return f"{LETTER.get(kind, kind)}{axes}{number.get(part, '')}"


def unused(name: str, taken: set[str]) -> str:
    """The name, or one like it that is not taken; it is then."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
