"""The source's method for elastic links, against its stored motions, rigid bodies, statics and a spinning beam."""

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import dalembert as da
from reference import reference

SECTION = {"EIy": 129.4, "EIz": 129.4, "mass_per_length": 7850 * np.pi * 1e-5}
DOWN = da.Origin(rotations=(("y", np.pi / 2),))      # x along gravity
PLANAR = {"axes": [(0, 1, 0)] * 2, "lengths": [0.8] * 2, "inertia": (0.002,) * 3, "GJ": None}
SPATIAL = {"axes": [(0, 0, 1), (0, 1, 0), (1, 0, 0)], "lengths": [0.8, 0.8, 0.4], "inertia": (0.02, 0.03, 0.04), "GJ": 100.0}


def row(axes, lengths, inertia, GJ, stiffer=1, mass=2.0, R=0.05, mounting=DOWN, roll=0.0, modes=0, **gravity):
    """A row of links with a payload; axes of the links are rolled about x by an angle, hinges are where they were."""
    section = {name: x * (stiffer if name[0] == "E" else 1) for name, x in SECTION.items()} | {"GJ": GJ}
    rolled = da.Origin(rotations=(("x", roll),)) if roll else da.Origin()
    bodies, joints, at = [da.Body("base")], [], mounting
    for k, (axis, length) in enumerate(zip(axes, lengths, strict=True), 1):
        bodies.append(da.Body(f"link{k}", beam=da.Beam(length, origin=rolled, **section), modes=modes))
        joints.append(da.Joint(f"q{k}", da.Revolute(axis), bodies[k - 1].name, f"link{k}", at))
        at = da.Origin((length, 0, 0))
    Jx, Jy, Jz = inertia
    bodies.append(da.Body("payload", mass, (R, 0, 0), (Jx, 0, Jy, 0, 0, Jz)))
    joints.append(da.Joint("tip", da.Fixed(), f"link{len(axes)}", "payload", at))
    return da.Mechanism("row", bodies, joints, **gravity)


def beating(*amplitudes):
    """Moments (1 - cos 6 t), [N m]."""
    return lambda t, q, qd: (1 - np.cos(6 * t)) * np.array(amplitudes)


def at_rest(mechanism, t, **options):
    zero = np.zeros(mechanism.nq)
    return da.elastic_line(mechanism, zero, zero, t, **options)


def planar(run):
    """phi1, phi2 and deflections along increasing angles (K, 4)."""
    phi = np.arctan2(-run.axes[..., 0, 0], -run.axes[..., 2, 0])
    return np.concatenate([np.unwrap(phi, axis=0), -run.w[..., -1]], axis=1)


@cache
def example(h, t, segments=100, passes=4):
    return at_rest(row(**PLANAR), t, control=beating(10, 10), h=h, record=h, segments=segments, passes=passes)


def alignments(run):
    """Times at which the links stand in a line, after 0.2 s."""
    phi = planar(run)
    d = phi[:, 1] - phi[:, 0]
    k = np.flatnonzero((d[:-1] * d[1:] <= 0) & (run.times[1:] > 0.2))
    return run.times[k] + np.diff(run.times)[k] * d[k] / (d[k] - d[k + 1])


def rows_at(table, times):
    rows = np.array(table, dtype=float)
    return rows[[int(np.argmin(np.abs(rows[:, 0] - t))) for t in times], 1:]


