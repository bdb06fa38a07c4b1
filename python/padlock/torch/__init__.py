"""Padlock in PyTorch: pads in eager mode, in training and under torch.compile.

`pad` is torch.nn.functional.pad, with its conventions, for any rank, type and width. Plain tensors go straight to the
kernel. Tensors that are more than their memory (gradients, subclasses, fakes) go through torch's dispatcher, as
torch.ops.padlock.pad. `to_padded`, `from_padded`, `pad_groups`, `unpad_groups` and `take_rows` move rows by data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core import pad_like_torch as pad
from .._core import release_results as release_memory
from ._calls import call_kernel, pad_traced, pad_traced_pairs
from ._log import Decision, decisions, forget
from ._override import override_pad
from ._rows import from_padded, pad_groups, take_rows, to_padded, unpad_groups

if TYPE_CHECKING:
    from ._backend import backend as backend
    from ._backend import inductor_pass as inductor_pass

__all__ = [
    "Decision", "decisions", "forget", "from_padded", "override_pad", "pad", "pad_groups", "release_memory", "take_rows", "to_padded",
    "unpad_groups",
]


def __getattr__(name: str) -> object:
    """Imports the back end when its name is first used: Inductor takes a second."""
    if name in ("backend", "inductor_pass"):
        from . import _backend

        return getattr(_backend, name)
    raise AttributeError(f"module 'padlock.torch' has no attribute '{name}'")
