"""Pads of other modes than constant, in the graph that Dynamo traced: they become operators of Padlock, as the decompositions
that come next leave nothing of them but indices."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from ._calls import MODES, amounts_of_pairs
from ._names import pad_in_graphs


def _value(given: Any) -> Any:
    return given.meta.get("example_value", given.meta.get("val")) if isinstance(given, Node) else given


def _arguments(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> tuple[Any, Any, str]:
    return input, pad, mode


def _narrowed(graph: Any, x: Any, axis: int, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """torch wraps what negative amounts leave: so they cut first."""
    if _value(low) < 0 < _value(high):
        return graph.call_method("narrow", (x, axis, -low, _value(x).shape[axis] + low)), 0, high
    if _value(high) < 0 < _value(low):
        return graph.call_method("narrow", (x, axis, 0, _value(x).shape[axis] + high)), low, 0
    return x, low, high


def rescue(model: GraphModule) -> int:
    """Rewrites the pads of a graph and of those inside it. Returns how many."""
    count = sum(rescue(part) for part in model.children() if isinstance(part, GraphModule))
    for node in list(model.graph.nodes):
        if node.op != "call_function" or node.target not in (pad_in_graphs, torch.nn.functional.pad):
            continue
        x, pairs, mode = _arguments(*node.args, **node.kwargs)
        value = _value(x)
        if mode == "constant" or mode not in MODES or not isinstance(value, torch.Tensor) or isinstance(pairs, Node):
            continue
        low, high = amounts_of_pairs(pairs, value.dim())
        with model.graph.inserting_before(node):
            for axis in range(value.dim()) if mode == "circular" else ():
                x, low[axis], high[axis] = _narrowed(model.graph, x, axis, low[axis], high[axis])
            made = model.graph.call_function(torch.ops.padlock.pad.default, (x, low, high, MODES[mode]))
        made.meta = dict(node.meta)
        node.replace_all_uses_with(made)
        model.graph.erase_node(node)
        count += 1
    model.recompile()
    return count
