"""The architecture, read from the imports: they only point up the list of layers, and never in a circle."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from sources import PACKAGE, parsed

LAYERS = ["errors", "arguments", "call_faults", "whole_files", "displays", "data", "expr", "purity", "spatial", "integrators", "generators", "beams", "model", "kinematics", "constraints", "readers", "writers", "loops", "formulations", "codegen",
          "native", "tracing", "systems", "analysis", "compiled", "controllers", "results", "closed_forms", "simulation", "initial_parameters", "views", "sweeps", "convert", "reports",
          "commandline", "cli", "__main__"]

REGISTRIES = ["codegen.targets.registry", "integrators.methods", "systems.kinds"]      # which import the modules of a list
ROOMS = {"closed_forms": ["algebra", "printing", "derivation", "quantities", "reports", "equations"]}      # lower ones first


@cache
def modules():
    """Module name (below the package) -> the modules below the package that it imports: late and for types too."""
    paths = {".".join(p.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): p
             for p in PACKAGE.rglob("*.py")}
    graph = {}
    for name, path in paths.items():
        found = set()
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name}: relative import in line {node.lineno}"
                base = node.module or ""
                found |= {f"{base}.{a.name}" if f"{base}.{a.name}".removeprefix("dalembert.") in paths else base
                          for a in node.names}
            elif isinstance(node, ast.Import):
                found |= {a.name for a in node.names}
        graph[name] = {f.removeprefix("dalembert.") for f in found if f.startswith("dalembert.")} & set(paths) - {name}
    for name in REGISTRIES:
        listed = import_module(f"dalembert.{name}").MODULES
        graph[name] |= {f"{folder(name)}.{module}" for module in (listed.values() if isinstance(listed, dict) else listed)}
    return graph


def folder(module):
    """Folder of a module below the package; of a file in the package itself, its name."""
    path = PACKAGE / module.replace(".", "/")
    return module if path.is_dir() or "." not in module else module.rpartition(".")[0]


def layer(module):
    return module.split(".")[0]


def test_every_module_belongs_to_a_layer():
    assert {layer(m) for m in modules()} - {"__init__"} <= set(LAYERS)


def test_the_documented_architecture_lists_the_layers_in_their_order():
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = "".join(re.findall(r"^\| (`.*?`) \|", page, re.MULTILINE))
    assert re.findall(r"`(\w+)[./]", rows) == [name for name in LAYERS if name != "__main__"]


def test_imports_only_point_up_the_list():
    wrong = [f"{m} imports {i}" for m, imports in modules().items() if m != "__init__" for i in imports
             if LAYERS.index(layer(i)) > LAYERS.index(layer(m))]
    assert not wrong, wrong


def test_no_module_imports_in_a_circle():
    graph = {m: imports for m, imports in modules().items() if m != "__init__"}
    assert list(TopologicalSorter(graph).static_order())


def test_folders_import_one_way():
    """Rooms within a package as packages; a room and the package around it are told apart by module alone."""
    graph = {}
    for module, imports in modules().items():
        room = folder(module)
        beside = {folder(i) for i in imports if not folder(i).startswith(room) and not room.startswith(folder(i))}
        graph.setdefault(room, set()).update(beside if module != "__init__" else ())
    assert len(graph) > 30 and list(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("package", ROOMS)
def test_rooms_of_a_package_import_lower_ones(package):
    rooms = ROOMS[package]
    below = {m: {i for i in imports if layer(i) == package and i != package} for m, imports in modules().items()
             if layer(m) == package and m != package}
    wrong = [f"{m} imports {i}" for m, imports in below.items() for i in imports
             if rooms.index(i.split(".")[1]) > rooms.index(m.split(".")[1])]
    assert not wrong and {m.split(".")[1] for m in below} == {*rooms}, wrong


def test_formulations_do_not_import_each_other():
    wrong = [f"{m} imports {i}" for m, imports in modules().items() if m.startswith("formulations.") for i in imports
             if i.startswith("formulations.") and i.split(".")[1] != m.split(".")[1]]
    assert not wrong, wrong


@pytest.mark.parametrize("name, known", [("expr", {"expr", "displays", "arguments", "errors"}),
                                         ("integrators", {"integrators", "expr", "arguments", "errors"}),
                                         ("codegen", {"codegen", "expr", "whole_files", "arguments", "errors"})])
def test_expressions_integrators_and_code_generation_know_no_mechanics(name, known):
    assert {layer(i) for m, imports in modules().items() if layer(m) == name for i in imports} <= known


def test_native_code_knows_no_mechanics():
    known = {"native", "displays", "codegen", "integrators", "expr", "arguments", "errors"}
    assert {i for m, imports in modules().items() if layer(m) == "native" for i in imports if layer(i) == "integrators"} == {
        "integrators.method_kinds", "integrators.fixed_point"}
    assert {i for m, imports in modules().items() if layer(m) == "native" for i in imports if layer(i) not in known} == {
        "spatial.arrays"}


def test_tracing_imports_neither_llvm_nor_ctypes():
    graph = modules()

    def reached(module, seen):
        for i in graph[module] - seen:
            seen.add(i)
            reached(i, seen)
        return seen

    for module in (m for m in graph if layer(m) == "tracing"):
        assert not {i for i in reached(module, set()) if layer(i) == "native" or ".llvm" in i}, module
        text = (PACKAGE / (module.replace(".", "/") + ".py"))
        assert not text.exists() or not {"ctypes", "llvmlite"} & set(text.read_text(encoding="utf-8").split())
