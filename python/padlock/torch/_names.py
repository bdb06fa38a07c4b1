"""Every name of torch that may change without notice; no other file of the package has one.

A name that some version of torch lacks is None here. Code that needs it takes a slower way, or leaves the work to torch,
with one warning.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

import torch


def _find(module: str, name: str) -> Any:
    """Returns a module's attribute (dots go deeper), or None."""
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found
    except (ImportError, AttributeError):
        return None


_warned: set[str] = set()


def warn_once(message: str) -> None:
    """Warns once a process of a missing name of PyTorch, and of the fallback."""
    if message in _warned:
        return
    _warned.add(message)
    warnings.warn(message, RuntimeWarning, stacklevel=3)


# ---- Eager mode ------------------------------------------------------------------------------------------------------

#: The operator that torch.nn.functional.pad calls, which Dynamo's graphs have.
pad_in_graphs = _find("torch._C._nn", "pad") or _find("torch", "_C._nn.pad")
_peek = _find("torch", "_C._functorch.peek_interpreter_stack")
_stack = _find("torch", "_C._functorch.get_interpreter_stack")
_functionalize = _find("torch", "_C._functorch.TransformType.Functionalize")
_derivatives = [_find("torch", f"_C._functorch.TransformType.{name}") for name in ("Grad", "Jvp")]


def is_transformed() -> bool:
    """Returns whether the current code runs under a transform of torch.func that only has rules for autograd.Function."""
    layer = _peek() if _peek is not None else None
    return layer is not None and layer.key() != _functionalize


def is_differentiated() -> bool:
    """Returns whether one of torch.func's transforms around the current code takes derivatives."""
    layers = _stack() if _stack is not None else None
    return any(layer.key() in _derivatives for layer in layers or ())


#: Tags an operator whose inputs must have the traced strides.
exact_strides_tags = tuple(tag for tag in (_find("torch", "Tag.needs_exact_strides"),) if tag is not None)


# ---- Graphs ----------------------------------------------------------------------------------------------------------

_higher_order = _find("torch", "_ops.HigherOrderOperator")


def is_higher_order(target: Any) -> bool:
    """Returns whether a node calls an operator that runs functions: it has no schema that says to what it writes."""
    return _higher_order is not None and isinstance(target, _higher_order)


_composite = _find("torch", "_C.DispatchKey.CompositeImplicitAutograd")


@lru_cache(maxsize=None)
def may_copy(target: Any) -> bool:
    """Returns whether an operator is composite. Some views of its schema are copies then, as reshape's are."""
    asks = getattr(target, "has_kernel_for_dispatch_key", None)
    return asks is None or _composite is None or bool(asks(_composite))


def storage_of(value: torch.Tensor) -> int | None:
    """Returns a number that tensors share if they share memory. None for a tensor without memory of its own."""
    try:
        return value.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        return None


_statically_known_true = _find("torch.fx.experimental.symbolic_shapes", "statically_known_true")


def is_known(condition: Any) -> bool:
    """Returns whether a condition holds for all sizes, as far as the symbols of a trace show it."""
    if isinstance(condition, bool):
        return condition
    return bool(_statically_known_true(condition)) if _statically_known_true is not None else False


def holds(condition: Any) -> bool:
    """Returns whether a condition holds for the sizes of the trace. If so it becomes a guard of the compiled code.
    Compiling a backward graph adds no guards, so ask before."""
    if isinstance(condition, bool) or is_known(condition):
        return bool(condition)
    return getattr(condition.node, "hint", None) is True and bool(condition)


def size_hint(size: Any) -> int:
    """Returns the value of a size when it was traced; a symbol without one counts as large."""
    if isinstance(size, int):
        return size
    hint = getattr(size.node, "hint", None)
    return hint if isinstance(hint, int) else 4096


#: Key in a node's `meta` by which Inductor gives an operator exactly the traced strides.
INPUTS_AS_TRACED = "eager_input_vals"

#: compile_fx(graph, inputs, inner_compile=...) and the function it calls for each graph by default. Importing it takes a
#: second.
def inductor() -> tuple[Any, Any]:
    place = "torch._inductor.compile_fx"
    return _find(place, "compile_fx"), _find(place, "compile_fx_inner")


def without_graph_cache() -> Any:
    """A context in which AOTAutograd does not cache whole graphs: their keys do not name the back end. (Inductor's code for
    the rest of a graph has a cache of its own, whose key has the programs' texts.)"""
    patch = _find("torch._functorch.config", "patch")
    has_it = _find("torch._functorch.config", "enable_autograd_cache") is not None
    return patch(enable_autograd_cache=False) if patch is not None and has_it else nullcontext()


