#!/usr/bin/env python3
"""Prints what the gradients of pads cost beside the pads themselves.

usage: adjoint.py LIBPADLOCK.SO [--mib=N] [--modes=M,...] [--rows=N,...] [--pads=N,...] [--rank=N] [--type=T]
                  [--threads=N] [--rounds=N]

Square images (--rank=3: cubes), so many of them that they have that many MiB, padded by as many elements on each side of
each axis. A pad and its adjoint take turns in one process, and each goes through more memory than a cache has. GB/s of
both, from the median of their times; the ratio of their bytes a second is the median of the rounds' ratios, with its
quartiles; the last column is that of the least times.
"""

import argparse
import ctypes
import mmap
import statistics

from padlock_library import TYPES, Padlock, seconds_of

MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def texts_of(options, mode):
    """The programs of a pad by p of `rank` axes, and of its adjoint."""
    axes = [f"D{axis}" for axis in range(options.rank)]
    amounts = ", ".join(["0"] + ["p"] * options.rank)
    how = f"low = [{amounts}], high = [{amounts}], mode = {mode}"
    extents, where = ", ".join(axes), ", ".join(["p >= 0", *(f"{axis} >= 1" for axis in axes)])
    padded = ", ".join(f"{axis} + 2*p" for axis in axes)
    dims = ", ".join(f"{axis}: dim" for axis in axes)
    return (f"program pad(x: {options.type}[N, {extents}], p: dim) where {where} {{ y = pad(x, {how}) return y }}",
            f"program adjoint(g: {options.type}[N, {padded}], {dims}, p: dim) where {where} "
            f"{{ x = pad_adjoint(g, extent = [N, {extents}], {how}) return x }}")


def array_of(size):
    """Memory in huge pages, each byte 60: a number of ordinary size in every type, so that no sum is slower for it."""
    memory = mmap.mmap(-1, size + (1 << 21))
    memory.madvise(mmap.MADV_HUGEPAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    ctypes.memset(address, 60, size)
    return memory, address


def times_of(calls, rounds):
    for call in calls:
        call()
    return [[seconds_of(call) for call in calls] for _ in range(rounds)]


def print_line(mode, rows, p, sizes, times):
    rates = [[size / seconds / 1e9 for size, seconds in zip(sizes, pair)] for pair in times]
    pad, adjoint = (statistics.median(one) for one in zip(*rates))
    low, middle, high = statistics.quantiles([after / before for before, after in rates], n=4)
    best = [max(one) for one in zip(*rates)]
    print(f"{mode:10} {rows:5} {p:4} {pad:9.1f} {adjoint:9.1f} {middle:6.2f} {low:5.2f} to {high:.2f} "
          f"{best[1] / best[0]:6.2f}", flush=True)


def numbers(text):
    return [int(number) for number in text.split(",")]


def options_of_command():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library")
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--modes", type=lambda text: text.split(","), default=list(MODES))
    parser.add_argument("--rows", type=numbers, default=[1024, 256, 64])
    parser.add_argument("--pads", type=numbers, default=[1, 2, 4, 8])
    parser.add_argument("--rank", type=int, default=2)
    parser.add_argument("--type", choices=list(TYPES), default="f32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    return parser.parse_args()


def main():
    options = options_of_command()
    padlock = Padlock(options.library, options.threads)
    kernels = {mode: [padlock.compiled(text) for text in texts_of(options, mode)] for mode in options.modes}
    item = TYPES[options.type][1] // 8
    print(f"{'mode':10} {'rows':>5} {'pad':>4} {'pad GB/s':>9} {'adjoint':>9} {'ratio':>6} {'quartiles':>12} {'best':>6}")
    for rows in options.rows:
        for p in options.pads:
            count = max(1, (options.mib << 20) // (item * rows**options.rank))
            small, large = [count] + [rows] * options.rank, [count] + [rows + 2 * p] * options.rank
            bytes_of = [item * count * n**options.rank for n in (rows, rows + 2 * p)]
            (_x, x), (_g, g) = (array_of(size) for size in bytes_of)
            dims = {f"D{axis}": rows for axis in range(options.rank)} | {"p": p}
            for mode in options.modes:
                pad, adjoint = kernels[mode]
                calls = [padlock.call(pad, options.type, small, x, g, {"p": p}),
                         padlock.call(adjoint, options.type, large, g, x, dims)]
                print_line(mode, rows, p, [sum(bytes_of)] * 2, times_of(calls, options.rounds))


if __name__ == "__main__":
    main()
