#!/usr/bin/env python3
"""Times what one would use on a CPU instead of Padlock, for padlock_bench_host, which runs one process of this a peer and number
of threads and asks it over its standard input:

    prepare id=N dtype=T extents=2,3 low=0,1 high=0,1 mode=M value=V relu=0|1 input=FILE output=FILE
        reads the array, runs once, writes the result: answers "ready", or in a line what it cannot do
    time id=N calls=K    answers "ms X", what K calls took
    forget               drops what was prepared: answers "forgotten"

Its first line is "here VERSION", or why there is nothing to ask. Nothing is installed. No peer is held back: memory that
it frees stays with the process, so that no call pays for fresh pages, and what has a place for its result gets one.

usage: host_peers.py --peer=NAME [--threads=N]; host_peers.py --list
"""

import argparse
import importlib
import os
import sys
import time

ELEMENT_BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i8": 1}


class Cannot(Exception):
    pass


def load(package):
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise Cannot(f"{package} is not installed ({error})") from None


class Problem:
    def __init__(self, fields):
        numbers = lambda key: [int(n) for n in fields[key].split(",")]
        self.dtype, self.mode = fields["dtype"], fields["mode"]
        self.extents, self.low, self.high = numbers("extents"), numbers("low"), numbers("high")
        self.relu = fields["relu"] == "1"
        self.transposes = self.mode == "transpose"  # the last two axes
        self.value = float(fields["value"]) if self.dtype != "i8" else int(fields["value"])
        self.input, self.output = fields["input"], fields["output"]

    @property
    def result(self):
        if self.transposes:
            return [*self.extents[:-2], self.extents[-1], self.extents[-2]]
        return [low + n + high for low, n, high in zip(self.low, self.extents, self.high)]

    @property
    def is_crop(self):
        return min(self.low + self.high) < 0

    def cropped(self, x):
        """A view without what negative pads take away, and the pads that are left."""
        view = x[tuple(slice(max(-low, 0), n - max(-high, 0)) for low, n, high in zip(self.low, self.extents, self.high))]
        return view, [(max(low, 0), max(high, 0)) for low, high in zip(self.low, self.high)]

    def require_pads(self):
        if self.is_crop and self.mode != "constant" and not self.transposes:
            raise Cannot(f"a crop before mode {self.mode}")


class NumPy:
    """numpy.pad, then numpy.maximum in place. One thread, whatever there are."""

    modes = {"constant": "constant", "edge": "edge", "reflect": "reflect", "symmetric": "symmetric", "wrap": "wrap"}

    def __init__(self, threads):
        self.numpy = load("numpy")
        self.version = f"numpy {self.numpy.__version__}"
        self.bf16 = None
        try:
            self.bf16 = importlib.import_module("ml_dtypes").bfloat16
        except ImportError:
            pass

    def array(self, problem):
        numpy = self.numpy
        dtype = {"f64": numpy.float64, "f32": numpy.float32, "f16": numpy.float16, "i8": numpy.int8, "bf16": self.bf16}[problem.dtype]
        if dtype is None:
            raise Cannot("bfloat16 without ml_dtypes")
        return numpy.fromfile(problem.input, dtype=dtype, count=self.count(problem)).reshape(problem.extents)

    @staticmethod
    def count(problem):
        count = 1
        for n in problem.extents:
            count *= n
        return count

    def prepare(self, problem):
        problem.require_pads()
        numpy, x = self.numpy, self.array(problem)
        if problem.transposes:
            return lambda: numpy.ascontiguousarray(x.swapaxes(-1, -2))
        view, pads = problem.cropped(x)
        values = {"constant_values": x.dtype.type(problem.value)} if problem.mode == "constant" else {}
        mode, zero = self.modes[problem.mode], x.dtype.type(0)

        def pad():
            return numpy.pad(view, pads, mode=mode, **values)

        def pad_relu():
            y = numpy.pad(view, pads, mode=mode, **values)
            return numpy.maximum(y, zero, out=y)

        return pad_relu if problem.relu else pad

    def write(self, result, path):
        self.numpy.ascontiguousarray(result).tofile(path)


