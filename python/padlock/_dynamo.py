"""Lets torch.compile trace calls of this package. Dynamo learns of it when it is imported, as importing it takes a second."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_DYNAMO = "torch._dynamo"


class _Finder:
    """Lets other finders find Dynamo, and runs a function once it is imported."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != _DYNAMO:
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run(module)
                _tell()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _tell() -> None:
    from .torch import _traced

    _traced.tell_dynamo()


def tell_when_imported() -> None:
    """Registers this package's functions with Dynamo, at once or when it is imported. Call it once."""
    if _DYNAMO in sys.modules:
        _tell()
    else:
        sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]
