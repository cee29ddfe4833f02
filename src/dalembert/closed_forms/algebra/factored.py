"""Large expressions as short lines: parts that are repeated or long get names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dalembert.closed_forms.algebra.fingerprints import Fingerprints
from dalembert.closed_forms.algebra.ring import plain
from dalembert.closed_forms.algebra.sharing import (
    LINE,
    NAME,
    PatternTable,
    Reference,
    in_order,
    width,
)
from dalembert.closed_forms.algebra.sums import (
    Call,
    Cosine,
    Factors,
    Name,
    Sum,
    Term,
    content,
    factors_in,
    names_in,
    opposite,
    single,
    sole_factor,
)
from dalembert.expr import Expr

SHORT = 3  # factors of a shared expression that is written out each time
LEAVES = ("exact", "float", "symbol")
LONG = 12  # factors of an expression that becomes a part of its own although it occurs once
WIDEST = 100  # characters of a sum in which no sum is written out that could have a name
DRAFT = "\ue001"  # begins names that are not final


class Parts:
    """Named parts of expressions in factored form.

    What occurs more than once, or is long, is a part; so are the sums that several sums have in
    common, where that shortens the print. A part is used again for whatever equals it up to its
    sign, also when further expressions come.

    definitions: name -> form in terms of earlier parts, in the order of their use.
    """

    def __init__(self, prefix: str, coordinates: Iterable[str], first: int = 1):
        self.prefix = prefix
        self.angles = set(coordinates)
        self.first = first
        self.definitions: dict[str, Sum] = {}
        self._count = 0  # of names with the prefix
        self._fingerprints = Fingerprints()
        self._named: dict[
            int, Sum
        ] = {}  # fingerprint up to sign -> form with a name, of the positive

    def forms(self, outputs: Sequence[Any], labels: Mapping[int, str] | None = None) -> list[Sum]:
        """Forms of expressions and numbers in terms of the parts.

        labels: places of outputs -> names that these have anyway, first those to be used: an output
        that is a part of others has no other name.
        """
        drafts = _Drafts(self._named, self._fingerprints, self.angles)
        found = drafts.forms(outputs)
        sheet = _Written(self, drafts.definitions, found, labels or {})
        for key, form in drafts.named.items():
            if (name := sheet.named(form)) is not None:
                self._named[key] = name
        for k, label in (labels or {}).items():
            if isinstance(outputs[k], Expr) and label in self.definitions:
                key = self._fingerprints.key(outputs[k])
                sign = self._fingerprints.sign(outputs[k])
                self._named.setdefault(key, Sum((single(Name(label), sign),)))
        return sheet.outputs

    def new_name(self) -> str:
        """A name for a part."""
        self._count += 1
        return f"{self.prefix}{self.first + self._count - 1}"

    def needed(self, forms: Iterable[Sum]) -> dict[str, Sum]:
        """Definitions of the parts in forms, and of the parts in these."""
        names = {name for form in forms for name in names_in(form)}
        found: dict[str, Sum] = {}
        for name, form in reversed(self.definitions.items()):  # a part needs earlier parts alone
            if name in names:
                found[name] = form
                names.update(names_in(form))
        return dict(reversed(found.items()))


class _Drafts:
    """Forms of expressions in which each function that occurs more than once, or is long, has a
    draft name.

    named: fingerprint up to sign -> form with a name, of the positive; definitions: draft name ->
    form.
    """

    def __init__(self, known: Mapping[int, Sum], fingerprints: Fingerprints, angles: set[str]):
        self.known = known
        self.fingerprints = fingerprints
        self.angles = angles
        self.definitions: dict[str, Sum] = {}
        self.named: dict[int, Sum] = {}
        self._in_full: dict[str, Sum] = {}  # definitions without draft names

    def forms(self, outputs: Sequence[Any]) -> list[Sum]:
        """Forms in terms of names that are known, and of draft names."""
        wanted = dict.fromkeys(x for x in outputs if isinstance(x, Expr))
        chosen, uses = self._chosen(wanted)
        last = {self.fingerprints.key(x) for x in wanted}
        forms: dict[int, Sum] = {}

        def of(node: Expr) -> Sum:
            """Form of a node, with its sign."""
            form = forms[self.fingerprints.key(node)]
            return form if self.fingerprints.sign(node) > 0 else opposite(form)

        for node in chosen:
            key = self.fingerprints.key(node)
            sign = self.fingerprints.sign(node)
            if key in self.known:
                forms[key] = self.known[key]
                continue
            form = _form(node, of, self.angles) if key else _number(0)
            form = self._with_full_arguments(form)
            size = factors_in(form)
            if uses[key] > 1 and size > SHORT or size > LONG and key not in last:
                name = f"{DRAFT}{len(self.definitions)}"
                self.definitions[name] = form
                self._in_full[name] = self._written_out(form)
                form = Sum((single(Name(name)),))
                self.named[key] = form if sign > 0 else opposite(form)
            forms[key] = form if sign > 0 else opposite(form)
        return [of(x) if isinstance(x, Expr) else _number(x) for x in outputs]

    def _with_full_arguments(self, form: Sum) -> Sum:
        """A function with its arguments written out: names are found in sums and products alone."""
        call = sole_factor(form)
        if not isinstance(call, Call):
            return form
        return Sum((single(Call(call.op, tuple(map(self._written_out, call.args)))),))

    def _written_out(self, form: Sum) -> Sum:
        """A form without draft names."""
        terms = []
        for number, factors in form.terms:
            product = Term(number, ())
            for factor, e in factors:
                known = self._in_full.get(factor.name) if isinstance(factor, Name) else None
                inner = single(factor) if known is None else _as_term(known)
                if isinstance(factor, Sum):
                    inner = _as_term(self._written_out(factor))
                product = _product(product, inner, e)
            terms.append(product)
        return _collected(terms)

    def _chosen(self, wanted: Iterable[Expr]) -> tuple[list[Expr], Counter[int]]:
        """The first of all nodes that are equal up to sign, where it is needed, and how often it
        is.
        """
        first: dict[int, Expr] = {}
        for node in self.fingerprints.add(wanted):
            first.setdefault(self.fingerprints.key(node), node)
        keys = [self.fingerprints.key(x) for x in wanted]
        uses = Counter(keys)
        needed = set(keys)
        stack = list(dict.fromkeys(keys))
        while stack:
            key = stack.pop()
            node = first[key]
            if not key or node.op in LEAVES or key in self.known:
                continue
            for arg in node.args:
                inner = self.fingerprints.key(arg)
                uses[inner] += 1
                if inner not in needed:
                    needed.add(inner)
                    stack.append(inner)
        return [node for key, node in first.items() if key in needed], uses


class _Written:
    """Drafts as they are printed: common sums found, and what is short, or used once, written out
    where it stands.

    outputs: their forms; `parts` has the new definitions.
    """

    def __init__(
        self,
        parts: Parts,
        drafts: Mapping[str, Sum],
        outputs: Sequence[Sum],
        labels: Mapping[int, str],
    ):
        self.parts, self.table = parts, PatternTable()
        self._rows: dict[str, Term] = {}  # draft name -> its row, with a sign
        self._forms: dict[int, Sum] = {}
        self._names: dict[int, Term] = {}  # row -> its name, with a sign
        roots = self._shared(drafts, outputs)
        labelled = self._labelled(roots, labels)
        order, uses = self.table.used(roots, self._names)
        # an output without a label is one use more
        uses.update(_row(root) for k, root in enumerate(roots) if k not in labels and root.factors)
        for k in order:
            self._write(k, uses[k], labelled.get(k))
        self.outputs = [self._output(root, k in labels) for k, root in enumerate(roots)]

    def _shared(self, drafts: Mapping[str, Sum], outputs: Sequence[Sum]) -> list[Term]:
        """Rows of the outputs, after common sums are taken out of all rows."""
        defined: dict[int, str] = {}
        for name, form in self.parts.definitions.items():
            defined[_row(self.table.add(form, {}))] = name
        for name, form in drafts.items():
            self._rows[name] = self.table.add(form, self._rows)
        roots = [self.table.alias(form, self._rows) for form in outputs]
        self.table.share(defined)
        for k, name in defined.items():
            self._names[k] = single(Name(name))
        return [self.table.resolved(root) for root in roots]

    def _labelled(self, roots: Sequence[Term], labels: Mapping[int, str]) -> dict[int, Term]:
        """Labels of rows that have no name; of outputs that are equal the first."""
        labelled: dict[int, Term] = {}
        for k, label in labels.items():
            root = roots[k]
            if root.factors and _row(root) not in self._names:
                labelled.setdefault(_row(root), single(Name(label), root.number))
        return labelled

    def _write(self, k: int, uses: int, label: Term | None) -> None:
        """The form of a row, and its name if it gets one."""
        form = self._forms[k] = self._fitted(k)
        size = width(form.terms)
        several = len(form.terms) > 1
        if label is not None:
            if size > NAME and factors_in(form) > 1:
                self._define(k, label)
                if not uses:
                    del self._names[k]
            return
        spared = uses * (size + 2 * several - NAME) - size - NAME - LINE - len(" = ")
        if uses > 1 and spared > 0 or factors_in(form) > LONG:
            self._define(k)

    def _define(self, k: int, label: Term | None = None) -> None:
        """Give a row a name, with its sign; a name of ours where it has no label."""
        form = self._forms[k]
        sign = label.number if label else -1 if form.terms[0].number < 0 else 1
        name = label.factors[0][0] if label else Name(self.parts.new_name())
        self.parts.definitions[name.name] = form if sign > 0 else opposite(form)
        self._names[k] = single(name, sign)

    def _fitted(self, k: int) -> Sum:
        """The form of a row; where it is too wide for a line, sums in it get names, the widest
        first.
        """
        row = self.table.rows[k]
        inner = {f.number for t in row for f, _ in t.factors if isinstance(f, Reference)}
        form = _collected(self._expanded(row))
        while width(form.terms) > WIDEST:
            sums = [x for x in inner if x not in self._names and len(self._forms[x].terms) > 1]
            if not sums:
                break
            self._define(max(sums, key=lambda x: (width(self._forms[x].terms), -x)))
            form = _collected(self._expanded(row))
        return form

    def _expanded(self, terms: Iterable[Term]) -> Iterator[Term]:
        """Terms with names or forms in place of rows."""
        for number, factors in terms:
            product = Term(number, ())
            for factor, e in factors:
                product = _product(product, self._resolved(factor), e)
            sole = sole_factor(Sum((product._replace(number=1),)))
            if isinstance(sole, Sum) and product.number in (1, -1):
                yield from (t._replace(number=t.number * product.number) for t in sole.terms)
            elif product.number:
                yield product

    def _resolved(self, factor: Any) -> Term:
        """A factor, of a row its name or form."""
        if not isinstance(factor, Reference):
            return single(factor)
        return self._names.get(factor.number) or _as_term(self._forms[factor.number])

    def _output(self, root: Term, has_label: bool) -> Sum:
        """The form of an output: of one with a label in full."""
        if not root.factors:
            return Sum(())
        row = _row(root)
        name = self._names.get(row)
        in_full = name is None or has_label and row in self._forms
        form = self._forms[row] if in_full else Sum((name,))  # type: ignore[arg-type]
        return form if root.number > 0 else opposite(form)

    def named(self, draft: Sum) -> Sum | None:
        """The name that a draft name, with a sign, has got."""
        ((number, ((name, _),)),) = draft.terms
        row = self.table.resolved(self._rows[name.name])
        final = self._names.get(_row(row)) if row.factors else None
        if final is None:
            return None
        return Sum((final._replace(number=final.number * row.number * number),))


def _row(term: Term) -> int:
    """The row that a term is, but for its sign."""
    return term.factors[0][0].number


def factored(
    outputs: Sequence[Any], prefix: str, coordinates: Iterable[str], first: int = 1
) -> tuple[dict[str, Sum], list[Sum]]:
    """Named parts in the order of their use, and the forms of some expressions and numbers in terms
    of them.
    """
    parts = Parts(prefix, coordinates, first)
    forms = parts.forms(outputs)
    return parts.definitions, forms


def _number(x: Any) -> Sum:
    return Sum((Term(x, ()),)) if x else Sum(())


def _form(node: Expr, of: Callable[[Expr], Sum], angles: set[str]) -> Sum:
    """The form of a node from those of its operands."""
    op = node.op
    if op in ("exact", "float"):
        return _number(node.value)
    if op == "symbol":
        return Sum((single(Name(node.name)),))
    args = [of(a) for a in node.args]
    if op in ARITHMETIC:
        return ARITHMETIC[op](*args)
    if op == "power" and node.args[1].op == "exact" and isinstance(node.args[1].value, int):
        return _power(args[0], node.args[1].value)
    if op in ("cos", "sin"):
        angle = _angle(args[0], angles)
        if angle is not None:
            return _cosine(op, angle)
    return Sum((single(Call(op, tuple(args))),))


def _difference(a: Sum, b: Sum) -> Sum:
    return _collected(a.terms + opposite(b).terms)


def _quotient(a: Sum, b: Sum) -> Sum:
    number, factors = _as_term(b)
    inverse = Term(1 / number if number != 1 else 1, tuple((f, -e) for f, e in factors))
    return _multiplied(_as_term(a), inverse)


def _power(a: Sum, exponent: int) -> Sum:
    number, factors = _as_term(a)
    return Sum((Term(number**exponent, tuple((f, e * exponent) for f, e in factors)),))


def _cosine(op: str, angle: tuple[tuple[str, int], ...]) -> Sum:
    """Cosine or sine of a sum of coordinates, the first of which is positive: -sin(q2)."""
    if angle[0][1] > 0:
        return Sum((single(Cosine(op[0], angle)),))
    turned = tuple((name, -k) for name, k in angle)
    return Sum((single(Cosine(op[0], turned), -1 if op == "sin" else 1),))


ARITHMETIC: dict[str, Callable[..., Sum]] = {
    "add": lambda a, b: _collected(a.terms + b.terms),
    "sub": _difference,
    "neg": opposite,
    "mul": lambda a, b: _multiplied(_as_term(a), _as_term(b)),
    "div": _quotient,
}


def _collected(terms: Iterable[Term]) -> Sum:
    """Sum with equal terms added up, and x c^2 + x s^2 = x."""
    numbers: dict[Any, Any] = {}
    work = [(t.factors, t.number) for t in terms][::-1]
    while work:
        factors, number = work.pop()
        number = number + numbers.pop(factors, 0)
        if not number:
            continue
        for twin, rest in _pythagorean(factors):
            if numbers.get(twin) == number:
                del numbers[twin]
                work.append((rest, number))
                break
        else:
            numbers[factors] = number
    return Sum(tuple(Term(number, factors) for factors, number in numbers.items()))


def _pythagorean(factors: Factors) -> Iterator[tuple[Factors, Factors]]:
    """(factors with the other function, factors without it) of each squared cosine or sine."""
    for factor, power in factors:
        if isinstance(factor, Cosine) and power == 2:
            other = Cosine("s" if factor.kind == "c" else "c", factor.angle)
            twin = in_order((other if f == factor else f, e) for f, e in factors)
            yield twin, tuple((f, e) for f, e in factors if f != factor)


def _as_term(form: Sum) -> Term:
    """A form as one term: itself, or in parentheses."""
    if len(form.terms) == 1:
        return form.terms[0]
    if not form.terms:
        return Term(0, ())
    number, factors, rest = content(form.terms)
    return Term(number, (*factors, (Sum(rest), 1)))


def _multiplied(a: Term, b: Term) -> Sum:
    product = _product(a, b, 1)
    return Sum((product,)) if product.number else Sum(())


def _product(a: Term, b: Term, power: int) -> Term:
    """a times a power of b."""
    number = b.number
    if power > 1:
        number = number**power
    elif power < 1:
        number = plain(Fraction(number) ** power)
    return Term(a.number * number, in_order((*a.factors, *((f, e * power) for f, e in b.factors))))


def _angle(form: Sum, angles: set[str]) -> tuple[tuple[str, int], ...] | None:
    """A sum of coordinates with whole factors, else None."""
    parts = []
    for number, factors in form.terms:
        if len(factors) != 1 or not isinstance(number, int):
            return None
        ((factor, e),) = factors
        if not isinstance(factor, Name) or factor.name not in angles or e != 1:
            return None
        parts.append((factor.name, number))
    return tuple(sorted(parts, key=lambda x: (len(x[0]), x[0]))) or None
