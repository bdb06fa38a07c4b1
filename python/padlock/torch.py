"""`padlock.torch.pad`: torch.nn.functional.pad, with its conventions, for any rank, type and width.

Plain tensors go straight to the kernel. What torch gives another meaning than its memory (gradients to record, negative
and conjugate views, fakes, wrappers, subclasses, modes) goes through torch's dispatcher, as torch.ops.padlock.pad.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import _core
from ._core import pad_like_torch as pad
from .errors import InvalidArgument, Unimplemented, make_error

__all__ = ["pad"]

_NAMES = {"constant": "constant", "replicate": "edge", "reflect": "reflect", "symmetric": "symmetric", "circular": "wrap"}


def _invalid(message: str) -> Exception:
    return make_error(3, 0, message, message, -1, "", {}, 0, 0)


# ---- Operators -------------------------------------------------------------------------------------------------------

_library = torch.library.Library("padlock", "DEF")
_library.define(
    "pad(Tensor x, SymInt[] low, SymInt[] high, str mode='constant', Scalar? value=None, SymInt[] interior=[]) -> Tensor"
)
_library.define(
    "pad_adjoint(Tensor grad, SymInt[] shape, SymInt[] low, SymInt[] high, str mode, SymInt[] interior=[]) -> Tensor"
)
_library.define("call(str text, Tensor[] tensors, Scalar[] scalars, SymInt[] dims) -> Tensor[]")


def _extents(shape: Sequence[Any], low: Sequence[Any], high: Sequence[Any], interior: Sequence[Any]) -> list[Any]:
    between = list(interior) or [0] * len(shape)
    extents = []
    for n, before, after, k in zip(shape, low, high, between):
        spread = n if isinstance(k, int) and k == 0 else n + torch.sym_max(n - 1, 0) * k
        extents.append(before + spread + after)
    return extents


def _run_pad(x, low, high, mode="constant", value=None, interior=()):  # type: ignore[no-untyped-def]
    return _core.pad_memory(x.detach(), tuple(low), tuple(high), mode, value, tuple(interior) or None, None)


def _fake_pad(x, low, high, mode="constant", value=None, interior=()):  # type: ignore[no-untyped-def]
    return x.new_empty(_extents(x.shape, low, high, interior))


def _run_adjoint(grad, shape, low, high, mode, interior=()):  # type: ignore[no-untyped-def]
    """The sum over all elements that each element went to, axis by axis."""
    grad = grad.detach()
    if mode == "constant":
        cut = _core.pad_memory(grad, tuple(-n for n in low), tuple(-n for n in high), mode, None, None, None)
        for axis, k in enumerate(interior):
            cut = cut[(slice(None),) * axis + (slice(None, None, k + 1),)]
        return cut.contiguous()
    for axis, (n, before, after) in enumerate(zip(shape, low, high)):
        if before == 0 and after == 0:
            continue
        index = _core.pad_memory(torch.arange(n), (before,), (after,), mode, None, None, None).to(grad.device)
        extents = list(grad.shape)
        extents[axis] = n
        grad = grad.new_zeros(extents).index_add_(axis, index, grad)
    return grad


def _fake_adjoint(grad, shape, low, high, mode, interior=()):  # type: ignore[no-untyped-def]
    return grad.new_empty(shape)


_kernels: dict[str, Any] = {}


def _run_call(text, tensors, scalars, dims):  # type: ignore[no-untyped-def]
    from ._kernel import compile

    kernel = _kernels.get(text) or _kernels.setdefault(text, compile(text, device=None))
    made = kernel._call_memory(*[t.detach() for t in tensors], *scalars, *dims)
    return list(made) if isinstance(made, tuple) else [made]


for _key in ("CPU", "CUDA"):
    _library.impl("pad", _run_pad, _key)
    _library.impl("pad_adjoint", _run_adjoint, _key)
    _library.impl("call", _run_call, _key)
torch.library.register_fake("padlock::pad", _fake_pad, lib=_library)
torch.library.register_fake("padlock::pad_adjoint", _fake_adjoint, lib=_library)


def _keep_pad(ctx, inputs, output):  # type: ignore[no-untyped-def]
    x, ctx.low, ctx.high, ctx.mode, _, ctx.interior = inputs
    ctx.shape = x.shape


def _pad_backward(ctx, grad):  # type: ignore[no-untyped-def]
    made = torch.ops.padlock.pad_adjoint(grad, ctx.shape, ctx.low, ctx.high, ctx.mode, ctx.interior)
    return made, None, None, None, None, None


def _keep_adjoint(ctx, inputs, output):  # type: ignore[no-untyped-def]
    _, _, ctx.low, ctx.high, ctx.mode, ctx.interior = inputs


def _adjoint_backward(ctx, grad):  # type: ignore[no-untyped-def]
    made = torch.ops.padlock.pad(grad, ctx.low, ctx.high, ctx.mode, None, ctx.interior)
    return made, None, None, None, None, None


torch.library.register_autograd("padlock::pad", _pad_backward, setup_context=_keep_pad, lib=_library)
torch.library.register_autograd("padlock::pad_adjoint", _adjoint_backward, setup_context=_keep_adjoint, lib=_library)


def _vmap_pad(info, in_dims, x, low, high, mode="constant", value=None, interior=()):  # type: ignore[no-untyped-def]
    x = x.movedim(in_dims[0], 0)
    between = [0, *interior] if interior else []
    return torch.ops.padlock.pad(x, [0, *low], [0, *high], mode, value, between), 0


def _vmap_adjoint(info, in_dims, grad, shape, low, high, mode, interior=()):  # type: ignore[no-untyped-def]
    grad = grad.movedim(in_dims[0], 0)
    between = [0, *interior] if interior else []
    made = torch.ops.padlock.pad_adjoint(grad, [grad.shape[0], *shape], [0, *low], [0, *high], mode, between)
    return made, 0


torch.library.register_vmap("padlock::pad", _vmap_pad, lib=_library)
torch.library.register_vmap("padlock::pad_adjoint", _vmap_adjoint, lib=_library)

class _Pad(torch.autograd.Function):
    """The operator, for torch.func's transforms, which take gradients of nothing else."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, low, high, mode, value, interior):  # type: ignore[no-untyped-def]
        return torch.ops.padlock.pad(x, low, high, mode, value, interior)

    @staticmethod
    def setup_context(ctx, inputs, output):  # type: ignore[no-untyped-def]
        _keep_pad(ctx, inputs, output)

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        made = _Adjoint.apply(grad, list(ctx.shape), ctx.low, ctx.high, ctx.mode, ctx.interior)
        return made, None, None, None, None, None


