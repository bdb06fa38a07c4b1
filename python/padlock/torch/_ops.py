"""The operators padlock::pad, padlock::pad_adjoint and padlock::run, for torch's dispatcher, autograd, torch.func and
compilers. Results are contiguous. Under autocast they keep the type of their input, as torch's pads do. padlock::cluster
is for graphs whose gradients are already graphs: torch checks nothing when it is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .. import _core
from ._adjoint import adjoint
from ._functions import keep_adjoint, keep_pad
from ._names import exact_strides_tags
from ._programs import call_kernel, call_on, dense_inputs, infer, kernel_of
from ._replay import gradients

# ---- What they are ---------------------------------------------------------------------------------------------------

library = torch.library.Library("padlock", "DEF")
for _schema in (
    "pad(Tensor x, SymInt[] low, SymInt[] high, str mode='constant', Scalar? value=None, SymInt[] interior=[]) -> Tensor",
    "pad_adjoint(Tensor grad, SymInt[] extent, SymInt[] low, SymInt[] high, str mode, SymInt[] interior=[]) -> Tensor",
    "run(str program, Tensor[] xs, SymInt[] dims, Scalar[] scalars, Device? device=None) -> Tensor[]",
    "cluster(str program, Tensor[] xs, SymInt[] dims, Scalar[] scalars, Device? device=None) -> Tensor[]",
):
    library.define(_schema, tags=exact_strides_tags)


def _run_pad(x, low, high, mode="constant", value=None, interior=()):  # type: ignore[no-untyped-def]
    return _core.pad_memory(x.detach(), tuple(low), tuple(high), mode, value, tuple(interior) or None, None)


def _run_adjoint(grad, extent, low, high, mode, interior=()):  # type: ignore[no-untyped-def]
    return adjoint(grad.detach(), extent, low, high, mode, interior)


def _run_program(program, xs, dims, scalars, device=None):  # type: ignore[no-untyped-def]
    if not xs:
        return list(call_on(program, dims, scalars, device))
    given = [x.contiguous() if dense else x for x, dense in zip(xs, dense_inputs(program))]
    made = kernel_of(program)._call_memory(*given, *scalars, *dims)
    return list(made) if isinstance(made, tuple) else [made]


for _key in ("CPU", "CUDA"):
    library.impl("pad", _run_pad, _key)
    library.impl("pad_adjoint", _run_adjoint, _key)
for _name in ("run", "cluster"):  # also for calls without tensors, which have no device's key
    library.impl(_name, _run_program, "CompositeExplicitAutograd")

#: Inductor's code finds it by this name, without importing this package.
torch.ops.padlock.call_kernel = call_kernel

# ---- What their results look like ------------------------------------------------------------------------------------


def padded_extents(shape: Sequence[Any], low: Sequence[Any], high: Sequence[Any], interior: Sequence[Any]) -> list[Any]:
    """Returns the extents of a pad's result, as sums of extents and amounts."""
    between = list(interior) or [0] * len(shape)
    extents = []
    for n, before, after, k in zip(shape, low, high, between):
        spread = n if isinstance(k, int) and k == 0 else n + torch.sym_max(n - 1, 0) * k
        extents.append(before + spread + after)
    return extents


def _fake_pad(x, low, high, mode="constant", value=None, interior=()):  # type: ignore[no-untyped-def]
    extents = padded_extents(x.shape, low, high, interior)
    for extent in extents:
        torch._check(extent >= 0, lambda: f"pad: expected extents >= 0, found {extents}")
    return x.new_empty(extents)


def _fake_adjoint(grad, extent, low, high, mode, interior=()):  # type: ignore[no-untyped-def]
    return grad.new_empty(extent)


def _fake_program(program, xs, dims, scalars, device=None):  # type: ignore[no-untyped-def]
    device = xs[0].device if xs else device
    return [torch.empty(extents, dtype=kind, device=device) for extents, kind in infer(program, xs, dims)]


torch.library.register_fake("padlock::pad", _fake_pad, lib=library)
torch.library.register_fake("padlock::pad_adjoint", _fake_adjoint, lib=library)
torch.library.register_fake("padlock::run", _fake_program, lib=library)
torch.library.register_fake("padlock::cluster", _fake_program, lib=library)

# ---- Gradients: each of pad and its adjoint is the other's, so there are any number of them ----------------------------


def _pad_backward(ctx, grad):  # type: ignore[no-untyped-def]
    made = torch.ops.padlock.pad_adjoint(grad, ctx.extent, ctx.low, ctx.high, ctx.mode, ctx.interior)
    return made, None, None, None, None, None


def _adjoint_backward(ctx, grad):  # type: ignore[no-untyped-def]
    made = torch.ops.padlock.pad(grad, ctx.low, ctx.high, ctx.mode, None, ctx.interior)
    return made, None, None, None, None, None


def _keep_program(ctx, inputs, output):  # type: ignore[no-untyped-def]
    ctx.program, xs, ctx.dims, ctx.scalars, _ = inputs
    ctx.save_for_backward(*xs)


def _program_backward(ctx, grads):  # type: ignore[no-untyped-def]
    made = gradients(ctx.program, ctx.saved_tensors, ctx.dims, ctx.scalars, grads)
    # An empty list could be one of tensors, so torch wants a list of gradients.
    return None, made, *(None if given else [] for given in (ctx.dims, ctx.scalars)), None


torch.library.register_autograd("padlock::pad", _pad_backward, setup_context=keep_pad, lib=library)
torch.library.register_autograd("padlock::pad_adjoint", _adjoint_backward, setup_context=keep_adjoint, lib=library)
torch.library.register_autograd("padlock::run", _program_backward, setup_context=_keep_program, lib=library)

# ---- Batches: one more axis in front, which is not padded ------------------------------------------------------------


def _vmap_pad(info, in_dims, x, low, high, mode="constant", value=None, interior=()):  # type: ignore[no-untyped-def]
    between = [0, *interior] if interior else []
    return torch.ops.padlock.pad(x.movedim(in_dims[0], 0), [0, *low], [0, *high], mode, value, between), 0


def _vmap_adjoint(info, in_dims, grad, extent, low, high, mode, interior=()):  # type: ignore[no-untyped-def]
    between = [0, *interior] if interior else []
    grad = grad.movedim(in_dims[0], 0)
    made = torch.ops.padlock.pad_adjoint(grad, [info.batch_size, *extent], [0, *low], [0, *high], mode, between)
    return made, 0


def _vmap_program(info, in_dims, program, xs, dims, scalars, device=None):  # type: ignore[no-untyped-def]
    """Calls a program for each batch element: its text fixes the number of axes."""
    rows = []
    for i in range(info.batch_size):
        row = [x if axis is None else x.select(axis, i) for x, axis in zip(xs, in_dims[1])]
        rows.append(torch.ops.padlock.run(program, row, dims, scalars))
    results = [torch.stack(made) for made in zip(*rows)]
    return results, [0] * len(results)


torch.library.register_vmap("padlock::pad", _vmap_pad, lib=library)
torch.library.register_vmap("padlock::pad_adjoint", _vmap_adjoint, lib=library)
torch.library.register_vmap("padlock::run", _vmap_program, lib=library)
