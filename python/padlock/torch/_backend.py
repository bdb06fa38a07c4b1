"""`torch.compile(model, backend="padlock")`: clusters around pads become kernels of Padlock, Inductor keeps the rest."""

from __future__ import annotations

import hashlib
import operator
import pathlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from functools import lru_cache
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from .. import _core
from . import _lower_moves  # noqa: F401, fills the table of rules
from ._aliases import SharedResults, is_view
from ._choice import Choice, bytes_of, choose, is_crop, layouts_of, share_sources
from ._clusters import Clusters, is_anchor, sort
from ._direct import NUMBERS, operators_of
from ._give_back import give_back
from ._lines import line_of
from ._log import Decision, decide
from ._lower_rows import CHECKS
from ._names import call_directly, graph_pass_base, inductor, inductor_options, warn_once, with_key, without_graph_cache
from ._programs import call_kernel, kernel_of
from ._rescue import rescue
from ._rewrite import Part, Program, part_of, program_of, replace
from ._size_nodes import ask_inputs
from ._sizes import Untranslatable


@dataclass(frozen=True)
class How:
    """Settings and state of one compile, for all of its graphs."""

    force: bool = False
    backward: bool = False
    tell: Callable[[Sequence[Decision], bool], None] = decide
    #: Programs that Padlock has refused; finding that out may take a second.
    refused: dict[str, Choice] = field(default_factory=dict)


# ---- Graphs ----------------------------------------------------------------------------------------------------------


def _refused(error: Exception) -> Choice:
    reason = str(error) if isinstance(error, Untranslatable) else f"Padlock refuses its program: {error}"
    return Choice(False, reason, reason.partition(": ")[0])


def _compiled(cluster: Sequence[Node], part: Part, how: How) -> tuple[Program | None, Choice]:
    """Returns the program of a part, compiled if it is worth it. If Padlock refuses it, returns None with the reason: then it
    stays Inductor's."""
    text = ""
    try:
        program = program_of(cluster, part)
        text, choice = program.text, choose(cluster, program, how.force)
        if choice.taken and text not in how.refused:
            kernel_of(text)._compile("host")
    except Exception as error:  # noqa: BLE001, whatever it is, Inductor can do without us
        how.refused[text] = _refused(error)
        return None, how.refused[text]
    return (None, how.refused[text]) if text in how.refused else (program, choice)


def _parts(cluster: Sequence[Node], shared: SharedResults, how: How) -> Iterator[Part]:
    """Yields the parts of which to try programs: in layouts that need no copies, with names for computed extents that come
    from outside, and in the trace's symbols."""
    layouts = {} if how.force else layouts_of(cluster, shared)
    for one in (layouts, {}) if layouts else ({},):
        part = part_of(cluster, one, shared.views)
        yield part
        if part.names:
            yield part.in_symbols()


def _try(cluster: Sequence[Node], shared: SharedResults, how: How) -> tuple[Program | None, Choice]:
    """Returns the program of a cluster: of the first part that has one."""
    program, choice = None, Choice(False, "")
    try:
        for part in _parts(cluster, shared, how):
            program, choice = _compiled(cluster, part, how)
            if program is not None:
                break
    except Exception as error:  # noqa: BLE001
        return None, _refused(error)
    return program, choice


def _take(graph: Graph, cluster: Sequence[Node], shared: SharedResults, how: How, told: list[Decision]) -> bool:
    program, choice = _try(cluster, shared, how)
    names = tuple(str(node.target) for node in cluster)
    moved, text = 0, ""
    if program is not None:
        moved = bytes_of([node.meta.get("val") for node in (*program.inputs, *(one.node for one in program.outputs))])
        text = program.text
    line = line_of(next(filter(is_anchor, cluster), cluster[0]))
    told.append(Decision(choice.taken, choice.reason, names, moved, text if choice.taken else "", how.backward, line, choice.kind))
    if program is None or not choice.taken:
        return False
    replace(graph, cluster, program)
    for node in reversed(cluster):
        if not node.users:
            graph.erase_node(node)
    return True


def take_clusters(graph: Graph, how: How) -> int:
    """Makes programs of the clusters that pay, and logs each. Returns how many."""
    ask_inputs(graph)
    share_sources(graph)
    shared, taken = SharedResults(graph), 0
    told: list[Decision] = []
    for cluster in list(Clusters(graph)):
        done = _take(graph, cluster, shared, how, told)
        for node in () if done or len(cluster) == 1 else cluster:
            if is_crop(node):
                done |= _take(graph, [node], shared, how, told)
        taken += done
    sort(graph)
    graph.eliminate_dead_code()
    graph.lint()
    how.tell(told, how.backward)
    return taken


# ---- Graphs that have nothing else -----------------------------------------------------------------------------------


def _is_light(node: Node) -> bool:
    """Returns whether a node is a kernel of ours, a check of its indices, a view, or a number."""
    if CHECKS in node.meta:
        return True
    if node.op != "call_function" or is_view(node) or node.target in (torch.ops.padlock.cluster.default, operator.getitem):
        return True
    return isinstance(node.meta.get("val"), NUMBERS)


