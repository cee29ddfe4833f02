"""Documents: text, LaTeX, Markdown, HTML with MathML, PDF where LaTeX is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dalembert.equations.naming import html_text, latex_name, latex_text, mathml_name, text_name
from dalembert.equations.printing import LATEX, MATHML, TEXT, Notation, Printer
from dalembert.equations.sheets import Sheet
from dalembert.equations.style import ANGLE_EXAMPLE, LATEX_HEAD, PAGE
from dalembert.errors import DalembertError

ENGINES = ("lualatex", "xelatex", "pdflatex")      # the first two know every script
LATEX_TIMEOUT = 300                                # s
Terms = list[tuple[str, str]]                      # signs and texts of terms


class Section(NamedTuple):
    """What a document says of a quantity: lines are left sides and signed terms."""

    key: str
    title: str
    remark: str
    lines: list[tuple[str, Terms]]


def printer(eom: Any, notation: Notation) -> Printer:
    """A printer for the names of `eom`: coordinates with numbers make short angles, c23."""
    numbers = {name: k for k, name in enumerate(eom.coordinates, 1)}
    numbered = all(f"{name.rstrip('0123456789')}{k}" == name for name, k in numbers.items())
    return Printer(notation, numbers if numbered else {}, eom.digits)


def printed_lines(sheet: Sheet, target: Printer, printed: set[str], label: str = "") -> list[tuple[str, Terms]]:
    """(left side, signed terms) of lines, before them the parts that the document has not printed yet.

    label: a letter in place of the lines' own.
    """
    parts = [(target.name(name), target.signed_terms(form)) for name, form in sheet.parts if name not in printed]
    printed.update(name for name, _ in sheet.parts)
    return parts + [(target.label(label or sheet.letter, *(k + 1 for k in at)), target.signed_terms(form))
                    for at, form in sheet.lines]


def sections(eom: Any, quantities: Iterable[str], target: Printer) -> list[Section]:
    """The sections of some quantities."""
    sheets = [eom.sheet(name) for name in quantities]
    printed: set[str] = set()
    return [Section(s.quantity, s.title, s.remark, printed_lines(s, target, printed) or [("", [])]) for s in sheets]


def groupings(eom: Any, target: Printer) -> list[Section]:
    """A section on base parameters, where there are any."""
    lines = [(target.name(name), target.signed_terms(form)) for name, form in eom.groupings.items()]
    fewest = "" if eom.minimal else " (not all as few as possible)"
    remark = (f"{len(lines)} combinations{fewest} of the inertial parameters of the links about their joint frames' origins "
              "determine all forces")
    return [Section("base", "Base parameters", remark, lines)] if lines else []


def sentence(remark: str) -> str:
    """A remark with a capital letter and a full stop."""
    return f"{remark[:1].upper()}{remark[1:]}."


# --- text and formulas -----------------------------------------------------------------------------------------------

def text(eom: Any, quantities: Sequence[str]) -> str:
    """Plain text: a title and lines per quantity."""
    target = printer(eom, TEXT)
    return "\n".join(title + (f" ({remark})" if remark else "") + "\n" + "".join(
        f"{_equation(left, terms, target)}\n" for left, terms in lines)
        for _, title, remark, lines in sections(eom, quantities, target))


def latex(eom: Any, quantities: Sequence[str]) -> str:
    """LaTeX lines, with titles as comments."""
    target = printer(eom, LATEX)
    return "".join(f"% {title}\n" + "".join(f"{latex_line(*line, target)}\n" for line in lines)
                   for _, title, _, lines in sections(eom, quantities, target))


def latex_line(left: str, terms: Terms, target: Printer) -> str:
    """One equation in running text, so that LaTeX breaks it at its signs; continued lines are indented."""
    return rf"\noindent\hangindent=2em ${_equation(left, terms, target)}$\par" if left else r"$0$\par"


def mathml(eom: Any, quantities: Sequence[str]) -> str:
    """One <math> element per line."""
    target = printer(eom, MATHML)
    return "\n".join(f'<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>{left}<mo>=</mo>{target.joined(terms)}</mrow></math>'
                     for section in sections(eom, quantities, target) for left, terms in section.lines if left)


def _equation(left: str, terms: Terms, target: Printer) -> str:
    return f"{left} = {target.joined(terms)}" if left else target.joined(terms)


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
    return rows + [(name, path, f"{eom.values[name]:.6g}" if name in eom.values else "")
                   for name, path in eom.symbols.items() if name in used]


def checked(eom: Any) -> str:
    """What the verification found, in a sentence."""
    worst = max(eom.verified.values(), default=0.0)
    return f"Every entry was compared with the compiled function at random states; largest relative difference {worst:.0e}."


def _law(eom: Any, target: Printer) -> str:
    """The equations of motion with the letters of the quantities: M(q) qdd + h(q, qd) + g(q) = tau."""
    notation, (left, right) = target.notation, eom.law
    terms = []
    for letter, arguments, *factor in left:
        names = notation.comma.join(map(target.name, arguments.split()))
        function = target.label(letter) + (notation.parentheses % names if names else "")
        terms.append(("+", notation.times.join([function, *map(target.name, factor)])))
    return notation.equation % (target.joined(terms), target.joined([("+", target.name(x)) for x in right]))


def html(eom: Any, quantities: Sequence[str]) -> str:
    """A page with MathML that needs no network."""
    target = printer(eom, MATHML)
    shown = sections(eom, quantities, target)
    title = f"Equations of motion of {html_text(eom.name)}"
    found = html_text(checked(eom)).replace("e-", "e\u2011")                   # a hyphen that no line breaks at
    contents = "".join(f'<a href="#{s.key}">{s.title}</a> ' for s in shown)
    body = [f"<h1>{title}</h1>", f"<p>{found}</p>", f'<p class="eq"><math>{_law(eom, target)}</math></p>',
            f'<nav>{contents}<a href="#symbols">Symbols</a></nav>']
    for key, heading, remark, lines in [*shown, *groupings(eom, target)]:
        body += [f'<h2 id="{key}">{heading}</h2>', *([f"<p>{html_text(sentence(remark))}</p>"] if remark else [])]
        body += [_html_line(left, terms) for left, terms in lines]
    rows = "".join(f"<tr><td><math>{mathml_name(name)}</math></td><td>{html_text(what)}</td>"
                   f'<td class="number">{value}</td></tr>' for name, what, value in legend(eom))
    body.append(f'<h2 id="symbols">Symbols</h2>{ANGLE_EXAMPLE if target.numbers else ""}'
                f"<table><tr><th>symbol</th><th>is</th><th>number</th></tr>{rows}</table>")
    return PAGE.replace("@title@", title).replace("@body@", "\n".join(body))


def _html_line(left: str, terms: Terms) -> str:
    """One equation; each term is a formula of its own, so that the browser breaks lines between terms."""
    if not left:
        return '<p class="eq">0</p>'
    pieces = []
    for k, (sign, term) in enumerate(terms or [("+", "<mn>0</mn>")]):
        mark = "−" if sign == "-" else "+"
        spaced = f'<mo form="infix" lspace="0" rspace="0.22em">{mark}</mo>' if k else "<mo>−</mo>" if sign == "-" else ""
        pieces.append(f"<math><mrow>{spaced}{term}</mrow></math>")
    return f'<p class="eq"><math><mrow>{left}<mo rspace="0">=</mo></mrow></math> {" ".join(pieces)}</p>'


def tex(eom: Any, quantities: Sequence[str]) -> str:
    """A LaTeX document for any engine; pdfLaTeX shows letters that it has no fonts for by their Unicode numbers."""
    target = printer(eom, LATEX)
    shown = sections(eom, quantities, target)                     # verified by now
    body = [rf"\section*{{Equations of motion of {latex_text(eom.name)}}}", latex_text(checked(eom)), "",
            rf"\[ {_law(eom, target)} \]"]
    for _, title, remark, lines in [*shown, *groupings(eom, target)]:
        body += [rf"\subsection*{{{title}}}", *([latex_text(sentence(remark)) + "\n"] if remark else [])]
        body += [latex_line(left, terms, target) for left, terms in lines]
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
    target = printer(eom, LATEX)
    shown = sections(eom, quantities, target)                     # verified by now
    blocks = [f"# Equations of motion of {markdown_text(eom.name)}", checked(eom), f"$${_law(eom, target)}$$"]
    for _, title, remark, lines in [*shown, *groupings(eom, target)]:
        blocks += [f"## {title}", *([sentence(remark)] if remark else [])]
        blocks += [f"$${_equation(left, terms, target)}$$" for left, terms in lines]
    rows = [f"| {markdown_text(text_name(name))} | {markdown_text(what)} | {value} |" for name, what, value in legend(eom)]
    blocks += ["## Symbols", "\n".join(["| symbol | is | number |", "| --- | --- | --- |", *rows])]
    return "\n\n".join(blocks) + "\n"


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
