"""Finds the user's line from which a node of a graph comes."""

from __future__ import annotations

import pathlib
import re

import torch
from torch.fx import Node

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in [^\n]*(?:\n\s+([^\n]+))?')
_OTHERS = (str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(torch.__file__).parent))


def line_of(node: Node) -> str:
    """Returns file, line and text, as `model.py:12 'x.sum(1)'`; empty if tracing kept none. Lines of torch and of this
    package count only if there is no other."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    theirs = [frame for frame in frames if not frame[0].startswith(_OTHERS)] or frames
    if not theirs:
        return ""
    file, line, text = theirs[-1]
    return f"{pathlib.Path(file).name}:{line}" + (f" '{text}'" if text else "")


def operator_at(node: Node) -> str:
    """Returns the operator that a node calls, and the user's line."""
    called = str(node.target) if node.op == "call_function" else node.name
    return f"{called} at {line}" if (line := line_of(node)) else called
