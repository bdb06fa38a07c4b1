"""Padlock: a compiler for tensor padding. One kernel for every size, and a proof that it stays inside its tensors.

Importing this loads neither NumPy nor PyTorch nor JAX: arrays are known by the libraries that made them.
"""

from __future__ import annotations

import os as _os
from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import _core
from ._collate import collate
from ._core import pad
from ._dynamo import tell_when_imported
from ._kernel import Kernel, Pack, Proof, compile, configure, load, load_pack, trim
from .errors import (
    Cancelled,
    Error,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unavailable,
    Unimplemented,
)

if _TYPE_CHECKING:
    from . import jax as jax
    from . import lang as lang
    from . import numpy as numpy
    from . import onnx as onnx
    from . import torch as torch
    from .lang import bf16 as bf16
    from .lang import bool_ as bool_
    from .lang import dim as dim
    from .lang import f16 as f16
    from .lang import f32 as f32
    from .lang import f64 as f64
    from .lang import i8 as i8
    from .lang import i16 as i16
    from .lang import i32 as i32
    from .lang import i64 as i64
    from .lang import jit as jit
    from .lang import u8 as u8
    from .lang import u16 as u16
    from .lang import u32 as u32
    from .lang import u64 as u64

__version__: str = _core.version

__all__ = [
    "Cancelled",
    "Error",
    "FailedPrecondition",
    "Internal",
    "InvalidArgument",
    "Kernel",
    "NotFound",
    "Pack",
    "Proof",
    "ResourceExhausted",
    "Unavailable",
    "Unimplemented",
    "collate",
    "compile",
    "configure",
    "load",
    "load_pack",
    "pad",
    "trim",
]

tell_when_imported()

_MODULES = {"jax", "lang", "numpy", "onnx", "torch"}
# Names of our types in NumPy and PyTorch.
_OTHER_NAMES = {
    "float64": "f64", "double": "f64", "float32": "f32", "float": "f32", "float16": "f16", "half": "f16", "bfloat16": "bf16", "int64": "i64",
    "int32": "i32", "int16": "i16", "int8": "i8", "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "bool_",
}  # fmt: skip
_OF_LANG = {"jit", "dim", "f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool_"}


def __getattr__(name: str) -> object:
    """Imports optional parts when their names are first used."""
    import importlib

    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name in _OF_LANG:
        return getattr(importlib.import_module(".lang", __name__), name)
    hint = f"; write 'padlock.{_OTHER_NAMES[name]}'" if name in _OTHER_NAMES else ""
    raise AttributeError(f"module 'padlock' has no attribute '{name}'{hint}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_OF_LANG} - {"annotations"})


def get_include() -> str:
    """The folder of padlock/padlock.h and padlock.hpp, for a compiler's -I."""
    return _os.path.join(_os.path.dirname(__file__), "include")


def get_library_path() -> str:
    """The file of libpadlock, for those who call its C API (docs/embedding.md)."""
    return _os.path.join(_os.path.dirname(__file__), "lib", "libpadlock.so")
