"""Finds operators of a graph that belong together: convex clusters around pads, concatenations and copies of views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch.fx import Graph, Node

from ._aliases import is_view, writes
from ._lower import Lowering, overload, value_of
from ._sizes import Untranslatable

PADS = {overload("constant_pad_nd"), torch.ops.padlock.pad.default, torch.ops.padlock.pad_adjoint.default}
CONCATENATIONS = {overload("cat")}
_DEVICES = {"cpu", "cuda"}


def unsupported(node: Node) -> str | None:
    """Returns why a program cannot have this operator, or None if it can."""
    to = Lowering()
    try:
        to.lower(node)
        for one in (node, *to.inputs):
            value = one.meta.get("val")
            if isinstance(value, torch.Tensor) and (value.device.type not in _DEVICES or value.layout != torch.strided):
                return f"programs have no tensors of {value.device.type}, {value.layout}"
    except Untranslatable as reason:
        return str(reason)
    return None


def is_window(node: Node) -> bool:
    """Returns whether it copies elements to another order: the copy of a view that is not dense."""
    if node.target not in (overload("clone"), overload("contiguous"), overload("_unsafe_view"), overload("reshape")):
        return False
    source = node.args[0]
    return isinstance(source, Node) and is_view(source) and not value_of(source).is_contiguous()


def is_anchor(node: Node) -> bool:
    return node.target in PADS or node.target in CONCATENATIONS or is_window(node)


class Clusters:
    """Sets of operators that may each become one kernel, independently of the others."""

    def __init__(self, graph: Graph) -> None:
        self.position = {node: i for i, node in enumerate(graph.nodes)}
        supported = [node for node in graph.nodes if node.op == "call_function" and unsupported(node) is None]
        #: The cluster of each node; the node itself if it is in none.
        self.of: dict[Node, int] = dict(self.position)
        self.members: dict[int, set[Node]] = {i: {node} for node, i in self.position.items()}
        self._part = _parts_between_writes(graph)
        near = _around_anchors(set(supported))
        for node in supported:
            for source in node.all_input_nodes if node in near else ():
                if source in near and _device(source) == _device(node) and self._part[source] == self._part[node]:
                    self._join(self.of[source], self.of[node])
        self.near = near

    def __iter__(self) -> Iterator[list[Node]]:
        """Clusters that have an anchor, each in the graph's order."""
        found = {self.of[node] for node in self.near if is_anchor(node)}
        return (sorted(self.members[which], key=self.position.__getitem__) for which in sorted(found))

    def _join(self, first: int, second: int) -> None:
        if first == second or self._depends_by_way_of_others(first, second):
            return
        for node in self.members[first]:
            self.of[node] = second
        self.members[second] |= self.members.pop(first)

    def _depends_by_way_of_others(self, first: int, second: int) -> bool:
        """Returns whether an outside node needs the first cluster while the second needs that node. One kernel of both
        would wait for itself."""
        last = max(self.position[node] for node in self.members[second])
        seen = {first, second}
        waiting = [first]
        while waiting:
            here = waiting.pop()
            for user in (user for node in self.members[here] for user in node.users):
                which = self.of[user]
                if which == second and here != first:
                    return True
                if which not in seen and min(self.position[node] for node in self.members[which]) < last:
                    seen.add(which)
                    waiting.append(which)
        return False


def _device(node: Node) -> object:
    value = node.meta.get("val")
    value = value[0] if isinstance(value, (list, tuple)) else value
    return getattr(value, "device", None)


def _parts_between_writes(graph: Graph) -> dict[Node, int]:
    """Numbers a graph's nodes by the writes to memory before them: reads may differ between these parts."""
    parts, count = {}, 0
    for node in graph.nodes:
        parts[node] = count
        count += writes(node)
    return parts


def _around_anchors(supported: set[Node]) -> set[Node]:
    """Returns the nodes that supported operators connect with an anchor."""
    found = {node for node in supported if is_anchor(node)}
    waiting = list(found)
    while waiting:
        node = waiting.pop()
        for other in (*node.all_input_nodes, *node.users):
            if other in supported and other not in found:
                found.add(other)
                waiting.append(other)
    return found


def end_of_part(node: Node) -> Node:
    """Returns the node that a node must not pass: the next operator that writes to memory, or the graph's end."""
    while node.op != "output" and not writes(node):
        node = node.next
    return node


def sort(graph: Graph) -> None:
    """Moves nodes behind the nodes they use, and keeps the order otherwise."""
    done: set[Node] = set()
    order: list[Node] = []
    for root in list(graph.nodes):
        waiting = [root]
        while waiting:
            node = waiting[-1]
            missing = [source for source in node.all_input_nodes if source not in done]
            if node in done or not missing:
                waiting.pop()
                if node not in done:
                    done.add(node)
                    order.append(node)
            else:
                waiting.extend(reversed(missing))
    _arrange(order)


def _arrange(order: Iterable[Node]) -> None:
    last: Node | None = None
    for node in order:
        if last is not None and last.next is not node:
            last.append(node)
        last = node
