"""Forms as text, LaTeX and MathML: one class per target, with the same small set of pieces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from dalembert.equations.forms import SMALL, Call, Cosine, Name, Sum, Term
from dalembert.equations.naming import index, latex_name, mathml_name, text_name

DIGITS = 6      # significant, of numbers that are no small fractions


def decimal(x: Any, digits: int) -> str:
    """A number in few digits; exactly where these suffice."""
    text = f"{float(x):.{digits}g}"
    return text if "e" not in text else f"{float(x):.{digits - 1}e}"


class Printer(ABC):
    """Writes forms; `numbers` gives the number of a coordinate's name in angles such as c23."""

    def __init__(self, numbers: Mapping[str, int], digits: int = DIGITS):
        self.numbers, self.digits = numbers, digits
        self._known: dict[tuple[Any, int], str] = {}

    def sum(self, form: Sum) -> str:
        """A sum as one formula."""
        return self.joined(self.signed_terms(form)) if form.terms else self.number("0")

    def signed_terms(self, form: Sum) -> list[tuple[str, str]]:
        """(sign, term) of each term."""
        return [("-" if t.number < 0 else "+", self.term(t)) for t in form.terms]

    def term(self, term: Term) -> str:
        """A term without its sign."""
        over = [self.factor(f, e) for f, e in term.factors if e > 0]
        under = [self.factor(f, -e) for f, e in term.factors if e < 0]
        size = abs(term.number)
        top, bottom = "", ""
        if isinstance(size, Fraction) and size.denominator <= SMALL:
            top, bottom = str(size.numerator), str(size.denominator)
        elif size != 1:
            top = str(size) if isinstance(size, int) else decimal(size, self.digits)
        numerator = ([self.number(top)] if top not in ("", "1") else []) + over
        denominator = ([self.number(bottom)] if bottom else []) + under
        if not denominator:
            return self.product(numerator or [self.number("1")])
        if not under and over:                                    # 1/2 x, not x/2: the coefficient stays in front
            return self.product([self.fraction(self.number(top), self.number(bottom)), *over])
        return self.fraction(self.product(numerator or [self.number("1")]), self.product(denominator))

    def factor(self, factor: Any, power: int) -> str:
        found = self._known.get((factor, power))
        if found is None:
            found = self._known[factor, power] = self._factor(factor, power)
        return found

    def _factor(self, factor: Any, power: int) -> str:
        if isinstance(factor, Name):
            return self.power(self.name(factor.name), power)
        if isinstance(factor, Sum):
            return self.power(self.parentheses(self.sum(factor)), power)
        if isinstance(factor, Cosine):
            return self.cosine(factor, power)
        assert isinstance(factor, Call)
        if factor.op == "sqrt":
            return self.power(self.root(self.sum(factor.args[0])), power)
        return self.power(self.call(factor.op, [self.sum(a) for a in factor.args]), power)

    def short(self, angle: Sequence[tuple[str, int]]) -> str | None:
        """The index of an angle that is a plain sum of numbered coordinates: 23 for q2 + q3."""
        if all(factor == 1 and name in self.numbers for name, factor in angle):
            return index(*(self.numbers[name] for name, _ in angle))
        return None

    def angle(self, angle: Sequence[tuple[str, int]]) -> str:
        return self.sum(Sum(tuple(Term(k, ((Name(name), 1),)) for name, k in angle)))

    @abstractmethod
    def joined(self, terms: Sequence[tuple[str, str]]) -> str: ...

    @abstractmethod
    def number(self, text: str) -> str: ...

    @abstractmethod
    def name(self, name: str) -> str: ...

    @abstractmethod
    def product(self, factors: Sequence[str]) -> str: ...

    @abstractmethod
    def fraction(self, over: str, under: str) -> str: ...

    @abstractmethod
    def power(self, base: str, exponent: int) -> str: ...

    @abstractmethod
    def parentheses(self, inner: str) -> str: ...

    @abstractmethod
    def root(self, inner: str) -> str: ...

    @abstractmethod
    def call(self, op: str, args: Sequence[str]) -> str: ...

    @abstractmethod
    def cosine(self, factor: Cosine, power: int) -> str: ...

    @abstractmethod
    def label(self, base: str, *numbers: int) -> str:
        """The left side of an equation: M_12, c_123, g_1, T."""


