"""Makes programs from functions, which run once on symbols."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Sequence
from typing import Any

from .. import _kernel
from ..errors import Error
from .sizes import Constraint, Dim, Place, place, refuse
from .types import DimType, ElementType, TensorType
from .values import Scalar, Tensor, Trace, current_trace, traces

__all__ = ["jit", "text_of", "where"]


def where(*constraints: Constraint) -> None:
    """States a constraint on sizes. It is checked when sizes are bound, and the compiler uses it."""
    here = place()
    current_trace().constraints += [(constraint.text, here) for constraint in constraints]


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
    found = "no annotation" if annotation is inspect.Parameter.empty else repr(annotation)
    refuse(f"parameter '{name}': expected padlock.f32[...], padlock.f32 or padlock.dim, found {found}")


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


def _definition(function: Callable[..., Any]) -> Place:
    """Returns the line that defines the function, below its decorators."""
    file, line = function.__code__.co_filename, function.__code__.co_firstlineno
    while linecache.getline(file, line).lstrip().startswith("@"):
        line += 1
    return Place(file, line)


class _Source:
    """The program of a function, and for each of its lines the line of Python that made it."""

    def __init__(self, function: Callable[..., Any], head: str, trace: Trace, results: Sequence[Tensor]) -> None:
        self.function = _definition(function)
        lines = [(head, self.function)]
        self.constraints = trace.constraints
        if trace.constraints:
            lines.append((f"where {', '.join(text for text, _ in trace.constraints)}", None))
        lines += [("{", None), *zip(trace.lines, trace.places)]
        lines += [(f"  return {', '.join(result.name for result in results)}", None), ("}", None)]
        self.text = "".join(line + "\n" for line, _ in lines)
        self.places = [at for _, at in lines]

    def at(self, line: int, column: int) -> Place:
        """Returns the line of Python for a position in the text."""
        if line == 2 and self.constraints:
            end = len("where ")
            for text, where in self.constraints:
                end += len(text) + 2
                if column <= end and where is not None:
                    return where
        found = self.places[line - 1] if line <= len(self.places) else None
        return found or self.function

    def point(self, error: BaseException) -> None:
        """Replaces an error's position in the text by the line of Python."""
        if not isinstance(error, Error) or error.line is None or error.file is not None:
            return
        at = dict(self.constraints).get(error.expression) or self.at(error.line, error.column or 1)
        error.args = (f"{error.message}\n  {at}",)
        error.file, error.line, error.column = at.file, at.line, None


def _written(function: Callable[..., Any]) -> _Source:
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
            found = "None: a 'return' is missing" if result is None else repr(result)
            raise TypeError(f"{function.__name__}: expected it to return tensors of the program, found {found}")
    head = f"program {function.__name__}({', '.join(text for text, _ in declared.values())})"
    return _Source(function, head, trace, results)


def text_of(function: Callable[..., Any]) -> str:
    """Returns the program of a function, which `jit` compiles."""
    return _written(function).text


def _defaults(function: Callable[..., Any], source: _Source) -> dict[str, object]:
    """Returns the default values of scalars and dims."""
    kinds = _annotations(function)
    found: dict[str, object] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is inspect.Parameter.empty:
            continue
        kind, value = kinds[name], parameter.default
        fits = isinstance(value, int if isinstance(kind, DimType) else (int, float)) and not isinstance(kind, TensorType)
        if not fits or (isinstance(kind, DimType) and isinstance(value, bool)):
            refuse(f"parameter '{name}': expected a default of a scalar or a dim, a number, found {value!r}", source.function)
        found[name] = value
    return found


def jit(function: Callable[..., Any]) -> _kernel.Kernel:
    """Runs the function once on symbols, and makes a kernel of the resulting program. It is compiled for a device at the
    first call with that device's tensors. The function's defaults of scalars and dims are the kernel's. Errors name the
    function's lines."""
    source = _written(function)
    try:
        kernel = _kernel._remake(
            source.text,
            {"device": None, "order": list(inspect.signature(function).parameters)},
            _defaults(function, source),
        )
    except Error as error:
        source.point(error)
        raise
    kernel.__dict__["_translate"] = source.point
    kernel.__doc__ = function.__doc__
    kernel.__name__ = function.__name__
    kernel.__wrapped__ = function
    return kernel
