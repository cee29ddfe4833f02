"""LaTeX documents as PDF, by any engine that is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from dalembert.errors import DalembertError

TEX = ("-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape")
ENGINES = {
    "lualatex": TEX,
    "xelatex": TEX,
    "pdflatex": TEX,
    "tectonic": ("--untrusted",),
}  # two know every script
LATEX_TIMEOUT = 300  # s


def pdf(document: str, file: Path) -> Path:
    """The document, compiled by the first engine that manages to.

    Raises
    ------
    DalembertError
        No engine is installed; all that are failed.
    """
    installed = [engine for engine in ENGINES if shutil.which(engine)]
    if not installed:
        raise DalembertError(
            f"no LaTeX found ({', '.join(ENGINES)}): write .tex, or .html, which a browser can "
            "print."
        )
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "equations.tex"
        source.write_text(document, encoding="utf-8")
        for engine in installed:
            fault = _compiled(engine, source)
            if not fault:
                shutil.copyfile(source.with_suffix(".pdf"), file)
                return file
            faults.append(f"{engine}: {fault}")
    raise DalembertError(
        f"LaTeX failed ({'; '.join(faults)}): write .tex, or .html, which a browser can print."
    )


def _compiled(engine: str, source: Path) -> str:
    """Compile a file; why that failed, or ""."""
    made = source.with_suffix(".pdf")
    made.unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [engine, *ENGINES[engine], source.name],
            cwd=source.parent,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LATEX_TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0 and made.exists():
        return ""
    said = [
        x
        for x in (*done.stdout.splitlines(), *done.stderr.splitlines())
        if x.startswith(("!", "error:"))
    ]
    return said[0] if said else f"exit status {done.returncode}"
