"""Programs by their texts: their kernels, and the shapes of their results for sizes that may be torch's symbols."""

from __future__ import annotations

import atexit
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import torch

from .._core import release_results
from .._kernel import Kernel
from .._kernel import compile as compile_program

_NAMES = {"bool": "bool", "bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64"}
_NAMES |= {f"{kind[0]}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
#: Element types by the language's names, and back.
TYPES: dict[str, torch.dtype] = {name: getattr(torch, long) for name, long in _NAMES.items() if hasattr(torch, long)}
TYPE_NAMES: dict[torch.dtype, str] = {kind: name for name, kind in TYPES.items()}

Size = Callable[[dict[str, Any]], Any]


@lru_cache(maxsize=None)
def kernel_of(text: str) -> Kernel:
    """Returns the kernel of a program's text, compiled at its first call. All kernels of a process share the memory kept
    for results."""
    made = compile_program(text, device=None)
    made._share_results()
    return made


def _resolved(x: torch.Tensor) -> torch.Tensor:
    """Returns the elements of a negative view in memory, with the traced strides."""
    return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device).copy_(x)


def call_on(text: str, dims: Sequence[int], scalars: Sequence[Any], device: Any) -> tuple[torch.Tensor, ...]:
    """Calls the kernel of a program without tensors on a device (None: torch's default one)."""
    made = tuple(torch.empty(extents, dtype=kind, device=device) for extents, kind in infer(text, (), dims))
    if not made[0].is_meta:
        kernel_of(text)._call_into(made, *scalars, *dims)
    return made


def call_kernel(text: str, xs: Sequence[torch.Tensor], dims: Sequence[int], scalars: Sequence[Any], device: Any = None) -> Any:
    """Calls the kernel of a program without torch's dispatcher, with tensors of the strides in its text. Returns a tuple.
    `device` is where a program without tensors puts its results."""
    if not xs:
        return call_on(text, dims, scalars, device)
    given = [_resolved(x) if x.is_neg() else x for x in xs]
    made = kernel_of(text)._call_memory(*given, *scalars, *dims)
    return made if isinstance(made, tuple) else (made,)


@lru_cache(maxsize=None)
def dense_inputs(text: str) -> list[bool]:
    """Returns which tensors of a program must be dense: those without strides."""
    header = kernel_of(text).emit("ir").split("\n")[0]
    return [match[1] is None for match in re.finditer(r"\w+: \w+\[[^\]]*\]( strides)?", header)]


atexit.register(kernel_of.cache_clear)  # torch holds this module until after the process's end
atexit.register(release_results)


class _Result(NamedTuple):
    extents: list[Size]
    type: torch.dtype


class _Shapes(NamedTuple):
    """How the shapes of a program's results follow from its inputs."""

    #: (symbol, input, axis) for each symbol that is an extent by itself.
    extents: list[tuple[str, int, int]]
    #: The same for strides.
    strides: list[tuple[str, int, int]]
    dims: list[str]
    results: list[_Result]


_FUNCTIONS: dict[str, Any] = {
    "__builtins__": {},
    "min": lambda *sizes: reduce(torch.sym_min, sizes),
    "max": lambda *sizes: reduce(torch.sym_max, sizes),
}


@lru_cache(maxsize=None)
def size_of(expression: str) -> Size:
    """Evaluates a size in the language's normal form. Python's // and % equal floordiv and mod, and have the same
    precedence."""
    code = compile(re.sub(r"\bmod\b", "%", re.sub(r"\bfloordiv\b", "//", expression)), "<size>", "eval")
    return lambda values: eval(code, _FUNCTIONS, values)


def _alone(inputs: Any, what: str) -> list[tuple[str, int, int]]:
    places = ((one["expression"], i, axis) for i, given in enumerate(inputs) for axis, one in enumerate(given[what]))
    return [place for place in places if place[0].isidentifier()]


@lru_cache(maxsize=None)
def _shapes(text: str) -> _Shapes:
    kernel = kernel_of(text)
    told = kernel.explain()
    dims = re.findall(r"(\w+)\s*:\s*dim\b", kernel.emit("ir").split("\n")[0])
    results = [_Result([size_of(one["expression"]) for one in made["extents"]], TYPES[made["type"]]) for made in told["results"]]
    return _Shapes(_alone(told["inputs"], "extents"), _alone(told["inputs"], "strides"), dims, results)


def symbols_of(text: str, xs: Sequence[torch.Tensor], dims: Sequence[Any]) -> dict[str, Any]:
    """Returns the value of each symbol of a program."""
    shapes = _shapes(text)
    values: dict[str, Any] = {symbol: xs[i].stride(axis) for symbol, i, axis in shapes.strides}
    values |= {symbol: xs[i].shape[axis] for symbol, i, axis in shapes.extents}
    return values | dict(zip(shapes.dims, dims))


def infer(text: str, xs: Sequence[torch.Tensor], dims: Sequence[Any]) -> list[tuple[list[Any], torch.dtype]]:
    """Returns extents and type of each result. Constraints on sizes are checked when the program runs."""
    values = symbols_of(text, xs, dims)
    return [([size(values) for size in made.extents], made.type) for made in _shapes(text).results]
