#!/usr/bin/env python3
"""Times what else pads on a GPU, on the problems of padlock_bench_gpu: PyTorch (eager, and compiled with static and with
dynamic sizes), JAX, CuPy, and Triton kernels of our own, tuned (with the host time of a launch). What is not installed is
reported as such; nothing is installed. What a peer has no name for (symmetric pads, say) is reported as skipped.

usage: peers.py --problems=FILE --json=FILE [--device=cuda:N|simt] [--limit=SECONDS] [--rounds=N] [--peer=NAME ...]

FILE of problems: what `padlock_bench_gpu --list` prints. Each peer runs in a process of its own, for at most --limit
seconds: what it measured until then counts. JSON lines as README.md beside this describes; PyTorch's and Triton's calls are
replayed as CUDA graphs, between events; CuPy's times are of its own events, JAX's by the clock. With --device=simt no GPU is used: a peer in plain Python shows that this works.
"""

import argparse
import collections
import importlib.metadata
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time
import types

import graphs

SAMPLE_MS = 2.0
MAX_CALLS = 400
ELEMENT_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1}


class NotInstalled(Exception):
    pass


def version_of(package):
    """Its version, whatever the name of its distribution."""
    try:
        names = importlib.metadata.packages_distributions().get(package, [package])
        return importlib.metadata.version(names[0])
    except Exception:  # a package without metadata is still there
        return "unknown"


def load(package):
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise NotInstalled(f"{package} is not installed ({error})") from None


def product(extents):
    return math.prod(extents)


def padded_extents(problem):
    """Returns the extents of the array that is padded, and of the result."""
    extents = list(problem["extents"])
    if problem["transposed"]:
        extents[-2], extents[-1] = extents[-1], extents[-2]
    return extents, [low + n + high for low, n, high in zip(problem["low"], extents, problem["high"])]


def bytes_of(problem):
    """Returns the bytes of the input and of the output."""
    element = ELEMENT_BYTES[problem["dtype"]]
    return product(problem["extents"]) * element, product(padded_extents(problem)[1]) * element


def numpy_program(problem, numpy, dtype):
    """In the words of NumPy, which JAX and CuPy have too."""
    pads = list(zip(problem["low"], problem["high"]))
    how = {"constant_values": dtype(problem["value"])} if problem["mode"] == "constant" else {"mode": problem["mode"]}

    def program(x):
        y = numpy.pad(x.swapaxes(-1, -2) if problem["transposed"] else x, pads, **how)
        return numpy.maximum(y, dtype(0)) if problem["relu"] else y

    return program


class Ring:
    """Makes calls on inputs in turn, and keeps as many results alive, so that none finds its data in the cache."""

    def __init__(self, inputs, function):
        self.inputs, self.function, self.turn = inputs, function, 0
        self.results = collections.deque(maxlen=len(inputs))

    def __call__(self):
        self.turn = (self.turn + 1) % len(self.inputs)
        if len(self.results) == self.results.maxlen:
            self.results.popleft()
        self.results.append(self.function(self.inputs[self.turn]))
        return self.results[-1]


