"""Closed forms of the equations of motion that people can read: formulations meet the reader.

The package has the name of its one public function, `da.equations`: imported first, it stands in
the function's place and is called like it.
"""

import sys
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        from dalembert.equations.equations import equations

        return equations(*args, **options)


sys.modules[__name__].__class__ = _Package
