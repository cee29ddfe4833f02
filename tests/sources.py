"""Files of the package, each parsed once for all tests of the code's form."""

import ast
from functools import cache
from pathlib import Path

import dalembert

PACKAGE = Path(dalembert.__file__).parent


@cache
def parsed(path):
    """Module of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))
