"""Processors that LLVM writes code for, also on another."""

import llvmlite.binding as llvm
import pytest

PROCESSORS = {      # triple, processor, lanes, fused
    "x86-64": ("x86_64-unknown-linux-gnu", "x86-64", 2, False),
    "haswell": ("x86_64-unknown-linux-gnu", "haswell", 4, True),
    "skylake-avx512": ("x86_64-unknown-linux-gnu", "skylake-avx512", 8, True),
    "aarch64": ("aarch64-unknown-linux-gnu", "generic", 2, True),
}


@pytest.fixture(scope="module")
def all_targets():
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
