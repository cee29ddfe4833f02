"""The stub for type checkers of a package that imports its names when they are used: `python tests/stubs.py` writes it."""

from pathlib import Path

import dalembert

STUB = Path(dalembert.__file__).with_suffix(".pyi")


def stub():
    """Text of the stub: each public name is imported from its home."""
    imports = [(home, name, name) for home, names in dalembert._HOMES.items() for name in names]
    imports += [(*home.rpartition(".")[::2], name) for name, home in dalembert._MODULES.items()]
    lines = [f"from {home} import {name} as {public}" for home, name, public in sorted(imports)]
    names = ["__all__ = [", *(f'    "{name}",' for name in sorted({public for *_, public in imports})), "]"]
    return "\n".join([f'"""{dalembert.__doc__}"""', "", *lines, "", *names, "", "__version__: str", ""])


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
