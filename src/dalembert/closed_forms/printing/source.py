"""Closed forms as Python source and as SymPy expressions."""

from __future__ import annotations

import keyword
import operator
import textwrap
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.ring import plain
from dalembert.closed_forms.algebra.sums import Call, Cosine, Name, Sum, Term, angle_sum, single
from dalembert.closed_forms.printing.names import ENTRY, entry_at
from dalembert.closed_forms.printing.notation import LATEX, MATHML, RELATIONS, TEXT
from dalembert.closed_forms.printing.sheets import Sheet
from dalembert.errors import DalembertError, UnknownNameError
from dalembert.expr import Expr, topological
from dalembert.expr.graph import FUNCTIONS
from dalembert.expr.identifiers import safe_identifiers

WIDTH = 118
PYTHON = {
    "select": "({1} if {0} else {2})",
    "sign": "(({0} > 0) - ({0} < 0))",
    "not": "(not {})",
    "power": "(({})**({}))",
    **{op: f"({{}} {mark} {{}})" for op, mark in RELATIONS.items()},
    "equal": "({} == {})",
}
WORDS = frozenset(
    [*keyword.kwlist, *FUNCTIONS, "q", "qd", "qdd", "tau", "NAMES"]
)  # names that the source itself uses


class PythonWriter:
    """Forms as Python text; names as identifiers, cosines and sines as variables."""

    def __init__(self, eom: Any):
        self.eom = eom
        parts = {
            name: eom.printed_names.text(name) if name.startswith(ENTRY) else name
            for name in (*eom.groups.definitions, *eom.parts.definitions)
        }
        words = safe_identifiers(dict.fromkeys([*_names(eom), *parts.values(), *eom.forces]), WORDS)
        self.identifiers = words | {name: words[word] for name, word in parts.items()}
        self._taken = {*self.identifiers.values()}
        self.cosines: dict[Cosine, str] = {}
        self.used: set[str] = set()

    def sum(self, form: Sum) -> str:
        """A form as an expression."""
        text = " ".join(("- " if t.number < 0 else "+ ") + self.term(t) for t in form.terms) or "0"
        return (
            text[2:] if text.startswith("+ ") else "-" + text[2:] if text.startswith("- ") else text
        )

    def term(self, term: Term) -> str:
        """A term without its sign."""
        size = plain(abs(term.number))
        over = [self.factor(f, e) for f, e in term.factors if e > 0]
        under = [self.factor(f, -e) for f, e in term.factors if e < 0]
        if isinstance(size, Fraction):
            numerator, denominator = size.as_integer_ratio()
            over, under = (
                [str(numerator), *over] if numerator != 1 or not over else over,
                [str(denominator), *under],
            )
        elif size != 1 or not over:
            over = [repr(size), *over]
        return "*".join(over) + "".join(f"/{x}" for x in under)

    def factor(self, factor: Any, power: int) -> str:
        """A power of a factor."""
        text = self.atom(factor)
        return text if power == 1 else f"{text}**{power}"

    def atom(self, factor: Any) -> str:
        """A factor; names in it count as used."""
        if isinstance(factor, Name):
            self.used.add(factor.name)
            return self.identifiers[factor.name]
        if isinstance(factor, Sum):
            return f"({self.sum(factor)})"
        if isinstance(factor, Cosine):
            self.sum(angle_sum(factor.angle))  # the names in it are used
            if factor not in self.cosines:
                parts = [
                    ("" if k == 1 else f"{k}x".replace("-", "m"))
                    + (self.identifiers.get(x, x).removeprefix("q") if isinstance(x, str) else "")
                    for x, k in factor.angle
                ]
                name = factor.kind + "_".join(parts)
                while name in self._taken or len(name) < 2:
                    name += "_"
                self._taken.add(name)
                self.cosines[factor] = name
            return self.cosines[factor]
        assert isinstance(factor, Call)
        args = [self.sum(a) for a in factor.args]
        return (
            PYTHON[factor.op].format(*args)
            if factor.op in PYTHON
            else f"{factor.op}({', '.join(args)})"
        )


def _names(eom: Any) -> list[str]:
    return [*eom.coordinates, *eom.velocities, *eom.accelerations, *eom.symbols]


def python(eom: Any, quantities: Sequence[str]) -> str:
    """A function per quantity: vectors in, nested lists out; symbols as keywords with the
    mechanism's numbers.

    Names that are no identifiers are renamed; comments, and NAMES in the source, say how.
    """
    for name in quantities:
        eom.sheet(name)  # all parts have their names now
    names = safe_identifiers(quantities, WORDS)
    owners = {name: eom._owner(name) for name in quantities}  # a regressor has base parameters
    functions = [_function(owner, name, names[name]) for name, owner in owners.items()]
    head = f'"""Equations of motion of {eom.name!r}, written by dalembert."""\n\n'.replace(
        "\\", "\\\\"
    )
    renamed: dict[str, str] = {}
    for owner in (eom, *owners.values()):
        renamed |= {name: x for name, x in identifiers(owner).items() if name != x}
    rows = "".join(f"    {x!r}: {name!r},\n" for name, x in renamed.items())
    table = f"NAMES = {{      # identifier here: name in the model\n{rows}}}\n\n" if renamed else ""
    return head + "from math import *\n\n" + table + "\n" + "\n\n".join(functions)


