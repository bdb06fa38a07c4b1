"""Lowers rows by data: embeddings, tensors indexed by tensors, and searches. A program fills what an index out of range takes;
PyTorch raises an error. So the graph gets a check of each index beside the program, which raises it, too."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Graph, Node

from ._lower import Index, Lowering, overload, rule, value_of
from ._lower_moves import _reshape_text
from ._size_nodes import SizeNodes
from ._sizes import Untranslatable

#: Marks the nodes of a check.
CHECKS = "padlock_check"
_KINDS = (torch.int32, torch.int64)


def _index(to: Lowering, node: Any, source: Node, axis: int, kind: torch.dtype, *, wraps: bool) -> str:
    """An index as programs have it. `wraps`: negative ones count from the end."""
    if value_of(node).dtype not in _KINDS:
        raise Untranslatable(f"programs have no indices of {value_of(node).dtype}")
    to.indices.append(Index(node, source, axis, wraps))
    name = to.cast(to.tensor(node), value_of(node).dtype, kind)
    if not wraps:
        return name
    extent = f"i64({to.sizes.text(value_of(source).shape[axis])})"
    return to.emit("select", to.emit("lt", name, "0"), to.emit("add", name, extent), name)


@rule(overload("embedding"))
def _embedding(to: Lowering, node: Node, weight: Any, index: Any, *_: Any, **__: Any) -> str:
    at = _index(to, index, weight, 0, value_of(index).dtype, wraps=False)
    return to.emit("take", to.tensor(weight), at, "axis = 0")


@rule(overload("index_select"))
def _index_select(to: Lowering, node: Node, x: Any, axis: int, index: Any) -> str:
    if value_of(x).dim() == 0:
        raise Untranslatable("programs take nothing along an axis that there is not")
    axis %= value_of(x).dim()
    at = _index(to, index, x, axis, value_of(index).dtype, wraps=False)
    at = at if value_of(index).dim() == 1 else _reshape_text(to, at, [1])
    return to.emit("take", to.tensor(x), at, f"axis = {axis}")


@rule(overload("index", "Tensor"), overload("_unsafe_index", "Tensor"))
def _index_tensor(to: Lowering, node: Node, x: Any, indices: Sequence[Any]) -> str:
    axes = [axis for axis, one in enumerate(indices) if one is not None]
    if axes != list(range(axes[0], axes[0] + len(axes))):
        raise Untranslatable("programs take along axes that are adjacent")
    at = [_index(to, indices[axis], x, axis, torch.int64, wraps=True) for axis in axes]
    along = f"axis = {axes[0]}" if len(axes) == 1 else f"axes = {axes}"
    return to.emit("take", to.tensor(x), *at, along)


def _search(to: Lowering, ascending: Any, x: Any, *, right: bool, out_int32: bool) -> str:
    kind = value_of(ascending).dtype
    if not isinstance(x, Node) or value_of(x).dtype != kind or kind not in _KINDS or value_of(ascending).dim() != 1:
        raise Untranslatable("programs search one vector of int32 or int64, for values of its type")
    if not right:
        raise Untranslatable("programs search for the right side")
    made = to.emit("search", to.tensor(ascending), to.tensor(x))
    return to.emit("cast", made, "i32") if out_int32 else made


@rule(overload("searchsorted", "Tensor"))
def _searchsorted(
    to: Lowering, node: Node, ascending: Any, x: Any, out_int32: bool = False, right: bool = False, side: Any = None, sorter: Any = None
) -> str:
    if sorter is not None:
        raise Untranslatable("programs search what is sorted")
    return _search(to, ascending, x, right=right or side == "right", out_int32=out_int32)


@rule(overload("bucketize", "Tensor"))
def _bucketize(to: Lowering, node: Node, x: Any, ascending: Any, out_int32: bool = False, right: bool = False) -> str:
    return _search(to, ascending, x, right=right, out_int32=out_int32)


# ---- Checks ----------------------------------------------------------------------------------------------------------


def _extent(graph: Graph, index: Index) -> Any:
    size = value_of(index.source).shape[index.axis]
    if not isinstance(size, torch.SymInt):
        return size
    try:
        return SizeNodes(graph).make(size)
    except Untranslatable:
        made = graph.call_function(overload("sym_size", "int"), (index.source, index.axis))
        made.meta["val"] = size
        return made


def check(graph: Graph, index: Index) -> None:
    """Has the graph raise an error where it is inserted, as PyTorch's operator does, for an index out of range. On a GPU the device
    stops, without a synchronisation."""

    def call(target: Any, *arguments: Any, shape: Any = None) -> Node:
        made = graph.call_function(target, arguments)
        made.meta[CHECKS] = True
        if shape is not None:
            made.meta["val"] = value_of(index.node).new_empty(shape, dtype=torch.bool)
        return made

    shape, extent = value_of(index.node).shape, _extent(graph, index)
    least: Any = 0
    if index.wraps and isinstance(extent, Node):
        least = graph.call_function(operator.neg, (extent,))
        least.meta["val"] = -extent.meta["val"]
    elif index.wraps:
        least = -extent
    below = call(overload("lt", "Scalar"), index.node, least, shape=shape)
    behind = call(overload("ge", "Scalar"), index.node, extent, shape=shape)
    outside = call(overload("any"), call(overload("logical_or"), below, behind, shape=shape), shape=())
    call(overload("_assert_async", "msg"), call(overload("logical_not"), outside, shape=()), "index out of range")
