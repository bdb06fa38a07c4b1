#!/usr/bin/env python3
"""Prints what the activations cost beside PyTorch's, on one thread and arrays that stay in its caches.

usage: activations.py LIBPADLOCK.SO [--elements=N] [--rounds=N]

Padlock's results are correctly rounded; PyTorch's are not. Both calls take turns, and the best of each counts: so what
else the machine does is left out. The last column is PyTorch's time over Padlock's.
"""

import argparse

import torch
from padlock_library import Padlock, seconds_of

aten = torch.ops.aten
FUNCTIONS = {  # into a result that is there, as Padlock's are
    "exp": aten.exp.out,
    "log": aten.log.out,
    "tanh": aten.tanh.out,
    "sigmoid": aten.sigmoid.out,
    "erf": aten.erf.out,
    "gelu": aten.gelu.out,
    "gelu_tanh": lambda x, out: aten.gelu.out(x, approximate="tanh", out=out),
    "silu": aten.silu.out,
    "softplus": aten.softplus.out,
    "rsqrt": aten.rsqrt.out,
}
POSITIVE = ("log", "rsqrt")
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
SECONDS_OF_A_SAMPLE = 0.002


def call_of(padlock, function, dtype, x, y):
    """Returns what computes y from x."""
    kernel = padlock.compiled(f"program p(x: {dtype}[N]) {{ y = {function}(x) return y }}")
    return padlock.call(kernel, dtype, [x.numel()], x.data_ptr(), y.data_ptr())


def best_of(calls, rounds):
    counts = [max(1, int(SECONDS_OF_A_SAMPLE / seconds_of(call, 20))) for call in calls]
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        best = [min(b, seconds_of(call, count)) for b, call, count in zip(best, calls, counts)]
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library")
    parser.add_argument("--elements", type=int, default=32768)
    parser.add_argument("--rounds", type=int, default=60)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    padlock = Padlock(arguments.library)
    print(f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, {arguments.elements} elements")
    print("| function | type | Padlock, 10^9 elements/s | PyTorch | ratio |\n|---|---|---|---|---|")
    for dtype, torch_type in TYPES.items():
        for name, function in FUNCTIONS.items():
            x = torch.linspace(0.01 if name in POSITIVE else -8, 8, arguments.elements).to(torch_type)
            y, z = torch.empty_like(x), torch.empty_like(x)
            ours, theirs = best_of([call_of(padlock, name, dtype, x, y), lambda: function(x, out=z)], arguments.rounds)
            torch.testing.assert_close(y, z)
            rates = [arguments.elements / seconds / 1e9 for seconds in (ours, theirs)]
            print(f"| {name} | {dtype} | {rates[0]:.3f} | {rates[1]:.3f} | {theirs / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()
