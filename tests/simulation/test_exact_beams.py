"""Elastic links that bend far, in motion: the source's arm beside its reference, spin-up, balance of energy, limits and invariance."""

import numpy as np
import pytest

import dalembert as da
from flexible_arms import EJ, absolute, moments, on_hub, rows, run_of, spun_up, two_links
from reference import reference, table

SLOW = pytest.mark.slow


def errors(arm, until, **options):
    """Largest errors of phi1, phi2, w1, w2 [rad, m] against the reference D, up to a time."""
    times, stored = rows(until=until)
    run = run_of(arm, [0.0, *times], **options)
    return abs(absolute(arm, run.q[1:]) - stored).max(axis=0)


@pytest.mark.parametrize("modes, until, error", [
    (3, 1.0, 4e-7), pytest.param(3, 2.5, 4e-5, marks=SLOW), pytest.param(5, 2.5, 2e-7, marks=SLOW), pytest.param(6, 4.2, 1e-8, marks=SLOW)])
def test_two_links_move_as_by_the_reference(modes, until, error):
    """Table D of the source's example (damped; angles by 7 polynomials, which are 6 modes beside the joint): to its digits."""
    assert errors(two_links(modes), until).max() < error


@pytest.mark.parametrize("kinematics, modes, elements, until, error", [
    ("second_order", 3, 1, 1.0, 1e-4), *(pytest.param(*case, marks=SLOW) for case in (
        ("second_order", 3, 1, 2.5, 2e-4), ("second_order", 3, 1, 4.2, 7e-3), ("third_order", 3, 1, 4.2, 4e-3), ("second_order", 2, 2, 4.2, 5e-3),
        ("second_order", 3, 3, 4.2, 2e-5), ("exact", 2, 3, 4.2, 1e-3)))])
def test_floating_frames_stay_near_the_exact_motion(kinematics, modes, elements, until, error):
    """A frame on each link, cut off after the second or third order; and frames on its elements."""
    assert errors(two_links(modes, kinematics, elements=elements), until).max() < error


def test_the_stored_solution_is_that_of_the_reference():
    """Our own, converged to 3e-9 m over 4.2 s, and table D to its digits: 6e-7 with its 6 modes a link."""
    stored, columns = table("exact_arm", "damped")
    times, of_others = rows()
    at = [int(np.argmin(abs(columns["t"] - t))) for t in times if np.isclose(columns["t"], t).any()]
    known = np.array([row for t, row in zip(times, of_others) if np.isclose(columns["t"], t).any()])
    assert len(at) > 15
    np.testing.assert_allclose(stored[at][:, 3:], known, rtol=0, atol=1e-6)
    by_modes = np.array(reference("exact_arm", "damped")["distance of the tip to it up to 1.0, 2.5, 4.2 s [m], by modes"])
    assert by_modes[-1, 3] < 1e-8 and np.all(np.diff(by_modes[1:, 3]) < 0)


@pytest.mark.parametrize("modes, until, error", [(3, 0.5, 2e-6), pytest.param(5, 1.5, 2e-7, marks=SLOW)])
def test_undamped_links_move_as_by_the_reference(modes, until, error):
    times, stored = rows("D_undamped", until, "rows_p6")
    arm = two_links(modes, damping=0)
    run = run_of(arm, [0.0, *times], rtol=1e-9)
    assert abs(absolute(arm, run.q[1:]) - stored).max() < error


@pytest.mark.parametrize("until", [1.2, pytest.param(3.0, marks=SLOW)])
def test_alignments_and_the_tension_at_the_first(until):
    """Links in a line at the stored times. There link 2 pulls the payload with 367 N, in place of 10 N."""
    arm = two_links(4)
    times = np.linspace(0, until, round(1000 * until) + 1)
    run = run_of(arm, times, rtol=1e-8)
    motion = absolute(arm, run.q)
    apart = motion[:, 1] - motion[:, 0]
    k = np.flatnonzero(np.diff(np.sign(apart[10:]))) + 10
    found = times[k] + np.diff(times)[k] * apart[k] / (apart[k] - apart[k + 1])
    stored = reference("flexible_links", "D_damped_eta2e-4")["alignment_times"]
    np.testing.assert_allclose(found, [t for t in stored if t < until], atol=1e-4)
    pull = da.section_forces(run, "link2", 0.8).N[:, 0]
    assert pull[times < 1.2].max() == pytest.approx(reference("flexible_links", "peak_axial_force_N")["flexible_first_alignment_t1.068"], rel=4e-3)


