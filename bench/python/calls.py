#!/usr/bin/env python3
"""What a call from Python costs, side by side with other libraries: 16x16 f32, padded by 1, where the work is next to
nothing; and what an import and the first pad of a process cost. Each figure is the least of several runs' means.

usage: PYTHONPATH=build/release/python python3 bench/python/calls.py [--json=FILE] [--seconds=S]
"""

import argparse
import importlib.util
import json
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


def microseconds(run, seconds):
    """The least mean of nine, each a ninth of the time."""
    run()
    count, best = 1, float("inf")
    while True:
        started = time.perf_counter()
        for _ in range(count):
            run()
        took = time.perf_counter() - started
        if took > seconds / 20:
            break
        count *= 2
    for _ in range(9):
        started = time.perf_counter()
        for _ in range(count):
            run()
        best = min(best, (time.perf_counter() - started) / count)
    return best * 1e6


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


def start_times(runs=7):
    """Milliseconds of `import padlock`, and of the first pad after that, each in processes of their own."""
    code = (
        "import time; a = time.perf_counter(); import padlock; b = time.perf_counter(); x = bytearray(256);"
        "import numpy; c = time.perf_counter(); padlock.pad(x, (1,), (1,)); d = time.perf_counter();"
        "print((b - a) * 1e3, (d - c) * 1e3)"
    )
    times = [
        [float(word) for word in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()]
        for _ in range(runs)
    ]
    return [statistics.median(column) for column in zip(*times)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", help="a file that takes the figures")
    parser.add_argument("--seconds", type=float, default=1, help="for each call (default 1)")
    arguments = parser.parse_args()
    figures = {}
    for library, calls in (("numpy", numpy_calls), ("torch", torch_calls), ("jax", jax_calls)):
        if importlib.util.find_spec(library) is None:
            print(f"{library} is not there")
            continue
        for name, run in calls():
            figures[name] = microseconds(run, arguments.seconds)
            print(f"| {name} | {figures[name]:.2f} us |", flush=True)
    figures["import, ms"], figures["first pad, ms"] = start_times()
    print(f"| import padlock | {figures['import, ms']:.0f} ms |\n| first pad of a process | {figures['first pad, ms']:.0f} ms |")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
