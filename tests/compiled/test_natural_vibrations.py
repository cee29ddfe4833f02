"""Natural vibrations: exact frequencies of beams and arms, modes, turning, damping, errors."""

import numpy as np
import pytest

import dalembert as da
from elastic_arms import BEAMS, EJ, LENGTH, LINKS, RHOF, cantilever, numbers, sphere, two_links

SCALE = np.sqrt(EJ / RHOF) / LENGTH**2      # of lambda^2, rad/s
SPECTRA = LINKS["eigenfrequencies"]


TURN = da.Revolute((0, 0, 1))
# Modes of a beam, with the tolerance of each frequency that they reach.
FEW, MANY = (5, [1e-6, 4e-4]), (12, [1e-8] * 3)
ACCURACY = pytest.mark.parametrize("modes, tolerance", [FEW, pytest.param(*MANY, marks=pytest.mark.slow)], ids=["few", "many"])


def check(found, exact, tolerance):
    found, exact = (np.asarray(x, dtype=float)[: len(tolerance)] for x in (found, exact))
    assert (np.abs(found / exact - 1) <= tolerance).all(), (found / exact - 1)


@pytest.fixture(scope="module")
def arm():
    return two_links(6)


@pytest.mark.parametrize("held", ["11", "01", "10", "00"])
def test_frequencies_of_the_two_link_arm(arm, held):
    """Exact dynamic stiffness of spec section 4, for all six angles."""
    tolerance = {"11": [1e-8, 1e-8, 2e-7], "01": [1e-8, 1e-7, 2e-6], "10": [1e-8, 1e-7, 5e-6], "00": [1e-7, 5e-7, 3e-5]}[held]
    check_arm(arm, held, tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("held", ["11", "01", "10", "00"])
def test_four_frequencies_of_the_two_link_arm_to_1e_8(held):
    check_arm(two_links(8), held, [1e-8] * 4)


def check_arm(arm, held, tolerance):
    locked = [name for name, is_held in zip(("shoulder", "elbow"), held, strict=True) if is_held == "1"]
    angles = np.arange(0, 180, 30)
    w = da.natural_frequencies(arm, {"elbow": np.radians(angles)}, locked=locked)
    assert (w[:, : 2 - len(locked)] == 0).all()      # rigid motions
    for angle, row in zip(angles, w[:, 2 - len(locked) :], strict=True):
        check(row, SPECTRA["two_link_frequencies_rad_s"][f"lock{held}_psi{angle}"], tolerance)


@ACCURACY
@pytest.mark.parametrize("joint, table", [(None, "clamped_tip_sphere"), (TURN, "pinned_tip_sphere")], ids=["clamped", "pinned"])
def test_frequencies_of_a_beam_with_a_sphere(joint, table, modes, tolerance):
    rod = cantilever(modes, sphere(), joint, length=LENGTH, EI=EJ, mass=RHOF)
    w = da.natural_frequencies(rod, rod.neutral())
    check(w[w > 0], SPECTRA[table]["omega"], tolerance)


@ACCURACY
def test_frequencies_of_a_cantilever_with_a_tip_mass(modes, tolerance):
    for mu in (0.1, 0.5, 1, 5)[: len(tolerance) ** 2 - 5]:
        rod = cantilever(modes, da.Body("load", mu))
        check(da.natural_frequencies(rod, rod.neutral()), numbers(BEAMS[f"clamped_tip_mass_mu_{mu}"]["betaL"])**2, tolerance)


@ACCURACY
@pytest.mark.parametrize("inertia", [0.1, pytest.param(1, marks=pytest.mark.slow), pytest.param(10, marks=pytest.mark.slow)])
def test_frequencies_of_a_beam_on_a_hub(inertia, modes, tolerance):
    rod = cantilever(modes, joint=TURN, hub=inertia)
    w = da.natural_frequencies(rod, rod.neutral())
    assert w[0] == 0
    check(w[1:], numbers(BEAMS[f"hinged_hub_inertia_{inertia}"]["betaL"])**2, tolerance)


@ACCURACY
@pytest.mark.parametrize("direction, column", [("bend_z", "nu_flap"), ("bend_y", "nu_inplane")])
def test_frequencies_of_a_rotating_beam(direction, column, modes, tolerance):
    """About z: deflection across the plane of the turning, and in it."""
    rod = cantilever({direction: modes}, joint=TURN)
    table = BEAMS["rotating_cantilever"]["table"]
    for row in table if modes > 5 else table[:5:2]:
        w = da.natural_frequencies(rod, rod.neutral(), locked=["root"], qd={"root": float(row["eta"])})
        check(w, row[column], tolerance)


def test_southwell_coefficients():
    """w^2 = w0^2 + s Omega^2 for slow turning: s = 1.193336 and 6.478225 of flap."""
    rod = cantilever({"bend_z": 5}, joint=TURN)
    still, slow = (da.natural_frequencies(rod, rod.neutral(), locked=["root"], qd={"root": speed})[:2] for speed in (0.0, 1e-2))
    np.testing.assert_allclose((slow**2 - still**2) / 1e-4, LINKS["rotating_beam"]["southwell"], rtol=5e-4)


def test_a_beam_with_first_order_kinematics_loses_its_stiffness_when_it_turns():
    rod = cantilever(6, joint=TURN, kinematics="first_order")
    with pytest.raises(da.DalembertError, match="unstable"):
        da.natural_frequencies(rod, rod.neutral(), locked=["root"], qd={"root": 4.0})


def test_gyroscopic_terms_split_frequencies_of_a_turning_pendulum():
    """Mass on two springs on a turning table: w = sqrt(k/m) +- Omega in its axes."""
    table = da.Mechanism("table", [da.Body("base"), da.Body("disc", 1.0, inertia=(1, 0, 1, 0, 0, 1)), da.Body("rail", 1e-9), da.Body("mass", 2.0)],
                         [da.Joint("turn", da.Revolute((0, 0, 1)), "base", "disc"), da.Joint("x", da.Prismatic((1, 0, 0)), "disc", "rail", stiffness=800.0),
                          da.Joint("y", da.Prismatic((0, 1, 0)), "rail", "mass", stiffness=800.0)])
    w = da.natural_frequencies(table, table.neutral(), locked=["turn"], qd={"turn": 3.0})
    np.testing.assert_allclose(w, [17.0, 23.0], rtol=1e-8)


def test_gravity_stiffens_a_hanging_beam():
    """A heavy string under little bending stiffness: w -> 2.4048/2 sqrt(g/l), its first zero of J0."""
    string = cantilever(6, joint=TURN, gravity=(9.81, 0, 0), EI=1e-3)
    w = da.natural_frequencies(string, string.neutral())
    np.testing.assert_allclose(w[:2], np.array([2.404826, 5.520078]) / 2 * np.sqrt(9.81), rtol=1e-2)


def test_modes_have_unit_mass_and_the_shape_of_the_closed_form():
    rod = cantilever(5)
    shapes = da.mode_shapes(rod, rod.neutral(), count=3)
    model = da.vibration_model(rod, rod.neutral())
    np.testing.assert_allclose(shapes.vectors.T @ model.mass @ shapes.vectors, np.eye(3), atol=1e-10)
    x, b = shapes.positions["rod"], numbers(BEAMS["clamped_free"]["betaL"])
    for k in range(3):
        ratio = (np.cosh(b[k]) + np.cos(b[k])) / (np.sinh(b[k]) + np.sin(b[k]))
        exact = np.cosh(b[k] * x) - np.cos(b[k] * x) - ratio * (np.sinh(b[k] * x) - np.sin(b[k] * x))
        found = shapes.displacements["rod"][k, :, 1]
        np.testing.assert_allclose(found, exact * np.sign(found[-1]) * np.sign(exact[-1]), atol=[1e-4, 5e-3, 0.15][k])
        np.testing.assert_allclose(np.gradient(found, x)[1:-1], shapes.rotations["rod"][k, 1:-1, 2], atol=0.7)
    np.testing.assert_allclose(shapes.places["rod"][:, 0], x, atol=1e-15)


def test_modes_move_rigid_bodies_that_ride_on_the_beam(arm):
    shapes = da.mode_shapes(arm, {"elbow": 0.5}, locked="all", count=2)
    np.testing.assert_allclose(shapes.displacements["load"][:, 0], shapes.displacements["lower"][:, -1], atol=1e-12)
    np.testing.assert_allclose(shapes.displacements["lower"][:, 0], shapes.displacements["upper"][:, -1], atol=1e-12)


def test_damping_of_kelvin_and_voigt_gives_each_mode_half_eta_w():
    rod = cantilever(5, damping=da.Rayleigh(stiffness=2e-3))
    w = da.natural_frequencies(rod, rod.neutral())[:2]
    damped = da.damped_frequencies(rod, rod.neutral())
    np.testing.assert_allclose(damped.ratios[:4:2], 2e-3 * w / 2, rtol=1e-6)
    np.testing.assert_allclose(np.abs(damped.eigenvalues[:4:2]), w, rtol=1e-6)
    np.testing.assert_allclose(da.mode_shapes(rod, rod.neutral()).ratios[:2], 2e-3 * w / 2, rtol=1e-6)


def test_joint_springs_alone_vibrate():
    """Rigid links, springs in the joints: against the eigenvalues of M^-1 K written out."""
    arm = da.planar_chain(2).replace({"q1.stiffness[0]": 50.0, "q2.stiffness[0]": 20.0}, gravity=(0, 0, 0))
    M = da.mass_matrix(arm, [0.2, 0.4])
    np.testing.assert_allclose(da.natural_frequencies(arm, [0.2, 0.4]), np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, np.diag([50.0, 20.0])))).real), rtol=1e-12)


