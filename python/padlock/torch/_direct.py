"""Graphs that record no gradient and that Padlock covers whole. They are traced into operators once and run directly.
AOTAutograd would trace several times, for gradients, mutations and a compiler that they do not have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ._choice import LEAST_BYTES, bytes_of
from ._lower import RULES
from ._names import trace_operators

#: Calls in Python and torch whose operators have other names after lowering.
_ALIASES = {
    *("pad", "pad_traced_pairs", "narrow", "truediv", "and_", "or_", "xor", "invert", "neg", "float", "half", "double", "bfloat16", "int", "long", "bool"),
    *("reshape", "flatten", "unflatten", "chunk", "concat", "swapaxes", "movedim", "view_as", "expand_as", "T", "size", "getitem"),
}

_PLAIN = (torch.Tensor, torch.nn.Parameter)


def _name_of(target: Any) -> str:
    return target if isinstance(target, str) else str(getattr(target, "_opname", getattr(target, "__name__", target)))


_NAMES = _ALIASES | {_name_of(target) for target in RULES}
_ANCHORS = {"pad", "pad_traced_pairs", "constant_pad_nd", "pad_adjoint", "cat", "concat", "contiguous", "clone", "reshape", "flatten"}

NUMBERS = (int, float, torch.SymInt, torch.SymFloat)


def _is_number(node: Node) -> bool:
    """Returns whether a node computes with sizes and numbers, without asking a tensor for an element."""
    value = node.meta.get("example_value")
    values = value if isinstance(value, (list, tuple)) else (value,)
    return node.target != "item" and all(isinstance(one, NUMBERS) for one in values)


def _may_be_covered(node: Node) -> bool:
    """Returns whether programs may have the function that a node of Dynamo's graph calls, judging by its name; a trace
    would tell more. None of these names changes its input's shape, which would spoil a second trace after a failed one."""
    if node.op in ("placeholder", "output") or _is_number(node):
        return True
    return node.op in ("call_function", "call_method") and "out" not in node.kwargs and _name_of(node.target) in _NAMES


def _is_plain(inputs: Sequence[Any]) -> bool:
    """Returns whether a caller of the graph gets only its results: no gradient, no other types, no tensor that is more than
    its memory."""
    tensors = [one for one in inputs if not isinstance(one, torch.SymInt)]
    if not all(type(one) in _PLAIN for one in tensors):
        return False
    if torch.is_grad_enabled() and any(one.requires_grad for one in tensors):
        return False
    return not any(torch.is_autocast_enabled(kind) for kind in {one.device.type for one in tensors})


def _moves(model: GraphModule) -> int:
    """Returns the bytes of a graph's inputs and results at the sizes of the trace."""
    ends = [node for node in model.graph.nodes if node.op in ("placeholder", "output")]
    nodes = {one for node in ends for one in (node, *node.all_input_nodes)}
    return sum(bytes_of(node.meta.get("example_value")) for node in nodes)


def operators_of(model: GraphModule, inputs: Sequence[Any], force: bool) -> GraphModule | None:
    """Returns a graph of Dynamo as operators, if Padlock may cover it whole. If not, the graph can be traced again."""
    nodes = [node for node in model.graph.nodes if node.op in ("call_function", "call_method")]
    if not any(_name_of(node.target) in _ANCHORS for node in nodes) or not _is_plain(inputs):
        return None
    if not all(_may_be_covered(node) for node in model.graph.nodes) or not (force or _moves(model) >= LEAST_BYTES):
        return None
    return trace_operators(model, inputs)
