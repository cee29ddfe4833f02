"""Solids: closed surfaces, shapes that follow from joints and inertias, visuals of files before them."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.views.figures.posture import posture
from dalembert.views.pictures.drawn_shapes import Fineness
from dalembert.views.solids.body_solids import solids_of
from dalembert.views.solids.solid_data import Solid
from dalembert.views.solids.triangles import triangles_of

SIZES = {"box": (0.1, 0.2, 0.3), "sphere": (0.1,), "ellipsoid": (0.1, 0.2, 0.3), "cylinder": (0.1, 0.5), "capsule": (0.1, 0.5),
         "tapered": (0.1, 0.05, 0.5)}
VOLUMES = {"box": 0.006, "sphere": 4.18879e-3, "ellipsoid": 0.0251327, "cylinder": 0.0157080, "capsule": 0.0198968,
           "tapered": 0.0114}
LOOPS = ("four_bar", "slider_crank", "scissor_lift", "delta_robot", "stewart_platform", "flyball_governor", "differential_drive")


def cart_pole(mass=1.0):
    return da.Mechanism("cart-pole", (da.Body("ground"), da.Body("cart", mass), da.Body("pole", 0.2, (0, 0, 0.5))),
                        (da.Joint("slide", da.Prismatic((1, 0, 0)), "ground", "cart"),
                         da.Joint("hinge", da.Revolute((0, -1, 0)), "cart", "pole")))


def of(mechanism, body, role):
    return [s for s in solids_of(mechanism) if (s.body, s.role) == (body, role)]


@pytest.mark.parametrize("kind", SIZES)
def test_surfaces_are_closed_and_face_outside(kind):
    vertices, faces = triangles_of(Solid("body", kind, np.eye(4), SIZES[kind]), 24)
    edges = Counter((face[i], face[(i + 1) % 3]) for face in faces.tolist() for i in range(3))
    assert set(edges.values()) == {1} and {(b, a) for a, b in edges} == set(edges)
    a, b, c = vertices[faces].transpose(1, 0, 2)
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    assert 0.95 * VOLUMES[kind] < volume < 1.02 * VOLUMES[kind]


def test_triangles_are_posed_in_the_body():
    turned = np.array([[0, 0, 1, 1], [1, 0, 0, 2], [0, 1, 0, 3], [0, 0, 0, 1.0]])
    plain, moved = (triangles_of(Solid("body", "box", pose, (0.1, 0.2, 0.3)))[0] for pose in (np.eye(4), turned))
    np.testing.assert_allclose(moved, plain @ turned[:3, :3].T + [1, 2, 3])
    np.testing.assert_allclose(np.ptp(moved, axis=0), [0.3, 0.1, 0.2])


def test_a_link_is_a_capsule_between_its_joints_and_joints_lie_on_their_axes():
    arm = da.planar_chain(2)
    link, = of(arm, "link1", "link")
    np.testing.assert_allclose([link.pose @ [0, 0, s * link.sizes[2] / 2, 1] for s in (-1, 1)], [[0, 0, 0, 1], [1, 0, 0, 1]], atol=1e-15)
    joint, = of(arm, "link2", "joint")
    np.testing.assert_allclose(np.abs(joint.pose[:3, 2]), [0, 1, 0])
    assert joint.kind == "cylinder" and joint.sizes[0] > link.sizes[0] > 0.02


def test_a_free_body_is_the_box_of_its_inertia():
    box = da.Mechanism("box", (da.Body("ground"), da.Body("box", *da.solids.box(2.0, 0.1, 0.2, 0.3))),
                       (da.Joint("free", da.Free(), "ground", "box"),))
    shape, = solids_of(box)
    assert (shape.kind, shape.role) == ("box", "body")
    np.testing.assert_allclose(shape.sizes, (0.1, 0.2, 0.3))


def test_a_cart_is_a_box_on_a_rail_and_a_mass_point_a_ball():
    cart, = of(cart_pole(), "cart", "body")
    rail, = of(cart_pole(), "ground", "rail")
    bob, = of(cart_pole(), "pole", "bob")
    assert (cart.kind, rail.kind, bob.kind) == ("box", "box", "sphere")
    assert rail.sizes[2] > 3 * cart.sizes[2] and abs(rail.pose[0, 2]) == 1
    np.testing.assert_allclose(bob.pose[:3, 3], [0, 0, 0.5])
    longer, = (s for s in solids_of(cart_pole(), {"slide": (-2.0, 3.0)}) if s.role == "rail")
    assert 5 < longer.sizes[2] < 5.5 and 0.4 < longer.pose[0, 3] < 0.6


def test_a_rod_by_its_inertia_reaches_from_its_joint_to_its_end():
    rod = da.Body("rod", 1.0, (0.5, 0, 0), (0, 0, 1 / 12, 0, 0, 1 / 12))
    swing = da.Mechanism("swing", (da.Body("ground"), rod), (da.Joint("pin", da.Revolute((0, 0, 1)), "ground", "rod"),))
    link, = of(swing, "rod", "link")
    np.testing.assert_allclose(sorted((link.pose @ [0, 0, s * link.sizes[2] / 2, 1])[0] for s in (-1, 1)), [0, 1], atol=1e-12)


def test_an_inertia_of_no_body_of_that_size_is_drawn_as_a_mass_point():
    unknown = (1, 0, 1, 0, 0, 1)      # kg m^2, of a cube of 2.4 m for 1 kg
    bodies = (da.Body("ground"), da.Body("cart", 1.0, inertia=unknown), da.Body("pole", 0.1, (0, 0, 0.5), unknown))
    pole = replace(cart_pole(), bodies=bodies)
    assert [(s.body, s.role, s.sizes) for s in solids_of(pole)] == [(s.body, s.role, s.sizes) for s in solids_of(cart_pole())]


def test_a_frame_of_a_file_with_shapes_has_none():
    shown = da.Visual("box", (0.1, 0.2, 0.3))
    tool = da.Body("tool", 0.1, (0, 0, 0.1))
    joint = da.Joint("weld", da.Fixed(), "link1", "tool")
    chain = da.planar_chain(1)
    seen = replace(chain, bodies=(chain.bodies[0], replace(chain.bodies[1], visuals=(shown,)), tool), joints=(*chain.joints, joint))
    assert [(s.body, s.role) for s in solids_of(seen)] == [("link1", "given")]


def test_wheels_are_discs_where_bodies_roll():
    mechanism, _ = da.loops.differential_drive(wheel_radius=0.2)
    wheels = [s for s in of(mechanism, "left wheel", "wheel") if s.sizes[0] == 0.2]
    assert len(wheels) == 1 and abs(wheels[0].pose[1, 2]) == pytest.approx(1)


def test_visuals_of_a_file_come_first_and_a_mesh_keeps_a_shape_to_fall_back_on():
    shown = da.Visual("box", (0.1, 0.2, 0.3), da.Origin((0, 0, 0.1)), (1, 0, 0, 0.5))
    collides = da.Visual("sphere", (1.0,), seen=False)
    mesh = da.Visual("mesh", (1, 1, 1), mesh="arm.stl")
    joints = (da.Joint("first", da.Revolute((0, 0, 1)), "base", "upper"), da.Joint("second", da.Revolute((0, 0, 1)), "upper", "lower", da.Origin((1, 0, 0))))
    arm = da.Mechanism("arm", (da.Body("base"), da.Body("upper", 1.0, (0.5, 0, 0), (0, 0, 0.1, 0, 0, 0.1), visuals=(shown, collides)),
                               da.Body("lower", 1.0, (0.5, 0, 0), (0, 0, 0.1, 0, 0, 0.1), visuals=(mesh,))), joints)
    upper, = (s for s in solids_of(arm) if s.body == "upper")
    assert (upper.kind, upper.role, upper.colour) == ("box", "given", (1, 0, 0, 0.5)) and upper.pose[2, 3] == 0.1
    roles = [s.role for s in solids_of(arm) if s.body == "lower"]
    assert roles[0] == "given" and len(roles) > 1 and set(roles[1:]) == {"fallback"}


def test_symbols_stand_for_one():
    m, l = da.symbols("m l")
    symbolic, plain = da.planar_chain(2, mass=m, length=l), da.planar_chain(2, mass=1.0, length=1.0)
    for a, b in zip(solids_of(symbolic), solids_of(plain), strict=True):
        assert (a.body, a.role) == (b.body, b.role)
        np.testing.assert_allclose(a.sizes, b.sizes)


@pytest.mark.parametrize("make", LOOPS)
def test_every_moving_body_of_a_linkage_has_a_shape_of_its_size(make):
    mechanism, _ = getattr(da.loops, make)()
    solids = solids_of(mechanism)
    assert {s.body for s in solids} >= {b.name for b in mechanism.bodies[1:] if b.mass > 0}
    points = np.concatenate([triangles_of(s, 6)[0] for s in solids])
    assert np.isfinite(points).all() and np.abs(points).max() < 5


@pytest.mark.parametrize("seed", range(3))
def test_every_type_of_joint_is_drawn_alike_each_time(seed):
    tree = da.random_tree(seed, 8)
    first, second = (np.concatenate([triangles_of(s, 6)[0] for s in solids_of(tree)]) for _ in range(2))
    assert np.isfinite(first).all() and (first == second).all()


def test_a_posture_bends_a_chain_within_limits_and_closes_loops():
    arm = da.planar_chain(3)
    assert np.abs(posture(arm)).min() > 0.3
    linkage, _ = da.loops.four_bar()
    residual = da.assemble(linkage, posture(linkage))
    np.testing.assert_allclose(residual, posture(linkage), atol=1e-6)
    limited = da.Mechanism("limited", (da.Body("base"), da.Body("link", 1.0)),
                           (da.Joint("hinge", da.Revolute((0, 0, 1)), "base", "link", limits=da.Limits(-3.0, -1.0)),))
    assert posture(limited) == pytest.approx([-2.0])
    jaco = da.load("kinova")                     # whose limits have their middle where its links are in line
    assert np.abs(np.sin(posture(jaco)))[1:3].min() > 0.3


def body_of(mass, inertia):
    """A block on a ball joint with a mass, and moments about its axes."""
    block = da.Body("block", mass, (0, 0, 0.3), (*inertia[:1], 0, inertia[1], 0, 0, inertia[2]))
    return da.Mechanism("one", (da.Body("base"), block), (da.Joint("ball", da.Spherical(), "base", "block"),))


def test_flat_bodies_with_equal_moments_are_discs_and_bodies_like_air_have_no_box():
    disc, = of(body_of(2.0, (0.02, 0.02, 0.04)), "block", "body")         # m r^2 / 4 and m r^2 / 2
    assert disc.kind == "cylinder" and disc.sizes[0] == pytest.approx(0.2)
    box, = of(body_of(2.0, (0.02, 0.03, 0.04)), "block", "body")
    assert box.kind == "box"
    assert not of(body_of(2.0, (1.0, 1.0, 1.0)), "block", "body")         # 0.2 kg/m^3


def test_a_base_with_mass_that_carries_legs_is_a_trunk():
    trunk = da.Body("trunk", 2.0, (0, 0, 0), (0.01, 0, 0.02, 0, 0, 0.025))
    legs = [da.Body(f"leg{k}", 0.2, (0, 0, -0.1)) for k in range(4)]
    hips = [da.Joint(f"hip{k}", da.Revolute((0, 1, 0)), "trunk", leg.name, da.Origin((0.2 - 0.4 * (k // 2), 0.1 - 0.2 * (k % 2), 0))) for k, leg in enumerate(legs)]
    robot = da.Mechanism("robot", (trunk, *legs), tuple(hips))
    assert [s.kind for s in solids_of(robot) if s.body == "trunk"] == ["box"]
    massless = replace(robot, bodies=(replace(trunk, mass=0.0, inertia=(0,) * 6), *legs))
    assert {s.role for s in solids_of(massless) if s.body == "trunk"} == {"base"}


def test_the_platform_of_a_stewart_robot_stands_level_above_its_legs():
    platform, _ = da.loops.stewart_platform()
    q = posture(platform)
    np.testing.assert_allclose(q[:6], [1, 0, 0, 0, 0, 0], atol=0.02)
    assert 0.3 < q[6] < 1.5 and (q == posture(platform)).all()


def test_rails_begin_at_their_joints():
    far = da.Limits(lower=(0.4,), upper=(1.0,))
    slide, hinge = cart_pole().joints
    rail, = of(replace(cart_pole(), joints=(replace(slide, limits=far), hinge)), "ground", "rail")
    start, end = rail.pose[0, 3] + np.array([-0.5, 0.5]) * rail.sizes[2]
    assert start < 0 and end > 1.0


def test_slides_of_a_body_that_floats_in_a_plane_have_no_rails():
    mover = da.Mechanism("mover", (da.Body("base"), da.Body("between"), da.Body("body", 1.0, (0, 0, 0), (0.01, 0, 0.02, 0, 0, 0.03))),
                         (da.Joint("x", da.Prismatic((1, 0, 0)), "base", "between"), da.Joint("z", da.Prismatic((0, 0, 1)), "between", "body")))
    assert {s.role for s in solids_of(mover)} == {"body"}
    gantry = replace(mover, bodies=(mover.bodies[0], da.Body("between", 1.0), mover.bodies[2]))
    assert sum(s.role == "rail" for s in solids_of(gantry)) == 2


def test_round_solids_of_any_number_have_sides():
    fineness = Fineness(((2, 24), (4, 8)), 100)
    assert [fineness.sides_of(count) for count in (2, 3, 5)] == [24, 8, 8]
