"""Properties along a beam, rotary inertia and damping, in the mass matrix and the forces of a mechanism."""

import numpy as np
import pytest
import scipy.linalg

import dalembert as da

beams = da.beams
NUMBERS = {"EIy": 90.0, "EIz": 120.0, "EA": 6e5, "GJ": 70.0, "mass_per_length": 0.25, "rotary_inertia": (1e-4, 4e-5, 5e-5)}
SPACE = {"bend_y": 3, "bend_z": 2, "twist": 2, "stretch": 1}


def cantilever(modes, kinematics="first_order", **numbers):
    beam = da.Beam(0.8, kinematics=kinematics, **NUMBERS | numbers)
    bodies = [da.Body("base"), da.Body("arm", beam=beam, modes=modes)]
    return da.Mechanism("cantilever", bodies, [da.Joint("root", da.Fixed(), "base", "arm")], gravity=(0, 0, 0))


def matrices(mechanism):
    """M, K and D at rest; K and D by derivatives of the forces."""
    zero = np.zeros(mechanism.nv)
    derivatives = da.inverse_dynamics_derivatives(mechanism, zero, zero, zero)
    return da.mass_matrix(mechanism, zero), derivatives.dtau_dq, derivatives.dtau_dqd


def ritz(shapes, of, weight, points=400):
    """Integral of weight(xi) of_i of_k over [0, 1], by Gauss points on tenths: an independent quadrature."""
    x, w = np.polynomial.legendre.leggauss(8)
    xi = np.concatenate([(k + (1 + x) / 2) / 10 for k in range(10)])
    rows = np.array([getattr(shapes, of)(s) for s in xi], dtype=float)
    return (rows.T * (np.tile(w / 20, 10) * np.array([weight(s) for s in xi]))) @ rows


@pytest.mark.parametrize("shapes", [beams.legendre(3), beams.hermite(2), beams.clamped_free(3)], ids=["legendre", "hermite", "clamped_free"])
@pytest.mark.parametrize("EIz, m, at", [
    (beams.tapered(120.0, 30.0), beams.tapered(0.25, 0.1), (lambda s: 120 - 90 * s, lambda s: 0.25 - 0.15 * s)),
    (beams.pieces(((0.3, 120.0), (1, (60.0, 20.0)))), beams.pieces(((0.6, 0.25), (1, 0.1))),
     (lambda s: 120 if s < 0.3 else 60 - 40 * (s - 0.3) / 0.7, lambda s: 0.25 if s < 0.6 else 0.1)),
    (120.0, 0.25, (lambda s: 120, lambda s: 0.25))])
def test_properties_along_a_beam(shapes, EIz, m, at):
    rotary = (0, 0, beams.tapered(2e-3, 1e-3))
    M, K, _ = matrices(cantilever({"bend_y": shapes}, EIz=EIz, mass_per_length=m, rotary_inertia=rotary))
    np.testing.assert_allclose(K, ritz(shapes, "curvatures", at[0]) / 0.8**3, rtol=1e-12, atol=1e-9)
    expected = ritz(shapes, "values", at[1]) * 0.8 + ritz(shapes, "slopes", lambda s: 2e-3 - 1e-3 * s) / 0.8
    np.testing.assert_allclose(M, expected, rtol=1e-12, atol=1e-15)


def test_numbers_along_a_beam_have_paths():
    mechanism = cantilever(2, EIz=beams.tapered(120.0, 30.0), mass_per_length=beams.pieces(((0.5, 0.25), (1, 0.1))))
    numbers = mechanism.body("arm").numbers()
    assert [numbers[f"EIz[{k}]"] for k in (0, 1)] == [120, 30] and numbers["mass_per_length[1]"] == 0.1
    halved = mechanism.replace({"arm.EIz[0]": 60.0, "arm.EIz[1]": 15.0})
    np.testing.assert_allclose(matrices(halved)[1][:2, :2], matrices(mechanism)[1][:2, :2] / 2, rtol=1e-14)
    assert halved.identity() != mechanism.identity() == cantilever(2, EIz=beams.tapered(120.0, 30.0), mass_per_length=beams.pieces(((0.5, 0.25), (1, 0.1)))).identity()
    moved = cantilever(2, EIz=beams.tapered(120.0, 30.0), mass_per_length=beams.pieces(((0.6, 0.25), (1, 0.1))))
    assert moved.identity() != mechanism.identity()


def test_symbols_along_a_beam():
    EI, m = da.symbols("EI m")
    symbolic = cantilever({"bend_y": 2}, EIz=beams.tapered(EI, 30.0), mass_per_length=beams.tapered(m, 0.1))
    numeric = cantilever({"bend_y": 2}, EIz=beams.tapered(120.0, 30.0), mass_per_length=beams.tapered(0.25, 0.1))
    valued = symbolic.replace({"EI": 120.0, "m": 0.25})
    for found, expected in zip(matrices(valued), matrices(numeric), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-16)


