"""LLVM target: machine code for batches of states, written as LLVM assembly."""

from dalembert.codegen.llvm import straight
from dalembert.codegen.llvm.blocks import DOUBTFUL, FINE
from dalembert.codegen.llvm.elementary import BOUND
from dalembert.codegen.llvm.machine import Machine
from dalembert.codegen.program import Program
from dalembert.codegen.rolled import Rolled

__all__ = ["BOUND", "DOUBTFUL", "FINE", "Machine", "assembly"]


def assembly(program: Program | Rolled, machine: Machine, name: str = "kernel") -> str:
    """LLVM assembly of a program's kernel."""
    if isinstance(program, Rolled):
        from dalembert.codegen.llvm import rolled

        return rolled.assembly(program, machine, name)
    return straight.assembly(program, machine, name)
