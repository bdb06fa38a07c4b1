"""Functions become programs: they run once, on symbols."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import _kernel
from .sizes import Constraint, Dim, refuse
from .types import DimType, ElementType, TensorType
from .values import Scalar, Tensor, Trace, current_trace, traces

__all__ = ["jit", "text_of", "where"]


def where(*constraints: Constraint) -> None:
    """Says what holds of the sizes: checked when they are bound, and known to the compiler."""
    current_trace().constraints += [constraint.text for constraint in constraints]


def _declare(trace: Trace, name: str, annotation: object) -> tuple[str, Any]:
    if isinstance(annotation, TensorType):
        for extent in annotation.extents:
            if not isinstance(extent, (str, int)):
                refuse(f"{name}: expected extents by name or as integers, found {extent!r}")
        sizes = [Dim(e, 3 if e.isidentifier() else 1) if isinstance(e, str) else e for e in annotation.extents]
        return f"{name}: {annotation!r}", Tensor(trace, name, sizes)
    if isinstance(annotation, DimType):
        return f"{name}: dim", Dim(name)
    if isinstance(annotation, ElementType):
        return f"{name}: {annotation.name}", Scalar(trace, name)
    refuse(f"parameter '{name}': expected padlock.f32[...], padlock.f32 or padlock.dim, found {annotation!r}")


def _annotations(function: Callable[..., Any]) -> dict[str, object]:
    """Returns the annotations of the parameters, also under `from __future__ import annotations`."""
    found: dict[str, object] = {}
    names = dict(inspect.getclosurevars(function).nonlocals)
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = parameter.annotation
        if isinstance(annotation, str):
            annotation = eval(annotation, function.__globals__, names)
        # Annotated[padlock.lang.Tensor, padlock.f32["B", "S"]], for type checkers, to which the latter is no type.
        found[name] = annotation.__metadata__[0] if hasattr(annotation, "__metadata__") else annotation
    return found


def text_of(function: Callable[..., Any]) -> str:
    """The program that a function writes. What `jit` compiles."""
    trace = Trace()
    declared = {name: _declare(trace, name, kind) for name, kind in _annotations(function).items()}
    for text, value in declared.values():
        trace.names.add(text.split(":")[0])
        if isinstance(value, Tensor):
            trace.names.update(extent.text for extent in value.shape)
    traces.append(trace)
    try:
        returned = function(**{name: value for name, (_, value) in declared.items()})
    finally:
        traces.pop()
    results = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    for result in results:
        if not isinstance(result, Tensor):
            raise TypeError(f"{function.__name__}: expected it to return tensors of the program, found {result!r}")
    head = f"program {function.__name__}({', '.join(text for text, _ in declared.values())})\n"
    if trace.constraints:
        head += f"where {', '.join(trace.constraints)}\n"
    body = "".join(line + "\n" for line in trace.lines)
    return f"{head}{{\n{body}  return {', '.join(result.name for result in results)}\n}}\n"


def jit(function: Callable[..., Any]) -> _kernel.Kernel:
    """Runs the function once on symbols, and makes a kernel of the program that it writes. It is compiled for a device
    when it is first called with that device's tensors."""
    kernel = _kernel.compile(text_of(function), device=None, order=list(inspect.signature(function).parameters))
    kernel.__doc__ = function.__doc__
    kernel.__name__ = function.__name__
    kernel.__wrapped__ = function
    return kernel
