"""Shared by all tests: this folder is importable (helpers such as oracles.py)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
