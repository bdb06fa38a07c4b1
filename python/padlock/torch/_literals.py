"""Numbers as a program's literals: exactly the elements that torch would make of them."""

from __future__ import annotations

import math
import struct
from typing import Any

import torch

from ._sizes import Untranslatable

_FLOATS = {torch.float64: ("<d", 8), torch.float32: ("<f", 4), torch.float16: ("<e", 2), torch.bfloat16: ("<f", 4)}


def _bits(value: float, kind: torch.dtype) -> int:
    """Returns the bits of the nearest element; torch rounds to f32 first for a half."""
    if kind != torch.float64:
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    form, size = _FLOATS[kind]
    bits = int.from_bytes(struct.pack(form, value), "little")
    if kind == torch.bfloat16:
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return bits


def literal(value: Any, kind: torch.dtype) -> str:
    """Returns a number as the text of an element of that type."""
    if kind == torch.bool:
        return "true" if value else "false"
    if not kind.is_floating_point:
        limits = torch.iinfo(kind)
        if not math.isfinite(value) or not limits.min <= int(value) <= limits.max:
            raise Untranslatable(f"{value} does not fit {kind}")
        return str(int(value))
    value = float(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) <= 256:
        return "-0" if value == 0 and math.copysign(1, value) < 0 else str(int(value))
    try:
        return f"bits({hex(_bits(value, kind))})"
    except OverflowError:
        raise Untranslatable(f"{value} does not fit {kind}") from None
