"""Help on compiled quantities, from the docstrings of the plain functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

Sections = dict[str, str]  # title -> text; the text in front of all titles has the title ""

OPTIONS = """\
out : array or sequence of arrays, optional
    Arrays for the results, one for each; by default new ones.
threads : int
    Threads that share a batch; results do not depend on it.
parameters : (m,) or (N, m) array, optional
    Numbers at the paths of da.compile(parameters=[...]); by default the mechanism's."""
RAISES = """\
TypeError
    An array of `out` has other numbers, or rows that are not contiguous; an unknown option.
ProgramError
    At the first use: the mechanism has symbols that are not among the parameters."""
DEFAULTS = {"out": None, "threads": 1, "parameters": None}


def sections(docstring: str) -> Sections:
    """The parts of a docstring by their underlined titles."""
    found: Sections = {}
    title = ""
    text = list[str]()
    for line in inspect.cleandoc(docstring).splitlines():
        if text and line and set(line) == {"-"}:
            *before, after = text
            found[title] = "\n".join(before).strip("\n")
            title, text = after, []
        else:
            text.append(line)
    found[title] = "\n".join(text).strip("\n")
    return found


def joined(parts: Sections) -> str:
    """The docstring of these parts."""
    return (
        "\n\n".join(
            f"{title}\n{'-' * len(title)}\n{text}" if title else text
            for title, text in parts.items()
        )
        + "\n"
    )


def compiled_signature(plain: Callable[..., Any]) -> inspect.Signature:
    """The plain function's arguments with self for the mechanism, then the options of compiled
    quantities.
    """
    of_plain = inspect.signature(plain)
    mechanism, *arguments = of_plain.parameters.values()
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in DEFAULTS.items()
    ]
    return of_plain.replace(
        parameters=[
            mechanism.replace(name="self", annotation=inspect.Parameter.empty),
            *arguments,
            *options,
        ]
    )


def compiled_docstring(plain: Callable[..., Any]) -> str:
    """The plain function's contract, with the options and the example of the compiled one."""
    parts = sections(plain.__doc__ or "")
    parts[""] += "\n\nCompiled at its first use, for one state or a batch."
    _, arguments = _without_mechanism(parts.get("Parameters", ""))
    parts["Parameters"] = f"{arguments}\n{OPTIONS}".strip("\n")
    parts["Raises"] = f"{parts.get('Raises', '')}\n{RAISES}".strip("\n")
    order = ("", "Parameters", "Returns", "Raises", "Notes", "References")
    kept = {title: parts[title] for title in order if title in parts}
    return joined(kept | {"Examples": _compiled_example(plain.__name__, parts.get("Examples", ""))})


def text_signature(signature: inspect.Signature) -> str:
    """The signature as it stands in front of the docstring of a built-in."""
    parameters = [p.replace(annotation=p.empty) for p in list(signature.parameters.values())[1:]]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


def _without_mechanism(parameters: str) -> tuple[str, str]:
    """The entry of the mechanism, and all others."""
    lines = parameters.splitlines()
    if not lines or not lines[0].startswith("mechanism"):
        return "", parameters
    end = next((k for k, line in enumerate(lines[1:], 1) if not line.startswith(" ")), len(lines))
    return "\n".join(lines[:end]), "\n".join(lines[end:])


def _compiled_example(name: str, example: str) -> str:
    """The plain function's example, of the compiled one."""
    lines: list[str] = []
    for line in example.splitlines():
        lines.append(line.replace(f"da.{name}(arm, ", f"dyn.{name}("))
        if line.startswith(">>> arm = "):
            lines.append(">>> dyn = da.compile(arm)")
    return "\n".join(lines)
