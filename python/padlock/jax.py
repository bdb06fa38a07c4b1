"""`padlock.jax.pad`: padlock.pad inside code that JAX compiles, as a custom call of XLA. One kernel serves all sizes, also in
a program that jax.export exported with symbolic shapes. For CPUs and CUDA's GPUs. And rows by data: `take`, `to_padded`,
`from_padded`, `pad_groups`, `unpad_groups`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from . import _core
from ._jax_rows import bits_of_fill, from_padded, pad_groups, take, to_padded, unpad_groups

__all__ = ["from_padded", "pad", "pad_groups", "take", "to_padded", "unpad_groups"]

_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")

for _platform in ("cpu", "CUDA"):
    jax.ffi.register_ffi_target("padlock_pad", _core.xla_pad_handler(_platform == "CUDA"), platform=_platform)


def _call(x: Any, low: tuple[int, ...], high: tuple[int, ...], mode: str, fill: tuple[int, int]) -> Any:
    shape = tuple(n + before + after for n, before, after in zip(x.shape, low, high))
    run = jax.ffi.ffi_call("padlock_pad", jax.ShapeDtypeStruct(shape, x.dtype), vmap_method="sequential")
    attributes = {name: numpy.asarray(list(value), numpy.int64) for name, value in (("low", low), ("high", high), ("fill", fill))}
    return run(x, mode=mode, **attributes)


@partial(jax.custom_vjp, nondiff_argnums=(1, 2, 3, 4))
def _pad(x: Any, low: tuple[int, ...], high: tuple[int, ...], mode: str, fill: tuple[int, int]) -> Any:
    return _call(x, low, high, mode, fill)


def _forward(x: Any, low: Any, high: Any, mode: str, fill: Any) -> tuple[Any, Any]:
    return _pad(x, low, high, mode, fill), x.shape


def _backward(low: Any, high: Any, mode: str, fill: Any, shape: Any, grad: Any) -> tuple[Any]:
    """Returns for each element the sum over all places to which it was copied, axis by axis, in the order of memory."""
    if mode == "constant":
        return (_pad(grad, tuple(-n for n in low), tuple(-n for n in high), mode, (0, 0)),)
    for axis, (n, before, after) in enumerate(zip(shape, low, high)):
        if before == 0 and after == 0:
            continue
        index = _pad(jnp.arange(n), (before,), (after,), mode, (0, 0))
        moved = jnp.moveaxis(grad, axis, 0)
        summed = jnp.zeros((n, *moved.shape[1:]), grad.dtype).at[index].add(moved)
        grad = jnp.moveaxis(summed, 0, axis)
    return (grad,)


_pad.defvjp(_forward, _backward)


def pad(x: Any, low: Sequence[int], high: Sequence[int], mode: str = "constant", value: Any = None) -> Any:
    """Pads as padlock.pad does, under JAX's transformations: jit, grad, vmap, export. Amounts are Python's integers."""
    x = jnp.asarray(x)
    if mode not in _MODES or (value is not None and mode != "constant"):
        raise ValueError(f"expected the mode {', '.join(_MODES)}, with a value in constant alone, found {mode!r}")
    before, after = tuple(int(n) for n in low), tuple(int(n) for n in high)
    if len(before) != x.ndim or len(after) != x.ndim:
        raise ValueError(f"expected {x.ndim} amounts on each side, one for each axis, found {len(before)} and {len(after)}")
    return _pad(x, before, after, mode, bits_of_fill(value, x.dtype) if mode == "constant" else (0, 0))
