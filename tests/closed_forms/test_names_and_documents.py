"""Names of any script survive in every target, never as markup; documents open; SymPy agrees."""

import copy
import pickle
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import dalembert as da
from dalembert import cli
from dalembert.closed_forms.printing import layout
from dalembert.closed_forms.printing.naming import latex_symbol, mathml_symbol, taken_apart

from . import robots

NAMES = ["lambda", "in", "x_{1}", "f_{ext}", r"\alpha", "I", "E", "N", "S", "beta", "double", "q-1", "a b", "a_b", "50%", "плечо 1",
         "关节:θ", "ｱﾙﾐ", "ü_é", "q1", "c2", "ZZ1", "m1", "k1", "<b>", "$x$", "θ", "a&b", "#1", "~^{}"]


def named_arm(names, length):
    """2R arm whose masses, lengths, joints and bodies carry these names."""
    m1, m2, l1, c1, c2, I1, I2 = (da.symbol(n) for n in names[:7])
    bodies = [da.Body(names[7]), da.Body(names[8], m1, (c1, 0, 0), (0, 0, 0, 0, 0, I1)),
              da.Body(names[9], m2, (c2, 0, 0), (0, 0, 0, 0, 0, I2))]
    joints = [da.Joint(names[10], da.Revolute((0, 0, 1)), names[7], names[8]),
              da.Joint(names[11], da.Revolute((0, 0, 1)), names[8], names[9], da.Origin((l1, 0, 0)))]
    return da.Mechanism(names[12], tuple(bodies), tuple(joints), (), (0, length, 0))


PLAIN = ["ma", "mb", "la", "ca", "cb", "Ia", "Ib", "base", "one", "two", "j1", "j2", "plain"]
STRANGE = [NAMES[k:] + NAMES[:k] for k in range(0, len(NAMES), 7)]


@pytest.mark.parametrize("names", STRANGE, ids=lambda n: ascii(n[0]))
@pytest.mark.parametrize("grouped", [False, True])
def test_values_are_those_of_the_plainly_named_robot(names, grouped):      # case O15
    values = (1.2, 0.8, 0.5, 0.2, 0.3, 0.02, 0.015)
    q, qd, found = np.array([0.3, -0.8]), np.array([1.1, -0.7]), []
    for group in (PLAIN, names):
        with da.Graph():
            eom = da.equations(named_arm(group, -9.81), grouped=grouped)
            point = dict(zip(group[:7], values)) | dict(zip((*eom.coordinates, *eom.velocities), (*q, *qd)))
            for p in eom.base_parameters if grouped else ():
                raw = point | {f"{a}{i}{'_' * 3}"[:len(a) + 1 + n]: v for i, (m, c, I) in
                               enumerate(((1.2, 0.2, 0.02), (0.8, 0.3, 0.015)), 1) for n in range(4)
                               for a, v in {"m": m, "mx": m * c, "my": 0, "mz": 0, "Izz": I + m * c * c, "Iyy": m * c * c, "Ixx": 0,
                                            "Ixy": 0, "Ixz": 0, "Iyz": 0}.items() if f"{a}{i}{'_' * n}" not in point}
                point[p.name] = da.evaluate(p.grouping, raw)
            found.append([da.evaluate(x, point) for x in (eom.mass_matrix, eom.coriolis_matrix, eom.gravity_vector)])
            code = {}
            exec(eom.python("mass_matrix"), code)
    for a, b in zip(*found):
        assert np.abs(a - b).max() < 1e-13
    assert np.abs(found[0][0] - [[0.52220961, 0.170604805], [0.170604805, 0.087]]).max() < 1e-8      # case O09


def latex_name(name):
    return latex_symbol(taken_apart(name))


def mathml_name(name):
    return mathml_symbol(taken_apart(name))


@pytest.mark.parametrize("name", NAMES)
def test_names_never_reach_a_target_raw(name):      # case O14
    latex = latex_name(name)
    inner = re.sub(r"\\(?:text(?:backslash|asciitilde|asciicircum)?|mathit|mathrm|[a-z]+|[{}$&#_%])", "", latex)
    assert not re.search(r"[$&#%~]", inner)
    assert latex.count("{") - latex.count(r"\{") == latex.count("}") - latex.count(r"\}")
    text = "".join(ElementTree.fromstring(f"<math>{mathml_name(name)}</math>").itertext())
    kept = {r"\alpha": "α", "lambda": "λ", "beta": "β", "x_{1}": "x1", "f_{ext}": "fext", "a_b": "ab"}.get(name, name)
    assert text == kept


