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
    """A printer for the names of `eom`: coordinates with numbers make short angles, c23."""
    numbered = {f"{name.rstrip('0123456789')}{k}" == name for k, name in enumerate(eom.coordinates, 1)} == {True}
    return kind({name: k for k, name in enumerate(eom.coordinates, 1)} if numbered else {}, eom.digits)


def sheets(eom: Any, quantities: Iterable[str]) -> list[Sheet]:
    """Sheets of some quantities."""
    return [eom.sheet(name) for name in quantities]


def sentence(remark: str) -> str:
    """A remark with a capital letter and a full stop."""
    return f"{remark[:1].upper()}{remark[1:]}."


def groupings(eom: Any, target: Printer) -> list[tuple[str, list[tuple[str, str]]]]:
    """(name, signed terms) of base parameters that stand for more than one number."""
    return [(target.name(name), target.signed_terms(form)) for name, form in eom.groupings.items()]


# --- text and formulas -----------------------------------------------------------------------------------------------

def text(eom: Any, quantities: Sequence[str]) -> str:
    """Plain text: a title and lines per quantity."""
    target = printer(eom, TextPrinter)
    blocks = []
    for sheet in sheets(eom, quantities):
        remark = f" ({sheet.remark})" if sheet.remark else ""
        lines = [f"{left} = {target.joined(terms)}" for left, terms in printed_lines(sheet, target)]
        blocks.append("\n".join([f"{sheet.title}{remark}", *(lines or ["0"])]))
    return "\n\n".join(blocks) + "\n"


def latex(eom: Any, quantities: Sequence[str]) -> str:
    """LaTeX lines, with titles as comments."""
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
    """One <math> element per line."""
    target = printer(eom, MathmlPrinter)
    return "\n".join(f'<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>{left}<mo>=</mo>'
                     f'{target.joined(terms) if terms else "<mn>0</mn>"}</mrow></math>'
                     for sheet in sheets(eom, quantities) for left, terms in printed_lines(sheet, target))


# --- whole documents -------------------------------------------------------------------------------------------------

def write(eom: Any, file: Path, quantities: Sequence[str]) -> Path:
    """Write the kind of document that the file's ending names; see `ClosedForms.write`."""
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
    rows = [(name, f"coordinate {entry}", "") for name, entry in zip(eom.coordinates, eom.coordinate_names, strict=True)]
    used = eom.used_symbols
    for name, path in eom.symbols.items():
        if name not in used:
            continue
        value = eom.values.get(name)
        rows.append((name, path, "" if value is None else f"{value:.6g}"))
    return rows


def checked(eom: Any) -> str:
    """What the verification found, in a sentence."""
    worst = max(eom.verified.values(), default=0.0)
    return f"Every entry was compared with the compiled function at random states; largest relative difference {worst:.0e}."


def html(eom: Any, quantities: Sequence[str]) -> str:
    """A page with MathML that needs no network."""
    target = printer(eom, MathmlPrinter)
    shown = sheets(eom, quantities)
    found = html_text(checked(eom)).replace("e-", "e\u2011")                   # a hyphen that no line breaks at
    body = [f"<h1>Equations of motion of {html_text(eom.name)}</h1>", f"<p>{found}</p>",
            f'<p class="eq"><math>{_law(eom, target)}</math></p>']
    contents = "".join(f'<a href="#{s.quantity}">{s.title}</a> ' for s in shown)
    body.append(f'<nav>{contents}<a href="#symbols">Symbols</a></nav>')
    for sheet in shown:
        body.append(f'<h2 id="{sheet.quantity}">{sheet.title}</h2>')
        body += [f"<p>{html_text(sentence(sheet.remark))}</p>"] if sheet.remark else []
        body += [_html_line(left, terms) for left, terms in printed_lines(sheet, target)] or ['<p class="eq">0</p>']
    grouped = groupings(eom, target)
    if grouped:
        fewest = "" if eom.minimal else " (not all as few as possible)"
        body.append(f'<h2 id="base">Base parameters</h2><p>{len(grouped)} combinations{fewest} of the inertial parameters '
                    "of the links about their joint frames' origins determine all forces.</p>")
        body += [_html_line(left, terms) for left, terms in grouped]
    rows = "".join(f"<tr><td><math>{mathml_name(name)}</math></td><td>{html_text(what)}</td>"
                   f'<td class="number">{value}</td></tr>' for name, what, value in legend(eom))
    example = _angle_example() if target.numbers else ""
    body.append(f'<h2 id="symbols">Symbols</h2>{example}'
                f"<table><tr><th>symbol</th><th>is</th><th>number</th></tr>{rows}</table>")
    title = f"Equations of motion of {html_text(eom.name)}"
    return PAGE.replace("@title@", title).replace("@body@", "\n".join(body))


