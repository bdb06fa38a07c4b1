"""The adjoint of a pad: each element of a result is the sum of the elements that it went to, in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .. import _core


def _cut(grad: torch.Tensor, low: Sequence[int], high: Sequence[int], interior: Sequence[int]) -> torch.Tensor:
    """The adjoint of a constant pad copies."""
    back = _core.pad_memory(grad, tuple(-n for n in low), tuple(-n for n in high), "constant", None, None, None)
    for axis, k in enumerate(interior):
        back = back[(slice(None),) * axis + (slice(None, None, k + 1),)]
    return back.contiguous()


def adjoint(
    grad: torch.Tensor, extent: Sequence[int], low: Sequence[int], high: Sequence[int], mode: str, interior: Sequence[int]
) -> torch.Tensor:
    if mode == "constant":
        return _cut(grad, low, high, interior)
    for axis, (n, before, after) in enumerate(zip(extent, low, high)):
        if before == 0 and after == 0:
            continue
        index = _core.pad_memory(torch.arange(n), (before,), (after,), mode, None, None, None).to(grad.device)
        extents = list(grad.shape)
        extents[axis] = n
        grad = grad.new_zeros(extents).index_add_(axis, index, grad)
    return grad if grad.is_contiguous() else grad.contiguous()