class _Adjoint(torch.autograd.Function):
    """The adjoint operator likewise."""

    generate_vmap_rule = True

    @staticmethod
    def forward(grad, shape, low, high, mode, interior):  # type: ignore[no-untyped-def]
        return torch.ops.padlock.pad_adjoint(grad, shape, low, high, mode, interior)

    @staticmethod
    def setup_context(ctx, inputs, output):  # type: ignore[no-untyped-def]
        _keep_adjoint(ctx, inputs, output)

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        made = _Pad.apply(grad, ctx.low, ctx.high, ctx.mode, None, ctx.interior)
        return made, None, None, None, None, None


# ---- What the module asks for ----------------------------------------------------------------------------------------


def pad_traced(x, low, high, mode, value, interior, out):  # type: ignore[no-untyped-def]
    """padlock.pad of a tensor that torch has to see first."""
    if out is not None:
        raise _invalid("out: expected None, as torch gives this tensor another meaning than its memory")
    if len(low) != x.dim() or len(high) != x.dim():
        raise _invalid(f"expected {x.dim()} amounts on each side, one an axis, found {len(low)} and {len(high)}")
    if mode not in _NAMES.values():
        raise _invalid(f"expected the mode {', '.join(_NAMES.values())}, found {mode!r}")
    if mode != "constant" and (value is not None or interior is not None):
        raise _invalid("value and interior are for the mode constant alone")
    transform = torch._C._functorch.peek_interpreter_stack()
    has_rules = transform is not None and transform.key() != torch._C._functorch.TransformType.Functionalize
    run = _Pad.apply if has_rules else torch.ops.padlock.pad
    return run(x, list(low), list(high), mode, value, list(interior or ()))


def pad_traced_pairs(x, pairs, mode, value, out):  # type: ignore[no-untyped-def]
    """padlock.torch.pad of one."""
    if mode not in _NAMES:
        raise _invalid(f"expected the mode {', '.join(_NAMES)}, found {mode!r}")
    pairs, axes = list(pairs), x.dim()
    if len(pairs) % 2 != 0 or len(pairs) // 2 > axes:
        raise _invalid(f"pad: expected pairs, at most one an axis of {axes}, found {len(pairs)} integers")
    if isinstance(value, float) and not (x.is_floating_point() or x.is_complex()) and x.dtype != torch.bool:
        value = int(value)
    low, high = [0] * axes, [0] * axes
    for i in range(len(pairs) // 2):
        low[axes - 1 - i], high[axes - 1 - i] = pairs[2 * i], pairs[2 * i + 1]
    if mode == "circular":  # torch wraps what negative amounts leave
        for axis in range(axes):
            if low[axis] < 0 < high[axis]:
                x, low[axis] = x.narrow(axis, -low[axis], x.shape[axis] + low[axis]), 0
            elif high[axis] < 0 < low[axis]:
                x, high[axis] = x.narrow(axis, 0, x.shape[axis] + high[axis]), 0
    return pad_traced(x, low, high, _NAMES[mode], value, None, out)


def call_kernel(kernel, arguments, named):  # type: ignore[no-untyped-def]
    """A kernel's call with such a tensor among its arguments: negative and conjugate views are resolved, gradients are
    refused."""
    if named.pop("out", None) is not None:
        raise _invalid("out: expected None, as torch gives an argument another meaning than its memory")
    values = kernel._ordered(*arguments, **named)
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        message = f"{kernel.name}: a kernel records no gradient: call it under torch.no_grad(), or with x.detach()"
        raise make_error(12, 0, message, message, -1, "", {}, 0, 0)
    scalars, dims = kernel._counts
    rest = values[len(tensors) :]
    results = torch.ops.padlock.call(kernel.text, tensors, rest[:scalars], rest[scalars : scalars + dims])
    return results[0] if len(results) == 1 else tuple(results)