def _is_covered(graph: Graph) -> bool:
    ours = any(node.target is torch.ops.padlock.cluster.default for node in graph.nodes)
    return ours and all(_is_light(node) for node in graph.nodes)


def _plain(graph_module: GraphModule) -> Callable[..., Any]:
    """Returns the graph as Python. A graph of only views and kernels needs no compiler."""
    for node in graph_module.graph.nodes:
        if node.target is torch.ops.padlock.cluster.default:
            node.target = call_kernel
    graph_module.recompile()
    return graph_module.forward


def _boxed(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a function so that it takes its arguments in a list, and empties the list."""

    def call(arguments: list[Any]) -> Any:
        given = list(arguments)
        arguments.clear()
        return forward(*given)

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def _whole(model: GraphModule, inputs: Sequence[Any], how: How) -> Callable[..., Any] | None:
    """Compiles a graph without gradients that Padlock covers whole, without AOTAutograd. Logs its clusters only if it
    succeeds; otherwise the usual way logs them."""
    told: list[Decision] = []
    try:
        made = operators_of(model, inputs, how.force)
        if made is None:
            return None
        take_clusters(made.graph, replace_fields(how, tell=lambda decisions, _: told.extend(decisions)))
    except Exception:  # noqa: BLE001, the way that all graphs go is there
        return None
    if not _is_covered(made.graph):
        return None
    how.tell(told, False)
    return _plain(made)


def _call_kernels_directly() -> None:
    """Lets Inductor's code call kernels without torch's dispatcher."""
    call_directly(torch.ops.padlock.cluster.default, "torch.ops.padlock.call_kernel")


# ---- The back end ----------------------------------------------------------------------------------------------------


def _options(options: dict[str, Any] | None, mode: str | None) -> tuple[bool, dict[str, Any]]:
    given = dict(options or {})
    force = bool(given.pop("padlock.force", False))
    unknown = [name for name in given if name.startswith("padlock.")]
    if unknown:
        raise ValueError(f"expected the option padlock.force, found {', '.join(unknown)}")
    return force, {**inductor_options(mode), **given}


def backend(
    model: GraphModule, inputs: Sequence[Any], *, mode: str | None = None, options: dict[str, Any] | None = None
) -> Callable[..., Any]:
    """The back end that torch.compile finds by the name "padlock". Options are Inductor's, and `padlock.force`, which makes
    every cluster a kernel."""
    compile_fx, compile_rest = inductor()
    force, patches = _options(options, mode)
    if compile_fx is None or compile_rest is None:
        warn_once("padlock: this torch has no compile_fx where it is looked for; the model runs as it was traced")
        return model
    try:
        rescue(model)
    except Exception as error:  # noqa: BLE001
        warn_once(f"padlock: modes of pads are left to Inductor: {error}")

    how = How(force)
    if (whole := _whole(model, inputs, how)) is not None:
        return whole

    def inner(graph_module: GraphModule, examples: Sequence[Any], **given: Any) -> Any:
        try:
            backward = bool(given.get("is_backward"))
            take_clusters(graph_module.graph, replace_fields(how, backward=backward))
            give_back(graph_module.graph, backward=backward)
            graph_module.recompile()
        except Exception as error:  # noqa: BLE001
            warn_once(f"padlock: a graph is left to Inductor: {type(error).__name__}: {error}")
        if _is_covered(graph_module.graph):
            return _boxed(_plain(graph_module))
        _call_kernels_directly()
        with with_key(_Key()):
            return compile_rest(graph_module, examples, **given)

    with without_graph_cache():
        return compile_fx(model, inputs, inner_compile=inner, config_patches=patches or None)


@lru_cache(maxsize=None)
def _hash_of_sources() -> str:
    digest = hashlib.sha256(_core.version.encode())
    for file in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


class _Pass(graph_pass_base()):  # type: ignore[misc]
    """The back end as a post-grad pass of Inductor, for callers that own the compile call."""

    def __init__(self, force: bool = False) -> None:
        self._force = force

    def __call__(self, graph: Graph) -> None:
        try:
            _call_kernels_directly()
            take_clusters(graph, How(self._force))
        except Exception as error:  # noqa: BLE001
            warn_once(f"padlock: a graph is left to Inductor: {type(error).__name__}: {error}")

    def uuid(self) -> Any:
        """Returns the key of this pass in Inductor's caches."""
        return f"padlock {_hash_of_sources()} {self._force}"


class _Key(graph_pass_base()):  # type: ignore[misc]
    """A pass without effect. Its key keeps Inductor from reusing code that calls kernels of another version of Padlock."""

    def __call__(self, graph: Graph) -> None:
        """Changes nothing."""

    def uuid(self) -> Any:
        """Returns what differs between versions."""
        return f"padlock {_hash_of_sources()}"


inductor_pass = _Pass()