class TextPrinter(Printer):
    """Plain text: 2 MX3 a2 c2 c23 + 1/2 (XX5 - ZZ6) sin(2 q5)."""

    def joined(self, terms):
        text = " ".join(f"{sign} {term}" for sign, term in terms)
        return text[2:] if text.startswith("+ ") else "-" + text[2:]

    def number(self, text):
        return text

    def name(self, name):
        return text_name(name)

    def product(self, factors):
        return " ".join(factors)

    def fraction(self, over, under):
        return f"{over}/{under}" if " " not in under else f"{over}/({under})"

    def power(self, base, exponent):
        return base if exponent == 1 else f"{base}^{exponent}"

    def parentheses(self, inner):
        return f"({inner})"

    def root(self, inner):
        return f"sqrt({inner})"

    def call(self, op, args):
        return f"{op}({', '.join(args)})"

    def cosine(self, factor, power):
        short = self.short(factor.angle)
        if short is not None:
            return self.power(factor.kind + short.replace(",", "_"), power)
        return self.power(f"{'cos' if factor.kind == 'c' else 'sin'}({self.angle(factor.angle)})", power)

    def label(self, base, *numbers):
        return base.replace(r"\Pi", "U") + index(*numbers).replace(",", "_")


class LatexPrinter(Printer):
    """LaTeX in mathematics."""

    OPERATORS = {"asin": r"\arcsin", "acos": r"\arccos", "atan2": r"\operatorname{atan2}", "exp": r"\exp", "log": r"\ln",
                 "sign": r"\operatorname{sign}", "abs": r"\operatorname{abs}", "min": r"\min", "max": r"\max",
                 "sinh": r"\sinh", "cosh": r"\cosh", "tanh": r"\tanh", "sin": r"\sin", "cos": r"\cos", "tan": r"\tan"}

    def joined(self, terms):
        text = " ".join(f"{sign} {term}" for sign, term in terms)
        return text[2:] if text.startswith("+ ") else "-" + text[2:]

    def number(self, text):
        mantissa, _, exponent = text.partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa

    def name(self, name):
        return latex_name(name)

    def product(self, factors):
        return r" \, ".join(factors)

    def fraction(self, over, under):
        return rf"\tfrac{{{over}}}{{{under}}}"

    def power(self, base, exponent):
        return base if exponent == 1 else f"{base}^{{{exponent}}}"

    def parentheses(self, inner):
        return rf"({inner})"

    def root(self, inner):
        return rf"\sqrt{{{inner}}}"

    def call(self, op, args):
        operator = self.OPERATORS.get(op, rf"\operatorname{{{op}}}".replace("_", r"\_"))
        return rf"{operator}({', '.join(args)})"

    def cosine(self, factor, power):
        short = self.short(factor.angle)
        if short is not None:
            return self.power(f"{factor.kind}_{{{short}}}", power)
        function = r"\cos" if factor.kind == "c" else r"\sin"
        return self.power(function, power) + rf"({self.angle(factor.angle)})"

    def label(self, base, *numbers):
        return f"{base}_{{{index(*numbers)}}}" if numbers else base


class MathmlPrinter(Printer):
    """MathML (presentation), without the <math> around it."""

    def joined(self, terms):
        marks = {"+": "<mo>+</mo>", "-": "<mo>−</mo>"}
        text = "".join(marks[sign] + f"<mrow>{term}</mrow>" for sign, term in terms)
        return text.removeprefix(marks["+"])

    def number(self, text):
        mantissa, _, exponent = text.partition("e")
        power = f"<mo>·</mo><msup><mn>10</mn><mn>{int(exponent)}</mn></msup>" if exponent else ""
        return f"<mn>{mantissa}</mn>{power}"

    def name(self, name):
        return mathml_name(name)

    def product(self, factors):
        return '<mspace width="0.17em"/>'.join(factors)

    def fraction(self, over, under):
        return f'<mfrac displaystyle="false"><mrow>{over}</mrow><mrow>{under}</mrow></mfrac>'

    def power(self, base, exponent):
        return base if exponent == 1 else f"<msup><mrow>{base}</mrow><mn>{exponent}</mn></msup>"

    def parentheses(self, inner):
        return f'<mrow><mo stretchy="false">(</mo>{inner}<mo stretchy="false">)</mo></mrow>'

    def root(self, inner):
        return f"<msqrt>{inner}</msqrt>"

    def call(self, op, args):
        return f"<mi>{escape(op)}</mi>" + self.parentheses("<mo>,</mo>".join(args))

    def cosine(self, factor, power):
        short = self.short(factor.angle)
        if short is not None and power == 1:
            return f"<msub><mi>{factor.kind}</mi><mn>{short}</mn></msub>"
        if short is not None:
            return f"<msubsup><mi>{factor.kind}</mi><mn>{short}</mn><mn>{power}</mn></msubsup>"
        function = self.power(f"<mi>{'cos' if factor.kind == 'c' else 'sin'}</mi>", power)
        return function + self.parentheses(self.angle(factor.angle))

    def label(self, base, *numbers):
        mark = base.replace(r"\Pi", "Π")
        return f"<msub><mi>{mark}</mi><mn>{index(*numbers)}</mn></msub>" if numbers else f"<mi>{mark}</mi>"