def test_latex_and_mathml_of_names():
    assert latex_name("MX3") == r"\mathit{MX}_{3}" and latex_name("qd2") == r"\mathit{qd}_{2}" and latex_name("px3") == "p_{x3}"
    assert latex_name("lambda_1") == r"\lambda_{1}" and latex_name("50%") == r"\text{50\%}" and latex_name("θ") == r"\theta"
    assert latex_name("alpha2_1") == r"\alpha_{2,1}" and latex_name("foo2_1") == r"\text{foo2\_1}"
    assert mathml_name("m2") == "<msub><mi>m</mi><mn>2</mn></msub>" and mathml_name("<b>") == "<mtext>&lt;b&gt;</mtext>"


@pytest.fixture
def strange():
    with da.Graph():
        yield da.equations(named_arm(["плечо 1", "关节:θ", "50%", "a_b", "x_{1}", "<b>", "#1", "$x$", "ü_é", "ｱﾙﾐ", "~^{}", "a&b",
                                      r"\end{document} %_$"], -9.81))


def test_html_is_well_formed_and_needs_nothing_else(strange, tmp_path):
    page = strange.write(tmp_path / "x.html").read_text(encoding="utf-8")
    root = ElementTree.fromstring(page.replace("<!DOCTYPE html>", "").replace('<meta charset="utf-8">', "").replace(
        '<meta name="viewport" content="width=device-width, initial-scale=1">', ""))
    shown = "".join(root.itertext())
    for name in ("плечо 1", "关节:θ", "50%", "<b>", "#1", "a&b", r"\end{document} %_$"):
        assert name in shown
    assert not re.search(r"(src|href)=\"(?!#)", page) and "<script" not in page


@pytest.mark.parametrize("ending, law, title", [("md", r"$$\boldsymbol{M}(\boldsymbol{q}) ", "## Base parameters"), ("tex", r"\[ \boldsymbol{M}(\boldsymbol{q}) ", r"\subsection*{Base parameters}"),
                                                ("html", "<mi>𝑴</mi>", '<section id="base"><h2>Base parameters</h2>')])
def test_documents_say_what_base_parameters_stand_for(ending, law, title, tmp_path):
    page = da.equations(robots.planar(2), "all").write(tmp_path / f"x.{ending}", "mass_matrix").read_text(encoding="utf-8")
    assert law in page and title in page and "6 combinations of the inertial parameters" in page


def test_documents_give_the_difference_that_was_found(tmp_path):
    for ending in ("html", "tex", "md"):
        eom = da.equations(robots.dense("scara"))                       # nothing of it is verified yet
        page = eom.write(tmp_path / f"arm.{ending}").read_text(encoding="utf-8").replace("\u2011", "-")
        assert f"relative difference {max(eom.verified.values()):.0e}" in page and max(eom.verified.values()) > 0


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
def test_latex_compiles(strange, tmp_path):
    source = strange.write(tmp_path / "x.tex")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", source.name], cwd=tmp_path,
                          capture_output=True, text=True, errors="replace", timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert strange.write(tmp_path / "y.pdf").read_bytes().startswith(b"%PDF")


def test_no_latex_and_unknown_endings_are_errors_that_say_what_to_do(strange, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"cannot write 'x.doc': known endings are .html, .*\.pdf"):
        strange.write(tmp_path / "x.doc")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(da.DalembertError, match="no LaTeX found .*: write .tex, or .html"):
        strange.write(tmp_path / "x.pdf")


def test_mathml_is_well_formed():
    text = da.equations(robots.dense("puma"), "all").mathml("mass_matrix", "gravity_vector")
    for line in text.splitlines():
        ElementTree.fromstring(line)
    assert len(text.splitlines()) > 20


