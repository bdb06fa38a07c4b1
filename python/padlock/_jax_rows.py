"""Rows by data inside what JAX compiles (docs/rows.md): programs as custom calls of XLA, and their gradients. Elements are
moved as unsigned integers of their size, so a program serves all types of that size."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from . import _core, _rows

_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}

for _platform in ("cpu", "CUDA"):
    jax.ffi.register_ffi_target("padlock_program", _core.xla_program_handler(_platform == "CUDA"), platform=_platform)


def bits_of_fill(value: Any, dtype: Any) -> tuple[int, int]:
    """The bits of a fill, as two numbers of 64 bits with a sign."""
    if isinstance(value, jax.Array):
        raise TypeError(f"value: expected a number of Python's, found an array of {value.dtype}")
    if dtype.kind in _CODES:
        bits = _core.bits_of(value, _CODES[dtype.kind], 8 * dtype.itemsize)
    else:  # an extension's type
        stored = numpy.zeros((), dtype)
        stored[()] = 0 if value is None else value
        bits = (int(stored.view(f"u{dtype.itemsize}")), 0)
    return tuple(int(numpy.uint64(half).astype(numpy.int64)) for half in bits)  # type: ignore[return-value]


def _element(x: Any, what: str) -> str:
    if x.dtype.itemsize > 8:
        raise TypeError(f"{what}: expected elements of 8 bytes at most, found {x.dtype}")
    return f"u{8 * x.dtype.itemsize}"


def _index_type(x: Any, what: str) -> str:
    if x.dtype not in (jnp.int32, jnp.int64):
        raise TypeError(f"{what}: expected an array of int32 or int64, found one of {x.dtype}")
    return "i32" if x.dtype == jnp.int32 else "i64"


def _vector(given: Any, what: str) -> Any:
    x = jnp.asarray(given)
    if x.ndim != 1:
        raise TypeError(f"{what}: expected an array with one axis, found {x.ndim}")
    return x


def _rows_of(x: Any, axes: int) -> Any:
    """An array whose axes after the first `axes` are one; without any it has none."""
    return x if x.ndim <= axes else x.reshape(*x.shape[:axes], prod(x.shape[axes:]))


def _run(text: str, x: Any, given: tuple[Any, ...], shape: tuple[Any, ...], fill: int | None, sizes: tuple[int, ...] = ()) -> Any:
    """Runs a program. `sizes`: for each of its dims the axis of the result that is as long."""
    call = jax.ffi.ffi_call("padlock_program", jax.ShapeDtypeStruct(shape, x.dtype), vmap_method="sequential")
    scalars = numpy.asarray([] if fill is None else [fill], numpy.int64)
    return call(x, *given, program=text, scalars=scalars, sizes=numpy.asarray(sizes, numpy.int64))


# ---- Rows by an index ------------------------------------------------------------------------------------------------


@partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _take(x: Any, index: Any, fill: int, extent: Any) -> Any:
    """Of `x` [A, T, C], `extent` being T."""
    text = _rows.take_rows(_element(x, "x"), _index_type(index, "index"), True, True)
    return _run(text, x, (index,), (x.shape[0], index.shape[0], x.shape[2]), fill)


def _take_forward(x: Any, index: Any, fill: int, extent: Any) -> tuple[Any, Any]:
    return _take(x, index, fill, extent), index


def _take_backward(fill: int, extent: Any, index: Any, grad: Any) -> tuple[Any, None]:
    """JAX's own sum of rows, which drops those that lie behind the last one."""
    is_row = (index >= 0) & (index < extent)
    zeros = jnp.zeros((grad.shape[0], extent, grad.shape[2]), grad.dtype)
    return zeros.at[:, jnp.where(is_row, index, extent)].add(grad, mode="drop"), None


_take.defvjp(_take_forward, _take_backward)


def take(x: Any, index: Any, axis: int = 0, value: Any = None) -> Any:
    """Elements of `x` along an axis where `index`, of int32 or int64 and any shape, says; the fill where there is no such
    element: -1 is one that there never is. The axes of `index` stand in the place of `axis`. In JAX's transformations: jit,
    grad, vmap, export."""
    x, index = jnp.asarray(x), jnp.asarray(index)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis: expected one of {x.ndim}, found {axis}")
    axis %= x.ndim
    before, behind = x.shape[:axis], x.shape[axis + 1 :]
    rows = x.reshape(prod(before), x.shape[axis], prod(behind))
    made = _take(rows, index.reshape(prod(index.shape)), bits_of_fill(value, x.dtype)[0], x.shape[axis])
    return made.reshape(*before, *index.shape, *behind)


# ---- Jagged and padded are each other's gradient ----------------------------------------------------------------------


@partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4, 5))
def _to_padded(values: Any, offsets: Any, length: Any, fill: int, side: str, rows: Any) -> Any:
    text = _rows.to_padded(_element(values, "values"), _index_type(offsets, "offsets"), values.ndim > 1, side)
    return _run(text, values, (offsets,), (offsets.shape[0] - 1, length, *values.shape[1:]), fill, (1,))


@partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4))
def _from_padded(padded: Any, offsets: Any, rows: Any, side: str, length: Any) -> Any:
    text = _rows.from_padded(_element(padded, "padded"), _index_type(offsets, "offsets"), padded.ndim > 2, side)
    return _run(text, padded, (offsets,), (rows, *padded.shape[2:]), None, (0,))


def _to_padded_backward(length: Any, fill: int, side: str, rows: Any, offsets: Any, grad: Any) -> tuple[Any, None]:
    return _from_padded(grad, offsets, rows, side, length), None


def _from_padded_backward(rows: Any, side: str, length: Any, offsets: Any, grad: Any) -> tuple[Any, None]:
    return _to_padded(grad, offsets, length, 0, side, rows), None


_to_padded.defvjp(lambda values, offsets, *how: (_to_padded(values, offsets, *how), offsets), _to_padded_backward)
_from_padded.defvjp(lambda padded, offsets, *how: (_from_padded(padded, offsets, *how), offsets), _from_padded_backward)


def to_padded(values: Any, offsets: Any, length: Any, value: Any = None, side: str = "right") -> Any:
    """Sequences of rows, one after another in `values` [T, ...], as [B, length, ...]. Sequence b has the rows from
    offsets[b] up to offsets[b + 1]; what is longer is cut, what is shorter gets the fill, to its right or left."""
    values, offsets = jnp.asarray(values), _vector(offsets, "offsets")
    fill = bits_of_fill(value, values.dtype)[0]
    made = _to_padded(_rows_of(values, 1), offsets, length, fill, _rows.check_side(side), values.shape[0])
    return made.reshape(offsets.shape[0] - 1, length, *values.shape[1:])


def from_padded(padded: Any, offsets: Any, rows: Any, side: str = "right") -> Any:
    """The way back: `rows` of all sequences, one after another, 0 where a sequence was cut."""
    padded, offsets = jnp.asarray(padded), _vector(offsets, "offsets")
    made = _from_padded(_rows_of(padded, 2), offsets, rows, _rows.check_side(side), padded.shape[1])
    return made.reshape(rows, *padded.shape[2:])


# ---- Groups and their way back, too ------------------------------------------------------------------------------------


@partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4))
def _move_groups(x: Any, groups: tuple[Any, ...], rows: Any, fill: int, extent: Any) -> Any:
    text = _rows.move_groups(_element(x, "x"), _index_type(groups[0], "offsets"), x.ndim > 1)
    return _run(text, x, groups, (rows, *x.shape[1:]), fill, (0,))


def _move_groups_backward(rows: Any, fill: int, extent: Any, groups: tuple[Any, ...], grad: Any) -> tuple[Any, Any]:
    return _move_groups(grad, groups[2:] + groups[:2], extent, 0, rows), None


_move_groups.defvjp(lambda x, groups, *how: (_move_groups(x, groups, *how), groups), _move_groups_backward)


def _groups(offsets: Any, multiple: int) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Begins and ends of groups, and of the same groups with lengths rounded up."""
    if multiple < 1:
        raise ValueError(f"multiple: expected 1 or more, found {multiple}")
    ends = _vector(offsets, "offsets")
    zero = jnp.zeros(1, ends.dtype)
    begins = jnp.concatenate([zero, ends])[:-1]
    longer = jnp.cumsum((ends - begins + (multiple - 1)) // multiple * multiple, dtype=ends.dtype)
    return (begins, ends), (jnp.concatenate([zero, longer])[:-1], longer)


def pad_groups(x: Any, offsets: Any, multiple: int, rows: Any, value: Any = None) -> tuple[Any, Any]:
    """Groups of rows, each rounded up to a multiple of rows by the fill. Group g has the rows of `x` [T, ...] up to
    offsets[g]. Returns `rows` rows, and the offsets in them."""
    x = jnp.asarray(x)
    given, made = _groups(offsets, multiple)
    moved = _move_groups(_rows_of(x, 1), given + made, rows, bits_of_fill(value, x.dtype)[0], x.shape[0])
    return moved.reshape(rows, *x.shape[1:]), made[1]


def unpad_groups(x: Any, offsets: Any, multiple: int, rows: Any) -> Any:
    """The way back from pad_groups: the rows of all groups, one after another. `offsets`: as they were given to it."""
    x = jnp.asarray(x)
    given, made = _groups(offsets, multiple)
    return _move_groups(_rows_of(x, 1), made + given, rows, 0, x.shape[0]).reshape(rows, *x.shape[1:])
