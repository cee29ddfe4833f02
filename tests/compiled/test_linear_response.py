"""Frequency responses against closed forms of beams; state-space models, whole and reduced."""

import numpy as np
import pytest

import dalembert as da
from elastic_arms import cantilever, two_links

L, EI, MU, HUB = 1.0, 1.0, 1.0, 0.1
TURN = da.Revolute((0, 0, 1))


@pytest.fixture(scope="module")
def hinged():
    """A beam on a hub of inertia J: the response to the hub's torque has a closed form."""
    return cantilever(6, joint=TURN, hub=HUB)


def exact_shape(w):
    """y = a (cos - cosh) + b sin + c sinh of b x, free at the end, for slope 1 at the hub; with the hub's torque."""
    b = (MU * w**2 / EI) ** 0.25
    c, s, C, S = np.cos(b * L), np.sin(b * L), np.cosh(b * L), np.sinh(b * L)
    A = np.array([[-c - C, -s, S], [s - S, -c, C], [0, b, b]])
    k = np.linalg.solve(A, [0, 0, 1.0])
    torque = -HUB * w**2 + EI * 2 * b**2 * k[0]      # - J w^2 - EI y''(0)

    def y(x):
        return k[0] * (np.cos(b * x) - np.cosh(b * x)) + k[1] * np.sin(b * x) + k[2] * np.sinh(b * x)
    return y, torque, -2 * EI * b**2 * k[0]


@pytest.mark.parametrize("w", [0.7, 15.0])
def test_response_of_a_beam_on_a_hub(hinged, w):
    y, torque, moment = exact_shape(w)
    outputs = ["root", da.ports.FrameDisplacement("tip", (0, 1, 0)), da.ports.SectionMoment("rod", 0.0, "M_z"), da.ports.BeamStrain("rod", 0.0, y=0.01)]
    H = da.frequency_response(hinged, hinged.neutral(), ["root"], outputs, [w])[0, :, 0]
    np.testing.assert_allclose(H[:2], [1 / torque, y(L) / torque], rtol=1e-5)
    np.testing.assert_allclose(H[2:], [moment / torque, -0.01 * moment / EI / torque], rtol=1e-4)
    rates = [da.ports.FrameDisplacement("tip", (0, 1, 0), rate=k) for k in (1, 2)]
    np.testing.assert_allclose(da.frequency_response(hinged, hinged.neutral(), ["root"], rates, [w])[0, :, 0], [1j * w * H[1], -w**2 * H[1]], rtol=1e-12)


def test_response_to_motion_of_the_base():
    """Clamped beam, base accelerated across: relative deflection = a/w^2 + free terms, clamped and free ends."""
    rod = cantilever(5)
    w = 8.0
    b = w**0.5
    c, s, C, S = np.cos(b), np.sin(b), np.cosh(b), np.sinh(b)
    k = np.linalg.solve([[1, 0, 1, 0], [0, 1, 0, 1], [-c, -s, C, S], [s, -c, S, C]], [-1 / w**2, 0, 0, 0])
    exact = 1 / w**2 + k @ [c, s, C, S]
    H = da.frequency_response(rod, rod.neutral(), da.ports.BaseMotion((0, 1, 0)), da.ports.FrameDisplacement("tip", (0, 1, 0)), w)
    np.testing.assert_allclose(H, exact, rtol=1e-6)


def test_response_is_reciprocal_and_static_at_zero():
    rod = cantilever({"bend_y": 4, "bend_z": 4})
    up, across = da.ports.PointForce("tip", (0, 0, 1.0)), da.ports.PointMoment("tip", (0, 1.0, 0))
    lift, turn = da.ports.FrameDisplacement("tip", (0, 0, 1.0)), da.ports.FrameRotation("tip", (0, 1.0, 0))
    H = da.frequency_response(rod, rod.neutral(), [up, across], [lift, turn], [0.0, 2.0])
    np.testing.assert_allclose(H[0].real, [[1 / 3, -1 / 2], [-1 / 2, 1.0]], rtol=1e-10)
    np.testing.assert_allclose(H[1], H[1].T, rtol=1e-10)


def test_resonance_of_a_damped_mode():
    """At w of a lightly damped mode the response is that of one oscillator: phase -90 degrees."""
    rod = cantilever(4, damping=da.Rayleigh(stiffness=1e-3))
    w = da.natural_frequencies(rod, rod.neutral())[0]
    H = da.frequency_response(rod, rod.neutral(), da.ports.PointForce("tip", (0, 1, 0)), da.ports.FrameDisplacement("tip", (0, 1, 0)), w)
    assert abs(H) == pytest.approx(4 / (1e-3 * w**3), rel=1e-3) and np.angle(H) == pytest.approx(-np.pi / 2, abs=2e-3)


@pytest.fixture(scope="module")
def arm():
    return two_links(3, gravity=(9.81, 0, 0), damping=da.Rayleigh(stiffness=2e-4))


