"""Lowers operators that move elements: pads, slices, concatenations, views. Shapes are those that tracing saw."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node

from ._lower import Lowering, overload, rule, value_of
from ._names import is_known
from ._sizes import Untranslatable

_LAST = 2**63 - 1

# ---- Pads ------------------------------------------------------------------------------------------------------------


def _pad_text(to: Lowering, x: str, low: Sequence[Any], high: Sequence[Any], *how: str) -> str:
    return to.emit("pad", x, f"low = {to.sizes.list(low)}", f"high = {to.sizes.list(high)}", *how)


@rule(overload("constant_pad_nd"))
def _constant_pad(to: Lowering, node: Node, x: Any, pairs: Sequence[Any], value: Any = 0) -> str:
    axes = value_of(x).dim()
    low, high = [0] * axes, [0] * axes
    for i in range(len(pairs) // 2):
        low[axes - 1 - i], high[axes - 1 - i] = pairs[2 * i], pairs[2 * i + 1]
    return _pad_text(to, to.tensor(x), low, high, f"value = {to.number(value, value_of(node).dtype)}")


@rule(torch.ops.padlock.pad.default)
def _pad(
    to: Lowering, node: Node, x: Any, low: Any, high: Any, mode: str = "constant", value: Any = None, interior: Any = ()
) -> str:
    if mode != "constant":
        return _pad_text(to, to.tensor(x), low, high, f"mode = {mode}")
    how = [f"interior = {to.sizes.list(interior)}"] if interior else []
    return _pad_text(to, to.tensor(x), low, high, *how, f"value = {to.number(value or 0, value_of(node).dtype)}")


@rule(torch.ops.padlock.pad_adjoint.default)
def _pad_adjoint(to: Lowering, node: Node, g: Any, extent: Any, low: Any, high: Any, mode: str, interior: Any = ()) -> str:
    if value_of(node).dtype == torch.bool:
        raise Untranslatable("pad_adjoint takes no bool")
    parts = [f"extent = {to.sizes.list(extent)}", f"low = {to.sizes.list(low)}", f"high = {to.sizes.list(high)}"]
    parts += [f"interior = {to.sizes.list(interior)}"] if interior else []
    return to.emit("pad_adjoint", to.tensor(g), *parts, f"mode = {mode}")


# ---- Parts -----------------------------------------------------------------------------------------------------------


def _size(given: Any) -> Any:
    return given.meta["val"] if isinstance(given, Node) else given


def _slice_text(to: Lowering, x: Node, axis: int, start: Any, limit: Any, step: int = 1) -> str:
    shape = value_of(x).shape
    starts = [start if i == axis else 0 for i in range(len(shape))]
    limits = [limit if i == axis else n for i, n in enumerate(shape)]
    parts = [to.tensor(x), f"start = {to.sizes.list(starts)}", f"limit = {to.sizes.list(limits)}"]
    if step != 1:
        parts.append("step = [" + ", ".join(str(step if i == axis else 1) for i in range(len(shape))) + "]")
    return to.emit("slice", *parts)


def _inside(at: Any, n: Any) -> Any:
    """Returns a bound of a slice within [0, n], where negative ones count from the end."""
    if isinstance(at, int) and at == _LAST:
        return n
    if is_known(at < 0):
        at = at + n
    elif not is_known(at >= 0):
        raise Untranslatable("the sign of a slice's bound is not known")
    at = at if is_known(at >= 0) else torch.sym_max(at, 0)
    return at if is_known(at <= n) else torch.sym_min(at, n)


@rule(overload("slice", "Tensor"))
def _slice(to: Lowering, node: Node, x: Any, axis: int = 0, start: Any = None, end: Any = None, step: Any = 1) -> str:
    if not isinstance(step, int):
        raise Untranslatable("a slice's step is no literal")
    shape = value_of(x).shape
    axis %= len(shape)
    n = shape[axis]
    first = _inside(_size(start), n) if start is not None else 0
    if step == 1:
        limit = first + value_of(node).shape[axis]
    else:
        limit = _inside(_size(end), n) if end is not None else n
        limit = limit if is_known(limit >= first) else torch.sym_max(first, limit)
    return _slice_text(to, x, axis, first, limit, step)


@rule(overload("select", "int"))
def _select(to: Lowering, node: Node, x: Any, axis: int, index: Any) -> str:
    shape = value_of(x).shape
    axis %= len(shape)
    at = _inside(_size(index), shape[axis])
    part = _slice_text(to, x, axis, at, at + 1)
    return _reshape_text(to, part, value_of(node).shape)


@rule(overload("split", "Tensor"), overload("split_with_sizes"))
def _split(to: Lowering, node: Node, *_: Any) -> str:
    return ""  # its users take slices of the tensor that it splits


@rule(operator.getitem)
def _part(to: Lowering, node: Node, source: Node, i: int) -> str:
    if source.target not in (overload("split", "Tensor"), overload("split_with_sizes")):
        raise Untranslatable("it is a part of another operator's results")
    x, _, axis = (*source.args, 0)[:3]
    axis %= value_of(x).dim()
    start = 0
    for part in source.meta["val"][:i]:
        start = start + part.shape[axis]
    return _slice_text(to, x, axis, start, start + value_of(node).shape[axis])


@rule(overload("cat"))
def _cat(to: Lowering, node: Node, parts: Sequence[Any], axis: int = 0) -> str:
    result = value_of(node)
    axis %= result.dim()
    taken = [part for part in parts if value_of(part).dim() == result.dim()]  # torch skips empty tensors of rank 1
    names = [to.operand(part, result.dtype) for part in taken]
    return names[0] if len(names) == 1 else to.emit("concat", *names, f"axis = {axis}")


def _scattered(to: Lowering, node: Node, base: Node, part: str, axis: int, start: Any, count: Any) -> str:
    """Returns a tensor with some of its elements along an axis replaced."""
    shape = value_of(node).shape
    behind = shape[axis] - start - count
    if base.target is overload("full"):
        low = [start if i == axis else 0 for i in range(len(shape))]
        high = [behind if i == axis else 0 for i in range(len(shape))]
        return _pad_text(to, part, low, high, f"value = {to.number(base.args[1], value_of(node).dtype)}")
    first = _slice_text(to, base, axis, 0, start)
    last = _slice_text(to, base, axis, start + count, shape[axis])
    return to.emit("concat", first, part, last, f"axis = {axis}")


@rule(overload("slice_scatter"))
def _slice_scatter(
    to: Lowering, node: Node, x: Any, part: Any, axis: int = 0, start: Any = None, end: Any = None, step: Any = 1
) -> str:
    if step != 1:
        raise Untranslatable("slice_scatter has a step")
    shape = value_of(x).shape
    axis %= len(shape)
    first = _inside(_size(start), shape[axis]) if start is not None else 0
    name = to.operand(part, value_of(node).dtype)
    return _scattered(to, node, x, name, axis, first, value_of(part).shape[axis])


@rule(overload("select_scatter"))
def _select_scatter(to: Lowering, node: Node, x: Any, part: Any, axis: int, index: Any) -> str:
    shape = value_of(x).shape
    axis %= len(shape)
    name = _reshape_text(to, to.operand(part, value_of(node).dtype), [*shape[:axis], 1, *shape[axis + 1 :]])
    return _scattered(to, node, x, name, axis, _inside(_size(index), shape[axis]), 1)


# ---- The same elements in another shape or order ---------------------------------------------------------------------


def _reshape_text(to: Lowering, x: str, shape: Sequence[Any]) -> str:
    return to.emit("reshape", x, f"shape = {to.sizes.list(shape)}")


def _rest(source: list[str], given: list[str]) -> str | None:
    """Returns the one open extent of a reshape: the input's factors without the given ones. None if they do not cancel, or
    for an empty input, which any extent fits."""
    if "0" in source:
        return None
    left, number = list(source), 1
    for one in given:
        if one in left:
            left.remove(one)
        elif one.isdigit():
            number *= int(one)
        else:
            return None
    known = [one for one in left if one.isdigit()]
    product = math.prod(map(int, known))
    if number == 0 or product % number != 0:
        return None
    factors = [one for one in left if one not in known] + [str(product // number)] * (product != number)
    return "*".join(factors) or "1"


def _shape(to: Lowering, node: Node, x: Node, given: Sequence[Any]) -> list[str]:
    """Returns the extents of a result as they were requested, which is simpler than tracing's expressions."""
    made = value_of(node).shape
    texts = [to.sizes.text(n if isinstance(one, int) and one < 0 else one) for one, n in zip(given, made, strict=True)]
    if node.target is not overload("expand") and texts:  # an extent that torch inferred is a quotient, not known to be whole
        at = max(range(len(texts)), key=lambda i: len(texts[i]))
        texts[at] = _rest(to.extents_of(x), texts[:at] + texts[at + 1 :]) or texts[at]
    to.extents[node] = texts
    return texts


