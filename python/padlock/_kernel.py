"""padlock.compile and the kernels that it returns."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from . import _core
from .errors import invalid, make_error

#: The first bytes of a pack.
_PACK = b"\x89PAD"


@dataclass(frozen=True)
class Proof:
    """The prover's verdict on every access of a kernel."""

    #: How many obligations have a violation. A kernel with one does not compile.
    refuted: int
    #: All obligations for people, one a line.
    report: str
    #: All obligations as data.
    details: dict[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        return self.refuted == 0


class Signature(NamedTuple):
    """The properties of a kernel that tracing needs, without the kernel's memory."""

    text: str
    #: Names of parameters in the order of positional arguments.
    order: tuple[str, ...]
    #: Names of parameters in the program's order.
    tensors: tuple[str, ...]
    scalars: tuple[str, ...]
    dims: tuple[str, ...]

    @staticmethod
    def of(kernel: _core.Kernel, order: Sequence[str]) -> Signature:
        names, (scalars, dims) = tuple(kernel._names), kernel._counts
        last, first = len(names) - dims, len(names) - dims - scalars
        return Signature(kernel.text, tuple(order) or names, names[:first], names[first:last], names[last:])


class Kernel(_core.Kernel):
    """A program, compiled once for all sizes on each device on which it is called.

    Call it with tensors, scalars and dims: by position in the order of the program's parameters (tensors, then scalars,
    then dims), or by name. It returns a tensor of the first argument's library, or a tuple of them. `out=` takes tensors
    to write to; then nothing is allocated. A program without tensors returns NumPy's, or runs on the device of the first
    `out=`.

    Memory of results of 1 MiB and more, of NumPy and of PyTorch on a CPU, is kept after the results and all their views
    have died, and the next call takes it. It is at most a quarter more than one call needs, and lives as long as the
    kernel. `keeps_results = False` frees it and ends that.
    """

    def __init__(self, text: str, order: Sequence[str], *how: Any) -> None:
        super().__init__(text, order, *how)
        self._signature = Signature.of(self, order)

    def explain(self, *arguments: object, **sizes: object) -> dict[str, Any]:
        """Returns extents, strides, storage, grid and config as data; with arguments (sizes by name suffice) also as
        numbers."""
        return json.loads(self._explain(*arguments, **sizes))

    def prove(self, target: str = "", all_configs: bool = False) -> Proof:
        """Proves every access, for all sizes. `target` is for example "host:x86-64-v3" or "sm_90"; no such machine is
        needed."""
        refuted, report, details = self._prove(target, all_configs)
        return Proof(refuted, report, json.loads(details))

    def emit(self, stage: str = "ir", target: str = "") -> str:
        """Returns one stage of compiling as text: "ir", "kernel", "schedule", "llvm", "asm" or "ptx"."""
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
        regime: str = "auto",
        progress: Callable[[dict[str, Any]], object] | None = None,
    ) -> dict[str, Any]:
        """Measures configs on scratch memory, in a process of their own, for `budget` seconds. Calls use the results from
        the next one on. Ctrl-C ends it and keeps the measurements. Returns a report.

        `regime` is the place of calls' tensors: "warm" (in the last cache), "cold" (in memory) or "both"; with "auto"
        the bytes of the tensors decide. Errors: FailedPrecondition if the context must write its cache and cannot; Error
        if it cannot be written later.
        """
        if not isinstance(budget, (int, float)):
            raise TypeError(f"budget: expected seconds, found {budget!r}")
        return json.loads(self._tune(dict(min), dict(opt), dict(max), budget, device, search, regime, progress))

    def save(self, path: str | os.PathLike[str], targets: Sequence[str] = ("host",)) -> None:
        """Writes a pack: the program compiled for `targets` ("host", "host:x86-64-v3", "sm_90"), with the configs of the
        tuning cache. A device runs the code of the first target that it can run. `padlock.load_pack` reads the pack, and
        so does libpadlock_runtime, which has no compiler."""
        _write_whole(os.fspath(path), _core.make_pack([self.text], _list_of(targets)))

    def __repr__(self) -> str:
        return f"<padlock.Kernel {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_remake, (self.text, self.__dict__.get("_how", {}), self.__dict__.get("_defaults", {})))


def _remake(text: str, how: Mapping[str, Any] = {}, defaults: Mapping[str, Any] = {}) -> Kernel:
    kernel = compile(text, **how)
    if defaults:
        kernel._set_defaults(dict(defaults))
        kernel.__dict__["_defaults"] = dict(defaults)
    return kernel