@pytest.mark.parametrize("name", ["scara", pytest.param("panda", marks=pytest.mark.slow)])
def test_python_source_computes_what_the_plain_functions_do(name):
    m = robots.dense(name)
    code = {}
    exec(robots.closed_forms(name).python("mass_matrix", "gravity_vector", "coriolis_vector", "kinetic_energy"), code)
    q, qd = m.random_state(1)
    for quantity, state in (("mass_matrix", (q,)), ("gravity_vector", (q,)), ("coriolis_vector", (q, qd)), ("kinetic_energy", (q, qd))):
        assert np.abs(np.array(code[quantity](*state)) - getattr(da, quantity)(m, *state)).max() < 1e-12


def test_unknown_quantities_are_errors():
    with pytest.raises(da.UnknownNameError, match="unknown quantity 'mass_matri'.*Did you mean 'mass_matrix'"):
        da.equations(robots.planar(2)).text("mass_matri")


# --- SymPy ---

def test_sympy_gets_exact_numbers_and_agrees_with_lagranges_method():
    sympy = pytest.importorskip("sympy")
    mechanics = pytest.importorskip("sympy.physics.mechanics")
    with da.Graph():
        m, l, g = da.symbols("m l g")
        eom = da.equations(da.planar_chain(2, mass=m, length=l, gravity=(0, 0, -g)))
        M, h, G = eom.to_sympy().values()
    q1, q2 = mechanics.dynamicsymbols("q1 q2")
    m, l, g, t = *sympy.symbols("m l g", real=True), mechanics.dynamicsymbols._t
    a1, a2 = q1, q1 + q2
    point = [l / 2 * sympy.Matrix([sympy.cos(a1), sympy.sin(a1)]),
             l * sympy.Matrix([sympy.cos(a1), sympy.sin(a1)]) + l / 2 * sympy.Matrix([sympy.cos(a2), sympy.sin(a2)])]
    T = sum(m * p.diff(t).dot(p.diff(t)) / 2 + m * l**2 / 24 * a.diff(t)**2 for p, a in zip(point, (a1, a2)))
    L = T - sum(m * g * p[1] for p in point)
    method = mechanics.LagrangesMethod(L, [q1, q2])
    method.form_lagranges_equations()
    names = {s: sympy.Symbol(n, real=True) for s, n in ((q1.diff(t), "qd1"), (q2.diff(t), "qd2"), (q1, "q1"), (q2, "q2"))}
    rest = method.mass_matrix.subs(names) - M, -method.forcing.subs(names) - h - G
    for seed in range(3):                                   # at exact points, to 30 digits
        point = {s: sympy.Rational(7 * k + seed, 11) for k, s in enumerate((m, l, g, *names.values()), 1)}
        assert all(abs(x) < 1e-28 for part in rest for x in part.subs(point).evalf(30))


def test_kanes_method_agrees_on_the_cart_with_a_pendulum():
    sympy = pytest.importorskip("sympy")
    mechanics = pytest.importorskip("sympy.physics.mechanics")
    with da.Graph():
        m1, m2, l, J, g = da.symbols("m1 m2 l J g")
        links = [(m1, (0, 0, 0), (0, 0, 0, 0, 0, 0)), (m2, (l, 0, 0), (0, 0, 0, 0, 0, J))]
        eom = da.equations(da.from_motions("Tx(q1) Rz(q2)", inertia=links, gravity=(0, -g, 0)))
        M, h, G = eom.to_sympy().values()
    m1, m2, l, J, g = sympy.symbols("m1 m2 l J g", real=True)
    (q1, q2), (u1, u2), t = mechanics.dynamicsymbols("q1 q2"), mechanics.dynamicsymbols("u1 u2"), mechanics.dynamicsymbols._t
    N = mechanics.ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q2, N.z])
    A.set_ang_vel(N, u2 * N.z)
    origin = mechanics.Point("O")
    origin.set_vel(N, 0)
    cart = origin.locatenew("C", q1 * N.x)
    cart.set_vel(N, u1 * N.x)
    mass = cart.locatenew("P", l * A.x)
    mass.v2pt_theory(cart, N, A)
    bodies = [mechanics.Particle("cart", cart, m1),
              mechanics.RigidBody("pendulum", mass, A, m2, (J * mechanics.outer(N.z, N.z), mass))]
    method = mechanics.KanesMethod(N, [q1, q2], [u1, u2], kd_eqs=[u1 - q1.diff(t), u2 - q2.diff(t)])
    method.kanes_equations(bodies, [(cart, -m1 * g * N.y), (mass, -m2 * g * N.y)])
    names = {s: sympy.Symbol(n, real=True) for s, n in ((u1, "qd1"), (u2, "qd2"), (q1, "q1"), (q2, "q2"))}
    rest = method.mass_matrix.subs(names) - M, -method.forcing.subs(names) - h - G
    for seed in range(3):
        point = {s: sympy.Rational(7 * k + seed, 11) for k, s in enumerate((m1, m2, l, J, g, *names.values()), 1)}
        assert all(abs(x) < 1e-28 for part in rest for x in part.subs(point).evalf(30))


