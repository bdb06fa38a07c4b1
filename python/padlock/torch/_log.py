"""Reports for each graph what the back end took and why: for people on the logger "padlock.torch", as data in
`decisions()`."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

logger = logging.getLogger("padlock.torch")


@dataclass(frozen=True)
class Decision:
    """One cluster of operators, and whether it became a kernel."""

    taken: bool
    #: Why it became a kernel, or why not.
    reason: str
    #: The operators, in the graph's order.
    operators: tuple[str, ...]
    #: Bytes that it reads and writes at the sizes of the trace.
    bytes: int = 0
    #: The program, if it was taken.
    text: str = ""
    backward: bool = False
    #: The user's line of its pad, concatenation or copy, if tracing kept it: `model.py:12 'y = F.pad(x, (1, 2))'`.
    line: str = ""
    #: The reason without names and lines, by which decisions are counted.
    kind: str = ""


_decisions: deque[Decision] = deque(maxlen=4096)


def _counted(decisions: Sequence[Decision]) -> str:
    """Returns each reason with its number of decisions, and the first line of each."""
    counts: dict[str, list[Decision]] = {}
    for decision in decisions:
        counts.setdefault(decision.kind or decision.reason, []).append(decision)
    parts = []
    for kind, those in sorted(counts.items(), key=lambda item: -len(item[1])):
        line = next((one.line for one in those if one.line), "")
        parts.append(f"{len(those)} {kind}" + (f" (first: {line})" if line else ""))
    return "; ".join(parts)


_has_warned = False


def _warn_once(decisions: Sequence[Decision]) -> None:
    """Warns once a process, if no logging is set up, that Padlock takes nothing of a graph, and says what to do."""
    global _has_warned
    if _has_warned or logger.isEnabledFor(logging.INFO):
        return
    _has_warned = True
    logger.warning(
        "padlock took none of %d places with pads in this model, and leaves them to Inductor: %s. "
        "Where that is not what you want, options={'padlock.force': True} takes them. "
        "logging.getLogger('padlock.torch').setLevel('INFO') tells this of every graph; docs/pytorch.md says when a kernel pays.",
        len(decisions),
        _counted(decisions),
    )


def decide(decisions: Sequence[Decision], backward: bool) -> None:
    """Keeps the decisions of a graph and logs them: one line a graph at INFO, one a cluster at DEBUG. Without these levels
    it warns of the first forward graph of which nothing was taken."""
    _decisions.extend(decisions)
    where = "backward graph" if backward else "graph"
    left = [decision for decision in decisions if not decision.taken]
    if not decisions:
        logger.info("a %s has no pad, concatenation or copy of a view", where)
    else:
        why = f"; left: {_counted(left)}" if left else ""
        logger.info("took %d of %d clusters of a %s%s", len(decisions) - len(left), len(decisions), where, why)
    if decisions and len(left) == len(decisions) and not backward:
        _warn_once(decisions)
    for decision in decisions:
        what = f"{len(decision.operators)} operators ({', '.join(decision.operators)}; {decision.bytes} bytes)"
        at = f" at {decision.line}" if decision.line else ""
        logger.debug("%s %s%s: %s", "took" if decision.taken else "left", what, at, decision.reason)
        if decision.taken:
            logger.debug("the program of them:\n%s", decision.text)


def decisions() -> list[Decision]:
    """Returns the last 4096 decisions of this process, oldest first."""
    return list(_decisions)


def forget() -> None:
    """Empties that list. After that, a graph may be warned of again."""
    global _has_warned
    _decisions.clear()
    _has_warned = False
