"""The names of a document: each thing is written in one way, and no two things in the same way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count, pairwise
from typing import Any

from dalembert.closed_forms.printing.naming import (
    Symbol,
    angle_index,
    index,
    is_plain,
    look,
    taken_apart,
    text_name,
)

ENTRY = "\ue000"  # begins the names of entries: no keyboard has it
INDEXED = re.compile(r"(.*?)_*\d[\d,._…]*", re.DOTALL)  # letter of an entry or of a part, index
MANY = 10  # coordinates from which c12 is cos(q12), and cos(q1 + q2) has commas
SCALARS = ("T", r"\Pi", "L", "E", "S")
OTHER_LETTERS = {
    "c": ("c", r"\Gamma"),
    "T": ("T", "E_kin"),
    r"\Pi": (r"\Pi", "E_pot"),
    "L": ("L", "Lagrangian"),
    "E": ("E", "E_Jac"),
}  # in the order in which they are tried
IN_TEXT = {
    r"\Pi": "U",
    r"\tau": "tau",
    r"\Gamma": "Gamma",
    r"\gamma": "gamma",
    r"\beta": "beta",
    r"\phi": "phi",
    r"\psi": "psi",
    r"\lambda": "lambda",
    r"\kappa": "kappa",
}


class Names:
    """How symbols, entries, named parts and angles of one document are written.

    rates: name of a rate -> (name that it is the rate of, number of dots); symbols: names that are
    set in a way of their own; others: all other names; letters: of the quantities.

    What is given first keeps its usual form: coordinates, then short names. A name that would look
    like an earlier one is written out in quotes. Where a symbol looks like an entry (M11) or an
    angle (c12), entries become [M]_11, angles cos(q1 + q2). Distinct by construction: `add` raises
    an AssertionError else.
    """

    def __init__(
        self,
        coordinates: Sequence[str],
        rates: Mapping[str, tuple[str, int]] | None = None,
        others: Iterable[str] = (),
        letters: Iterable[str] = (),
        symbols: Mapping[str, Symbol] | None = None,
    ):
        self._symbols: dict[str, Symbol] = {}
        self._texts: dict[str, str] = {}
        self._looks: tuple[dict[str, str], dict[str, str]] = ({}, {})  # typeset, in text -> name
        self._letters: dict[str, tuple[str, bool]] = {}
        self._written: dict[Any, tuple[dict[Any, Any], dict[Any, Any]]] = {}
        self.numbers: dict[str, int] = {}
        self.are_integrals = False  # whether numbers are exact integrals, always fractions
        given, rates = symbols or {}, rates or {}
        for name in dict.fromkeys([*coordinates, *given]):
            self.add(name, given.get(name))
        for name, (base, dots) in rates.items():
            self.add(name, self._symbols[base]._replace(dots=dots))
        for name in sorted({*others} - {*self._symbols}, key=lambda name: (len(name), name)):
            self.add(name)
        self.numbers = self._numbers(coordinates)
        for letter in dict.fromkeys(letters):
            self._letters[letter] = self._free_letter(letter)
        arrays = {"q", r"\tau", *self._letters} - {*SCALARS}
        self._bold = not {self.label(letter).look for letter in arrays}.isdisjoint(self._all_looks)

    def add(self, name: str, symbol: Symbol | None = None) -> None:
        """Take in a name, to be set as this symbol where that is free."""
        symbol = symbol or taken_apart(name)
        dots = symbol.dots
        if symbol.text and not is_plain(symbol.base) and not dots:
            symbol = Symbol(repr(name), text=True)
        words = [*([name] if is_plain(name) else []), repr(name), ascii(name)]
        typeset = chain(
            [symbol],
            (Symbol(word, text=True, dots=dots) for word in chain(words, _numbered(words[-1]))),
        )
        self._symbols[name] = next(s for s in typeset if self._is_free(s.look, 0))
        self._texts[name] = next(
            t for t in chain(words, _numbered(words[-1])) if self._is_free(look(t), 1)
        )
        for seen, own in zip(
            self._looks, (self._symbols[name].look, look(self._texts[name])), strict=True
        ):
            assert own not in seen, (
                f"the names {name!r} and {seen[own]!r} are both printed as {own!r}"
            )
            seen[own] = name

    def _is_free(self, seen: str, target: int) -> bool:
        """Whether nothing in that target looks so."""
        as_entry = any(
            is_entry(seen, own, letter in SCALARS) for letter, (own, _) in self._letters.items()
        )
        as_angle = bool(self.numbers) and _is_angle(seen)
        return seen not in self._looks[target] and not as_entry and not as_angle

    @property
    def _all_looks(self) -> Iterator[str]:
        for looks in self._looks:
            yield from looks

    def _numbers(self, coordinates: Sequence[str]) -> dict[str, int]:
        """Numbers of the coordinates q1, q2, ... in angles, c12; none where names are not numbered
        or a symbol is c1.
        """
        numbers = {name: k for k, name in enumerate(coordinates, 1)}
        numbered = all(re.sub("[0-9]+$", "", name) + str(k) == name for name, k in numbers.items())
        return numbers if numbered and not any(map(_is_angle, self._all_looks)) else {}

    def _free_letter(self, letter: str, first: int = 0) -> tuple[str, bool]:
        """(letter, whether it is put into brackets) for a scalar, or for the entries of a quantity."""
        taken = set(self._all_looks) if letter in SCALARS else {*map(_head, self._all_looks)}
        for choice in OTHER_LETTERS.get(letter, (letter,))[first:]:
            if taken.isdisjoint(_looks_of(choice)):
                return choice, False
        return choice, True

    def tell_from_angles(self, letter: str, places: Iterable[tuple[int, ...]]) -> None:
        """Give entries another letter where one of them would look like an angle: c_123 is cos(q1 +
        q2 + q3).
        """
        if (
            letter == "c"
            and self.numbers
            and any(all(i < j for i, j in pairwise(at)) for at in places)
        ):
            self._letters[letter] = self._free_letter(letter, 1)
            for written in self._written.values():
                for texts in written:
                    texts.clear()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_written": {}}

    def written(self, notation: Any, *options: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Factors and sums that were written with these names in a notation: a measured text is not
        written again to be shown.
        """
        return self._written.setdefault((id(notation), *options), ({}, {}))

    def _own_letter(self, letter: str) -> tuple[str, bool, str]:
        """Letter, whether in brackets, frame."""
        letter, _, frame = letter.partition(":")
        if frame:
            return letter, False, frame
        if letter not in self._letters:
            self._letters[letter] = self._free_letter(letter)
        return *self._letters[letter], ""

    # --- what is written ---

    def symbol(self, name: str) -> Symbol:
        """A name as it is typeset; new names are taken in."""
        if name.startswith(ENTRY):
            letter, numbers = entry_of(name)
            return self.label(letter, *numbers)
        if name not in self._symbols:
            self.add(name)
        return self._symbols[name]

    def text(self, name: str) -> str:
        """A name in plain text; new names are taken in."""
        if name.startswith(ENTRY):
            letter, numbers = entry_of(name)
            return self.text_label(letter, *numbers)
        if name not in self._texts:
            self.add(name)
        return self._texts[name]

    def label(self, letter: str, *numbers: int | str) -> Symbol:
        """A scalar, or an entry of a quantity, as it is typeset; "T:tool" is T of the frame tool."""
        letter, entry, frame = self._own_letter(letter)
        symbol = _of_letter(letter)._replace(entry=entry, over=frame)
        return symbol._replace(sub=index(*numbers)) if numbers else symbol

    def text_label(self, letter: str, *numbers: int | str) -> str:
        """The same in plain text: M12, or M[1,2] where a symbol is M12; M_ij."""
        letter, entry, frame = self._own_letter(letter)
        base = IN_TEXT.get(letter, letter) + (f"_{text_name(frame)}" if frame else "")
        if (entry or frame) and numbers:
            return f"{base}[{','.join(map(str, numbers))}]"
        mark = "_" if numbers and isinstance(numbers[0], str) else ""
        return f"[{base}]" if entry else base + mark + index(*numbers).replace(",", "_")

    def whole(self, letter: str) -> Symbol:
        """A matrix or vector as it is typeset: bold where a symbol is the letter of one of them."""
        return self.label(letter)._replace(entry=False, bold=self._bold)

    def angle(self, kind: str, coordinates: Sequence[str]) -> tuple[Symbol, str]:
        """The cosine or sine ("c", "s") of a sum of numbered coordinates, typeset and in plain
        text.
        """
        numbers = sorted(self.numbers[name] for name in coordinates)
        at = angle_index(numbers, len(self.numbers) >= MANY)
        return Symbol(kind, at), kind + at.replace(",", "_")


