#!/usr/bin/env python3
"""Times the families of problems of bench/zoo on a CPU: Padlock's default beside memcpy, PyTorch eager and compiled with
static and with dynamic sizes, NumPy, JAX and ONNX Runtime, where they have words for it, on the same arrays. Each bit of
Padlock's result is checked before anything is timed.

usage: host_zoo.py --json=FILE [--threads=N] [--families=NAME,...] [--seconds=N] [--rounds=N] [--peers=NAME,...]

Needs the package padlock; a library that is not installed is left out. PyTorch compiles for seconds a problem: a run of
all takes an hour on two cores, and TORCHINDUCTOR_CACHE_DIR=FOLDER keeps what it made for the next one.
"""

import argparse
import ctypes
import os
import pathlib
import random
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "zoo"))

import checks  # noqa: E402
import problems  # noqa: E402
import runs  # noqa: E402
import survivor  # noqa: E402
import words  # noqa: E402

SAMPLE_SECONDS, MOST_CALLS = 0.002, 300
CALL_SECONDS = 180  # of one contestant, its compilation included
SLOW = 3.0  # times Padlock's time: such a peer is not asked again after three rounds
PEERS = ("torch eager", "torch static", "torch dynamic", "numpy", "jax", "onnxruntime")


class OnnxSession:
    """A model of a problem's nodes, with inputs and a result in memory that is bound once."""

    def __init__(self, problem, inputs, threads):
        import numpy
        import onnx
        import onnxruntime

        graph = words.Onnx(onnx)
        graph.dtype = problem.dtype
        names = [f"x{i}" for i in range(len(inputs))]
        result = problem.program.run(graph, *names)
        info = onnx.helper.make_tensor_value_info
        made = onnx.helper.make_graph(
            graph.nodes, "p", [info(name, graph.types[dtype], shape) for name, (shape, dtype) in zip(names, problem.program.inputs)],
            [info(result, graph.types[problem.dtype], problem.program.output)], graph.constants)
        model = onnx.helper.make_model(made, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        self.result = numpy.empty(problem.program.output, inputs[0].dtype if problem.program.inputs[0][1] == problem.dtype
                                  else words.Numpy().types[problem.dtype])
        self.binding = self.session.io_binding()
        for name, x in zip(names, inputs):
            self.binding.bind_input(name, "cpu", 0, x.dtype, x.shape, x.ctypes.data)
        self.binding.bind_output(result, "cpu", 0, self.result.dtype, self.result.shape, self.result.ctypes.data)
        self.inputs = inputs  # whose memory is bound

    def __call__(self):
        self.session.run_with_iobinding(self.binding)
        return self.result


class Host:
    def __init__(self, arguments, emit):
        import torch

        import padlock

        padlock.configure(threads=arguments.threads)
        self.torch, self.arguments, self.emit = torch, arguments, emit
        torch.set_grad_enabled(False)
        torch.set_num_threads(arguments.threads)
        self.words = words.Torch()

    def compiled(self, problem, inputs, dynamic):
        self.torch._dynamo.reset()
        function = self.torch.compile(checks.torch_function(self.words, problem), dynamic=dynamic)
        return lambda: function(*inputs)

    def array_function(self, problem, inputs):
        numpy = words.Numpy()
        arrays = [x.numpy() for x in inputs]
        return lambda: numpy.result(problem.program.run(numpy, *arrays))

    def jax_function(self, problem, inputs):
        jax = words.Jax()
        arrays = [jax.jax.device_put(x.numpy()) for x in inputs]
        compiled = jax.jax.jit(lambda *xs: problem.program.run(jax, *xs))
        return lambda: compiled(*arrays).block_until_ready()

    def make(self, name, problem, inputs):
        eager = checks.torch_function(self.words, problem)
        return {"torch eager": lambda: lambda: eager(*inputs),
                "torch static": lambda: self.compiled(problem, inputs, dynamic=False),
                "torch dynamic": lambda: self.compiled(problem, inputs, dynamic=True),
                "numpy": lambda: self.array_function(problem, inputs),
                "jax": lambda: self.jax_function(problem, inputs),
                "onnxruntime": lambda: OnnxSession(problem, [x.numpy() for x in inputs], self.arguments.threads)}[name]()

    def as_tensor(self, result):
        if isinstance(result, self.torch.Tensor):
            return result
        import numpy

        return self.torch.from_numpy(numpy.array(result))

    def step(self, who):
        self.emit("zoo_step", index=self.index, who=who)

    def skip(self, problem, who, error):
        self.emit("zoo_skipped", index=self.index, title=problem.title, who=who, reason=f"{type(error).__name__}: {error}"[:300])

    def first_call(self, problem, inputs, out):
        import padlock

        begin = time.perf_counter()
        kernel = padlock.compile(problem.text)
        kernel(*inputs, **problem.program.dims, out=out)
        return kernel, (time.perf_counter() - begin) * 1e3

    def check(self, problem, result, expected):
        """Bits where PyTorch's are the same; else that both are close."""
        note = checks.difference(self.torch, result, expected) if problem.program.is_exact else None
        if note is None and not checks.is_close(self.torch, result, expected):
            note = "not close to PyTorch's"
        if note is not None:
            raise ArithmeticError(note)

    def copy(self, size):
        source, target = (self.torch.ones(size, dtype=self.torch.uint8) for _ in range(2))
        self.kept = source, target
        return lambda: ctypes.memmove(target.data_ptr(), source.data_ptr(), size)

    def run(self, index, problem, without):
        self.index = index
        self.step("padlock")
        inputs = checks.inputs_of(self.torch, self.words.types, problem, "cpu")
        expected = (checks.torch_function(self.words, problem)(*inputs) if problem.program.is_exact
                    else checks.precise(self.torch, self.words, problem, inputs))
        out = self.torch.full_like(expected, 77)
        kernel, first_ms = self.first_call(problem, inputs, out)
        self.check(problem, out, expected)
        calls = {"memcpy": self.copy(problem.bytes // 2), "padlock": lambda: kernel(*inputs, **problem.program.dims, out=out),
                 "padlock new": lambda: kernel(*inputs, **problem.program.dims)}
        for name in self.arguments.peers.split(","):
            if name in without:
                continue
            self.step(name)
            try:
                call = self.make(name, problem, inputs)
                if not checks.is_close(self.torch, self.as_tensor(call()), out, not problem.program.is_exact):
                    raise RuntimeError("its result is not Padlock's")
                calls[name] = call
            except Exception as error:  # whatever a library does of a program that does not suit it
                self.skip(problem, name, error)
        self.step("padlock")
        samples = timed(calls, self.arguments.rounds)
        us = {name: statistics.median(found) * 1e6 for name, found in samples.items()}
        self.emit("zoo_row", index=index, family=problem.family, name=problem.name, dtype=problem.dtype, bytes=problem.bytes, us=us,
                  low_us={n: min(f) * 1e6 for n, f in samples.items()}, high_us={n: max(f) * 1e6 for n, f in samples.items()},
                  of_copy=us["memcpy"] / us["padlock"], first_ms=first_ms, threads=self.arguments.threads, rounds=self.arguments.rounds)


def seconds_of(call, count):
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count


def timed(calls, rounds):
    """Samples by name, in rounds whose order is shuffled."""
    counts = {name: max(1, min(MOST_CALLS, int(SAMPLE_SECONDS / max(seconds_of(call, 2), 1e-7)))) for name, call in calls.items()}
    samples, names = {name: [] for name in calls}, list(calls)
    for turn in range(rounds):
        random.shuffle(names)
        for name in names:
            samples[name].append(seconds_of(calls[name], counts[name]))
        if turn == 2:
            ours = statistics.median(samples["padlock"])
            names = [name for name in names if name in ("memcpy", "padlock") or statistics.median(samples[name]) < SLOW * ours]
    return samples


def chosen(arguments):
    families = arguments.families.split(",") if arguments.families else None
    return problems.all_problems("host", families)


def child(arguments):
    emit = survivor.emitter()
    host = Host(arguments, emit)
    for index, problem in enumerate(chosen(arguments)):
        if index < arguments.first:
            continue
        try:
            host.run(index, problem, arguments.without.split(",") if index == arguments.first else [])
        except ArithmeticError as error:
            emit("zoo_wrong", index=index, title=problem.title, reason=str(error))
        except Exception as error:
            host.skip(problem, "padlock", error)
    return 0


FACTS = ("import json, platform, padlock, torch; print(json.dumps(dict(cpu=next((l.split(':')[1].strip() for l in open('/proc/cpuinfo')"
         " if l.startswith('model name')), platform.machine()), torch=torch.__version__, padlock=padlock.__version__)))")


def measure(arguments):
    """Memory that a library frees stays with the process, so that no call pays for fresh pages; one thread has one CPU."""
    os.environ.update(MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_=str(1 << 40), MALLOC_TOP_PAD_=str(64 << 20), JAX_PLATFORMS="cpu",
                      OMP_NUM_THREADS=str(arguments.threads))
    if arguments.threads == 1:
        os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    passed = [f"--families={arguments.families}", f"--rounds={arguments.rounds}", f"--threads={arguments.threads}", f"--peers={arguments.peers}"]
    fields = {**runs.facts(FACTS, "PyTorch and padlock"), "commit": arguments.commit, "threads": arguments.threads,
              "load_average": os.getloadavg()[0]}
    return runs.measure(__file__, arguments, passed, len(chosen(arguments)), fields, CALL_SECONDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--json", default="zoo.jsonl")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--families", default="", help="of families.txt, apart by commas")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--seconds", type=float, default=420, help="for all; problems are in an order that mixes families")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--commit", default="")
    for hidden, kind, value in (("--first", int, 0), ("--without", str, "")):
        parser.add_argument(hidden, type=kind, default=value, help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    return child(arguments) if arguments.child else measure(arguments)


if __name__ == "__main__":
    sys.exit(main())
