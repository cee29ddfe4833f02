"""Numbers for the symbols of a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.closed_forms.derivation.derivation_context import SEED
from dalembert.expr import Expr, evaluate
from dalembert.model.mechanism import Mechanism, without_warnings
from dalembert.model.numbers import as_float, is_symbolic
from dalembert.model.paths import numbers


def random_symbols(mechanism: Mechanism) -> dict[str, float]:
    """A value for each symbol of a mechanism."""
    rng = np.random.default_rng(SEED)
    return {name: float(rng.uniform(0.3, 1.7)) for name in sorted(mechanism.symbols)}


def with_values(mechanism: Mechanism, values: Mapping[str, float]) -> Mechanism:
    """The mechanism with numbers for its symbols; as they are ours, nobody is warned of them."""
    with without_warnings():
        return mechanism.replace(
            {path: float(evaluate(x, values)) for path, x in numbers(mechanism) if is_symbolic(x)}
        )


def value_of(x: Any, values: Mapping[str, float]) -> float:
    """The number that a number or expression is for these values of symbols."""
    return float(evaluate(x, values)) if isinstance(x, Expr) else as_float(x)