def test_a_batch_equals_its_states(arm):
    angles = np.linspace(0, 2, 3)
    batch = da.natural_frequencies(arm, {"elbow": angles}, locked="all")
    for angle, row in zip(angles, batch, strict=True):
        np.testing.assert_allclose(da.natural_frequencies(arm, {"elbow": angle}, locked="all"), row, rtol=1e-9)


def test_a_map_of_frequencies_along_a_way(arm):
    chart = da.frequency_map(arm, {"elbow": np.radians([0, 30, 60])}, locked="all")
    assert chart.label == "elbow [rad]" and chart.locked == ("shoulder", "elbow")
    np.testing.assert_allclose(chart.frequencies[:, 0], [6.43666, 6.62444, 7.23052], rtol=1e-5)
    with pytest.raises(da.ShapeError, match="several configurations"):
        da.frequency_map(arm, arm.neutral())
    with pytest.raises(da.ShapeError, match="parameter has shape"):
        da.frequency_map(arm, {"elbow": [0.0, 1.0]}, parameter=[1.0])


def test_a_joint_goes_before_a_body_of_its_name():
    beam = da.Beam(1.0, EIy=1.0, EIz=1.0, mass_per_length=1.0)
    rod = da.Mechanism("rod", [da.Body("base"), da.Body("link", beam=beam, modes={"bend_y": 2})], [da.Joint("link", TURN, "base", "link")])
    assert da.vibration_model(rod, rod.neutral(), locked=["link"]).names == ("link.bend_y1", "link.bend_y2")


