"""Every name of torch that has no promise to stay: here, and nowhere else in the package.

A name that some torch lacks is None here, and what needs it goes the slow way, or leaves the work to torch, with one warning.
"""

from __future__ import annotations

import importlib
import warnings
from contextlib import nullcontext
from typing import Any

import torch


def _find(module: str, name: str) -> Any:
    """A module's attribute (dots go deeper), or None."""
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found
    except (ImportError, AttributeError):
        return None


_warned: set[str] = set()


def warn_once(message: str) -> None:
    """Says in a process once what is not as expected, and what is done instead."""
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
    """Returns whether torch.func transforms what runs now, in a way that has rules for autograd.Function alone."""
    layer = _peek() if _peek is not None else None
    return layer is not None and layer.key() != _functionalize


def is_differentiated() -> bool:
    """Returns whether one of torch.func's transforms around what runs now takes derivatives."""
    layers = _stack() if _stack is not None else None
    return any(layer.key() in _derivatives for layer in layers or ())


#: Operators want their inputs with the strides that were traced.
exact_strides_tags = tuple(tag for tag in (_find("torch", "Tag.needs_exact_strides"),) if tag is not None)


# ---- Graphs ----------------------------------------------------------------------------------------------------------

_statically_known_true = _find("torch.fx.experimental.symbolic_shapes", "statically_known_true")


def is_known(condition: Any) -> bool:
    """Returns whether something holds for all sizes, as far as the symbols of a trace show it."""
    if isinstance(condition, bool):
        return condition
    return bool(_statically_known_true(condition)) if _statically_known_true is not None else False


def size_hint(size: Any) -> int:
    """The value that a size had when it was traced; a symbol without one counts as large."""
    if isinstance(size, int):
        return size
    hint = getattr(size.node, "hint", None)
    return hint if isinstance(hint, int) else 4096


#: What Inductor reads of a node whose operator wants its inputs with exactly the strides that were traced.
INPUTS_AS_TRACED = "eager_input_vals"

#: compile_fx(graph, inputs, inner_compile=...) and what it calls for each graph, if not us. Importing it takes a second.
def inductor() -> tuple[Any, Any]:
    place = "torch._inductor.compile_fx"
    return _find(place, "compile_fx"), _find(place, "compile_fx_inner")


def without_graph_cache() -> Any:
    """A context in which AOTAutograd keeps no whole graphs: their keys do not say which back end made them. (What Inductor
    made of a graph's rest has a cache of its own, whose key has the programs' texts.)"""
    patch = _find("torch._functorch.config", "patch")
    has_it = _find("torch._functorch.config", "enable_autograd_cache") is not None
    return patch(enable_autograd_cache=False) if patch is not None and has_it else nullcontext()


def inductor_options(mode: str | None) -> dict[str, Any]:
    """Returns Inductor's options of a mode of torch.compile."""
    options = _find("torch._inductor", "list_mode_options")
    return dict(options(mode)) if mode not in (None, "default") and options is not None else {}


def chooses_layouts() -> bool:
    """Returns whether Inductor gives convolutions another order of axes than was traced."""
    return bool(_find("torch._inductor.config", "layout_optimization"))


def graph_pass_base() -> Any:
    """The class of passes that Inductor's caches can tell apart."""
    return _find("torch._inductor.custom_graph_pass", "CustomGraphPass") or object