def test_without_sympy_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sympy", None)
    with pytest.raises(da.DalembertError, match="pip install sympy"):
        da.equations(robots.planar(2)).to_sympy()


# --- the command ---

def test_command_prints_and_writes(capsys, tmp_path):
    file = "scara"
    assert cli.run(["equations", file, "--symbols", "all", "--quantities", "gravity_vector"]) == 0
    assert capsys.readouterr().out == "Gravity vector\ng3 = -MM3 g\n"
    assert cli.run(["equations", file, "--format", "latex", "--formulation", "lagrange", "--quantities", "gravity_vector"]) == 0
    assert r"\[ \boldsymbol{g} = \begin{pmatrix} 0 \\ 0 \\ -" in capsys.readouterr().out
    page = tmp_path / "scara.html"
    assert cli.run(["equations", file, "-o", str(page)]) == 0 and page.exists()
    assert capsys.readouterr().out == f"{page}\n"


@pytest.mark.parametrize("arguments, part", [
    (["--format", "word"], "unknown format 'word' (known: text, latex"), (["--quantities", "mass_matri"], "Did you mean 'mass_matrix'"),
    (["--symbols", "nothing"], "unknown path or pattern 'nothing'"), (["-o", "x.doc"], "known endings are .html"),
    (["--formulation", "magic"], "unknown formulation 'magic'")])