def test_planar_arm_has_the_stored_motion_of_the_scheme():
    run = example(2.5e-3, 0.25)
    stored = rows_at(reference("flexible_links", "H_source_scheme")["dt2.5e-3_ns100"], [0.1, 0.25])
    np.testing.assert_allclose(planar(run)[[40, 100]], stored, rtol=0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("h, case, tolerance", [(2.5e-3, "dt2.5e-3_ns100", [1.6e-5, 7.2e-5, 7e-6, 7e-6]),
                                                (6.25e-4, "dt6.25e-4_ns100", [1e-5, 7e-6, 8e-6, 8e-6])])
def test_scheme_solves_its_equations_before_the_links_are_aligned(h, case, tolerance):
    times = [0.1, 0.25, 0.5, 0.75, 1.0, 1.05]
    run = example(h, 1.05)
    motion = planar(run)[np.round(np.array(times) / np.diff(run.times)[0]).astype(int)]
    np.testing.assert_allclose(motion, rows_at(reference("flexible_links", "H_source_scheme")[case], times), rtol=0, atol=1e-7)
    equations = rows_at(reference("flexible_links", "S_source_equations_undamped")["rows_p5"], times)
    assert (np.abs(motion - equations).max(axis=0) < tolerance).all()


def test_links_are_first_aligned_when_the_equations_say():
    assert alignments(example(5e-3, 1.1, segments=25)) == pytest.approx([1.0765], abs=2e-4)


@pytest.mark.slow
def test_second_alignment_comes_to_that_of_the_equations_with_the_step():
    seconds = [alignments(example(h, 1.55))[1] for h in (2.5e-3, 1.25e-3)]
    assert seconds == pytest.approx([1.5004, 1.4984], abs=1e-4)      # the equations: 1.481


@pytest.mark.slow
def test_one_pass_with_lagged_axial_force_aligns_the_links_once_more():
    spurious = alignments(example(2.5e-3, 1.3, passes=1))
    assert spurious == pytest.approx([1.0763, 1.26], abs=3e-3) and len(alignments(example(2.5e-3, 1.3))) == 1
    with pytest.raises(da.errors.OverflowedError, match=r"t = 1\.\d+ s .*give passes=4"):
        example(1e-3, 2.0, passes=1)


@pytest.mark.slow
def test_passes_come_together():
    errors = [np.abs(planar(example(5e-3, 0.5, 20, n)) - planar(example(5e-3, 0.5, 20, 8))).max() for n in (1, 2, 4)]
    assert errors[0] > 1e-4 and errors[2] < 1e-6 < errors[1] < errors[0]
    assert example(5e-3, 0.5, 20, 8).corrections.max() < 1e-10


@pytest.mark.parametrize("t, h", [(0.25, 2.5e-3), pytest.param(0.25, 1.25e-3, marks=pytest.mark.slow),
                                  pytest.param(0.5, 2.5e-3, marks=pytest.mark.slow), pytest.param(0.5, 1.25e-3, marks=pytest.mark.slow)])
def test_spatial_arm_has_the_stored_motion(t, h):
    times, steps, *stored = rows_of("spatial")
    k = np.flatnonzero((times == t) & (steps == h))[0]
    stored = np.array(stored)[:, k]
    motion = {}
    for angles in ("sections", "axes"):
        run = at_rest(row(**SPATIAL), [0, t], control=beating(10, 6, 0.3), h=h, segments=50, angles=angles)
        motion[angles] = np.concatenate([run.q[-1], run.v[-1, :, -1], run.w[-1, :, -1]])
    np.testing.assert_allclose(motion["sections"], stored, rtol=0, atol=2e-8)
    np.testing.assert_allclose(motion["axes"], stored, rtol=0, atol=2e-5)


def rows_of(case):
    return np.array(reference("elastic_line", case)["rows"], dtype=float).T


def test_stiff_links_move_as_rigid_bodies_and_need_the_products():
    stiff = row(**SPATIAL | {"GJ": 1e6}, stiffer=1e4)
    run = at_rest(stiff, 0.25, control=beating(10, 6, 0.3), segments=10, h=5e-3)
    rigid = da.simulate(row(**SPATIAL), [0.0] * 3, [0.0] * 3, [0, 0.25], control=beating(10, 6, 0.3))
    bound = {"rtol": 0, "atol": 1e-5}
    np.testing.assert_allclose(rigid.q[-1], reference("elastic_line", "spatial")["rigid"][0][1:], **bound)
    np.testing.assert_allclose(run.q[-1], rigid.q[-1], **bound)
    np.testing.assert_allclose(run.q[-1], reference("elastic_line", "spatial")["stiff"][0][1:], rtol=0, atol=2e-6)
    assert abs(at_rest(stiff, 0.25, control=beating(10, 6, 0.3), segments=10, h=5e-3, products=False).q[-1] - rigid.q[-1]).max() > 4e-5


@pytest.mark.slow
@pytest.mark.parametrize("case, moments, tolerance", [(PLANAR, (1, 1), 5e-5), (SPATIAL | {"GJ": None}, (1, 0.6, 0.03), 3e-4)])
def test_slow_motion_is_that_of_modes(case, moments, tolerance):
    """Another formulation: floating axes, modes, all couplings; they differ by squares of rates and deflections."""
    arm = row(**case, modes=2)
    n, zero = len(moments), np.zeros(arm.nq)
    modal = da.simulate(arm, zero, zero, [0, 0.25], lambda t, q, qd: [(1 - np.cos(6 * t)) * x for x in moments] + [0.0] * (arm.nv - n),
                        method="rodas5p", rtol=1e-7, atol=1e-9).q[-1, :n]
    run = at_rest(row(**case), [0, 0.25], control=beating(*moments), segments=50)
    np.testing.assert_allclose(run.q[-1], modal, rtol=0, atol=tolerance * np.abs(modal).max())


@pytest.mark.slow
def test_three_methods_agree_in_slow_small_motion():
    """The source's equations, floating frames of the second order, and exact beams: what they drop is of the second order."""
    arm, t = row(**PLANAR, modes={"bend_z": 2}), 0.2
    exact = da.Mechanism("row", [da.Body(b.name, b.mass, b.com, b.inertia, beam=b.beam and replace(b.beam, kinematics="exact"), modes={"bend_z": 2}) if b.beam else b
                                 for b in arm.bodies], arm.joints, gravity=arm.gravity)
    def drive(t, q, qd):
        return [0.3 * (1 - da.cos(6 * t))] * 2 + [0.0] * 4
    options = {"method": "rodas5p", "rtol": 1e-8, "atol": 1e-10}
    modal, large = (da.simulate(each, np.zeros(6), np.zeros(6), [0, t], drive, **options).q[-1, :2] for each in (arm, exact))
    own = at_rest(row(**PLANAR), [0, t], control=beating(0.3, 0.3), segments=30).q[-1]
    assert abs(modal).max() > 2e-3
    np.testing.assert_allclose(modal, large, rtol=0, atol=1e-5 * abs(large).max())
    np.testing.assert_allclose(own, large, rtol=0, atol=1e-4 * abs(large).max())


def switched_on(h, segments, orthogonalisations):
    run = at_rest(row(**PLANAR), 3 * h, control=[10.0, 10.0], h=h, record=h, segments=segments, orthogonalisations=orthogonalisations)
    first, second = run.rates[-1, :, 1]
    return first, second - first


@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
def test_orthogonalisation_holds_what_growing_solutions_lose():
    for h, segments, nodes, *rates in rows_of("switched_on").T:
        np.testing.assert_allclose(switched_on(h, int(segments), int(nodes)), rates, rtol=0, atol=2e-8, err_msg=f"{h} {nodes}")
    np.testing.assert_allclose(switched_on(1e-5, 200, None), switched_on(1e-5, 200, 20), rtol=1e-6)
    assert abs(switched_on(1e-4, 100, 0)[0] - switched_on(1e-4, 100, 5)[0]) > 1e-5      # exp(14)^2 times rounding
    with pytest.raises(da.errors.OverflowedError, match=r"grow by exp\(44\.4\) between orthogonalisations"):
        switched_on(1e-5, 200, 0)


def test_unorthogonalised_growth_and_coarse_intervals_are_told():
    with pytest.warns(da.errors.DalembertWarning, match=r"grow by exp\(14\.1\) between orthogonalisations, and lose 12 digits"):
        switched_on(1e-4, 100, 0)
    with pytest.warns(da.errors.DalembertWarning, match=r"over an interval.*give segments=\d+ or more"):
        switched_on(1e-4, 10, None)


def test_steps_that_damp_a_link_are_told():
    with pytest.warns(da.errors.DalembertWarning, match=r"first vibration of link 'link2', 192\.\d rad/s, with a ratio of 0\.03"):
        at_rest(row(**PLANAR, stiffer=100), 0.005, segments=5)


def test_damping_ratios_and_frequencies_are_those_of_the_table():
    for key, stored in reference("flexible_links", "houbolt_numerical_damping_zeta_and_frequency_ratio").items():
        omega, h = map(float, key.split("_"))
        np.testing.assert_allclose(da.houbolt_damping(omega, h), stored, rtol=1e-6)
    with pytest.raises(ValueError, match="a frequency and a step above 0"):
        da.houbolt_damping(10.0, 0.0)


def cantilever(**options):
    return da.Mechanism("beam", (da.Body("hub"), da.Body("beam", beam=da.Beam(**options), modes=0)),
                        (da.Joint("turn", da.Revolute((0, 0, 1)), "hub", "beam"),))


@pytest.mark.parametrize("beam, speed, case", [
    ({"length": 10.0, "EIy": 1.4e4, "EIz": 1.4e4, "mass_per_length": 1.2}, 6.0, "SimoVuQuoc_L10_EI14000_ws6"),
    *[pytest.param({"length": 8.0, "EIy": 566.7095928, "EIz": 566.7095928, "mass_per_length": 0.20192817662}, speed, f"KRB_channel_L8_ws{speed:g}",
                   marks=pytest.mark.slow) for speed in (4.0, 6.0)]])
def test_spinning_beam_is_stiffened_and_not_softened(beam, speed, case):
    def spin(t):
        return speed / 15 * (1 - np.cos(2 * np.pi * t / 15))

    stored = reference("flexible_links", "spin_up")[case]["linear_stiff_nosoft"]
    mechanism = cantilever(**beam).replace(gravity=(0, 0, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = at_rest(mechanism, 5.0, h=0.02, segments=40, accelerations={"turn": spin})
    assert run.v[-1, 0, -1] == pytest.approx(stored["w_at_5"], abs=3e-4)
    assert run.q[-1, 0] == pytest.approx(speed / 15 * (12.5 + (15 / 2 / np.pi) ** 2 * (np.cos(2 * np.pi / 3) - 1)), abs=1e-6)


def test_row_at_rest_is_bent_as_statics_says_and_stays():
    mechanism = row(**PLANAR | {"axes": [(0, 1, 0)], "lengths": [0.8]}, mass=0.5, R=0.0, mounting=da.Origin(), stiffer=1e3)
    run = at_rest(mechanism, 0.05, h=5e-3, at_rest=True, accelerations={"q1": 0}, segments=20)
    weight, own, EI, l = 0.5 * 9.81, SECTION["mass_per_length"] * 9.81, 129.4e3, 0.8
    assert run.w[0, 0, -1] == pytest.approx(-weight * l**3 / (3 * EI) - own * l**4 / (8 * EI), rel=1e-6)
    assert run.theta[0, 0, 1] == pytest.approx(weight * l**2 / (2 * EI) + own * l**3 / (6 * EI), rel=1e-6)      # -w'
    assert run.moments[0, 0] == pytest.approx(-(weight * l + own * l**2 / 2), rel=1e-6)
    np.testing.assert_allclose(run.section_moments[0, 0, [0, -1], 1], [-run.moments[0, 0], 0], atol=1e-8)
    np.testing.assert_allclose(run.section_forces[0, 0, [0, -1], 2], [-weight - own * l, -weight], rtol=1e-6)
    np.testing.assert_allclose(run.w, np.broadcast_to(run.w[0], run.w.shape), atol=1e-12)


def test_hanging_row_stays_and_carries_its_weight():
    run = at_rest(row(**SPATIAL), 0.02, segments=5)
    assert max(np.abs(x).max() for x in (run.q, run.v, run.w)) < 1e-15
    carried = 9.81 * (2.0 + SECTION["mass_per_length"] * np.array([2.0, 1.2, 0.4]))
    np.testing.assert_allclose(run.N[-1, :, 0], carried, rtol=1e-12)
    np.testing.assert_allclose(run.tips[-1], [[0, 0, -0.8], [0, 0, -1.6], [0, 0, -2.0]], atol=1e-12)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_moments_turn_links_along_the_axes_of_their_hinges(axis):
    arm = row(**SPATIAL | {"axes": [(0, 1, 0), axis], "lengths": [0.8, 0.4]}).replace(gravity=(0, 0, 0))
    run = at_rest(arm, 0.005, control=[0.0, 3.0], segments=10)
    assert run.q[-1, 1] > 0
    np.testing.assert_allclose(run.section_moments[-1, 0, -1] @ axis, -3.0, rtol=1e-6)      # e m = -M on positive faces
    np.testing.assert_allclose(run.section_moments[-1, 1, 0] @ axis, -3.0, rtol=1e-6)
    lag = {1: run.w, 2: -run.v}.get(int(np.argmax(axis)))      # EIy w'' = M, EIz v'' = -M
    assert lag is None or lag[-1, 1, -1] > 1e-6


def test_given_accelerations_need_the_moments_that_cause_them():
    arm = row(**PLANAR)
    driven = {"q1": lambda t: 10 * np.sin(6 * t), "q2": lambda t: 6 * np.cos(6 * t) - 6}
    options = {"h": 5e-3, "record": 5e-3, "segments": 20, "angles": "sections", "passes": 8}
    run = at_rest(arm, 0.2, accelerations=driven, **options)
    again = at_rest(arm, 0.2, control=lambda t, q, qd: run.moments[round(t / 5e-3)], **options)
    np.testing.assert_allclose(again.q, run.q, atol=1e-9)
    np.testing.assert_allclose(again.w, run.w, atol=1e-9)
    np.testing.assert_allclose(run.qdd[-1], [driven["q1"](0.2), driven["q2"](0.2)])


def test_axes_of_beams_do_not_matter_where_sections_are_round():
    options = {"control": beating(10, 6, 0.3), "h": 5e-3, "segments": 20, "passes": 6}
    plain = at_rest(row(**SPATIAL), 0.1, **options)
    rolled = at_rest(row(**SPATIAL, roll=0.7), 0.1, **options)
    np.testing.assert_allclose(rolled.q, plain.q, atol=1e-12)
    np.testing.assert_allclose(rolled.tips, plain.tips, atol=1e-12)
    turned = at_rest(row(**SPATIAL, mounting=da.Origin(rotations=(("x", np.pi / 2),)), gravity=(9.81, 0, 0)), 0.1, **options)
    np.testing.assert_allclose(turned.q, plain.q, atol=1e-12)


def test_links_begin_with_the_shape_and_rates_of_their_modes():
    arm = row(**PLANAR, modes=2)
    q, qd = np.zeros(arm.nq), np.zeros(arm.nv)
    k = arm.coordinate_names.index("link1.bend_z1")
    q[k], qd[k] = 0.01, 0.5
    run = da.elastic_line(arm, q, qd, 0.005, segments=10, accelerations={"q1": 0, "q2": 0})
    shape = arm.bodies[1].modes[1][1]
    np.testing.assert_allclose(run.w[0, 0], [0.01 * float(shape.values(s)[0]) for s in run.x[0] / 0.8], atol=1e-14)
    assert run.theta[0, 0, 1] == pytest.approx(-0.01 * float(shape.slopes(1.0)[0]) / 0.8)
    assert run.w[1, 0, -1] - run.w[0, 0, -1] == pytest.approx(0.5 * 2.5e-3, rel=0.2)


def test_controls_see_angles_and_rates():
    seen = []

    def hold(t, q, qd):
        seen.append((t, *q, *qd))
        return -5 * q - 0.05 * qd

    run = da.elastic_line(row(**PLANAR), [0.2, 0.0], [0.0, 0.0], 0.1, control=hold, segments=10, h=5e-3, passes=6)
    np.testing.assert_allclose(run.moments[-1], -5 * run.q[-1] - 0.05 * run.qd[-1], atol=1e-5)
    assert seen[0][:2] == (0.0, 0.2) and 0 < run.q[-1, 0] < 0.2


def changed(**parts):
    """The planar arm with a part in place of that of its name."""
    arm = row(**PLANAR)
    lists = {kind: [parts.pop(p.name, p) for p in getattr(arm, kind)] for kind in ("bodies", "joints")}
    extra = list(parts.values())
    lists["bodies"] += [p for p in extra if isinstance(p, da.Body)]
    lists["joints"] += [p for p in extra if isinstance(p, da.Joint)]
    return da.Mechanism("row", lists["bodies"], lists["joints"])


BEAM = da.Beam(0.8, **SECTION)
TIP = da.Origin((0.8, 0, 0))
REVOLUTE = da.Revolute((0, 1, 0))


@pytest.mark.parametrize("parts, message", [
    ({"q2": da.Joint("q2", da.Prismatic((0, 1, 0)), "link1", "link2", TIP)}, "joint 'q2' is of type 'prismatic'; links hang on revolute"),
    ({"q2": da.Joint("q2", REVOLUTE, "link1", "link2", da.Origin((0.7, 0, 0)))}, r"joint 'q2' is \[-0.1, 0.0, 0.0\] m off the tip of body 'link1'"),
    ({"q2": da.Joint("q2", REVOLUTE, "link1", "link2", TIP, viscous=0.1)}, r"joint 'q2' has viscous; hinges are ideal.*control="),
    ({"q2": da.Joint("q2", REVOLUTE, "link1", "link2", TIP, rotor_inertia=0.1)}, "joint 'q2' has rotor_inertia"),
    ({"q2": da.Joint("q2", REVOLUTE, "link1", "link2", TIP, mimic=da.Mimic("q1"))}, "joint 'q2' is a follower"),
    ({"q2": da.Joint("q2", da.Fixed(), "link1", "link2", TIP)}, "beam of body 'link2' is on the fixed joint 'q2'.*accelerations"),
    ({"link2": da.Body("link2", 1.0)}, "body 'link2' moves and has no beam; all links are elastic"),
    ({"link2": da.Body("link2", 1.0, beam=BEAM, modes=0)}, "body 'link2' has a mass of 1 kg besides its beam's"),
    ({"link2": da.Body("link2", beam=da.Beam(0.8, damping=da.Rayleigh(stiffness=1e-4), **SECTION), modes=0)}, "has damping; the method knows of none"),
    ({"link2": da.Body("link2", beam=da.Beam(0.8, **SECTION | {"EIy": da.beams.tapered(2.0, 1.0)}), modes=0)}, "'link2' has properties that vary"),
    ({"link2": da.Body("link2", beam=da.Beam(0.8, EIy=1.0, mass_per_length=1.0), modes=0)}, "beam of body 'link2' has no EIz.*both planes.*nothing is"),
    ({"link2": da.Body("link2", beam=da.Beam(0.8, origin=da.Origin((0.1, 0, 0)), **SECTION), modes=0)}, r"joint 'q2' of beam 'link2' is \[-0.1, -?0.0, -?0.0\] m off its start"),
    ({"elbow": da.Body("elbow", 1.0), "at": da.Joint("at", da.Fixed(), "link1", "elbow", TIP)}, "body 'elbow' is on link 'link1'; rigid bodies are at the tip"),
    ({"mid": da.Body("mid", 1.0), "at": da.Joint("at", da.Fixed(), "link2", "mid", da.Origin((0.4, 0, 0)))}, "body 'mid' is on link 'link2' before its tip"),
    ({"twig": da.Body("twig", beam=BEAM, modes=0), "q3": da.Joint("q3", REVOLUTE, "link1", "twig", TIP)}, "joint 'q3' branches off body 'link1'"),
    ({"base": da.Body("base", beam=BEAM, modes=0)}, "the base 'base' is a beam"),
])
def test_mechanisms_that_are_no_row_are_refused_by_name(parts, message):
    with pytest.raises(da.errors.ModelError, match=f"elastic_line: .*{message}"):
        at_rest(changed(**parts), 0.01)


def test_rigid_bodies_at_the_tip_count_together():
    ball = da.Body("payload", 0.5, (0.05, 0, 0), (0.001, 0, 0.001, 0, 0, 0.001))
    more = {"hook": da.Body("hook", 1.5, (0.1, 0, 0)), "at": da.Joint("at", da.Fixed(), "payload", "hook", da.Origin(rotations=(("z", 0.5),)))}
    c = (0.5 * np.array([0.05, 0, 0]) + 1.5 * 0.1 * np.array([np.cos(0.5), np.sin(0.5), 0])) / 2
    d = np.array([[0.05, 0, 0], [0.1 * np.cos(0.5), 0.1 * np.sin(0.5), 0]]) - c
    J = 0.001 * np.eye(3) + sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip([0.5, 1.5], d, strict=True))
    both = da.Body("payload", 2.0, tuple(c), (J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]))
    options = {"control": [1.0, 1.0], "segments": 5}
    np.testing.assert_allclose(at_rest(changed(payload=ball, **more), 0.02, **options).q, at_rest(changed(payload=both), 0.02, **options).q, atol=1e-12)


def test_rotary_inertia_is_left_out_aloud():
    link = da.Body("link2", beam=da.Beam(0.8, rotary_inertia=(1e-4, 0, 0), **SECTION), modes=0)
    with pytest.warns(da.errors.DalembertWarning, match="rotary_inertia of body 'link2' is left out"):
        at_rest(changed(link2=link), 0.0025, segments=5)


def test_joints_that_turn_nothing_are_named():
    arm = row(**SPATIAL | {"inertia": (0.0, 0.03, 0.04)})
    with pytest.raises(da.errors.SingularMassMatrixError, match="joint 'q3': its acceleration is not determined at t = 0 s.*link 'link3'|Link 'link3'") as caught:
        at_rest(arm, 0.01, segments=5)
    assert caught.value.joint == "q3" and caught.value.pivot < 1e-14
    assert at_rest(arm, 0.01, segments=5, accelerations={"q3": 1.0}).q[-1, 2] == pytest.approx(0.5e-4, rel=0.3)


@pytest.mark.parametrize("options, error, message", [
    ({"h": 0.0}, ValueError, "a positive step"), ({"h": True}, TypeError, "h=True"), ({"segments": 0}, ValueError, "segments"), ({"passes": 0}, ValueError, "passes"),
    ({"orthogonalisations": -1}, ValueError, "orthogonalisations"), ({"angles": "chords"}, KeyError, "axes, sections"), ({"products": 1}, TypeError, "True or False"),
    ({"control": [1.0]}, ValueError, r"control has shape \(1,\), expected \(2,\)"), ({"accelerations": {"q3": 0}}, KeyError, "unknown joint 'q3'"),
    ({"control": lambda t, q, qd: [np.nan, 0]}, ValueError, "finite"), ({"record": 0.03}, ValueError, "does not divide"),
    ({"accelerations": [0, 1]}, TypeError, "{joint: number or function of t}"), ({"accelerations": {"q1": "a"}}, TypeError, r"accelerations\['q1'\]"),
    ({"accelerations": {"q1": lambda t: np.nan}}, ValueError, r"accelerations\['q1'\] has the entry nan")])
def test_bad_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        at_rest(row(**PLANAR), 0.1, **options)


def test_times_at_unequal_distances_are_refused():
    with pytest.raises(ValueError, match="not at equal distances, and the method has one step"):
        at_rest(row(**PLANAR), [1.0, 1.005, 1.02])
    np.testing.assert_allclose(at_rest(row(**PLANAR), [1.0, 1.005, 1.01], segments=5).times, [1.0, 1.005, 1.01])


def test_what_is_no_mechanism_or_has_symbols_is_refused():
    with pytest.raises(TypeError, match="expected a da.Mechanism of beams"):
        da.elastic_line("arm", [0.0], [0.0], 1.0)
    with pytest.raises(da.errors.ModelError, match="EIy of body 'link1' is a symbol; give its number by mechanism.replace"):
        at_rest(row(**PLANAR).replace({"link1.EIy": da.symbols("k")}), 0.1)


def test_free_row_keeps_turning():
    run = da.elastic_line(row(**PLANAR).replace(gravity=(0, 0, 0)), [0.3, 0.0], [2.0, 0.0], 0.1, segments=10)
    np.testing.assert_allclose(run.q[-1], [0.5, 0.0], atol=1e-12)
    spin = 4 * (2 * (1.6 + 0.05) + SECTION["mass_per_length"] * 1.6**2 / 2)      # payload and links on circles
    np.testing.assert_allclose(run.N[-1, 0, 0], spin, rtol=1e-9)


def test_states_of_other_lengths_are_refused():
    with pytest.raises(da.errors.ShapeError, match=r"q has shape \(3,\), expected \(2,\)"):
        da.elastic_line(row(**PLANAR), [0.0] * 3, [0.0] * 2, 0.1)
