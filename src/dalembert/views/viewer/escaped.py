"""Texts from files as HTML, and numbers as people read them."""

from __future__ import annotations

import html
import math

LONGEST = 40  # characters of a name on the page
MINUS = "\u2212"
RAISED = str.maketrans(
    "-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
)
SMALLEST, LARGEST = 1e-4, 1e6  # of numbers that are written without a power


def text(value: object) -> str:
    """A text without markup.

    Examples
    --------
    >>> text("<b>arm</b>")
    '&lt;b&gt;arm&lt;/b&gt;'
    """
    return html.escape(str(value), quote=True)


def short(name: str) -> str:
    """A name of bounded length; letters that turn the direction of writing or break lines are left
    out.
    """
    plain = "".join(c for c in name if c.isprintable())
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}\u2026"


def number(x: float, digits: int = 4) -> str:
    """A number in so many digits, with a true minus; very large and small ones with a power of 10.

    Examples
    --------
    >>> number(-0.123456), number(0.0), number(12345.6), number(3.21e-7)
    ('\u22120.1235', '0', '12346', '3.21\u00b710\u207b\u2077')
    """
    if not math.isfinite(x):
        return "\u2013"
    if x != 0 and not SMALLEST <= abs(x) < LARGEST:
        mantissa, _, exponent = f"{x:.{digits - 1}e}".partition("e")
        if "." in mantissa:
            mantissa = mantissa.rstrip("0").rstrip(".")
        return f"{mantissa}\u00b710{str(int(exponent)).translate(RAISED)}".replace("-", MINUS)
    size = math.floor(math.log10(abs(x))) if x else 0
    plain = f"{x:.{max(0, digits - 1 - size)}f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return plain.replace("-", MINUS) if plain != "-0" else "0"
