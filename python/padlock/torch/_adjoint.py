"""The adjoint of a pad: each element is the sum of all elements to which the pad copied it, in one order on every device."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch

from .. import _core
from ._programs import TYPE_NAMES, kernel_of


@lru_cache(maxsize=None)
def _text(kind: str, mode: str, padded: tuple[bool, ...]) -> str:
    """Returns one program for all sizes and amounts, for the padded axes."""
    axes = range(len(padded))
    named = [[f"{letter}{i}" if padded[i] else "0" for i in axes] for letter in "lh"]
    extent = ", ".join(f"n{i}" for i in axes)
    given = ", ".join(f"n{i} + l{i} + h{i}" if padded[i] else f"n{i}" for i in axes)
    dims = "".join(f", n{i}: dim, l{i}: dim, h{i}: dim" for i in axes if padded[i])
    low, high = (", ".join(amounts) for amounts in named)
    where = ", ".join(f"n{i} >= 0" for i in axes if padded[i])
    return (
        f"program pad_adjoint(g: {kind}[{given}]{dims})\nwhere {where}\n{{\n"
        f"  x = pad_adjoint(g, extent = [{extent}], low = [{low}], high = [{high}], mode = {mode})\n  return x\n}}\n"
    )


def _cut(grad: torch.Tensor, low: Sequence[int], high: Sequence[int], interior: Sequence[int]) -> torch.Tensor:
    """Cuts the padding off: the adjoint of a constant pad only copies, so elements may have any type."""
    back = _core.pad_memory(grad, tuple(-n for n in low), tuple(-n for n in high), "constant", None, None, None)
    for axis, k in enumerate(interior):
        back = back[(slice(None),) * axis + (slice(None, None, k + 1),)]
    return back.contiguous()


def adjoint(
    grad: torch.Tensor, extent: Sequence[int], low: Sequence[int], high: Sequence[int], mode: str, interior: Sequence[int]
) -> torch.Tensor:
    if mode == "constant":
        return _cut(grad, low, high, interior)
    if grad.is_complex():
        parts = adjoint(torch.view_as_real(grad), [*extent, 2], [*low, 0], [*high, 0], mode, ())
        return torch.view_as_complex(parts)
    padded = tuple(before != 0 or after != 0 for before, after in zip(low, high))
    if not any(padded):
        return grad.contiguous().clone()
    kernel = kernel_of(_text(TYPE_NAMES[grad.dtype], mode, padded))
    dims = [size for axis in zip(extent, low, high, padded) if axis[3] for size in axis[:3]]
    return kernel._call_memory(grad.contiguous(), *dims)
