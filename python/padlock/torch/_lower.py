"""Lowers each operator of a graph into a program: a table of rules, and the helpers that they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from ._aliases import is_view
from ._literals import literal
from ._programs import TYPE_NAMES
from ._sizes import Sizes, Untranslatable

aten = torch.ops.aten
HALVES = (torch.float16, torch.bfloat16)


def value_of(node: Any) -> torch.Tensor:
    """Returns the tensor of a node, as tracing saw it."""
    value = node.meta.get("val") if isinstance(node, Node) else None
    if not isinstance(value, torch.Tensor):
        raise Untranslatable(f"{node} is no tensor")
    return value


@dataclass(frozen=True)
class Index:
    """An index that a program uses, and where: of this axis of this tensor. Where it `wraps`, it lies in [-extent, extent) for
    PyTorch, else in [0, extent)."""

    node: Node
    source: Node
    axis: int
    wraps: bool


class Lowering:
    """The statements of one program under construction."""

    def __init__(self, names: dict[Any, Any] | None = None) -> None:
        self.sizes = Sizes(names)
        self.statements: list[str] = []
        #: The name of each node's value; other nodes become parameters.
        self.names: dict[Node, str] = {}
        #: Extents with names that replace tracing's expressions.
        self.extents: dict[Node, list[str]] = {}
        self.inputs: list[Node] = []
        #: Parameters for numbers that are known only at run time: their types, and the nodes that have them.
        self.scalars: dict[str, tuple[torch.dtype, Node]] = {}
        #: Indices for which PyTorch raises an error where the program has a fill.
        self.indices: list[Index] = []

    def emit(self, operation: str, *arguments: str) -> str:
        name = f"t{len(self.statements)}"
        self.statements.append(f"{name} = {operation}({', '.join(arguments)})")
        return name

    def tensor(self, node: Any) -> str:
        """Returns the name of a node's tensor."""
        value = value_of(node)
        if node not in self.names:
            type_name(value.dtype)
            self.names[node] = f"x{len(self.inputs)}"
            self.inputs.append(node)
        return self.names[node]

    def extents_of(self, node: Node) -> list[str]:
        """Returns the extents of a node's tensor, as texts."""
        return self.extents.get(node) or [self.sizes.text(n) for n in value_of(node).shape]

    def cast(self, name: str, source: torch.dtype, to: torch.dtype) -> str:
        """Converts as torch does: to a half from types wider than f32 by way of f32."""
        if source == to:
            return name
        if to in HALVES and source not in (*HALVES, torch.float32, torch.bool):
            name = self.emit("cast", name, "f32")
        return self.emit("cast", name, type_name(to))

    def operand(self, given: Any, kind: torch.dtype) -> str:
        """Returns a tensor or a number as an operand of that type."""
        if isinstance(given, Node) and isinstance(given.meta.get("val"), torch.Tensor):
            _require(_fits(given, kind), f"a cast from {value_of(given).dtype} to {kind} may be out of range")
            return self.cast(self.tensor(given), value_of(given).dtype, kind)
        return self.number(given, kind)

    def number(self, given: Any, kind: torch.dtype) -> str:
        """Returns a number as an element of that type: a literal, or a parameter."""
        if isinstance(given, (bool, int, float)):
            return literal(given, kind)
        if not isinstance(given, Node) or not isinstance(given.meta.get("val"), (torch.SymInt, torch.SymFloat)):
            raise Untranslatable(f"{given} is no tensor and no number")
        name = f"v{len(self.scalars)}"
        self.scalars[name] = (kind, given)
        return name

    def lower(self, node: Node) -> None:
        rule = RULES.get(node.target)
        if node.op != "call_function" or rule is None:
            raise Untranslatable(f"programs have no {node.target}")
        made = node.meta.get("val")
        if isinstance(made, torch.Tensor):
            type_name(made.dtype)
        self.names[node] = rule(self, node, *node.args, **node.kwargs)


_KEEPS_RANGE = {aten.round.default, aten.floor.default, aten.ceil.default, aten.clone.default}
#: Which bounds an operator's arguments after the first are.
_BOUNDS: dict[Any, tuple[str, ...]] = {
    aten.clamp.default: ("least", "most"),
    aten.clamp_min.default: ("least",),
    aten.clamp_max.default: ("most",),
}


