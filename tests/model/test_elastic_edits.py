"""Edits of mechanisms with elastic bodies: numbers, rigid links again, payloads, what their masses become."""

import pickle

import numpy as np
import pytest

import dalembert as da
from dalembert.model.units import ask_degrees

BEAM = da.Beam(1.0, EIz=100.0, EIy=120.0, mass_per_length=0.25)
PLANE = {"bend_z": 2}


def arm():
    return da.planar_chain(2).elastic({"link1": BEAM, "link2": BEAM}, PLANE)


def test_the_mass_of_a_link_is_that_of_its_beam_and_a_note_says_so():
    chain = da.planar_chain(2)
    notes = chain.elastic({"link2": BEAM}, PLANE).check()
    assert [f.severity for f in notes] == ["note"]
    assert "its mass, 1 kg, centre at (0.5, 0, 0) m, and its moments of inertia are replaced by those of its beam, 0.25 kg, centre at (0.5, 0, 0) m." in str(notes[0])
    rigid = chain.elastic({"link2": BEAM}, 0)
    thin = chain.replace({"link2.mass": 0.25, "link2.inertia[1,1]": 0.25 / 12, "link2.inertia[2,2]": 0.25 / 12, "link2.inertia[0,0]": 0})
    q = [0.3, 0.7]
    np.testing.assert_allclose(da.mass_matrix(rigid, q), da.mass_matrix(thin, q), rtol=1e-13)


def test_parts_off_the_axis_are_noted_with_numbers():
    chain = da.planar_chain(1).elastic({"link1": BEAM}, PLANE)
    off = chain.attach(da.Body("box", 2, (0, 0, 0), (1, 0, 1, 0, 0, 1)), "link1", origin=(0.5, 0, 0.04))
    assert any("joint 'box_mount': it is 0.04 m off the axis of the beam of body 'link1' (x = 0.5, y = 0, z = 0.04 m): it rides on the cross-section at x = 0.5 m." in str(f)
               for f in off.check())
    beyond = chain.attach(da.Body("box", 2, (0, 0, 0), (1, 0, 1, 0, 0, 1)), "link1", origin=(1.2, 0, 0))
    assert any("it is 0.2 m beyond the end of the beam of body 'link1', of length 1 m: the end carries it rigidly" in str(f) for f in beyond.check())
    assert all("off the axis" not in str(f) for f in beyond.check() + chain.check())


def test_a_payload_beyond_the_tip_is_carried_by_the_end_rigidly():
    chain = da.planar_chain(1).elastic({"link1": BEAM}, PLANE)
    beyond = chain.attach(da.Body("box", 2, (0, 0, 0), (1, 0, 1, 0, 0, 1)), "link1", origin=(1.2, 0, 0))
    q = [0.0, 0.01, 0.02]
    tip, box = (da.placement(beyond, q, frame) for frame in ("tip", "box"))
    np.testing.assert_allclose(box[:3, 3], tip[:3, 3] + 0.2 * tip[:3, 0], atol=1e-15)


@pytest.mark.parametrize("declare, message", [
    (lambda m: m.elastic({"link3": BEAM}), "link3"),
    (lambda m: m.elastic({"link1": da.Beam(1.0, EIy=1.0, mass_per_length=1.0)}), "body 'link1' has no EIz"),
    (lambda m: m.elastic({"link1": da.Beam(1.0, EIy=1.0, EIz=1.0)}, 0), "has no mass_per_length"),
])
def test_declarations_that_make_no_sense_are_refused(declare, message):
    with pytest.raises(da.DalembertError, match=message):
        declare(da.planar_chain(2))


def test_modes_of_an_elastic_body_are_changed_and_its_hub_stays():
    hub = da.planar_chain(1).elastic({"link1": BEAM}, PLANE).replace({"link1.mass": 0.4})
    finer = hub.elastic({"link1": BEAM}, {"bend_z": 3})
    assert finer.nv == 4 and finer.number("link1.mass") == 0.4 and finer.remarks == hub.remarks


def test_beams_are_asked_for():
    with pytest.raises(TypeError, match="beam of body 'link1'"):
        da.planar_chain(2).elastic({"link1": 120.0})
    with pytest.raises(TypeError, match="beams"):
        da.planar_chain(2).elastic([BEAM])


