"""The notebooks run from their first cell to their last, and are stored without outputs."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
EACH = pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda p: p.stem)


def code_of(path):
    """The text of each cell of code."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@EACH
def test_notebooks_are_stored_without_outputs_and_check_themselves(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
    assert any("assert " in code for code in code_of(path))
    assert f"]({path.name})" in (FOLDER / "index.md").read_text(encoding="utf-8")


def test_cells_run_in_order():      # of one notebook, without a kernel
    names = {}
    for code in code_of(FOLDER / "loops.ipynb"):
        exec(code, names)


@pytest.mark.slow
@EACH
@pytest.mark.filterwarnings("ignore")      # of the libraries that start a kernel
def test_notebooks_run_in_a_kernel(path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    book = nbformat.read(path, as_version=4)
    done = nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    assert any(cell.get("outputs") for cell in done.cells)
