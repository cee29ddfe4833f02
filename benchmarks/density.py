"""How much there is to understand in the sources: tokens of code, and how dense, long and wide functions are.

    python benchmarks/density.py [FOLDER]

Docstrings, comments and layout do not count as tokens; a line counts if it has one. Lines of a function are those from its
`def` to its end, without its docstring.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import NamedTuple

LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Function(NamedTuple):
    """A function of a module: its name with the classes and functions that it is in, lines and arguments."""

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


def docstrings(tree: ast.Module) -> dict[int, ast.Expr]:
    """Line on which a docstring begins -> the statement."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            found[node.body[0].lineno] = node.body[0]
    return found


def measured(text: str, name: str) -> Module:
    """Measure the source of a module."""
    tree = ast.parse(text)
    docs = docstrings(tree)
    hidden = {line for doc in docs.values() for line in range(doc.lineno, (doc.end_lineno or doc.lineno) + 1)}
    code = [token.start[0] for token in tokenize.generate_tokens(StringIO(text).readline)
            if token.type not in LAYOUT and token.start[0] not in hidden]
    functions = tuple(_functions(tree, name, "", hidden, code))
    return Module(name, len(code), len(set(code)), functions)


def _functions(node: ast.AST, module: str, prefix: str, hidden: set[int], code: list[int]) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            inner = f"{prefix}{child.name}."
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            span = range(child.lineno, (child.end_lineno or child.lineno) + 1)
            own = child.body[0].lineno
            doc = len(hidden.intersection(span)) if own in hidden else 0
            yield Function(module, inner[:-1], len(span) - doc, _arguments(child), sum(line in span for line in code))
        yield from _functions(child, module, inner, hidden, code)


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Arguments of a function, without the object that it is a method of."""
    a = function.args
    names = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def package(folder: Path) -> list[Module]:
    """Measure all modules of a folder."""
    return [measured(path.read_text(encoding="utf-8"), path.relative_to(folder).as_posix())
            for path in sorted(folder.rglob("*.py"))]


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
    yield from _ranked("densest functions [tokens a line]", longer, lambda f: f.tokens / f.lines, count)


def _ranked(title: str, functions: list[Function], value: Callable[[Function], float], count: int) -> Iterator[str]:
    yield f"\n{title}"
    for f in sorted(functions, key=value, reverse=True)[:count]:
        yield f"{value(f):6.1f}  {f.module}: {f.name}"


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "src" / "dalembert"
    modules = package(folder)
    for line in (*table(modules), *extremes([f for m in modules for f in m.functions])):
        print(line)


if __name__ == "__main__":
    main()