class Torch:
    """torch.nn.functional.pad, then relu_ in place."""

    modes = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}
    compiled = False

    def __init__(self, threads):
        self.torch = load("torch")
        self.numpy = NumPy(threads)
        self.torch.set_num_threads(threads)
        self.torch.set_grad_enabled(False)
        self.version = f"torch {self.torch.__version__}"

    def array(self, problem):
        torch = self.torch
        dtype = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8}[problem.dtype]
        data = self.numpy.numpy.fromfile(problem.input, dtype="u1",
                                         count=NumPy.count(problem) * ELEMENT_BYTES[problem.dtype])
        return torch.from_numpy(data).view(dtype).reshape(problem.extents)

    def function(self, problem):
        """A function of the array."""
        if problem.transposes:
            return lambda x: x.transpose(-1, -2).contiguous()
        if problem.mode not in self.modes:
            raise Cannot(f"no mode {problem.mode}")
        functional = self.torch.nn.functional
        # From the last axis on; axes that are not padded and stand first are left out, as the other modes want it.
        amounts = list(zip(problem.low, problem.high))
        first = next((i for i, pair in enumerate(amounts) if pair != (0, 0)), len(amounts) - 1)
        if problem.mode != "constant" and first == len(amounts) - 1 and len(amounts) == 4:
            first = 2  # of four axes it pads two or none
        flat = [n for pair in reversed(amounts[first:]) for n in pair]
        mode, value, relu = self.modes[problem.mode], problem.value, problem.relu
        if mode != "constant":
            def pad(x):
                return functional.pad(x, flat, mode=mode)
        else:
            def pad(x):
                return functional.pad(x, flat, value=value)
        return (lambda x: pad(x).relu_()) if relu else pad

    def prepare(self, problem):
        function, x = self.function(problem), self.array(problem)
        return lambda: function(x)

    def write(self, result, path):
        self.torch.as_tensor(result).contiguous().view(self.torch.uint8).numpy().tofile(path)


class TorchStatic(Torch):
    """The same, compiled for each program's sizes."""

    dynamic = False
    compilable = ("f32", "f16", "bf16", "i8")

    def __init__(self, threads):
        super().__init__(threads)
        wanted = os.environ.get("PADLOCK_BENCH_COMPILED_TYPES", "f32").split(",")
        self.compilable = [t for t in self.compilable if t in wanted]
        self.torch._dynamo.config.cache_size_limit = 1 << 20
        self.version = (f"torch {self.torch.__version__} compiled with {'dynamic' if self.dynamic else 'static'} shapes, of "
                        f"{' '.join(self.compilable)} alone")

    def prepare(self, problem):
        if problem.dtype not in self.compilable:
            raise Cannot(f"{problem.dtype} is not compiled, which takes seconds a program "
                         "(PADLOCK_BENCH_COMPILED_TYPES=f32,f16,bf16,i8 asks for it)")
        function, x = self.function(problem), self.array(problem)
        compiled = self.torch.compile(function, dynamic=self.dynamic, fullgraph=True)
        return lambda: compiled(x)


class TorchDynamic(TorchStatic):
    """Compiled once for all sizes, which are symbols."""

    dynamic = True


class OnnxRuntime:
    """Pad and Relu of ONNX, result in memory that is bound once."""

    modes = {"constant": "constant", "edge": "edge", "reflect": "reflect", "wrap": "wrap"}

    def __init__(self, threads):
        self.runtime, self.onnx = load("onnxruntime"), load("onnx")
        self.numpy = NumPy(threads)
        self.threads = threads
        self.version = f"onnxruntime {self.runtime.__version__}, onnx {self.onnx.__version__}"

    def model(self, problem):
        onnx = self.onnx
        helper, types = onnx.helper, onnx.TensorProto
        dtype = {"f64": types.DOUBLE, "f32": types.FLOAT, "f16": types.FLOAT16, "bf16": types.BFLOAT16, "i8": types.INT8}[problem.dtype]
        dynamic = [None] * len(problem.extents)
        if problem.transposes:
            axes = [*range(len(dynamic) - 2), len(dynamic) - 1, len(dynamic) - 2]
            graph = helper.make_graph([helper.make_node("Transpose", ["x"], ["y"], perm=axes)], "transpose",
                                      [helper.make_tensor_value_info("x", dtype, dynamic)],
                                      [helper.make_tensor_value_info("y", dtype, dynamic)])
            return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=10), dtype, "y"
        pads = helper.make_tensor("pads", types.INT64, [2 * len(dynamic)], problem.low + problem.high)
        inputs, constants = ["x", "pads"], [pads]
        if problem.mode == "constant":
            inputs.append("value")
            constants.append(helper.make_tensor("value", dtype, [], [problem.value]))
        nodes = [helper.make_node("Pad", inputs, ["y"], mode=self.modes[problem.mode])]
        if problem.relu:
            nodes.append(helper.make_node("Relu", ["y"], ["z"]))
        last = "z" if problem.relu else "y"
        graph = helper.make_graph(nodes, "pad", [helper.make_tensor_value_info("x", dtype, dynamic)],
                                  [helper.make_tensor_value_info(last, dtype, dynamic)], constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=10), dtype, last

    def prepare(self, problem):
        if problem.mode not in self.modes and not problem.transposes:
            raise Cannot(f"no mode {problem.mode}")
        numpy = self.numpy.numpy
        model, dtype, last = self.model(problem)
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = self.threads, 1, 4
        session = self.runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        size = ELEMENT_BYTES[problem.dtype]
        x = numpy.fromfile(problem.input, dtype="u1", count=NumPy.count(problem) * size)
        result = 1
        for n in problem.result:
            result *= n
        y = numpy.zeros(result * size, dtype="u1")
        binding = session.io_binding()
        binding.bind_input("x", "cpu", 0, dtype, problem.extents, x.ctypes.data)
        binding.bind_output(last, "cpu", 0, dtype, problem.result, y.ctypes.data)

        def run(session=session, binding=binding, x=x, y=y):
            session.run_with_iobinding(binding)
            return y

        return run

    def write(self, result, path):
        self.numpy.write(result, path)