def test_section_moments_of_inputs_beyond_and_of_gravity(arm):
    """Static: tip force F times the distance; about a bent state gravity counts; against differences of statics."""
    tip = da.ports.PointForce("tip", (0, 1.0, 0))
    moment = da.ports.SectionMoment("upper", 0.2, "M_z")
    q = {"elbow": 0.3}
    H = da.frequency_response(arm, q, tip, moment, 0.0, locked="all", equilibrium=True)
    forces = [(0, 0.0, 0), (0, 1e-3, 0)]
    found = []
    for force in forces:
        loads = [da.ExternalForce("tip", force=force)]
        state = da.static_deflection(arm, q, external_forces=loads).q
        found.append(da.section_forces_at(arm, state, 0 * state, 0 * state, "upper", 0.2, external_forces=loads).M_z[0])
    assert H.real == pytest.approx((found[1] - found[0]) / 1e-3, rel=1e-5)
    base = da.ports.BaseMotion((0, 1.0, 0))
    rod = cantilever(3)
    np.testing.assert_allclose(da.frequency_response(rod, rod.neutral(), base, da.ports.SectionMoment("rod", 0.0, "M_z"), 0.0), -0.5, rtol=1e-10)
    model = da.state_space(arm, q, [tip, "shoulder"], [moment, da.ports.BeamStrain("lower", 0.1, y=0.01)], equilibrium=True)
    w = [2.0, 80.0]
    np.testing.assert_allclose(model.frequency_response(w), da.frequency_response(arm, q, [tip, "shoulder"], [moment, da.ports.BeamStrain("lower", 0.1, y=0.01)], w, equilibrium=True), rtol=1e-8)


OUTPUTS = ["shoulder", da.ports.FrameDisplacement("tip", (0, 1, 0)), da.ports.FrameDisplacement("tip", (0, 1, 0), rate=1), da.ports.FrameDisplacement("tip", (0, 1, 0), rate=2)]


def test_a_whole_state_space_model_is_the_linearised_system(arm):
    q = {"shoulder": 0.2, "elbow": -0.2}
    model = da.state_space(arm, q, ["shoulder", "elbow"], OUTPUTS, equilibrium=True)
    full = da.static_deflection(arm, q).q
    tau = da.inverse_dynamics(arm, full, 0 * full, 0 * full)
    A, B = da.linearize(arm, full, 0 * full, tau)
    np.testing.assert_allclose(model.A, A, rtol=1e-8, atol=1e-6 * np.abs(A).max())
    np.testing.assert_allclose(model.B, B[:, :2], rtol=1e-8, atol=1e-10 * np.abs(B).max())
    w = [1.0, 30.0, 200.0]
    np.testing.assert_allclose(model.frequency_response(w), da.frequency_response(arm, q, ["shoulder", "elbow"], OUTPUTS, w, equilibrium=True), rtol=1e-8)
    assert model.input_units == ("N m", "N m") and model.output_units == ("rad", "m", "m/s", "m/s^2")
    assert model.inputs == ("shoulder", "elbow") and model.outputs[1] == "displacement of tip"


def test_a_reduced_model_says_its_error(arm):
    models = {modes: da.state_space(arm, arm.neutral(), "shoulder", OUTPUTS[1], modes=modes, band=100.0) for modes in (2, 3, 5)}
    errors = [float(model.relative_error[0, 0]) for model in models.values()]
    assert errors[0] > errors[1] > errors[2] and errors[2] < 1e-3
    reduced = models[3]
    w = np.array([0.5, 7.0, 50.0])
    whole = da.frequency_response(arm, arm.neutral(), "shoulder", OUTPUTS[1], w)
    found = reduced.frequency_response(w)[:, 0, 0]
    assert (np.abs(found - whole) <= reduced.error[0, 0]).all() and reduced.A.shape == (6, 6)
    np.testing.assert_allclose(reduced.frequency_response([0.0]).real[0, 0], da.frequency_response(arm, arm.neutral(), "shoulder", OUTPUTS[1], 0.0).real, rtol=1e-9)      # static correction


def test_models_are_exported(arm, tmp_path, monkeypatch):
    model = da.state_space(arm, arm.neutral(), "shoulder", OUTPUTS[1], modes=3)
    stored = np.load(model.save(tmp_path / "arm.npz"))
    np.testing.assert_array_equal(stored["A"], model.A)
    assert stored["output_units"].tolist() == ["m"]
    with pytest.raises(ValueError, match=r"expected the ending .npz or .mat"):
        model.save(tmp_path / "arm.csv")
    scipy = pytest.importorskip("scipy")
    from scipy.io import loadmat

    np.testing.assert_array_equal(loadmat(model.save(tmp_path / "arm.mat"))["B"], model.B)
    w, H = model.to_scipy().freqresp([3.0])
    np.testing.assert_allclose(H, model.frequency_response([3.0]).ravel(), rtol=1e-10)
    assert scipy


def test_errors_say_what_to_do(hinged):
    q = hinged.neutral()
    with pytest.raises(da.DalembertError, match=r"w = 0 rad/s has no bound: it is the frequency of a motion that nothing holds"):
        da.frequency_response(hinged, q, "root", "root", 0.0)
    with pytest.raises(da.UnknownNameError, match="root"):
        da.frequency_response(hinged, q, "roott", "root", 1.0)
    with pytest.raises(TypeError, match="expected the name of a joint, or an input of da.ports"):
        da.frequency_response(hinged, q, 3.0, "root", 1.0)
    with pytest.raises(TypeError, match="output of da.ports"):
        da.frequency_response(hinged, q, "root", da.ports.BaseMotion((0, 0, 1)), 1.0)
    with pytest.raises(da.DalembertError, match="rate of the output 'root' is 3"):
        da.frequency_response(hinged, q, "root", da.ports.Coordinate("root", rate=3), 1.0)
    with pytest.raises(da.UnknownNameError, match="M_z"):
        da.ports.SectionMoment("rod", 0.0, "M")
    with pytest.raises(da.ShapeError, match="one state"):
        da.frequency_response(hinged, np.zeros((2, hinged.nq)), "root", "root", 1.0)
    with pytest.raises(ValueError, match="the model has 7 modes"):
        da.state_space(hinged, q, "root", "root", modes=9)
