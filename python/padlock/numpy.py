"""`padlock.numpy.pad`: numpy.pad, with its conventions. What Padlock has no mode for goes to NumPy itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ._core import pad as _pad
from ._core import pad_like_numpy

_numpy_pad = numpy.pad
_MODES = {"constant", "edge", "reflect", "symmetric", "wrap"}
_KINDS = set("biufc?")
_MOST = 1 << 40  # what programs add to an axis at most


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
    """Whether a type has the fill's value, or the one next to it: what else NumPy stores, or refuses, is its own affair."""
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
    """Pads as numpy.pad does, bit for bit, in any mode that it has; five of them by one kernel for all sizes.

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
    if out is None and x.flags.fnc:  # column-major stays so
        return _pad(x.T, pairs[0][::-1], pairs[1][::-1], mode, fill).T
    return _pad(x, pairs[0], pairs[1], mode, fill, None, out)
