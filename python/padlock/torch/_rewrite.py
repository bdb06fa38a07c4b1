"""Turns a cluster of operators into one program, and puts the call of that program into the graph."""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, Node

from ._aliases import is_view
from ._clusters import end_of_part
from ._lines import operator_at
from ._lower import Index, Lowering, overload, type_name, value_of
from ._lower_rows import check
from ._names import INPUTS_AS_TRACED, is_known
from ._size_nodes import SizeNodes
from ._sizes import Untranslatable, names_of_extents


@dataclass(frozen=True)
class Output:
    """A result that operators outside the cluster read. Its axes are the tensor's, in the order in which it is dense."""

    node: Node
    perm: tuple[int, ...]

    @property
    def is_permuted(self) -> bool:
        return self.perm != tuple(range(len(self.perm)))


#: Tensors whose layout in the program differs from the traced one.
Layouts = dict[Node, torch.Tensor]


@dataclass(frozen=True)
class Program:
    text: str
    inputs: list[Node]
    #: Nodes or numbers, in the order of the text's dims.
    dims: list[Any]
    scalars: list[Node]
    outputs: list[Output]
    layouts: Layouts
    #: Indices that it has to be checked for.
    indices: list[Index]


def _is_dense(shape: Sequence[Any], strides: Sequence[Any]) -> bool:
    """Returns whether strides are those of a dense tensor. torch counts an extent of 0 as 1 there."""
    if any(is_known(n == 0) for n in shape):
        return True
    expected: Any = 1
    at_least_one: Any = 1
    for n, stride in zip(reversed(shape), reversed(strides)):
        if not (is_known(n == 1) or is_known(stride == expected) or is_known(stride == at_least_one)):
            return False
        expected = expected * n
        at_least_one = at_least_one * torch.sym_max(n, 1)
    return True


def _dense_order(value: torch.Tensor) -> tuple[int, ...] | None:
    """Returns the order of axes in which a tensor is dense, if there is one: the given one, or channels last."""
    axes = tuple(range(value.dim()))
    for perm in (axes, (0, *axes[2:], 1)) if len(axes) > 2 else (axes,):
        if _is_dense([value.shape[axis] for axis in perm], [value.stride(axis) for axis in perm]):
            return perm
    return None


def _is_as_made(value: torch.Tensor, perm: Sequence[int]) -> bool:
    """Returns whether strides are those of a kernel's result. Along an axis of one element, or without elements, other
    strides are dense as well, and callers see them."""
    expected: Any = 1
    at_least_one: Any = 1
    for axis in reversed(perm):
        if not (is_known(value.stride(axis) == expected) or is_known(value.stride(axis) == at_least_one)):
            return False
        expected = expected * value.shape[axis]
        at_least_one = at_least_one * torch.sym_max(value.shape[axis], 1)
    return True


def outputs_of(cluster: Sequence[Node], layouts: Layouts, views: Collection[Node]) -> list[Output]:
    """Returns the values of a cluster that outside nodes need. `views`, which share memory with other results of the graph,
    stay outside, and so do views whose strides no kernel's result has. What these show is needed."""
    inside = set(cluster)
    found: list[Output] = []
    needed = [node for node in cluster if any(user not in inside for user in node.users)]
    seen: set[Node] = set()
    while needed:
        node = needed.pop(0)
        if node in seen:
            continue
        seen.add(node)
        value = layouts.get(node, node.meta.get("val"))
        perm = _dense_order(value) if isinstance(value, torch.Tensor) else None
        viewed = node.args[0] if is_view(node) else None
        is_made_so = perm is not None and perm == tuple(range(len(perm))) and _is_as_made(value_of(node), perm)
        if perm is not None and (viewed is None or (is_made_so and node not in views)):
            found.append(Output(node, perm))
        elif viewed is None:
            raise Untranslatable(f"a result has strides that are neither dense nor channels last: {operator_at(node)}")
        elif viewed in inside:
            needed.append(viewed)  # type: ignore[arg-type]
    return found


def _needed(cluster: Sequence[Node], outputs: Sequence[Output]) -> list[Node]:
    """Returns the operators from which results are computed, in order."""
    inside, wanted = set(cluster), {output.node for output in outputs}
    for node in reversed(cluster):
        if node in wanted:
            wanted.update(source for source in node.all_input_nodes if source in inside)
    return [node for node in cluster if node in wanted]


def _strides(value: torch.Tensor) -> list[Any]:
    """Returns a tensor's strides by the program's names. Along an axis of one element a run-time tensor may have any
    stride, so no symbol takes its value from there."""
    return [1 if is_known(n == 1) else stride for n, stride in zip(value.shape, value.stride())]


def _parameter(to: Lowering, name: str, value: torch.Tensor) -> str:
    text = f"{name}: {type_name(value.dtype)}{to.sizes.list(value.shape)}"
    dense = _is_dense(value.shape, value.stride())
    return text if dense else f"{text} strides {to.sizes.list(_strides(value))}"


def _declared(to: Lowering, values: Sequence[torch.Tensor]) -> set[str]:
    """Returns the symbols that are an extent or a stride by themselves."""
    sizes = [size for value in values for size in (*value.shape, *_strides(value))]
    expressions = [to.sizes.expression_of(size) for size in sizes if isinstance(size, torch.SymInt)]
    return {str(one) for one in expressions if one.is_Symbol}


