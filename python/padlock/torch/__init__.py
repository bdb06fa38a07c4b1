"""Padlock in PyTorch: pads in eager mode, in training and under torch.compile.

`pad` is torch.nn.functional.pad, with its conventions, for any rank, type and width. Plain tensors go straight to the
kernel; what torch gives another meaning than its memory goes through torch's dispatcher, as torch.ops.padlock.pad.
"""

from __future__ import annotations

from .._core import pad_like_torch as pad
from ._calls import call_kernel, pad_traced, pad_traced_pairs
from ._override import override_pad

__all__ = ["override_pad", "pad"]
