"""Closed forms of robots: counts of base parameters, lengths of the printed result, equality with compiled functions."""

import re
import time

import numpy as np
import pytest

import dalembert as da
from dalembert.closed_forms.algebra.sums import ZERO, Sum, Term
from dalembert.closed_forms.equations import SHOWN
from dalembert.closed_forms.printing.sheets import Groups
from dalembert.closed_forms.quantities.quantity_sheets import MAKE
from dalembert.closed_forms.quantities.verification import VerificationError

from . import robots

EPS = 1e-12
ALL = ("mass_matrix", "gravity_vector", "coriolis_matrix", "coriolis_vector", "kinetic_energy", "potential_energy")


# --- base parameters ---

@pytest.mark.parametrize("name, count", [("scara", 8), ("stanford", 33), ("puma", 36), ("ur5", 36), ("panda", 43)])
def test_base_parameters_are_as_many_as_the_rank_of_a_random_regressor(name, count):
    m = robots.dense(name)
    eom = robots.closed_forms(name)
    assert len(eom.base_parameters) == count and eom.minimal
    rng = np.random.default_rng(0)
    Y = da.regressor(m, *rng.uniform(-2, 2, (3, 40, m.nv))).reshape(-1, 10 * m.nv)
    assert np.linalg.matrix_rank(Y, rtol=1e-10) == count


@pytest.mark.parametrize("gravity, names", [
    ((0, -9.81, 0), ["ZZ1", "MX1", "MY1", "ZZ2", "MX2", "MY2"]), ((0, 0, -9.81), ["ZZ1", "ZZ2", "MX2", "MY2"])])
def test_base_parameters_of_a_planar_2r_depend_on_gravity(gravity, names):      # case O18
    m = robots.arm("Rz(q1) Tx(0.5) Rz(q2)", gravity=gravity)
    eom = da.equations(m, "all")
    assert [p.name for p in eom.base_parameters] == names
    grouping = eom.base_parameters[0].grouping
    I1, m2, l = 0.3, 2.0, 0.7
    assert da.evaluate(grouping, {"Izz1": I1, "m2": m2, "px2": l}) == pytest.approx(I1 + m2 * l * l, rel=1e-15)


def test_all_numbers_may_be_symbols_of_any_kind_of_text():      # case O18: lengths, offsets and gravity symbolic
    with da.Graph():
        a, g = da.symbols("a g")
        eom = da.equations(da.planar_chain(2, length=a, gravity=(0, 0, -g)), grouped=True)
        assert len(eom.base_parameters) == 6 and eom.base_parameters[0].value is None


def test_a_mechanism_whose_placement_is_no_polynomial_has_no_base_parameters():
    with da.Graph():
        bodies = da.Body("base"), da.Body("one", 1.0, (0.1, 0, 0), (1, 1, 1, 0, 0, 0)), da.Body("two", 1.0, (0.1, 0, 0), (1, 1, 1, 0, 0, 0))
        joints = (da.Joint("j1", da.Revolute((0, 0, 1)), "base", "one"),
                  da.Joint("j2", da.Revolute((0, 0, 1)), "one", "two", da.Origin((0.3, 0, 0), (("x", da.exp(da.symbol("a"))),))))
        eom = da.equations(da.Mechanism("bent", bodies, joints, (), (0, 0, -9.81)), grouped=True)
        assert "exp(a)" in eom.why_factored and eom.base_parameters == () and max(eom.verified.values(), default=0) < EPS
        with pytest.raises(da.DalembertError, match="no base parameters were found"):
            eom.text("regressor")


def test_regressor_times_base_parameters_is_inverse_dynamics():
    m = robots.dense("scara")
    eom = da.equations(m, "all")
    q, qd = m.random_state(3)
    qdd = np.array([0.3, -1, 0.5, 2])
    point = eom.values | dict(zip((*eom.coordinates, *eom.velocities, *eom.accelerations), (*q, *qd, *qdd)))
    Y = da.evaluate(eom.regressor, point)
    theta = np.array([p.value for p in eom.base_parameters])
    assert np.abs(Y @ theta - da.inverse_dynamics(m, q, qd, qdd)).max() < 1e-12 * 60


# --- lengths ---

@pytest.mark.parametrize("name, M, g", [("puma", 613, 52), ("ur5", 376, 38), ("stanford", 351, 40), ("scara", 50, 1)])
def test_dense_arms_are_printed_in_few_terms(name, M, g):
    eom = da.equations(robots.dense(name), "all", budget=20_000)
    assert eom.sheet("mass_matrix").terms <= M and eom.sheet("gravity_vector").terms <= g and not eom.why_factored


