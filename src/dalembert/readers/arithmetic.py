"""Arithmetic as text: "pi/2", "2*l1 + 0.05", "sqrt(3)/2" to exact numbers, angles and expressions,
and back.

    0.25  3  1e-3      exact decimals; float(0.1) is the double nearest to 0.1
    + - * / **  ( )    as in Python
    pi                 rational multiples, and sines and cosines of those of pi/12, are exact; elsewhere a float
    sqrt(x)  sin(x)    and the other functions of `dalembert.expr`
    l1  l[0]           symbols of the current graph; symbol("any text") where the name is no plain one
    < <= > >= & | ~    conditions for where(condition, a, b)

The text is hostile input: its length, its nesting and the size of every exact number in between are
bounded.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

from dalembert import expr
from dalembert.expr import Expr, constant, symbol, to_text
from dalembert.expr.graph import COMPARISONS, LOGIC
from dalembert.model.numbers import DECIMAL, Literal, Number, as_float, checked, is_symbolic
from dalembert.spatial.angles import PiMultiple, cos_sin, snapped

MAX_TEXT = 10_000  # characters of one number; the longest we met has some hundred
MAX_NESTING = 100  # parentheses, calls and signs inside one another: three Python frames each
MAX_BITS = 4096  # of numerator and denominator; a decimal literal has at most 1400
MAX_DIGITS = (
    15  # after the point of an exact number written as a decimal; longer ones stay fractions
)
# relative; math.pi/2 or 2*math.pi/3 computed in floats differ less from the multiple of pi
ROUNDING = 1e-15

TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<name>[^\W\d]\w*(?:\[[0-9]+(?:,\ [0-9]+)*\])?)
  | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<mark>\*\*|<=|>=|[-+*/()<>,|&~])
)""",
    re.VERBOSE,
)

PRODUCT, INVERT, POWER = 5, 6, 7
INFIX: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {  # binding strength and meaning
    "<": (1, operator.lt),
    "<=": (1, operator.le),
    ">": (1, operator.gt),
    ">=": (1, operator.ge),
    "|": (2, operator.or_),
    "&": (3, operator.and_),
    "+": (4, operator.add),
    "-": (4, operator.sub),
    "*": (PRODUCT, operator.mul),
    "/": (PRODUCT, operator.truediv),
    "**": (POWER, operator.pow),
}
FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = (
    {  # number of arguments and meaning
        name: (1, getattr(expr, name))
        for name in (
            "sqrt",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "exp",
            "log",
            "sinh",
            "cosh",
            "tanh",
            "sign",
        )
    }
    | {name: (2, getattr(expr, name)) for name in ("atan2", "hypot", "minimum", "maximum", "equal")}
    | {
        "abs": (1, expr.absolute),
        "where": (3, expr.where),
        "float": (1, lambda x: constant(float(x))),
    }
)
PI = ("pi", "\u03c0")
NO_NUMBERS = {
    "nan",
    "inf",
    "infinity",
    "none",
    "null",
    "true",
    "false",
}  # in any letters: no symbols either
SUPERSCRIPTS = frozenset("\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079")
HINTS = {
    "\u00b0": "angles are in radians, 90 degrees are pi/2",
    "\u221e": "numbers are finite",
    **dict.fromkeys("\u2212\u2013\u2014\ufe63\uff0d", "write -"),
    **dict.fromkeys("\u00d7\u00b7\u22c5", "write *"),
    "\u00f7": "write /",
    "^": "write ** for a power",
    "$": "nothing is expanded",
    "{": "nothing is expanded",
}


# --- from text ------------------------------------------------------------------------------------------------------