@rule(overload("view"), overload("reshape"), overload("_unsafe_view"))
def _view(to: Lowering, node: Node, x: Any, shape: Sequence[Any]) -> str:
    name = to.tensor(x)
    return to.emit("reshape", name, f"shape = [{', '.join(_shape(to, node, x, shape))}]")


@rule(overload("unsqueeze"), overload("squeeze"), overload("squeeze", "dim"), overload("squeeze", "dims"))
def _reshape(to: Lowering, node: Node, x: Any, *_: Any) -> str:
    return _reshape_text(to, to.tensor(x), value_of(node).shape)


def _transposed(to: Lowering, node: Node, x: Any, perm: Sequence[int]) -> str:
    axes = len(perm)
    perm = [axis % axes for axis in perm]
    extents = to.extents_of(x)
    to.extents[node] = [extents[axis] for axis in perm]
    return to.emit("transpose", to.tensor(x), f"perm = {perm}") if perm != sorted(perm) else to.tensor(x)


@rule(overload("permute"))
def _permute(to: Lowering, node: Node, x: Any, perm: Sequence[int]) -> str:
    return _transposed(to, node, x, perm)


@rule(overload("transpose", "int"))
def _transpose(to: Lowering, node: Node, x: Any, a: int, b: int) -> str:
    perm = list(range(value_of(x).dim()))
    perm[a], perm[b] = perm[b], perm[a]
    return _transposed(to, node, x, perm)


@rule(overload("t"))
def _t(to: Lowering, node: Node, x: Any) -> str:
    return _transposed(to, node, x, range(value_of(x).dim())[::-1])


@rule(overload("expand"))
def _expand(to: Lowering, node: Node, x: Any, sizes: Sequence[Any], **_: Any) -> str:
    shape, given = _shape(to, node, x, sizes), value_of(x).dim()
    axes = list(range(len(shape) - given, len(shape)))
    return to.emit("broadcast", to.tensor(x), f"shape = [{', '.join(shape)}]", f"axes = {axes}")


@rule(overload("clone"), overload("alias"), overload("detach"), overload("contiguous"), overload("lift_fresh_copy"))
def _same(to: Lowering, node: Node, x: Any, **_: Any) -> str:
    to.extents[node] = to.extents_of(x)
    return to.tensor(x)
