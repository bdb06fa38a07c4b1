"""Operations that move elements."""

from __future__ import annotations

from collections.abc import Sequence

from .sizes import Size, ceildiv, dim_of, max, refuse
from .types import ElementType, element_type
from .values import Operand, Tensor, broadcast_shape, current_trace, one_an_axis, operand, sizes_text, tensor_of

__all__ = ["broadcast", "concat", "iota", "pad", "pad_adjoint", "reshape", "search", "slice", "take", "transpose"]


def _amounts(
    x: Tensor, low: Sequence[Size], high: Sequence[Size], interior: Sequence[int] | None, mode: str
) -> str:
    text = f"low = {sizes_text(one_an_axis(low, x, 'low'))}, high = {sizes_text(one_an_axis(high, x, 'high'))}"
    if interior is not None:
        text += f", interior = {sizes_text(one_an_axis(interior, x, 'interior'))}"
    return text + (f", mode = {mode}" if mode != "constant" else "")


def pad(
    x: Tensor,
    low: Sequence[Size],
    high: Sequence[Size],
    *,
    mode: str = "constant",
    value: Operand | None = None,
    interior: Sequence[int] | None = None,
) -> Tensor:
    """Adds elements around a tensor, or cuts them off if an amount is negative."""
    x = tensor_of(x)
    text = f"pad({x.name}, {_amounts(x, low, high, interior, mode)}"
    if value is not None:
        text += f", value = {operand(value)}"
    between = list(interior) if interior is not None else [0] * x.ndim
    shape = [
        dim_of(n) + before + after + (max(n - 1, 0) * k if k else 0)
        for n, before, after, k in zip(x.shape, low, high, between)
    ]
    return current_trace().emit(text + ")", shape)


def pad_adjoint(
    g: Tensor,
    extent: Sequence[Size],
    low: Sequence[Size],
    high: Sequence[Size],
    *,
    mode: str = "constant",
    interior: Sequence[int] | None = None,
) -> Tensor:
    """Returns the gradient of a pad, from the gradient of its result. `extent` is that of the padded tensor."""
    g = tensor_of(g)
    sizes = sizes_text(one_an_axis(extent, g, "extent"))
    return current_trace().emit(f"pad_adjoint({g.name}, extent = {sizes}, {_amounts(g, low, high, interior, mode)})", extent)


def slice(x: Tensor, start: Sequence[Size], limit: Sequence[Size], step: Sequence[int] | None = None) -> Tensor:
    """Takes the elements from `start` on, below `limit`."""
    x = tensor_of(x)
    start, limit = one_an_axis(start, x, "start"), one_an_axis(limit, x, "limit")
    steps = list(step) if step is not None else [1] * x.ndim
    text = f"slice({x.name}, start = {sizes_text(start)}, limit = {sizes_text(limit)}"
    if step is not None:
        text += f", step = {sizes_text(one_an_axis(steps, x, 'step'))}"
    shape = [
        dim_of(to) - dim_of(of) if by == 1 else ceildiv(dim_of(to) - dim_of(of), by) for of, to, by in zip(start, limit, steps)
    ]
    return current_trace().emit(text + ")", shape)


def concat(*tensors: Tensor, axis: int) -> Tensor:
    """Puts tensors one after another along an axis."""
    if not tensors:
        refuse("concat: expected tensors, found none")
    first = tensor_of(tensors[0])
    if not 0 <= axis < first.ndim:
        refuse(f"concat: expected an axis below {first.ndim}, found {axis}")
    total = first.shape[axis]
    for other in tensors[1:]:
        total = total + tensor_of(other).shape[axis]
    shape = [total if i == axis else extent for i, extent in enumerate(first.shape)]
    return current_trace().emit(f"concat({', '.join(t.name for t in tensors)}, axis = {axis})", shape)


def transpose(x: Tensor, perm: Sequence[int]) -> Tensor:
    """Reorders axes: axis i of the result is axis perm[i] of x."""
    x = tensor_of(x)
    if sorted(perm) != list(range(x.ndim)):
        refuse(f"transpose: expected each of {x.ndim} axes once, found {list(perm)}")
    return current_trace().emit(f"transpose({x.name}, perm = {sizes_text(perm)})", [x.shape[axis] for axis in perm])


def broadcast(x: Tensor, shape: Sequence[Size], axes: Sequence[int]) -> Tensor:
    """Repeats x to that shape; axis i of x becomes axis axes[i]."""
    x = tensor_of(x)
    return current_trace().emit(f"broadcast({x.name}, shape = {sizes_text(shape)}, axes = {sizes_text(axes)})", shape)


def reshape(x: Tensor, shape: Sequence[Size]) -> Tensor:
    """Gives the elements of x, row by row, another shape with as many elements."""
    return current_trace().emit(f"reshape({tensor_of(x).name}, shape = {sizes_text(shape)})", shape)


def iota(element: ElementType | str, shape: Sequence[Size], axis: int) -> Tensor:
    """Makes a tensor whose elements are their own coordinates along an axis."""
    return current_trace().emit(f"iota({element_type(element).name}, shape = {sizes_text(shape)}, axis = {axis})", shape)


def take(
    x: Tensor, *index: Tensor, axis: int | None = None, axes: Sequence[int] | None = None, value: Operand | None = None
) -> Tensor:
    """Takes elements of x by an index along an axis; the fill if the index is out of range. Several indices are for
    adjacent axes."""
    x, indices = tensor_of(x), [tensor_of(i) for i in index]
    if not indices or (axis is None) == (axes is None):
        refuse("take: expected one or more indices, and either an axis or axes")
    along = list(axes) if axes is not None else [axis]
    if len(along) != len(indices) or along != list(range(along[0], along[0] + len(along))):  # type: ignore[arg-type,operator]
        refuse(f"take: expected {len(indices)} adjacent axes in their order, found {along}")
    first, last = along[0], along[-1]
    if not (0 <= first and last < x.ndim):  # type: ignore[operator]
        refuse(f"take: expected axes below {x.ndim}, found {along}")
    where = f"axis = {axis}" if axis is not None else f"axes = {sizes_text(along)}"  # type: ignore[arg-type]
    text = f"take({', '.join(t.name for t in (x, *indices))}, {where}"
    if value is not None:
        text += f", value = {operand(value)}"
    shape = [*x.shape[:first], *broadcast_shape(indices), *x.shape[last + 1 :]]  # type: ignore[operator]
    return current_trace().emit(text + ")", shape)


def search(a: Tensor, x: Tensor) -> Tensor:
    """Returns, as i64, for each element of x how many elements of the ascending a are at most it."""
    a, x = tensor_of(a), tensor_of(x)
    return current_trace().emit(f"search({a.name}, {x.name})", x.shape)
