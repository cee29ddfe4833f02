"""Documents: text, LaTeX, Markdown, HTML with MathML, PDF where LaTeX is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dalembert.equations.naming import html_text, latex_name, latex_text, mathml_name, text_name
from dalembert.equations.printing import LatexPrinter, MathmlPrinter, Printer, TextPrinter
from dalembert.equations.sheets import Sheet, printed_lines
from dalembert.equations.style import LATEX_HEAD, PAGE
from dalembert.errors import DalembertError

ENGINES = ("lualatex", "xelatex", "pdflatex")      # the first two know every script
LATEX_TIMEOUT = 300                                # s


def printer(eom: Any, kind: type[Printer]) -> Any:
    return kind({name: k + 1 for k, name in enumerate(eom.coordinates)}, eom.digits)


def sheets(eom: Any, quantities: Iterable[str]) -> list[Sheet]:
    return [eom.sheet(name) for name in quantities]


def groupings(eom: Any, target: Printer) -> list[tuple[str, list[tuple[str, str]]]]:
    """(name, signed terms) of base parameters that stand for more than one number."""
    return [(target.name(name), target.signed_terms(form)) for name, form in eom.groupings.items()]


# --- text and formulas -----------------------------------------------------------------------------------------------

def text(eom: Any, quantities: Sequence[str]) -> str:
    target = printer(eom, TextPrinter)
    blocks = []
    for sheet in sheets(eom, quantities):
        remark = f" ({sheet.remark})" if sheet.remark else ""
        lines = [f"{left} = {target.joined(terms)}" for left, terms in printed_lines(sheet, target)]
        blocks.append("\n".join([f"{sheet.title}{remark}", *(lines or ["0"])]))
    return "\n\n".join(blocks) + "\n"


def latex(eom: Any, quantities: Sequence[str]) -> str:
    target = printer(eom, LatexPrinter)
    lines = []
    for sheet in sheets(eom, quantities):
        lines += [f"% {sheet.title}"]
        lines += [latex_line(left, terms, target) for left, terms in printed_lines(sheet, target)] or ["$0$\\par"]
    return "\n".join(lines) + "\n"


def latex_line(left: str, terms: Sequence[tuple[str, str]], target: LatexPrinter) -> str:
    """One equation in running text, so that LaTeX breaks it at its signs; continued lines are indented."""
    return rf"\noindent\hangindent=2em ${left} = {target.joined(terms) if terms else '0'}$\par"


def mathml(eom: Any, quantities: Sequence[str]) -> str:
    target = printer(eom, MathmlPrinter)
    return "\n".join(f'<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>{left}<mo>=</mo>'
                     f'{target.joined(terms) if terms else "<mn>0</mn>"}</mrow></math>'
                     for sheet in sheets(eom, quantities) for left, terms in printed_lines(sheet, target))


# --- whole documents -------------------------------------------------------------------------------------------------

def write(eom: Any, file: Path, quantities: Sequence[str]) -> Path:
    makers = {".html": html, ".htm": html, ".tex": tex, ".md": markdown, ".txt": text, ".py": lambda e, q: e.python(*q)}
    ending = file.suffix.lower()
    if ending == ".pdf":
        return pdf(eom, file, quantities)
    if ending not in makers:
        raise ValueError(f"cannot write {file.name!r}: known endings are {', '.join(makers)}, .pdf.")
    if ending == ".py":
        quantities = [q for q in quantities if q not in ("christoffel", "regressor")]
    file.write_text(makers[ending](eom, quantities), encoding="utf-8", newline="\n")
    return file


def legend(eom: Any) -> list[tuple[str, str, str]]:
    """(printed name, what it is, number) of coordinates and symbols."""
    m = eom.mechanism
    rows = [(name, f"coordinate {entry}", "") for name, entry in zip(eom.coordinates, m.coordinate_names, strict=True)]
    used = eom.used_symbols
    for name, path in eom.symbols.items():
        if name not in used:
            continue
        value = eom.values.get(name)
        rows.append((name, path, "" if value is None else f"{value:.6g}"))
    return rows


def checked(eom: Any) -> str:
    worst = max(eom.verified.values(), default=0.0)
    return f"Every entry was compared with the compiled function at random states; largest relative difference {worst:.0e}."


def html(eom: Any, quantities: Sequence[str]) -> str:
    target = printer(eom, MathmlPrinter)
    shown = sheets(eom, quantities)
    body = [f"<h1>Equations of motion of {html_text(eom.mechanism.name)}</h1>", f"<p>{html_text(checked(eom))}</p>",
            f'<p class="eq">{_equation_of_motion(target)}</p>']
    contents = "".join(f'<a href="#{s.quantity}">{s.title}</a> ' for s in shown)
    body.append(f'<nav>{contents}<a href="#symbols">Symbols</a></nav>')
    for sheet in shown:
        body.append(f'<h2 id="{sheet.quantity}">{sheet.title}</h2>')
        body += [f"<p>{html_text(sheet.remark)}.</p>"] if sheet.remark else []
        body += [_html_line(left, terms) for left, terms in printed_lines(sheet, target)] or ['<p class="eq">0</p>']
    grouped = groupings(eom, target)
    if grouped:
        fewest = "" if eom.minimal else " (not all as few as possible)"
        body.append(f'<h2 id="base">Base parameters</h2><p>{len(grouped)} combinations{fewest} of the inertial parameters '
                    "of the links about their joint frames' origins determine all forces.</p>")
        body += [_html_line(left, terms) for left, terms in grouped]
    rows = "".join(f"<tr><td><math>{mathml_name(name)}</math></td><td>{html_text(what)}</td>"
                   f'<td class="number">{value}</td></tr>' for name, what, value in legend(eom))
    body.append(f'<h2 id="symbols">Symbols</h2><p>s, c: sine and cosine of a sum of coordinates, {_angle_example()}.</p>'
                f"<table><tr><th>symbol</th><th>is</th><th>number</th></tr>{rows}</table>")
    title = f"Equations of motion of {html_text(eom.mechanism.name)}"
    return PAGE.replace("@title@", title).replace("@body@", "\n".join(body))


def _html_line(left: str, terms: Sequence[tuple[str, str]]) -> str:
    """One equation; each term is a formula of its own, so that the browser breaks lines between terms."""
    signs = {"+": '<mo form="infix">+</mo>', "-": '<mo form="infix">−</mo>'}
    pieces = []
    for k, (sign, term) in enumerate(terms or [("+", "<mn>0</mn>")]):
        mark = "" if k == 0 and sign == "+" else "<mo>−</mo>" if k == 0 else signs[sign]
        pieces.append(f"<math><mrow>{mark}{term}</mrow></math>")
    return f'<p class="eq"><math><mrow>{left}<mo>=</mo></mrow></math> {" ".join(pieces)}</p>'


def _equation_of_motion(target: MathmlPrinter) -> str:
    dotted = "<mover accent='true'><mi>q</mi><mo>{}</mo></mover>"
    one, two = dotted.format("˙"), dotted.format("¨")
    return (f"<math><mrow><mi>M</mi>{target.parentheses('<mi>q</mi>')}{two}<mo>+</mo><mi>h</mi>"
            f"{target.parentheses(f'<mi>q</mi><mo>,</mo>{one}')}<mo>+</mo><mi>g</mi>{target.parentheses('<mi>q</mi>')}<mo>=</mo>"
            "<mi>τ</mi></mrow></math>")


def _angle_example() -> str:
    return ("<math><msub><mi>c</mi><mn>23</mn></msub><mo>=</mo><mi>cos</mi><mrow><mo>(</mo><msub><mi>q</mi><mn>2</mn></msub>"
            "<mo>+</mo><msub><mi>q</mi><mn>3</mn></msub><mo>)</mo></mrow></math>")


def tex(eom: Any, quantities: Sequence[str]) -> str:
    """A LaTeX document for any engine; pdfLaTeX shows letters that it has no fonts for by their Unicode numbers."""
    target = printer(eom, LatexPrinter)
    body = [rf"\section*{{Equations of motion of {latex_text(eom.mechanism.name)}}}", latex_text(checked(eom)), "",
            r"\[ M(q)\,\ddot q + h(q, \dot q) + g(q) = \tau \]"]
    for sheet in sheets(eom, quantities):
        body.append(rf"\subsection*{{{sheet.title}}}")
        body += [latex_text(sheet.remark) + ".\n"] if sheet.remark else []
        body += [latex_line(left, terms, target) for left, terms in printed_lines(sheet, target)] or ["$0$"]
    grouped = groupings(eom, target)
    if grouped:
        body.append(r"\subsection*{Base parameters}")
        body += [latex_line(left, terms, target) for left, terms in grouped]
    body += [r"\subsection*{Symbols}", r"$s$, $c$: sine and cosine of a sum of coordinates, $c_{23} = \cos(q_2 + q_3)$.",
             r"\begin{longtable}{lll}"]
    body += [rf"${latex_name(name)}$ & {latex_text(what)} & {value} \\" for name, what, value in legend(eom)]
    body += [r"\end{longtable}"]
    content = "\n".join(body)
    declared = "".join(rf"\DeclareUnicodeCharacter{{{ord(c):04X}}}{{\textlangle {ord(c):X}\textrangle}}" + "\n"
                       for c in sorted(set(content)) if not c.isascii())
    return LATEX_HEAD.replace("@declared@", declared) + content + "\n\\end{document}\n"


def markdown(eom: Any, quantities: Sequence[str]) -> str:
    """Markdown with LaTeX formulas between dollars."""
    target = printer(eom, LatexPrinter)
    lines = [f"# Equations of motion of {_markdown_text(eom.mechanism.name)}", "", checked(eom), ""]
    for sheet in sheets(eom, quantities):
        lines += [f"## {sheet.title}", ""] + ([sheet.remark + ".", ""] if sheet.remark else [])
        for left, terms in printed_lines(sheet, target):
            lines += [f"$${left} = {target.joined(terms) if terms else '0'}$$", ""]
    lines += ["## Symbols", "", "| symbol | is | number |", "| --- | --- | --- |"]
    lines += [f"| {_markdown_text(text_name(name))} | {_markdown_text(what)} | {value} |" for
              name, what, value in legend(eom)]
    return "\n".join(lines) + "\n"


def _markdown_text(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|$" else c if c.isprintable() else f"\\<{ord(c):x}\\>" for c in text)


def pdf(eom: Any, file: Path, quantities: Sequence[str]) -> Path:
    engine = next((e for e in ENGINES if shutil.which(e)), None)
    if engine is None:
        raise DalembertError(f"no LaTeX found ({', '.join(ENGINES)}): write .tex, or .html, which a browser can print.")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "equations.tex"
        source.write_text(tex(eom, quantities), encoding="utf-8")
        command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", source.name]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=LATEX_TIMEOUT)
        made = source.with_suffix(".pdf")
        if done.returncode or not made.exists():
            fault = next((x for x in done.stdout.splitlines() if x.startswith("!")), "see the .tex file")
            raise DalembertError(f"{engine} failed: {fault}")
        shutil.copyfile(made, file)
    return file
