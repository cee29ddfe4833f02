"""Help on public names: shapes, units, errors, and an example that runs."""

import doctest
import inspect
import re
from collections import Counter

import pytest

import dalembert as da
from dalembert.compiled.documentation import sections
from dalembert.compiled.systems import SystemDynamics
from dalembert.formulations import elementary_motions
from dalembert.tracing.quantities import QUANTITIES
from dalembert.tracing.quantity import FACTS

MODULES = {"da": da, "da.beams": da.beams, "da.controllers": da.controllers, "da.convert": da.convert, "da.data": da.data,
           "da.generators": da.generators, "da.hamilton": da.hamilton, "da.lagrange": da.lagrange, "da.loops": da.loops, "da.ports": da.ports, "da.solids": da.solids, "elementary_motions": elementary_motions}
PARSER, LIKE = doctest.DocTestParser(), doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SHAPE = re.compile(r"\((n|n_?[qv]|N|K|m|k|\d+)(,| \w*\))|\(nv|\(10 n|\(2 nv|number|float|scalar|int\b|str\b")
UNIT = re.compile(r"\[[^\]]*(rad|m|kg|N|J|s|1|W|-)[^\]]*\]")


def objects():
    """Every public function and class but errors, and every method of compiled objects, by the name that a user types."""
    for prefix, module in MODULES.items():
        for name in module.__all__:
            x = getattr(module, name)
            if not inspect.ismodule(x) and not (inspect.isclass(x) and issubclass(x, (Exception, Warning))):
                yield f"{prefix}.{name}", x
    for name in [*QUANTITIES, "function", "source", "write"]:
        yield f"Dynamics.{name}", getattr(da.Dynamics, name)
    for name in ("function", "source", "write"):
        yield f"SystemDynamics.{name}", getattr(SystemDynamics, name)
    compiled = type(da.function(lambda x: x, x=()))
    for name in ("gradient", "hessian", "jacobian", "source"):
        yield f"CompiledFunction.{name}", getattr(compiled, name)


ARRAY = re.compile(r"ndarray|Array|Values\b|Vector\b|Matrix\b")      # in annotations
STATES = {"q", "qd", "qdd", "tau", "p", "q1", "q0", "q_1", "q_0", "step", "z", "b"}
SHAPE_OF_ARRAY = re.compile(r"\((\d* ?n[vq]?|N|\d+|k|records|states|motors),|\bshape|number \[|rows of")
# Methods that take arrays and state no shape: sheets of closed forms, which the package alone makes of expressions.
WITHOUT_SHAPES = {"ClosedForms.in_full", "ClosedForms.factored", "ClosedForms.abridged", "ClosedForms.solved"}
# Methods without an example, by class: sheets of closed forms are made by the package alone.
WITHOUT_EXAMPLES = {"ClosedForms": 4}
NUMPY_NAMES = {"sqrt", "exp", "log", "hypot", "sin", "cos", "tan", "arcsin", "arccos", "arctan2", "sinh", "cosh", "tanh"}      # of Expr


def methods():
    """(class, name, method) of the public methods of public classes, the quantities of compiled objects among them."""
    for x in {x for x in ALL.values() if inspect.isclass(x)} | {SystemDynamics}:
        for owner in (c for c in x.__mro__ if c.__module__.startswith("dalembert")):
            for name, method in vars(owner).items():
                method = getattr(method, "__func__", method)
                if inspect.isfunction(method) and not name.startswith("_") and name not in NUMPY_NAMES:
                    yield owner, name, method


def contract(owner, name):
    """Docstring of a method, or of the method of an interface that it implements, if that has the example."""
    docs = [inspect.getdoc(getattr(c.__dict__[name], "__func__", c.__dict__[name])) or "" for c in owner.__mro__ if name in c.__dict__]
    return next((doc for doc in docs if ">>> " in doc), docs[0])


ALL = dict(objects())
METHODS = {f"{owner.__name__}.{name}": contract(owner, name) for owner, name, _ in methods()}
FUNCTIONS = {name: x for name, x in ALL.items() if not inspect.isclass(x)}
VECTORS = {name: x for name, x in FUNCTIONS.items() if {"q", "qd", "p"} & set(inspect.signature(x).parameters)}


