"""Shared by all tests: this folder is importable (helpers such as oracles.py)."""

import atexit
import gc
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
if "DALEMBERT_CACHE" not in os.environ:      # compiled code of the tests goes to a folder of their own
    os.environ["DALEMBERT_CACHE"] = tempfile.mkdtemp(prefix="dalembert-tests-")
    atexit.register(shutil.rmtree, os.environ["DALEMBERT_CACHE"], ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Long cases of tests are slow ones; tests that take the fixture `browser` are of the browser."""
    import long_cases

    long_cases.mark(config, items)
    for item in items:
        if "browser" in item.fixturenames:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_disks():
    """Files of tests need not outlive a loss of power."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """The garbage collector rests while tests are collected, of which all stays: it would look through it again and again.

    Nor need it look through expressions at every 700 new ones, which takes a tenth of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(50_000, 20, 100)


OF_CODE = ("codegen", "native", "tracing", "compiled/test_dynamics", "compiled/test_extremes", "compiled/test_sources")      # the code itself


@pytest.fixture(scope="module", autouse=True)
def quickly_compiled(request):
    """Code is compiled without LLVM's optimisation and for vectors of two states, in a quarter of the time; the numbers are the same.

    As users run it, in rooms and files where compiled code itself is tested, and where slow tests are asked for.
    """
    from dalembert.native import cache, kernel

    file = request.path.relative_to(Path(__file__).parent).as_posix()
    if file.startswith(OF_CODE) or "not slow" not in request.config.option.markexpr:
        yield
        return
    machine, features = kernel.host()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "host", lambda: (replace(machine, lanes=2), features))
        patch.setattr(kernel, "OPTIMISATION", 0)
        patch.setattr(cache, "OWN", f"{cache.OWN}-quickly")      # the folder within the cache
        cache.folder.cache_clear()
        yield
    cache.folder.cache_clear()


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium for `browser.open_page`."""
    from browser import browser_session

    with browser_session() as session:
        yield session


@pytest.fixture
def run(capsys):
    """Runs a command line in this process; gives (exit code, standard output, standard error)."""
    from dalembert import cli

    def runs(*arguments):
        return cli.run([str(a) for a in arguments]), *capsys.readouterr()
    return runs
