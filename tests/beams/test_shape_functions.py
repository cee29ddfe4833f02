"""Shape functions: derivatives, conditions at ends, eigenvalues, exactness, and requests that make no sense."""

from fractions import Fraction

import numpy as np
import pytest

import dalembert as da
from dalembert.beams.shape_functions import DIRECTIONS

beams = da.beams
FAMILIES = {
    "legendre": lambda d: beams.legendre(4, d), "clamped_free": lambda d: beams.clamped_free(5, d),
    "clamped_loaded": lambda d: beams.clamped_loaded(5, 10.0, 0.02, 0.1, d), "craig_bampton": lambda d: beams.craig_bampton(3, d),
    "hermite": lambda d: beams.hermite(3, d), "joined": lambda d: beams.joined(beams.legendre(1, d), beams.craig_bampton(0, d))}


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_families_are_differentiated_and_held_at_the_start(family, direction):
    shapes = FAMILIES[family](direction)
    bends = direction.startswith("bend")
    for derivative, of in ((shapes.slopes, shapes.values), (shapes.curvatures, shapes.slopes)):
        for xi in (0.1, 0.45, 0.97):
            step = 1e-6
            difference = (np.array(of(xi + step), float) - np.array(of(xi - step), float)) / (2 * step)
            np.testing.assert_allclose(np.array(derivative(xi), float), difference, rtol=1e-6, atol=1e-5)
    assert not any(shapes.values(0)) and (not bends or not any(shapes.slopes(0)))
    assert shapes.identity() and shapes.identity() != beams.legendre(3, direction).identity()
    assert hash(shapes) == hash(FAMILIES[family](direction))


def test_high_eigenfunctions_do_not_cancel():
    """Mode 64: cosh is 1e86. Amplitudes of the interior are 1/2, free ends have neither moment nor shear."""
    modes = beams.clamped_free(64)
    wave_number = modes.waves[-1][0]
    assert wave_number == pytest.approx(63.5 * np.pi, rel=1e-15)      # 1 + cos b cosh b = 0, cosh b = 1e86
    assert modes.values(1)[-1] == pytest.approx(-1, abs=1e-12)
    assert modes.curvatures(1)[-1] / wave_number**2 == pytest.approx(0, abs=1e-11)
    interior = [modes.values(xi)[-1] for xi in np.linspace(0.3, 0.7, 400)]
    assert max(np.abs(interior)) == pytest.approx(np.sqrt(0.5), abs=1e-3)


def test_eigenfunctions_are_orthogonal():
    """Mass of the beam and of the body at its end, with offset: integral phi_i phi_k + load."""
    mass, inertia, offset = 10.0, 0.02, 0.1
    modes = beams.clamped_loaded(4, mass, inertia, offset)
    x, w = np.polynomial.legendre.leggauss(60)
    values = np.array([modes.values((1 + s) / 2) for s in x])
    end, slope = np.array(modes.values(1)), np.array(modes.slopes(1))
    M = (values.T * (w / 2)) @ values + mass * np.outer(end + offset * slope, end + offset * slope) + inertia * np.outer(slope, slope)
    scale = np.sqrt(np.outer(np.diag(M), np.diag(M)))
    np.testing.assert_allclose(M / scale, np.eye(4), atol=1e-13)


@pytest.mark.parametrize("direction, inertias", [("twist", (0, 0.5)), ("stretch", (0.5, 0))])
def test_loaded_bars(direction, inertias):
    """b tan b = 1 / ratio."""
    for wave_number, *_ in beams.clamped_loaded(4, *inertias, direction=direction).waves:
        assert wave_number * np.tan(wave_number) == pytest.approx(2, rel=1e-12)


def test_polynomials_are_exact_and_rounded_once():
    exact = beams.legendre(14).values(Fraction(9, 10))
    assert all(isinstance(x, Fraction) for x in exact)
    assert beams.legendre(14).values(0.9) == [float(x) for x in beams.legendre(14).values(Fraction(0.9))]
    assert beams.hermite(4).values(Fraction(3, 8))[2:4] == [Fraction(1, 2), Fraction(-1, 32)]
    assert beams.hermite(4).slopes(Fraction(1, 2))[3] == 1


def test_pinned_and_clamped_eigenfunctions_hold_both_ends():
    assert beams.pinned_pinned(3).values(1) == [0, 0, 0] and beams.pinned_pinned(1).slopes(0) == [pytest.approx(np.pi)]
    held = beams.clamped_clamped(3)
    assert [*held.values(1), *held.slopes(1)] == [0] * 6


@pytest.mark.parametrize("call, message", [
    (lambda: beams.hermite(0), "elements=0"), (lambda: beams.legendre(-1), "count=-1"), (lambda: beams.clamped_free(65), "at most 64"),
    (lambda: beams.clamped_loaded(2, mass_ratio=-1), "mass_ratio is -1"), (lambda: beams.clamped_loaded(2, 1, inertia_ratio=np.inf), "inertia_ratio is inf"),
    (lambda: beams.clamped_loaded(2, 1, offset=np.nan), "offset is nan"), (lambda: beams.clamped_loaded(1, 1e9), "so heavy that"),
    (lambda: beams.hermite(2, "bend"), "unknown direction 'bend'"), (lambda: beams.ShapePolynomials(((0, np.nan),)), "is nan"),
    (lambda: beams.ShapePolynomials(((),)), "no coefficient"), (lambda: beams.ShapePolynomials((("x",),)), "expected a number"),
    (lambda: beams.functions(lambda x: [x**2], lambda x: [x], lambda x: [1], (0, 0.5)), "rise from 0 to 1"),
    (lambda: beams.functions(lambda x: [x**2], lambda x: [x], lambda x: [1]), "slopes of shape function 1 are not the derivative"),
    (lambda: beams.functions(lambda x: [x**2], lambda x: [2 * x, 0], lambda x: [2]), "shape")])
def test_wrong_requests_are_refused(call, message):
    with pytest.raises((ValueError, TypeError, da.DalembertError), match=message):
        call()


def arm(modes, **numbers):
    numbers = {"EIy": 1.0, "EIz": 1.0, "GJ": 1.0, "EA": 1.0, "mass_per_length": 1.0, "rotary_inertia": (1e-3, 0, 0)} | numbers
    return da.Body("arm", beam=da.Beam(1.0, **numbers), modes=modes)


@pytest.mark.parametrize("modes, message", [
    ({"twist": beams.clamped_free(2)}, "body 'arm': the shape functions of twist have no strain at the start"),
    ({"bend_y": beams.ShapePolynomials(((1, 0, 1),))}, "bend_y1 is 1 at xi = 0"),
    ({"bend_y": beams.ShapePolynomials(((0, 1),))}, "bend_y1 has no strain"),
    ({"bend_z": beams.ShapePolynomials(((0, 0, 1), (0, 0, 0, 1), (0, 0, 1, 2)))}, "bend_z1, bend_z2, bend_z3 are linearly dependent"),
    ({"bend_y": beams.joined(beams.legendre(2), beams.craig_bampton(0))}, "linearly dependent")])
def test_modes_that_no_beam_has_name_the_body(modes, message):
    with pytest.raises(da.ModelError, match=message):
        arm(modes)
