"""Machines of kernels: processor, lanes, numbers, and how these are written."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

ALIGNMENT = 64  # bytes: of the memory of a block of lanes


@dataclass(frozen=True)
class Machine:
    """Lanes per vector, whether fused multiply-add is one instruction, and the kind of numbers
    ('double' or 'float').

    Where more than one angle is to be in each lane, `turning` of them are side by side in the loop
    over sines and cosines.
    """

    lanes: int
    fused: bool
    checked: bool = (
        True  # inputs that are not finite stop the kernel, results that are not are reported
    )
    real: str = "double"
    turning: int = 0

    @property
    def alone(self) -> Machine:
        """The machine for a single state, which needs no transposition, and whose angles fill the
        lanes of sines and cosines.
        """
        return replace(self, lanes=1, turning=self.lanes)

    @property
    def turns(self) -> str:
        """Name of the function of sines and cosines."""
        return "alone_turns" if self.turning > self.lanes else "turns"

    @property
    def wide(self) -> Machine:
        """The machine for sines and cosines."""
        return replace(self, lanes=max(self.lanes, self.turning))

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return 8 if self.real == "double" else 4

    @property
    def vector(self) -> str:
        """Type of a vector of numbers."""
        return f"<{self.lanes} x {self.real}>"

    @property
    def doubles(self) -> str:
        """Type of a vector of doubles."""
        return f"<{self.lanes} x double>"

    @property
    def bits(self) -> str:
        """Type of a vector of truth values."""
        return f"<{self.lanes} x i1>"

    @property
    def suffix(self) -> str:
        """Suffix of the names of intrinsic functions on these vectors."""
        return f"v{self.lanes}f{8 * self.size}"

    @property
    def align(self) -> int:
        """Bytes of a vector."""
        return self.lanes * self.size


def literal(x: float, real: str = "double") -> str:
    """A number by the bits of the double that equals it."""
    if real == "float":
        x = struct.unpack("<f", struct.pack("<f", x))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"