def test_numbers_are_replaced_by_path_and_by_symbol():
    stiffness = da.symbol("EI")
    soft = da.planar_chain(1).elastic({"link1": da.Beam(1.0, EIy=stiffness, mass_per_length=0.25)}, PLANE)
    assert soft.symbols == ("EI",) and soft.replace({"EI": 120.0}).number("link1.EIy") == 120.0
    stiff = soft.replace({"EI": 120.0})
    q = [0.0, 0.01, 0.0]
    np.testing.assert_allclose(da.potential_energy(stiff.replace({"link1.EIy": 240.0}, gravity=(0, 0, 0)), q),
                               2 * da.potential_energy(stiff.replace(gravity=(0, 0, 0)), q), rtol=1e-14)
    assert stiff.replace({"link1.beam_origin[0]": 0.1}).body("link1").beam.origin.xyz == (0.1, 0, 0)
    with pytest.raises(da.UnknownNameError, match="EIy"):
        stiff.replace({"link1.EI": 1.0})
    with pytest.raises(da.ModelError, match="EIy of a beam is -1"):
        stiff.replace({"link1.EIy": -1.0})


def test_impossible_numbers_are_refused_with_the_body():
    for path, text in (("link1.EIz", "EIz of a beam is -1 N m.2"), ("link1.length", "length of a beam is -1 m"), ("link1.mass_per_length", "mass_per_length of a beam is -1 kg/m")):
        with pytest.raises(da.ModelError, match=f"body 'link1': {text}; give a positive number"):
            arm().replace({path: -1})


@pytest.mark.parametrize("part", [0.3, 1.0, 1.2])
def test_places_in_proportion_to_a_length_are_symbols(part):
    l, = da.symbols("l")
    beam = da.Beam(l, EIz=120.0, mass_per_length=0.25)
    bodies = [da.Body("base"), da.Body("link", beam=beam, modes={"bend_y": 2}), da.Body("box", 2)]
    joints = [da.Joint("hub", da.Revolute((0, 0, 1)), "base", "link"), da.Joint("mount", da.Fixed(), "link", "box", da.Origin((part * l, 0, 0)))]
    symbolic, q = da.Mechanism("arm", bodies, joints), [0.3, 0.02, -0.01]
    found = da.compile(symbolic, parameters=["l"]).mass_matrix(q, parameters=[0.8])
    np.testing.assert_allclose(found, da.mass_matrix(symbolic.replace({"l": 0.8}), q), rtol=1e-12)


def test_two_beams_that_differ_share_no_code():
    base = arm()
    changes = [{"link2.EIy": 121.0}, {"link2.length": 1.1}, {"link2.mass_per_length": 0.26}, {"link2.beam_origin[1]": 0.01}, {"link2.rotary_inertia[2]": 1e-6}]
    identities = [base.identity(), *(base.replace(change).identity() for change in changes)]
    for kinematics in ("first_order", "exact"):
        identities.append(da.planar_chain(2).elastic({"link1": BEAM, "link2": da.Beam(1.0, EIz=100.0, EIy=120.0, mass_per_length=0.25, kinematics=kinematics)}, PLANE).identity())
    for modes in ({"bend_z": 3}, {"bend_y": 2}, {"bend_z": da.beams.ShapePolynomials(((0, 0, 1), (0, 0, 0, 1)))}):
        identities.append(da.planar_chain(2).elastic({"link1": BEAM, "link2": BEAM}, modes).identity())
    assert None not in identities and len({*identities}) == len(identities)
    q, qd = base.random_state(0)
    first, second = da.compile(base), da.compile(base.replace(changes[0]))
    assert first.bias_force(q, qd) != pytest.approx(second.bias_force(q, qd)) or first.potential_energy(q) != second.potential_energy(q)


def test_pickled_mechanisms_are_equal():
    again = pickle.loads(pickle.dumps(arm()))
    assert again == arm() and again.coordinate_names == arm().coordinate_names and again.identity() == arm().identity()


def test_without_elasticity_links_are_rigid_and_of_the_same_mass():
    rigid = arm().without("elasticity")
    assert rigid.coordinate_names == ("q1", "q2") and rigid == da.planar_chain(2).elastic({"link1": BEAM, "link2": BEAM}, 0)
    q = np.array([0.3, 0.7])
    straight = da.mass_matrix(arm(), [*q, 0, 0, 0, 0])[:2, :2]
    np.testing.assert_allclose(da.mass_matrix(rigid, q), straight, rtol=1e-13)


def test_damping_goes_with_friction():
    damped = da.Beam(1.0, EIz=100.0, EIy=120.0, mass_per_length=0.25, damping=da.Rayleigh(0.1, 1e-3))
    chain = da.planar_chain(1).replace({"q1.viscous": 0.2, "q1.rotor_inertia": 1e-3}).elastic({"link1": damped}, PLANE).with_flexible_joints({"q1": 500.0}, 0.3)
    q, qd = chain.random_state(0)
    free = chain.without("friction")
    np.testing.assert_allclose(da.passive_force(free, q, qd), da.passive_force(chain, q, 0 * qd), atol=1e-12)
    assert np.abs(da.passive_force(chain, q, qd) - da.passive_force(free, q, qd)).min() > 1e-6