def _list_of(targets: Sequence[str]) -> list[str]:
    return [targets] if isinstance(targets, str) else list(targets)


def _write_whole(path: str, data: bytes) -> None:
    """Replaces a file at once: a reader sees the old content or the new."""
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "wb") as file:
            file.write(data)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise


class Pack(_core.Pack):
    """Programs that are compiled for some targets, from a file of `Kernel.save` or `padlock pack`.

    `pack.names` lists them, `pack[name]` is a kernel, and `pack.kernel()` is the only program's. A kernel runs the code
    of the first target that its tensors' device can run. A pack is code: load it only if you would import it.
    """

    def kernel(self, name: str = "") -> Kernel:
        """Errors: NotFound for an unknown name; InvalidArgument without a name if there are several programs."""
        if not name and len(self.names) != 1:
            raise invalid(f"expected the name of a program of the pack ({', '.join(self.names)}), found none")
        found = [program for program in self.describe()["programs"] if program["name"] == (name or self.names[0])]
        if not found:
            raise make_error(5, 0, *[f"expected a program of the pack ({', '.join(self.names)}), found '{name}'"] * 2)
        kernel = Kernel(found[0]["text"], [], "", False, self)
        kernel.keeps_results = True
        return kernel

    def __getitem__(self, name: str) -> Kernel:
        return self.kernel(name)

    def describe(self) -> dict[str, Any]:
        """Returns the programs, their targets and configs, as data."""
        return json.loads(self._describe())

    def __repr__(self) -> str:
        return f"<padlock.Pack of {', '.join(self.names)}>"


def load_pack(path: str | os.PathLike[str]) -> Pack:
    """Reads a pack. Errors: Unavailable for damage and for a pack of another architecture or version."""
    with open(path, "rb") as file:
        return Pack(file.read())


def load(path: str | os.PathLike[str], *, device: str | None = "host") -> Any:
    """Loads a file according to its contents: a program's text as a `Kernel`, an ONNX model as a `padlock.onnx.Model`, a
    pack as a `Pack`.

    `device` is as in `padlock.compile`; a pack's kernels take it from their tensors.
    """
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(_PACK):
        return Pack(data)
    if not os.fspath(path).endswith(".onnx") and b"\0" not in data:
        with contextlib.suppress(UnicodeDecodeError):
            return compile(data.decode("utf-8-sig"), device=device)
    from . import onnx

    return onnx.load(path, device=device)


def _text_of(program: str | os.PathLike[str]) -> str:
    if isinstance(program, str):
        if "\n" not in program and program.endswith((".pad", ".onnx", ".pack")):
            raise invalid(f"expected a program's text, found what looks like a file: padlock.load({program!r}) reads it")
        return program
    if not isinstance(program, os.PathLike):
        raise invalid(f"expected a program's text, or a pathlib.Path of its file, found {type(program).__name__}")
    with open(program, encoding="utf-8-sig") as file:
        return file.read()


def compile(
    text: str | os.PathLike[str],
    *,
    config: str = "",
    bounds_check: bool = False,
    device: str | None = "host",
    order: Sequence[str] = (),
) -> Kernel:
    """Reads and verifies a program, and compiles it for `device` (None: at its first call). `text` is the program, or a
    pathlib.Path of its file.

    `order` names the parameters in the order of positional arguments, if that is not tensors, scalars, dims. With
    `bounds_check` every access is tested when it happens. Errors: InvalidArgument, with line and column, for a text that
    is not a program; ResourceExhausted for one that is too large.
    """
    kernel = Kernel(_text_of(text), list(order), config, bounds_check)
    kernel.keeps_results = True
    kernel.__dict__["_how"] = {"config": config, "bounds_check": bounds_check, "order": list(order)}
    if device is not None:
        kernel._compile(device)
    return kernel


def trim() -> int:
    """Releases the code of dropped kernels, and memory kept for results. Returns the number of kernels. It also happens by
    itself when kernels are dropped."""
    _core.release_results()
    return _core.trim()


def configure(*, threads: int = 0, cache: str = "read", cache_file: str = "", worker: str = "") -> None:
    """Sets the options of the process's context, from the next call on.

    `threads`: most threads that run a loop; 0: as many as the CPUs that the process may use. `cache` of tuning: "off",
    "read" (results of tuning live as long as the process), "read-write" (they go to the file) or "require" (a miss is an
    error). `cache_file`: "" is the user's. `worker`: the program that tuning starts; "" is the package's own.
    """
    _core.configure(threads, cache, cache_file, worker)
