"""Pads of modes other than constant in Dynamo's graph: they become operators of Padlock, because the decompositions that
follow would leave only indices of them."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from ._calls import MODES, pad_traced_pairs
from ._names import pad_in_graphs


def _arguments(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> tuple[Any, Any, str]:
    return input, pad, mode


def rescue(model: GraphModule) -> int:
    """Rewrites the pads of a graph and of the graphs inside it. Returns how many. The new call finds its tensor's rank at
    run time: in the graph a tensor has the shape that the last in-place operator (as `unsqueeze_`) gave it."""
    count = sum(rescue(part) for part in model.children() if isinstance(part, GraphModule))
    for node in list(model.graph.nodes):
        if node.op != "call_function" or node.target not in (pad_in_graphs, torch.nn.functional.pad):
            continue
        x, pairs, mode = _arguments(*node.args, **node.kwargs)
        value = x.meta.get("example_value", x.meta.get("val")) if isinstance(x, Node) else x
        if mode == "constant" or mode not in MODES or not isinstance(value, torch.Tensor) or isinstance(pairs, Node):
            continue
        with model.graph.inserting_before(node):
            made = model.graph.call_function(pad_traced_pairs, (x, pairs, mode, None, None))
        made.meta = dict(node.meta)
        node.replace_all_uses_with(made)
        model.graph.erase_node(node)
        count += 1
    model.recompile()
    return count