def _named(needed: Sequence[Node]) -> dict[Any, Any]:
    inside = set(needed)
    values = [source.meta.get("val") for node in needed for source in node.all_input_nodes if source not in inside]
    return names_of_extents(extent for value in values if isinstance(value, torch.Tensor) for extent in value.shape)


def _value_of_symbol(graph: Graph, symbol: str, cluster: set[Node]) -> Any:
    """Returns the outside node or tensor's axis that has a symbol's value."""
    for node in graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt) and str(value.node.expr) == symbol:
            return node
        if isinstance(value, torch.Tensor) and node not in cluster:
            for axis, size in enumerate(value.shape):
                if isinstance(size, torch.SymInt) and str(size.node.expr) == symbol:
                    return node, axis
    raise Untranslatable(f"nothing in the graph has the value of {symbol}")


@dataclass(frozen=True)
class Part:
    """The needed results of a cluster, and names for computed extents that come from outside."""

    outputs: list[Output]
    needed: list[Node]
    names: dict[Any, Any]
    layouts: Layouts

    def in_symbols(self) -> Part:
        """Returns the part with all sizes in the trace's symbols, which shows how sizes depend on each other."""
        return Part(self.outputs, self.needed, {}, self.layouts)


def part_of(cluster: Sequence[Node], layouts: Layouts, views: Collection[Node] = ()) -> Part:
    outputs = outputs_of(cluster, layouts, views)
    if not outputs:
        raise Untranslatable("nothing outside needs more than a view of it")
    needed = _needed(cluster, outputs)
    return Part(outputs, needed, _named(needed), layouts)


def program_of(cluster: Sequence[Node], part: Part, name: str = "cluster") -> Program:
    outputs, needed = part.outputs, part.needed
    to = Lowering(part.names)
    for node in needed:
        to.lower(node)
    results: list[str] = []
    for output in outputs:
        made = to.names[output.node]
        if output.is_permuted:
            made = to.emit("transpose", made, f"perm = {list(output.perm)}")
        elif made in results or made in {to.names[node] for node in to.inputs}:
            made = to.emit("reshape", made, f"shape = {to.sizes.list(value_of(output.node).shape)}")
        results.append(made)
    inputs = [part.layouts.get(node, value_of(node)) for node in to.inputs]
    parameters = [_parameter(to, to.names[node], value) for node, value in zip(to.inputs, inputs)]
    declared = _declared(to, inputs)
    dims: dict[str, Any] = {
        symbol: _value_of_symbol(cluster[0].graph, symbol, set(cluster)) for symbol in to.sizes.symbols if symbol not in declared
    }
    dims |= to.sizes.opaque
    parameters += [f"{number}: {type_name(kind)}" for number, (kind, _) in to.scalars.items()]
    parameters += [f"{symbol}: dim" for symbol in dims]
    body = "".join(f"  {statement}\n" for statement in to.statements)
    promises = ", ".join(to.sizes.promises(body + "".join(parameters)))
    where = f"\nwhere {promises}" if promises else ""
    text = f"program {name}({', '.join(parameters)}){where}\n{{\n{body}  return {', '.join(results)}\n}}\n"
    return Program(text, list(to.inputs), list(dims.values()), [node for _, node in to.scalars.values()], outputs, part.layouts, to.indices)


def replace(graph: Graph, cluster: Sequence[Node], program: Program) -> Node:
    """Puts the call of a cluster's program into a graph, before anything that it may read is written. Call `sort` after the
    last."""
    with graph.inserting_before(end_of_part(cluster[-1])):
        for index in dict.fromkeys(program.indices):
            check(graph, index)
        dims = [_sizes_node(graph, one) if isinstance(one, tuple) else one for one in program.dims]
        arguments = (program.text, program.inputs, dims, program.scalars)
        place = () if program.inputs else (value_of(program.outputs[0].node).device,)
        run = graph.call_function(torch.ops.padlock.cluster.default, (*arguments, *place))
        values = []
        for i, output in enumerate(program.outputs):
            part = graph.call_function(operator.getitem, (run, i))
            value = part.meta["val"] = program.layouts.get(output.node, value_of(output.node))
            if output.is_permuted:
                value = part.meta["val"] = value.permute(output.perm)
                inverse = [output.perm.index(axis) for axis in range(len(output.perm))]
                part = graph.call_function(overload("permute"), (part, inverse))
                part.meta["val"] = value_of(output.node)
            if output.node not in program.layouts and not _is_as_made(value_of(output.node), output.perm):
                part = _with_strides(graph, part, value_of(output.node))
            output.node.replace_all_uses_with(part)
            values.append(value)
        run.meta["val"] = values
    run.meta[INPUTS_AS_TRACED] = torch.fx.node.map_arg(run.args, lambda node: program.layouts.get(node, node.meta["val"])), {}
    return run


def _with_strides(graph: Graph, part: Node, value: torch.Tensor) -> Node:
    """Returns the same elements with the traced strides."""
    nodes = SizeNodes(graph)
    try:
        extents, strides = ([nodes.make(n) if isinstance(n, torch.SymInt) else n for n in sizes] for sizes in (value.shape, value.stride()))
    except Untranslatable:
        return part
    made = graph.call_function(overload("as_strided"), (part, extents, strides))
    made.meta["val"] = value
    return made


def _sizes_node(graph: Graph, place: tuple[Node, int]) -> Node:
    node, axis = place
    made = graph.call_function(overload("sym_size", "int"), (node, axis))
    made.meta["val"] = value_of(node).shape[axis]
    return made
