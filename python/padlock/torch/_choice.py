"""The rule for which clusters pay beside a compiler that also fuses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, Node

from ._aliases import SharedResults, is_view, memory_of
from ._clusters import CONCATENATIONS, PADS
from ._lines import operator_at
from ._lower import RULES, overload
from ._names import chooses_layouts, is_known, size_hint
from ._rewrite import Program

#: Below this a call costs more than it saves.
LEAST_BYTES = 256 * 1024

#: Operators that Inductor calls and does not generate. Its fusion ends there, so our kernel takes nothing from it.
_CALLED = (
    *("mm", "addmm", "bmm", "baddbmm", "_int_mm", "_scaled_mm", "_scaled_dot_product", "_flash_attention", "_efficient_attention"),
    *("convolution", "mkldnn", "_conv", "conv_", "cudnn", "_cudnn", "_fft", "fft", "sort", "topk", "_linalg", "linalg"),
    *("_embedding_bag", "nonzero", "max_pool3d", "adaptive_max_pool", "_adaptive_avg_pool", "grid_sampler"),
)


_CONVOLUTIONS = ("convolution", "mkldnn", "_conv", "conv_", "cudnn", "_cudnn")


@dataclass(frozen=True)
class Choice:
    taken: bool
    reason: str
    #: The reason without names, if it contains some.
    kind: str = ""


def bytes_of(value: Any) -> int:
    """Returns the bytes of tensors at the sizes of the trace."""
    if isinstance(value, (list, tuple)):
        return sum(bytes_of(one) for one in value)
    if not isinstance(value, torch.Tensor):
        return 0
    count = value.element_size()
    for n in value.shape:
        count *= size_hint(n)
    return count


def is_crop(node: Node) -> bool:
    """Returns whether a pad may cut elements off. Inductor has computed wrong results for such pads."""
    if node.target not in PADS:
        return False
    amounts: list[Any] = []
    for given in node.args[1:3] if node.target is not overload("constant_pad_nd") else node.args[1:2]:
        amounts += [one.meta["val"] if isinstance(one, Node) else one for one in given]  # type: ignore[union-attr]
    return any(isinstance(one, (int, torch.SymInt)) and not is_known(one >= 0) and size_hint(one) < 0 for one in amounts)


def is_called(node: Node) -> bool:
    """Returns whether an operator ends Inductor's own fusion, or is not an operator."""
    if node.op in ("placeholder", "output", "get_attr"):
        return True
    space = getattr(node.target, "namespace", None)
    if space is None:  # a part of several results
        return all(is_called(source) for source in node.all_input_nodes)
    if space not in ("aten", "prims"):
        return True
    name = str(getattr(node.target, "_opname", ""))
    return name.startswith(_CALLED)


def is_laid_out_anew(node: Node, other: Node) -> bool:
    """Returns whether Inductor would keep the tensor between a cluster and a convolution with channels last. A kernel that
    has it as traced costs a copy on that side."""
    if not str(getattr(node.target, "_opname", "")).startswith(_CONVOLUTIONS) or not chooses_layouts():
        return False
    value = other.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.dim() != 4:
        return False
    return not value.is_contiguous(memory_format=torch.channels_last)


def _is_copy_between(cluster: Sequence[Node], beside: Sequence[Node]) -> bool:
    """Returns whether a cluster only copies a view, between operators that Inductor calls. Inductor makes one loop of that,
    too. Our kernel measured 3 % slower in whole models (the heads of swin, between products)."""
    if any(node.target in PADS or node.target in CONCATENATIONS for node in cluster):
        return False
    return any(node.op == "call_function" and isinstance(node.meta.get("val"), torch.Tensor) for node in beside)


def _users(nodes: Iterable[Node], inside: Collection[Node]) -> list[Node]:
    """Returns the outside users of nodes, or of views of them."""
    found: dict[Node, None] = {}
    waiting = [user for node in nodes for user in node.users if user not in inside]
    while waiting:
        user = waiting.pop(0)
        if is_view(user):
            waiting += user.users
        else:
            found[user] = None
    return list(found)


