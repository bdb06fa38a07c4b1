"""Tells what the back end did with each graph, and why: for people on the logger "padlock.torch", as data in `decisions()`."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass

logger = logging.getLogger("padlock.torch")


@dataclass(frozen=True)
class Decision:
    """One cluster of operators, and whether it became a kernel."""

    taken: bool
    #: Why it was, or was not.
    reason: str
    #: The operators, in the graph's order.
    operators: tuple[str, ...]
    #: What it reads and writes at the sizes of the trace.
    bytes: int = 0
    #: The program, where it was taken.
    text: str = ""
    backward: bool = False


_decisions: deque[Decision] = deque(maxlen=4096)


def decide(decision: Decision) -> None:
    """Keeps a decision, and logs it."""
    _decisions.append(decision)
    where = " of the backward graph" if decision.backward else ""
    what = f"{len(decision.operators)} operators{where} ({', '.join(decision.operators)}; {decision.bytes} bytes)"
    logger.info("%s %s: %s", "took" if decision.taken else "left", what, decision.reason)
    if decision.taken:
        logger.debug("the program of them:\n%s", decision.text)


def decisions() -> list[Decision]:
    """The last 4096 decisions of this process, oldest first."""
    return list(_decisions)


def forget() -> None:
    """Empties that list."""
    _decisions.clear()