def test_flexible_joints_vibrate_between_link_and_motor():
    """One link behind a spring: motor held sqrt(k/I), motor free sqrt(k/I + k/B) and 0."""
    link = da.planar_chain(1).replace({"q1.rotor_inertia[0]": 0.1}, gravity=(0, 0, 0)).with_flexible_joints({"q1": 500.0})
    np.testing.assert_allclose(da.natural_frequencies(link, link.neutral(), locked=["q1.motor"]), np.sqrt(500.0 * 3), rtol=1e-12)
    np.testing.assert_allclose(da.natural_frequencies(link, link.neutral()), [0, np.sqrt(500.0 * 3 + 5000.0)], rtol=1e-12)


def test_a_free_elastic_body_has_six_free_motions():
    """A free-free beam with a body at its end: against the exact pinned spectrum's neighbours by both formulations of its base."""
    body = da.Body("rod", 0.5, inertia=(0.1, 0, 0.1, 0, 0, 0.1), beam=da.Beam(1.0, EIy=1.0, EIz=1.0, mass_per_length=1.0), modes={"bend_y": 5})
    rod = da.Mechanism("rod", [da.Body("world"), body], [da.Joint("free", da.Free(), "world", "rod")], gravity=(0, 0, 0))
    w = da.natural_frequencies(rod, rod.neutral())
    assert (w[:6] == 0).all()
    plane = [da.Prismatic((1, 0, 0)), da.Prismatic((0, 1, 0)), da.Revolute((0, 0, 1))]
    bodies = [da.Body("world"), da.Body("a", 1e-12, inertia=(1e-12, 0, 1e-12, 0, 0, 1e-12)), da.Body("b", 1e-12, inertia=(1e-12, 0, 1e-12, 0, 0, 1e-12)), body]
    chain = [da.Joint(f"j{k}", plane[k], bodies[k].name, bodies[k + 1].name) for k in range(3)]
    other = da.Mechanism("rod", bodies, chain, gravity=(0, 0, 0))
    np.testing.assert_allclose(w[6:9], da.natural_frequencies(other, other.neutral())[3:6], rtol=1e-8)