@pytest.mark.parametrize("name", ALL)
def test_examples_run_and_print_what_they_show(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = sections(ALL[name].__doc__).get("Examples", "")
    assert ">>> " in example, f"help({name}) has no example"
    printed = []
    doctest.DocTestRunner(optionflags=LIKE, verbose=False).run(PARSER.get_doctest(example, {}, name, None, 0), out=printed.append)
    assert not printed, "".join(printed)


def test_every_method_has_a_docstring_and_an_example():
    assert all(METHODS.values()), [name for name, doc in METHODS.items() if not doc]
    bare = Counter(name.split(".")[0] for name, doc in METHODS.items() if ">>> " not in doc)
    assert all(count <= WITHOUT_EXAMPLES.get(name, 0) for name, count in bare.items()), bare


def takes_arrays(method):
    """Whether a method takes or returns arrays, by its annotations and the names of vectors."""
    signature = inspect.signature(method)
    annotations = [signature.return_annotation, *(p.annotation for p in signature.parameters.values())]
    return bool(STATES & set(signature.parameters)) or any(ARRAY.search(str(x)) for x in annotations)


def contract_without_example(owner, name):
    return "\n".join(text for part, text in sections(METHODS[f"{owner.__name__}.{name}"]).items() if part != "Examples")


def test_methods_of_arrays_say_shapes():
    bare = {f"{owner.__name__}.{name}" for owner, name, method in methods()
            if takes_arrays(method) and not SHAPE_OF_ARRAY.search(contract_without_example(owner, name))}
    assert bare == WITHOUT_SHAPES, bare ^ WITHOUT_SHAPES


def test_methods_that_are_quantities_say_units_and_errors():
    quantities = [(owner, name) for owner, name, method in methods()
                  if name in FACTS and STATES & set(inspect.signature(method).parameters) and not issubclass(owner, da.JointType)]
    assert len(quantities) > 30
    unitless = [f"{owner.__name__}.{name}" for owner, name in quantities if not UNIT.search(contract_without_example(owner, name))]
    faultless = [f"{owner.__name__}.{name}" for owner, name in quantities
                 if "Error" not in contract_without_example(owner, name) + sections(owner.__doc__).get("Raises", "")]
    assert not unitless and not faultless, (unitless, faultless)


# Methods that take a file or the name of a quantity and raise for none: sheets that the package alone makes.
WITHOUT_ERRORS = WITHOUT_SHAPES


def test_methods_of_files_and_names_say_errors():
    bare = {f"{owner.__name__}.{name}" for owner, name, method in methods()
            if {"file", "folder", "path", "quantity", "quantities"} & set(inspect.signature(method).parameters)
            and "Error" not in contract_without_example(owner, name)}
    assert bare == WITHOUT_ERRORS, bare ^ WITHOUT_ERRORS


@pytest.mark.parametrize("owner", sorted({name.split(".")[0] for name in METHODS}))
def test_examples_of_methods_run_and_print_what_they_show(owner, monkeypatch, tmp_path):
    for library in ("xarray", "pandas", "zarr", "h5netcdf", "matplotlib") if owner == "Run" else ("xarray",) if owner == "Sweep" else ():
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    printed = []
    for name, doc in METHODS.items():
        if name.split(".")[0] == owner:
            examples = PARSER.get_doctest(sections(doc).get("Examples", ""), {}, name, None, 0)
            doctest.DocTestRunner(optionflags=LIKE, verbose=False).run(examples, out=printed.append)
    assert not printed, "".join(printed)


@pytest.mark.parametrize("name", VECTORS)
def test_functions_of_states_say_shapes_units_and_errors(name):
    parts = sections(VECTORS[name].__doc__)
    text = "\n".join(parts.values())
    assert SHAPE.search(text) and UNIT.search(text), f"help({name}) says no shapes or units"
    assert "Error" in parts.get("Raises", ""), f"help({name}) says no errors"
    assert "as for `" not in text.replace("solver : as for `", ""), f"help({name}) sends its reader elsewhere"


OF_CONSTRAINTS = {"t", "weights", "independent"}      # arguments of mechanisms with constraints, which compile to SystemDynamics


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_help_on_a_compiled_quantity_has_all_of_the_plain_functions(quantity):
    plain, compiled = sections(getattr(da, quantity).__doc__), sections(getattr(da.Dynamics, quantity).__doc__)
    assert plain.keys() <= compiled.keys()
    assert compiled["Returns"] == plain["Returns"] and plain["Raises"] in compiled["Raises"]
    given = [name for name in list(inspect.signature(getattr(da, quantity)).parameters)[1:] if name not in OF_CONSTRAINTS]
    assert list(inspect.signature(getattr(da.Dynamics, quantity)).parameters) == ["self", *given, "out", "threads", "parameters"]
    assert all(f"{option} : " in compiled["Parameters"] for option in ("out", "threads", "parameters"))


def test_help_on_a_built_in_quantity_is_that_of_its_method():
    dynamics = da.compile(da.planar_chain(1))
    assert sections(dynamics.mass_matrix.__doc__) == sections(da.Dynamics.mass_matrix.__doc__)
    assert list(inspect.signature(dynamics.mass_matrix).parameters) == ["q", "out", "threads", "parameters"]


@pytest.mark.parametrize("module", [da.lagrange, elementary_motions, da.hamilton], ids=lambda m: m.__name__.split(".")[-1])
def test_formulations_state_one_contract(module):
    for name in sorted(set(module.__all__) & set(QUANTITIES)):
        plain, sibling = sections(getattr(da, name).__doc__), sections(getattr(module, name).__doc__)
        assert sibling["Returns"].split("\n")[0].split(":")[-1].strip() == plain["Returns"].split("\n")[0].split(":")[-1].strip() \
            or module is da.hamilton, name
        output = plain["Examples"].splitlines()[3:]
        assert output == [line for line in sibling["Examples"].splitlines() if "import" not in line][2:], name
