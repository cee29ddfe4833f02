"""Text by which values of a user's own are told apart: functions, classes and objects by all that
they do and hold.

Names say nothing: two classes may have one name, and a function is another once its code, a
default, a variable it encloses or a global it reads has changed. Installed packages are told apart
by name and version. Functions whose results come from elsewhere (files, clocks, random numbers,
`eval`) have no such text.
"""

from __future__ import annotations

import builtins
import dis
import functools
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.expr import Expr, pack

ATOMS = (type(None), bool, int, float, complex, str, bytes, range, type(...), type(NotImplemented))
# fmt: off
ELSEWHERE = frozenset((      # names of what reads values that are not in the program
    "eval", "exec", "open", "input", "__import__", "import_module", "globals", "locals", "environ", "getenv", "load",
    "loadtxt", "genfromtxt", "fromfile", "memmap", "read_text", "read_bytes", "read_csv", "random", "default_rng", "urandom",
    "time", "perf_counter", "monotonic", "now", "today"))
BY_PYTHON = frozenset(("__module__", "__dict__", "__weakref__", "__doc__", "__qualname__", "__annotations__", "__slots__",
                       "__firstlineno__", "__static_attributes__", "__match_args__", "__parameters__", "__orig_bases__",
                       "__abstractmethods__", "_abc_impl", "__dataclass_fields__", "__dataclass_params__"))
# fmt: on
WRAPPERS = (staticmethod, classmethod, property, functools.cached_property, functools.partialmethod)


class UntellableError(Exception):
    """A value whose content or behaviour cannot be read from it."""


def content(value: Any, strict: bool = True) -> str | None:
    """Text that is equal for values that are equal in all they hold and do, in every process; None
    if it cannot be told.

    Not strict: what comes from elsewhere is passed over, and objects that cannot be read are told
    apart by class alone.
    """
    try:
        return digest("\n".join(_ContentReader(strict).text(value)))
    except (UntellableError, RecursionError):
        return None


def _sha256(content: bytes) -> str:
    import hashlib  # loads OpenSSL, which few computations need

    return hashlib.sha256(content).hexdigest()


def digest(text: str) -> str:
    """32 digits that stand for a text."""
    return _sha256(text.encode("utf-8", "surrogatepass"))[:32]


