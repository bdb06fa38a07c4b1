"""Programs as Python calls them: padlock.compile and what it returns."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from . import _core


@dataclass(frozen=True)
class Proof:
    """The prover's verdict on every access of a kernel."""

    #: How many obligations have a violation. A kernel with one does not compile.
    refuted: int
    #: All obligations for people, a line each.
    report: str
    #: The same as data.
    details: dict[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        return self.refuted == 0


class Signature(NamedTuple):
    """What those who trace a call have to know of a kernel, as values that tell nothing of its memory."""

    text: str
    #: Names of parameters in the order of positional arguments.
    order: tuple[str, ...]
    #: The same in the program's order.
    tensors: tuple[str, ...]
    scalars: tuple[str, ...]
    dims: tuple[str, ...]

    @staticmethod
    def of(kernel: _core.Kernel, order: Sequence[str]) -> Signature:
        names, (scalars, dims) = tuple(kernel._names), kernel._counts
        last, first = len(names) - dims, len(names) - dims - scalars
        return Signature(kernel.text, tuple(order) or names, names[:first], names[first:last], names[last:])


class Kernel(_core.Kernel):
    """A program, compiled once for all sizes, on each device where it is called.

    Call it with tensors, scalars and dims: by position in the order of the program's parameters (tensors, then scalars,
    then dims), or by name. It returns a tensor of the library that the first one came from, or a tuple of them; `out=`
    takes tensors to write to, and then nothing is allocated. A program without tensors returns NumPy's; with `out=` it runs on the
    device of the first of those.

    Memory of results of 1 MiB and more, NumPy's and PyTorch's on a CPU, is kept when they and all their views have died, and the next call takes it:
    at most a quarter more than one call needs, for as long as the kernel lives. `keeps_results = False` gives it back and
    ends that.
    """

    def __init__(self, text: str, order: Sequence[str], *how: Any) -> None:
        super().__init__(text, order, *how)
        self._signature = Signature.of(self, order)

    def explain(self, *arguments: object, **sizes: object) -> dict[str, Any]:
        """Returns what compiling made, as data: extents, strides, storage, grid and config; with arguments (sizes by
        their names will do) as numbers, too."""
        return json.loads(self._explain(*arguments, **sizes))

    def prove(self, target: str = "", all_configs: bool = False) -> Proof:
        """Proves every access, for all sizes; `target` is "host:x86-64-v3" or "sm_90", say, and needs no such machine."""
        refuted, report, details = self._prove(target, all_configs)
        return Proof(refuted, report, json.loads(details))

    def emit(self, stage: str = "ir", target: str = "") -> str:
        """One stage of compiling as text: "ir", "kernel", "schedule", "llvm", "asm" or "ptx"."""
        return self._emit(stage, target)

    def tune(
        self,
        opt: Mapping[str, int] = {},
        *,
        min: Mapping[str, int] = {},
        max: Mapping[str, int] = {},
        budget: float = 10.0,
        device: str = "host",
        search: str = "fast",
        progress: Callable[[dict[str, Any]], object] | None = None,
    ) -> dict[str, Any]:
        """Measures configs on scratch memory, in a process of their own, for `budget` seconds, and uses what it learns
        from the next call on. Ctrl-C ends it, and what was measured is kept. Returns a report."""
        return json.loads(self._tune(dict(min), dict(opt), dict(max), budget, device, search, progress))

    def __repr__(self) -> str:
        return f"<padlock.Kernel {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_remake, (self.text,))


def _remake(text: str) -> Kernel:
    return compile(text)


def compile(
    text: str,
    *,
    config: str = "",
    bounds_check: bool = False,
    device: str | None = "host",
    order: Sequence[str] = (),
) -> Kernel:
    """Reads and verifies a program's text, and compiles it for `device` (None: when it is first called).

    `order` names the parameters in the order of positional arguments, where it is another than tensors, scalars, dims.
    With `bounds_check` every access is tested when it happens. Errors: InvalidArgument, with line and column, for a
    text that is no program; ResourceExhausted for one that is too large.
    """
    kernel = Kernel(text, list(order), config, bounds_check)
    kernel.keeps_results = True
    if device is not None:
        kernel._compile(device)
    return kernel


def configure(*, threads: int = 0, cache: str = "read", cache_file: str = "", worker: str = "") -> None:
    """Says how the process's context is made, from the next call on.

    `threads`: that run a loop at a time; 0: as many CPUs as the process may use. `cache` of tuning: "off", "read" (what
    is learnt lives as long as the process), "read-write" (it goes to the file) or "require" (a miss is an error).
    `cache_file`: "": the user's. `worker`: the program that tuning starts; "": the package's own.
    """
    _core.configure(threads, cache, cache_file, worker)
