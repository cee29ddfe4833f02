"""Marks: values that may be updated and kept, but not read."""

from __future__ import annotations

from typing import Any


class MarkRead(Exception):
    """A mark was asked for its value."""


class Mark:
    """Stands for a value that a function changed. Arithmetic on it gives marks; reading it is
    noted, and raises.

    A counter, `n += 1`, goes on with it; `if n > 10` reads it.
    """

    __array_ufunc__ = None

    def __init__(self, label: str, reads: list[str]):
        self._label, self._reads = label, reads

    def _updated(self, *_: Any) -> Mark:
        return Mark(self._label, self._reads)

    def _read(self, *_: Any, **__: Any) -> Any:
        self._reads.append(self._label)
        raise MarkRead(self._label)

    def __getattr__(self, name: str) -> Any:
        return self._read()

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __repr__(self) -> str:
        return f"<{self._label}>"

    __hash__ = object.__hash__
    __getitem__ = __neg__ = __pos__ = __abs__ = __invert__ = _updated
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = (
        _updated
    )
    __pow__ = __rpow__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __matmul__ = (
        __rmatmul__
    ) = _updated
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _updated
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _read  # type: ignore[assignment]
    __bool__ = __float__ = __int__ = __index__ = __complex__ = __len__ = __iter__ = __next__ = (
        __contains__
    ) = _read
    __call__ = __array__ = __round__ = _read
