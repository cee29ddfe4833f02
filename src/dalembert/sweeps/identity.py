"""Identity of a sweep that is called again: its function, its options, its samples."""

from __future__ import annotations

from typing import Any

from dalembert.model.content import content


def identity(value: Any) -> str:
    """Text that is the same in every process for the same number, array, text, function, mechanism
    or object.

    Functions are told apart by their code, what they enclose and the globals they read, not by the
    module that they are in: `__main__` in one call may be another module in the next. What they
    read from files or clocks is not looked at.
    """
    return content(value, strict=False) or "nested too deep to be told apart"