class Jax:
    """jax.numpy.pad (lax.pad where an amount is negative), then maximum, compiled as one function."""

    modes = NumPy.modes

    def __init__(self, threads):
        os.environ["JAX_PLATFORMS"] = "cpu"
        os.environ["JAX_ENABLE_X64"] = "1"
        if threads == 1:
            os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
        self.jax = load("jax")
        self.lax, self.jnp = self.jax.lax, load("jax.numpy")
        self.numpy = NumPy(threads)
        self.version = f"jax {self.jax.__version__}"

    def prepare(self, problem):
        problem.require_pads()
        jnp, lax, host = self.jnp, self.lax, self.numpy.array(problem)
        zero, value = host.dtype.type(0), host.dtype.type(problem.value)
        amounts = list(zip(problem.low, problem.high))

        def pad(x):
            if problem.transposes:
                return jnp.swapaxes(x, -1, -2)
            if problem.mode == "constant":
                return lax.pad(x, value, [(low, high, 0) for low, high in amounts])
            return jnp.pad(x, amounts, mode=self.modes[problem.mode])

        compiled = self.jax.jit((lambda x: jnp.maximum(pad(x), zero)) if problem.relu else pad)
        x = self.jax.device_put(host)
        return lambda: compiled(x).block_until_ready()

    def write(self, result, path):
        self.numpy.write(self.numpy.numpy.asarray(result), path)


PEERS = {"numpy": NumPy, "torch": Torch, "torch-static": TorchStatic, "torch-dynamic": TorchDynamic,
          "onnxruntime": OnnxRuntime, "jax": Jax}


def one_line(error):
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:300]


class Server:
    def __init__(self, peer, say):
        self.peer, self.say, self.prepared = peer, say, {}

    def prepare(self, fields):
        problem = Problem(fields)
        run = self.peer.prepare(problem)
        self.peer.write(run(), problem.output)
        self.prepared[fields["id"]] = run
        self.say("ready")

    def time(self, fields):
        run, calls = self.prepared[fields["id"]], range(int(fields["calls"]))
        begin = time.perf_counter_ns()
        for _ in calls:
            run()
        self.say(f"ms {(time.perf_counter_ns() - begin) * 1e-6!r}")

    def forget(self, fields):
        self.prepared.clear()
        self.say("forgotten")

    def serve(self, lines):
        for line in lines:
            words = line.split()
            fields = dict(word.split("=", 1) for word in words[1:])
            try:
                {"prepare": self.prepare, "time": self.time, "forget": self.forget}[words[0]](fields)
            except Cannot as error:
                self.say(str(error))
            except Exception as error:  # whatever a library does of a program that does not suit it
                self.say(one_line(error))


def keep_freed_memory(arguments):
    """Starts this script again with a malloc that gives no memory back to the system, and asks for it on one CPU if one
    thread is wanted."""
    if os.environ.get("MALLOC_MMAP_MAX_") == "0":
        return
    if arguments.threads == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    environment = dict(os.environ, MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_=str(1 << 40),
                       MALLOC_TOP_PAD_=str(64 << 20), OMP_NUM_THREADS=str(arguments.threads), GLIBC_TUNABLES="glibc.malloc.hugetlb=1")
    os.execve(sys.executable, [sys.executable, os.path.abspath(__file__), *sys.argv[1:]], environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--peer", choices=list(PEERS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list or not arguments.peer:
        print("\n".join(PEERS))
        return 0
    keep_freed_memory(arguments)
    # What a library prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def say(line):
        print(line, file=answers, flush=True)

    try:
        peer = PEERS[arguments.peer](arguments.threads)
    except Cannot as error:
        say(str(error))
        return 0
    except Exception as error:
        say(one_line(error))
        return 0
    say(f"here {peer.version}")
    Server(peer, say).serve(sys.stdin)
    return 0


if __name__ == "__main__":
    sys.exit(main())
