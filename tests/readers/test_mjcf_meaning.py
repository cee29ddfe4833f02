"""The meaning of MJCF: open cases O11 and O12, and random models against MuJoCo itself."""

import warnings

import numpy as np
import pytest

import dalembert as da

mujoco = pytest.importorskip("mujoco")


def load(text, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        return da.load(text, **options)


def model(inside, options=""):
    return f'<mujoco>{options}<worldbody>{inside}</worldbody></mujoco>'


INERTIAL = '<inertial pos="{com}" mass="{mass}" diaginertia="{moments}"/>'.format


def test_open_case_11_a_slide_under_the_world_stays():
    m = load(model('<body name="cart"><joint type="slide" axis="-1 0 0"/>' + INERTIAL(com="0 0 0", mass=1.7, moments=".1 .1 .1")
                   + '<body name="pole" pos="0 0 .1"><joint axis="0 1 0"/>'
                   + INERTIAL(com="0 0 .35", mass=.4, moments=".02 .02 .001") + "</body></body>"))
    assert np.allclose(da.mass_matrix(m, [0, 0.5]), [[2.1, -0.122861559], [-0.122861559, 0.069]], rtol=0, atol=6e-10)
    assert np.allclose(da.bias_force(m, [0, 0.5], [0, 0]), [0, -0.658443035], rtol=0, atol=6e-10)


def test_open_case_12_euler_angles_are_degrees_about_axes_that_turn():
    m = load(model('<body euler="30 40 50"><joint axis="0 0 1"/>' + INERTIAL(com=".2 0 0", mass=1, moments=".01 .02 .02") + "</body>"))
    assert np.allclose(da.mass_matrix(m, [0.3]), 0.06, rtol=0, atol=1e-14)
    assert np.allclose(da.bias_force(m, [0.3], [0]), 1.387094612, rtol=0, atol=6e-10)


def test_open_case_12_joints_of_one_body_turn_about_their_own_anchors():
    m = load(model('<body name="arm" pos="0 0 1"><joint name="a" axis="0 0 1" pos=".05 0 0"/><joint name="b" axis="0 1 0" pos="0 0 .1"/>'
                   + INERTIAL(com=".1 .2 -.3", mass=1.5, moments=".02 .03 .04") + "</body>", '<compiler angle="radian"/>'))
    q, qd = [0.4, -0.6], [0.7, -0.9]
    assert np.allclose(da.mass_matrix(m, q), [[0.193772093, 0.082101], [0.082101, 0.285]], rtol=0, atol=6e-10)
    assert np.allclose(da.bias_force(m, q, qd), [0.196844183, -4.490559347], rtol=0, atol=6e-10)
    assert [b.name for b in m.bodies] == ["world", "arm/a", "arm/b", "arm"]


# --- random models ---

def vector(rng, n=3, scale=0.4):
    return " ".join(f"{x:.3f}" for x in scale * rng.standard_normal(n))


def turned(rng):
    return [f'euler="{vector(rng, 3, 60)}"', f'quat="{vector(rng, 4, 1)}"', f'axisangle="{vector(rng, 4, 30)}"',
            f'xyaxes="{vector(rng, 6, 1)}"', f'zaxis="{vector(rng)}"', ""][rng.integers(6)]


def joint(rng, name, is_last):
    kind = ["hinge", "slide", "hinge", "ball"][rng.integers(4 if is_last else 3)]
    own = "" if kind == "ball" else (f' armature="{rng.uniform(0, .1):.3f}" axis="{vector(rng, 3, 1)}" ref="{rng.uniform(-1, 1):.2f}" springref="{rng.uniform(-1, 1):.2f}" '
                                     f'stiffness="{rng.uniform(0, 3):.2f}" frictionloss="{rng.uniform(0, 1):.2f}"')
    return (f'<joint name="{name}" type="{kind}" pos="{vector(rng)}" damping="{rng.uniform(0, 2):.2f}"{own}/>')


def geom(rng):
    kind = ["sphere", "capsule", "box", "ellipsoid", "cylinder"][rng.integers(5)]
    place = f'fromto="{vector(rng, 6)}"' if kind in ("capsule", "cylinder") and rng.random() < .5 else f'pos="{vector(rng)}" {turned(rng)}'
    mass = "mass='0.7'" if rng.random() < .5 else ""
    return f'<geom type="{kind}" size=".1 .07 .2" {place} {mass}/>'


def body(rng, names, depth=0):
    name = f"b{next(names)}"
    is_free = depth == 0 and rng.random() < .4
    count = rng.integers(3)
    joints = "<freejoint/>" if is_free else "".join(joint(rng, f"{name}_{k}", k == count - 1) for k in range(count))
    inside = joints + geom(rng) + f'<site name="s_{name}" pos="{vector(rng)}" {turned(rng)}/>'
    if rng.random() < .3:
        inside += f'<inertial pos="{vector(rng)}" mass="1.5" fullinertia=".3 .25 .2 .01 .02 -.03"/>'
    if depth < 3:
        inside += "".join(body(rng, names, depth + 1) for _ in range(rng.integers(1, 3)))
    if rng.random() < .3:
        inside += f'<frame pos="{vector(rng)}" {turned(rng)}>{geom(rng)}</frame>'
    return f'<body name="{name}" pos="{vector(rng)}" {turned(rng)}>{inside}</body>'


def random_model(seed):
    rng = np.random.default_rng(seed)
    degrees = ["degree", "radian"][rng.integers(2)]
    order = ["xyz", "XYZ", "zyx", "ZXY", "yxz"][rng.integers(5)]
    options = f'<compiler angle="{degrees}" eulerseq="{order}"/><option gravity="{vector(rng, 3, 8)}"/>'
    return f'<mujoco>{options}<worldbody>{body(rng, iter(range(99)))}</worldbody></mujoco>'


def full_mass_matrix(theirs, d):
    M = np.zeros((theirs.nv, theirs.nv))
    if hasattr(d, "qM"):      # before version 4
        mujoco.mj_fullM(theirs, M, d.qM)
    else:
        mujoco.mj_fullM(theirs, d, M)
    return M


def state_of_mujoco(theirs, seed):
    """Data of a random state without contacts."""
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    d, rng = mujoco.MjData(theirs), np.random.default_rng(seed)
    mujoco.mj_integratePos(theirs, d.qpos, rng.standard_normal(theirs.nv), 1.0)
    d.qvel[:] = rng.standard_normal(theirs.nv)
    mujoco.mj_forward(theirs, d)
    return d


@pytest.mark.parametrize("seed", range(12))
def test_random_models_move_as_in_mujoco(seed):
    text = random_model(seed)
    m, theirs = load(text, exact_angles=False), mujoco.MjModel.from_xml_string(text)
    d = state_of_mujoco(theirs, seed)
    acceleration = np.random.default_rng(seed).standard_normal(theirs.nv)
    tau = full_mass_matrix(theirs, d) @ acceleration + d.qfrc_bias - d.qfrc_passive
    x = da.convert.from_mujoco(m, d.qpos, d.qvel, acceleration, tau)
    dry = [float(c) * np.sign(v) for j in m.independent_joints for c, v in zip(j.coulomb, x.qd[list(m.entries[j.name].at_v)], strict=True)]
    assert np.allclose(da.inverse_dynamics(m, x.q, x.qd, x.qdd) - dry, x.tau, rtol=0, atol=1e-12 * (10 + np.abs(tau).max()))
    for name, position, R in [(theirs.body(i).name, d.xpos[i], d.xmat[i]) for i in range(theirs.nbody)] + [
            (theirs.site(i).name, d.site_xpos[i], d.site_xmat[i]) for i in range(theirs.nsite)]:
        place = da.placement(m, x.q, name)
        assert np.allclose(place[:3, 3], position, rtol=0, atol=1e-12) and np.allclose(place[:3, :3].ravel(), R, rtol=0, atol=1e-12)
    assert not [f for f in m.check() if f.severity == "error"]
