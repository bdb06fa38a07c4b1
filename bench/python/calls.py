#!/usr/bin/env python3
"""Times a call from Python, side by side with other libraries: 16x16 f32, padded by 1, where the work is next to
nothing; and an import and the first pad of a process.

Contestants of a library take batches of calls in turn, in an order that is shuffled anew each round, so that a machine that
becomes slower does so for all. A figure is the least mean of a batch, less what calling nothing takes; a ratio is the
median over the rounds.

usage: PYTHONPATH=build/release/python python3 bench/python/calls.py [--json=FILE] [--rounds=N] [--wheel=FILE] [--commit=NAME]
"""

import argparse
import importlib.metadata
import importlib.util
import itertools
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

PROGRAM = """program pad_relu(x: f32[B, S], lo: dim)
where 1 <= B <= 4096, 0 <= S <= 65536, -8 <= lo <= 8, S + lo >= 0
{
  y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = -1.5)
  z = relu(y)
  return z
}
"""
BATCH = 200


def numpy_calls():
    import numpy

    import padlock
    import padlock.numpy

    x, out = numpy.zeros((16, 16), "f4"), numpy.empty((18, 18), "f4")
    kernel = padlock.compile(PROGRAM)
    made = kernel(x, lo=3)
    one = (1, 1)
    yield "numpy.empty", lambda: numpy.empty((18, 18), "f4")
    yield "numpy.pad", lambda: numpy.pad(x, 1)
    yield "padlock.numpy.pad", lambda: padlock.numpy.pad(x, 1)
    yield "padlock.pad, NumPy", lambda: padlock.pad(x, one, one)
    yield "padlock.pad, NumPy, out", lambda: padlock.pad(x, one, one, out=out)
    yield "kernel, NumPy", lambda: kernel(x, lo=3)
    yield "kernel, NumPy, out", lambda: kernel(x, lo=3, out=made)


def torch_calls():
    import torch

    import padlock
    import padlock.torch

    x, out = torch.zeros(16, 16), torch.empty(18, 18)
    kernel = padlock.compile(PROGRAM)
    made = kernel(x, lo=3)
    pairs = (1, 1, 1, 1)
    yield "torch.empty", lambda: torch.empty(18, 18)
    yield "F.pad, constant", lambda: torch.nn.functional.pad(x, pairs)
    yield "F.pad, reflect", lambda: torch.nn.functional.pad(x[None], pairs, mode="reflect")
    yield "F.pad, circular", lambda: torch.nn.functional.pad(x[None], pairs, mode="circular")
    yield "padlock.torch.pad", lambda: padlock.torch.pad(x, pairs)
    yield "padlock.torch.pad, circular", lambda: padlock.torch.pad(x, pairs, "circular")
    yield "padlock.torch.pad, out", lambda: padlock.torch.pad(x, pairs, out=out)
    yield "kernel, PyTorch", lambda: kernel(x, lo=3)
    yield "kernel, PyTorch, out", lambda: kernel(x, lo=3, out=made)


def jax_calls():
    import jax
    import jax.numpy as jnp

    import padlock

    x = jnp.zeros((16, 16))
    jitted = jax.jit(lambda v: jnp.pad(v, 1))
    yield "jnp.pad", lambda: jnp.pad(x, 1).block_until_ready()
    yield "jnp.pad, jitted", lambda: jitted(x).block_until_ready()
    yield "padlock.pad, JAX", lambda: padlock.pad(x, (1, 1), (1, 1))


def batch_seconds(run):
    """Returns the time of one call, as the mean of a batch."""
    calls = itertools.repeat(None, BATCH)
    started = time.perf_counter()
    for _ in calls:
        run()
    return (time.perf_counter() - started) / BATCH


def measure(contestants, rounds, draw):
    """Seconds of a call by name, a list with one number a round."""
    contestants = {"nothing": lambda: None, **contestants}
    for run in contestants.values():
        for _ in range(2 * BATCH):
            run()
    order, times = list(contestants), {name: [] for name in contestants}
    for _ in range(rounds):
        draw.shuffle(order)
        for name in order:
            times[name].append(batch_seconds(contestants[name]))
    return times


def figures(library, contestants, peer, rounds, draw):
    """A line of results for each contestant."""
    times = measure(contestants, rounds, draw)
    nothing = min(times.pop("nothing"))
    for name, found in times.items():
        ratio = statistics.median(theirs / ours for theirs, ours in zip(times[peer], found))
        yield {
            "call": name,
            "library": library,
            "least_us": round((min(found) - nothing) * 1e6, 3),
            "median_us": round((statistics.median(found) - nothing) * 1e6, 3),
            "beside": peer,
            "times_as_fast": round(ratio, 2),
        }


def start_times(runs=15):
    """Milliseconds of `import padlock`, and of the first pad after that, each in processes of their own."""
    code = (
        "import time; a = time.perf_counter(); import padlock; b = time.perf_counter(); x = bytearray(256);"
        "import numpy; c = time.perf_counter(); padlock.pad(x, (1,), (1,)); d = time.perf_counter();"
        "print((b - a) * 1e3, (d - c) * 1e3)"
    )
    done = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(runs)]
    for name, column in zip(("import padlock", "first pad of a process"), zip(*([float(w) for w in d.stdout.split()] for d in done))):
        yield {"start": name, "least_ms": round(min(column), 1), "median_ms": round(statistics.median(column), 1)}


def machine(commit):
    """Names the machine and the versions that the figures depend on."""
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    versions = {}
    for name in ("numpy", "torch", "jax"):
        if importlib.util.find_spec(name) is not None:
            versions[name] = importlib.metadata.version(name)
    return {
        "bench": "python calls",
        "commit": commit,
        "cpu": names[0] if names else "unknown",
        "cpus": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "python": sys.version.split()[0],
        "versions": versions,
    }


def table_row(line):
    if "call" in line:
        return f"| {line['call']} | {line['least_us']:.2f} us | {line['times_as_fast']:.2f} of {line['beside']} |"
    if "start" in line:
        return f"| {line['start']} | {line['least_ms']:.0f} ms, median {line['median_ms']:.0f} ms | |"
    return f"| {json.dumps(line)} | | |"


def all_figures(arguments):
    yield machine(arguments.commit)
    draw = random.Random(arguments.seed)
    libraries = (("numpy", numpy_calls, "numpy.pad"), ("torch", torch_calls, "F.pad, constant"), ("jax", jax_calls, "jnp.pad, jitted"))
    for library, calls, peer in libraries:
        if importlib.util.find_spec(library) is None:
            print(f"{library} is not there")
            continue
        yield from figures(library, dict(calls()), peer, arguments.rounds, draw)
    yield from start_times()
    if arguments.wheel:
        yield {"wheel": pathlib.Path(arguments.wheel).name, "bytes": os.path.getsize(arguments.wheel)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", help="a file that takes the figures, a line each")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--wheel", help="the wheel, whose size is a figure, too")
    arguments = parser.parse_args()
    lines = []
    for line in all_figures(arguments):
        lines.append(json.dumps(line) + "\n")
        print(table_row(line), flush=True)
    if arguments.json:
        pathlib.Path(arguments.json).write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