@pytest.mark.parametrize("name", ["ur5", "stanford"])
def test_an_entry_has_each_angle_in_one_basis(name):
    """c4 s4, c4^2 and s4^2, or sin(2 q4) and cos(2 q4), never both; values are those of the compiled function."""
    eom = robots.closed_forms(name)
    for line in eom.text("mass_matrix", "gravity_vector").splitlines():
        for k in range(1, 7):
            doubled = re.search(rf"(sin|cos)\(2 q{k}\)", line)
            assert not (doubled and re.search(rf"\bc{k} s{k}\b|\b[cs]{k}\^2", line)), line


def test_planar_3r_and_sparse_puma_are_printed_in_few_terms():
    eom = da.equations(robots.planar(3), "all")
    assert (eom.sheet("mass_matrix").terms, eom.sheet("gravity_vector").terms) == (30, 12)
    eom = da.equations(da.load("puma560", passive=False), "all")
    assert eom.sheet("mass_matrix").terms <= 136 and eom.sheet("gravity_vector").terms == 13
    lines = dict(x.split(" = ") for x in eom.text("mass_matrix", "gravity_vector").splitlines() if " = " in x)
    assert lines["M44"] == "ZZ4 + ZZ6 c5^2 + XX5 s5^2"                  # as symbolic_equations.md, section 3, prints them
    assert lines["M35"] == "ZZ5 c4 - MY5 px4 s5 + MY5 pz5 c4 c5"
    assert lines["g4"] == "MY5 g s23 s4 s5" and lines["g5"] == "-MY5 g (c23 s5 + s23 c4 c5)"


@pytest.mark.parametrize("links", [6, pytest.param(12, marks=pytest.mark.slow)])
def test_planar_chains_are_printed_in_full(links):
    """Entries of a long chain by what they add to others, Christoffel symbols by the first that is equal or opposite."""
    eom = da.equations(da.planar_chain(links))
    text = eom.text()
    assert not eom.why_factored and "christoffel" in eom.shown and "factored form" not in text
    assert len(text) < {6: 7600, 12: 46_000}[links]
    formulas = [line.split(" = ")[1] for line in text.splitlines() if re.match(r"(c|Gamma)\d", line)]
    distinct = {x.lstrip("-") for x in formulas if not re.fullmatch(r"-?(c|Gamma)[\d_]+", x)}
    assert len(distinct) == links * (links - 1) // 2                       # of links^2 (links + 1) / 2 symbols


def test_lengths_of_latex_stay_readable():
    """iiwa14 had 245 kB, kinova 174 kB."""
    for name in ("kinova", "iiwa14"):
        eom = da.equations(da.load(name))
        assert len(eom.latex()) < 25_000 and "characters in full" in eom.why_factored


def test_seven_joint_arm_is_printed_in_factored_form():
    eom = robots.closed_forms("panda")
    sheet = eom.sheet("mass_matrix")
    assert sheet.factored and "3980 terms" in eom.why_factored and len(sheet.parts) <= 110
    assert "christoffel" not in eom.shown
    assert eom.text("gravity_vector").splitlines()[-1].startswith("g7 = ")
    assert not re.search(r"/1\b", eom.text("mass_matrix", "coriolis_vector", "christoffel"))     # 1/1 p2


def test_regressor_and_christoffel_symbols_of_a_seven_joint_arm_are_printed_in_factored_form():
    m, eom = robots.dense("panda"), robots.closed_forms("panda")
    Y, c = eom.sheet("regressor"), eom.sheet("christoffel")
    assert Y.factored and Y.forms.shape == (7, 43) and len(Y.parts) <= 250 and c.factored and len(c.parts) <= 400
    q, qd = m.random_state(3)
    qdd = np.linspace(-1, 2, 7)
    point = eom.values | dict(zip((*eom.coordinates, *eom.velocities, *eom.accelerations), (*q, *qd, *qdd)))
    theta = np.array([p.value for p in eom.base_parameters])
    tau = da.inverse_dynamics(m, q, qd, qdd)
    assert np.abs(da.evaluate(eom.regressor, point) @ theta - tau).max() < 1e-13 * np.abs(tau).max()
    C = np.einsum("ijk,i->kj", da.evaluate(eom.christoffel, point), qd)
    assert np.abs(C - da.coriolis_matrix(m, q, qd)).max() < 1e-13 * np.abs(C).max()
    assert eom.text("regressor").count("\nY") > 150 and eom.verified["regressor"] < 1e-13


def test_columns_of_the_regressor_are_verified_one_by_one(monkeypatch):
    """Two wrong columns whose errors cancel in tau are found."""
    eom = da.equations(robots.dense("scara"), "all")
    right = MAKE["regressor"]

    def swapped(problem, desk):
        sheet = right(problem, desk)
        sheet.forms[:, [0, 1]] = sheet.forms[:, [1, 0]]
        return sheet

    first, second = eom.base_parameters[:2]
    monkeypatch.setitem(MAKE, "regressor", swapped)
    eom.verifier.values |= {first.name: 1.0, second.name: 1.0}
    with pytest.raises(VerificationError, match="regressor"):
        _ = eom.regressor


