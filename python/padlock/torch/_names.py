"""Every name of torch that has no promise to stay: here, and nowhere else in the package.

A name that some torch lacks is None here, and what needs it goes the slow way, or leaves the work to torch, with one warning.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import torch


def _find(module: str, name: str) -> Any:
    """A module's attribute (dots go deeper), or None."""
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found
    except (ImportError, AttributeError):
        return None


_warned: set[str] = set()


def warn_once(message: str) -> None:
    """Says in a process once what is not as expected, and what is done instead."""
    if message in _warned:
        return
    _warned.add(message)
    warnings.warn(message, RuntimeWarning, stacklevel=3)


# ---- Eager mode ------------------------------------------------------------------------------------------------------

#: The operator that torch.nn.functional.pad calls, which Dynamo's graphs have.
pad_in_graphs = _find("torch._C._nn", "pad") or _find("torch", "_C._nn.pad")
_peek = _find("torch", "_C._functorch.peek_interpreter_stack")
_functionalize = _find("torch", "_C._functorch.TransformType.Functionalize")


def is_transformed() -> bool:
    """Whether torch.func transforms what runs now, in a way that has rules for autograd.Function alone."""
    layer = _peek() if _peek is not None else None
    return layer is not None and layer.key() != _functionalize


#: Operators want their inputs with the strides that were traced.
exact_strides_tags = tuple(tag for tag in (_find("torch", "Tag.needs_exact_strides"),) if tag is not None)