def _fits(node: Node, kind: torch.dtype) -> bool:
    """Returns whether a tensor's elements are known to be in the range of a type of integers, if it is one and they are
    floats. PyTorch leaves the result of other elements undefined, and eager mode wraps some that programs saturate."""
    source = value_of(node).dtype
    if not source.is_floating_point or kind.is_floating_point or kind.is_complex or kind == torch.bool:
        return True
    limits, bounds = torch.iinfo(kind), dict[str, float]()
    while node.op == "call_function" and node.args and isinstance(node.args[0], Node):
        names = _BOUNDS.get(node.target)
        if names is None and not is_view(node) and node.target not in _KEEPS_RANGE:
            break
        for name, bound in zip(names or (), node.args[1:]):
            if isinstance(bound, (int, float)):
                bounds.setdefault(name, torch.tensor(bound, dtype=source).item())
        node = node.args[0]
    return len(bounds) == 2 and all(limits.min <= bound <= limits.max for bound in bounds.values())


def type_name(kind: torch.dtype) -> str:
    if kind not in TYPE_NAMES:
        raise Untranslatable(f"programs have no {kind}")
    return TYPE_NAMES[kind]


Rule = Callable[..., str]
RULES: dict[Any, Rule] = {}


def rule(*targets: Any) -> Callable[[Rule], Rule]:
    """Registers a function for these operators. None stands for an operator that this torch lacks."""

    def add(function: Rule) -> Rule:
        RULES.update({target: function for target in targets if target is not None})
        return function

    return add


def overload(name: str, kind: str = "default", space: Any = aten) -> Any:
    """Returns an operator, or None if this torch has none of that name."""
    return getattr(getattr(space, name, None), kind, None)


# ---- Elementwise -----------------------------------------------------------------------------------------------------


def _require(holds: bool, why: str) -> None:
    if not holds:
        raise Untranslatable(why)


def _arithmetic(name: str) -> Rule:
    def lower(to: Lowering, node: Node, a: Any, b: Any, alpha: Any = 1, rounding_mode: Any = None) -> str:
        kind = value_of(node).dtype
        _require(alpha == 1 and rounding_mode is None, f"{name} has no alpha and no rounding mode")
        _require(kind != torch.bool, f"{name} takes no bool")
        _require(name != "div" or kind.is_floating_point, "div is for floats")
        inside = kind
        if kind in HALVES and name in ("mul", "div") and not (isinstance(a, Node) and isinstance(b, Node)):
            inside = torch.float32  # torch rounds the number to the half only when it adds
        return to.cast(to.emit(name, to.operand(a, inside), to.operand(b, inside)), inside, kind)

    return lower


for _torch_name, _name in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("div", "div")):
    rule(overload(_torch_name, "Tensor"), overload(_torch_name, "Scalar"))(_arithmetic(_name))
for _name in ("maximum", "minimum"):
    rule(overload(_name))(_arithmetic(_name))


def _comparison(name: str) -> Rule:
    def lower(to: Lowering, node: Node, a: Any, b: Any) -> str:
        other = b.meta.get("val") if isinstance(b, Node) else b
        kind = torch.result_type(value_of(a), other if isinstance(other, torch.Tensor) else number_like(other))
        return to.emit(name, to.operand(a, kind), to.operand(b, kind))

    return lower


for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    rule(overload(_name, "Tensor"), overload(_name, "Scalar"))(_comparison(_name))


def _logical(name: str, *, bits: bool) -> Rule:
    def lower(to: Lowering, node: Node, *operands: Any) -> str:
        _require(not bits or value_of(node).dtype == torch.bool, f"{node.target} is for bool")
        return to.emit(name, *(to.operand(one, torch.bool) for one in operands))

    return lower


for _name in ("and", "or", "not"):
    rule(overload(f"logical_{_name}"))(_logical(_name, bits=False))
    rule(overload(f"bitwise_{_name}"), overload(f"bitwise_{_name}", "Tensor"))(_logical(_name, bits=True))


def _unary(name: str, *, floats: bool) -> Rule:
    def lower(to: Lowering, node: Node, x: Any) -> str:
        kind = value_of(node).dtype
        _require(kind != torch.bool, f"{name} takes no bool")
        _require(not floats or kind.is_floating_point, f"{name} is for floats")
        _require(name not in ACTIVATIONS or kind != torch.float64, f"{name} is not for f64")
        return to.emit(name, to.operand(x, kind))

    return lower


