"""Findings: each says what, where, why and how to fix it; structure that leaves no mechanism is refused at once."""

import copy
import pickle
import re
import warnings

import numpy as np
import pytest

import dalembert as da

GOOD = (0.1, 0, 0.2, 0, 0, 0.25)


def pair(body=None, joint=None, **more):
    return da.Mechanism("m", [da.Body("base"), body or da.Body("link", 1, (0, 0, 0), GOOD)],
                        [joint or da.Joint("j", da.Revolute(), "base", "link")], **more)


def joint(**changes):
    return da.Joint(**{"name": "j", "type": da.Revolute(), "parent": "base", "child": "link"} | changes)


@pytest.mark.parametrize("make, message", [
    (lambda: pair(da.Body("base")), "body 'base': the name is used 2 times. Rename all but one."),
    (lambda: pair(joint=joint(parent="bse")), "joint 'j': it names the parent body 'bse', which does not exist. Did you mean "
                                              "'base'?"),
    (lambda: pair(joint=joint(parent="link")), "joint 'j': it connects body 'link' to itself."),
    (lambda: pair(joint=joint(type=da.Revolute((0, 0, 0)))), "joint 'j': axis has length 0. A revolute joint needs a "
                                                             "direction, for example [0, 0, 1]."),
    (lambda: pair(joint=joint(type=da.Universal((1, 0, 0), (-2, 0, 0)))), "its two axes are parallel"),
    (lambda: pair(joint=joint(limits=da.Limits((1,), (-1,)))), "its lower limit 1 is above its upper limit -1."),
    (lambda: pair(joint=joint(viscous=-1)), "viscous is -1, below 0."),
    (lambda: pair(joint=joint(type=da.Spherical(), stiffness=1)), "a spherical joint has no single coordinate for a spring."),
    (lambda: pair(joint=joint(type=da.Spherical(), rotor_inertia=1)), "a spherical joint has no single coordinate for a rotor."),
    (lambda: pair(joint=joint(mimic=da.Mimic("k"))), "it names the joint to follow 'k', which does not exist."),
    (lambda: pair(joint=joint(mimic=da.Mimic("j"))), "it follows itself (j -> j)."),
    (lambda: pair(joint=joint(type=da.Planar(), mimic=da.Mimic("j"))), "a planar joint cannot follow another."),
    (lambda: da.Mechanism("m", [], []), "mechanism 'm': it has no body."),
    (lambda: da.Mechanism("m", [da.Body("a"), da.Body("b")], []), "it has 2 bodies without a parent ('a', 'b')."),
    (lambda: da.Mechanism("m", [da.Body("a"), da.Body("b")], [joint(parent="a", child="b"), joint(name="k", parent="b", child="a")]),
     "bodies 'a', 'b': their joints form a cycle."),
    (lambda: da.Mechanism("m", [da.Body(b) for b in "abc"], [joint(parent="b", child="c"), joint(name="k", parent="c", child="b")]),
     "bodies 'b', 'c': their joints form a cycle."),
    (lambda: da.Mechanism("m", [da.Body(b) for b in "abc"], [joint(parent="a", child="c"), joint(name="k", parent="b", child="c")]),
     "body 'c': it is the child of joints 'j' and 'k'."),
    (lambda: pair(frames=[da.Frame("f", "lnk")]), "frame 'f': it names the body 'lnk', which does not exist. Did you mean 'link'?"),
    (lambda: pair(frames=[da.Frame("link", "link")]), "frame 'link': a body has the same name."),
])
def test_a_structure_that_leaves_no_mechanism_is_refused(make, message):
    with pytest.raises(da.ModelError) as error:
        make()
    assert message in str(error.value)
    assert error.value.findings[0].fix


@pytest.mark.parametrize("body, severity, why", [
    (da.Body("link", -1, (0, 0, 0), GOOD), "error", "its mass is -1 kg, below 0."),
    (da.Body("link", 1, (0, 0, 0), (0.01, 0, 0.02, 0, 0, 0.05)), "error",
     "its principal moments 0.01, 0.02, 0.05 kg m^2 break I1 + I2 >= I3."),
    (da.Body("link", 1, (0, 0, 0), (0.1, 0.3, 0.1, 0, 0, 0.1)), "error", "are not all positive."),
    (da.Body("link", 0, (0.1, 0, 0), GOOD), "warning", "it has a centre of mass but no mass."),
    (da.Body("link"), "error", "it moves on joint 'j' and has no mass: accelerations are not determined,"),
])
def test_doubtful_inertias_are_found_but_do_not_stop_the_load(body, severity, why):
    found = [f for f in pair(body).check() if why in str(f)]
    assert [f.severity for f in found] == [severity]


