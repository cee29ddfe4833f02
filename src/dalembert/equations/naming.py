"""How names are written: texts of any script as symbols in LaTeX and MathML, nothing in them taken as markup."""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

LETTERS = dict(zip("αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΦΨΩ", (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega").split(), strict=True))
NAMES = {name: letter for letter, name in LETTERS.items()}
NOT_IN_LATEX = {"omicron": "o"}
LATEX_ESCAPES = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_",
                 "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
OURS = re.compile(r"(?P<base>qdd|qd|q|I|m|p|r|c|h)(?P<sub>[xyz]{0,2}F?\d+)\Z")       # letter, axes, number
SIMPLE = re.compile(r"(?P<base>[^\W\d_]+)(?P<sub>\d*)\Z")


class Symbol(NamedTuple):
    """A name taken apart: dots, base and subscript; `text` where it is to be set as it is."""

    base: str
    sub: str = ""
    dots: int = 0
    text: bool = False


def taken_apart(name: str) -> Symbol:
    """Base, subscript and dots of a name: 'm2', 'XX3', 'lambda_1', 'x_{1}', 'θ'; all else is text."""
    for end, dots in (("_ddot", 2), ("_dot", 1)):                                # a rate
        if name.endswith(end) and len(name) > len(end):
            return taken_apart(name.removesuffix(end))._replace(dots=dots)
    if ":" in name and (match := re.fullmatch(r"([cMW])((?::\d+)+)", name)):      # an entry, M:1:2
        return Symbol(match[1], index(*map(int, match[2][1:].split(":"))))
    if match := re.fullmatch(OURS, name):
        base = match["base"]
        return Symbol("q", match["sub"], len(base) - 1) if base.startswith("q") else Symbol(base, match["sub"])
    if match := re.fullmatch(SIMPLE, name):
        base = match["base"]
        if base in NAMES or base in LETTERS or base.isascii() and (len(base) <= 2 or base.isupper()):
            return Symbol(base, match["sub"])
    if "_" in name and (match := re.fullmatch(r"\\?([A-Za-z]+|[^\W\d_])_(\{[A-Za-z0-9,]+\}|[A-Za-z0-9]+)", name)):
        base = match[1]
        if base in NAMES or base in LETTERS or len(base) == 1 and base.isascii():
            return Symbol(base, match[2].strip("{}"))
    if name.startswith("\\") and name[1:] in NAMES:
        return Symbol(name[1:])
    return Symbol(name, text=True)


def latex_text(text: str) -> str:
    """Any text for LaTeX, with every special character escaped."""
    return "".join(LATEX_ESCAPES.get(c, c if c.isprintable() else f"<{ord(c):x}>") for c in text)


def latex_name(name: str) -> str:
    """A name as LaTeX in mathematics."""
    base, sub, dots, text = taken_apart(name)
    base = LETTERS.get(base, base)
    if text:
        base = rf"\text{{{latex_text(base)}}}"
    elif base in NAMES:
        base = NOT_IN_LATEX.get(base, rf"\{base}")
    elif len(base) > 1:
        base = rf"\mathit{{{base}}}"
    base = (base, rf"\dot{{{base}}}", rf"\ddot{{{base}}}")[dots]
    if not sub:
        return base
    inner = sub if sub.isdigit() or len(sub) == 1 or not sub.isalpha() else rf"\mathrm{{{sub}}}"
    return f"{base}_{{{inner}}}"


def mathml_name(name: str) -> str:
    """A name as MathML."""
    base, sub, dots, text = taken_apart(name)
    mark = f"<mtext>{html_text(base)}</mtext>" if text else f"<mi>{escape(NAMES.get(base, base))}</mi>"
    if dots:
        mark = f'<mover>{mark}<mo>{"˙" if dots == 1 else "¨"}</mo></mover>'
    return f"<msub>{mark}<mi>{escape(sub)}</mi></msub>" if sub else mark


def html_text(text: str) -> str:
    """Any text for HTML; characters that cannot be shown are spelled out."""
    return escape("".join(c if c.isprintable() else f"<{ord(c):x}>" for c in text))


def text_name(name: str) -> str:
    """A name in plain text: as it is, in quotes where it could be taken for a formula."""
    if re.fullmatch(r"[^\W\d]\w*", name):
        return name
    base, sub, _, is_text = taken_apart(name)
    return repr(name) if is_text or ":" not in name else base + sub.replace(",", "_")


def index(*numbers: int) -> str:
    """Numbers as an index: 23, or 2,10 where one has two digits."""
    return ("" if max(numbers, default=0) < 10 else ",").join(map(str, numbers))
