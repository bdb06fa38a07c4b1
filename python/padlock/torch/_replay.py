"""A program's statements as operators of torch and of Padlock. Each has gradients of any order, so the program has them,
too."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import torch

from ._functions import pad, pad_adjoint
from ._names import is_differentiated
from ._programs import TYPES, kernel_of, size_of, symbols_of

# ---- Texts -----------------------------------------------------------------------------------------------------------


class _Statement(NamedTuple):
    name: str
    operation: str
    operands: list[str]
    #: Arguments by name; a list has its elements.
    named: dict[str, Any]


class _Body(NamedTuple):
    tensors: list[str]
    #: Names and types of scalar parameters.
    scalars: list[tuple[str, torch.dtype]]
    statements: list[_Statement]
    results: list[str]


def _split(text: str) -> list[str]:
    """Splits a text at commas outside parentheses."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def _statement(line: str) -> _Statement:
    name, operation, inside = re.fullmatch(r"\s*(\w+) = (\w+)\((.*)\)", line).groups()  # type: ignore[union-attr]
    operands: list[str] = []
    named: dict[str, Any] = {}
    for part in _split(inside):
        key, is_named, value = part.partition(" = ")
        if not is_named:
            operands.append(part)
        else:
            named[key] = _split(value[1:-1]) if value.startswith("[") else value
    return _Statement(name, operation, operands, named)


@lru_cache(maxsize=None)
def _body(text: str) -> _Body:
    """Returns the parts of a program in its canonical text."""
    header, rest = kernel_of(text).emit("ir").split("\n{\n")
    parameters = _split(re.match(r"program \w+\((.*)\)", header.split("\n")[0])[1])  # type: ignore[index]
    pairs = [parameter.split(": ", 1) for parameter in parameters]
    scalars = [(name, TYPES[kind]) for name, kind in pairs if kind in TYPES]
    *lines, last = rest.removesuffix("}\n").splitlines()
    statements = [_statement(line) for line in lines]
    return _Body([name for name, kind in pairs if "[" in kind], scalars, statements, _split(last.strip().removeprefix("return ")))


def _number(text: str, kind: torch.dtype) -> torch.Tensor:
    """Returns a literal as a tensor without axes."""
    if text.startswith("bits("):
        raw = int(text[5:-1], 16)
        width = torch.empty((), dtype=kind).element_size()
        return torch.frombuffer(bytearray(raw.to_bytes(width, "little")), dtype=kind)[0]
    value: Any = {"true": True, "false": False}.get(text)
    if value is None:
        value = float(text) if kind.is_floating_point else int(text)
    return torch.tensor(value, dtype=kind)


def _typed(text: str) -> re.Match[str] | None:
    """Returns the parts of "f32(1)", or of "i64(S + 1)"."""
    parts = re.fullmatch(r"(\w+)\((.*)\)", text)
    return parts if parts and parts[1] in TYPES else None


_LITERAL = re.compile(r"-?(\d[\w.+-]*|inf)|nan|true|false|bits\(.*\)")

# ---- Operations ------------------------------------------------------------------------------------------------------


class _Replay:
    """Runs a program's statements; holds their values by name."""

    def __init__(self, body: _Body, symbols: dict[str, Any], xs: Sequence[torch.Tensor], scalars: Sequence[Any]) -> None:
        self._symbols = symbols
        self.device = xs[0].device if xs else "cpu"
        self.values = dict(zip(body.tensors, xs))
        self.values |= {name: torch.full((), value, dtype=kind) for (name, kind), value in zip(body.scalars, scalars)}

    def sizes(self, texts: Sequence[str]) -> list[Any]:
        return [size_of(text)(self._symbols) for text in texts]

    def operand(self, text: str, kind: torch.dtype) -> torch.Tensor:
        """Returns a value, a literal, or a literal or a size that states its type."""
        if text in self.values:
            return self.values[text]
        if typed := _typed(text):
            if not _LITERAL.fullmatch(typed[2]):
                return torch.tensor(self.sizes([typed[2]])[0]).to(TYPES[typed[1]])
            text = typed[2]
        return _number(text, kind)

    def same_type(self, texts: Sequence[str]) -> list[torch.Tensor]:
        """Returns operands of one type. If all are literals, the first states the type."""
        known = (self.values[text].dtype for text in texts if text in self.values)
        stated = (TYPES[typed[1]] for text in texts if (typed := _typed(text)))
        kind = next(chain(known, stated))
        return [self.operand(text, kind) for text in texts]

    def run(self, statement: _Statement) -> torch.Tensor:
        moves = _MOVES.get(statement.operation)
        if moves is not None:
            given = [self.values[text] for text in statement.operands if text in self.values]
            return moves(self, given, statement)
        elementwise = _ELEMENTWISE[statement.operation]
        if statement.operation == "select":
            condition = self.operand(statement.operands[0], torch.bool)
            return elementwise(condition, *self.same_type(statement.operands[1:]))
        return elementwise(*self.same_type([*statement.operands, *statement.named.values()]))


