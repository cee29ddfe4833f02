"""Shape, unit and description of a quantity are said once, and results, help, files and pages agree with it."""

import re
from pathlib import Path

import numpy as np
import pytest
from test_kinds_of_systems import SYSTEMS, source, start  # noqa: F401

import dalembert as da
from dalembert import cli
from dalembert.compiled.documentation import sections
from dalembert.systems.kinds import system_of
from dalembert.tracing.quantities import QUANTITIES
from dalembert.tracing.quantity import FACTS

PAGE = Path(__file__).parents[2] / "docs" / "systems.md"


def length(axis, system):
    """Of an axis: a number, or a multiple of a number of the system."""
    factor, _, name = str(axis).rpartition(" ")
    counts = {"nq": system.nq, "nv": system.nv, "n": sum(not j.is_fixed for j in system.mechanism.joints) if system.mechanism else 0}
    return int(factor or 1) * (counts[name] if name in counts else int(name))


def test_results_have_the_shapes_of_the_table(source):      # noqa: F811
    system = system_of(source)
    q, qd = start(system)
    state = {"q": q, "qd": qd, "qdd": np.cos(q[:system.nv]), "tau": np.sin(qd), "p": qd, "t": 0.3}
    for name, quantity in system.quantities.items():
        frame = ("tip",) if quantity.framed else ()
        found = quantity.function(*(state[i] for i in quantity.inputs), *frame)
        first = found[0] if hasattr(found, "_fields") else found
        assert np.shape(first) == tuple(length(n, system) for n in quantity.shape), name
        assert quantity.description and (quantity.unit or name == "regressor"), name
        assert (quantity.shape, quantity.unit) == FACTS[name][:2]      # a name means one thing in all systems
        if hasattr(found, "_fields") and name != "linearize":
            assert quantity.description == ", ".join(found._fields)


@pytest.mark.parametrize("name", QUANTITIES)
def test_help_says_shape_and_unit_of_the_table(name):
    quantity, returns = QUANTITIES[name], " ".join(sections(QUANTITIES[name].function.__doc__)["Returns"].split())
    shape = f"({', '.join(map(str, quantity.shape))}{',' * (len(quantity.shape) == 1)})"
    assert (shape if quantity.shape else "float or (N,)") in returns
    said = returns.replace("for translations", "").replace(" for prismatic joints", "")
    for unit in re.split(r"[,;] ", quantity.unit.replace(" and the like", "").removeprefix("1; ")):
        assert unit in said, unit


def test_the_page_has_the_table():
    rows = re.findall(r"^\| `([^`]*)` \| `([^`]*)` \| (.*?) \| (.*?) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    assert [tuple(row) for row in rows] == system_of(da.planar_chain(2)).table()


def test_compiled_quantities_of_systems_have_help():
    dynamics = da.compile(SYSTEMS["heavy top"]())
    said = dynamics.mass_matrix.__doc__
    assert said.startswith("mass_matrix(q, t=0.0): (nv, nv) [kg m^2, kg m, kg], M, symmetric.\n")
    assert "q (nq,) [rad, m]" in said and "ShapeError" in said and "OverflowedError" in said


def test_info_lists_them(capsys, tmp_path):
    da.save(da.planar_chain(1), tmp_path / "arm.toml")
    cli.info(tmp_path / "arm.toml", quantities=True)
    assert "(nv, nv) [kg m^2, kg m, kg]" in capsys.readouterr().out
