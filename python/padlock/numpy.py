"""`padlock.numpy.pad`: numpy.pad, with its conventions; modes that Padlock lacks go to NumPy. And rows by data:
`to_padded`, `from_padded`, `pad_groups`, `unpad_groups`, `take_rows`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy

from . import _rows as _programs
from ._core import pad as _pad
from ._core import pad_like_numpy
from ._kernel import compile as _compile

_numpy_pad = numpy.pad
_MODES = {"constant", "edge", "reflect", "symmetric", "wrap"}
_KINDS = set("biufc?")
_MOST = 1 << 40  # most that programs add to an axis


def _pairs(width: Any, axes: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Returns the amounts before and after each axis. None sends the call to NumPy: for dicts, floats, unsigned, wrong or huge
    amounts."""
    if type(width) is int:
        return ((width,) * axes, (width,) * axes) if 0 <= width <= _MOST else None
    if isinstance(width, dict):
        return None
    given = numpy.asarray(width)
    if given.dtype.kind != "i" or given.ndim > 2 or given.size == 0 or (given < 0).any() or (given > _MOST).any():
        return None
    try:
        pairs = numpy.broadcast_to(given, (axes, 2)).tolist()
    except ValueError:
        return None
    return tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)


def _holds(dtype: numpy.dtype[Any], given: numpy.ndarray[Any, Any]) -> bool:
    """Returns whether a type has the fill's value, or one next to it. NumPy decides about all others."""
    if dtype.kind in "iu":
        if given.dtype.kind not in "biu":
            return False
        limits = numpy.iinfo(dtype)
        return bool(limits.min <= int(given.item()) <= limits.max)
    if dtype.kind == "b":
        return given.dtype.kind == "b"
    if given.dtype.kind == "c" and dtype.kind != "c":
        return False
    number = abs(given.item())
    return not number > numpy.finfo(dtype).max or number == numpy.inf


def _fill(values: Any, dtype: numpy.dtype[Any]) -> Any:
    """Returns one fill as NumPy would store it; None for several fills, or if the type does not hold it."""
    if type(values) is int and values == 0:
        return 0
    given = numpy.asarray(values)
    if given.size != 1 or given.dtype.kind not in _KINDS or not _holds(dtype, given):
        return None
    stored = numpy.zeros((), dtype)
    stored[()] = values if given.ndim == 0 else given.reshape(())
    return stored.item()


def pad(
    array: Any, pad_width: Any, mode: str | Callable[..., Any] = "constant", *, out: Any = None, **kwargs: Any
) -> numpy.ndarray[Any, Any]:
    """Pads as numpy.pad does, bit for bit, in all of its modes; five of them with one kernel for all sizes.

    `out` takes the result of these five.
    """
    if not kwargs and (made := pad_like_numpy(array, pad_width, mode, out)) is not None:
        return made  # type: ignore[no-any-return]
    x = numpy.asarray(array)
    fill: Any = None
    served = mode.__class__ is str and mode in _MODES and x.ndim > 0 and x.dtype.isnative and x.dtype.kind in _KINDS
    served = served and x.dtype.itemsize <= (16 if x.dtype.kind == "c" else 8)
    pairs = _pairs(pad_width, x.ndim) if served else None
    if pairs is not None and mode == "constant":
        if kwargs.keys() <= {"constant_values"}:
            fill = _fill(kwargs.get("constant_values", 0), x.dtype)
        served = fill is not None
    elif pairs is not None:
        served = x.size > 0 and (not kwargs or (mode in ("reflect", "symmetric") and kwargs == {"reflect_type": "even"}))
    if not served or pairs is None:
        made = _numpy_pad(array, pad_width, mode, **kwargs)  # type: ignore[arg-type]
        if out is None:
            return made
        out[...] = made
        return out
    if out is None and x.flags.fnc:  # keeps column-major order
        return _pad(x.T, pairs[0][::-1], pairs[1][::-1], mode, fill).T
    return _pad(x, pairs[0], pairs[1], mode, fill, None, out)


# ---- Rows by data (docs/rows.md) -----------------------------------------------------------------------------------------

