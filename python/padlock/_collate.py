"""`padlock.collate`: sequences of different lengths as one array, for data loaders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _core
from ._rows import check_side


def _lists(sequences: list[Any], width: int, side: str, value: Any, mask: bool) -> tuple[Any, Any] | None:
    """Returns lists of integers; None if an item is not such a list."""
    import numpy

    if type(value) is not int or not -(2**63) <= value < 2**63:
        return None
    made = numpy.empty((len(sequences), width), numpy.int64)
    marks = numpy.empty_like(made) if mask else None
    addresses = made.ctypes.data, marks.ctypes.data if marks is not None else 0
    return (made, marks) if _core.collate_lists(sequences, width, side == "left", value, *addresses) else None


def _rows(sequences: list[Any], width: int, side: str, value: Any) -> Any:
    """Returns the rows as arrays or tensors of one type, made by NumPy if they are neither."""
    lengths = [len(sequence) for sequence in sequences]
    if type(sequences[0]).__module__.startswith("torch"):
        import torch

        from . import torch as ours

        offsets = torch.tensor([0, *lengths], device=sequences[0].device).cumsum(0)
        return ours.to_padded(torch.cat(sequences), offsets, width, value, side)
    import numpy

    from . import numpy as numpys

    parts = [numpy.asarray(sequence) for sequence in sequences]
    kinds = {part.dtype for part in parts if part.size} or {parts[0].dtype}
    if len(kinds) != 1:
        raise TypeError(f"collate: expected sequences of one type, found {', '.join(sorted(map(str, kinds)))}")
    kind = kinds.pop()
    values = numpy.concatenate([part.astype(kind, copy=False) for part in parts])
    return numpys.to_padded(values, numpy.cumsum([0, *lengths]), width, value, side)


def collate(
    sequences: Sequence[Any], multiple_of: int = 1, side: str = "right", value: Any = 0, mask: bool = False
) -> Any:
    """Puts sequences of different lengths into one array, a row each. A row is as long as the longest sequence, rounded up
    to a multiple; shorter ones get the fill on their right or left. Lists of integers give an array of int64; arrays,
    and PyTorch's tensors, one of their type. With `mask` also returns an array of int64: 1 for an element of a sequence,
    0 for the fill."""
    given = list(sequences)
    if not given:
        raise ValueError("collate: expected one or more sequences, found none")
    if multiple_of < 1:
        raise ValueError(f"multiple_of: expected 1 or more, found {multiple_of}")
    for one in given:
        if not hasattr(one, "__len__"):
            raise TypeError(f"collate: expected sequences, found {type(one).__name__}")
    longest = max(map(len, given))
    width = -(-longest // multiple_of) * multiple_of
    both = _lists(given, width, check_side(side), value, mask)
    if both is not None:
        return both if mask else both[0]
    made = _rows(given, width, side, value)
    if not mask:
        return made
    import numpy

    lengths = numpy.fromiter(map(len, given), numpy.int64)[:, None]
    columns = numpy.arange(width)
    marks = (columns < lengths if side == "right" else columns >= width - lengths).astype(numpy.int64)
    if type(made).__module__.startswith("torch"):
        import torch

        return made, torch.from_numpy(marks).to(made.device)
    return made, marks