def test_output_is_the_same_on_every_run():
    texts = {da.equations(robots.dense("scara"), "all").latex() for _ in range(2)}
    assert len(texts) == 1


def test_derivation_is_fast():
    m = robots.dense("puma")
    da.equations(m, "all")
    start = time.process_time()
    da.equations(m, "all")
    assert time.process_time() - start < 1.0            # 0.05 s on a quiet machine; benchmarks measure it


# --- equality with compiled functions ---

@pytest.mark.parametrize("model, options", [
    ("puma560", {}), ("ur5", {}), ("stanford_arm", {}), ("scara", {}), ("cartpole", {}), ("double_pendulum", {"base": "free"})])
def test_closed_forms_of_robot_files_equal_plain_functions(model, options):
    m = da.load(model, passive=False, **options)
    eom = da.equations(m, "all")
    check(eom, m)


def test_closed_forms_of_the_embedded_panda_equal_plain_functions():
    m = da.load("panda")
    check(da.equations(m), m)


@pytest.mark.parametrize("joints", ["helical", "cylindrical", "universal", "planar", "spherical", "follower", "custom"])
def test_closed_forms_of_every_joint_type_equal_plain_functions(joints):
    m = da.random_tree(1, 3, joints=[joints, "revolute", "prismatic"])
    check(da.equations(m), m)


def test_closed_forms_of_a_branched_tree_equal_plain_functions():
    m = da.random_tree(1, 5, joints=["revolute", "prismatic"])
    assert len({m.tree().parent[i] for i in m.tree().outward()}) < m.tree().n      # it branches
    eom = da.equations(m, "all")
    assert not eom.why_factored
    check(eom, m)
    assert len(eom.base_parameters) == eom.regressor.shape[1]


@pytest.mark.parametrize("formulation", ["newton_euler", "lagrange", "elementary_motions", "hamilton"])
def test_closed_forms_agree_with_every_formulation(formulation):
    eom = da.equations(robots.dense("scara"), "all", formulation=formulation)
    eom.text(*ALL, "regressor", "christoffel")
    assert max(eom.verified.values()) < 1e-13 and len(eom.verified) == 8


def check(eom, m, seed=5):
    """Entries at a state beside the plain functions, which the verification does not use."""
    q, qd = m.random_state(seed)
    point = eom.values | dict(zip((*eom.coordinates, *eom.velocities), (*q, *qd)))
    for name in ALL[:5]:
        wanted = np.asarray(getattr(da, name)(m, *((q,) if name in ("mass_matrix", "gravity_vector") else (q, qd))))
        found = da.evaluate(getattr(eom, name), point)
        assert np.abs(found - wanted).max() <= EPS * max(1.0, np.abs(wanted).max()), name
        assert eom.verified[name] < 1e-12
    gap = [da.evaluate(eom.potential_energy, eom.values | dict(zip(eom.coordinates, x))) - da.potential_energy(m, x)
           for x in (q, m.random_state(seed + 1)[0])]
    assert abs(gap[0] - gap[1]) < 1e-11                              # up to a constant


def test_christoffel_symbols_give_the_coriolis_matrix():
    eom = da.equations(robots.planar(3), "all")
    c, C = eom.christoffel, eom.coriolis_matrix
    assert c.shape == (3, 3, 3) and all(c[i, j, k] is c[j, i, k] for i in range(3) for j in range(3) for k in range(3))
    point = eom.values | {name: 0.3 + k for k, name in enumerate((*eom.coordinates, *eom.velocities))}
    rates = np.array([point[name] for name in eom.velocities])
    assert np.allclose(np.einsum("ijk,i->kj", da.evaluate(c, point), rates), da.evaluate(C, point), atol=1e-14)


@pytest.mark.parametrize("quantity", ["mass_matrix", "gravity_vector", "christoffel"])
def test_a_wrong_term_is_refused_before_it_is_shown(quantity, monkeypatch):
    right = MAKE[quantity]

    def wrong(problem, desk):
        sheet = right(problem, desk)
        entry = next(at for at in np.ndindex(sheet.forms.shape) if sheet.forms[at].terms)
        first, *rest = sheet.forms[entry].terms
        sheet.forms[entry] = Sum((Term(first.number * 1.000001, first.factors), *rest))
        return sheet

    monkeypatch.setitem(MAKE, quantity, wrong)
    with pytest.raises(VerificationError, match=re.escape(f"{quantity}[")) as error:
        da.equations(robots.planar(2), "all").text(quantity)
    assert error.value.quantity == quantity and error.value.difference > 0