def test_a_motion_without_mass_is_named():
    rod = da.planar_chain(2).floating()      # thin rods: no inertia about their axes
    with pytest.raises(da.SingularMassMatrixError, match="mostly of 'root_joint.angular [xyz]' moves no mass"):
        da.natural_frequencies(rod.replace(gravity=(0, 0, 0)), rod.neutral())


def test_errors_say_what_to_do(arm):
    upright = da.planar_chain(1)
    with pytest.raises(da.DalembertError, match=r"unstable: deviations grow as exp\(3.836 t\)"):
        da.natural_frequencies(upright, [np.pi / 2])
    assert da.damped_frequencies(upright, [np.pi / 2]).eigenvalues.real.max() > 3.8
    with pytest.raises(da.UnknownNameError, match="shoulder"):
        da.natural_frequencies(arm, arm.neutral(), locked=["shuolder"])
    with pytest.raises(da.UnknownNameError, match="elbow"):
        da.natural_frequencies(arm, {"elbw": 0.3})
    with pytest.raises(da.DalembertError, match="nothing moves"):
        da.natural_frequencies(upright, [0.0], locked="all")
    with pytest.raises(da.ParameterError, match="no values of m"):
        da.natural_frequencies(da.planar_chain(1, mass=da.symbol("m")), [0.0])
    loop = da.planar_chain(3).constrained(da.constraints.Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0))))
    with pytest.raises(da.DalembertError, match="constraints"):
        da.natural_frequencies(loop, [0.0] * 3)


def test_flexible_joints_come_into_equilibrium_in_every_function():
    """Joints held, a link on a spring: its sag changes the stiffness by gravity, k - m g l/2 sin(angle)."""
    arm = da.planar_chain(1).replace({"q1.rotor_inertia": 0.1}).with_flexible_joints({"q1": 30.0})
    held = {"q": {"q1.motor": 0.4, "q1": 0.4}, "locked": ["q1.motor"]}
    sagged = da.static_deflection(arm, held["q"]).q[arm.coordinate_names.index("q1")]
    assert abs(sagged - 0.4) > 0.1
    expected = {start: np.sqrt((30.0 - 9.81 / 2 * np.sin(angle)) * 3) for start, angle in ((False, 0.4), (True, sagged))}
    for equilibrium, w in expected.items():
        model = da.state_space(arm, held["q"], ["q1"], ["q1"], locked=held["locked"], equilibrium=equilibrium)
        found = [da.natural_frequencies(arm, **held, equilibrium=equilibrium)[0], da.mode_shapes(arm, **held, equilibrium=equilibrium).frequencies[0],
                 np.abs(np.linalg.eigvals(model.A)).max()]
        np.testing.assert_allclose(found, w, rtol=1e-9)