def with_key(nothing: Any) -> Any:
    """A context in which Inductor's cache keys include a pass's key, unless the user has a pass in its place."""
    config = _find("torch._inductor", "config")
    theirs = getattr(config, "post_grad_custom_pre_pass", nothing)
    if (theirs is not None and theirs not in ([], ())) or graph_pass_base() is object:
        return nullcontext()
    return config.patch(post_grad_custom_pre_pass=nothing)


def _fakes_of(inputs: Sequence[Any], context: Any) -> list[Any]:
    """Returns a graph's inputs as Dynamo's trace has them: without elements, with its symbols."""
    found = []
    for one in inputs:
        how = context.tensor_to_context.get(one) if isinstance(one, torch.Tensor) else None
        more = {"symbolic_context": how, "source": how.tensor_source} if how is not None else {}
        found.append(context.fake_mode.from_tensor(one, **more) if isinstance(one, torch.Tensor) else one)
    return found


def _remembering_nothing(fake_mode: Any) -> Any:
    """A context in which fakes are not cached. With symbols, caching takes longer than it saves: a graph that is traced
    once rarely asks twice."""
    without = _find("torch._subclasses.fake_tensor", "disable_fake_tensor_cache")
    return without(fake_mode) if without is not None and hasattr(fake_mode, "cache_enabled") else nullcontext()


def _trace(function: Any, inputs: Sequence[Any], fake_mode: Any) -> Any:
    """Returns a function's graph of the operators that Inductor would receive. None if this torch lacks a name for it."""
    trace, table = _find("torch.fx.experimental.proxy_tensor", "make_fx"), _find("torch._inductor.decomposition", "select_decomp_table")
    python_rules = _find("torch._dispatch.python", "enable_python_dispatcher")
    if trace is None or table is None or python_rules is None:
        return None
    with fake_mode, python_rules(), torch.no_grad():
        return trace(function, decomposition_table=table())(*inputs)


def trace_operators(model: Any, inputs: Sequence[Any]) -> Any:
    """Returns the operators that Inductor would receive for a graph of Dynamo whose inputs record no gradient. None if this
    torch lacks a name for it."""
    context = _find("torch", "_guards.TracingContext.try_get")
    here = context() if context is not None else None
    if here is None or here.fake_mode is None:
        return None
    with _remembering_nothing(here.fake_mode):
        return _trace(model, _fakes_of(inputs, here), here.fake_mode)


def trace_function(function: Any, inputs: Sequence[Any]) -> Any:
    """Returns the graph that Inductor would receive for a function of fakes that changes only its own tensors and returns a
    tuple. None if this torch lacks a name for it."""
    functionalize = _find("torch._subclasses.functional_tensor", "dispatch_functionalize")
    fake_mode = getattr(inputs[0], "fake_mode", None)
    if functionalize is None or fake_mode is None:
        return None
    made = _trace(functionalize(function), inputs, fake_mode)
    tidy = _find("torch._inductor.fx_passes.post_grad", "remove_noop_ops")
    if made is not None and tidy is not None:
        tidy(made.graph)
        made.graph.eliminate_dead_code()
    return made


def inductor_options(mode: str | None) -> dict[str, Any]:
    """Returns Inductor's options for a mode of torch.compile."""
    options = _find("torch._inductor", "list_mode_options")
    return dict(options(mode)) if mode not in (None, "default") and options is not None else {}


def chooses_layouts() -> bool:
    """Returns whether Inductor gives convolutions another order of axes than the traced one."""
    return bool(_find("torch._inductor.config", "layout_optimization"))


def _rename_call(results: Any, name: str) -> None:
    """Renames the call that makes some results in Inductor's code, and removes the checks of their strides."""
    for made in results:
        output = made.data.data
        output.skip_size_stride_alignment_checks = True
        output.inputs[0].python_kernel_name = name


@lru_cache(maxsize=None)
def call_directly(operator: Any, name: str) -> None:
    """Makes Inductor's Python code call a function in place of an operator with dense results: the dispatcher takes three
    times as long as a small kernel. If this torch lacks a name for it, the operator is called as usual."""
    place = "torch._inductor.lowering"
    fallback, table = _find(place, "make_fallback"), _find(place, "lowerings")
    constraint, graph = _find(place, "tag_to_layout_constraint"), _find("torch._inductor.virtualized", "V")
    if None in (fallback, table, constraint, graph) or not exact_strides_tags:
        return
    fallback(operator, layout_constraint=constraint(exact_strides_tags[0]), warn=False)
    as_operator = table[operator]

    def lower(*arguments: Any, **named: Any) -> Any:
        made = as_operator(*arguments, **named)
        try:
            if not graph.graph.cpp_wrapper:
                _rename_call(made, name)
        except AttributeError:
            warn_once("padlock: kernels between Inductor's are called by way of torch's dispatcher")
        return made

    table[operator] = lower


def graph_pass_base() -> Any:
    """Returns the base class of passes for which Inductor's caches have a key."""
    return _find("torch._inductor.custom_graph_pass", "CustomGraphPass") or object