def parse_number(text: str, where: str = "number") -> Number:
    """The number that a text of arithmetic stands for.

    Parameters
    ----------
    text : str
    where : str
        What the number is, for messages: "mass of body 'hand'".

    Returns
    -------
    Literal of a plain decimal; int or Fraction where the value is rational; PiMultiple of a
    rational multiple of pi; float where a float or another use of pi enters; otherwise Expr, also
    of constants such as sqrt(2).

    Raises
    ------
    ValueError
        The text is no arithmetic, passes a limit, or its value is not a finite number.
    """
    if len(text) > MAX_TEXT:
        raise ValueError(
            f"{where}: a text of {len(text)} characters; at most MAX_TEXT = {MAX_TEXT} are read."
        )
    text = text.strip()
    if not text:
        raise ValueError(f"{where}: an empty text instead of a number.")
    if not DECIMAL.match(text):
        return _Parser(text, where).number()
    try:
        return Literal(text)
    except ValueError as error:
        raise ValueError(f"{where}: {error}.") from None


def given_number(value: Any, where: str) -> Number:
    """A number given as a number or as a text of arithmetic; multiples of pi become floats."""
    x = parse_number(value, where) if isinstance(value, str) else checked(value, where)
    return float(x) if isinstance(x, PiMultiple) else x


def plain(x: Number) -> Number:
    """A node that is a constant as its number; anything else as it is."""
    return x.value if isinstance(x, Expr) and x.op in ("exact", "float") else x


def given_angle(value: Any, where: str) -> Number:
    """An angle given as a number or as a text of arithmetic; the double of a multiple of pi/12
    becomes exact.
    """
    x = parse_number(value, where) if isinstance(value, str) else checked(value, where)
    if isinstance(x, (PiMultiple, Expr)):
        return 0 if x == PiMultiple(0) else x
    multiple = snapped(float(x))
    return multiple if multiple and math.isclose(float(x), float(multiple), rel_tol=ROUNDING) else x


