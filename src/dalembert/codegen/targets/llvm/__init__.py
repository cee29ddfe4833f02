"""LLVM target: machine code for batches of states, written as LLVM assembly."""

from dalembert.codegen.program import Program
from dalembert.codegen.rolled import Rolled
from dalembert.codegen.targets.llvm import straight
from dalembert.codegen.targets.llvm.blocks import DOUBTFUL, FINE
from dalembert.codegen.targets.llvm.elementary import BOUND
from dalembert.codegen.targets.llvm.machine import Machine

__all__ = ["BOUND", "DOUBTFUL", "FINE", "Machine", "assembly"]


def assembly(program: Program | Rolled, machine: Machine, name: str = "kernel") -> str:
    """LLVM assembly of a program's kernel."""
    if isinstance(program, Rolled):
        from dalembert.codegen.targets.llvm import rolled

        return rolled.assembly(program, machine, name)
    return straight.assembly(program, machine, name)