def printed_names(eom: Any, form: str) -> dict[str, str]:
    """How each name is printed in a format; see `ClosedForms.names`."""
    notations = {"text": TEXT, "latex": LATEX, "mathml": MATHML}
    if form in notations:
        return {name: notations[form].name(eom.printed_names, name) for name in _names(eom)}
    if form == "python":
        return identifiers(eom)
    if form == "sympy":
        names = [*_names(eom), *eom.forces]
        words = safe_identifiers(
            sorted(names, key=lambda name: not name.isidentifier()), frozenset()
        )  # parts that are kept
        return {name: name if name.isidentifier() else words[name] for name in names}
    raise UnknownNameError("format", form, (*notations, "python", "sympy"))


def identifiers(eom: Any) -> dict[str, str]:
    """Identifiers of Python for the names of coordinates, velocities, accelerations and symbols."""
    writer = PythonWriter(eom)
    return {name: writer.identifiers[name] for name in _names(eom)}


def _function(eom: Any, quantity: str, name_here: str) -> str:
    """The source of a quantity: vectors are unpacked, then cosines, then parts."""
    writer = PythonWriter(eom)
    sheet = eom.sheet(quantity)
    result = _nested(_with_names(eom, sheet), writer)
    parts = eom.groups.definitions | eom.parts.definitions
    of_parts: list[str] = []
    for name, form in reversed(parts.items()):  # later ones need earlier ones
        if name in writer.used:
            of_parts.insert(0, f"{writer.atom(Name(name))} = {writer.sum(form)}")
    cosines = [
        f"{name} = {'cos' if c.kind == 'c' else 'sin'}({writer.sum(angle_sum(c.angle))})"
        for c, name in writer.cosines.items()
    ]
    labels = {"q": eom.coordinates, "qd": eom.velocities, "qdd": eom.accelerations}
    vectors = ["q"]
    unpacked = []
    defined = {*parts}
    for label, names in (labels | {"tau": eom.forces}).items():
        if not writer.used.isdisjoint(names):
            unpacked.append(f"{', '.join(writer.identifiers[n] for n in names)}, = {label}")
            vectors.append(label)
            defined.update(names)
    keywords = []
    for name in eom.symbols:
        if name in writer.used and name not in defined:
            default = f"={float(eom.values[name])!r}" if name in eom.values else ""
            keywords.append(writer.identifiers[name] + default)
    arguments = [*dict.fromkeys(vectors), *(["*", *keywords] if keywords else [])]
    lines = [
        _wrapped(f"def {name_here}({', '.join(arguments)}):", ""),
        *(f"    {line}" for line in (*unpacked, *cosines, *of_parts)),
        _wrapped(f"return {result}", "    "),
    ]
    return "\n".join(lines) + "\n"


def _with_names(eom: Any, sheet: Sheet) -> np.ndarray:
    """Entries, by their name where they have a definition."""
    forms = sheet.forms.copy()
    for at, form in np.ndenumerate(sheet.forms):
        name = entry_at(sheet.letter, at)
        if eom.parts.definitions.get(name) == form:
            forms[at] = Sum((single(Name(name)),))
    return forms


def _wrapped(line: str, indent: str) -> str:
    return "\n".join(
        textwrap.wrap(
            line,
            WIDTH,
            initial_indent=indent,
            subsequent_indent="        ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def _nested(forms: Any, writer: PythonWriter) -> str:
    if forms.ndim == 0:
        return f"({writer.sum(forms[()])})"
    entries = (_nested(x, writer) if isinstance(x, np.ndarray) else writer.sum(x) for x in forms)
    return f"[{', '.join(entries)}]"


# --- SymPy -----------------------------------------------------------------------------------------------------------


def sympy_of(expressions: Any, names: Mapping[str, str]) -> Any:
    """An expression, or an array of them as Matrix (of one or two axes) or Array; exact numbers
    stay exact.

    names: name of each symbol -> what it is called in SymPy.
    """
    try:
        import sympy
    except ImportError:
        raise DalembertError("to_sympy needs SymPy: pip install sympy.") from None
    array = np.array(expressions, dtype=object)
    made: dict[Any, Any] = {}
    for node in topological([x for x in array.flat if isinstance(x, Expr)]):
        made[node] = _sympy_node(sympy, node, made, names)
    entries = [made[x] if isinstance(x, Expr) else sympy.sympify(x) for x in array.flat]
    if array.ndim == 0:
        return entries[0]
    if array.ndim == 1:
        return sympy.Matrix(entries)
    if array.ndim == 2:
        return sympy.Matrix(*array.shape, entries)
    return sympy.Array(entries, array.shape)


def _sympy_node(sympy: Any, node: Expr, made: dict[Any, Any], names: Mapping[str, str]) -> Any:
    if node.op == "exact":
        return sympy.Rational(*node.value.as_integer_ratio())
    if node.op == "float":
        return sympy.Float(node.value, 17)
    if node.op == "symbol":
        return sympy.Symbol(names[node.name], real=True)
    args = [made[a] for a in node.args]
    infix = {
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "div": operator.truediv,
        "neg": operator.neg,
        "power": operator.pow,
        "hypot": lambda a, b: sympy.sqrt(a * a + b * b),
        "select": lambda c, a, b: sympy.Piecewise((a, c), (b, True)),
        "less": sympy.Lt,
        "less_equal": sympy.Le,
        "equal": sympy.Eq,
        "and": sympy.And,
        "or": sympy.Or,
        "not": sympy.Not,
    }
    functions = {"abs": "Abs", "min": "Min", "max": "Max"}
    function = infix.get(node.op) or getattr(sympy, functions.get(node.op, node.op))
    return function(*args)