def test_rigid_rod_of_varying_mass():
    """Moment of inertia of m (1 - xi / 2): m l^3 (1/3 - 1/8)."""
    beam = da.Beam(2.0, mass_per_length=beams.tapered(3.0, 1.5))
    rod = da.Mechanism("rod", [da.Body("base"), da.Body("rod", beam=beam, modes=0)], [da.Joint("hinge", da.Revolute((0, 1, 0)), "base", "rod")])
    np.testing.assert_allclose(da.mass_matrix(rod, [0.3]), 3.0 * 8.0 * (1 / 3 - 1 / 8), rtol=1e-14)


def test_point_bodies_along_a_beam():
    """A body fixed at x adds its mass times the products of the displacements there."""
    beam = da.Beam(0.8, **NUMBERS)
    bodies = [da.Body("base"), da.Body("arm", beam=beam, modes={"bend_y": 3}), da.Body("motor", 0.7, inertia=(0, 0, 0, 0, 0, 2e-3))]
    joints = [da.Joint("root", da.Fixed(), "base", "arm"), da.Joint("mount", da.Fixed(), "arm", "motor", da.Origin((0.3, 0, 0)))]
    M = da.mass_matrix(da.Mechanism("loaded", bodies, joints), np.zeros(3))
    shapes = beams.legendre(3)
    at, slope = (np.array(f(0.3 / 0.8), dtype=float) for f in (shapes.values, shapes.slopes))
    added = 0.7 * np.outer(at, at) + 2e-3 * np.outer(slope, slope) / 0.8**2
    np.testing.assert_allclose(M - matrices(cantilever({"bend_y": 3}, "second_order"))[0], added, rtol=1e-12)


@pytest.mark.parametrize("numbers", [{}, {"EIz": beams.tapered(120.0, 30.0)}], ids=["uniform", "tapered"])
def test_modal_damping_gives_each_mode_its_ratio(numbers):
    mechanism = cantilever(SPACE, damping=da.ModalDamping(0.02), **numbers)
    M, K, D = matrices(mechanism)
    squares, Y = scipy.linalg.eigh(K, M)
    np.testing.assert_allclose(Y.T @ D @ Y, np.diag(2 * 0.02 * np.sqrt(squares)), rtol=1e-9, atol=1e-9 * np.sqrt(squares).max())


def test_rayleigh_damping_is_that_of_the_clamped_beam_with_rotary_inertia():
    M, K, D = matrices(cantilever(SPACE, damping=da.Rayleigh(0.3, 2e-4)))
    np.testing.assert_allclose(D, 0.3 * M + 2e-4 * K, rtol=1e-11, atol=1e-13)
    assert da.Rayleigh.kelvin_voigt(2e-4) == da.Rayleigh(0, 2e-4)


def test_modal_damping_refuses_symbols_by_name():
    with pytest.raises(da.ModelError, match="body 'arm' needs numbers, and EIz is the symbol EI"):
        cantilever(2, EIz=da.symbols("EI")[0], damping=da.ModalDamping(0.02))
    zeta, = da.symbols("zeta")
    symbolic = cantilever(2, damping=da.ModalDamping(zeta)).replace({"zeta": 0.02})
    np.testing.assert_allclose(matrices(symbolic)[2], matrices(cantilever(2, damping=da.ModalDamping(0.02)))[2], rtol=1e-14)


@pytest.mark.parametrize("call, message", [
    (lambda: da.ModalDamping(-0.1), "ratio of a modal damping is -0.1"), (lambda: da.Rayleigh.kelvin_voigt(-1), "stiffness of a Rayleigh damping is -1"),
    (lambda: cantilever(2, damping=0.1), "da.ModalDamping"), (lambda: cantilever(2, EIz=beams.tapered(1.0, -1.0)), "EIz of a beam is -1 N m.2; give"),
    (lambda: beams.tapered(1.0), "two or more"), (lambda: beams.pieces(((0.4, 1.0), (0.9, 2.0))), "rise to 1"),
    (lambda: cantilever(2, rotary_inertia=(1, 2)), "2 entries"), (lambda: cantilever(2, rotary_inertia=(0, 0, -1)), "rotary_inertia of a beam is -1"),
    (lambda: da.Beam(1.0).at("EIx", 0), "EIx"), (lambda: da.Beam(1.0).at("EIz", 0), "no EIz")])
def test_wrong_numbers_are_refused(call, message):
    with pytest.raises((TypeError, ValueError, da.DalembertError), match=message):
        call()