_ELEMENTS = {"bool": "bool", "float16": "f16", "float32": "f32", "float64": "f64"}
_ELEMENTS |= {f"{kind}{bits}": f"{kind[0]}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
_kernel = lru_cache(maxsize=None)(_compile)


def _rows_of(array: Any, axes: int) -> tuple[numpy.ndarray[Any, Any], str]:
    """Returns an array whose axes after the first `axes` are merged into one, and the name of its type."""
    x = numpy.ascontiguousarray(array)
    if x.dtype.name not in _ELEMENTS or not x.dtype.isnative:
        raise TypeError(f"expected a real type of this machine, found {x.dtype}")
    return (x if x.ndim <= axes else x.reshape(*x.shape[:axes], int(numpy.prod(x.shape[axes:])))), _ELEMENTS[x.dtype.name]


def _index_of(array: Any, what: str) -> tuple[numpy.ndarray[Any, Any], str]:
    x = numpy.ascontiguousarray(array)
    if x.dtype.name not in ("int32", "int64") or x.ndim != 1:
        raise TypeError(f"{what}: expected an array of int32 or int64 with one axis, found {x.dtype} with {x.ndim}")
    return x, _ELEMENTS[x.dtype.name]


def to_padded(values: Any, offsets: Any, length: int, value: Any = 0, side: str = "right") -> numpy.ndarray[Any, Any]:
    """Pads sequences of rows, which lie one after another in `values` [T, ...], to [B, length, ...]. Sequence b has the
    rows from offsets[b] up to offsets[b + 1]. A longer one is cut, a shorter one gets the fill on its right or left."""
    (rows, element), (at, index) = _rows_of(values, 1), _index_of(offsets, "offsets")
    text = _programs.to_padded(element, index, rows.ndim > 1, _programs.check_side(side))
    return _kernel(text)(rows, at, value, length).reshape(len(at) - 1, length, *numpy.shape(values)[1:])  # type: ignore[no-any-return]


def from_padded(padded: Any, offsets: Any, rows: int, side: str = "right") -> numpy.ndarray[Any, Any]:
    """Undoes to_padded: the `rows` rows of all sequences, one after another; 0 for a row that was cut."""
    (batch, element), (at, index) = _rows_of(padded, 2), _index_of(offsets, "offsets")
    text = _programs.from_padded(element, index, batch.ndim > 2, _programs.check_side(side))
    return _kernel(text)(batch, at, rows).reshape(rows, *numpy.shape(padded)[2:])  # type: ignore[no-any-return]


def _groups(offsets: Any, multiple: int) -> tuple[list[Any], list[Any]]:
    """Returns begins and ends of groups, and those of the groups with rounded-up lengths."""
    if multiple < 1:
        raise ValueError(f"multiple: expected 1 or more, found {multiple}")
    ends, _ = _index_of(offsets, "offsets")
    begins = numpy.concatenate([[0], ends])[:-1].astype(ends.dtype)
    longer = numpy.cumsum((ends - begins + (multiple - 1)) // multiple * multiple).astype(ends.dtype)
    return [begins, ends], [numpy.concatenate([[0], longer])[:-1].astype(ends.dtype), longer]


def _move_groups(x: Any, groups: list[Any], rows: int, value: Any) -> numpy.ndarray[Any, Any]:
    given, element = _rows_of(x, 1)
    text = _programs.move_groups(element, _ELEMENTS[groups[0].dtype.name], given.ndim > 1)
    return _kernel(text)(given, *groups, value, rows).reshape(rows, *numpy.shape(x)[1:])  # type: ignore[no-any-return]


def pad_groups(x: Any, offsets: Any, multiple: int, rows: int, value: Any = 0) -> tuple[Any, Any]:
    """Rounds groups of rows up to a multiple of rows, with the fill. Group g has the rows of `x` [T, ...] up to offsets[g].
    Returns `rows` rows, and the groups' new offsets."""
    given, made = _groups(offsets, multiple)
    return _move_groups(x, given + made, rows, value), made[1]


def unpad_groups(x: Any, offsets: Any, multiple: int, rows: int) -> numpy.ndarray[Any, Any]:
    """Undoes pad_groups: the rows of all groups, one after another. `offsets` are those given to pad_groups."""
    given, made = _groups(offsets, multiple)
    return _move_groups(x, made + given, rows, 0)


def take_rows(x: Any, index: Any, value: Any = 0) -> numpy.ndarray[Any, Any]:
    """Takes rows of `x` [T, ...] by their numbers; the fill if there is no such row."""
    (rows, element), (at, kind) = _rows_of(x, 1), _index_of(index, "index")
    text = _programs.take_rows(element, kind, rows.ndim > 1)
    return _kernel(text)(rows, at, value).reshape(len(at), *numpy.shape(x)[1:])  # type: ignore[no-any-return]
