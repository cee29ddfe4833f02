"""Commands made of annotated functions, parsed by argparse: `dalembert COMMAND FILE --option VALUE`."""

from __future__ import annotations

import argparse
import inspect
import math
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

from dalembert.call_faults import meant

WIDTH = 80  # columns of help at most
COLUMN = 38  # columns of the names of options at most; longer ones stand on a line of their own
NUMBERS: dict[Any, str] = {int: "a whole number", float: "a number"}
HELP = ("-h", "--help")
Command = Callable[..., None]


class UsageError(Exception):
    """Wrong usage of a command, whose name is `command`."""

    command = ""


@dataclass(frozen=True)
class Argument:
    """A value of a command, in `Annotated[type, ...]`; without names it is told by its place.
    A repeated one, of a sequence, may be given several times.
    """

    help: str = ""
    metavar: str = "VALUE"
    read: Callable[[str], Any] | None = None  # makes the value; by default the annotated type
    min: float = -math.inf
    max: float = math.inf
    show_default: bool = True
    names: tuple[str, ...] | None = None
    repeated: bool = False

    @property
    def range(self) -> str:
        """The admissible numbers as text."""
        above = f"[x>={self.min:g}]" if self.max == math.inf else f"[{self.min:g}<=x<={self.max:g}]"
        return "" if self.min == -math.inf else above

    def value(self, text: str, annotation: Any, label: str) -> Any:
        """The value of a text; raises UsageError where a number is wrong."""
        if annotation is Path and not text:
            raise UsageError(f"Invalid value for {label}: '' names no file.")
        if annotation not in NUMBERS:
            return (self.read or annotation)(text)
        try:
            x = annotation(text)
        except ValueError:
            why = f"{text!r} is not {NUMBERS[annotation]}."
        else:
            if not self.range or self.min <= x <= self.max:
                return x
            why = f"{text} is not in the range {self.range}."
        raise UsageError(f"Invalid value for {label}: {why}")


def Option(*names: str, **about: Any) -> Argument:
    """A named value of a command, by default with its parameter's name; a flag if it is a bool."""
    return Argument(names=names, **about)


class Application:
    """Commands of a program, and its help."""

    def __init__(self, program: str, version: str, text: str, epilog: str):
        self.program = program
        self.commands = dict[str, Command]()
        self.version, self.text, self.epilog = version, text, epilog

    def command(self, function: Command) -> Command:
        """Make a function a command of its name."""
        self.commands[function.__name__] = function
        return function

    def run(self, texts: Sequence[str]) -> int:
        """The exit code of a command line; wrong usage is raised."""
        name = texts[0] if texts else "--help"
        program = self.program if name not in self.commands else f"{self.program} {name}"
        try:
            if name in self.commands:
                function = self.commands[name]
                function(**_CommandParser(program, function).values(texts[1:]))
            elif name.startswith("-") and name not in ("-", "--"):
                self._parser().values([name])
            else:
                raise UsageError(_unknown("command", name, self.commands))
        except UsageError as error:
            error.command = program
            raise
        except SystemExit as end:  # of help, or with the code of a command
            return int(end.code or 0) if texts else 2
        return 0

    def _parser(self) -> _CommandParser:
        """The parser without a command, whose help lists the commands."""
        parser = _CommandParser(self.program)
        parser.usage = f"{self.program} [OPTIONS] COMMAND [ARGS]..."
        parser.description, parser.epilog = _paragraphs(self.text), _paragraphs(self.epilog)
        version = f"{self.program} {self.version}"
        parser.options.add_argument(
            "--version", action="version", version=version, help="Print the version and exit."
        )
        listing = parser.add_argument_group("Commands")
        for name, function in self.commands.items():
            first = (function.__doc__ or "").split("\n")[0]
            listing.add_argument(name, nargs="?", metavar=name, help=first)
        return parser