@pytest.mark.parametrize("tensor", [(0, 0, 0, 0, 0, 0), (0.1, 0, 0.1, 0, 0, 0), (0.1, 0, 0.2, 0, 0, 0.3)])
def test_point_masses_rods_and_plates_are_admissible(tensor):
    assert not pair(da.Body("link", 1, (0.5, 0, 1), tensor)).check()      # on a joint that turns about z


def test_an_axis_of_another_length_is_reported_with_it():
    finding, = pair(joint=joint(type=da.Revolute((3, 0, 4)))).check()
    assert (finding.severity, str(finding)) == ("warning", "joint 'j': axis has length 5; it is scaled to 1.")


def test_symbolic_inertias_are_listed_as_unchecked():
    finding, = pair().replace({"link.mass": da.symbol("m")}).check()
    assert finding.severity == "note" and "1 body with symbolic inertia ('link')" in finding.what


def test_findings_carry_file_and_line():
    source = da.Source("arm.urdf", 12)
    finding, = pair(da.Body("link", -1, (0, 0, 0), GOOD, source)).check()
    assert str(finding).startswith("body 'link' (arm.urdf, line 12): ")
    assert finding.as_dict() == {"severity": "error", "what": "body 'link'", "file": "arm.urdf", "line": 12,
                                 "why": "its mass is -1 kg, below 0.", "fix": "Give a positive mass."}


def test_many_faults_are_all_carried_and_a_few_written_out():
    bodies = [da.Body("base"), *(da.Body(f"b{k}") for k in range(9))]
    with pytest.raises(da.ModelError, match="; and 4 more$") as error:
        da.Mechanism("m", bodies, [da.Joint(f"j{k}", da.Revolute((0, 0, 0)), "base", f"b{k}") for k in range(9)])
    assert len(error.value.findings) == 9


def test_forward_dynamics_names_joint_and_body_of_a_massless_link():
    ghost = pair(da.Body("link"))
    with pytest.raises(da.SingularMassMatrixError, match="joint 'j': the inertia of body 'link'.*is 0, not positive") as error:
        da.forward_dynamics(ghost, [0], [0], [1])
    assert (error.value.joint, error.value.body, error.value.pivot) == ("j", "link", 0)
    with pytest.raises(da.SingularMassMatrixError):
        da.inverse_mass_matrix(ghost, [0])


def wrist():
    """Axes z, y, z through one point and a point mass on the last axis (Kolyubin, singular_wrist)."""
    bodies = [da.Body("base"), da.Body("a"), da.Body("b"), da.Body("c", 1, (0, 0, 0.2))]
    axes = ((0, 0, 1), (0, 1, 0), (0, 0, 1))
    return da.Mechanism("wrist", bodies, [da.Joint(f"j{k}", da.Revolute(a), bodies[k].name, bodies[k + 1].name)
                                          for k, a in enumerate(axes)])


def test_a_singular_wrist_is_detected_not_factorised():
    q = [0.3, 0.7, -0.4]
    assert da.mass_matrix(wrist(), q) == pytest.approx(np.diag([0.01660065714199518, 0.04, 0]), abs=1e-16)
    for solve in (lambda: da.forward_dynamics(wrist(), q, [0, 0, 0], [1, 1, 1]), lambda: da.inverse_mass_matrix(wrist(), q)):
        with pytest.raises(da.SingularMassMatrixError, match="joint 'j2': the inertia of body 'c'"):
            solve()


def test_rounding_does_not_hide_a_singular_configuration():
    """With the wrist straight the first joint moves nothing that the last does not: tiny pivots are not inertias."""
    straight = wrist().replace({"c.inertia[0,0]": 0.01, "c.inertia[1,1]": 0.01, "c.inertia[2,2]": 0.005})
    for angle in (0.0, 1e-9):
        with pytest.raises(da.SingularMassMatrixError, match="joint 'j0'"):
            da.forward_dynamics(straight, [0.3, angle, -0.4], [0, 0, 0], [1, 1, 1])
    assert da.forward_dynamics(straight, [0.3, 1e-3, -0.4], [0, 0, 0], [1, 1, 1]).all()


