"""Building of small native programs, kept in a cache: a second run does not compile."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

CACHE = Path(
    os.environ.get("DALEMBERT_BENCH_CACHE", Path(tempfile.gettempdir()) / "dalembert-benchmarks")
)
HERE = Path(__file__).parent
FAST = ("-O3", "-march=native")
SHARED = ("-shared", "-fPIC")
FAILED: dict[Path, str] = {}  # what could not be built, and why: it is not tried again


class BuildError(Exception):
    """A native program could not be built; the text says why."""


def built(
    sources: Sequence[Path],
    suffix: str,
    flags: Sequence[str],
    compiler: str = "gcc",
    link: Sequence[str] = (),
) -> Path:
    """The program of the first source; the others are what it includes.

    Raises
    ------
    BuildError
        There is no compiler, or it fails.
    """
    text = "\0".join(
        [
            compiler,
            platform.processor(),
            cpu_name(),
            *flags,
            *link,
            *(s.read_text() for s in sources),
        ]
    )
    out = CACHE / f"{sources[0].stem}-{hashlib.sha256(text.encode()).hexdigest()[:16]}{suffix}"
    if out in FAILED:
        raise BuildError(FAILED[out])
    if not out.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        fresh = out.with_name(f"{out.name}.{os.getpid()}")
        try:
            run([compiler, *flags, str(sources[0]), "-o", str(fresh), *link])
        except BuildError as error:
            FAILED[out] = str(error)
            raise
        fresh.replace(out)
    return out


def library(
    sources: Sequence[Path],
    flags: Sequence[str] = FAST,
    compiler: str = "gcc",
    link: Sequence[str] = ("-lm",),
) -> ctypes.CDLL:
    """A shared library, loaded."""
    return ctypes.CDLL(str(built(sources, ".so", (*flags, *SHARED), compiler, link)))


def run(command: Sequence[str]) -> str:
    """Output of a program; BuildError with its last line where it fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except OSError as error:
        raise BuildError(f"{command[0]}: {error.strerror}") from None
    except subprocess.CalledProcessError as error:
        errors = [
            line for line in error.stderr.splitlines() if "error" in line
        ] or error.stderr.splitlines()
        raise BuildError(
            f"{Path(command[0]).name} failed: {errors[0] if errors else error.returncode}"
        ) from None


def cpu_name() -> str:
    """The processor's name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
