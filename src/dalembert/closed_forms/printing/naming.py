"""How one name is written: texts of any script as symbols in LaTeX and MathML, nothing in them
taken as markup.

`names.py` sees to it that no two names of a document are written alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import NamedTuple

from dalembert.closed_forms.printing.markup import html_text

LETTERS = dict(
    zip(
        "αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΦΨΩ",
        (
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi "
            "rho sigma tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi "
            "Omega"
        ).split(),
        strict=True,
    )
)
NAMES = {name: letter for letter, name in LETTERS.items()}
NOT_IN_LATEX = {"omicron": "o"}
LATEX_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
OURS = re.compile(r"(?P<base>q|I|m|p|r|c|h)(?P<sub>[xyz]{0,2}F?\d+)\Z")  # letter, axes, number
SIMPLE = re.compile(r"(?P<base>[^\W\d_]+)(?P<sub>[0-9]*)\Z")
BOLD = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyzΓΠτ",
        [*(chr(0x1D468 + k) for k in range(52)), *"𝜞𝜫𝝉"],
        strict=True,
    )
)  # bold italic, as characters
WORDS = frozenset(
    """abs acos and asin atan atan2 cos cosh equal exp hypot less less_equal log max maximum min minimum not or
    otherwise power select sign sin sinh sqrt tan tanh where""".split()
)  # printed as functions, never as symbols
INDICES = (*"ijk", "ij", "ijk")
ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеоѕіјрсухԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοѐё", "ABESIJKMHOPCTYXaeosijpcyxdqwABEZHIKMNOPTYXoèë"
)


class Symbol(NamedTuple):
    """A name as it is set: base and subscript under dots, beside a superscript.

    text: the base is set upright as it is; entry: of an array whose entries could be taken for
    symbols, [M]_12 for M_12;
    bold: an array whose letter is a symbol, too.
    """

    base: str
    sub: str = ""
    dots: int = 0
    text: bool = False
    over: str = ""
    entry: bool = False
    bold: bool = False

    @property
    def look(self) -> str:
        """Characters that a reader sees."""
        base = self.base if self.text else NAMES.get(self.base, self.base)
        over = f"^{self.over}_" if self.over else ""
        return look((f"[{base}]" if self.entry else base) + over + self.sub + "˙" * self.dots)


@lru_cache(maxsize=4096)
def look(text: str) -> str:
    """A text with characters that look alike made equal: wide and small forms, letters of other
    scripts.
    """
    return unicodedata.normalize("NFKC", text).translate(ALIKE)


def is_plain(name: str) -> bool:
    """Whether a text is set as it is: a word of letters, digits and underscores that is no
    function's name.
    """
    return re.fullmatch(r"[^\W\d]\w*", name) is not None and name not in WORDS


@lru_cache(maxsize=4096)
def taken_apart(name: str) -> Symbol:
    """Base and subscript of a name: 'm2', 'XX3', 'lambda_1', 'x_{1}', 'θ'; all else is text."""
    if name in WORDS:
        return Symbol(name, text=True)
    if match := re.fullmatch(OURS, name):
        return Symbol(match["base"], match["sub"])
    if match := re.fullmatch(SIMPLE, name):
        base = match["base"]
        if (
            base in NAMES
            or base in LETTERS
            or base.isascii()
            and (len(base) <= 2 or base.isupper())
        ):
            return Symbol(LETTERS.get(base, base), match["sub"])
    if "_" in name and (
        match := re.fullmatch(r"\\?([A-Za-z]+|[^\W\d_])_(\{[A-Za-z0-9,]+\}|[A-Za-z0-9]+)", name)
    ):
        base = match[1]
        if base in NAMES or base in LETTERS or len(base) == 1 and base.isascii():
            return Symbol(LETTERS.get(base, base), match[2].strip("{}"))
    if match := re.fullmatch(
        r"([A-Za-z]+)(\d+)_(\d+)", name, re.ASCII
    ):  # alpha2_1: the first of joint 2
        if match[1] in NAMES or len(match[1]) <= 2:
            return Symbol(match[1], f"{match[2]},{match[3]}")
    if name.startswith("\\") and name[1:] in NAMES:
        return Symbol(name[1:])
    return Symbol(name, text=True)


# --- LaTeX -----------------------------------------------------------------------------------------------------------


def latex_text(text: str) -> str:
    """Any text for LaTeX, with every special character escaped."""
    return "".join(LATEX_ESCAPES.get(c, c if c.isprintable() else f"<{ord(c):x}>") for c in text)


def latex_symbol(symbol: Symbol) -> str:
    """A symbol as LaTeX in mathematics."""
    base, sub, dots, text, over, entry, bold = symbol
    if text:
        base = rf"\text{{{latex_text(base)}}}"
    elif base in NAMES:
        base = NOT_IN_LATEX.get(base, rf"\{base}")
    elif len(base) > 1 and base.isalpha():
        base = rf"\mathit{{{base}}}"
    base = rf"\boldsymbol{{{base}}}" if bold else base
    base = (base, rf"\dot{{{base}}}", rf"\ddot{{{base}}}")[dots]
    base = rf"[{base}]" if entry else base
    base += rf"^{{\text{{{latex_text(over)}}}}}" if over else ""
    if not sub:
        return base
    inner = sub if sub in INDICES or not sub.isalpha() else rf"\mathrm{{{sub}}}"
    return f"{base}_{{{inner.replace('..', chr(92) + 'ldots ')}}}"


# --- MathML and HTML --------------------------------------------------------------------------------------------------


def mathml_symbol(symbol: Symbol) -> str:
    """A symbol as MathML."""
    base, sub, dots, text, over, entry, bold = symbol
    letter = NAMES.get(base, base)
    letter = "".join(BOLD.get(c, c) for c in letter) if bold else letter
    mark = f"<mtext>{html_text(base)}</mtext>" if text else f"<mi>{escape(letter)}</mi>"
    if dots:
        mark = f"<mover>{mark}<mo>{'˙' if dots == 1 else '¨'}</mo></mover>"
    mark = (
        f'<mrow><mo stretchy="false">[</mo>{mark}<mo stretchy="false">]</mo></mrow>'
        if entry
        else mark
    )
    kind = "mn" if sub.isdigit() else "mi"
    lower = "".join(
        f"<{kind}>{part}</{kind}>"
        for part in (sub if sub in INDICES else [escape(sub.replace("..", "…"))])
    )
    lower = f"<mrow>{lower}</mrow>" if sub in INDICES[3:] else lower
    upper = f"<mtext>{html_text(over)}</mtext>"
    if over:
        return f"<msubsup>{mark}{lower}{upper}</msubsup>" if sub else f"<msup>{mark}{upper}</msup>"
    return f"<msub>{mark}{lower}</msub>" if sub else mark


# --- text -------------------------------------------------------------------------------------------------------------


def text_name(name: str) -> str:
    """A name in plain text: as it is, in quotes where it could be taken for a formula."""
    return name if is_plain(name) else repr(name)


# --- indices ----------------------------------------------------------------------------------------------------------


def index(*numbers: int | str) -> str:
    """Numbers as an index: 23, or 2,10 where one has two digits; letters side by side."""
    separate = any(isinstance(k, int) and k > 9 for k in numbers)
    return ("," if separate else "").join(map(str, numbers))


def angle_index(numbers: Sequence[int], many: bool) -> str:
    """Ascending numbers of coordinates in a sum as an index: 234; with `many` coordinates 2,3 or
    2..12, as 12 is one.
    """
    if not many:
        return "".join(map(str, numbers))
    runs: list[list[int]] = []
    for k in numbers:
        if runs and runs[-1][-1] == k - 1:
            runs[-1].append(k)
        else:
            runs.append([k])
    return ",".join(
        f"{run[0]}..{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs
    )