class Torch:
    """`time_ms(call, calls)` is milliseconds of all the calls, which are captured once as a CUDA graph: what the host does for
    a call is not in them. `contestants` gives names and what makes their calls, the first a copy."""

    timing = "graph"

    def __init__(self, arguments):
        self.torch = load("torch")
        self.versions = {"torch": version_of("torch"), "triton": version_of("triton")}
        if not self.torch.cuda.is_available():
            raise NotInstalled("torch sees no GPU")
        self.torch.cuda.set_device(arguments.ordinal)
        self.device = self.torch.device("cuda", arguments.ordinal)
        self.compiled, self.graphs, self.graph_device = {}, {}, graphs.Cuda(self.torch)

    def l2_bytes(self):
        return getattr(self.torch.cuda.get_device_properties(self.device), "L2_cache_size", 64 << 20)

    def free_bytes(self):
        self.torch.cuda.empty_cache()
        return self.torch.cuda.mem_get_info(self.device)[0]

    def time_ms(self, call, calls):
        known, graph = self.graphs.get(call, (0, None))
        if known != calls:
            self.graphs.pop(call, None)  # and the memory of its results
            graph = self.graph_device.capture(lambda _: call(), calls)
            self.graphs[call] = calls, graph
        return self.graph_device.replay_ms(graph)

    def program(self, problem):
        pads = [n for low, high in zip(reversed(problem["low"]), reversed(problem["high"])) for n in (low, high)]
        names = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}
        mode = names.get(problem["mode"])
        if mode is None:
            raise NotImplementedError(f"torch has no mode {problem['mode']}")
        how = {"value": problem["value"]} if mode == "constant" else {"mode": mode}
        functional = self.torch.nn.functional

        def program(x):
            if problem["transposed"]:
                x = x.transpose(-1, -2)
            if mode == "constant":
                y = functional.pad(x, pads, **how)
            else:  # wants a batch and channels before the axes that are padded
                y = functional.pad(x[None, None], pads, **how)[0, 0]
            return functional.relu(y) if problem["relu"] else y

        return program

    def arrays(self, problem, slots):
        """Inputs, and pairs of buffers for the copy."""
        torch = self.torch
        dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8}[problem["dtype"]]
        shape = problem["extents"]
        make = (lambda: torch.randint(-100, 100, shape, dtype=dtype, device=self.device)) if dtype == torch.int8 else (
            lambda: torch.randn(shape, dtype=dtype, device=self.device))
        inputs = [make() for _ in range(slots)]
        half = sum(bytes_of(problem)) // 2
        # No zeros: they draw less power, and copying them can be faster.
        sources = [torch.randint(0, 256, (half,), dtype=torch.uint8, device=self.device) for _ in range(slots)]
        return inputs, [(source, torch.zeros_like(source)) for source in sources]

    def contestants(self, problem, slots):
        self.graphs.clear()
        inputs, pairs = self.arrays(problem, slots)
        yield "torch copy", lambda: Ring(pairs, lambda pair: pair[1].copy_(pair[0]))
        yield "torch eager", lambda: self.checked(problem, inputs, self.program(problem))
        yield "torch static", lambda: self.checked(problem, inputs, self.compile(problem, dynamic=False))
        yield "torch dynamic", lambda: self.checked(problem, inputs, self.dynamic(problem))

    def compile(self, problem, dynamic):
        """Of a code object of its own, by which PyTorch knows what it has compiled: else static code would serve as
        dynamic code, and the other way."""
        program = self.program(problem)
        name = f"{'dynamic' if dynamic else 'static'}_{len(self.compiled)}_{problem['size']}"
        own = types.FunctionType(program.__code__.replace(co_name=name), program.__globals__, name, None, program.__closure__)
        return self.torch.compile(own, dynamic=dynamic, fullgraph=True)

    def dynamic(self, problem):
        """One for all sizes of a program."""
        key = problem["problem"]
        if key not in self.compiled:
            self.compiled[key] = self.compile(problem, dynamic=True)
        return self.compiled[key]

    def checked(self, problem, inputs, function):
        if not self.torch.equal(function(inputs[0]), self.program(problem)(inputs[0])):
            raise RuntimeError("its result differs from eager's")
        return Ring(inputs, lambda x: function(x).contiguous())