def test_command_refuses_with_one_line(arguments, part, capsys):
    assert cli.run(["equations", "scara", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and err.count("\n") == 1 and part in err


# --- copies ---

def pendulum():
    m, l, g = da.symbols("m l g")
    return da.lagrangian_system(lambda q, qd, t: m * l**2 * qd[0]**2 / 2 + m * g * l * da.cos(q[0]), "theta")


MODELS = {"numbers": lambda: robots.dense("scara"), "symbols": lambda: named_arm(PLAIN, -9.81), "lagrangian": pendulum}


@pytest.mark.parametrize("model", MODELS)
def test_equations_pickle_and_copy(model):
    with da.Graph():
        eom = da.equations(MODELS[model](), digits=5)
        text = eom.text("potential_energy", "mass_matrix")
        python = eom.python("mass_matrix")
        for again in (copy.copy(eom), copy.deepcopy(eom), pickle.loads(pickle.dumps(eom))):
            assert type(again) is type(eom) and again.digits == 5 and again.text("potential_energy", "mass_matrix") == text
            assert again.python("mass_matrix") == python and again.verified.keys() >= {"mass_matrix", "potential_energy"}
            assert {s.name for x in again.mass_matrix.flat for s in da.free_symbols(x + again.gravity_vector[0])} <= {
                *again.coordinates, *again.symbols}                          # one graph: its nodes go together


def test_equations_work_in_a_process_that_starts_afresh(tmp_path):
    texts = []
    for model, make in MODELS.items():
        with da.Graph():
            eom = da.equations(make())
            texts.append(eom.text())
            (tmp_path / model).write_bytes(pickle.dumps(eom))
    program = """if True:
        import pickle, sys
        for file in sys.argv[1:]:
            eom = pickle.load(open(file, "rb"))
            eom.mass_matrix @ eom.gravity_vector
            print(eom.text())"""
    done = subprocess.run([sys.executable, "-c", program, *(str(tmp_path / model) for model in MODELS)], capture_output=True, text=True)
    assert done.stderr == "" and done.stdout == "".join(f"{text}\n" for text in texts)


def test_equations_say_what_they_are():
    assert repr(da.equations(robots.planar(2))) == "<Equations of 'planar 2R' in q1, q2>"


def test_python_tells_upper_from_lower_case_and_renames_only_what_clashes():
    with da.Graph():
        M, m, l, I, q, word = da.symbols("M m l I q lambda")
        links = [(M, (0, 0, 0), (0,) * 6), (m + word, (0, 0, l), (0, 0, I + q, 0, 0, 0))]
        source = da.equations(da.from_motions("Tx(q1) Ry(q2)", inertia=links)).python("mass_matrix")
    assert "def mass_matrix(q, *, M, lambda_, m, l, I, q_):" in source, source
    code = {}
    exec(source, code)
    found = code["mass_matrix"]([0, 0.5], M=2, m=0.5, lambda_=0.25, l=2, I=3, q_=1)
    assert np.allclose(found, [[2.75, 1.5 * np.cos(0.5)], [1.5 * np.cos(0.5), 7]], rtol=1e-15)


# --- LaTeX ---

def fake_engine(folder, name, text):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_pdf_is_made_by_the_first_engine_that_manages_to(tmp_path, monkeypatch):
    eom, engines = da.equations(robots.planar(2)), tmp_path / "engines"
    monkeypatch.setenv("PATH", str(engines))
    fake_engine(engines, "lualatex", "echo '! LaTeX Error: no such font.'; exit 1")
    with pytest.raises(da.DalembertError, match=r"LaTeX failed .lualatex: ! LaTeX Error: no such font\..: write .tex, or .html"):
        eom.write(tmp_path / "x.pdf", "mass_matrix")
    fake_engine(engines, "tectonic", "echo 'error: no network' >&2; exit 1")
    with pytest.raises(da.DalembertError, match=r"no such font\.; tectonic: error: no network"):
        eom.write(tmp_path / "x.pdf", "mass_matrix")
    fake_engine(engines, "pdflatex", "echo %PDF made > equations.pdf")
    assert eom.write(tmp_path / "x.pdf", "mass_matrix").read_bytes().startswith(b"%PDF made")


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
def test_latex_can_be_pasted_into_a_document_with_amsmath_alone(tmp_path):
    parts = []
    for names in (["x_1", "x1", "50%", "a-b", "#1", "cos", r"\alpha", "{", "}", "$x$", "~", "_", r"\end{document} %_$"], PLAIN):
        with da.Graph():
            parts.append(da.equations(named_arm(names, -9.81)).latex())
    eom = da.equations(robots.dense("puma"), "all")
    parts += [eom.latex("mass_matrix", "equations_of_motion", "placement:link6", "jacobian:link6"), eom.at(q2=0).latex("gravity_vector")]
    with da.Graph():
        x, y = da.symbols("x y")
        parts += [f"${da.latex(da.where((x < 0) & (y < x), da.absolute(x) / y, da.power(x, y)))}$"]
    (tmp_path / "x.tex").write_text("\\documentclass{article}\\usepackage{amsmath}\\begin{document}\n" + "\n".join(parts) + "\\end{document}\n")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"], cwd=tmp_path, capture_output=True,
                          text=True, errors="replace", timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    too_wide = [float(x) for x in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
    assert len(too_wide) <= 6 and "hangindent" not in "".join(parts)


def test_formulas_are_broken_between_terms():
    eom = da.equations(robots.dense("puma"), "all", budget=10**6)
    for line in eom.latex("mass_matrix").splitlines():
        if line.startswith(r"&\quad"):
            assert re.match(r"&\\quad [-+] ", line)
            before = line.partition(r"\\")[0] if line.endswith(r"\\") else line
            assert before.count("{") == before.count("}")


def test_long_terms_are_cut_at_the_signs_in_their_parentheses():
    x = "<mi>abcdefghij</mi>"
    term = f'<mi>p</mi><mrow><mo stretchy="false">(</mo>{"<mo>+</mo>".join([x] * 9)}<mo stretchy="false">)</mo></mrow><mi>q</mi>'
    pieces = layout.mathml_pieces(term)
    text = ["".join(ElementTree.fromstring(f"<r>{piece}</r>").itertext()) for piece in pieces]
    assert "".join(text) == "p(" + "+".join(["abcdefghij"] * 9) + ")q" and len(pieces) == 9 and text[1] == "+abcdefghij"
    assert layout.mathml_pieces(x) == [x] and layout.mathml_pieces(x * 20) == [x * 20]