class _Parser:
    """Recursive descent by binding strength; every value in between is a node, or a PiMultiple."""

    def __init__(self, text: str, where: str):
        self.text, self.where = text, where
        self.nesting = 0
        self.kind, self.token, self.start, self.end = (
            "end",
            "",
            0,
            0,
        )  # the current token and its place
        self.advance()

    def number(self) -> Number:
        """The number of the whole text."""
        value = self.expression(0)
        if self.token:
            self.fail(f"unexpected {self.token!r}")
        if isinstance(value, PiMultiple):
            return value
        if value.op in COMPARISONS or value.op in LOGIC:
            self.fail("this is a condition, not a number")
        number = plain(value)
        if not is_symbolic(number):
            self.check_size(number)
        return number

    def check_size(self, x: Number) -> None:
        """Error for a constant that is infinite, or not 0 and yet rounded to 0, as a float."""
        try:
            size = abs(as_float(x))
        except OverflowError:
            size = math.inf
        if not math.isfinite(size):
            self.fail("the value is too large for a number")
        if size == 0 and isinstance(x, Fraction) and x:
            self.fail("the value is too small for a number")

    # --- tokens ---

    def advance(self) -> str:
        """The current token; the next one takes its place (empty at the end)."""
        passed, at = self.token, self.end
        match = TOKEN.match(self.text, at)
        if match is None:
            rest = self.text[at:].lstrip()
            self.kind, self.token, self.start = "end", "", len(self.text) - len(rest)
            if rest:
                hint = HINTS.get(rest[0], "")
                self.fail(f"unexpected character {rest[0]!r}" + (f" ({hint})" if hint else ""))
            return passed
        self.kind = str(match.lastgroup)
        self.token, self.start, self.end = match[self.kind], match.start(self.kind), match.end()
        return passed

    def expect(self, mark: str) -> None:
        """Go past a mark that has to come here."""
        if self.token != mark:
            self.fail(
                f"expected {mark!r}" + (f" before {self.token!r}" if self.token else " at the end")
            )
        self.advance()

    def fail(self, why: str) -> NoReturn:
        """Raise ValueError with the text and the column."""
        shown = self.text if len(self.text) <= 60 else f"{self.text[:57]}..."
        raise ValueError(f"{self.where}: {why}, in {shown!r} at column {self.start + 1}.")

    # --- grammar ---

    def expression(self, minimum: int) -> Any:
        """Operands joined by operators that bind at least as strongly as `minimum`."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.fail(f"nested more than MAX_NESTING = {MAX_NESTING} times")
        left = self.operand(minimum)
        while self.kind == "mark" and self.token in INFIX and INFIX[self.token][0] >= minimum:
            sign = self.advance()
            strength, function = INFIX[sign]
            right = self.expression(strength if sign == "**" else strength + 1)
            left = self.applied(sign, function, left, right)
        self.nesting -= 1
        return left

    def operand(self, minimum: int) -> Any:
        """A number, name, call, or expression in parentheses or behind a sign."""
        kind = self.kind
        token = self.advance()
        if kind == "number":
            if self.kind == "name" and self.text[self.start - 1] == token[-1]:  # 0x10, 1_000, 90deg
                both, product = token + self.token, f"{token}*{self.token}"
                self.fail(
                    f"{both!r} is no decimal number like 0.25 or 1e-3; a product is {product}"
                )
            return self.applied(token, lambda: constant(Literal(token)))
        if kind == "name":
            if self.token == "(":
                return self.call(token)
            return PiMultiple(1) if token in PI else self.symbol(token)
        if token == "(":
            value = self.expression(0)
            self.expect(")")
            return value
        if token == "+":
            return self.expression(max(minimum, PRODUCT))
        if token == "-":
            return self.applied("-", operator.neg, self.expression(max(minimum, PRODUCT)))
        if token == "~":
            return self.applied("~", operator.invert, self.expression(INVERT))
        self.fail(f"expected a number instead of {token!r}" if token else "a number is missing")

    def symbol(self, name: str) -> Any:
        """The symbol of a plain name."""
        if why := no_symbol(name):
            self.fail(why)
        return symbol(name)

    def call(self, name: str) -> Any:
        """A function with its arguments."""
        self.expect("(")
        if name == "symbol":
            if self.kind != "string" or len(self.token) == 2:
                self.fail('symbol needs a name in quotes, as symbol("upper arm length")')
            quoted = self.advance()
            self.expect(")")
            return self.applied(name, lambda: symbol(ast.literal_eval(quoted)))
        if name not in FUNCTIONS:
            self.fail(f"unknown function {name!r} (known: {', '.join(FUNCTIONS)})")
        arguments = [self.expression(0)]
        while self.token == ",":
            self.advance()
            arguments.append(self.expression(0))
        self.expect(")")
        count, function = FUNCTIONS[name]
        if len(arguments) != count:
            self.fail(f"{name} takes {count} argument{'s' * (count > 1)}, not {len(arguments)}")
        return self.applied(name, function, *arguments)

    def applied(self, sign: str, function: Callable[..., Any], *operands: Any) -> Any:
        """The operation on nodes and multiples of pi, with its errors and its size looked after."""
        try:
            value = (
                _with_pi(sign, *operands)
                if any(isinstance(x, PiMultiple) for x in operands)
                else None
            )
            if value is None:
                value = function(
                    *(constant(float(x)) if isinstance(x, PiMultiple) else x for x in operands)
                )
        except (ArithmeticError, TypeError, ValueError, SyntaxError) as error:
            self.fail(
                "the quotient is not a finite number"
                if sign == "/" and isinstance(error, ArithmeticError)
                else str(error).rstrip(".")
            )
        if isinstance(value, bool):
            self.fail("a condition between constants")
        exact = (
            value.turns
            if isinstance(value, PiMultiple)
            else value.value
            if value.op == "exact"
            else 0
        )
        if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > MAX_BITS:
            self.fail(f"the exact value needs more than MAX_BITS = {MAX_BITS} bits")
        return value


def no_symbol(name: str) -> str:
    """Why a bare name is no symbol but was meant as a number or a function; '' if it is one."""
    if unicodedata.normalize("NFKC", name).casefold() in NO_NUMBERS:
        return f"{name!r} is not a finite number; a symbol of that name is symbol({name!r})"
    if unicodedata.numeric(name[0], None) is not None or any(
        c.isdecimal() and not c.isascii() for c in name
    ):
        return f"{name!r} has digits other than 0 to 9"
    if SUPERSCRIPTS.intersection(name):
        return f"{name!r} has a superscript; write ** for a power"
    if name in FUNCTIONS or name == "symbol":
        return f"{name!r} is a function and needs parentheses; a symbol of that name is symbol({name!r})"
    return ""


def _with_pi(sign: str, *operands: Any) -> Any:
    """The operation where multiples of pi give a multiple of pi or an exact number, else None."""
    turns = [x.turns if isinstance(x, PiMultiple) else None for x in operands]
    exact = [x.value if isinstance(x, Expr) and x.op == "exact" else None for x in operands]
    match sign, turns, exact:
        case "-", [Fraction() as a], _:
            return PiMultiple(-a)
        case "+", [Fraction() as a, Fraction() as b], _:
            return PiMultiple(a + b)
        case "-", [Fraction() as a, Fraction() as b], _:
            return PiMultiple(a - b)
        case "*", [Fraction() as a, None], [None, (int() | Fraction()) as factor]:
            return PiMultiple(a * factor)
        case "*", [None, Fraction() as a], [(int() | Fraction()) as factor, None]:
            return PiMultiple(a * factor)
        case "/", [Fraction() as a, None], [None, (int() | Fraction()) as divisor]:
            return PiMultiple(a / divisor)
        case (("sin" | "cos" | "tan"), [Fraction() as a], _):
            cosine, sine = (constant(x) for x in cos_sin(PiMultiple(a), exact=True))
            return {
                "sin": lambda: sine,
                "cos": lambda: cosine,
                "tan": lambda: operator.truediv(sine, cosine),
            }[sign]()
    return None


# --- to text --------------------------------------------------------------------------------------------------------

# Texts of `to_text` that this grammar reads otherwise: exact fractions, floats, symbols named
# like a function.
_WRITTEN = re.compile(
    r"""
    (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | Fraction\((?P<over>-?[0-9]+),\ (?P<under>[0-9]+)\)
  | (?P<name>[^\W\d]\w*(?!\w|\())
  | [^\W\d]\w*
  | (?P<float>[0-9]+(?:\.[0-9]+(?:e[+-]?[0-9]+)?|e[+-]?[0-9]+))
""",
    re.VERBOSE,
)


def number_text(x: Number) -> str:
    """The text that `parse_number` reads back as an equal number.

    A Literal keeps its text. A float is written as its shortest decimal where that is exactly its
    value (0.5), and else as "float(0.1)": the decimal 0.1 is another number than the double.

    Raises
    ------
    ValueError
        The number is not finite, or its text passes MAX_TEXT.
    """
    if isinstance(x, Literal):
        return x.text
    if isinstance(x, PiMultiple):
        return repr(x) if x.turns else "0*pi"
    if isinstance(x, Expr):
        return _WRITTEN.sub(_readable, to_text(x, MAX_TEXT))
    if isinstance(x, float):
        text = repr(checked(x, "number"))
        return text if Fraction(text) == x else f"float({text})"
    return _decimal(x) if isinstance(x, Fraction) else str(x)


def _decimal(x: Fraction) -> str:
    """333/1000 as 0.333; a fraction without a short decimal as it is."""
    for digits in range(MAX_DIGITS + 1):
        if 10**digits % x.denominator == 0:
            return f"{Decimal(x.numerator * (10**digits // x.denominator)).scaleb(-digits):f}"
    return str(x)


def _readable(match: re.Match[str]) -> str:
    if match["over"]:
        return f"({match['over']}/{match['under']})"
    if match["float"]:
        return f"float({match['float']})"
    name = match["name"]
    return f"symbol({name!r})" if name is not None and (name in PI or no_symbol(name)) else match[0]
