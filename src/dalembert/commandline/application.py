"""Commands made of annotated functions: `dalembert COMMAND FILE --option VALUE`, and the help on
them.
"""

from __future__ import annotations

import inspect
import shutil
import textwrap
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from dalembert.errors import nearest

WIDTH = 80  # columns of help at most
COLUMN = 34  # columns of the names of options at most; longer ones stand on a line of their own
HELP = ("-h", "--help")
NUMBERS: dict[Any, str] = {int: "a whole number", float: "a number"}


class UsageError(Exception):
    """Wrong usage of a command; `command` says of which."""

    def __init__(self, message: str, command: str = ""):
        super().__init__(message)
        self.command = command


class Exit(Exception):
    """The end of a command, with its exit code."""

    def __init__(self, code: int = 0):
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Argument:
    """A value of a command that has no name, in `Annotated[type, Argument(...)]`."""

    help: str = ""
    metavar: str = ""
    callback: Callable[[Any], Any] | None = None  # applied to the value


class Option:
    """A named value of a command, in `Annotated[type, Option(...)]`; a flag if the type is bool."""

    def __init__(
        self,
        *names: str,
        help: str = "",
        metavar: str = "",
        min: float | None = None,
        max: float | None = None,
        show_default: bool = True,
    ):
        self.names, self.help, self.metavar, self.show_default = names, help, metavar, show_default
        self.least, self.most = min, max

    @property
    def range(self) -> str:
        """The numbers that are taken, as text."""
        if self.least is None:
            return ""
        return (
            f"[x>={self.least:g}]" if self.most is None else f"[{self.least:g}<=x<={self.most:g}]"
        )

    def takes(self, x: float) -> bool:
        """Whether a number is in the range; NaN is not."""
        above = self.least is None or x >= self.least
        return above and (self.most is None or x <= self.most)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a command's function."""

    name: str
    type: Callable[[str], Any]
    declared: Option | Argument
    default: Any

    @property
    def is_required(self) -> bool:
        """Whether the function has no default."""
        return self.default is inspect.Parameter.empty

    @property
    def names(self) -> tuple[str, ...]:
        """Names on the command line; of an argument none."""
        if isinstance(self.declared, Argument):
            return ()
        return self.declared.names or ("--" + self.name.replace("_", "-"),)

    @property
    def label(self) -> str:
        """Name in messages."""
        return repr(self.names[0] if self.names else self.declared.metavar)

    def value(self, text: str) -> Any:
        """The value of a text."""
        if self.type not in NUMBERS:
            return self.type(text)
        try:
            x = self.type(text)
        except ValueError:
            raise UsageError(
                f"Invalid value for {self.label}: {text!r} is not {NUMBERS[self.type]}."
            ) from None
        if isinstance(self.declared, Option) and not self.declared.takes(x):
            raise UsageError(
                f"Invalid value for {self.label}: {text} is not in the range {self.declared.range}."
            )
        return x


class Command:
    """A function as a command."""

    def __init__(self, function: Callable[..., None], program: str):
        self.function, self.path = function, f"{program} {function.__name__}"

    @property
    def parameters(self) -> list[Parameter]:
        """Parameters of the function, from its annotations."""
        hints = get_type_hints(self.function, include_extras=True)
        return [
            _parameter(p, hints[name])
            for name, p in inspect.signature(self.function).parameters.items()
        ]

    def run(self, texts: Sequence[str]) -> None:
        """Call the function with what was typed."""
        if any(text in HELP for text in texts):
            print(self.help())
            return
        try:
            self.function(**self._values(list(texts)))
        except UsageError as error:
            error.command = self.path
            raise

    def _values(self, texts: list[str]) -> dict[str, Any]:
        """Arguments of the function by name."""
        parameters = self.parameters
        by_name = {name: p for p in parameters for name in p.names}
        values: dict[str, Any] = {}
        unnamed: list[str] = []
        while texts:
            text = texts.pop(0)
            if text == "--":
                unnamed += texts
                break
            if text.startswith("-") and len(text) > 1:
                _take_option(text, texts, by_name, values)
            else:
                unnamed.append(text)
        for p in (p for p in parameters if not p.names):
            if unnamed:
                values[p.name] = p.value(unnamed.pop(0))
        if unnamed:
            raise UsageError(f"Got unexpected extra argument {unnamed[0]!r}.")
        return {p.name: _finished(p, values) for p in parameters}

    def help(self) -> str:
        """Usage, description, arguments and options."""
        parameters = self.parameters
        unnamed = [p for p in parameters if not p.names]
        usage = " ".join([self.path, "[OPTIONS]", *(_bracketed(p) for p in unnamed)])
        arguments = [(p.declared.metavar, _described(p)) for p in unnamed]
        options = [(_shown(p), _described(p)) for p in parameters if p.names]
        options.append((", ".join(HELP), "Show this message and exit."))
        return _page(
            usage, self.function.__doc__ or "", {"Arguments": arguments, "Options": options}
        )