def test_the_row_of_a_singular_state_is_named():
    straight = wrist().replace({"c.inertia[0,0]": 0.01, "c.inertia[1,1]": 0.01, "c.inertia[2,2]": 0.005})
    q = [[0, 0.5, 0], [0, 0.6, 0], [0, 0.0, 0]]
    with pytest.raises(da.SingularMassMatrixError, match="joint 'j0' in row 2") as error:
        da.forward_dynamics(straight, q, [0, 0, 0], [1, 1, 1])
    assert error.value.row == 2


THIN = {"a point on the axis": ((0, 0, 1), (0, 0, 0, 0, 0, 0)), "a rod along the axis": ((0, 0, 1), (0.1, 0, 0.1, 0, 0, 0)),
        "an oblique rod": ((0, 0, 0), (5.93, -0.22999999999999998, 0.6500000000000004, 0.08000000000000002, 1.8399999999999999,
                                        5.299999999999999))}


@pytest.mark.parametrize("name, joint, way", [
    ("a point on the axis", da.Revolute((0, 0, 1)), r"about \(0, 0, 1\)"), ("a rod along the axis", da.Revolute((0, 0, -2)), "about"),
    ("a rod along the axis", da.Spherical(), r"about \(0, 0, -?1\)"), ("an oblique rod", da.Spherical(), r"about \(-?0\.0\d"),
    ("an oblique rod", da.Free(), "about"), ("a point on the axis", da.Cylindrical((0, 0, 1)), "about")])
def test_a_body_without_inertia_in_a_direction_of_its_joint_is_named(name, joint, way):
    com, tensor = THIN[name]
    m = da.Mechanism("m", [da.Body("base"), da.Body("rod", 1, com, tensor)], [da.Joint("j", joint, "base", "rod")])
    found = [f for f in m.check() if "inertia is 0 within rounding" in f.why]
    assert [f.severity for f in found] == ["warning"] and found[0].what == "body 'rod'"
    assert re.search(f"joint 'j' moves it {way}", found[0].why), found[0].why
    assert "Give it the inertia that it has there" in found[0].fix and "rotor_inertia" in found[0].fix


def test_thin_bodies_that_have_inertia_are_not_named():
    slim = (1.0, 0, 1.0, 0, 0, 1e-9)
    for joint in (da.Revolute((0, 0, 1)), da.Spherical(), da.Free()):
        m = da.Mechanism("m", [da.Body("base"), da.Body("rod", 1, (0, 0, 1), slim)], [da.Joint("j", joint, "base", "rod")])
        assert not m.check()
    rod = da.Body("rod", 1, (0, 0, 1), (1.0, 0, 1.0, 0, 0, 0))
    geared = da.Joint("j", da.Revolute((0, 0, 1)), "base", "rod", rotor_inertia=(1e-6,))
    assert not da.Mechanism("m", [da.Body("base"), rod], [geared]).check()


def test_limits_take_bare_numbers():
    for kind in (da.Revolute(), da.Planar()):
        bare = joint(type=kind, limits=da.Limits(-1, 1, velocity=2, effort=np.float64(3)))
        n = kind.nv
        assert bare.limits == da.Limits((-1,) * n, (1,) * n, (2,) * n, (3.0,) * n)
    with pytest.raises(TypeError, match="lower limit of joint 'j'.0. is 'a' .str.; expected a number"):
        joint(limits=da.Limits("a", 1))
    with pytest.raises(ValueError, match="upper limit of joint 'j' has 2 entries, expected 1"):
        joint(limits=da.Limits(-1, (1, 2)))


def test_links_of_a_planar_chain_may_differ():
    chain = da.planar_chain(2, mass=[1, 2], length=(0.5, da.symbol("l")), inertia=np.array([0.1, 0.2]))
    assert [b.mass for b in chain.bodies] == [0, 1, 2] and chain.joint("q2").origin.xyz[0] == 0.5
    assert [b.inertia[5] for b in chain.bodies] == [0, 0.1, 0.2]
    alike, one = da.planar_chain(2, mass=[3, 3], length=[2, 2]), da.planar_chain(2, mass=3, length=2)
    assert alike == one
    for name, value, message in (("mass", [1, 2, 3], "mass has 3 entries, expected one number for all links, or 2, one per link"),
                                 ("length", [], "length has 0 entries"), ("com", [[1, 2], [3, 4]], r"com of link1 is \[1, 2\]"),
                                 ("mass", "m", "mass of link1 is 'm' .str.; expected a number"), ("inertia", [None, 1], "inertia of link1 is None")):
        with pytest.raises((TypeError, ValueError), match=message):
            da.planar_chain(2, **{name: value})