class Triton(Torch):
    """Kernels of our own, each config of each timed and the fastest kept: what a person who knows the machine gets in
    an afternoon. Constant pads, and transposes of rank 2."""

    def __init__(self, arguments):
        self.triton = load("triton")
        super().__init__(arguments)
        from triton import language

        globals()["language"] = language  # which the kernels name
        self.rows, self.flat, self.matrix, self.store = map(
            self.triton.jit, (_triton_rows, _triton_flat, _triton_transpose, _triton_store))

    def host_costs(self, rounds):
        out = self.torch.zeros(1024, device="cuda")

        def eager():
            out.add_(1)

        for name, call in (("triton launch", lambda: self.store[(1,)](out, 1024, 1)), ("torch eager add_", eager)):
            call()
            samples = []
            for _ in range(rounds):
                self.torch.cuda.synchronize()
                begin = time.perf_counter_ns()
                for _ in range(MAX_CALLS):
                    call()
                samples.append((time.perf_counter_ns() - begin) / MAX_CALLS)
            self.torch.cuda.synchronize()
            yield name, samples

    def launches(self, problem):
        """{name: [call(x, y) of each config]}"""
        inner, outer = padded_extents(problem)
        fill = int(problem["value"]) if problem["dtype"] == "i8" else problem["value"]
        if problem["transposed"]:
            tiles = [(a, b, w) for a in (32, 64, 128) for b in (32, 64, 128) for w in (4, 8) if a * b <= 8192][:8]
            return {"triton transpose": [
                lambda x, y, a=a, b=b, w=w: self.matrix[(-(-outer[0] // a), -(-outer[1] // b))](
                    x, y, *inner, *outer, problem["low"][1], fill, RELU=problem["relu"], A=a, B=b, num_warps=w)
                for a, b, w in tiles]}
        ones = 5 - len(inner)
        sizes = [1] * ones + inner + [1] * ones + outer + [0] * ones + problem["low"]
        rows, columns, count = product(outer[:-1]), outer[-1], product(outer)
        blocks = [(n, w) for n in (256, 512, 1024, 2048) for w in (2, 4, 8) if n >= 64 * w][:8]
        flats = [(n, w) for n in (256, 512, 1024, 2048, 4096) for w in (4, 8)][:8]
        return {
            "triton rows": [
                lambda x, y, n=n, w=w: self.rows[(rows, -(-columns // n))](
                    x, y, *sizes, fill, RELU=problem["relu"], N=n, num_warps=w) for n, w in blocks],
            "triton flat": [
                lambda x, y, n=n, w=w: self.flat[(-(-count // n),)](
                    x, y, count, *sizes, fill, RELU=problem["relu"], N=n, num_warps=w) for n, w in flats],
        }

    def contestants(self, problem, slots):
        if problem["mode"] != "constant":
            raise NotImplementedError(f"no kernel for mode {problem['mode']}")
        if problem["transposed"] and problem["rank"] > 2:
            raise NotImplementedError("no kernel for several transposed matrices")
        self.graphs.clear()
        inputs, pairs = self.arrays(problem, slots)
        outputs = [self.torch.empty(padded_extents(problem)[1], dtype=x.dtype, device=self.device) for x in inputs]
        yield "torch copy", lambda: Ring(pairs, lambda pair: pair[1].copy_(pair[0]))
        both = list(zip(inputs, outputs))
        for name, configs in self.launches(problem).items():
            yield name, lambda configs=configs: self.fastest(problem, both, configs)

    def fastest(self, problem, both, configs):
        best, least, expected = None, math.inf, self.program(problem)(both[0][0])
        for launch in configs:
            launch(*both[0])
            if not self.torch.equal(both[0][1], expected):
                raise RuntimeError("its result differs from eager's")
            both[0][1].zero_()
            ring = Ring(both, lambda pair, launch=launch: launch(*pair))
            ms = min(self.time_ms(ring, 10) for _ in range(3))
            if ms < least:
                best, least = ring, ms
        return best


# Triton reads their text; `language` is its module. Ranks below 5 have ones in front.


def _triton_store(out, n, BLOCK: "language.constexpr"):  # noqa: F821
    if n < 0:
        language.store(out, 0.0)  # noqa: F821


def _triton_rows(x, y, i0, i1, i2, i3, i4, o0, o1, o2, o3, o4, l0, l1, l2, l3, l4, fill,
                 RELU: "language.constexpr", N: "language.constexpr"):  # noqa: F821
    row = language.program_id(0)  # noqa: F821
    column = language.program_id(1) * N + language.arange(0, N)  # noqa: F821
    a3 = row % o3 - l3
    a2 = row // o3 % o2 - l2
    a1 = row // o3 // o2 % o1 - l1
    a0 = row // o3 // o2 // o1 - l0
    inside = (a3 >= 0) & (a3 < i3) & (a2 >= 0) & (a2 < i2) & (a1 >= 0) & (a1 < i1) & (a0 >= 0) & (a0 < i0)
    at = (((a0.to(language.int64) * i1 + a1) * i2 + a2) * i3 + a3) * i4  # noqa: F821
    a4 = column - l4
    data = language.load(x + at + a4, mask=inside & (a4 >= 0) & (a4 < i4), other=fill)  # noqa: F821
    if RELU:
        data = language.where(data < 0, 0, data)  # noqa: F821
    language.store(y + row.to(language.int64) * o4 + column, data, mask=column < o4)  # noqa: F821


def _triton_flat(x, y, count, i0, i1, i2, i3, i4, o0, o1, o2, o3, o4, l0, l1, l2, l3, l4, fill,
                 RELU: "language.constexpr", N: "language.constexpr"):  # noqa: F821
    flat = language.program_id(0).to(language.int64) * N + language.arange(0, N)  # noqa: F821
    row = flat // o4
    a4 = flat % o4 - l4
    a3 = row % o3 - l3
    a2 = row // o3 % o2 - l2
    a1 = row // o3 // o2 % o1 - l1
    a0 = row // o3 // o2 // o1 - l0
    inside = (a4 >= 0) & (a4 < i4) & (a3 >= 0) & (a3 < i3) & (a2 >= 0) & (a2 < i2) & (a1 >= 0) & (a1 < i1)
    inside = inside & (a0 >= 0) & (a0 < i0) & (flat < count)
    at = (((a0 * i1 + a1) * i2 + a2) * i3 + a3) * i4 + a4
    data = language.load(x + at, mask=inside, other=fill)  # noqa: F821
    if RELU:
        data = language.where(data < 0, 0, data)  # noqa: F821
    language.store(y + flat, data, mask=flat < count)  # noqa: F821


def _triton_transpose(x, y, i0, i1, o0, o1, low, fill, RELU: "language.constexpr",  # noqa: F821
                      A: "language.constexpr", B: "language.constexpr"):  # noqa: F821
    # Rows of the result are columns of x; pads are within the rows.
    row = language.program_id(0) * A + language.arange(0, A)  # noqa: F821
    column = language.program_id(1) * B + language.arange(0, B)  # noqa: F821
    at = column - low
    inside = ((at >= 0) & (at < i1))[:, None] & (row < i0)[None, :]
    data = language.load(x + at.to(language.int64)[:, None] * i0 + row[None, :], mask=inside, other=fill)  # noqa: F821
    if RELU:
        data = language.where(data < 0, 0, data)  # noqa: F821
    language.store(y + row.to(language.int64)[:, None] * o1 + column[None, :], language.trans(data),  # noqa: F821
                   mask=(row < o0)[:, None] & (column < o1)[None, :])


class Jax:
    timing = "clock"

    def __init__(self, arguments):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        self.jax = load("jax")
        self.versions = {"jax": version_of("jax")}
        devices = [d for d in self.jax.devices() if d.platform in ("gpu", "cuda")]
        if len(devices) <= arguments.ordinal:
            raise NotInstalled("jax sees no GPU")
        self.device = devices[arguments.ordinal]
        self.programs = {}

    def l2_bytes(self):
        return 64 << 20

    def free_bytes(self):
        stats = self.device.memory_stats() or {}
        return stats.get("bytes_limit", 8 << 30) - stats.get("bytes_in_use", 0)

    def time_ms(self, call, calls):
        # No events: dispatch is asynchronous, the last result comes after all others.
        begin = time.perf_counter()
        for _ in range(calls):
            last = call()
        last.block_until_ready()
        return (time.perf_counter() - begin) * 1e3

    def contestants(self, problem, slots):
        jax, numpy = self.jax, self.jax.numpy
        dtype = {"f32": numpy.float32, "f16": numpy.float16, "bf16": numpy.bfloat16, "i8": numpy.int8}[problem["dtype"]]
        key = problem["problem"]
        if key not in self.programs:
            self.programs[key] = jax.jit(numpy_program(problem, numpy, dtype))
        program = self.programs[key]
        keys = jax.random.split(jax.random.key(1), slots)
        make = jax.jit(lambda k: (jax.random.normal(k, problem["extents"]) * 50).astype(dtype))
        with jax.default_device(self.device):
            inputs = [make(k).block_until_ready() for k in keys]
            half = sum(bytes_of(problem)) // 2
            sources = [jax.random.bits(k, (half,), numpy.uint8).block_until_ready() for k in keys]
        yield "jax copy", lambda: Ring(sources, lambda x: x.copy())
        yield "jax jit", lambda: Ring(inputs, program)


class Cupy:
    timing = "events"

    def __init__(self, arguments):
        self.cupy = load("cupy")
        self.versions = {"cupy": version_of("cupy")}
        if self.cupy.cuda.runtime.getDeviceCount() <= arguments.ordinal:
            raise NotInstalled("cupy sees no GPU")
        self.cupy.cuda.Device(arguments.ordinal).use()

    def l2_bytes(self):
        return self.cupy.cuda.runtime.getDeviceProperties(self.cupy.cuda.Device().id)["l2CacheSize"]

    def free_bytes(self):
        self.cupy.get_default_memory_pool().free_all_blocks()
        return self.cupy.cuda.runtime.memGetInfo()[0]

    def time_ms(self, call, calls):
        start, end = (self.cupy.cuda.Event() for _ in range(2))
        start.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        return self.cupy.cuda.get_elapsed_time(start, end)

    def contestants(self, problem, slots):
        cupy = self.cupy
        if problem["dtype"] == "bf16":
            raise NotImplementedError("CuPy has no bfloat16")
        dtype = {"f32": cupy.float32, "f16": cupy.float16, "i8": cupy.int8}[problem["dtype"]]
        program = numpy_program(problem, cupy, dtype)
        inputs = [(cupy.random.standard_normal(problem["extents"], dtype=cupy.float32) * 50).astype(dtype)
                  for _ in range(slots)]
        half = sum(bytes_of(problem)) // 2
        pairs = [(cupy.random.randint(0, 256, half, dtype=cupy.uint8), cupy.zeros(half, cupy.uint8))
                 for _ in range(slots)]
        yield "cupy copy", lambda: Ring(pairs, lambda pair: cupy.copyto(pair[1], pair[0]))
        yield "cupy", lambda: Ring(inputs, program)


class Plain:
    """Plain Python on this CPU: shows without a GPU that the rest works. Its times mean nothing."""

    timing = "clock"

    def __init__(self, arguments):
        if arguments.device != "simt":
            raise NotInstalled("plain Python pads for --device=simt only")
        self.versions = {"python": sys.version.split()[0]}

    def l2_bytes(self):
        return 0

    def free_bytes(self):
        return 64 << 20

    def time_ms(self, call, calls):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - begin) * 1e3

    def contestants(self, problem, slots):
        source, target = bytes_of(problem)
        inputs = [bytes(source) for _ in range(slots)]
        yield "plain copy", lambda: Ring(inputs, lambda x: bytearray(x + x)[: (source + target) // 2])
        yield "plain", lambda: Ring(inputs, lambda x: x + bytes(target - source))


PEERS = {"torch": Torch, "triton": Triton, "jax": Jax, "cupy": Cupy, "plain": Plain}


def calls_for(peer, call):
    peer.time_ms(call, 1)
    ms = peer.time_ms(call, 5) / 5
    return max(1, min(MAX_CALLS, math.ceil(SAMPLE_MS / max(ms, 1e-6))))


def sizes_allow(peer, problem):
    """Pairs of buffers that exceed the cache; 0 where not even one fits beside its copy's."""
    source, target = bytes_of(problem)
    # An input, a result and what lies between pad and relu; a source and a target of the copy.
    fitting = int(peer.free_bytes() * 0.7 // (2 * source + 3 * target))
    return min(fitting, max(1, -(-3 * peer.l2_bytes() // (source + target))), 512)


def contestants_of(peer, problem, slots, skip):
    """(name, call, calls of a sample) of each; one that fails is skipped, but for the copy that all are compared with."""
    found = []
    for name, make in peer.contestants(problem, slots):
        try:
            call = make()
            found.append((name, call, calls_for(peer, call)))
        except Exception as error:
            if not found:
                raise
            skip(f"{name}: {type(error).__name__}: {error}")
    return found


def rows_of(peer, problem, rounds, skip):
    """One JSON object a contestant, of samples that are taken in turn. `skip` takes why one is left out."""
    slots = sizes_allow(peer, problem)
    if slots < 1:
        raise MemoryError("too little memory")
    contestants = contestants_of(peer, problem, slots, skip)
    samples = {name: [] for name, _, _ in contestants}
    order = list(contestants)
    for turn in range(rounds + 1):
        random.shuffle(order)
        for name, call, calls in order:
            ms = peer.time_ms(call, calls) / calls
            if turn > 0:
                samples[name].append(ms)
    copy = samples[contestants[0][0]]
    for name, _, _ in contestants:
        ms = statistics.median(samples[name])
        of_copy = statistics.median(c / max(s, 1e-9) for c, s in zip(copy, samples[name]))
        yield {
            "name": name, **{k: problem[k] for k in PROBLEM_KEYS}, "median_us": ms * 1e3,
            "low_us": min(samples[name]) * 1e3, "high_us": max(samples[name]) * 1e3,
            "gb_per_s": problem["bytes"] / max(ms, 1e-9) * 1e-6, "of_memcpy": of_copy, "rounds": rounds,
            "buffers": slots, "timing": peer.timing,
        }


PROBLEM_KEYS = ("problem", "dtype", "rank", "rows", "size", "extents", "low", "high", "mode", "relu", "transposed",
                "literal", "value", "bytes")


def emit(kind, **fields):
    print(json.dumps({"schema": 1, "kind": kind, **fields}), flush=True)


def run_one(arguments, name):
    """In a process of its own: JSON lines on stdout."""
    try:
        peer = PEERS[name](arguments)
    except NotInstalled as error:
        return emit("gpu_peer", peer=name, status="not installed", reason=str(error))
    except Exception as error:  # whatever a library does when its GPU does not suit it
        return emit("gpu_peer", peer=name, status="failed", reason=f"{type(error).__name__}: {error}"[:500])
    emit("gpu_peer", peer=name, status="installed", versions=peer.versions)
    if hasattr(peer, "host_costs"):
        for what, samples in peer.host_costs(arguments.rounds):
            emit("gpu_host", title="launch, host time", name=what, median_ns=statistics.median(samples),
                 rounds=len(samples))
    with open(arguments.problems, encoding="utf-8") as file:
        problems = [json.loads(line) for line in file if line.strip()]
    for problem in problems:
        def skip(reason, problem=problem):
            emit("gpu_skipped", peer=name, problem=problem["problem"], size=problem["size"],
                 reason=" ".join(reason.split())[:500])

        try:
            for row in rows_of(peer, problem, arguments.rounds, skip):
                emit("gpu_row", **row, simulated=arguments.device == "simt")
        except Exception as error:  # one problem that a library cannot do is no reason to skip the others
            skip(f"{type(error).__name__}: {error}")
    return None


def run_all(arguments):
    failed = False
    with open(arguments.json, "w", encoding="utf-8") as out:
        for name in arguments.peer or PEERS:
            if name == "plain" and arguments.device != "simt":
                continue
            command = [sys.executable, os.path.abspath(__file__), "--child", f"--peer={name}",
                       f"--problems={arguments.problems}", f"--device={arguments.device}", f"--rounds={arguments.rounds}"]
            with open(arguments.json + "." + name, "w+", encoding="utf-8") as lines:
                try:
                    code = subprocess.run(command, stdout=lines, timeout=arguments.limit, check=False).returncode
                    note = None if code == 0 else f"ended with status {code}"
                except subprocess.TimeoutExpired:
                    note = f"stopped after {arguments.limit} s"
                lines.seek(0)
                text = "".join(line for line in lines if line.startswith("{") and line.endswith("}\n"))
            os.unlink(arguments.json + "." + name)
            out.write(text)
            if note:
                out.write(json.dumps({"schema": 1, "kind": "gpu_peer", "peer": name, "status": "incomplete",
                                      "reason": note}) + "\n")
                failed = failed or "status" in note
            report(name, text, note)
    return 1 if failed else 0


def report(name, text, note):
    """For people."""
    for line in map(json.loads, text.splitlines()):
        if line["kind"] == "gpu_peer":
            print(f"{name}: {line['status']} {line.get('versions') or line.get('reason')}")
        elif line["kind"] == "gpu_host":
            print(f"  {line['name']:<20} {line['median_ns']:10.0f} ns of host time a launch")
        elif line["kind"] == "gpu_skipped":
            print(f"  {line['problem']} {line['size']}: not measured, {line['reason']}")
        elif line["kind"] == "gpu_row":
            print(f"  {line['problem']:<32} {line['size']:>11}  {line['name']:<15} {line['median_us']:>11.2f} us "
                  f"{line['gb_per_s']:>8.1f} GB/s  {line['of_memcpy']:6.3f} of its copy")
    if note:
        print(f"{name}: {note}; what it measured until then counts")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--problems", required=True)
    parser.add_argument("--json")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--limit", type=float, default=300, help="seconds of one peer")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--peer", action="append", choices=list(PEERS))
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.ordinal = int(arguments.device.split(":")[1]) if ":" in arguments.device else 0
    if arguments.child:
        run_one(arguments, arguments.peer[0])
        return 0
    if not arguments.json:
        parser.error("--json is needed")
    return run_all(arguments)


if __name__ == "__main__":
    sys.exit(main())
