"""Input shaping: what vibration is left, against the oscillator itself."""

import numpy as np
import pytest

import dalembert as da

W, RATIO = 12.0, 0.05


def response(shaper, w=W, ratio=RATIO, t=5.0):
    """Amplitude of x'' + 2 zeta w x' + w^2 x = w^2 step(t), shaped, after its last impulse, as a part of the unshaped one's then."""
    damped = w * np.sqrt(1 - ratio**2)
    pole = complex(-ratio * w, damped)
    def phasor(times, amplitudes):
        return abs(sum(a * np.exp(pole * (t - at)) for at, a in zip(times, amplitudes, strict=True)))
    return phasor(shaper.times, shaper.amplitudes) / phasor([shaper.delay], [1.0])


@pytest.mark.parametrize("make", [da.generators.zv, da.generators.zvd])
def test_no_vibration_is_left_at_the_frequency(make):
    shaper = make(W, RATIO)
    assert response(shaper) < 1e-13 and shaper.residual(W, RATIO) < 1e-13
    assert abs(shaper.amplitudes.sum() - 1) < 1e-15


@pytest.mark.parametrize("make", [da.generators.zv, da.generators.zvd])
def test_the_residual_is_that_of_the_oscillator(make):
    shaper = make(W, RATIO)
    for w in (0.7 * W, 1.1 * W, 2.3 * W):
        np.testing.assert_allclose(shaper.residual(w, RATIO), response(shaper, w), rtol=1e-12)
    assert shaper.residual([W, 1.1 * W], RATIO).shape == (2,)


def test_zvd_is_flat_at_the_frequency_and_zv_is_not():
    step = 1e-4 * W
    slopes = [make(W).residual(W + step) / step for make in (da.generators.zv, da.generators.zvd)]
    assert slopes[0] > 0.1 and slopes[1] < 1e-3


def test_products_of_shapers_hold_for_both_vibrations():
    both = da.generators.zv(W, RATIO) * da.generators.zvd(3.7 * W, 0.01)
    assert both.residual(W, RATIO) < 1e-13 and both.residual(3.7 * W, 0.01) < 1e-13 and len(both.times) == 6


def test_a_shaped_program_leaves_an_elastic_arm_at_rest():
    """Its base's angle follows a program: the beam's first mode is left at rest, up to the second one."""
    beam = da.Beam(1.0, EIz=5.0, mass_per_length=0.5)
    arm = da.Mechanism("arm", [da.Body("base"), da.Body("hub", 1.0, (0, 0, 0), (1e3, 0, 1e3, 0, 0, 1e3)), da.Body("link", beam=beam, modes={"bend_y": 2})],
                       [da.Joint("hinge", da.Revolute((0, 0, 1)), "base", "hub"), da.Joint("clamp", da.Fixed(), "hub", "link")], gravity=(0, 0, 0))
    M, K = da.mass_matrix(arm, np.zeros(3))[1:, 1:], da.inverse_dynamics_derivatives(arm, np.zeros(3), np.zeros(3), np.zeros(3)).dtau_dq[1:, 1:]
    frequencies = np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K)))
    move = da.generators.Polynomial([0.0], [0.1], duration=0.3)
    shaper = da.generators.zv(min(frequencies)) * da.generators.zv(max(frequencies))
    left = []
    for program in (move, da.generators.Shaped(move, shaper)):
        end = 0.3 + shaper.delay
        run = da.simulate(arm, np.zeros(3), np.zeros(3), [0.0, end, end + 0.05, end + 0.1], method="dop853",
                          control=lambda t, q, qd, program=program: [1000.5 * program(t)[2][0] + 1e5 * (program(t)[0][0] - q[0]) + 2e4 * (program(t)[1][0] - qd[0]), 0.0, 0.0])
        left.append(np.abs(run.q[1:, 1:]).max())
    assert left[1] < 0.01 * left[0]


def test_derivatives_are_those_of_the_parts_and_numbers_are_checked():
    move = da.generators.Polynomial([0.0, 1.0], [2.0, 0.0], duration=1.0)
    shaped = da.generators.Shaped(move, da.generators.zvd(W))
    step, t = 1e-6, 0.4
    np.testing.assert_allclose(shaped(t)[1], (shaped(t + step)[0] - shaped(t - step)[0]) / (2 * step), rtol=1e-7)
    np.testing.assert_array_equal(shaped(9.0)[0], [2.0, 0.0])
    for wrong in (lambda: da.generators.zv(-1.0), lambda: da.generators.zv(1.0, 1.0), lambda: da.generators.Shaper([0, 1], [0.5, 0.4]), lambda: da.generators.Shaper([-1, 1], [0.5, 0.5])):
        with pytest.raises(ValueError, match="expected"):
            wrong()
    with pytest.raises(TypeError, match="generator of time"):
        da.generators.Shaped(lambda t: t, da.generators.zv(1.0))