def _numbered(word: str) -> Iterator[str]:
    return (f"{word}#{k}" for k in count(2))


def entry(letter: str, *numbers: int) -> str:
    """The name of an entry of a quantity in forms."""
    return "".join(f"{ENTRY}{x}" for x in (letter, *numbers))


def entry_at(letter: str, at: Iterable[int]) -> str:
    """The same by the place of the entry in an array."""
    return entry(letter, *(k + 1 for k in at))


def entry_of(name: str) -> tuple[str, tuple[int, ...]]:
    """Letter and numbers of an entry by its name in forms."""
    letter, *numbers = name.split(ENTRY)[1:]
    return letter, tuple(map(int, numbers))


def is_entry(seen: str, letter: str, scalar: bool = False) -> bool:
    """Whether a symbol with this look could be read as an entry with the letter, or as the letter
    of a scalar.
    """
    return (seen if scalar else _head(seen)) in _looks_of(letter)


@lru_cache(maxsize=4096)
def _head(seen: str) -> str | None:
    """A look without the index that it ends in, as M of M12 and of M_1,2; None without an index."""
    match = INDEXED.fullmatch(seen)
    return match and match[1]


@lru_cache(maxsize=256)
def _looks_of(letter: str) -> frozenset[str]:
    """A letter as it looks in text and typeset."""
    return frozenset((IN_TEXT.get(letter, letter), _of_letter(letter).look))


def _of_letter(letter: str) -> Symbol:
    return taken_apart(letter) if len(letter) > 1 else Symbol(letter)


def _is_angle(seen: str) -> bool:
    return _head(seen) in ("c", "s")


def free_prefix(letter: str, taken: Iterable[str], letters: Iterable[str] = ()) -> str:
    """A prefix for numbered names none of which looks like a name that is taken or an entry with
    one of the letters.
    """
    looks = {seen for name in taken for seen in (taken_apart(name).look, look(name))}
    for n in count(1):
        for prefix in (letter * n, letter.upper() * n):
            if prefix not in letters and not any(is_entry(x, prefix) for x in looks):
                return prefix
    raise AssertionError
