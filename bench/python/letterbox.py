#!/usr/bin/env python3
"""Times the README's letterbox: u8 images of 480 x 640 x 3, framed to a square, to normalised planes of f32. Beside it
PyTorch eager, compiled with static and with dynamic sizes, and NumPy. The contestants take turns in an order that is
shuffled each round; a ratio is the median over the rounds. Every result is first compared with NumPy's. Memory that a
library frees stays with the process, so that no call pays for fresh pages.

usage: PYTHONPATH=build/release/python python3 bench/python/letterbox.py [--json=FILE] [--rounds=N] [--threads=N] [--commit=NAME]
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import sys
import time

HEIGHT, WIDTH, SIZE = 480, 640, 640
SAMPLE_SECONDS = 0.02
MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(64 << 20)}


def contestants(images, mean, scale):
    """A function for each contestant, of nothing."""
    import numpy
    import torch

    import padlock
    from padlock import lang

    @padlock.jit
    def letterbox(images: padlock.u8["N", "H", "W", 3], mean: padlock.f32[3, 1, 1], scale: padlock.f32[3, 1, 1], size: padlock.dim):
        top, left = (size - images.shape[1]) // 2, (size - images.shape[2]) // 2
        low, high = [0, top, left, 0], [0, size - images.shape[1] - top, size - images.shape[2] - left, 0]
        planes = lang.transpose(lang.pad(images, low, high, value=114), [0, 3, 1, 2])
        return (lang.cast(planes, padlock.f32) - mean) * scale

    top, left = (SIZE - HEIGHT) // 2, (SIZE - WIDTH) // 2
    amounts = (left, SIZE - WIDTH - left, top, SIZE - HEIGHT - top)

    def by_torch(images, mean, scale):
        return (torch.nn.functional.pad(images.permute(0, 3, 1, 2), amounts, value=114.0).float() - mean) * scale

    def by_numpy():
        framed = numpy.pad(images, ((0, 0), amounts[2:], amounts[:2], (0, 0)), constant_values=114)
        return (framed.transpose(0, 3, 1, 2).astype("f4") - mean) * scale

    tensors = [torch.from_numpy(array) for array in (images, mean, scale)]
    static, dynamic = (torch.compile(by_torch, dynamic=dynamic) for dynamic in (False, True))
    return {"numpy": by_numpy, "padlock, NumPy": lambda: letterbox(images, mean, scale, SIZE),
            "padlock, PyTorch": lambda: letterbox(*tensors, SIZE), "torch eager": lambda: by_torch(*tensors),
            "torch eager, dense": lambda: by_torch(*tensors).contiguous(memory_format=torch.contiguous_format),
            "torch static": lambda: static(*tensors), "torch dynamic": lambda: dynamic(*tensors)}


def seconds_of(call, count):
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count


def measure(calls, rounds, draw):
    counts = {name: max(1, int(SAMPLE_SECONDS / seconds_of(call, 2))) for name, call in calls.items()}
    order, times = list(calls), {name: [] for name in calls}
    for _ in range(rounds):
        draw.shuffle(order)
        for name in order:
            times[name].append(seconds_of(calls[name], counts[name]))
    return times


def figures(batch, rounds, draw):
    import numpy

    images = numpy.random.default_rng(0).integers(0, 256, (batch, HEIGHT, WIDTH, 3), "u1")
    mean, deviation = (numpy.array(values, "f4").reshape(3, 1, 1) for values in ((123.675, 116.28, 103.53), (58.395, 57.12, 57.375)))
    calls = contestants(images, mean, 1 / deviation)
    right = calls["numpy"]()
    differing = {name: int((numpy.asarray(call()) != right).sum()) for name, call in calls.items()}
    times = measure(calls, rounds, draw)
    for name, found in times.items():
        ratios = [theirs / ours for theirs, ours in zip(found, times["padlock, PyTorch"])]
        yield {"schema": 1, "kind": "letterbox", "batch": batch, "call": name, "median_ms": statistics.median(found) * 1e3,
               "least_ms": min(found) * 1e3, "over_padlock": statistics.median(ratios), "elements_unlike_numpy": differing[name]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--commit", default="")
    arguments = parser.parse_args()
    if not MEMORY.items() <= os.environ.items():  # which the C library reads as a process starts
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **MEMORY, "OMP_NUM_THREADS": str(arguments.threads)})

    import numpy
    import torch

    import padlock

    padlock.configure(threads=arguments.threads)
    torch.set_num_threads(arguments.threads)
    cpu = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name"))
    lines = [{"schema": 1, "kind": "provenance", "cpu": cpu, "threads": arguments.threads, "commit": arguments.commit,
              "load_average": os.getloadavg()[0],
              "torch": torch.__version__, "numpy": numpy.__version__, "padlock": padlock.__version__}]
    for batch in (1, 8):
        for line in figures(batch, arguments.rounds, random.Random(1)):
            lines.append(line)
            print(f"{batch} images, {line['call']:<20} {line['median_ms']:8.3f} ms, {line['over_padlock']:5.2f} of Padlock's, "
                  f"{line['elements_unlike_numpy']} elements unlike NumPy's", flush=True)
    if arguments.json:
        arguments.json.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
