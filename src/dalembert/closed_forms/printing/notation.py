"""Forms as text, LaTeX and MathML: a single writer, and a notation for each target."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

from dalembert.closed_forms.algebra.common_numbers import SMALL
from dalembert.closed_forms.algebra.ring import plain
from dalembert.closed_forms.algebra.sums import (
    ENDLESS,
    Call,
    Cosine,
    Name,
    Sum,
    Term,
    angle_sum,
    inner_forms,
    sole_factor,
)
from dalembert.closed_forms.printing.names import ENTRY, Names, entry_of
from dalembert.closed_forms.printing.naming import index, latex_symbol, mathml_symbol

RELATIONS = {"less": "<", "less_equal": "<=", "equal": "=", "and": "and", "or": "or"}


class Notation(NamedTuple):
    """Pieces with which a target writes forms; operands take the place of %s."""

    name: Callable[[Names, str], str]  # a symbol
    label: Callable[..., str]  # of names, a letter and an index: M_12, c_23
    whole: Callable[..., str]  # of names, a letter, dots: a matrix or vector
    short_angle: Callable[[Names, str, Sequence[str]], str]  # "c" or "s" of numbered coordinates
    number: Callable[[str], str]  # from its text
    fraction: Callable[[str, str], str]
    power: Callable[[str, Any], str]  # exponent: a whole number, not 1, or a formula
    call: Callable[
        [str, Sequence[str]], str
    ]  # a function, relation or condition by its name in `dalembert.expr`
    cosine: Callable[
        [str, str, bool, int], str
    ]  # "cos" or "sin", angle, whether it is a name alone, exponent
    signs: Mapping[str, tuple[str, str]]  # before the first term, before others
    summand: str = "%s"
    times: str = " "
    comma: str = ", "
    equation: str = "%s = %s"
    parentheses: str = "(%s)"
    root: str = "sqrt(%s)"
    stacked: bool = True  # the line of a fraction does for parentheses


class Printer:
    """Writes forms with the names of a document; names.numbers: coordinates in angles such as c23.

    The numbers of one formula are written in one way: as fractions, or, where one of them has a
    denominator above SMALL, as `decimals`; what no decimal is (1/3) stays a fraction.
    """

    def __init__(self, notation: Notation, names: Names, digits: int, decimals: bool = False):
        self.notation = notation
        self.names = names
        self.digits = digits
        self.decimals = decimals
        self.labels: dict[str, str] = {}  # letter of entries -> how these are to be written
        self._factors, self._sums = names.written(notation, digits, decimals)

    def sum(self, form: Sum) -> str:
        """A sum as one formula."""
        return self.joined(self.signed_terms(form))

    def signed_terms(self, form: Sum) -> list[tuple[str, str]]:
        """(sign, term) of each term."""
        while isinstance(inner := sole_factor(form), Sum):  # ((a + b)) is a + b
            form = inner
        if form not in self._sums:
            plain_numbers = self.decimals or all(map(self._is_fraction, _numbers(form)))
            writer = self if plain_numbers else self._with_decimals
            self._sums[form] = [("-" if t.number < 0 else "+", writer.term(t)) for t in form.terms]
        return self._sums[form]

    @cached_property
    def _with_decimals(self) -> Printer:
        other = Printer(self.notation, self.names, self.digits, decimals=True)
        other.labels = self.labels
        return other

    def _is_fraction(self, x: Any) -> bool:
        """Whether a number is written as whole numbers."""
        if not isinstance(x, (int, Fraction)):
            return False
        if self.names.are_integrals:
            return True
        largest = (
            ENDLESS
            if 10 ** x.denominator.bit_length() % x.denominator
            else 1
            if self.decimals
            else SMALL
        )
        return x.denominator <= largest

    def joined(self, terms: Sequence[tuple[str, str]]) -> str:
        """Signed terms as a sum."""
        signs = self.notation.signs
        summand = self.notation.summand
        return "".join(
            signs[sign][k > 0] + summand % term for k, (sign, term) in enumerate(terms)
        ) or (self.notation.number("0"))

    def term(self, term: Term) -> str:
        """A term without its sign."""
        times = self.notation.times
        number = self.notation.number
        fraction = self.notation.fraction
        over = [self.factor(f, e) for f, e in term.factors if e > 0]
        below = [(f, -e) for f, e in term.factors if e < 0]
        size = plain(abs(term.number))
        top, bottom = "", ""
        if size != 1:
            top, _, bottom = (
                str(Fraction(size)) if self._is_fraction(size) else self._decimal(size)
            ).partition("/")
        alone = (
            len(below) == 1
            and isinstance(below[0][0], Sum)
            and below[0][1] == 1
            and bottom in ("", "1")
        )
        under = (
            [self.sum(below[0][0])] if alone else [self.factor(f, e) for f, e in below]
        )  # alone: no parentheses
        if bottom and over and not under:  # 1/2 x, not x/2: the coefficient stays in front
            return times.join([fraction(number(top), number(bottom)), *over])
        above = [f for f, e in term.factors if e > 0 for _ in range(e)]
        if (
            under
            and self.notation.stacked
            and top in ("", "1")
            and len(above) == 1
            and isinstance(above[0], Sum)
        ):
            over = [self.sum(above[0])]  # no parentheses above a line
        numerator = times.join(
            ([number(top)] if top not in ("", "1") else []) + over or [number("1")]
        )
        denominator = times.join(([number(bottom)] if bottom else []) + under)
        return fraction(numerator, denominator) if denominator else numerator

    def _decimal(self, x: Any) -> str:
        """A number in few digits; exactly where these suffice."""
        mantissa, _, exponent = f"{float(x):.{self.digits}g}".partition("e")
        return f"{mantissa}e{int(exponent)}" if exponent else mantissa

    def factor(self, factor: Any, power: int) -> str:
        """A power of a factor."""
        text = self._factors.get((factor, power))
        if text is None:
            text = self._factors[factor, power] = self._written(factor, power)
        return text

    def _written(self, factor: Any, power: int) -> str:
        if isinstance(factor, Cosine):
            return self._cosine(factor, power)
        if not isinstance(factor, Call) or factor.op != "power":
            return self._power(self._base(factor), power)
        # a power whose exponent is no whole number
        base, exponent = factor.args
        sole = sole_factor(base)
        text = self.factor(sole or base, 1)
        if isinstance(sole, Cosine) or isinstance(sole, Call) and sole.op == "power":
            text = self.notation.parentheses % text
        whole = self._power(text, self.sum(exponent))
        return whole if power == 1 else self._power(self.notation.parentheses % whole, power)

    def _base(self, factor: Any) -> str:
        """A factor, in parentheses where a power needs them."""
        if isinstance(factor, Name):
            return self.name(factor.name)
        if isinstance(factor, Sum):
            return self.notation.parentheses % self.sum(factor)
        args = [self.sum(a) for a in factor.args]
        return (
            self.notation.root % args[0]
            if factor.op == "sqrt"
            else self.notation.call(factor.op, args)
        )

    def _power(self, base: str, exponent: Any) -> str:
        return base if exponent == 1 else self.notation.power(base, exponent)

    def _cosine(self, factor: Cosine, power: int) -> str:
        angle = factor.angle
        if all(k == 1 and name in self.names.numbers for name, k in angle):  # 23 for q2 + q3
            return self._power(
                self.notation.short_angle(self.names, factor.kind, [name for name, _ in angle]),
                power,
            )
        total = angle_sum(angle)
        alone = isinstance(sole_factor(total), Name)
        return self.notation.cosine(
            "cos" if factor.kind == "c" else "sin", self.sum(total), alone, power
        )

    def name(self, name: str) -> str:
        """A symbol, part or entry."""
        if name.startswith(ENTRY) and self.labels:
            letter, numbers = entry_of(name)
            return self.label(self.labels.get(letter, letter), *numbers)
        return self.notation.name(self.names, name)

    def label(self, letter: str, *numbers: int | str) -> str:
        """The left side of an equation: M_12, c_123, g_1, T."""
        return self.notation.label(self.names, letter, *numbers)

    def whole(self, letter: str) -> str:
        """A matrix or vector."""
        return self.notation.whole(self.names, letter)


def _numbers(form: Sum) -> Iterator[Any]:
    """All numbers of a form."""
    for number, factors in form.terms:
        yield number
        for factor, _ in factors:
            for inner in inner_forms(factor):
                yield from _numbers(inner)


# --- text: 2 MX3 a2 c2 c23 + 1/2 (XX5 - ZZ6) sin(2 q5) ----------------------------------------------------------------

ONE_RELATION = re.compile(r"\([^()]*\)")
ONE_CALL = re.compile(r"\w+\([^()]*\)(\^\d+)?")  # a function of something, to a power


def _text_call(op: str, args: Sequence[str]) -> str:
    if op in RELATIONS:
        return f"({args[0]} {RELATIONS[op]} {args[1]})"
    if op == "select":
        condition, *values = args
        alone = condition[1:-1] if ONE_RELATION.fullmatch(condition) else condition
        return f"where({', '.join([alone, *values])})"
    return f"{op}({', '.join(args)})"


def _text_power(base: str, exponent: Any) -> str:
    return (
        base
        if exponent == 1
        else f"{base}^{exponent}"
        if str(exponent).isalnum()
        else f"{base}^({exponent})"
    )


TEXT = Notation(
    name=Names.text,
    number=str,
    label=Names.text_label,
    whole=lambda names, letter, dots=0: names.text_label(letter),
    short_angle=lambda names, kind, coordinates: names.angle(kind, coordinates)[1],
    fraction=lambda over, under: (
        f"{over}/{under}" if " " not in under or ONE_CALL.fullmatch(under) else f"{over}/({under})"
    ),
    power=_text_power,
    call=_text_call,
    cosine=lambda function, angle, alone, power: _text_power(f"{function}({angle})", power),
    signs={"+": ("", " + "), "-": ("-", " - ")},
    stacked=False,
)


# --- LaTeX in mathematics ---------------------------------------------------------------------------------------------

OPERATORS = {
    "asin": r"\arcsin",
    "acos": r"\arccos",
    "log": r"\ln",
    **{op: rf"\{op}" for op in ("exp", "min", "max", "sinh", "cosh", "tanh", "sin", "cos", "tan")},
}
BARS = {"abs": r"\lvert %s \rvert", "not": r"\lnot (%s)"}
LATEX_RELATIONS = {
    "less": " < ",
    "less_equal": r" \le ",
    "equal": " = ",
    "and": r" \land ",
    "or": r" \lor ",
}


def _latex_number(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _latex_label(names: Names, letter: str, *numbers: int | str) -> str:
    if "%s" in letter:
        return letter % index(*numbers)  # \partial H / \partial q_{%s}
    return (
        latex_symbol(names.label(letter, *numbers))
        if " " not in letter
        else f"{letter}_{{{index(*numbers)}}}"
    )


def _latex_call(op: str, args: Sequence[str]) -> str:
    if op == "select":
        condition, yes, no = args
        return rf"\begin{{cases}} {yes} & {condition} \\ {no} & \text{{otherwise}} \end{{cases}}"
    if op in LATEX_RELATIONS:
        return (
            LATEX_RELATIONS[op].join(f"({a})" for a in args)
            if op in ("and", "or")
            else LATEX_RELATIONS[op].join(args)
        )
    if op in BARS:
        return BARS[op] % args[0]
    operator = OPERATORS.get(op, rf"\operatorname{{{op}}}".replace("_", r"\_"))
    return rf"{operator}({', '.join(args)})"


LATEX = Notation(
    name=lambda names, name: latex_symbol(names.symbol(name)),
    number=_latex_number,
    label=_latex_label,
    whole=lambda names, letter, dots=0: latex_symbol(names.whole(letter)._replace(dots=dots)),
    short_angle=lambda names, kind, coordinates: latex_symbol(names.angle(kind, coordinates)[0]),
    fraction=lambda over, under: rf"\{'t' * (over + under).isdigit()}frac{{{over}}}{{{under}}}",
    power=lambda base, exponent: f"{base}^{{{exponent}}}",
    call=_latex_call,
    cosine=lambda function, angle, alone, power: (
        rf"\{function}"
        + (f"^{{{power}}}" if power != 1 else "")
        + (f" {angle}" if alone else f"({angle})")
    ),
    signs=TEXT.signs,
    times=r" \, ",
    root=r"\sqrt{%s}",
)


# --- MathML (presentation), without the <math> around it --------------------------------------------------------------

PARENTHESES = '<mrow><mo stretchy="false">(</mo>%s<mo stretchy="false">)</mo></mrow>'


def _mathml_number(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    return f"<mn>{mantissa}</mn>" + (
        f"<mo>·</mo><msup><mn>10</mn><mn>{int(exponent)}</mn></msup>" if exponent else ""
    )


def _mathml_power(base: str, exponent: Any) -> str:
    mark = f"<mrow>{exponent}</mrow>" if isinstance(exponent, str) else f"<mn>{exponent}</mn>"
    if base.startswith("<msub>") and base.count("<msub>") == 1 and base.endswith("</msub>"):
        return f"<msubsup>{base[6:-7]}{mark}</msubsup>"
    return f"<msup><mrow>{base}</mrow>{mark}</msup>"


def _mathml_call(op: str, args: Sequence[str]) -> str:
    if op in ("and", "or"):
        args = [PARENTHESES % a for a in args]
    if op in RELATIONS:
        return f"<mrow>{args[0]}<mo>{escape(RELATIONS[op])}</mo>{args[1]}</mrow>"
    if op == "abs":
        return f'<mrow><mo stretchy="false">|</mo>{args[0]}<mo stretchy="false">|</mo></mrow>'
    return (
        f"<mi>{'where' if op == 'select' else escape(op)}</mi>"
        + PARENTHESES % "<mo>,</mo>".join(args)
    )


MATHML = Notation(
    name=lambda names, name: mathml_symbol(names.symbol(name)),
    number=_mathml_number,
    label=lambda names, letter, *numbers: mathml_symbol(names.label(letter, *numbers)),
    whole=lambda names, letter, dots=0: mathml_symbol(names.whole(letter)._replace(dots=dots)),
    short_angle=lambda names, kind, coordinates: mathml_symbol(names.angle(kind, coordinates)[0]),
    fraction=lambda over, under: (
        f'<mfrac displaystyle="false"><mrow>{over}</mrow><mrow>{under}</mrow></mfrac>'
    ),
    power=_mathml_power,
    call=_mathml_call,
    cosine=lambda function, angle, alone, power: (
        (f"<mi>{function}</mi>" if power == 1 else _mathml_power(f"<mi>{function}</mi>", power))
        + PARENTHESES % angle
    ),
    signs={"+": ("", "<mo>+</mo>"), "-": ("<mo>−</mo>",) * 2},
    summand="<mrow>%s</mrow>",
    times='<mspace width="0.17em"/>',
    comma="<mo>,</mo>",
    equation="<mrow>%s<mo>=</mo>%s</mrow>",
    parentheses=PARENTHESES,
    root="<msqrt>%s</msqrt>",
)
