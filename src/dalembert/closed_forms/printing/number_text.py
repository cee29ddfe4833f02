"""Numbers as people read them: few digits, a true minus, powers of ten."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from dalembert.closed_forms.printing.expressions import text
from dalembert.model.numbers import as_float, is_symbolic

MINUS = "\u2212"
RAISED = str.maketrans(
    "-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
)
NOT_FINITE = {math.inf: "\u221e", -math.inf: f"{MINUS}\u221e"}
SMALLEST, LARGEST = 1e-4, 1e6  # of numbers that are written without a power


def number(x: Any, digits: int = 4) -> str:
    """A number in so many digits, or its expression; very large and small ones with a power of 10.

    Examples
    --------
    >>> number(-0.123456), number(0.0), number(12345.6), number(3.21e-7)
    ('\u22120.1235', '0', '12346', '3.21\u00b710\u207b\u2077')
    """
    if is_symbolic(x):
        return text(x)
    value = as_float(x)
    if not math.isfinite(value):
        return NOT_FINITE.get(value, "\u2013")
    if value != 0 and not SMALLEST <= abs(value) < LARGEST:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        power = f"10{str(int(exponent)).translate(RAISED)}"
        return f"{_trimmed(mantissa)}\u00b7{power}"
    size = math.floor(math.log10(abs(value))) if value else 0
    return _trimmed(f"{value:.{max(0, digits - 1 - size)}f}")


def _trimmed(decimal: str) -> str:
    """A decimal without zeros at its end."""
    plain = decimal.rstrip("0").rstrip(".") if "." in decimal else decimal
    return "0" if plain == "-0" else plain.replace("-", MINUS)


def numbers(values: Iterable[Any]) -> str:
    """Several numbers in a row."""
    return ", ".join(map(number, values))
