"""Types of parameters: `padlock.f32["B", "S"]`, `padlock.f32`, `padlock.dim`."""

from __future__ import annotations

from typing import Any

from .sizes import Dim, dim_of, refuse

__all__ = [
    "DimType", "ElementType", "TensorType", "bf16", "bool_", "dim", "f16", "f32", "f64", "i16", "i32", "i64",
    "i8", "u16", "u32", "u64", "u8",
]


class TensorType:
    """`padlock.f32["B", "S"]`: an element type with extents, and with strides if the tensor is not dense."""

    def __init__(self, element: str, extents: tuple[Any, ...], strides: tuple[Any, ...] | None = None) -> None:
        self.element, self.extents, self.stride_list = element, extents, strides

    def strides(self, *strides: str | int) -> TensorType:
        """Returns the type with these strides, in elements."""
        return TensorType(self.element, self.extents, strides)

    def __repr__(self) -> str:
        text = f"{self.element}[{', '.join(map(str, self.extents))}]"
        return text + (f" strides [{', '.join(map(str, self.stride_list))}]" if self.stride_list is not None else "")


class ElementType:
    """`padlock.f32`: the type of a scalar parameter; with extents a tensor."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, value: Any) -> Any:
        """Makes a size or a number an operand of that type."""
        from .values import Typed, operand

        text = dim_of(value).text if isinstance(value, Dim) else operand(value)
        return Typed(f"{self.name}({text})")

    def __getitem__(self, extents: Any) -> TensorType:
        return TensorType(self.name, extents if isinstance(extents, tuple) else (extents,))

    def __repr__(self) -> str:
        return self.name


class DimType:
    """`padlock.dim`: an integer for computing sizes."""

    def __repr__(self) -> str:
        return "dim"


def element_type(given: object) -> ElementType:
    """Returns an element type, also by its name."""
    if isinstance(given, ElementType):
        return given
    if isinstance(given, str) and given in BY_NAME:
        return BY_NAME[given]
    refuse(f"expected an element type ({', '.join(BY_NAME)}), found {given!r}")


dim = DimType()
f64, f32, f16, bf16 = (ElementType(name) for name in ("f64", "f32", "f16", "bf16"))
i64, i32, i16, i8 = (ElementType(name) for name in ("i64", "i32", "i16", "i8"))
u64, u32, u16, u8 = (ElementType(name) for name in ("u64", "u32", "u16", "u8"))
bool_ = ElementType("bool")
BY_NAME = {kind.name: kind for kind in (f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, bool_)}