def _why_left(cluster: Sequence[Node], program: Program) -> Choice | None:
    """Returns why a cluster's neighbours would make it slow, or None. Views cost nothing: the operator beyond a view is the
    neighbour."""
    inside = set(cluster)
    for node in (*map(memory_of, program.inputs), *_users(cluster, inside)):
        if not isinstance(node.meta.get("val"), (int, torch.SymInt)) and not is_called(node):
            return Choice(False, f"beside {operator_at(node)}, with which Inductor may fuse it", "beside what Inductor may fuse")
    between = [(node, node) for node in program.inputs]
    between += [(user, node) for node in cluster for user in node.users if user not in inside]
    for node, other in between:
        if is_laid_out_anew(node, other):
            why = "for which Inductor chooses the order of axes"
            return Choice(False, f"beside {operator_at(node)}, {why}", f"beside convolutions, {why}")
    return None


def choose(cluster: Sequence[Node], program: Program, force: bool) -> Choice:
    """Returns whether a cluster becomes a kernel. If it does not, each of its crops is asked about again, alone."""
    if force:
        return Choice(True, "padlock.force")
    crops = any(is_crop(node) for node in cluster)
    why = _why_left(cluster, program)
    if why is not None and not (crops and len(cluster) == 1):
        return why
    if crops:
        return Choice(True, "it has a pad that crops")
    inside = set(cluster)
    if _is_copy_between(cluster, [*program.inputs, *(user for node in cluster for user in node.users if user not in inside)]):
        return Choice(False, "a copy alone, which Inductor makes as well")
    moved = bytes_of([node.meta.get("val") for node in (*program.inputs, *(one.node for one in program.outputs))])
    if moved < LEAST_BYTES:
        return Choice(False, f"less than {LEAST_BYTES} bytes")
    return Choice(True, "nothing beside it fuses, and it is large enough")


def share_sources(graph: Graph) -> None:
    """Lets one node compute the source of several crops. Inductor merges their loops, but a kernel of ours would read an
    extra tensor. Results stay separate: a write to one must not show in the other."""
    results = {memory_of(source) for node in graph.nodes if node.op == "output" for source in node.all_input_nodes}
    order = {node: i for i, node in enumerate(graph.nodes)}
    for source in [node.args[0] for node in graph.nodes if is_crop(node)]:
        if not isinstance(source, Node) or source.target not in RULES or not source.users:
            continue
        what = (source.target, source.args, source.kwargs)
        users = source.all_input_nodes[0].users if source.all_input_nodes else {}
        first, *rest = sorted({source, *(one for one in users if (one.target, one.args, one.kwargs) == what)}, key=order.__getitem__)
        for other in rest:
            if other in results and first in results:
                continue
            if other in results:
                results.add(first)
            other.replace_all_uses_with(first)
            graph.erase_node(other)


def layouts_of(cluster: Sequence[Node], shared: SharedResults) -> dict[Node, torch.Tensor]:
    """Returns the tensors of a crop, which is always taken, with channels last. Inductor keeps images so between operators
    if there are convolutions, and so no side needs a copy. Shared tensors stay as they are, since views of them would be
    copies."""
    pad, convolutions = cluster[0], ("convolution", "mkldnn")
    if len(cluster) != 1 or not is_crop(pad) or not chooses_layouts():
        return {}
    if not any(str(getattr(node.target, "_opname", "")).startswith(convolutions) for node in pad.graph.nodes):
        return {}
    ends = [node for node in (pad, pad.args[0]) if isinstance(node, Node) and not is_end(node) and not shared.has(node)]
    images = [node for node in ends if node.meta["val"].dim() == 4 and node.meta["val"].is_contiguous()]
    return {node: torch.empty_like(node.meta["val"], memory_format=torch.channels_last) for node in images}


def is_end(node: Node) -> bool:
    """Returns whether a node is an input or a result of its graph: others choose its strides."""
    return node.op != "call_function" or any(user.op == "output" for user in node.users)