# --- models made in code --------------------------------------------------------------------------------------------

MADE = {
    "planar chain": (lambda: da.planar_chain(1, mass=-1), "body 'link1': its mass is -1 kg, below 0"),
    "rows of Denavit and Hartenberg": (lambda: da.from_dh([(1, 90, 0, 0)], inertia=[(1, (0, 0, 0), (1, 0, 1, 0, 0, 5))]),
                                       "body 'link1': .*break I1 . I2 >= I3"),
    "degrees in rows": (lambda: da.from_dh([(1, 90, 0, 0), (1, 0, 0, 0)]), "joint 'q2': its origin turns by 90 rad, 14.3 full turns. Are these degrees"),
    "motions": (lambda: da.from_motions("Rz(q1) Tx(1) Rx(90) Rz(q2)", [(1, (0, 0, 0), (1, 0, 1, 0, 0, 1))] * 2), "Are these degrees"),
    "degrees of a frame": (lambda: pair(frames=[da.Frame("f", "link", da.Origin.rpy(roll=45))]), "frame 'f': its origin turns by 45 rad"),
    "parts": (lambda: pair(da.Body("link", 0, (0, 0, 0), GOOD)), "moments of inertia but no mass"),
    "base": (lambda: da.Mechanism("m", [da.Body("base", -2)], []), "body 'base': its mass is -2 kg"),
    "limits": (lambda: pair(joint=joint(limits=da.Limits(effort=(-1,)))), "its effort limit is -1, below 0"),
    "degrees of limits": (lambda: pair(joint=joint(limits=da.Limits((-90,), (90,)))), "it has a limit of -90 rad"),
    "replaced": (lambda: pair().replace({"link.mass": -1}), "its mass is -1 kg"),
    "symbols replaced": (lambda: pair(da.Body("link", da.symbol("m"), (0, 0, 0), GOOD)).replace({"link.mass": -3}), "its mass is -3 kg"),
    "millimetres": (lambda: da.planar_chain(2, length=600), "its origin is 600 m away, and 4 more lengths are above 20 m. Are these millimetres"),
}


@pytest.mark.parametrize("case", MADE)
def test_models_made_in_code_are_warned_of_like_files(case):
    make, message = MADE[case]
    with pytest.warns(da.DalembertWarning, match=message) as caught:
        model = make()
    assert len(caught) == 1 and caught[0].filename == __file__      # the line of the caller
    assert any(re.search(message, str(f)) for f in model.check())


def test_a_finding_is_warned_of_once():
    with pytest.warns(da.DalembertWarning):
        model = da.planar_chain(2, mass=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = [model.floating(), model.lock(["q1"]), model.without("friction"), model.replace({"gravity[2]": 0}),
                model.independent(), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
        made[-1].lock(["q1"])
    with pytest.warns(da.DalembertWarning, match="its mass is -2 kg"):
        model.replace({"link1.mass": -2})


@pytest.mark.parametrize("q, asks", [([170, 0], True), ([0, -45.0], True), ([[0.1, 0.2], [0.1, 90]], True), ([6.5, 12], False),
                                     ([170.123, 0], False), ([1000, 0], False)])
def test_coordinates_in_degrees_are_asked_about(q, asks):
    arm = da.planar_chain(2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        da.simulate(arm, q, [0, 0], 0.01, h=0.01)
    said = [str(w.message) for w in caught if "degrees" in str(w.message)]
    assert bool(said) == asks and all("Are these degrees? They are read as radians: 90 degrees are 1.5708." in s for s in said)


def test_the_largest_coordinates_are_not_asked_about_degrees():
    with warnings.catch_warnings(), pytest.raises(ValueError, match="q.0. is 1e.308: energies of numbers beyond"):
        warnings.simplefilter("error")
        da.simulate(da.planar_chain(1), [1e308], [0], 0.1)


def test_metres_are_not_asked_about_degrees():
    slide = da.Mechanism("m", [da.Body("base"), da.Body("a", 1)], [da.Joint("x", da.Prismatic(), "base", "a", limits=da.Limits((-90,), (90,)))])
    assert not slide.check()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        da.simulate(slide, [90], [0], 0.01, h=0.01)


def test_a_random_tree_and_trees_made_of_it_warn_nobody():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        da.random_tree(0, 12).without("friction").lock(["joint2"])
