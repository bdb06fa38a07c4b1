"""Rows by data in PyTorch: jagged batches, groups of rows and rows by indices. Each is one kernel, without a
synchronisation with the device. Indices are compared with the extent when the kernel uses them, and not before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import torch

from .. import _rows as programs
from ._names import exact_strides_tags
from ._programs import TYPE_NAMES, kernel_of

__all__ = ["from_padded", "pad_groups", "take_rows", "to_padded", "unpad_groups"]

library = torch.library.Library("padlock", "FRAGMENT")
for _schema in (
    "to_padded(Tensor values, Tensor offsets, SymInt length, Scalar value, str side) -> Tensor",
    "from_padded(Tensor padded, Tensor offsets, SymInt rows, str side) -> Tensor",
    "move_groups(Tensor x, Tensor[] groups, SymInt rows, Scalar value) -> Tensor",
    "take_rows(Tensor x, Tensor index, Scalar value) -> Tensor",
):
    library.define(_schema, tags=exact_strides_tags)


def _element(x: torch.Tensor, what: str) -> str:
    if x.dtype not in TYPE_NAMES:
        raise TypeError(f"{what}: expected a real type, found {x.dtype}")
    return TYPE_NAMES[x.dtype]


def _index(x: torch.Tensor, what: str) -> str:
    if x.dtype not in (torch.int32, torch.int64) or x.dim() != 1:
        raise TypeError(f"{what}: expected a tensor of int32 or int64 with one axis, found {x.dtype} with {x.dim()}")
    return TYPE_NAMES[x.dtype]


def _rows_of(x: torch.Tensor, axes: int) -> torch.Tensor:
    """Returns a tensor whose axes after the first `axes` are merged into one; if there are none, it has none."""
    x = x.detach().contiguous()
    return x if x.dim() <= axes else x.reshape(*x.shape[:axes], prod(x.shape[axes:]))


def _call(text: str, x: torch.Tensor, *given: Any, extents: Sequence[int]) -> torch.Tensor:
    return kernel_of(text)._call_memory(x, *given).reshape(extents)  # type: ignore[no-any-return]


def _run_to_padded(values, offsets, length, value, side):  # type: ignore[no-untyped-def]
    text = programs.to_padded(_element(values, "values"), _index(offsets, "offsets"), values.dim() > 1, side)
    extents = [offsets.shape[0] - 1, length, *values.shape[1:]]
    return _call(text, _rows_of(values, 1), offsets.contiguous(), value, length, extents=extents)


def _run_from_padded(padded, offsets, rows, side):  # type: ignore[no-untyped-def]
    text = programs.from_padded(_element(padded, "padded"), _index(offsets, "offsets"), padded.dim() > 2, side)
    return _call(text, _rows_of(padded, 2), offsets.contiguous(), rows, extents=[rows, *padded.shape[2:]])


def _run_move_groups(x, groups, rows, value):  # type: ignore[no-untyped-def]
    text = programs.move_groups(_element(x, "x"), _index(groups[0], "offsets"), x.dim() > 1)
    return _call(text, _rows_of(x, 1), *(g.contiguous() for g in groups), value, rows, extents=[rows, *x.shape[1:]])


def _run_take_rows(x, index, value):  # type: ignore[no-untyped-def]
    text = programs.take_rows(_element(x, "x"), _index(index, "index"), x.dim() > 1)
    return _call(text, _rows_of(x, 1), index.contiguous(), value, extents=[index.shape[0], *x.shape[1:]])


_RUN = {"to_padded": _run_to_padded, "from_padded": _run_from_padded, "move_groups": _run_move_groups, "take_rows": _run_take_rows}
_FAKE = {
    "to_padded": lambda values, offsets, length, value, side: values.new_empty(
        [offsets.shape[0] - 1, length, *values.shape[1:]]
    ),
    "from_padded": lambda padded, offsets, rows, side: padded.new_empty([rows, *padded.shape[2:]]),
    "move_groups": lambda x, groups, rows, value: x.new_empty([rows, *x.shape[1:]]),
    "take_rows": lambda x, index, value: x.new_empty([index.shape[0], *x.shape[1:]]),
}
for _name, _function in _RUN.items():
    for _key in ("CPU", "CUDA"):
        library.impl(_name, _function, _key)
    torch.library.register_fake(f"padlock::{_name}", _FAKE[_name], lib=library)

# ---- Gradients: jagged and padded are each other's, and groups and their way back ---------------------------------------


def _keep_to_padded(ctx, inputs, output):  # type: ignore[no-untyped-def]
    values, offsets, _, _, ctx.side = inputs
    ctx.rows = values.shape[0]
    ctx.save_for_backward(offsets)


def _to_padded_backward(ctx, grad):  # type: ignore[no-untyped-def]
    return torch.ops.padlock.from_padded(grad, ctx.saved_tensors[0], ctx.rows, ctx.side), None, None, None, None


def _keep_from_padded(ctx, inputs, output):  # type: ignore[no-untyped-def]
    padded, offsets, _, ctx.side = inputs
    ctx.length = padded.shape[1]
    ctx.save_for_backward(offsets)


def _from_padded_backward(ctx, grad):  # type: ignore[no-untyped-def]
    return torch.ops.padlock.to_padded(grad, ctx.saved_tensors[0], ctx.length, 0, ctx.side), None, None, None


def _keep_move_groups(ctx, inputs, output):  # type: ignore[no-untyped-def]
    x, groups, _, _ = inputs
    ctx.rows = x.shape[0]
    ctx.save_for_backward(*groups)


def _move_groups_backward(ctx, grad):  # type: ignore[no-untyped-def]
    from_begin, from_end, to_begin, to_end = ctx.saved_tensors
    made = torch.ops.padlock.move_groups(grad, [to_begin, to_end, from_begin, from_end], ctx.rows, 0)
    return made, [None] * 4, None, None


def _keep_take_rows(ctx, inputs, output):  # type: ignore[no-untyped-def]
    x, index, _ = inputs
    ctx.rows = x.shape[0]
    ctx.save_for_backward(index)


def _take_rows_backward(ctx, grad):  # type: ignore[no-untyped-def]
    """Computes the gradient by torch's own operator, which is deterministic if no row is taken twice. Rows of the fill go
    to one extra row."""
    (index,) = ctx.saved_tensors
    is_row = (index >= 0) & (index < ctx.rows)
    made = grad.new_zeros([ctx.rows + 1, *grad.shape[1:]])
    return made.index_add(0, torch.where(is_row, index, ctx.rows), grad)[: ctx.rows], None, None


torch.library.register_autograd("padlock::to_padded", _to_padded_backward, setup_context=_keep_to_padded, lib=library)
torch.library.register_autograd("padlock::from_padded", _from_padded_backward, setup_context=_keep_from_padded, lib=library)
torch.library.register_autograd("padlock::move_groups", _move_groups_backward, setup_context=_keep_move_groups, lib=library)
torch.library.register_autograd("padlock::take_rows", _take_rows_backward, setup_context=_keep_take_rows, lib=library)

# ---- Batches of values are longer rows; batches of offsets have results of different lengths -----------------------------


def _batched(name: str, axes: int):  # type: ignore[no-untyped-def]
    def rule(info, in_dims, x, *rest):  # type: ignore[no-untyped-def]
        if any(axis is not None for given in in_dims[1:] for axis in (given if isinstance(given, (list, tuple)) else [given])):
            raise NotImplementedError(f"padlock::{name} under vmap: expected the same offsets or indices for all of the batch")
        if in_dims[0] is None:
            return getattr(torch.ops.padlock, name)(x, *rest), None
        made = getattr(torch.ops.padlock, name)(x.movedim(in_dims[0], axes), *rest)
        return made, {"to_padded": 2}.get(name, 1)

    return rule


for _name, _axes in (("to_padded", 1), ("from_padded", 2), ("move_groups", 1), ("take_rows", 1)):
    torch.library.register_vmap(f"padlock::{_name}", _batched(_name, _axes), lib=library)

# ---- What they are called by ---------------------------------------------------------------------------------------------


def _plain(program: Callable[..., str], axes: int, x: Any, index: Any, *given: Any, how: tuple[str, ...] = ()) -> Any:
    """The result of a call that nothing of torch has to see, without its dispatcher, which takes longer than small kernels do. None
    for other calls."""
    if torch.compiler.is_compiling() or type(x) is not torch.Tensor or type(index) is not torch.Tensor:
        return None
    element, kind = TYPE_NAMES.get(x.dtype), TYPE_NAMES.get(index.dtype)
    if element is None or kind not in ("i32", "i64") or x.dim() not in (axes, axes + 1) or index.dim() != 1:
        return None
    if not x.is_contiguous() or not index.is_contiguous():
        return None
    return kernel_of(program(element, kind, x.dim() > axes, *how))._call_plain(x, index, *given)


def to_padded(values: torch.Tensor, offsets: torch.Tensor, length: int, value: float = 0, side: str = "right") -> torch.Tensor:
    """Pads sequences of rows, which lie one after another in `values` [T, ...], to [B, length, ...]. Sequence b has the
    rows from offsets[b] up to offsets[b + 1]. A longer one is cut, a shorter one gets the fill on its right or left."""
    made = _plain(programs.to_padded, 1, values, offsets, value, length, how=(programs.check_side(side),))
    return torch.ops.padlock.to_padded(values, offsets, length, value, side) if made is None else made


def from_padded(padded: torch.Tensor, offsets: torch.Tensor, rows: int | None = None, side: str = "right") -> torch.Tensor:
    """Undoes to_padded: the `rows` rows of all sequences, one after another; 0 for a row that was cut. Without `rows`, as
    many rows as the padded tensor has; those after the last sequence are 0."""
    rows = padded.shape[0] * padded.shape[1] if rows is None else rows
    made = _plain(programs.from_padded, 2, padded, offsets, rows, how=(programs.check_side(side),))
    return torch.ops.padlock.from_padded(padded, offsets, rows, side) if made is None else made


def _groups(offsets: torch.Tensor, multiple: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Returns begins and ends of groups, and those of the groups with rounded-up lengths."""
    if multiple < 1:
        raise ValueError(f"multiple: expected 1 or more, found {multiple}")
    begins = torch.cat([offsets.new_zeros(1), offsets])[:-1]
    longer = torch.cumsum((offsets - begins + (multiple - 1)) // multiple * multiple, 0, dtype=offsets.dtype)
    return [begins, offsets], [torch.cat([offsets.new_zeros(1), longer])[:-1], longer]


def pad_groups(
    x: torch.Tensor, offsets: torch.Tensor, multiple: int, rows: int | None = None, value: float = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rounds groups of rows up to a multiple of rows, with the fill, for grouped matrix products. Group g has the rows of
    `x` [T, ...] up to offsets[g]. Returns `rows` rows, and the groups' new offsets. Without `rows`, as many rows as any
    lengths can need."""
    given, made = _groups(offsets, multiple)
    most = (x.shape[0] + offsets.shape[0] * (multiple - 1)) // multiple * multiple
    return torch.ops.padlock.move_groups(x, given + made, most if rows is None else rows, value), made[1]


def unpad_groups(x: torch.Tensor, offsets: torch.Tensor, multiple: int, rows: int) -> torch.Tensor:
    """Undoes pad_groups: the rows of all groups, one after another. `offsets` are those given to pad_groups."""
    given, made = _groups(offsets, multiple)
    return torch.ops.padlock.move_groups(x, made + given, rows, 0)  # type: ignore[no-any-return]


def take_rows(x: torch.Tensor, index: torch.Tensor, value: float = 0) -> torch.Tensor:
    """Takes rows of `x` [T, ...] by their numbers; the fill if there is no such row, as -1 always is."""
    made = _plain(programs.take_rows, 1, x, index, value)
    return torch.ops.padlock.take_rows(x, index, value) if made is None else made
