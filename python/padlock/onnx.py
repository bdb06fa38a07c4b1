"""ONNX models as kernels.

`load` makes one kernel of a model, for all its sizes. `backend` is the class with which ONNX's own test suite runs; it
alone needs the package onnx.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._kernel import Kernel, compile
from .errors import invalid

__all__ = ["Model", "backend", "load"]


def _numbers(value: Any) -> list[int]:
    """Returns the elements of a list, an array or a number."""
    listed = value.tolist() if hasattr(value, "tolist") else value
    return [int(listed)] if not isinstance(listed, (list, tuple)) else [int(number) for number in listed]


class Model:
    """A model as a kernel. Call it with its inputs, by position in the model's order or by its names: `model(x, **{"in.0":
    y})`."""

    def __init__(self, text: str, interface: Mapping[str, Any], device: str | None) -> None:
        #: The program, in the language of docs/language.md.
        self.text = text
        #: The parameter or value of the program for each input and result of the model.
        self.inputs: list[dict[str, Any]] = interface["inputs"]
        self.results: list[dict[str, Any]] = interface["results"]
        self.kernel: Kernel = compile(text, device=device)

    def __call__(self, *inputs: object, **named: object) -> Any:
        by_name = dict(self._by_name(inputs))
        known = [place["name"] for place in self.inputs]
        for name in named:
            if name not in known:
                raise invalid(f"expected inputs named {', '.join(map(repr, known))}, found {name!r}")
        twice = [name for name in named if name in by_name]
        if twice:
            raise invalid(f"expected one value for each input, found two for '{twice[0]}'")
        results = self.run({**by_name, **named})
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, inputs: Sequence[Any] | Mapping[str, Any], outputs: Sequence[str] | None = None) -> list[Any]:
        """Runs the model on inputs, in its order or by its names.

        `outputs` names the results to return; else all, in the model's order.
        """
        positions = self._positions(outputs)
        named = self._by_name(inputs)
        known = [place["name"] for place in self.inputs]
        for name in named:
            if name not in known:
                raise invalid(f"expected one of the model's inputs {known}, found '{name}'")
        arguments: dict[str, object] = {}
        for place in self.inputs:
            arguments.update(self._arguments(place, named))
        results = self.kernel(**arguments)
        results = list(results) if isinstance(results, tuple) else [results]
        return [results[position] for position in positions]

    def _positions(self, outputs: Sequence[str] | None) -> list[int]:
        names = [place["name"] for place in self.results]
        if outputs is None:
            return list(range(len(names)))
        for name in outputs:
            if name not in names:
                raise invalid(f"expected one of the model's outputs {names}, found '{name}'")
        return [names.index(name) for name in outputs]

    def _by_name(self, inputs: Sequence[Any] | Mapping[str, Any]) -> Mapping[str, Any]:
        if isinstance(inputs, Mapping):
            return inputs  # a dict may have more, as for another use of the model
        if len(inputs) > len(self.inputs):
            raise invalid(f"expected at most {len(self.inputs)} inputs, found {len(inputs)}")
        return {place["name"]: value for place, value in zip(self.inputs, inputs)}

    def _arguments(self, place: dict[str, Any], inputs: Mapping[str, Any]) -> dict[str, object]:
        """Returns the kernel's arguments for one input of the model."""
        names: list[str] = place["parameters"]
        if not names:
            return {}
        if place["name"] not in inputs:
            raise invalid(f"expected the input '{place['name']}'")
        value = inputs[place["name"]]
        if place["kind"] == "dims":
            numbers = _numbers(value)
            if len(numbers) != len(names):
                raise invalid(f"expected {len(names)} elements of '{place['name']}', found {len(numbers)}")
            return dict(zip(names, numbers))
        if place["kind"] == "scalar":
            return {names[0]: value.item() if hasattr(value, "item") else value}
        return {names[0]: value}


def load(
    model: Any, *, folder: str | None = None, device: str | None = "host", outputs: Sequence[str] = ()
) -> Model:
    """Imports a model: the path of its file, its bytes, or an onnx.ModelProto.

    `folder` has the files of its external data; for a path it is the file's folder. `device` is as in padlock.compile.
    `outputs` names values of the model for the kernel to compute; then results of nodes that it cannot compute are
    inputs. Without it, the kernel computes the whole model. Errors: Unimplemented if no program can express the model,
    with each such node, the reason, and the parts that are programs (docs/onnx.md); NotFound for an output that nothing
    computes.
    """
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        folder = os.path.dirname(path) or "." if folder is None else folder
        with open(path, "rb") as file:
            data = file.read()
    else:
        data = model if isinstance(model, bytes) else model.SerializeToString()
    text, interface = _core.import_onnx(data, folder or "", list(outputs))
    return Model(text, json.loads(interface), device)


def __getattr__(name: str) -> Any:
    if name != "backend":
        raise AttributeError(f"module 'padlock.onnx' has no attribute '{name}'")
    from ._onnx_backend import Backend

    return Backend
