"""Serves the module's calls with tensors that are more than their memory: gradients to record, negative and conjugate
views, fakes, wrappers, subclasses, modes. All of them go through torch's dispatcher."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..errors import make_error
from . import _ops  # noqa: F401, registers the operators
from ._functions import pad
from ._replay import run_program

#: torch's names of modes, and ours. (torch has no symmetric.)
MODES = {"constant": "constant", "replicate": "edge", "reflect": "reflect", "symmetric": "symmetric", "circular": "wrap"}


def _invalid(message: str) -> Exception:
    return make_error(3, 0, message, message, -1, "", {}, 0, 0)


def pad_traced(x, low, high, mode, value, interior, out):  # type: ignore[no-untyped-def]
    """padlock.pad of a tensor that torch must see first."""
    if out is not None:
        raise _invalid("out: expected None, as torch gives this tensor another meaning than its memory")
    if len(low) != x.dim() or len(high) != x.dim():
        raise _invalid(f"expected {x.dim()} amounts on each side, one for each axis, found {len(low)} and {len(high)}")
    if mode not in MODES.values():
        raise _invalid(f"expected the mode {', '.join(MODES.values())}, found {mode!r}")
    if mode != "constant" and (value is not None or interior is not None):
        raise _invalid("value and interior are for the mode constant alone")
    return pad(x, list(low), list(high), mode, value, list(interior or ()))


def amounts_of_pairs(pairs: Sequence[Any], axes: int) -> tuple[list[Any], list[Any]]:
    """Returns amounts for each axis, from torch's pairs, which begin with the last axis."""
    if len(pairs) % 2 != 0 or len(pairs) // 2 > axes:
        raise _invalid(f"pad: expected pairs, at most one for each of {axes} axes, found {len(pairs)} integers")
    low, high = [0] * axes, [0] * axes
    for i in range(len(pairs) // 2):
        low[axes - 1 - i], high[axes - 1 - i] = pairs[2 * i], pairs[2 * i + 1]
    return low, high


def pad_traced_pairs(x, pairs, mode, value, out):  # type: ignore[no-untyped-def]
    """padlock.torch.pad of a tensor that torch must see first."""
    if mode not in MODES:
        raise _invalid(f"expected the mode {', '.join(MODES)}, found {mode!r}")
    low, high = amounts_of_pairs(list(pairs), x.dim())
    if isinstance(value, float) and not (x.is_floating_point() or x.is_complex()) and x.dtype != torch.bool:
        value = int(value)
    if mode == "circular":  # torch wraps what is left after negative amounts
        for axis in range(x.dim()):
            if low[axis] < 0 < high[axis]:
                x, low[axis] = x.narrow(axis, -low[axis], x.shape[axis] + low[axis]), 0
            elif high[axis] < 0 < low[axis]:
                x, high[axis] = x.narrow(axis, 0, x.shape[axis] + high[axis]), 0
    return pad_traced(x, low, high, MODES[mode], value, None, out)


def call_kernel(kernel, arguments, named):  # type: ignore[no-untyped-def]
    """Calls a kernel with such a tensor among its arguments: resolves negative and conjugate views, and records gradients."""
    if named.pop("out", None) is not None:
        raise _invalid("out: expected None, as torch gives an argument another meaning than its memory")
    values = kernel._ordered(*arguments, **named)
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    scalars, dims = kernel._counts
    rest = values[len(tensors) :]
    results = run_program(kernel.text, tensors, rest[scalars : scalars + dims], rest[:scalars])
    return results[0] if len(results) == 1 else tuple(results)
