"""What makes a sweep the same sweep when it is called again: its function, its options, its samples."""

from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
import types
from collections.abc import Mapping
from tokenize import TokenError
from typing import Any

import numpy as np

from dalembert.formulations.lagrange.system import LagrangianSystem
from dalembert.model import paths
from dalembert.model.mechanism import Mechanism


def identity(value: Any) -> str:
    """Text that is the same in every process for the same number, array, text, function, mechanism or object.

    Functions are told apart by their source and what they enclose, not by the module that they are in: `__main__` in one
    call may be another module in the next.
    """
    return _text(value, ())


def _text(value: Any, within: tuple[Any, ...]) -> str:
    """`within`: functions and objects that the value is part of, which it may refer to again."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype != object:
        return f"{value.dtype.str}{value.shape}{digest(value.tobytes())}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(k, within)}: {_text(v, within)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_text(v, within) for v in value) + "]"
    if isinstance(value, (type, types.BuiltinFunctionType, types.ModuleType, np.ufunc)):
        return value.__name__
    if isinstance(value, Mechanism) and (text := paths.canonical_text(value)) is not None:
        return f"mechanism {value.name} {digest(text.encode())}"
    if isinstance(value, LagrangianSystem):
        return f"Lagrangian {value.name} {digest(repr(value.__reduce__()[1]).encode())}"
    if any(value is outer for outer in within):
        return "itself"
    within = (*within, value)
    if isinstance(value, functools.partial):
        return f"partial {_text([value.func, value.args, value.keywords], within)}"
    if isinstance(value, types.MethodType):
        return f"method {_text([value.__func__, value.__self__], within)}"
    if isinstance(value, types.FunctionType):
        enclosed = [cell.cell_contents for cell in value.__closure__ or ()]
        parts = _text([value.__defaults__, value.__kwdefaults__, enclosed], within)
        return f"{value.__qualname__} {digest(_source(value).encode())} {parts}"
    state = value.__getstate__()
    return f"{type(value).__qualname__} {digest(pickle.dumps(value, protocol=4)) if state is None else _text(state, within)}"


def _source(function: types.FunctionType) -> str:
    """Its text, or its code where it was typed at a prompt."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError, SyntaxError, TokenError):      # the latter where a file is not any more what was imported
        return _of_code(function.__code__)


def _of_code(code: types.CodeType) -> str:
    constants = [_of_code(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return repr((code.co_code, code.co_names, constants))


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
