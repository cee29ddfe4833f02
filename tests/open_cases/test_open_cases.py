"""Situations that break such systems, each with numbers from a hand formula or two other engines (docs: open cases)."""

import itertools
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import dalembert as da

DIGITS = dict(rtol=0, atol=6e-10)      # the numbers of the cases are printed with 9 or 10 decimals


def load(text, **options):
    """A mechanism without the warnings, which have tests of their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        return da.load(text, **options)


def inertial(mass, com=(0, 0, 0), diagonal=(0, 0, 0), rpy=(0, 0, 0), products=(0, 0, 0)):
    xyz, turn = " ".join(map(str, com)), " ".join(map(str, rpy))
    (xx, yy, zz), (xy, xz, yz) = diagonal, products
    return (f'<inertial><origin xyz="{xyz}" rpy="{turn}"/><mass value="{mass}"/>'
            f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="{xy}" ixz="{xz}" iyz="{yz}"/></inertial>')


def link(name, inside=""):
    return f'<link name="{name}">{inside}</link>'


def joint(name, parent, child, axis="0 0 1", kind="continuous", xyz="0 0 0", rpy="0 0 0", inside=""):
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/>{inside}</joint>')


def robot(*parts, name="r"):
    return f'<robot name="{name}">\n' + "\n".join(parts) + "\n</robot>"


def arm_P2(gravity=(0, 0, 0)):
    """Planar 2R in the x-y plane: the base of several cases."""
    return da.Mechanism("P2", [da.Body("base"), da.Body("l1", 1.2, (0.2, 0, 0), (0, 0, 0, 0, 0, 0.02)),
                               da.Body("l2", 0.8, (0.3, 0, 0), (0, 0, 0, 0, 0, 0.015))],
                        [da.Joint("j1", da.Revolute((0, 0, 1)), "base", "l1"),
                         da.Joint("j2", da.Revolute((0, 0, 1)), "l1", "l2", da.Origin((0.5, 0, 0)))],
                        [da.Frame("tip", "l2", da.Origin((0.6, 0, 0)))], gravity)


P2_Q, P2_QD = (0.3, -0.8), (1.1, -0.7)


# --- O01 rotated inertial frame -------------------------------------------------------------------------------------

def test_O01_inertia_is_turned_and_centre_of_mass_is_not():
    text = robot(link("base"), link("a", inertial(2, diagonal=(0.3, 0.5, 0.7), rpy=(0, 0, np.pi / 2))),
                 joint("j", "base", "a", "1 0 0"))
    np.testing.assert_allclose(da.mass_matrix(load(text), [0]), [[0.5]], rtol=1e-15)
    inertia = inertial(2, (0.1, -0.2, 0.3), (0.3, 0.5, 0.7), (0.4, -0.3, 1.1), (0.02, -0.01, 0.03))
    text = robot(link("base"), link("a", inertia), joint("j", "base", "a", "1 0 0"))
    model = load(text)
    np.testing.assert_allclose(da.mass_matrix(model, [0.5]), [[0.7036589328]], **DIGITS)
    np.testing.assert_allclose(da.gravity_vector(model, [0.5]), [-6.265532693], **DIGITS)


# --- O02 moving leaf without mass -----------------------------------------------------------------------------------

GHOST = robot(link("base"), link("a", inertial(1.5, (0.25, 0, 0), (0, 0.03, 0))), link("ghost"),
              joint("j1", "base", "a", "0 1 0"), joint("j2", "a", "ghost", "0 1 0", xyz="0.5 0 0"))


def test_O02_massless_leaf_loads_with_a_warning_and_refuses_forward_dynamics():
    with pytest.warns(da.DalembertWarning, match="body 'ghost' .*moves on joint 'j2' and has no mass.*forward"):
        model = da.load(GHOST)
    np.testing.assert_allclose(da.mass_matrix(model, [0.2, 0.4]), [[0.12375, 0], [0, 0]], atol=1e-17)
    assert da.inverse_dynamics(model, [0, 0], [0, 0], [1, 1]) == pytest.approx([0.12375 - 1.5 * 9.81 * 0.25, 0])
    refusal = "joint 'j2'.*body 'ghost'.*Give the body an inertia"
    for call in (lambda: da.forward_dynamics(model, [0, 0], [0, 0], [0, 0]),
                 lambda: da.inverse_mass_matrix(model, [0, 0])):
        with pytest.raises(da.SingularMassMatrixError, match=refusal) as caught:
            call()
        assert (caught.value.joint, caught.value.body) == ("j2", "ghost")
    batch = np.zeros((3, 2))
    with pytest.raises(da.SingularMassMatrixError, match="joint 'j2'"):
        da.forward_dynamics(model, batch, batch, batch)
    assert da.forward_dynamics(model.lock(["j2"]), [0], [0], [0]) == pytest.approx([1.5 * 9.81 * 0.25 / 0.12375])


def test_O02_massless_link_on_fixed_joints_is_harmless():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = da.load(robot(link("base"), link("a", inertial(1.5, (0.25, 0, 0), (0, 0.03, 0.03))), link("tool"),
                              joint("j1", "base", "a", "0 1 0"), joint("f", "a", "tool", kind="fixed")))
    assert np.isfinite(da.forward_dynamics(model, [0], [0], [0])).all()


# --- O03 continuous joint -------------------------------------------------------------------------------------------

def test_O03_continuous_joint_has_one_coordinate_and_differences_wrap():
    model = load(GHOST).lock(["j2"])
    assert (model.nq, model.nv) == (1, 1) and model.joint("j1").limits == da.Limits()
    q = np.array([0.7])
    for function in (da.mass_matrix, da.gravity_vector):
        np.testing.assert_allclose(function(model, q + 2 * np.pi), function(model, q), rtol=1e-14)
        np.testing.assert_allclose(da.bias_force(model, q + 2 * np.pi, [1]), da.bias_force(model, q, [1]), rtol=1e-14)
    np.testing.assert_allclose(model.difference(q + 2 * np.pi, q), [0], atol=1e-15)
    np.testing.assert_allclose(model.difference(q + 3, q - 3), [6 - 2 * np.pi], atol=1e-15)


# --- O04 mimic joint ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", ["revolute", "continuous"])
def test_O04_follower_is_reduced_exactly(kind):
    text = robot(link("base"), link("f1", inertial(0.2, (0, 0, 0.05), (0, 3e-4, 0))),
                 link("f2", inertial(0.1, (0, 0, 0.04), (0, 2e-4, 0))), joint("drive", "base", "f1", "0 1 0"),
                 joint("follow", "f1", "f2", "0 1 0", kind, "0 0 0.1",
                       inside='<mimic joint="drive" multiplier="-1.5" offset="0.3"/>'))
    model = load(text)
    assert (model.nq, model.nv) == (1, 1)
    assert any("'follow'" in f.what and "reduced exactly" in f.fix for f in model.check())
    np.testing.assert_allclose(da.mass_matrix(model, [0.4]), [[0.0015078654]], rtol=0, atol=5e-11)
    np.testing.assert_allclose(da.gravity_vector(model, [0.4]), [-0.0744451471], rtol=0, atol=5e-11)
    np.testing.assert_allclose(da.coriolis_vector(model, [0.4], [0.7]), [4.344147e-5], rtol=0, atol=5e-12)
    # the same as the open pair with q = (q, k q + b), projected by (1, k)
    pair, k = load(text, mimic="independent"), np.array([1, -1.5])
    assert pair.nv == 2
    q2 = np.array([0.4, -1.5 * 0.4 + 0.3])
    np.testing.assert_allclose(da.mass_matrix(model, [0.4])[0, 0], k @ da.mass_matrix(pair, q2) @ k, rtol=1e-14)
    np.testing.assert_allclose(da.inverse_dynamics(model, [0.4], [0.7], [0.2]),
                               [k @ da.inverse_dynamics(pair, q2, 0.7 * k, 0.2 * k)], rtol=1e-14)
    tau = da.inverse_dynamics(model, [0.4], [0.7], [0.2])
    np.testing.assert_allclose(da.forward_dynamics(model, [0.4], [0.7], tau), [0.2], rtol=1e-12)


# --- O05 axis not unit, not principal, or zero ----------------------------------------------------------------------

def test_O05_axis_is_scaled_with_a_warning():
    text = robot(link("base"), link("a", inertial(1.2, (0.2, 0.1, 0), (0.02, 0.03, 0.04))),
                 joint("j", "base", "a", "3 0 4", xyz="0 0 .3", rpy=".2 .1 -.4"))
    with pytest.warns(da.DalembertWarning, match="joint 'j' .*axis has length 5; it is scaled to 1"):
        model = da.load(text)
    np.testing.assert_allclose(da.mass_matrix(model, [0.3]), [[0.07552]], rtol=1e-14)
    np.testing.assert_allclose(da.gravity_vector(model, [0]), [1.1551296523], **DIGITS)
    assert [str(a) for a in model.joint("j").type.unit_axis] == ["3/5", "0", "4/5"]


def test_O05_zero_axis_is_an_error_on_a_moving_joint_and_ignored_on_a_fixed_one():
    parts = link("base"), link("a", inertial(1, diagonal=(1, 1, 1)))
    with pytest.raises(da.ModelError, match="joint 'j' .*axis has length 0"):
        load(robot(*parts, joint("j", "base", "a", "0 0 0")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert da.load(robot(*parts, joint("j", "base", "a", "0 0 0", "fixed"))).nv == 0


# --- O06 fixed joints with inertia ----------------------------------------------------------------------------------

def test_O06_links_on_fixed_joints_are_lumped_exactly_and_stay_usable():
    model = load(robot(
        link("base"), link("arm", inertial(1, (0.2, 0, 0), (0.01, 0.02, 0.02))), link("flange"),
        link("bracket", inertial(0.3, (0.03, 0, 0.02), (0.001, 0.002, 0.0025), (0, 0, 0.5))),
        link("cam", inertial(0.15, (0, 0.01, 0), (2e-4, 1e-4, 2e-4))),
        joint("j", "base", "arm", "0 1 0", xyz="0 0 1"),
        joint("f1", "arm", "flange", "0 0 0", "fixed", "0.4 0 0", f"0 {np.pi / 2!r} 0"),
        joint("f2", "flange", "bracket", "0 0 0", "fixed", "0 .05 .02", ".3 0 0"),
        joint("f3", "bracket", "cam", "0 0 0", "fixed", ".06 0 0", "0 0 -.7")))
    assert model.nv == 1
    np.testing.assert_allclose(da.mass_matrix(model, [0.3]), [[0.147502661]], rtol=0, atol=5e-10)
    np.testing.assert_allclose(da.gravity_vector(model, [0.3]), [-3.647562687], rtol=0, atol=5e-10)
    com = da.center_of_mass(model, [0]) - (0, 0, 1)
    np.testing.assert_allclose(com, (0.272462799, 0.015050277, -0.013080225), rtol=0, atol=5e-10)
    assert float(sum(b.mass for b in model.bodies)) == pytest.approx(1.45)
    for name in ("flange", "bracket", "cam"):                       # the Jacobian is the derivative of the placement
        h = 1e-6
        p = [da.placement(model, [0.3 + s * h], name)[:3, 3] for s in (1, -1)]
        np.testing.assert_allclose(da.jacobian(model, [0.3], name)[3:, 0], (p[0] - p[1]) / (2 * h), atol=1e-9)
    lifted = da.inverse_dynamics(model, [0.3], [0], [0], [da.ExternalForce("cam", (0, 0, 1))])
    jacobian = da.jacobian(model, [0.3], "cam")
    np.testing.assert_allclose(lifted, da.gravity_vector(model, [0.3]) - jacobian[5], rtol=1e-14)


# --- O07 external force at a tool -----------------------------------------------------------------------------------

def test_O07_force_in_world_axes_at_the_tip():
    arm, zero = arm_P2(), np.zeros(2)
    turn = da.placement(arm, P2_Q, "tip")
    force, moment = np.array([3, -4, 0]), np.array([0, 0, 0.5])
    from_origin = moment + np.cross(turn[:3, 3], force)
    for load_ in (da.ExternalForce("tip", force, moment),
                  da.ExternalForce("tip", turn[:3, :3].T @ force, moment, expressed_in="local"),
                  da.ExternalForce("tip", force, from_origin, expressed_in="world"),
                  da.ExternalForce("tip", force, moment, point=turn[:3, 3], expressed_in="world"),
                  da.ExternalForce("l2", force, moment, point=turn[:3, :3] @ (0.6, 0, 0))):
        tau = -da.inverse_dynamics(arm, P2_Q, zero, zero, [load_])
        np.testing.assert_allclose(tau, (-3.097185467, -0.743232179), **DIGITS)


# --- O08 floating base ----------------------------------------------------------------------------------------------

def test_O08_spatial_and_classical_acceleration_of_a_floating_base():
    body = da.Body("b", 3, (0.05, 0.02, -0.03), (0.1, 0.01, 0.15, 0, 0, 0.2))
    free = da.Mechanism("free", [da.Body("world"), body], [da.Joint("root", da.Free(), "world", "b")])
    q = np.array([np.cos(0.4), 0, 0, np.sin(0.4), 0, 0, 0])
    omega, v = np.array([0.4, -0.6, 0.8]), np.array([0.3, -0.2, 0.5])
    qd = np.concatenate([omega, v])
    wrench = da.inverse_dynamics(free, q, qd, np.zeros(6))
    np.testing.assert_allclose(wrench, (0.571096, -1.508204, 0.002224, -0.6132, 0.0792, 29.796), rtol=0, atol=1e-9)
    spatial = np.concatenate([np.zeros(3), -np.cross(omega, v)])          # classical acceleration 0
    wrench = da.inverse_dynamics(free, q, qd, spatial)
    np.testing.assert_allclose(wrench, (0.561496, -1.505804, -0.012176, -0.1932, -0.0408, 29.496), rtol=0, atol=1e-9)
    at_rest = da.inverse_dynamics(free, q, np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(at_rest[3:], (0, 0, 29.43), atol=1e-14)


# --- O09 which Coriolis matrix --------------------------------------------------------------------------------------

def test_O09_coriolis_matrix_of_Christoffel_symbols():
    arm = arm_P2((0, -9.81, 0))
    np.testing.assert_allclose(da.mass_matrix(arm, P2_Q), [[0.52220961, 0.170604805], [0.170604805, 0.087]], **DIGITS)
    C = da.coriolis_matrix(arm, P2_Q, P2_QD)
    np.testing.assert_allclose(C, [[-0.060257912, 0.034433092], [-0.094691004, 0]], rtol=0, atol=1.1e-9)
    np.testing.assert_allclose(da.coriolis_vector(arm, P2_Q, P2_QD), (-0.090386867, -0.104160104), rtol=0, atol=1.1e-9)
    np.testing.assert_allclose(da.gravity_vector(arm, P2_Q), (8.064164997, 2.066180384), **DIGITS)
    qdd = da.forward_dynamics(arm, P2_Q, P2_QD, (0.5, -0.2))
    np.testing.assert_allclose(qdd, (-17.234078889, 8.944786104), **DIGITS)


def test_O09_coriolis_matrix_with_quasi_velocities():
    """C qd = c and dM/dt = C + C^T also for a floating base with spherical joints."""
    tree = da.random_tree(9, 6, joints=("free", "spherical", "revolute", "universal"))
    q, qd = tree.random_state(9)
    C, h = da.coriolis_matrix(tree, q, qd), 1e-6
    np.testing.assert_allclose(C @ qd, da.coriolis_vector(tree, q, qd), rtol=1e-10, atol=1e-10)
    after, before = (da.mass_matrix(tree, tree.integrate(q, s * h * qd)) for s in (1, -1))
    np.testing.assert_allclose((after - before) / (2 * h), C + C.T, atol=1e-7 * np.abs(C).max())


# --- O14 encodings and scripts; O15 names of target languages -------------------------------------------------------

NAMES = ("плечо 1", "关节:θ", "ｱﾙﾐ", "ü_é")


def in_many_scripts(names=NAMES, encoding=None):
    parts = [link("base")]
    for k, name in enumerate(names):
        parts += [link(name, inertial(1 + k, (0.1, 0.2, 0), (1, 1, 1))), joint(f"{name}!", "base", name, "0 1 0")]
    head = f'<?xml version="1.0" encoding="{encoding}"?>\n' if encoding else ""
    return head + robot(*parts)


@pytest.mark.parametrize(("declared", "codec"), [(None, "utf-8"), (None, "utf-8-sig"), ("utf-8", "utf-8-sig"),
                                                 (None, "utf-16"), ("utf-16", "utf-16"), ("UTF-16", "utf-16"),
                                                 ("gb18030", "gb18030"), ("iso-8859-1", "latin-1"),
                                                 ("ISO-8859-5", "iso-8859-5"), ("shift_jis", "shift_jis")])
def test_O14_names_are_read_in_the_declared_encoding(declared, codec, tmp_path):
    def fits(name):
        return name.encode(codec, errors="ignore").decode(codec) == name

    names = tuple(n for n in NAMES if fits(n))
    text = in_many_scripts(names, declared)
    file = tmp_path / f"{names[0]}.urdf"
    file.write_bytes(text.encode(codec))
    for source in (file, str(file), text.encode(codec), text, "\ufeff" + text):
        model = da.load(source)
        assert tuple(b.name for b in model.bodies[1:]) == names
        assert model.coordinate_names == tuple(f"{n}!" for n in names)
        assert da.placement(model, model.neutral(), names[-1]).shape == (4, 4)


def test_O14_names_under_the_C_locale(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_bytes(in_many_scripts(encoding="utf-16").encode("utf-16"))
    script = ("import sys, dalembert as da\n"
              "model = da.load(sys.argv[1])\n"
              "print(ascii(model.coordinate_names))\n"
              "try: model.joint(model.joints[0].name + 'x')\n"
              "except da.UnknownNameError as error: print(ascii(str(error)))\n")
    environment = {**os.environ, "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", script, str(file)], capture_output=True, text=True, env=environment,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    listed, error = done.stdout.splitlines()
    assert listed == ascii(tuple(f"{n}!" for n in NAMES))
    assert ascii(NAMES[0])[1:-1] in error


LANGUAGE = ("lambda", "in", "x_{1}", "f_{ext}", r"\alpha", "I", "E", "N", "S", "beta", "double", "q-1", "a b", "a_b",
            "gamma", "__class__", "None", "%d")


def test_O15_names_that_collide_with_target_languages_are_kept():
    """Making, addressing and evaluating: equal to the robot of plain names."""
    def tree(names):
        bodies = [da.Body("base")]
        bodies += [da.Body(n, 1 + 0.1 * k, (0.1, 0.2, 0.3), (1, 0, 1, 0, 0, 1)) for k, n in enumerate(names)]
        joints = [da.Joint(n, da.Revolute((0, 1, k)), bodies[k // 2].name, n, da.Origin((0.1 * k, 0, 0.2)))
                  for k, n in enumerate(names)]
        return da.Mechanism("I", bodies, joints)

    strange, plain = tree(LANGUAGE), tree([f"n{k}" for k in range(len(LANGUAGE))])
    q, qd = plain.random_state(15)
    assert strange.coordinate_names == LANGUAGE
    np.testing.assert_array_equal(da.mass_matrix(strange, q), da.mass_matrix(plain, q))
    np.testing.assert_array_equal(da.bias_force(strange, q, qd), da.bias_force(plain, q, qd))
    for k, name in enumerate(LANGUAGE):
        assert strange.number(f"{name}.mass") == 1 + 0.1 * k
        assert strange.replace({f"{name}.mass": 7, f"{name}.viscous": 2}).number(f"{name}.viscous[0]") == 2
    symbol = da.symbol("lambda")
    symbolic = strange.replace({f"{name}.mass": symbol for name in LANGUAGE})
    values = [da.evaluate(x, {symbol: 1.5}) for x in da.gravity_vector(symbolic, q)]
    expected = da.gravity_vector(plain.replace({f"n{k}.mass": 1.5 for k in range(len(LANGUAGE))}), q)
    np.testing.assert_allclose(values, expected, rtol=1e-12)


# --- O16 order of elements ------------------------------------------------------------------------------------------

def test_O16_order_of_the_file_changes_nothing_but_the_documented_order():
    links = [link("base"), *(link(n, inertial(1 + k, (0.1 * k, 0.2, 0.1), (1, 1.5, 2))) for k, n in enumerate("abcde"))]
    joints = [joint("ja", "base", "a"), joint("jb", "a", "b", "0 1 0", xyz="0 0 .5"),
              joint("jc", "a", "c", "1 0 0", xyz=".3 0 0"), joint("jd", "c", "d", "0 1 0", xyz="0 .2 0"),
              joint("je", "c", "e", "0 0 1", "prismatic", "0 0 .1")]
    plain = load(robot(*links, *joints))
    assert plain.coordinate_names == ("ja", "jb", "jc", "jd", "je")
    q = dict(zip(plain.coordinate_names, (0.1, -0.4, 0.7, 1.1, 0.2), strict=True))
    M = da.mass_matrix(plain, list(q.values()))
    orders = set()
    rng = np.random.default_rng(16)
    shuffles = [[*rng.permutation(links + joints)] for _ in range(5)]
    for shuffle in (links[::-1] + joints[::-1], joints + links, *shuffles):
        model = load(robot(*shuffle))
        names = model.coordinate_names
        orders.add(names)
        for parent, child in (("ja", "jb"), ("ja", "jc"), ("jc", "jd"), ("jc", "je")):
            assert names.index(parent) < names.index(child)
        # ties by file order: of the joints whose parents stand already, the one that comes first in the file
        in_file = [t.split('"')[1] for t in shuffle if t.startswith("<joint")]
        above, order = {"jb": "ja", "jc": "ja", "jd": "jc", "je": "jc"}, []
        while len(order) < 5:
            order.append(next(n for n in in_file if n not in order and (n not in above or above[n] in order)))
        assert list(names) == order
        at = [names.index(n) for n in plain.coordinate_names]
        shuffled = da.mass_matrix(model, [q[n] for n in names])
        np.testing.assert_allclose(shuffled[np.ix_(at, at)], M, rtol=1e-13, atol=1e-14)
    assert len(orders) > 1


# --- O17 planar joint -----------------------------------------------------------------------------------------------

def test_O17_planar_joint_moves_in_the_plane_normal_to_its_axis():
    model = load(robot(link("base"), link("a", inertial(2, (0.1, 0, 0.05), (0.1, 0.12, 0.14))),
                       joint("j", "base", "a", "0 1 0", "planar", "1 2 3", "0 0 .5")))
    assert (model.nq, model.nv) == (3, 3) and model.coordinate_names == ("j.angle", "j.x", "j.y")
    M, g = da.mass_matrix(model, [0, 0, 0]), da.gravity_vector(model, [0, 0, 0])
    assert M[0, 0] == pytest.approx(0.145, rel=1e-14)
    np.testing.assert_allclose(np.diag(M)[1:], 2)
    np.testing.assert_allclose(sorted(np.abs(g)), (0, 1.962, 19.62), atol=1e-13)
    assert abs(g[0]) == pytest.approx(1.962)
    normal = da.placement(model, [0, 0, 0], "a")[:3, 1]
    for q in itertools.product((0.3, -1.2), repeat=3):
        moved = da.placement(model, q, "a")
        np.testing.assert_allclose(normal @ (moved[:3, 3] - (1, 2, 3)), 0, atol=1e-15)
        np.testing.assert_allclose(moved[:3, 1], normal, atol=1e-15)
        assert np.linalg.norm(moved[:3, 3] - (1, 2, 3)) == pytest.approx(np.hypot(q[1], q[2]))


# --- O19 limits -----------------------------------------------------------------------------------------------------

def test_O19_missing_limits_are_a_warning_and_crossed_limits_an_error():
    parts = link("base"), link("a", inertial(1, (0.1, 0, 0), (1, 1, 1)))

    def limited(limit, kind="revolute"):
        return robot(*parts, joint("j", "base", "a", "0 1 0", kind, inside=limit))

    for kind in ("revolute", "prismatic"):
        with pytest.warns(da.DalembertWarning, match="joint 'j' .*no <limit>; it is read without limits"):
            assert da.load(limited("", kind)).joint("j").limits == da.Limits()
    with pytest.warns(da.DalembertWarning, match="joint 'j' .*<limit> has no lower and upper; read as no limit there"):
        limits = da.load(limited('<limit effort="5" velocity="2"/>')).joint("j").limits
    assert (limits.lower, limits.upper, limits.effort, limits.velocity) == (None, None, (5,), (2,))
    with pytest.warns(da.DalembertWarning, match="<limit> has no lower; read as no limit there"):
        limits = da.load(limited('<limit upper="1"/>')).joint("j").limits
    assert (limits.lower, limits.upper) == (None, (1,))
    with pytest.raises(da.ModelError, match="joint 'j' .*lower limit 2 is above its upper limit 1"):
        load(limited('<limit lower="2" upper="1"/>'))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert da.load(limited("", "continuous")).nv == 1
        equal = da.load(limited('<limit lower="0" upper="0" effort="1" velocity="1"/>'))
    assert equal.joint("j").limits.lower is None
    assert any("both" in f.why for f in equal.check())
    full = load(limited('<limit lower="-1" upper="1" effort="1" velocity="1"/>'))
    np.testing.assert_array_equal(da.mass_matrix(load(limited("")), [3.0]), da.mass_matrix(full, [3.0]))