def _pad(to: _Replay, given: list[torch.Tensor], statement: _Statement) -> torch.Tensor:
    x, named = given[0], statement.named
    low, high = to.sizes(named["low"]), to.sizes(named["high"])
    interior, mode = [int(k) for k in named.get("interior", ())], named.get("mode", "constant")
    made = pad(x, low, high, mode, None, interior)
    if "value" not in named:
        return made
    inside = pad(torch.ones_like(x, dtype=torch.bool), low, high, mode, None, interior)
    return torch.where(inside, made, to.operand(named["value"], x.dtype))


def _pad_adjoint(to: _Replay, given: list[torch.Tensor], statement: _Statement) -> torch.Tensor:
    named = statement.named
    extent, low, high = (to.sizes(named[key]) for key in ("extent", "low", "high"))
    interior = [int(k) for k in named.get("interior", ())]
    return pad_adjoint(given[0], extent, low, high, named.get("mode", "constant"), interior)


def _slice(to: _Replay, given: list[torch.Tensor], statement: _Statement) -> torch.Tensor:
    named = statement.named
    starts, limits = to.sizes(named["start"]), to.sizes(named["limit"])
    steps = [int(step) for step in named.get("step", ())] or [1] * len(starts)
    return given[0][tuple(slice(*bounds) for bounds in zip(starts, limits, steps))]


def _broadcast(to: _Replay, given: list[torch.Tensor], statement: _Statement) -> torch.Tensor:
    shape, axes = to.sizes(statement.named["shape"]), [int(axis) for axis in statement.named["axes"]]
    x = given[0].permute([axes.index(axis) for axis in sorted(axes)])
    for axis in range(len(shape)):
        x = x if axis in axes else x.unsqueeze(axis)
    return x.expand(shape)


def _iota(to: _Replay, given: list[torch.Tensor], statement: _Statement) -> torch.Tensor:
    shape, axis = to.sizes(statement.named["shape"]), int(statement.named["axis"])
    counted = torch.arange(shape[axis], device=to.device).to(TYPES[statement.operands[0]])
    return counted.reshape([-1 if i == axis else 1 for i in range(len(shape))]).expand(shape)


def _take(to: _Replay, given: list[torch.Tensor], statement: _Statement) -> torch.Tensor:
    x, *indices = given
    named = statement.named
    axes = [int(axis) for axis in named.get("axes", [named.get("axis")])]
    inside, taken = torch.ones((), dtype=torch.bool, device=x.device), []
    for axis, index in zip(axes, indices):
        is_row = (index >= 0) & (index < x.shape[axis])
        inside = inside & is_row
        taken.append(torch.where(is_row, index, 0).long())
    if any(x.shape[axis] == 0 for axis in axes):  # there is nothing to take
        inside, x = torch.zeros_like(inside), x.new_zeros([1 if axis in axes else n for axis, n in enumerate(x.shape)])
    made = x[(slice(None),) * axes[0] + tuple(torch.broadcast_tensors(*taken))]
    fill = to.operand(named["value"], x.dtype) if "value" in named else torch.zeros((), dtype=x.dtype, device=x.device)
    shape = [1] * axes[0] + list(inside.shape) + [1] * (x.dim() - axes[-1] - 1)
    return torch.where(inside.reshape(shape), made, fill)


def _search(to: _Replay, given: list[torch.Tensor], statement: _Statement) -> torch.Tensor:
    """Runs the language's loop for its largest number of iterations."""
    among, wanted = given
    low = torch.zeros_like(wanted, dtype=torch.int64)
    high = torch.full_like(low, len(among))
    for _ in range(len(among).bit_length()):
        middle, goes_on = (low + high) // 2, low < high
        is_below = among[middle.clamp(max=len(among) - 1)] <= wanted
        low, high = torch.where(goes_on & is_below, middle + 1, low), torch.where(goes_on & ~is_below, middle, high)
    return low


