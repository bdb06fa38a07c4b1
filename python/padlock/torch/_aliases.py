"""Which tensors of a graph share memory, and which operators write to it. Operators' schemas and fakes' storages tell, so
there is no list of views to maintain."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import Graph, Node

from ._names import is_higher_order, may_copy, storage_of


def _storages(value: Any) -> set[int]:
    if isinstance(value, (list, tuple)):
        return {storage for one in value for storage in _storages(one)}
    storage = storage_of(value) if isinstance(value, torch.Tensor) else None
    return set() if storage is None else {storage}


def _storages_of(node: Node) -> set[int]:
    return _storages(node.meta.get("val"))


def writes(node: Node) -> bool:
    """Returns whether an operator may write to its inputs. No other operator may move past it then."""
    schema = getattr(node.target, "_schema", None)
    return node.op == "call_function" and (bool(getattr(schema, "is_mutable", False)) or is_higher_order(node.target))


def is_view(node: Node) -> bool:
    """Returns whether a node's result lies in its first input's memory, so that it costs nothing outside a program.
    Storages alone do not tell: after a pass merged two equal nodes, views of one have the other's."""
    if node.op != "call_function" or not node.args or not isinstance(node.args[0], Node):
        return False
    if node.target is operator.getitem:
        return is_view(node.args[0])
    schema = getattr(node.target, "_schema", None)
    if schema is None or schema.is_mutable or not any(one.alias_info is not None for one in schema.arguments[:1]):
        return False
    return not may_copy(node.target) or not _storages_of(node).isdisjoint(_storages_of(node.args[0]))


def memory_of(node: Node) -> Node:
    """Returns the node that made the memory of a node's result."""
    while is_view(node):
        node = node.args[0]  # type: ignore[assignment]
    return node


class SharedResults:
    """Results of a graph that share memory with another result or an input. They must stay views when clusters become
    kernels, since a write to one shows in the other."""

    def __init__(self, graph: Graph) -> None:
        results = {source for node in graph.nodes if node.op == "output" for source in node.all_input_nodes}
        seen: dict[Any, set[Node]] = {}
        for node in {*results, *(node for node in graph.nodes if node.op != "call_function")}:
            for memory in {memory_of(node), *_storages_of(memory_of(node))}:
                seen.setdefault(memory, set()).add(node)
        # Results that see writes to an input are made from that input again, by their strides and offsets.
        for writer in filter(writes, graph.nodes):
            for source in writer.all_input_nodes:
                seen.setdefault(memory_of(source), set()).add(writer)
        self._memories = {memory for memory, nodes in seen.items() if len(nodes) > 1}
        #: Views that lead to them. They stay unchanged.
        self.views: set[Node] = set()
        for node in results:
            while node not in self.views and self.has(node) and is_view(node):
                self.views.add(node)
                node = node.args[0]

    def has(self, node: Node) -> bool:
        """Returns whether several results, or a result and an input, share a node's memory."""
        made = memory_of(node)
        return not self._memories.isdisjoint({made, *_storages_of(made)})