def test_a_locked_elastic_body_is_rigid():
    locked = arm().lock(["link2", "q1"])
    assert locked.coordinate_names == ("q2", "link1.bend_z1", "link1.bend_z2")
    assert arm().lock({"link2": 0}) == arm().lock({"link2": [0.0, 0.0]}) == arm().lock("link2")
    for value, message in ((0.1, "locked straight"), ([0, 0, 0], "has 3 values, expected 2"), ([0.0, 0.2], "locked straight")):
        with pytest.raises(da.ModelError, match=message):
            arm().lock({"link2": value})
    with pytest.raises(da.UnknownNameError, match="link3"):
        arm().lock(["link3"])
    with pytest.raises(da.UnknownNameError, match="link1"):
        da.planar_chain(2).lock(["link1"])


def test_a_whole_elastic_arm_is_attached_and_floats():
    cart = da.Mechanism("cart", [da.Body("rail"), da.Body("cart", 3, (0, 0, 0), (1, 0, 1, 0, 0, 1))], [da.Joint("slide", da.Prismatic((1, 0, 0)), "rail", "cart")])
    both = cart.attach(arm(), "cart", name="left")
    assert both.coordinate_names == ("slide", "left_q1", "left_q2", *(f"left_link{k}.bend_z{n}" for k in (1, 2) for n in (1, 2)))
    q, qd = both.random_state(0)
    np.testing.assert_allclose(da.kinetic_energy(both, q, qd), qd @ da.mass_matrix(both, q) @ qd / 2, rtol=1e-13)
    free = arm().floating()
    assert free.coordinate_names[-1] == "link2.bend_z2" and free.nq == arm().nq + 7
    q, qd = free.random_state(0)
    np.testing.assert_allclose(da.kinetic_energy(free, q, qd), qd @ da.mass_matrix(free, q) @ qd / 2, rtol=1e-13)


def test_a_coupling_may_hold_a_coordinate_of_a_body():
    tied = arm().constrained(da.constraints.Coupling("tie", {"q2": 1.0, "link1.bend_z1": -3.0}))
    np.testing.assert_allclose(da.constraint_jacobian(tied, [0.0] * 6), [[0, 1, -3, 0, 0, 0]])


def test_drives_act_on_joints_alone():
    tied = arm().constrained(da.constraints.Coupling("tie", {"q1": 1.0, "q2": -1.0}))
    q, tau = np.zeros(6), np.array([5.0, 1.0, 0, 0, 0, 0])
    qdd = da.forward_dynamics(tied, q, q, tau)
    found = da.inverse_dynamics(tied, q, q, qdd)
    np.testing.assert_allclose(found[2:], 0, atol=1e-12)
    np.testing.assert_allclose(da.forward_dynamics(tied, q, q, found), qdd, atol=1e-9)


def test_degrees_of_a_twist_and_long_beams_are_asked_about():
    twisted = da.planar_chain(1).elastic({"link1": da.Beam(1.0, GJ=10.0, mass_per_length=1.0, rotary_inertia=(1e-3, 0, 0))}, {"twist": 1})
    with pytest.warns(da.DalembertWarning, match="body 'link1' is at 45 rad"):
        ask_degrees(twisted, [0.0, 45.0])
    with pytest.warns(da.DalembertWarning, match="its beam is 800 m long.*millimetres"):
        da.planar_chain(1).elastic({"link1": da.Beam(800.0, EIy=1.0, mass_per_length=1.0)}, PLANE)


def test_other_engines_have_no_such_coordinates():
    for convert in (da.convert.to_pinocchio, da.convert.from_mujoco):
        with pytest.raises(da.DalembertError, match="elastic bodies \\(link1, link2\\)"):
            convert(arm(), np.zeros(6))


def test_a_workspace_of_bent_links_is_given():
    with pytest.raises(da.DalembertError, match=r"'link1.bend_z1' has no limits"):
        da.lagrange.potential_bounds(arm())


def test_coordinates_of_one_name_are_refused():
    """Coordinates of bodies and of joints with several are beside joints, whose names are theirs."""
    beam = da.Body("link", beam=BEAM, modes=PLANE)
    for first, joint, name in ((da.Revolute((0, 0, 1)), "link.bend_z1", "body 'link'"), (da.Spherical(), "hub.w", "joint 'hub'")):
        joints = [da.Joint("hub", first, "base", "link"), da.Joint(joint, da.Prismatic((0, 0, 1)), "link", "box")]
        with pytest.raises(da.ModelError, match=f"{name}.* both have a coordinate '{joint}'. Rename one"):
            da.Mechanism("arm", [da.Body("base"), beam, da.Body("box", 1)], joints)
    with pytest.raises(ValueError, match="modes of body 'link' name a direction twice"):
        da.Body("link", beam=BEAM, modes=(("bend_y", 1), ("bend_y", 2)))
