"""Times the first call of graphs that backend="padlock" covers whole, in a process that has compiled before: medians in milliseconds,
a line of JSON each. Beside it the same with torch's back ends that compile nothing: "eager" traces, "aot_eager" also makes the
forward and backward graphs. What Padlock adds is in "own": clusters, the program, its proof and its machine code.

    PYTHONPATH=build/release/python python bench/python/torch_first_call.py [--times=N] [--profile]

--profile prints where Padlock's calls spend their time instead.
"""

import argparse
import cProfile
import json
import pstats
import statistics
import time

import torch

import padlock.torch
from padlock.torch import _backend


def pad(x, value):
    return torch.nn.functional.pad(x, (1, 2, 3, 4), value=value)


def pad_relu(x, value):
    return torch.relu(torch.nn.functional.pad(x, (1, 2), value=value))


def reflect(x, value):
    return torch.nn.functional.pad(x, (1, 2, 2, 1), mode="reflect") * value


def window(x, value):
    padded = torch.nn.functional.pad(x, (0, 0, 0, -x.shape[2] % 7, 0, -x.shape[1] % 7), value=value)
    n, h, w, c = padded.shape
    return padded.view(n, h // 7, 7, w // 7, 7, c).transpose(2, 3).reshape(-1, 7, 7, c)


CASES = {"pad": (pad, (4, 8, 30, 40)), "pad and relu": (pad_relu, (256, 1016)), "reflect": (reflect, (4, 8, 30, 40)), "windows": (window, (8, 61, 57, 96))}
BACKENDS = ("eager", "aot_eager", "padlock")


class Own:
    """Adds up what `take_clusters` takes, and what is behind it."""

    def __init__(self):
        self.seconds, self._take, self._plain = 0.0, _backend.take_clusters, _backend._plain

    def __enter__(self):
        _backend.take_clusters, _backend._plain = self._timed(self._take), self._timed(self._plain)
        return self

    def __exit__(self, *_):
        _backend.take_clusters, _backend._plain = self._take, self._plain

    def _timed(self, function):
        def call(*arguments, **how):
            start = time.perf_counter()
            try:
                return function(*arguments, **how)
            finally:
                self.seconds += time.perf_counter() - start

        return call


def first_call(function, x, value, backend, dynamic):
    """Seconds of the first call, and Padlock's part; a number that no graph had before makes the program a new one (and stays a
    number: torch would make a symbol of it, that is a graph that asks a tensor for an element)."""
    torch._dynamo.reset()
    options = {"padlock.force": True} if backend == "padlock" else None
    compiled = torch.compile(lambda x: function(x, value), backend=backend, dynamic=dynamic, options=options)
    with Own() as own:
        start = time.perf_counter()
        compiled(x)
        return time.perf_counter() - start, own.seconds


def measured(name, function, shape, dynamic, times):
    x, took, own = torch.randn(shape), {backend: [] for backend in BACKENDS}, []
    for i in range(times + 1):
        for backend in BACKENDS:
            seconds, part = first_call(function, x, i + 0.5, backend, dynamic)
            if i == 0:
                continue
            took[backend].append(seconds)
            own += [part] if backend == "padlock" else []
    line = {"case": name, "dynamic": dynamic, "ms": {one: round(statistics.median(all_of_it) * 1e3, 1) for one, all_of_it in took.items()}}
    return {**line, "own": round(statistics.median(own) * 1e3, 1), "times": times}


def profile(times):
    for name, (function, shape) in CASES.items():
        x, seen = torch.randn(shape), cProfile.Profile()
        first_call(function, x, 0.25, "padlock", True)
        for i in range(times):
            torch._dynamo.reset()
            take = _backend.take_clusters
            _backend.take_clusters = lambda *a, take=take, **how: seen.runcall(take, *a, **how)
            try:
                first_call(function, x, i + 0.75, "padlock", True)
            finally:
                _backend.take_clusters = take
        print(f"-- {name}, dynamic, {times} times")
        pstats.Stats(seen).sort_stats("cumulative").print_stats(40)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with torch.no_grad(), torch._dynamo.config.patch(specialize_float=True):
        if arguments.profile:
            return profile(arguments.times)
        for name, (function, shape) in CASES.items():
            for dynamic in (False, True):
                print(json.dumps(measured(name, function, shape, dynamic, arguments.times)), flush=True)


if __name__ == "__main__":
    main()
