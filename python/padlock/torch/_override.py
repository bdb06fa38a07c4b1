"""`override_pad`: all code inside it gets Padlock's pad for torch.nn.functional.pad, modules such as nn.ReflectionPad2d
included."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .._core import pad_like_torch
from ._calls import MODES, pad_traced_pairs
from ._names import pad_in_graphs

_PADS = {torch.nn.functional.pad, pad_in_graphs}
_DEVICES = {"cpu", "cuda", "meta"}


def _takes(input: Any, pad: Any = (), mode: str = "constant", value: Any = None) -> bool:
    """Returns whether Padlock serves a pad: of a tensor with strides, in a mode that Padlock has."""
    if not isinstance(input, torch.Tensor) or input.layout is not torch.strided or input.is_quantized or input.is_nested:
        return False
    return input.device.type in _DEVICES and mode in MODES and (mode == "constant" or value is None)


class override_pad(TorchFunctionMode):  # noqa: N801, used as torch.no_grad is
    """Sends torch.nn.functional.pad to padlock.torch.pad inside `with override_pad():`. Modes that only torch has, and
    tensors without strides, stay torch's."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func not in _PADS or not _takes(*args, **kwargs):
            return func(*args, **kwargs)
        if torch.compiler.is_compiling():
            return _traced(*args, **kwargs)
        return pad_like_torch(*args, **kwargs)


def _traced(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    return pad_traced_pairs(input, pad, mode, value, None)
