"""The cost of installing the package and its extras:

    python benchmarks/install_cost.py [--page docs/install.md]

Each extra is installed into a new environment from a wheel of these sources. Sizes are of the
environments' packages, with the byte code that pip compiles; those of extras are beyond the base.
Times are of the processor: unpacking and compiling, without what is waited for; they are listed for
first commands too.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from native import cpu_name

ROOT = Path(__file__).parents[1]
MEGABYTE = 1e6
SHOWN = 7  # largest packages of the base
START, END = "<!-- measured -->\n", "<!-- /measured -->\n"
USES = {
    "files": "runs and sweeps as NetCDF and Zarr",
    "plot": "diagrams and films",
    "view": "the viewer in a browser, meshes",
    "mjcf": "MJCF files",
    "docs": "building these pages",
    "test": "running the tests",
    "browser": "tests of pages, beside Chromium",
    "bench": "comparison with other engines",
}
COMMANDS = {
    "`import dalembert`": ["-c", "import dalembert"],
    "`dalembert --help`": ["-m", "dalembert", "--help"],
    "`dalembert info panda`": ["-m", "dalembert", "info", "panda"],
    "`dalembert demo`, first time": ["-m", "dalembert", "demo"],
    "`dalembert demo`, again": ["-m", "dalembert", "demo"],
}


class Cost(NamedTuple):
    """Size of an environment's packages in MB, their number, seconds to install them, and the
    largest.
    """

    megabytes: float
    packages: int
    seconds: float
    largest: list[tuple[str, float]]


def environment(folder: Path) -> Path:
    """Python of a new environment with nothing in it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def installed(wheel: Path, extra: str, folder: Path) -> tuple[Path, Cost]:
    """Python of an environment with the wheel and an extra, and the cost."""
    python = environment(folder / (extra or "base"))
    target = f"{wheel}[{extra}]" if extra else str(wheel)
    seconds = processor_seconds(
        [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", target]
    )
    packages = next(python.parents[1].glob("[Ll]ib*/**/site-packages"))  # lib64 may be a link
    sizes = {path.name: size(path) for path in packages.iterdir()}
    count = sum(name.endswith(".dist-info") for name in sizes)
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:SHOWN]
    return python, Cost(sum(sizes.values()), count, seconds, largest)


def processor_seconds(command: list[Any], **options: Any) -> float:
    """Seconds that a command keeps processors busy, which other programs do not change much."""
    before = os.times()
    subprocess.run(command, check=True, capture_output=True, **options)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def size(path: Path) -> float:
    """Size of a file, or of all files in a folder, in MB."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) / MEGABYTE


def first_commands(python: Path, folder: Path) -> dict[str, float]:
    """Seconds of commands, in this order, with an empty cache of compiled code."""
    variables = os.environ | {"DALEMBERT_CACHE": str(folder / "cache")}
    variables.pop("PYTHONPATH", None)
    return {
        title: processor_seconds([python, *arguments], cwd=folder, env=variables)
        for title, arguments in COMMANDS.items()
    }


def page(base: Cost, costs: dict[str, Cost], commands: dict[str, float]) -> str:
    """Tables in Markdown."""
    largest = _listed(base.largest)
    first = f"{base.megabytes:.0f} | {base.packages} | {base.seconds:.0f} | {largest}"
    lines = [
        "| extra | for | MB | packages | seconds | largest, MB |",
        "| --- | --- | --- | --- | --- | --- |",
        f"| none | dynamics, equations, machine code, simulation | {first} |",
        *(_row(extra, cost, base) for extra, cost in sorted(costs.items(), key=_megabytes)),
        "",
        "| first use | seconds |",
        "| --- | --- |",
        *(f"| {title} | {seconds:.2f} |" for title, seconds in commands.items()),
        "",
        f"Measured on {datetime.date.today().isoformat()} with Python {platform.python_version()} "
        f"on {platform.system()} {platform.machine()}; seconds of processor time, {cpu_name()}.",
    ]
    return "\n".join(lines) + "\n"


def _megabytes(item: tuple[str, Cost]) -> float:
    return item[1].megabytes


def _listed(sizes: list[tuple[str, float]]) -> str:
    return ", ".join(f"{_plain(name)} {megabytes:.0f}" for name, megabytes in sizes)


def _plain(name: str) -> str:
    """A package by its name: libraries beside it, and modules that mypy compiled."""
    return "mypy" if "__mypyc" in name else name.replace(".libs", " libraries")


def _row(extra: str, cost: Cost, base: Cost) -> str:
    """A line of the table: the cost beyond the base."""
    ours = {name for name, _ in base.largest}
    largest = _listed([item for item in cost.largest if item[0] not in ours])
    beyond = f"+{cost.megabytes - base.megabytes:.0f} | +{cost.packages - base.packages}"
    seconds = f"+{cost.seconds - base.seconds:.0f}"
    return f"| `{extra}` | {USES.get(extra, '')} | {beyond} | {seconds} | {largest} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--page", type=Path, help="page whose measured part is replaced")
    arguments = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT]
        subprocess.run(build, check=True)
        (wheel,) = folder.glob("*.whl")
        print(f"wheel: {wheel.stat().st_size / MEGABYTE:.2f} MB", file=sys.stderr)
        python, base = installed(wheel, "", folder)
        commands = first_commands(python, folder)
        costs = {}
        for extra in project["optional-dependencies"]:
            costs[extra] = installed(wheel, extra, folder)[1]
            print(extra, costs[extra], file=sys.stderr)
    text = page(base, costs, commands)
    if arguments.page is None:
        print(text)
        return
    before, _, rest = arguments.page.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    arguments.page.write_text(f"{before}{START}{text}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