class Application:
    """Commands of a program, and its help."""

    def __init__(self, program: str, version: str, text: str, epilog: str):
        self.program, self.version, self.text, self.epilog = program, version, text, epilog
        self.commands: dict[str, Command] = {}

    def command(self, function: Callable[..., None]) -> Callable[..., None]:
        """Make a function a command of its name."""
        self.commands[function.__name__] = Command(function, self.program)
        return function

    def run(self, texts: Sequence[str]) -> int:
        """The exit code of a command line; wrong usage is raised."""
        if not texts or texts[0] in HELP:
            print(self.help())
            return 0 if texts else 2
        if texts[0] == "--version":
            print(f"{self.program} {self.version}")
            return 0
        if texts[0].startswith("-"):
            raise UsageError(_unknown("option", texts[0], ("--version", *HELP)), self.program)
        if texts[0] not in self.commands:
            raise UsageError(_unknown("command", texts[0], self.commands), self.program)
        try:
            self.commands[texts[0]].run(texts[1:])
        except Exit as end:
            return end.code
        return 0

    def help(self) -> str:
        """Usage, and what each command does."""
        options = [
            ("--version", "Print the version and exit."),
            (", ".join(HELP), "Show this message and exit."),
        ]
        commands = [
            (name, (c.function.__doc__ or "").split("\n")[0]) for name, c in self.commands.items()
        ]
        page = _page(
            f"{self.program} [OPTIONS] COMMAND [ARGS]...",
            self.text,
            {"Options": options, "Commands": commands},
        )
        return f"{page}\n\n{_paragraphs(self.epilog)}"


def _parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    """A parameter from its annotation `Annotated[type, ...]`, where the type may be optional."""
    assert get_origin(hint) is Annotated, f"{parameter.name} has no Option or Argument"
    annotation, declared = get_args(hint)[:2]
    if isinstance(annotation, types.UnionType):
        annotation = next(x for x in get_args(annotation) if x is not types.NoneType)
    return Parameter(parameter.name, annotation, declared, parameter.default)


def _take_option(
    text: str, texts: list[str], by_name: dict[str, Parameter], values: dict[str, Any]
) -> None:
    """Put the value of an option, which stands in the same text or is the next, into the values."""
    if text.startswith("--"):
        name, is_joined, value = text.partition("=")
    else:
        name, value = text[:2], text[2:].removeprefix("=")
        is_joined = value
    if name not in by_name:
        raise UsageError(_unknown("option", name, by_name))
    parameter = by_name[name]
    if parameter.type is bool:
        if is_joined:
            raise UsageError(f"Option {name!r} does not take a value.")
        values[parameter.name] = True
        return
    if not is_joined and not texts:
        raise UsageError(f"Option {name!r} requires an argument.")
    values[parameter.name] = parameter.value(value if is_joined else texts.pop(0))


def _finished(parameter: Parameter, values: dict[str, Any]) -> Any:
    """The value of a parameter, by default its own."""
    if parameter.name in values:
        value = values[parameter.name]
    elif parameter.is_required:
        raise UsageError(
            f"Missing {'option' if parameter.names else 'argument'} {parameter.label}."
        )
    else:
        value = parameter.default
    call = parameter.declared.callback if isinstance(parameter.declared, Argument) else None
    return value if call is None else call(value)


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    return f"No such {what} {name!r}." + (f" Did you mean {near!r}?" if near else "")


# --- help ---


def _bracketed(p: Parameter) -> str:
    return p.declared.metavar if p.is_required else f"[{p.declared.metavar}]"


def _shown(p: Parameter) -> str:
    """Names of an option and its value."""
    names = ", ".join(sorted(p.names, key=len))
    return names if p.type is bool else f"{names} {p.declared.metavar or 'VALUE'}"


def _described(p: Parameter) -> str:
    """Meaning of a parameter, with its range and default."""
    words = [p.declared.help]
    if isinstance(p.declared, Option):
        words.append(p.declared.range)
        if (
            p.declared.show_default
            and not p.is_required
            and p.default is not None
            and p.type is not bool
        ):
            words.append(f"[default: {p.default}]")
    if p.is_required:
        words.append("[required]")
    return "  ".join(filter(None, words))


def _page(usage: str, text: str, tables: dict[str, list[tuple[str, str]]]) -> str:
    parts = [f"Usage: {usage}", _paragraphs(text)]
    parts += [f"{title}:\n{_table(rows)}" for title, rows in tables.items() if rows]
    return "\n\n".join(parts)


def _width() -> int:
    return min(WIDTH, shutil.get_terminal_size().columns)


def _paragraphs(text: str) -> str:
    """Paragraphs of a docstring, filled and indented."""
    made = (
        textwrap.fill(p, _width() - 2, initial_indent="  ", subsequent_indent="  ")
        for p in inspect.cleandoc(text).split("\n\n")
    )
    return "\n\n".join(made)


def _table(rows: Sequence[tuple[str, str]]) -> str:
    """Two columns, the second one filled."""
    column = min(COLUMN, max(len(left) for left, _ in rows)) + 4
    lines = []
    for left, right in rows:
        filled = textwrap.wrap(right, max(20, _width() - column)) or [""]
        first = f"  {left}".ljust(column)
        if len(left) + 4 > column:
            lines.append(f"  {left}")
            first = " " * column
        lines += [(first if k == 0 else " " * column) + part for k, part in enumerate(filled)]
    return "\n".join(line.rstrip() for line in lines)
