#!/usr/bin/env python3
"""Times the families of problems of bench/zoo on a GPU: Padlock's default beside the better of two copies and beside
PyTorch, eager and compiled with static and with dynamic sizes, all as CUDA graphs on the same tensors of one process.
Each bit of Padlock's result is checked before anything is timed.

usage: zoo.py --json=FILE [--families=NAME,...] [--seconds=N] [--rounds=N] [--mode=NAME] [--warm=PROCESSES]
       zoo.py --dry-run | --simulated ... [--families=NAME,...]

Needs PyTorch and the package padlock. `--dry-run` needs no GPU: it lists the problems, and checks Padlock's results and
the peers' words on a CPU, of one image or a few rows each; `--simulated` does all that a run does there. A run: processes beside each other compile what PyTorch
compiles (its caches are in a folder of their own); then one process times, and another goes on where a peer ended it.
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "zoo"))

import checks  # noqa: E402
import graphs  # noqa: E402
import problems  # noqa: E402
import runs  # noqa: E402
import survivor  # noqa: E402
import words  # noqa: E402

GRAPH_BYTES = 8 << 27  # what the calls of one graph move, about
MOST_CALLS, MOST_BUFFERS, GUARD_BYTES = 200, 8, 256
CALL_SECONDS = 90  # of one contestant, its compilation included


class Gpu:
    def __init__(self, arguments, emit):
        import torch

        self.torch, self.arguments, self.emit = torch, arguments, emit
        torch.set_grad_enabled(False)
        self.forget_autotuning()
        self.words = words.Torch()
        self.device = graphs.Simulated(torch) if arguments.simulated else graphs.Cuda(torch)

    @staticmethod
    def forget_autotuning():
        """What the processes that fill the caches timed beside each other is not used."""
        import torch._inductor.config as config

        if hasattr(config, "autotune_local_cache"):
            config.autotune_local_cache = False

    def prime(self):
        """What the first call of any program takes in a process is not that of the first problem."""
        import padlock

        kernel = padlock.compile("program prime(x: f32[N]) { y = pad(x, low = [1], high = [1]) return y }")
        kernel(self.torch.ones(8, device=self.device.name))
        self.device.synchronize()

    def compiled(self, problem, dynamic):
        self.torch._dynamo.reset()
        return self.torch.compile(checks.torch_function(self.words, problem), dynamic=dynamic, mode=self.arguments.mode)

    def warm(self, problem):
        """Fills PyTorch's caches."""
        inputs = checks.inputs_of(self.torch, self.words.types, problem, self.device.name)
        for dynamic in (False, True):
            self.compiled(problem, dynamic)(*inputs)
        self.device.synchronize()

    def guarded(self, problem):
        """Memory for a result between bytes that nothing may change, and those bytes."""
        torch, dtype = self.torch, self.words.types[problem.dtype]
        size = math.prod(problem.program.output) * problems.ELEMENT_BYTES[problem.dtype]
        memory = torch.full((size + 2 * GUARD_BYTES,), 0x5B, dtype=torch.uint8, device=self.device.name)
        inside = memory[GUARD_BYTES:GUARD_BYTES + size].view(dtype).view(problem.program.output)
        return inside, (memory[:GUARD_BYTES], memory[GUARD_BYTES + size:])

    def expected(self, problem, kernel, inputs):
        """What PyTorch makes, whose bits are the same where nothing but moves, relu and single operations happen. Else
        what Padlock's code for a CPU makes, if PyTorch's is close to that."""
        if problem.program.is_exact:
            return checks.torch_function(self.words, problem)(*inputs)
        host = kernel(*(x.cpu() for x in inputs), **problem.program.dims).to(self.device.name)
        if not checks.is_close(self.torch, host, checks.precise(self.torch, self.words, problem, inputs)):
            raise RuntimeError("Padlock's result on the CPU is not close to PyTorch's")
        return host

    def check(self, result, guards, expected):
        """Raises where a bit is wrong."""
        found = checks.difference(self.torch, result, expected)
        if found is None and any(bool((guard != 0x5B).any()) for guard in guards):
            found = "bytes beside the result were written"
        if found is not None:
            raise ArithmeticError(found)

    def buffers_for(self, problem):
        wanted = max(2, min(MOST_BUFFERS, -(-3 * self.device.l2_bytes // problem.bytes)))
        return max(1, min(wanted, int(self.device.free_bytes() * 0.7 // (8 * problem.bytes))))

    def add_copies(self, timer, problem, without):
        torch, count = self.torch, timer.buffers
        length = max(4, problem.bytes // 8)
        pairs = [[torch.ones(length, dtype=torch.int32, device=self.device.name) for _ in range(2)] for _ in range(count)]
        self.step("memcpy")
        timer.add("memcpy", lambda i: pairs[i][1].copy_(pairs[i][0]))
        if "copy kernel" in without or self.arguments.simulated:  # a GPU's
            return None
        self.step("copy kernel")
        try:
            copy = graphs.CopyKernel()
        except ImportError as error:
            return self.skip(problem, "copy kernel", error)
        for block, warps in graphs.COPY_SHAPES:
            timer.add(f"copy {block}", lambda i, b=block, w=warps: copy(pairs[i][0], pairs[i][1], b, w))
        return timer.keep_fastest("copy ", "copy kernel")

    def peers(self, problem):
        yield "torch eager", lambda: checks.torch_function(self.words, problem)
        yield "torch static", lambda: self.compiled(problem, dynamic=False)
        yield "torch dynamic", lambda: self.compiled(problem, dynamic=True)

    def add_peer(self, timer, name, make, sets, problem, expected):
        call = make()
        if not checks.is_close(self.torch, call(*sets[0]), expected, not problem.program.is_exact):
            raise RuntimeError("its result is not Padlock's")
        timer.add(name, lambda i: call(*sets[i]))

    def skip(self, problem, who, error):
        self.emit("zoo_skipped", index=self.index, title=problem.title, who=who, reason=f"{type(error).__name__}: {error}"[:300])

    def require_device(self):
        """Ends this process where the device has failed, which it does for all that follows."""
        try:
            self.device.synchronize()
        except Exception as error:
            raise SystemExit(f"the device failed: {error}") from None

    def step(self, who):
        self.emit("zoo_step", index=self.index, who=who)

    def first_call(self, problem, inputs, out):
        """The kernel, and how long text to kernel and text to result took."""
        import padlock

        self.device.synchronize()
        begin = time.perf_counter()
        kernel = padlock.compile(problem.text)
        text = time.perf_counter()
        kernel(*inputs, **problem.program.dims, out=out)
        self.device.synchronize()
        return kernel, {"text_ms": (text - begin) * 1e3, "first_ms": (time.perf_counter() - begin) * 1e3}

    def run(self, index, problem, without):
        self.index = index
        self.step("padlock")
        torch, buffers = self.torch, self.buffers_for(problem)
        sets = [checks.inputs_of(torch, self.words.types, problem, self.device.name) for _ in range(buffers)]
        results = [self.guarded(problem) for _ in range(buffers)]
        kernel, times = self.first_call(problem, sets[0], results[0][0])
        expected = self.expected(problem, kernel, sets[0])
        self.check(*results[0], expected)
        timer = graphs.Timer(self.device, min(MOST_CALLS, max(buffers, GRAPH_BYTES // problem.bytes)), buffers)
        results[0][0].zero_()
        timer.add("padlock", lambda i: kernel(*sets[i], **problem.program.dims, out=results[i][0]))
        self.check(*results[0], expected)
        self.add_copies(timer, problem, without)
        for name, make in self.peers(problem):
            if name in without:
                continue
            self.step(name)
            try:
                self.add_peer(timer, name, make, sets, problem, expected)
            except graphs.CaptureFailed as error:
                raise SystemExit(f"{name}, {error}") from None  # another process goes on without it
            except Exception as error:  # whatever a library does of a program that does not suit it
                self.skip(problem, name, error)
                self.require_device()
        self.step("padlock")
        samples = timer.samples(self.arguments.rounds)
        us = {name: statistics.median(found) for name, found in samples.items()}
        self.emit("zoo_row", index=index, family=problem.family, name=problem.name, dtype=problem.dtype, bytes=problem.bytes,
                  us=us, low_us={n: min(f) for n, f in samples.items()}, high_us={n: max(f) for n, f in samples.items()},
                  of_copy=min(us["memcpy"], us.get("copy kernel", math.inf)) / us["padlock"], buffers=buffers,
                  calls=timer.calls, rounds=self.arguments.rounds, **times)


def chosen(arguments, divisor=1):
    families = arguments.families.split(",") if arguments.families else None
    return problems.all_problems("gpu", families, 1 << 40 if arguments.simulated else divisor)


def child(arguments):
    emit = survivor.emitter()
    gpu = Gpu(arguments, emit)
    gpu.prime()
    for index, problem in enumerate(chosen(arguments)):
        if index < arguments.first:
            continue
        without = arguments.without.split(",") if index == arguments.first else []
        try:
            gpu.run(index, problem, without)
        except graphs.CaptureFailed as error:
            raise SystemExit(str(error)) from None
        except ArithmeticError as error:
            emit("zoo_wrong", index=index, title=problem.title, reason=str(error))
        except Exception as error:
            gpu.skip(problem, "padlock", error)
        gpu.require_device()
    return 0


def warm_child(arguments):
    """Compiles every so-many-th problem; one that fails will say so when it is timed."""
    number, count = map(int, arguments.warm_part.split("/"))
    gpu = Gpu(arguments, None)
    for problem in chosen(arguments)[number::count]:
        try:
            gpu.warm(problem)
        except Exception as error:
            print(f"warm {problem.title}: {error}", file=sys.stderr)
    return 0


def fill_caches(arguments, passed, seconds):
    """In processes beside each other, which end when the time is over."""
    begin = time.monotonic()
    command = [sys.executable, "-B", __file__, *passed]
    processes = [subprocess.Popen([*command, f"--warm-part={i}/{arguments.warm}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                 for i in range(arguments.warm)]
    for process in processes:
        try:
            process.wait(timeout=max(0.01, seconds - (time.monotonic() - begin)))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    print(f"compiled beside each other in {time.monotonic() - begin:.0f} s", flush=True)


FACTS = ("import json, torch, triton, padlock; p = torch.cuda.get_device_properties(0); print(json.dumps(dict("
         "gpu=p.name, l2_bytes=getattr(p, 'L2_cache_size', 0), torch=torch.__version__, triton=triton.__version__, "
         "cuda=torch.version.cuda, padlock=padlock.__version__)))")


def measure(arguments):
    passed = [f"--families={arguments.families}", f"--rounds={arguments.rounds}"] + ([f"--mode={arguments.mode}"] if arguments.mode else [])
    os.environ.setdefault("CUDA_CACHE_DISABLE", "1")  # loading is compiling
    passed += ["--simulated"] if arguments.simulated else []
    known = {"gpu": "simulated"} if arguments.simulated else runs.facts(FACTS, "PyTorch with a GPU, Triton and padlock")
    fields = {**known, "commit": arguments.commit, "mode": arguments.mode or "default"}
    fill = (lambda: fill_caches(arguments, passed, arguments.seconds / 2)) if arguments.warm else None
    return runs.measure(__file__, arguments, passed, len(chosen(arguments)), fields, CALL_SECONDS, fill)


def dry_run(arguments):
    """Returns 1 where a result is wrong."""
    import padlock
    import torch

    torch.set_grad_enabled(False)
    torch_words, wrong = words.Torch(), 0
    for problem, small in zip(chosen(arguments), chosen(arguments, divisor=1 << 40), strict=True):
        inputs = checks.inputs_of(torch, torch_words.types, small, "cpu")
        found = padlock.compile(small.text)(*inputs, **small.program.dims)
        exact = small.program.is_exact
        expected = checks.torch_function(torch_words, small)(*inputs) if exact else checks.precise(torch, torch_words, small, inputs)
        note = checks.difference(torch, found, expected) if exact else None
        if note is None and not (found.shape == torch.Size(small.program.output) and checks.is_close(torch, found, expected)):
            note = "not close to PyTorch's"
        wrong += note is not None
        print(f"{problem.title:<44} {problem.bytes / 2**20:7.1f} MiB  {note or 'right'}")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--json", default="zoo.jsonl")
    parser.add_argument("--families", default="", help="of families.txt, apart by commas")
    parser.add_argument("--seconds", type=float, default=240, help="for all; problems are in an order that mixes families")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--mode", help="of torch.compile: max-autotune-no-cudagraphs, say")
    parser.add_argument("--warm", type=int, default=min(12, os.cpu_count() or 1), help="processes that compile before; 0: none")
    parser.add_argument("--commit", default="")
    parser.add_argument("--dry-run", action="store_true", help="list the problems, and check results on a CPU")
    parser.add_argument("--simulated", action="store_true", help="all of it on a CPU, of little tensors; times mean nothing")
    for hidden, kind, value in (("--first", int, 0), ("--without", str, ""), ("--warm-part", str, "")):
        parser.add_argument(hidden, type=kind, default=value, help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.warm_part:
        return warm_child(arguments)
    if arguments.child:
        return child(arguments)
    return dry_run(arguments) if arguments.dry_run else measure(arguments)


if __name__ == "__main__":
    sys.exit(main())
