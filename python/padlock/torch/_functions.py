"""padlock::pad and its adjoint for torch.func's transforms, which differentiate only an autograd.Function."""

from __future__ import annotations

import torch

from ._names import is_transformed


def keep_pad(ctx, inputs, output):  # type: ignore[no-untyped-def]
    x, ctx.low, ctx.high, ctx.mode, _, ctx.interior = inputs
    ctx.extent = x.shape


def keep_adjoint(ctx, inputs, output):  # type: ignore[no-untyped-def]
    _, ctx.extent, ctx.low, ctx.high, ctx.mode, ctx.interior = inputs


class Pad(torch.autograd.Function):
    """padlock::pad; its gradient is the adjoint."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, low, high, mode, value, interior):  # type: ignore[no-untyped-def]
        return torch.ops.padlock.pad(x, low, high, mode, value, interior)

    @staticmethod
    def setup_context(ctx, inputs, output):  # type: ignore[no-untyped-def]
        keep_pad(ctx, inputs, output)

    @staticmethod
    def jvp(ctx, tangent, *_):  # type: ignore[no-untyped-def]
        return Pad.apply(tangent, ctx.low, ctx.high, ctx.mode, None, ctx.interior)

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        made = Adjoint.apply(grad, list(ctx.extent), ctx.low, ctx.high, ctx.mode, ctx.interior)
        return made, None, None, None, None, None


class Adjoint(torch.autograd.Function):
    """padlock::pad_adjoint; its gradient is the pad."""

    generate_vmap_rule = True

    @staticmethod
    def forward(grad, extent, low, high, mode, interior):  # type: ignore[no-untyped-def]
        return torch.ops.padlock.pad_adjoint(grad, extent, low, high, mode, interior)

    @staticmethod
    def setup_context(ctx, inputs, output):  # type: ignore[no-untyped-def]
        keep_adjoint(ctx, inputs, output)

    @staticmethod
    def jvp(ctx, tangent, *_):  # type: ignore[no-untyped-def]
        return Adjoint.apply(tangent, ctx.extent, ctx.low, ctx.high, ctx.mode, ctx.interior)

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        made = Pad.apply(grad, ctx.low, ctx.high, ctx.mode, None, ctx.interior)
        return made, None, None, None, None, None


def pad(x, low, high, mode, value, interior):  # type: ignore[no-untyped-def]
    run = Pad.apply if not torch.compiler.is_dynamo_compiling() and is_transformed() else torch.ops.padlock.pad
    return run(x, low, high, mode, value, interior)


def pad_adjoint(grad, extent, low, high, mode, interior):  # type: ignore[no-untyped-def]
    run = Adjoint.apply if is_transformed() else torch.ops.padlock.pad_adjoint
    return run(grad, extent, low, high, mode, interior)