def test_a_wrong_name_for_a_sum_is_refused(monkeypatch):
    monkeypatch.setattr(Groups, "_replaced", lambda groups, form: ZERO)
    with pytest.raises(VerificationError, match="lines of mass_matrix"):
        da.equations(robots.dense("scara"), "all").text(*SHOWN)


# --- what becomes a symbol ---

def test_paths_and_patterns_choose_symbols():
    m = da.planar_chain(2)
    eom = da.equations(m, ["*.mass", "*.com[0]", "link?.inertia[1,1]", "q2.origin", "gravity"])
    assert eom.symbols == {"m1": "link1.mass", "m2": "link2.mass", "cx1": "link1.com[0]", "cx2": "link2.com[0]",
                           "Iyy1": "link1.inertia[1,1]", "Iyy2": "link2.inertia[1,1]", "px2": "q2.origin[0]", "g": "-gravity[2]"}
    assert eom.text("mass_matrix").splitlines()[1] == "M11 = Iyy1 + Iyy2 + m1 cx1^2 + m2 cx2^2 + m2 px2^2 + 2 m2 cx2 px2 c2"
    assert eom.values["g"] == 9.81 and da.equations(m, "geometry").symbols == {"px2": "q2.origin[0]"}


def test_an_unknown_path_is_an_error_with_a_hint():
    with pytest.raises(da.UnknownNameError, match="unknown path or pattern 'link1.mas'.*Did you mean 'link1.mass'"):
        da.equations(da.planar_chain(2), "link1.mas")


def test_numbers_stay_exact():
    eom = da.equations(da.from_motions("Rz(q1) Tx(0.1) Rz(q2)", inertia=[(1, (0, 0, 0), (0, 0, 0, 0, 0, 0)),
                                                                         (3, (0, 0, 0), (0, 0, 0, 0, 0, 0))]), "gravity")
    assert eom.mass_matrix[0, 0].op == "exact" and str(eom.mass_matrix[0, 0].value) == "3/100"


# --- abbreviation ---

def test_abbreviated_equations_stay_within_their_stated_error():
    m = da.load("puma560", passive=False)
    eom = da.equations(m, "all")
    short = eom.abbreviated(0.01)
    assert short.terms < 0.5 * short.terms_before
    states = np.array([m.random_state(seed)[0] for seed in range(200)])
    point = eom.values | dict(zip(eom.coordinates, states.T))
    for name in ("mass_matrix", "gravity_vector"):
        gap = np.abs(da.evaluate(getattr(short, name), point) - getattr(da, name)(m, states)).max(axis=0)
        assert (gap <= getattr(short, f"{name}_error") + 1e-12).all() and gap.max() > 0


def test_base_parameters_do_not_depend_on_the_random_value_of_an_oblique_angle():
    """Three oblique turns before the first joint, one after it: a random angle of nearly pi/2 once dropped a grouping."""
    turned = da.Origin((0, 0, 0), (("z", 0.3), ("y", 0.4), ("x", 0.5)))
    bodies = [da.Body("base"), *(da.Body(f"b{k}", 1 + k, (0, 0, 0), (0.3, 0, 0.31, 0, 0.02, 0.32)) for k in range(3))]
    joints = [da.Joint("j0", da.Universal((0, 0, 1), (0, 1, 0)), "base", "b0", origin=turned),
              da.Joint("j1", da.Planar((0, 0, 1)), "b0", "b1", origin=da.Origin((0, 0, 0), (("y", 0.7),))),
              da.Joint("j2", da.Planar((0, 0, 1)), "b0", "b2")]
    plain = da.Mechanism("turned", bodies, [da.Joint("j0", joints[0].type, "base", "b0"), *joints[1:]], gravity=(0, 0, 0))
    groupings = [{p.name: p.value for p in da.equations(m, "inertial").base_parameters}
                 for m in (da.Mechanism("turned", bodies, joints, gravity=(0, 0, 0)), plain)]
    assert groupings[0] == pytest.approx(groupings[1])


def test_a_regressor_of_ungrouped_forms_is_written_with_its_own_names():
    eom = da.equations(da.planar_chain(2), ["*.mass", "gravity"], budget=0)
    code = {}
    exec(eom.python("regressor"), code)
    q, qd = da.planar_chain(2).random_state(5)
    assert np.allclose(code["regressor"](q.tolist(), qd.tolist(), [0.3, -0.2]) @ np.array([x.value for x in eom.base_parameters]),
                       da.inverse_dynamics(da.planar_chain(2), q, qd, [0.3, -0.2]))
    assert eom.to_sympy("regressor").shape == (2, len(eom.base_parameters))