class _CommandParser(argparse.ArgumentParser):
    """Parser of a command, from the annotations of its function; wrong usage is raised."""

    def __init__(self, program: str, function: Command | None = None):
        layout = partial(
            argparse.RawDescriptionHelpFormatter, max_help_position=COLUMN, width=_width()
        )
        super().__init__(
            program,
            formatter_class=layout,
            argument_default=argparse.SUPPRESS,
            exit_on_error=False,
            add_help=False,
            allow_abbrev=False,
        )
        self.arguments = self.add_argument_group("Arguments")
        self.options = self.add_argument_group("Options")
        self.valued: dict[str, str] = {}  # names of options that take a value: the first name
        self.required: dict[str, str] = {}  # parameters without a default, as messages name them
        self.groups: dict[str, Any] = {}  # named tuples of options by parameter
        if function is not None:
            self._read(function)
        self.options.add_argument(*HELP, action="help", help="Show this message and exit.")

    def _read(self, function: Command) -> None:
        """Declare the parameters of a function."""
        usage = [self.prog, "[OPTIONS]"]
        for parameter, annotated in self._parameters(function):
            hint, declared = get_args(annotated)[:2]
            annotation = next(x for x in get_args(hint) or (hint,) if x is not NoneType)
            is_required = parameter.default is parameter.empty
            if declared.names is None:
                usage.append(declared.metavar if is_required else f"[{declared.metavar}]")
            self._add(parameter, annotation, declared, is_required)
        self.usage = " ".join(usage)
        self.description = _paragraphs(function.__doc__ or "")

    def _parameters(self, function: Callable[..., Any]) -> Iterator[tuple[inspect.Parameter, Any]]:
        """Parameters with their annotations; in place of a named tuple, its fields."""
        hints = get_type_hints(function, include_extras=True)
        for parameter in inspect.signature(function).parameters.values():
            annotated = hints[parameter.name]
            if hasattr(annotated, "_fields"):
                self.groups[parameter.name] = annotated
                yield from self._parameters(annotated)
            else:
                yield parameter, annotated

    def _add(
        self, parameter: inspect.Parameter, annotation: Any, declared: Argument, is_required: bool
    ) -> None:
        name, names = parameter.name, declared.names
        if names == ():
            names = ("--" + name.replace("_", "-"),)
        if names and annotation is bool:
            self.options.add_argument(*names, dest=name, action="store_true", help=declared.help)
            return
        label = repr(names[0] if names else declared.metavar)
        if is_required:
            self.required[name] = f"{'option' if names else 'argument'} {label}"
        has_default = declared.show_default and not is_required and parameter.default is not None
        default = f"[default: {parameter.default}]" if has_default else ""
        words = declared.help, declared.range, default, "[required]" if is_required else ""
        about: dict[str, Any] = {
            "metavar": declared.metavar,
            "type": lambda text: declared.value(text, annotation, label),
            "help": "  ".join(filter(None, words)).replace("%", "%%"),
        }
        if names is None:
            self.arguments.add_argument(name, nargs="?", default=None, **about)
        else:
            action = "append" if declared.repeated else "store"
            self.options.add_argument(*names, dest=name, action=action, **about)
            self.valued |= dict.fromkeys(names, names[0])

    def values(self, texts: Sequence[str]) -> dict[str, Any]:
        """Typed values by the names of parameters."""
        try:
            values, extra = self.parse_known_args(self._joined(texts))
        except argparse.ArgumentError as error:
            raise UsageError(f"Option {error.argument_name!r} does not take a value.") from None
        known = self._option_string_actions  # of which one behind '--' is an argument
        missing = [
            label for name, label in self.required.items() if getattr(values, name, None) is None
        ]
        for text in extra:
            name = text.partition("=")[0]
            if text.startswith("-") and len(text) > 1 and name not in known:
                raise UsageError(_unknown("option", name, known))
            hint = _as_option(text, missing) or _commas(text)
            raise UsageError(f"Got unexpected extra argument {text!r}.{hint}")
        if missing:
            raise UsageError(f"Missing {missing[0]}.")
        typed = vars(values)
        for name, group in self.groups.items():
            members = {field: typed.pop(field) for field in group._fields if field in typed}
            typed[name] = group(**members)
        return typed

    def _joined(self, texts: Sequence[str]) -> list[str]:
        """Texts with each option and its value in one, which lets values begin with '-'."""
        joined: list[str] = []
        following = iter(texts)
        for text in following:
            if text == "--":
                return [*joined, text, *following]
            if text in self.valued:
                value = next(following, None)
                if value is None:
                    raise UsageError(f"Option {text!r} requires an argument.")
                text = f"{self.valued[text]}={value}"
            joined.append(text)
        return joined


def _as_option(text: str, missing: Sequence[str]) -> str:
    """The option that is missing, whose value stands alone."""
    names = [label.split("'")[1] for label in missing if label.startswith("option")]
    return f" Did you mean {names[0]} {text}?" if names else ""


def _commas(text: str) -> str:
    """How vectors are typed, after a number that stands alone."""
    try:
        float(text)
    except ValueError:
        return ""
    return " Numbers of a vector are joined by commas: --q 0.1,0.2."


def _unknown(noun: str, name: str, known: Iterable[str]) -> str:
    longest_last = sorted(known, reverse=True)  # '--h' after '-h'
    arguments = {_argument(option): option for option in longest_last}
    near = arguments.get(meant(_argument(name), arguments), "")
    return f"No such {noun} {name!r}." + (f" Did you mean {near!r}?" if near else "")


def _argument(option: str) -> str:
    """The argument of Python that an option stands for."""
    return option.lstrip("-").replace("-", "_")


def _width() -> int:
    return min(WIDTH, shutil.get_terminal_size().columns)


def _paragraphs(text: str) -> str:
    """Paragraphs filled to the width of the help."""
    return "\n\n".join(textwrap.fill(p, _width()) for p in inspect.cleandoc(text).split("\n\n"))
