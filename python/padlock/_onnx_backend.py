"""The backend with which ONNX's own test suite runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import onnx
import onnx.numpy_helper
from onnx.backend.base import Backend as _Backend
from onnx.backend.base import BackendRep as _BackendRep

from .errors import Unimplemented
from .onnx import Model, load


def _as_constants(model: Any, inputs: Sequence[Any]) -> Any:
    """Returns the model with small inputs of integers replaced by constants with these values."""
    special = onnx.ModelProto()
    special.CopyFrom(model)
    del special.graph.input[:]
    for given, array in zip(model.graph.input, inputs):
        if array.size <= 64 and array.dtype in (numpy.int64, numpy.int32, numpy.bool_):
            special.graph.initializer.append(onnx.numpy_helper.from_array(array, given.name))
        else:
            special.graph.input.append(given)
    return special


def _array(value: Any) -> Any:
    """Returns an input as an array; the suite has some in its files' format."""
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else numpy.asarray(value)


class Representation(_BackendRep):
    """A model that can be run.

    If axes, shapes or indices come from inputs, no single program has all their values. Such a model is imported at each
    run, with that run's values.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._loaded: Model | None = None
        try:
            self._loaded = load(model, device=None)
        except Unimplemented:
            if not model.graph.input:
                raise

    @property
    def is_for_all_sizes(self) -> bool:
        """Returns whether one program serves all values of the inputs."""
        return self._loaded is not None

    def run(self, inputs: Sequence[Any], **options: Any) -> tuple[Any, ...]:
        arrays = [_array(value) for value in inputs]
        if self._loaded is not None:
            return tuple(self._loaded.run(arrays))
        special = load(_as_constants(self._model, arrays), device=None)
        names = [given.name for given in self._model.graph.input]
        taken = {place["name"] for place in special.inputs}  # the others are constants
        return tuple(special.run({name: array for name, array in zip(names, arrays) if name in taken}))


class Backend(_Backend):
    """Runs models on the host."""

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **options: Any) -> Representation:
        super().prepare(model, device, **options)
        return Representation(model)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU"