class _ContentReader:
    """Reads one value; functions, classes and objects that are met again are referred to by their
    number.
    """

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.met: dict[int, int] = {}
        self.alive: list[Any] = []  # so that no number is given twice

    def text(self, value: Any) -> Iterator[str]:
        """Parts of the text of a value."""
        value_class = type(value)
        if value_class in ATOMS:
            yield f"{value_class.__name__} {value!r}"
        elif isinstance(value, (np.ndarray, np.generic)) and value.dtype != object:
            yield f"{value_class.__qualname__} {value.dtype.str} {value.shape} {_sha256(value.tobytes())}"
        elif value_class is Expr:
            yield f"expression {pack([value])!r}"
        elif value_class in (tuple, np.ndarray):
            yield from self._listed(
                value_class.__name__, value.tolist() if value_class is np.ndarray else value
            )
        elif value_class in (set, frozenset):
            yield f"{value_class.__name__} {len(value)}"
            yield from sorted(digest("\n".join(_ContentReader(self.strict).text(v))) for v in value)
        elif id(value) in self.met:
            yield f"number {self.met[id(value)]}"
        else:
            self.met[id(value)] = len(self.met)
            self.alive.append(value)
            yield from self._of_object(value)

    def _listed(self, head: str, values: Iterable[Any]) -> Iterator[str]:
        values = list(values)
        yield f"{head} {len(values)}"
        for value in values:
            yield from self.text(value)

    def _of_object(self, value: Any) -> Iterator[str]:
        if type(value) is list:
            yield from self._listed("list", value)
        elif type(value) is dict:
            yield from self._mapping("dict", value)
        elif isinstance(value, types.ModuleType):
            yield f"module {value.__name__} {_version(value.__name__)}"
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, types.FunctionType):
            yield from self._function(value)
        elif isinstance(value, types.MethodType):
            yield from self._listed("method", [value.__func__, value.__self__])
        elif isinstance(value, types.BuiltinFunctionType):
            owner = value.__self__
            yield f"built-in {value.__module__} {value.__qualname__} {_version(value.__module__ or '')}"
            yield from (
                () if owner is None or isinstance(owner, types.ModuleType) else self.text(owner)
            )
        elif isinstance(
            value,
            (
                np.ufunc,
                types.WrapperDescriptorType,
                types.MethodDescriptorType,
                types.MethodWrapperType,
            ),
        ):
            yield f"built-in {getattr(value, '__qualname__', value.__name__)} {np.__version__}"
        elif isinstance(value, functools.partial):
            yield from self._listed(
                "partial", [value.func, value.args, value.keywords, vars(value)]
            )
        elif isinstance(value, WRAPPERS):
            names = ("__func__", "fget", "fset", "fdel", "func", "args", "keywords")
            yield from self._listed(
                type(value).__name__, [getattr(value, name, None) for name in names]
            )
        else:
            yield from self._instance(value)

    def _mapping(self, head: str, values: Mapping[Any, Any]) -> Iterator[str]:
        yield from self._listed(head, [x for pair in values.items() for x in pair])

    def _function(self, f: types.FunctionType) -> Iterator[str]:
        """Code, defaults, enclosed variables, attributes, and the globals that the code reads; of
        an installed function, the enclosed variables alone.
        """
        yield "function"
        installed = _is_installed(f.__module__ or "")
        if installed and getattr(sys.modules.get(f.__module__), f.__name__, None) is f:
            yield f"{f.__module__} {f.__name__} {_version(f.__module__)}"
            return
        yield from self._code(f.__code__)
        enclosed = []
        for cell in f.__closure__ or ():
            try:
                enclosed.append(cell.cell_contents)
            except ValueError:  # not bound yet
                enclosed.append(None)
        yield from self._listed("parts", [f.__defaults__, f.__kwdefaults__, enclosed, f.__dict__])
        if installed:
            return
        names = sorted({name for code in _codes(f.__code__) for name in code.co_names})
        if self.strict and (unknown := ELSEWHERE.intersection(names)):
            raise UntellableError(f"{f.__qualname__} uses {', '.join(sorted(unknown))}")
        for name in names:
            if name in f.__globals__:
                yield f"global {name}"
                yield from self._read(f.__globals__[name], names)
            elif hasattr(builtins, name):
                yield f"builtin {name}"
        for module in _imported(f.__code__):
            if module in sys.modules:
                yield from self._read(sys.modules[module], names)
            elif self.strict:
                raise UntellableError(f"{f.__qualname__} imports {module}")

    def _read(self, value: Any, names: Iterable[str]) -> Iterator[str]:
        """A global of a function; of a user's module those attributes that the function may read."""
        yield from self.text(value)
        if isinstance(value, types.ModuleType) and not _is_installed(value.__name__):
            for name in names:
                if name in vars(value):
                    yield f"attribute {name}"
                    yield from self.text(vars(value)[name])

    def _code(self, code: types.CodeType) -> Iterator[str]:
        yield repr(
            (
                code.co_code,
                code.co_names,
                code.co_varnames,
                code.co_freevars,
                code.co_cellvars,
                code.co_flags,
                code.co_argcount,
                code.co_kwonlyargcount,
                code.co_posonlyargcount,
                code.co_exceptiontable,
            )
        )
        for constant in code.co_consts:
            yield from (
                self._code(constant)
                if isinstance(constant, types.CodeType)
                else self.text(constant)
            )

    def _class(self, c: type) -> Iterator[str]:
        """An installed class by its name and version, a user's by its bases and all that stands in
        it.
        """
        if _is_installed(c.__module__):
            yield f"class {c.__module__} {c.__qualname__} {_version(c.__module__)}"
            return
        yield f"class {c.__name__}"
        yield from self._listed("bases", [type(c), *c.__bases__])
        is_dataclass = "__dataclass_fields__" in vars(c)
        for name, value in sorted(vars(c).items()):
            generated = (
                is_dataclass
                and isinstance(value, types.FunctionType)
                and value.__code__.co_filename == "<string>"
            )
            descriptor = isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType))
            if name not in BY_PYTHON and not generated and not descriptor:
                yield f"in class {name}"
                yield from self.text(value)

    def _instance(self, value: Any) -> Iterator[str]:
        """Class and state: attributes, and of classes made in C what copies are made from."""
        identity = getattr(value, "identity", None)
        if type(value).__module__.partition(".")[0] == "dalembert" and identity is not None:
            text = identity()
            if text is not None:
                yield f"{type(value).__qualname__} {text}"
                return
        yield from self.text(type(value))
        in_python = all(c is object or c.__flags__ & HEAP_TYPE for c in type(value).__mro__)
        if in_python and not _is_installed(type(value).__module__):
            slots = {
                name
                for c in type(value).__mro__
                for name, member in vars(c).items()
                if isinstance(member, types.MemberDescriptorType)
            }
            held = {name: getattr(value, name) for name in sorted(slots) if hasattr(value, name)}
            yield from self._mapping("attributes", held | getattr(value, "__dict__", {}))
            return
        try:
            reduced = value.__reduce_ex__(4)
        except Exception as error:
            if self.strict:
                raise UntellableError(f"{type(value).__qualname__}: {error}") from None
            return
        parts = (
            [reduced]
            if isinstance(reduced, str)
            else [list(p) if isinstance(p, Iterator) else p for p in reduced]
        )
        yield from self._listed("made of", parts)


HEAP_TYPE = 1 << 9  # flag of classes that a program made (Py_TPFLAGS_HEAPTYPE)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A function's code and those of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _imported(code: types.CodeType) -> list[str]:
    """Modules that a function imports when it is called."""
    return sorted(
        {
            i.argval
            for c in _codes(code)
            for i in dis.get_instructions(c)
            if i.opname == "IMPORT_NAME"
        }
    )


@functools.cache
def _is_installed(module: str) -> bool:
    """Whether a module is of Python, of this package or of an installed one, whose name and version
    say what it does.
    """
    root = module.partition(".")[0]
    if root == "__main__":
        return False
    if root in sys.stdlib_module_names or root == "dalembert":
        return True
    file = getattr(sys.modules.get(root), "__file__", None)
    if file is None:
        return False
    folders = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")}
    return bool(folders.intersection(Path(file).resolve().parents))


@functools.cache
def _version(module: str) -> str:
    """Version of an installed package."""
    root = module.partition(".")[0]
    return (
        sys.version
        if root in sys.stdlib_module_names
        else str(getattr(sys.modules.get(root), "__version__", ""))
    )
