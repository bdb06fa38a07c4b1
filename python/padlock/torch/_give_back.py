"""Rescued pads that are not taken: they become the operators that Inductor would have received, because it fuses those and
no calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import Graph, Node

from ._calls import MODES
from ._lower import overload
from ._names import holds, is_known, trace_function

_TORCHS = {ours: theirs for theirs, ours in MODES.items() if theirs != "constant"}

#: Whether torch admits an amount for an extent, by mode.
_MAY_BE: dict[str, Callable[[Any, Any], Any]] = {
    "reflect": lambda amount, n: amount < n,
    "replicate": lambda amount, n: n > 0,
    "circular": lambda amount, n: amount <= n,
}

_OPERATORS = {"reflect": "reflection", "replicate": "replication"}


def _value(given: Any) -> Any:
    return given.meta.get("val") if isinstance(given, Node) else given


def _padded_axes(rank: int, low: Sequence[Any], high: Sequence[Any]) -> int | None:
    """Returns how many axes at the end torch pads for this rank, or None: it pads up to three, with one or two before them."""
    padded = [axis for axis in range(rank) if not (is_known(low[axis] == 0) and is_known(high[axis] == 0))]
    first = min(padded, default=rank - 1)
    for count in (1, 2, 3):
        if count in (rank - 1, rank - 2) and rank - count <= first:
            return count
    return None


def _pairs(node: Node, asks: Callable[[Any], bool]) -> tuple[str, list[Any]] | None:
    """Returns torch's mode and amounts for a pad, or None if it has none. A crop is never given back."""
    x, low, high, mode = (*node.args, "constant")[:4]
    theirs, value = _TORCHS.get(mode), _value(x)
    if theirs is None or len(node.args) > 4 or node.kwargs or not isinstance(value, torch.Tensor):
        return None
    count = _padded_axes(value.dim(), [_value(one) for one in low], [_value(one) for one in high])
    if count is None:
        return None
    axes = range(value.dim() - 1, value.dim() - count - 1, -1)
    pairs = [one for axis in axes for one in (low[axis], high[axis])]
    for axis in axes:
        for amount in (_value(low[axis]), _value(high[axis])):
            if not (asks(amount >= 0) and asks(_MAY_BE[theirs](amount, value.shape[axis]))):
                return None
    return theirs, pairs


def _inline(graph: Graph, pad: Node, traced: Graph, inputs: Sequence[Node], operator: Any) -> Node:
    """Copies the traced graph of torch's operator in front of a pad, because Inductor names loops by it. Returns its
    result."""
    about = {**pad.meta, "original_aten": operator} if operator is not None else pad.meta
    copies: dict[Node, Any] = dict(zip((node for node in traced.nodes if node.op == "placeholder"), inputs, strict=True))
    with graph.inserting_before(pad):
        for node in traced.nodes:
            if node.op == "call_function":
                copies[node] = graph.node_copy(node, copies.__getitem__)
                copies[node].meta = {**about, "val": node.meta.get("val")}
        (result,) = next(iter(reversed(traced.nodes))).all_input_nodes
        made = copies[result]
        if not all(is_known(a == b) for a, b in zip(_value(made).stride(), _value(pad).stride(), strict=True)):
            made = graph.call_function(overload("clone"), (made,), {"memory_format": torch.contiguous_format})
            made.meta = dict(pad.meta)
    return made


def give_back(graph: Graph, *, backward: bool) -> None:
    """Replaces the pads that a graph still has by torch's own operators, if there are some."""
    for node in list(graph.nodes):
        found = _pairs(node, is_known if backward else holds) if node.target is torch.ops.padlock.pad.default else None
        if found is None:
            continue
        mode, pairs = found

        def pad(x: Any, *sizes: Any, pairs: list[Any] = pairs, mode: str = mode) -> Any:
            given = iter(sizes)
            return (torch.nn.functional.pad(x, [next(given) if isinstance(one, Node) else one for one in pairs], mode),)

        inputs = [node.args[0], *(one for one in pairs if isinstance(one, Node))]
        traced = trace_function(pad, [_value(one) for one in inputs])
        if traced is not None:
            operator = overload(f"{_OPERATORS.get(mode)}_pad{len(pairs) // 2}d")
            node.replace_all_uses_with(_inline(graph, node, traced.graph, inputs, operator))  # type: ignore[arg-type]
            graph.erase_node(node)