def _html_line(left: str, terms: Sequence[tuple[str, str]]) -> str:
    """One equation; each term is a formula of its own, so that the browser breaks lines between terms."""
    signs = {sign: f'<mo form="infix" lspace="0" rspace="0.22em">{mark}</mo>' for sign, mark in (("+", "+"), ("-", "−"))}
    pieces = []
    for k, (sign, term) in enumerate(terms or [("+", "<mn>0</mn>")]):
        mark = "" if k == 0 and sign == "+" else "<mo>−</mo>" if k == 0 else signs[sign]
        pieces.append(f"<math><mrow>{mark}{term}</mrow></math>")
    return f'<p class="eq"><math><mrow>{left}<mo rspace="0">=</mo></mrow></math> {" ".join(pieces)}</p>'


def _law(eom: Any, target: Printer) -> str:
    """The equations of motion with the letters of the quantities: M(q) qdd + h(q, qd) + g(q) = tau."""
    left, right = eom.law
    return target.equation([target.applied(*part) for part in left], target.joined([("+", target.name(x)) for x in right]))


def _angle_example() -> str:
    return ("<p><i>s</i>, <i>c</i>: sine and cosine of a sum of coordinates, <math><msub><mi>c</mi><mn>23</mn></msub>"
            "<mo>=</mo><mi>cos</mi><mrow><mo>(</mo><msub><mi>q</mi><mn>2</mn></msub><mo>+</mo><msub><mi>q</mi><mn>3</mn></msub><mo>)</mo></mrow></math>.</p>")


def tex(eom: Any, quantities: Sequence[str]) -> str:
    """A LaTeX document for any engine; pdfLaTeX shows letters that it has no fonts for by their Unicode numbers."""
    target = printer(eom, LatexPrinter)
    body = [rf"\section*{{Equations of motion of {latex_text(eom.name)}}}", latex_text(checked(eom)), "",
            rf"\[ {_law(eom, target)} \]"]
    for sheet in sheets(eom, quantities):
        body.append(rf"\subsection*{{{sheet.title}}}")
        body += [latex_text(sentence(sheet.remark)) + "\n"] if sheet.remark else []
        body += [latex_line(left, terms, target) for left, terms in printed_lines(sheet, target)] or ["$0$"]
    grouped = groupings(eom, target)
    if grouped:
        body.append(r"\subsection*{Base parameters}")
        body += [latex_line(left, terms, target) for left, terms in grouped]
    body += [r"\subsection*{Symbols}"]
    body += [r"$s$, $c$: sine and cosine of a sum of coordinates, $c_{23} = \cos(q_2 + q_3)$."] if target.numbers else []
    body += [r"\begin{longtable}{lll}"]
    body += [rf"${latex_name(name)}$ & {latex_text(what)} & {value} \\" for name, what, value in legend(eom)]
    body += [r"\end{longtable}"]
    content = "\n".join(body)
    declared = "".join(rf"\DeclareUnicodeCharacter{{{ord(c):04X}}}{{\textlangle {ord(c):X}\textrangle}}" + "\n"
                       for c in sorted(set(content)) if not c.isascii())
    return LATEX_HEAD.replace("@declared@", declared) + content + "\n\\end{document}\n"


def markdown(eom: Any, quantities: Sequence[str]) -> str:
    """Markdown with LaTeX formulas between dollars."""
    target = printer(eom, LatexPrinter)
    lines = [f"# Equations of motion of {markdown_text(eom.name)}", "", checked(eom), ""]
    for sheet in sheets(eom, quantities):
        lines += [f"## {sheet.title}", ""] + ([sentence(sheet.remark), ""] if sheet.remark else [])
        for left, terms in printed_lines(sheet, target):
            lines += [f"$${left} = {target.joined(terms) if terms else '0'}$$", ""]
    lines += ["## Symbols", "", "| symbol | is | number |", "| --- | --- | --- |"]
    lines += [f"| {markdown_text(text_name(name))} | {markdown_text(what)} | {value} |" for
              name, what, value in legend(eom)]
    return "\n".join(lines) + "\n"


def markdown_text(text: str) -> str:
    """Any text for Markdown, with every special character escaped."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#!|$" else c if c.isprintable() else f"\\<{ord(c):x}\\>" for c in text)


def pdf(eom: Any, file: Path, quantities: Sequence[str]) -> Path:
    """The LaTeX document, compiled by the first engine that is installed."""
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
