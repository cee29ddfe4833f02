"""The document of the third source's experiment has the numbers that its script prints."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("quickly_compiled")


@pytest.fixture(scope="module")
def experiment():
    spec = importlib.util.spec_from_file_location("program_experiment", ROOT / "benchmarks" / "program_experiment.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_document_has_the_tables_of_the_script(experiment):
    lines = (ROOT / "docs" / "program_experiment.md").read_text(encoding="utf-8").splitlines()
    for row in [*experiment.table_of_figures(), *experiment.table_of_answers()]:
        assert row in lines, row


def test_the_maps_have_the_region_of_the_text(experiment):
    chart = experiment.map_of(experiment.da.generators.SteadyAcceleration(1.0), [0.0, 0, 0], 7)
    alpha, c = np.meshgrid(*chart.values, indexing="ij")
    np.testing.assert_array_equal(chart.is_stable, (alpha < 0) & (c > 0))
    assert not experiment.map_of(experiment.da.generators.Harmonic(1.0, 1.0), [0.0, 0, 0], 7).is_stable.any()


@pytest.mark.slow
def test_the_figure_is_drawn(experiment, tmp_path):
    pytest.importorskip("matplotlib")
    experiment.draw(tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 50_000
