"""Languages that programs are written in, by name. A new one is a module with a function `files`,
and a line here.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from dalembert.codegen.program import Program


class Target(Protocol):
    """A module that writes programs as source code."""

    def files(
        self,
        program: Program,
        name: str = "function",
        notes: Sequence[str] = (),
        vectors: Sequence[Any] | None = None,
        prefix: str = "",
    ) -> dict[str, str]:
        """Name -> text of files that hold one function, all of them ASCII.

        The function says whether inputs and results are finite, by a status (see CODES in
        `codegen.program`) or, of `llvm`, as kernels do.

        Parameters
        ----------
        program : Program
        name : str
            Any text: public names are a safe identifier of it, behind the prefix.
        notes : sequence of str
            Lines for the reader: the quantity, units.
        vectors : sequence of (N, n) arrays, optional
            Inputs to test the function with, one array per input of the program.
        prefix : str
            Text that public names and names of files begin with: letters, digits and underscores,
            or nothing.

        Raises
        ------
        ProgramError
            The program is malformed.
        """


MODULES = {
    "c": "c",
    "numpy": "numpy_source",
    "llvm": "llvm",
}
TARGETS: dict[str, Target] = {
    name: import_module(f"dalembert.codegen.targets.{module}")  # type: ignore[misc]  # a module is one
    for name, module in MODULES.items()
}
