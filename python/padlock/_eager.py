"""The parts of eager pads that the C++ module calls in Python."""

from __future__ import annotations

import sys

from .errors import make_error


def float8_bits(value: object, name: str) -> int:
    """Returns the bits of a number as an 8-bit float, by a library that has the type."""
    if torch := sys.modules.get("torch"):
        return int(torch.tensor(value, dtype=getattr(torch, name)).view(torch.uint8))
    try:
        import ml_dtypes
        import numpy
    except ImportError as error:
        message = f"a fill of {name} that is not 0 needs the package ml_dtypes"
        raise make_error(12, 0, message, message) from error
    return int(numpy.asarray(value, dtype=getattr(ml_dtypes, name)).view("u1"))
