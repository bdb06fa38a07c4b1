"""Programs as Python calls them: padlock.compile and what it returns."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from . import _core
from .errors import invalid, make_error

#: What a pack begins with.
_PACK = b"\x89PAD"


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
    """What tracing needs to know of a kernel: values without its memory."""

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
        regime: str = "auto",
        progress: Callable[[dict[str, Any]], object] | None = None,
    ) -> dict[str, Any]:
        """Measures configs on scratch memory, in a process of their own, for `budget` seconds, and uses what it learns
        from the next call on. Ctrl-C ends it, and what was measured is kept. Returns a report.

        `regime` says where calls will find their tensors: "warm" (in the last cache), "cold" (in memory) or "both";
        "auto": as the bytes of the tensors say. Errors: FailedPrecondition where the context's cache is to be written
        and cannot be; Error where it could not be written later."""
        if not isinstance(budget, (int, float)):
            raise TypeError(f"budget: expected seconds, found {budget!r}")
        return json.loads(self._tune(dict(min), dict(opt), dict(max), budget, device, search, regime, progress))

    def save(self, path: str | os.PathLike[str], targets: Sequence[str] = ("host",)) -> None:
        """Writes a pack: the program compiled for `targets` ("host", "host:x86-64-v3", "sm_90"; of those that a device runs it
        runs the first), with the configs that the tuning cache has for them. `padlock.load_pack` reads it, and so does
        libpadlock_runtime, which has no compiler."""
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
    """Replaces a file at once: a reader sees the old one or the new one."""
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
    """Programs that were compiled for some targets, from a file that `Kernel.save` or `padlock pack` wrote.

    `pack.names` lists them, `pack[name]` is a kernel, `pack.kernel()` that of the only one. A kernel runs the code of the first
    target that its tensors' device runs. A pack is code: load what you would import.
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
        """The programs, their targets and configs, as data."""
        return json.loads(self._describe())

    def __repr__(self) -> str:
        return f"<padlock.Pack of {', '.join(self.names)}>"


def load_pack(path: str | os.PathLike[str]) -> Pack:
    """Reads a pack. Errors: Unavailable for damage and for a pack of another architecture or version."""
    with open(path, "rb") as file:
        return Pack(file.read())


def load(path: str | os.PathLike[str], *, device: str | None = "host") -> Any:
    """Loads a file by what is in it: a program's text as a `Kernel`, an ONNX model as a `padlock.onnx.Model`, a pack as a `Pack`.

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
    """Reads and verifies a program, and compiles it for `device` (None: when it is first called). `text` is the program, or, where it is
    a pathlib.Path, its file.

    `order` names the parameters in the order of positional arguments, where it is another than tensors, scalars, dims.
    With `bounds_check` every access is tested when it happens. Errors: InvalidArgument, with line and column, for a
    text that is no program; ResourceExhausted for one that is too large.
    """
    kernel = Kernel(_text_of(text), list(order), config, bounds_check)
    kernel.keeps_results = True
    kernel.__dict__["_how"] = {"config": config, "bounds_check": bounds_check, "order": list(order)}
    if device is not None:
        kernel._compile(device)
    return kernel


def trim() -> int:
    """Releases code of dropped kernels, and memory kept for results. Returns how many kernels that were. It happens by itself,
    too, as kernels go."""
    _core.release_results()
    return _core.trim()


def configure(*, threads: int = 0, cache: str = "read", cache_file: str = "", worker: str = "") -> None:
    """Sets the options of the process's context, from the next call on.

    `threads`: that run a loop at a time; 0: as many CPUs as the process may use. `cache` of tuning: "off", "read" (what
    is learnt lives as long as the process), "read-write" (it goes to the file) or "require" (a miss is an error).
    `cache_file`: "": the user's. `worker`: the program that tuning starts; "": the package's own.
    """
    _core.configure(threads, cache, cache_file, worker)
