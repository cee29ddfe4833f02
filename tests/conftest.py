"""Shared by all tests: this folder is importable (helpers such as oracles.py)."""

import atexit
import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
if "DALEMBERT_CACHE" not in os.environ:      # compiled code of the tests goes to a folder of their own
    os.environ["DALEMBERT_CACHE"] = tempfile.mkdtemp(prefix="dalembert-tests-")
    atexit.register(shutil.rmtree, os.environ["DALEMBERT_CACHE"], ignore_errors=True)


def pytest_collection_finish():
    """Modules and collected tests stay; the garbage collector need not look through them again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def quickly_compiled(request):
    """Code is compiled without LLVM's optimisation, which takes a third of the time and computes the same numbers.

    For tests of what is computed, where compiled code itself is tested elsewhere; with optimisation, as users run it, where
    slow tests are asked for.
    """
    from dalembert.native import cache, kernel

    if "not slow" not in request.config.option.markexpr:
        yield
        return
    folder = cache.folder() and cache.folder() / "quickly"
    if folder:
        folder.mkdir(mode=0o700, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "OPTIMISATION", 0)
        patch.setattr(cache, "folder", lambda: folder)
        yield


@pytest.fixture
def run(capsys):
    """Runs a command line in this process; gives (exit code, standard output, standard error)."""
    from dalembert import cli

    def runs(*arguments):
        return cli.run([str(a) for a in arguments]), *capsys.readouterr()
    return runs
