"""Calls of this package under Dynamo: operators of ours replace functions that read memory, so that graphs have no breaks."""

from __future__ import annotations

from typing import Any

import torch

from .. import _core
from .._kernel import Signature
from ._calls import pad_traced, pad_traced_pairs
from ._names import warn_once


def _tensor(x: Any) -> torch.Tensor:
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"under torch.compile: expected a torch.Tensor, found {type(x).__name__}")
    return x


def pad(x, low, high, mode="constant", value=None, interior=None, out=None):  # type: ignore[no-untyped-def]
    """padlock.pad."""
    return pad_traced(_tensor(x), low, high, mode, value, interior, out)


def pad_like_torch(input, pad, mode="constant", value=None, out=None):  # type: ignore[no-untyped-def]
    """padlock.torch.pad."""
    return pad_traced_pairs(_tensor(input), pad, mode, value, out)


def _values(signature: Signature, defaults: dict[str, Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Returns arguments by the names of parameters."""
    if len(arguments) > len(signature.order):
        raise TypeError(f"a kernel takes {len(signature.order)} arguments, {len(arguments)} are given")
    values = dict(zip(signature.order, arguments))
    for name, value in named.items():
        if name in values:
            raise TypeError(f"a kernel got two values for '{name}'")
        if name not in signature.order:
            raise TypeError(f"under torch.compile: expected the names of parameters, found '{name}'")
        values[name] = value
    for name in signature.order:
        if name not in values and name in defaults:
            values[name] = defaults[name]
        elif name not in values:
            raise TypeError(f"a kernel lacks a value for '{name}'")
    return values


def call(self, *arguments, **named):  # type: ignore[no-untyped-def]
    """Calls a kernel. One without tensor arguments returns torch's tensors."""
    if named.pop("out", None) is not None:
        raise TypeError("out: expected None under torch.compile")
    signature = self._signature
    values = _values(signature, getattr(self, "_defaults", {}), arguments, named)
    tensors = [_tensor(values[name]) for name in signature.tensors]
    dims, scalars = [values[name] for name in signature.dims], [values[name] for name in signature.scalars]
    results = torch.ops.padlock.run(signature.text, tensors, dims, scalars)
    return results[0] if len(results) == 1 else tuple(results)


def tell_dynamo() -> None:
    """Makes Dynamo trace these functions instead of the package's."""
    try:
        for function, traced in ((_core.pad, pad), (_core.pad_like_torch, pad_like_torch), (_core.Kernel.__call__, call)):
            torch.compiler.substitute_in_graph(function, skip_signature_check=True)(traced)
    except Exception as error:  # noqa: BLE001
        warn_once(f"padlock: torch.compile breaks its graphs at calls of Padlock: {type(error).__name__}: {error}")