@pytest.mark.slow
def test_a_chain_of_rigid_segments_has_the_same_places():
    """Elbow and payload at 0.5 s by segments on springs, extrapolated from 4, 8, 16 (undamped, to 7e-8 m)."""
    arm = two_links(5, damping=0)
    run = run_of(arm, [0.0, 0.5], rtol=1e-9)
    stored = reference("flexible_links", "independent_chain_check_t0.5_undamped")
    for frame, key in (("end1", "elbow_xy"), ("payload", "payload_xy")):
        np.testing.assert_allclose(da.placement(arm, run.q[-1], frame)[:2, 3], stored[key], rtol=0, atol=3e-7)


def test_second_order_is_nearer_than_the_stored_small_deflections():
    """Table C, small deflections with foreshortening, is off from D by 8e-4 rad in phi1; with slopes as angles of the sections 1e-4."""
    case = reference("flexible_links", "C_damped_eta2e-4")
    assert errors(two_links(3, "second_order"), 1.0)[0] < 1e-4 < case["max_abs_diff_to_D_up_to_t"]["1"][0] / 7


def test_alignments_of_stiff_links_are_these_of_rigid_ones():
    """Links 1e4 times as stiff: times at which both point in one direction (specification of the source's example)."""
    arm = two_links(1, stiffness=EJ * 1e4, damping=1e-6)
    times = np.linspace(0, 4.2, 4201)
    run = run_of(arm, times, rtol=1e-7)
    relative = run.q[:, 1]
    changes = np.flatnonzero(np.diff(np.sign(relative[10:]))) + 10
    crossings = times[changes] - relative[changes] * np.diff(times)[changes] / (relative[changes + 1] - relative[changes])
    np.testing.assert_allclose(crossings, [1.0675, 1.5125, 2.6512, 2.9530, 4.1546], atol=3e-4)


# --- balances and invariance ----------------------------------------------------------------------


@pytest.mark.parametrize("kinematics", ["second_order", "exact"])
def test_energy_balances_with_what_damping_takes(kinematics):
    run = run_of(two_links(2, kinematics), 1.2, rtol=1e-9, record=0.01)
    energy = run.kinetic_energy + run.potential_energy
    assert run.energy_drift < 1e-6 and abs(run.work[-1]) > 0.05 * np.ptp(energy)


@pytest.mark.parametrize("kinematics", ["second_order", "exact"])
def test_momenta_are_kept_without_gravity(kinematics):
    """A beam that floats, bent and spinning: the body's joint is free."""
    beam = da.Beam(1.0, EIy=8.0, EIz=5.0, GJ=4.0, mass_per_length=0.4, rotary_inertia=(2e-3, 1e-3, 1e-3), kinematics=kinematics)
    body = da.Body("beam", 0.3, beam=beam, modes={"bend_y": 1, "bend_z": 1, "twist": 1})
    arm = da.Mechanism("free beam", [da.Body("base"), body], [da.Joint("free", da.Free(), "base", "beam")], gravity=(0, 0, 0))
    q, qd = arm.neutral(), np.zeros(arm.nv)
    q[-3:] = 0.2, -0.15, 0.4
    qd[:3] = 1.0, -2.0, 3.0
    run = da.simulate(arm, q, qd, 0.4, method="dopri5", rtol=1e-10, record=0.1)
    momenta = np.array([da.centroidal_momentum(arm, *state) for state in zip(run.q, run.qd)])
    turned = [momenta[k] for k in range(len(momenta))]
    np.testing.assert_allclose(turned, np.broadcast_to(turned[0], np.shape(turned)), atol=1e-7)
    assert np.ptp(run.q[:, -1]) > 0.1 and run.energy_drift < 1e-7


@pytest.mark.slow
def test_a_plane_turned_about_the_links_has_the_same_motion():
    """About z with bend_y and EIz, and about -y with bend_z and EIy: coordinates of bending are the same."""
    first = run_of(two_links(2), 0.4, record=0.1)
    other = run_of(two_links(2, about="y"), 0.4, control=lambda t, q, qd: [-x for x in moments(t, q, qd)], record=0.1)
    signs = np.r_[-1, -1, np.ones(4)]
    np.testing.assert_allclose(other.q * signs, first.q, atol=1e-9)


