"""Names of any script as identifiers of target languages: safe, unique, the same on every machine."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Container, Iterable

C_WORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main"""
LATER_C_WORDS = """alignas alignof asm bool catch class constexpr delete explicit export false friend mutable namespace new
    nullptr operator private protected public template this throw true try typename typeof using virtual"""  # and C++
MATH_WORDS = """acos acosh asin asinh atan atan2 atanh beta cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor
    fma fmax fmin fmod fpclassify frexp gamma hypot ilogb isfinite isgreater isgreaterequal isinf isless
    islessequal islessgreater isnan isnormal isunordered j0 j1 jn ldexp lgamma log log10 log1p log2 logb max min
    modf nan pi pow remainder round sign signbit sin sinh sqrt tan tanh tgamma trunc y0 y1 yn zeta"""
SYMPY_WORDS = frozenset(
    "C E I N O Q S oo".split()
)  # read back as the number e, the imaginary unit, ...
RESERVED = frozenset(
    word.lower()
    for word in [
        *C_WORDS.split(),
        *LATER_C_WORDS.split(),
        *MATH_WORDS.split(),
        *keyword.kwlist,
        *keyword.softkwlist,
    ]
)  # in any case: NAN, Min, ...
MAX_IDENTIFIER = 48  # characters; C99 promises 63, suffixes need room


def safe_identifiers(names: Iterable[str], words: Container[str] | None = None) -> dict[str, str]:
    """Map from each name to an identifier of letters a-z, A-Z, digits and underscores.

    Accents are dropped, other characters become underscores, letters of other scripts their Unicode numbers; words
    that a target language or its mathematics library knows get a trailing underscore; names that become equal get
    _2, _3, ... in the order given. No two identifiers differ in upper and lower case alone. `words`: those of one language
    that tells upper from lower case, in place of the words of all targets; case then counts.
    """
    folded, reserved = (str.lower, _reserved) if words is None else (str, words.__contains__)
    taken: set[str] = set()
    found: dict[str, str] = {}
    for name in names:
        if name in found:
            continue
        base = _cleaned(name)
        candidate, k = base, 1
        while folded(candidate) in taken or reserved(candidate):
            k += 1
            candidate = f"{base}_" if k == 2 and reserved(base) else f"{base}_{k}"
        taken.add(folded(candidate))
        found[name] = candidate
    return found


def _reserved(identifier: str) -> bool:
    return identifier in SYMPY_WORDS or identifier.lower() in RESERVED


def _cleaned(name: str) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    spelled = "".join(c if c.isascii() else f"u{ord(c):x}" if c.isalnum() else "_" for c in plain)
    clean = re.sub(r"[^A-Za-z0-9]+", "_", spelled).strip("_")[:MAX_IDENTIFIER]
    return clean if clean[:1].isalpha() else f"n_{clean}" if clean else "unnamed"