def _cast(to: _Replay, given: list[torch.Tensor], statement: _Statement) -> torch.Tensor:
    """Converts; floats saturate when they become integers."""
    kind = TYPES[statement.operands[1]]
    (x,) = given or to.same_type(statement.operands[:1])
    if not x.is_floating_point() or kind.is_floating_point or kind == torch.bool:
        return x.to(kind)
    least, most = torch.iinfo(kind).min, torch.iinfo(kind).max
    whole = x.detach().double().nan_to_num(0.0)
    inside = (whole > least - 1.0) & (whole < most + 1.0)
    beyond = torch.where(whole < 0, torch.tensor(least, dtype=kind), torch.tensor(most, dtype=kind))
    return torch.where(inside, torch.where(inside, whole, 0).to(kind), beyond)


_MOVES: dict[str, Callable[[_Replay, list[torch.Tensor], _Statement], torch.Tensor]] = {
    "pad": _pad,
    "pad_adjoint": _pad_adjoint,
    "slice": _slice,
    "concat": lambda to, given, statement: torch.cat(given, int(statement.named["axis"])),
    "transpose": lambda to, given, statement: given[0].permute([int(axis) for axis in statement.named["perm"]]),
    "broadcast": _broadcast,
    "reshape": lambda to, given, statement: given[0].reshape(to.sizes(statement.named["shape"])),
    "iota": _iota,
    "take": _take,
    "search": _search,
    "cast": _cast,
}

_functional = torch.nn.functional
#: Functions with a corner, where torch's own function defines the gradient.
_ELEMENTWISE: dict[str, Callable[..., torch.Tensor]] = {
    "relu": torch.relu,
    "leaky_relu": lambda x, alpha: torch.where(x > 0, x, x * alpha),
    "clamp": lambda x, lo, hi: torch.where(x < lo, lo, torch.where(x > hi, hi, x)),
    "gelu": _functional.gelu,
    "gelu_tanh": lambda x: _functional.gelu(x, approximate="tanh"),
    "silu": _functional.silu,
    "softplus": _functional.softplus,
    "select": torch.where,
    "and": torch.logical_and,
    "or": torch.logical_or,
    "not": torch.logical_not,
}
for _name in ("neg abs sign sqrt floor ceil round exp log tanh sigmoid erf rsqrt add sub mul div maximum minimum lt le gt ge eq ne").split():
    _ELEMENTWISE[_name] = getattr(torch, _name)


def replay(text: str, xs: Sequence[torch.Tensor], dims: Sequence[Any], scalars: Sequence[Any]) -> list[torch.Tensor]:
    """Computes the results of a program by operators that record gradients."""
    body = _body(text)
    state = _Replay(body, symbols_of(text, xs, dims), xs, scalars)
    for statement in body.statements:
        state.values[statement.name] = state.run(statement)
    return [state.values[name] for name in body.results]


def gradients(
    text: str, xs: Sequence[torch.Tensor], dims: Sequence[Any], scalars: Sequence[Any], grads: Sequence[torch.Tensor]
) -> list[torch.Tensor | None]:
    """Returns the gradient of each input from those of all results."""
    records = torch.is_grad_enabled()
    wanted = [x for x in xs if x.requires_grad]
    with torch.enable_grad():
        results = replay(text, xs, dims, scalars)
        pairs = [(result, grad) for result, grad in zip(results, grads) if result.requires_grad and grad is not None]
        if not pairs:
            return [None] * len(xs)
        outputs, given = zip(*pairs)
        found = iter(torch.autograd.grad(outputs, wanted, given, create_graph=records, allow_unused=True))
    return [next(found) if x.requires_grad else None for x in xs]


def run_program(text: str, xs: Sequence[torch.Tensor], dims: Sequence[Any], scalars: Sequence[Any]) -> list[torch.Tensor]:
    """Calls padlock::run; inside torch.func's gradients, which do not know it, replays the program."""
    return (replay if is_differentiated() else torch.ops.padlock.run)(text, xs, dims, scalars)
