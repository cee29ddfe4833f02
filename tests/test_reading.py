"""The routes through the code of docs/reading.md: files and functions that are there, six at most, each beside one before it."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from test_layers import LAYERS, PACKAGE, layer, modules

PAGE = (Path(__file__).parents[1] / "docs" / "reading.md").read_text(encoding="utf-8")
STEP = re.compile(r"^\d\. `([\w/]+\.py)`:(.*?)(?=^\d\. |\Z)", re.M | re.S)
ROUTES = {title: [(file, re.findall(r"`([^`\n]+)`", text)) for file, text in STEP.findall(body)]
        for title, body in re.findall(r"^## (.+?)$(.*?)(?=^## |\Z)", PAGE, re.M | re.S)}


@cache
def defined(file):
    """Names of the functions and classes of a file, with those of the classes that they are in."""
    found = set()

    def look(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                found.add(prefix + child.name)
                look(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.AnnAssign):
                found.add(f"{prefix}{child.target.id}" if isinstance(child.target, ast.Name) else "")

    look(ast.parse((PACKAGE / file).read_text(encoding="utf-8")), "")
    return found


@cache
def reached(module):
    """All modules that a module needs."""
    found, ahead = set(), [module]
    while ahead:
        new = modules()[ahead.pop()] - found
        found |= new
        ahead += new
    return found


def module(file):
    return file.removesuffix(".py").replace("/", ".")


def test_there_are_five_routes():
    assert len(ROUTES) == 5


@pytest.mark.parametrize("route", ROUTES)
def test_each_route_has_six_files_at_most_and_none_twice(route):
    files = [file for file, _ in ROUTES[route]]
    assert 3 <= len(files) == len({*files}) <= 6


@pytest.mark.parametrize("file, names", [step for steps in ROUTES.values() for step in steps], ids=lambda x: x if isinstance(x, str) else "")
def test_the_functions_that_are_named_are_in_their_files(file, names):
    assert names and names[0] in defined(file)
    assert all(name in defined(file) for name in names if "." in name)


@pytest.mark.parametrize("route", ROUTES)
def test_each_file_needs_one_before_it_or_is_needed_by_it(route):
    before = []
    for file, _ in ROUTES[route]:
        m = module(file)
        assert not before or any(m in reached(b) or b in reached(m) for b in before), file
        assert all(LAYERS.index(layer(i)) <= LAYERS.index(layer(m)) for i in modules()[m])
        before.append(m)
