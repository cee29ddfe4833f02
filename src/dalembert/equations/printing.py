"""Forms as text, LaTeX and MathML: one class per target, with the same small set of pieces."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from dalembert.equations.forms import SMALL, Call, Cosine, Name, Sum, Term, angle_sum
from dalembert.equations.naming import index, latex_name, mathml_name, text_name

RELATIONS = {"less": "<", "less_equal": "<=", "equal": "=", "and": "and", "or": "or"}
DIGITS = 6      # significant, of numbers that are no small fractions


def decimal(x: Any, digits: int) -> str:
    """A number in few digits; exactly where these suffice."""
    text = f"{float(x):.{digits}g}"
    return text if "e" not in text else f"{float(x):.{digits - 1}e}"


ONE_CALL = re.compile(r"\w+\([^()]*\)(\^\d+)?")      # a function of something, to a power


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
        below = [(f, -e) for f, e in term.factors if e < 0]
        alone = len(below) == 1 and isinstance(below[0][0], Sum) and below[0][1] == 1      # needs no parentheses of its own
        under = [self.sum(below[0][0])] if alone else [self.factor(f, e) for f, e in below]
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
        """A power of a factor."""
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
        args = [self.sum(a) for a in factor.args]
        if factor.op == "sqrt":
            return self.power(self.root(args[0]), power)
        if factor.op == "power":                                 # with an exponent that is no whole number
            base = factor.args[0].terms
            simple = len(base) == 1 and base[0].number == 1 and [e for _, e in base[0].factors] == [1]
            whole = self.power(args[0] if simple else self.parentheses(args[0]), args[1])
            return whole if power == 1 else self.power(self.parentheses(whole), power)
        return self.power(self.call(factor.op, args), power)

    def short(self, angle: Sequence[tuple[Any, int]]) -> str | None:
        """The index of an angle that is a plain sum of numbered coordinates: 23 for q2 + q3."""
        if all(factor == 1 and name in self.numbers for name, factor in angle):
            return index(*(self.numbers[name] for name, _ in angle))
        return None

    def angle(self, angle: Sequence[tuple[Any, int]]) -> str:
        """An angle as a sum."""
        return self.sum(angle_sum(angle))

    def applied(self, letter: str, arguments: str, factor: str = "") -> str:
        """A quantity as a function, and what it is multiplied by: M(q) qdd."""
        function = self.label(letter) + (self.parentheses(self.listed([self.name(x) for x in arguments.split()]))
                                         if arguments else "")
        return self.product([function, self.name(factor)] if factor else [function])

    def equation(self, terms: Sequence[str], right: str) -> str:
        """terms = right."""
        return f"{self.joined([('+', term) for term in terms])} = {right}"

    def listed(self, items: Sequence[str]) -> str:
        """Items with commas."""
        return ", ".join(items)

    @abstractmethod
    def joined(self, terms: Sequence[tuple[str, str]]) -> str:
        """Signed terms as a sum."""

    @abstractmethod
    def number(self, text: str) -> str:
        """A number, given as text."""

    @abstractmethod
    def name(self, name: str) -> str:
        """A symbol."""

    @abstractmethod
    def product(self, factors: Sequence[str]) -> str:
        """Factors side by side."""

    @abstractmethod
    def fraction(self, over: str, under: str) -> str:
        """A quotient."""

    @abstractmethod
    def power(self, base: str, exponent: int | str) -> str:
        """A power; the base itself for exponent 1."""

    @abstractmethod
    def parentheses(self, inner: str) -> str:
        """A formula in parentheses."""

    @abstractmethod
    def root(self, inner: str) -> str:
        """A square root."""

    @abstractmethod
    def call(self, op: str, args: Sequence[str]) -> str:
        """A function, relation or condition by its name in `dalembert.expr`."""

    @abstractmethod
    def cosine(self, factor: Cosine, power: int) -> str:
        """A power of a cosine or sine."""

    @abstractmethod
    def label(self, base: str, *numbers: int) -> str:
        """The left side of an equation: M_12, c_123, g_1, T."""


def _joined(terms: Sequence[tuple[str, str]]) -> str:
    text = " ".join(f"{sign} {term}" for sign, term in terms)
    return text[2:] if text.startswith("+ ") else "-" + text[2:]


class TextPrinter(Printer):
    """Plain text: 2 MX3 a2 c2 c23 + 1/2 (XX5 - ZZ6) sin(2 q5)."""

    def joined(self, terms):
        return _joined(terms)

    def number(self, text):
        return text

    def name(self, name):
        return text_name(name)

    def product(self, factors):
        return " ".join(factors)

    def fraction(self, over, under):
        return f"{over}/{under}" if " " not in under or ONE_CALL.fullmatch(under) else f"{over}/({under})"

    def power(self, base, exponent):
        return base if exponent == 1 else f"{base}^{exponent}" if str(exponent).isalnum() else f"{base}^({exponent})"

    def parentheses(self, inner):
        return f"({inner})"

    def root(self, inner):
        return f"sqrt({inner})"

    def call(self, op, args):
        if op in RELATIONS:
            return f"({args[0]} {RELATIONS[op]} {args[1]})"
        return f"{'where' if op == 'select' else op}({', '.join(args)})"

    def cosine(self, factor, power):
        short = self.short(factor.angle)
        if short is not None:
            return self.power(factor.kind + short.replace(",", "_"), power)
        return self.power(f"{'cos' if factor.kind == 'c' else 'sin'}({self.angle(factor.angle)})", power)

    def label(self, base, *numbers):
        return {r"\Pi": "U", r"\tau": "tau"}.get(base, base) + index(*numbers).replace(",", "_")


class LatexPrinter(Printer):
    """LaTeX in mathematics."""

    OPERATORS = {"asin": r"\arcsin", "acos": r"\arccos", "atan2": r"\operatorname{atan2}", "exp": r"\exp", "log": r"\ln",
                 "sign": r"\operatorname{sign}", "abs": r"\operatorname{abs}", "min": r"\min", "max": r"\max",
                 "sinh": r"\sinh", "cosh": r"\cosh", "tanh": r"\tanh", "sin": r"\sin", "cos": r"\cos", "tan": r"\tan"}

    RELATIONS = {"less": " < ", "less_equal": r" \le ", "equal": " = ", "and": r" \land ", "or": r" \lor "}

    def joined(self, terms):
        return _joined(terms)

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
        if op == "select":
            condition, yes, no = args
            return rf"\begin{{cases}} {yes} & {condition} \\ {no} & \text{{otherwise}} \end{{cases}}"
        if op in RELATIONS:
            return self.RELATIONS[op].join(args)
        operator = self.OPERATORS.get(op, rf"\operatorname{{{op}}}".replace("_", r"\_"))
        return rf"{operator}({', '.join(args)})"

    def cosine(self, factor, power):
        short = self.short(factor.angle)
        if short is not None:
            return self.power(f"{factor.kind}_{{{short}}}", power)
        function = self.power(r"\cos" if factor.kind == "c" else r"\sin", power)
        (first, factor_of_first), *more = factor.angle
        alone = isinstance(first, str) and factor_of_first == 1 and not more
        return f"{function} {self.name(first)}" if alone else rf"{function}({self.angle(factor.angle)})"

    def label(self, base, *numbers):
        if "%s" in base:                                         # \partial H / \partial q_{%s}
            return base % index(*numbers)
        return f"{base}_{{{index(*numbers)}}}" if numbers else base


class MathmlPrinter(Printer):
    """MathML (presentation), without the <math> around it."""

    def listed(self, items):
        return "<mo>,</mo>".join(items)

    def equation(self, terms, right):
        return f"<mrow>{self.joined([('+', term) for term in terms])}<mo>=</mo>{right}</mrow>"

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
        mark = exponent if isinstance(exponent, str) else f"<mn>{exponent}</mn>"
        if exponent != 1 and base.startswith("<msub>") and base.count("<msub>") == 1 and base.endswith("</msub>"):
            return f"<msubsup>{base[6:-7]}<mrow>{mark}</mrow></msubsup>"
        return base if exponent == 1 else f"<msup><mrow>{base}</mrow><mrow>{mark}</mrow></msup>"

    def parentheses(self, inner):
        return f'<mrow><mo stretchy="false">(</mo>{inner}<mo stretchy="false">)</mo></mrow>'

    def root(self, inner):
        return f"<msqrt>{inner}</msqrt>"

    def call(self, op, args):
        if op in RELATIONS:
            return f"<mrow>{args[0]}<mo>{escape(RELATIONS[op])}</mo>{args[1]}</mrow>"
        return f"<mi>{'where' if op == 'select' else escape(op)}</mi>" + self.parentheses(self.listed(args))

    def cosine(self, factor, power):
        short = self.short(factor.angle)
        if short is not None and power == 1:
            return f"<msub><mi>{factor.kind}</mi><mn>{short}</mn></msub>"
        if short is not None:
            return f"<msubsup><mi>{factor.kind}</mi><mn>{short}</mn><mn>{power}</mn></msubsup>"
        function = self.power(f"<mi>{'cos' if factor.kind == 'c' else 'sin'}</mi>", power)
        return function + self.parentheses(self.angle(factor.angle))

    def label(self, base, *numbers):
        mark = {r"\Pi": "Π", r"\tau": "τ"}.get(base, base)
        return f"<msub><mi>{mark}</mi><mn>{index(*numbers)}</mn></msub>" if numbers else f"<mi>{mark}</mi>"
