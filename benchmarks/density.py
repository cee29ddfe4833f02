"""How much there is to understand in the sources: tokens of code, and how dense, long and wide
functions are.

    python benchmarks/density.py [FOLDER]

Docstrings, comments and layout do not count as tokens; a line counts if it has one. Lines of a
function go from its `def` to its end, without docstrings.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from bisect import bisect_left
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import NamedTuple

LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Function(NamedTuple):
    """A function of a module: its name with the classes and functions that it is in, lines and
    arguments.
    """

    module: str
    name: str
    lines: int
    arguments: int
    tokens: int


class Module(NamedTuple):
    """Tokens of code, the lines that hold them, and the functions."""

    name: str
    tokens: int
    lines: int
    functions: tuple[Function, ...]


def definitions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """Classes and functions of a module, at any depth of its statements, with their names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            name = prefix + child.name
            yield name, child
            yield from definitions(child, f"{name}.")
        elif isinstance(child, STATEMENTS):
            yield from definitions(child, prefix)


def docstring(node: ast.Module | Definition) -> range:
    """Lines of the docstring."""
    if ast.get_docstring(node, clean=False) is None:
        return range(0)
    doc = node.body[0]
    return range(doc.lineno, (doc.end_lineno or doc.lineno) + 1)


def measured(text: str, name: str) -> Module:
    """Measure the source of a module."""
    tree = ast.parse(text)
    inner = [*definitions(tree)]
    hidden = {line for node in (tree, *(d for _, d in inner)) for line in docstring(node)}
    code = [
        token.start[0]
        for token in tokenize.generate_tokens(StringIO(text).readline)
        if token.type not in LAYOUT and token.start[0] not in hidden
    ]
    functions = tuple(
        _function(name, own, node, code, hidden)
        for own, node in inner
        if not isinstance(node, ast.ClassDef)
    )
    return Module(name, len(code), len(set(code)), functions)


def _function(
    module: str,
    name: str,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    code: list[int],
    hidden: set[int],
) -> Function:
    end = (node.end_lineno or node.lineno) + 1
    tokens = bisect_left(code, end) - bisect_left(code, node.lineno)
    lines = len(set(range(node.lineno, end)) - hidden)
    return Function(module, name, lines, _arguments(node), tokens)


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Arguments of a function, without the object that it is a method of."""
    a = function.args
    names = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def package(folder: Path) -> list[Module]:
    """Measure all modules of a folder."""
    return [
        measured(path.read_text(encoding="utf-8"), path.relative_to(folder).as_posix())
        for path in sorted(folder.rglob("*.py"))
    ]


def table(modules: list[Module]) -> Iterator[str]:
    """Lines of the table of folders."""
    rooms: dict[str, list[Module]] = {}
    for module in modules:
        folder, _, rest = module.name.partition("/")
        rooms.setdefault(folder if rest else "(top)", []).append(module)
    yield f"{'folder':<16}{'modules':>8}{'tokens':>9}{'lines':>8}{'tokens a line':>15}"
    for room, members in (*rooms.items(), ("all", modules)):
        tokens, lines = sum(m.tokens for m in members), sum(m.lines for m in members)
        yield f"{room:<16}{len(members):>8}{tokens:>9}{lines:>8}{tokens / max(lines, 1):>15.1f}"


def extremes(functions: list[Function], count: int = 10) -> Iterator[str]:
    """Lines of the lists of the longest, widest and densest functions."""
    longer = [f for f in functions if f.lines > 5]
    yield from _ranked("longest functions [lines]", functions, lambda f: f.lines, count)
    yield from _ranked("most arguments", functions, lambda f: f.arguments, count)
    yield from _ranked(
        "densest functions [tokens a line]", longer, lambda f: f.tokens / f.lines, count
    )


def _ranked(
    title: str, functions: list[Function], value: Callable[[Function], float], count: int
) -> Iterator[str]:
    yield f"\n{title}"
    for f in sorted(functions, key=value, reverse=True)[:count]:
        yield f"{value(f):6.1f}  {f.module}: {f.name}"


def main() -> None:
    folder = (
        Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "src" / "dalembert"
    )
    modules = package(folder)
    for line in (*table(modules), *extremes([f for m in modules for f in m.functions])):
        print(line)


if __name__ == "__main__":
    main()
