"""The documents of the fourth source's method and experiment have the numbers that their scripts print."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").splitlines() for name in ("elastic_line", "elastic_experiment")}
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


@pytest.fixture(scope="module")
def scripts():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        import elastic_experiment
        import elastic_line_errors

        yield elastic_line_errors, elastic_experiment
    for name in ("elastic_experiment", "elastic_line_errors"):
        del sys.modules[name]


def test_damping_of_the_document_is_that_of_the_script(scripts):
    for row in scripts[0].table_of_damping():
        assert row in PAGES["elastic_line"], row


@pytest.mark.slow
@pytest.mark.parametrize("name", ["orthogonalisation", "angles"])
def test_motions_of_the_document_are_those_of_the_script(scripts, name):
    for row in scripts[0].TABLES[name]():
        assert row in PAGES["elastic_line"], row


@pytest.mark.slow
@pytest.mark.parametrize("name", ["step", "intervals", "passes"])
def test_errors_of_the_document_are_those_of_the_script(scripts, name):
    """Within a factor of two, above rounding."""
    rows = [row for row in scripts[0].TABLES[name]() if "e-" in row]
    shown = {row.split("|")[1]: row for row in PAGES["elastic_line"] if "e-" in row and row[0] == "|"}
    for row in rows:
        errors, stored = (np.array(NUMBER.findall(r.split("|", 2)[2]), dtype=float) for r in (row, shown[row.split("|")[1]]))
        assert (np.abs(np.log2(errors / stored)) < 1)[stored > 1e-9].all(), row


@pytest.mark.slow
def test_experiment_of_the_document_is_that_of_the_script(scripts, tmp_path):
    experiment = scripts[1]
    motions = {"the source's, h = 2.5 ms": experiment.by_the_source(), "exact beams, damped": experiment.by_exact_beams()}
    for table in (experiment.table_of_alignments, experiment.table_of_changes, experiment.table_of_shapes):
        for row in table(motions):
            assert row in PAGES["elastic_experiment"], row
    pytest.importorskip("matplotlib")
    experiment.draw(tmp_path / "figure.svg", motions)
    assert (tmp_path / "figure.svg").stat().st_size > 50_000