@pytest.mark.parametrize("elements", [1, pytest.param(2, marks=SLOW)])
def test_a_turned_world_has_the_same_motion(elements):
    """A beam in space that falls from the wall, and all of it, with gravity, turned: the same coordinates."""
    def fallen(turn, gravity):
        beam = da.Beam(1.0, EIy=3.0, EIz=2.0, GJ=1.5, mass_per_length=0.3, rotary_inertia=(1e-3, 0, 0), kinematics="exact")
        body = da.Body("beam", beam=beam, modes={"bend_y": 1, "bend_z": 1, "twist": 1}, elements=elements)
        tip = da.Body("tip", 0.1, (0, 0.05, 0))
        joints = [da.Joint("clamp", da.Fixed(), "wall", "beam", da.Origin((0, 0, 0), turn)), da.Joint("grip", da.Fixed(), "beam", "tip", da.Origin((1.0, 0, 0)))]
        arm = da.Mechanism("wall", [da.Body("wall"), body, tip], joints, gravity=gravity)
        return da.simulate(arm, arm.neutral(), np.zeros(arm.nv), 0.3, method="dopri5", rtol=1e-9, record=0.1).q
    gravity = np.array([0, -7.0, -6.0])
    c, s = np.cos(0.7), np.sin(0.7)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    np.testing.assert_allclose(fallen((("z", 0.7),), tuple(R @ gravity)), fallen((), tuple(gravity)), atol=1e-8)


# --- spin-up --------------------------------------------------------------------------------------


def lowest(u2, times):
    k = int(np.argmin(u2))
    return u2[k], times[k]


CASES = {"SimoVuQuoc_L10_EI14000_ws6": 6.0, "KRB_channel_L8_ws6": 6.0, "KRB_channel_L8_ws4": 4.0}


@pytest.mark.parametrize("name, modes, error", [("SimoVuQuoc_L10_EI14000_ws6", 4, 5e-5), *(pytest.param(name, 6, 1e-5, marks=SLOW) for name in CASES)])
def test_spin_up_of_an_inextensible_beam(name, modes, error):
    """Largest lag of the tip and its lag at 5 and 10 s, in the axes of the hub (spec of the source, geometrically exact)."""
    case = reference("flexible_links", "spin_up")[name]
    times, u = spun_up(on_hub(modes, "exact", case), CASES[name], 10.0)
    found = [*lowest(u[:, 1], times), *np.interp([5.0, 10.0], times, u[:, 1])]
    stored = [case["exact"][key] for key in ("tip_w_min", "t_at_min", "w_at_5", "w_at_10")]
    np.testing.assert_allclose(np.delete(found, 1), np.delete(stored, 1), atol=error)
    assert abs(found[1] - stored[1]) <= 0.0051      # a record


def test_spin_up_by_floating_frames():
    """What goes wrong without foreshortening: the beam softens as it turns and bends without end; with it the lag is that of the exact
    beam to its second order."""
    case = reference("flexible_links", "spin_up")["SimoVuQuoc_L10_EI14000_ws6"]
    _, first = spun_up(on_hub(4, "first_order", case), 6.0, 10.0, every=0.05)
    np.testing.assert_allclose([first[100, 1], first[-1, 1]], [case["linear_nostiff"][key] for key in ("w_at_5", "w_at_10")], rtol=1e-4)
    times, second = spun_up(on_hub(4, "second_order", case), 6.0, 10.0)
    assert abs(lowest(second[:, 1], times)[0] - case["exact"]["tip_w_min"]) < 3e-3
    assert abs(lowest(second[:, 1], times)[0] - case["linear_stiff"]["tip_w_min"]) < 2e-3


@SLOW
def test_spin_up_of_an_extensible_beam():
    """Beside shear-flexible finite elements of two codes (flexible_dynamics.json)."""
    stored, columns = table("flexible_dynamics", "spin_up_transient")
    numbers = reference("flexible_dynamics", "spin_up_transient")["parameters"]
    hub = on_hub(5, "exact", numbers, stretch=2, EA=numbers["EA"], rotary=numbers["rhoI"])
    times, u = spun_up(hub, 6.0, 15.0, method="rodas5p", rtol=1e-7, every=0.25)
    until = columns["t"] <= 15
    known = np.array([np.interp(columns["t"][until], times, u[:, k]) for k in (0, 1)])
    np.testing.assert_allclose(known, [columns["u1_tip"][until], columns["u2_tip"][until]], atol=2e-4)


def test_steady_turning_stretches_a_beam():
    """u(L) = tan(kL)/k - L with k = Omega sqrt(rhoA / EA) (beams.json)."""
    case = reference("beams", "spin_up_beam")
    numbers = case["parameters"]
    hub = on_hub(1, "exact", numbers, stretch=4, EA=numbers["EA"])
    found = da.static_deflection(hub, hub.neutral(), qd={"hub": 6.0})
    extension = da.placement(hub, found.q, "tip")[0, 3] - numbers["L"]
    np.testing.assert_allclose(extension, float(case["steady_state_tip_extension"]), rtol=1e-9)


def test_records_at_uneven_times_go_with_the_method_for_stiff_beams():
    arm = two_links(3)
    run = da.simulate(arm, arm.neutral(), np.zeros(arm.nv), [0.0, 0.02, 0.05], control=moments)
    assert run.method == "rodas5p" and run.times.tolist() == [0.0, 0.02, 0.05]