ACTIVATIONS = ("exp", "log", "tanh", "sigmoid", "erf", "silu", "rsqrt")
for _name in ("relu", "neg", "abs", "sign"):
    rule(overload(_name))(_unary(_name, floats=False))
for _name in ("sqrt", "floor", "ceil", "round", *ACTIVATIONS):
    rule(overload(_name))(_unary(_name, floats=True))


@rule(overload("gelu"))
def _gelu(to: Lowering, node: Node, x: Any, approximate: str = "none") -> str:
    _require(value_of(node).dtype != torch.float64, "gelu is not for f64")
    return to.emit("gelu" if approximate == "none" else "gelu_tanh", to.tensor(x))


@rule(overload("leaky_relu"))
def _leaky_relu(to: Lowering, node: Node, x: Any, slope: Any = 0.01) -> str:
    kind = value_of(node).dtype
    _require(kind.is_floating_point and slope >= 0, "leaky_relu is for floats, with a slope >= 0")
    inside = torch.float32 if kind in HALVES else kind
    return to.cast(to.emit("leaky_relu", to.operand(x, inside), f"alpha = {literal(slope, inside)}"), inside, kind)


@rule(overload("clamp"), overload("clamp_min"), overload("clamp_max"), overload("hardtanh"))
def _clamp(to: Lowering, node: Node, x: Any, *bounds: Any, **named: Any) -> str:
    least, most = (*bounds, None, None)[:2]
    least, most = named.get("min", least), named.get("max", most)
    if node.target is overload("clamp_max"):
        least, most = None, least if most is None else most
    if node.target is overload("hardtanh"):
        least, most = (-1, 1) if not bounds else (least, 1 if most is None else most)
    kind = value_of(node).dtype
    _require(kind != torch.bool, "clamp takes no bool")
    _require(least is None or most is None or least <= most, "clamp's bounds are the other way round")
    made = to.operand(x, kind)
    if least is not None and most is not None:
        return to.emit("clamp", made, f"lo = {literal(least, kind)}", f"hi = {literal(most, kind)}")
    for bound, below in ((least, "lt"), (most, "gt")):
        if bound is not None:
            made = to.emit("select", to.emit(below, made, literal(bound, kind)), literal(bound, kind), made)
    return made


@rule(overload("where", "self"), overload("where", "ScalarOther"), overload("where", "ScalarSelf"))
def _where(to: Lowering, node: Node, c: Any, a: Any, b: Any) -> str:
    kind = value_of(node).dtype
    if not isinstance(a, Node) and not isinstance(b, Node):
        return to.emit("select", to.operand(c, torch.bool), typed(a, kind), literal(b, kind))
    return to.emit("select", to.operand(c, torch.bool), to.operand(a, kind), to.operand(b, kind))


def number_like(given: Any) -> Any:
    """Returns a number that is known only at run time, of the same kind."""
    return 1 if isinstance(given, torch.SymInt) else 1.0 if isinstance(given, torch.SymFloat) else given


def typed(number: Any, kind: torch.dtype) -> str:
    """Returns a literal with its type."""
    return f"{type_name(kind)}({literal(number, kind)})"


@rule(overload("_to_copy"), overload("to", "dtype"), overload("convert_element_type", space=torch.ops.prims))
def _convert(to: Lowering, node: Node, x: Any, *_: Any, **how: Any) -> str:
    _require(value_of(x).device == value_of(node).device, "a program stays on its device")
    return to.operand(x, value_of(node).dtype)


@rule(overload("square"))
def _square(to: Lowering, node: Node, x: Any) -> str:
    return _arithmetic("mul")(to, node, x, x)


@rule(overload("reciprocal"))
def _reciprocal(to: Lowering, node: Node, x: Any) -> str:
    return _arithmetic("div")(to, node, 1, x)


@rule(overload("full"), overload("scalar_tensor"))
def _full(to: Lowering, node: Node, *given: Any, **how: Any) -> str:
    sizes, number = given if len(given) == 2 else ([], given[0])
    _require(isinstance(number, (bool, int, float)), f"{number!r} is no number")
    kind = value_of(node).dtype
    scalar = to.emit("cast", typed(number, kind), type_name(kind))
    return to.emit("broadcast", scalar, f"shape = {to.sizes.list(sizes)}", "axes = []") if sizes else scalar