@pytest.mark.parametrize("kinematics, modes", [("second_order", SPACE), ("exact", {"bend_y": 3, "bend_z": 2})])
def test_elements_have_their_part_of_properties(kinematics, modes):
    """A tapered, stepped beam in 4 elements against one beam: static deflections, and the mass of the whole."""
    numbers = {"EIz": beams.tapered(120.0, 30.0), "mass_per_length": beams.pieces(((0.3, 0.25), (1, (0.2, 0.1))))}
    beam = da.Beam(0.8, kinematics=kinematics, **NUMBERS | numbers)
    tips = []
    for elements in (1, 4):
        bodies = [da.Body("base"), da.Body("arm", beam=beam, modes={"bend_y": 8 if elements == 1 else 4}, elements=elements)]
        mechanism = da.Mechanism("arm", bodies, [da.Joint("root", da.Fixed(), "base", "arm")], [da.Frame("tip", "arm", da.Origin((0.8, 0, 0)))])
        q = np.zeros(mechanism.nv)
        K = da.inverse_dynamics_derivatives(mechanism, q, q, q).dtau_dq
        force = da.jacobian(mechanism, q, "tip")[4]
        tips.append(force @ np.linalg.solve(K, force))
    x = (np.arange(2000) + 0.5) / 2000
    np.testing.assert_allclose(tips, 0.8**3 * np.mean((1 - x)**2 / (120 - 90 * x)), rtol=1e-6)
    np.testing.assert_allclose(beam.mass, 0.8 * (0.3 * 0.25 + 0.7 * 0.15), rtol=1e-14)
    np.testing.assert_allclose(beam.centre * beam.mass, 0.8**2 * (0.25 * 0.3**2 / 2 + 0.7 * 0.15 * 0.3 + 0.7**2 * (0.2 / 2 - 0.1 / 3)), rtol=1e-14)


@pytest.mark.parametrize("kinematics", ["third_order", "exact"])
def test_curved_beams_of_varying_stiffness(kinematics):
    """Curvature forces of a bent and twisted beam are the gradient of its energy, at rest those of the linear stiffness."""
    numbers = {"EIz": beams.pieces(((0.3, 120.0), (1, (60.0, 20.0)))), "GJ": beams.tapered(70.0, 20.0), "damping": da.ModalDamping(0.02)}
    curved, linear = (cantilever(SPACE, k, **numbers) for k in (kinematics, "first_order"))
    for found, expected in zip(matrices(curved)[1:], matrices(linear)[1:], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * abs(expected).max())
    q, rest = curved.random_state(3)[0], np.zeros(curved.nv)
    gradient = [(da.potential_energy(curved, q + e) - da.potential_energy(curved, q - e)) / 2e-6 for e in 1e-6 * np.eye(len(q))]
    np.testing.assert_allclose(da.inverse_dynamics(curved, q, rest, rest), gradient, rtol=1e-5, atol=1e-5)


def test_modal_damping_is_of_one_element():
    beam = da.Beam(0.8, damping=da.ModalDamping(0.02), **NUMBERS)
    with pytest.raises(da.ModelError, match="body 'arm' is that of one element, and it has 2"):
        da.Body("arm", beam=beam, modes=2, elements=2)


DOUBTFUL = {
    "units": ({"EIz": 1e18, "EA": None}, "first frequency in bend_y is 1.1e+10 rad/s"), "stout": ({"EA": 1e4, "rotary_inertia": (0, 0, 0)}, "its length is 7.3 times"),
    "thin": ({"EA": 1e17, "rotary_inertia": (0, 0, 0)}, "no beam is so thin"), "rotary": ({"rotary_inertia": (0, 0, 2.0)}, "radius of gyration of 2.83 m"),
    "per cent": ({"damping": da.ModalDamping(2)}, "a modal damping of ratio 2 lets no mode vibrate")}


@pytest.mark.parametrize("doubt", DOUBTFUL)
def test_numbers_beyond_sense_are_findings(doubt):
    numbers, text = DOUBTFUL[doubt]
    with pytest.warns(da.DalembertWarning, match="body 'arm'"):
        mechanism = cantilever({"bend_y": 2}, **numbers)
    assert [finding for finding in mechanism.check() if finding.what == "body 'arm'" and text in finding.why], mechanism.check()


def test_sensible_beams_have_no_findings():
    steel = beams.material("steel")
    for section in (beams.tube(0.0133, 0.0008), lambda xi: beams.rectangle(0.03 - 0.02 * xi, 0.02)):
        beam = da.Beam.of_section(0.8, section, steel)
        assert not cantilever(SPACE).check()
        bodies = [da.Body("base"), da.Body("arm", inertia=(0, 0, 0, 0, 0, 0), beam=beam, modes=dict.fromkeys(SPACE, 2))]
        assert not da.Mechanism("arm", bodies, [da.Joint("root", da.Fixed(), "base", "arm")]).check()
