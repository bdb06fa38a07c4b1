#!/usr/bin/env python3
"""Prints what the gradients of pads cost beside the pads themselves.

usage: adjoint.py PADLOCK [--mib=N] [--rows=N,...] [--pads=N,...] [--threads=N] [--rounds=N]

Square images of f32, so many of them that their pad has about that many MiB, padded by as many elements on each side. Both
programs run by turns, each as `padlock bench` times it from memory (its data are not in the caches). The last column is the
adjoint's bytes a second over the pad's.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

MODES = ("constant", "edge", "reflect", "symmetric", "wrap")
AMOUNTS = "low = [0, p, p], high = [0, p, p], mode = {}"
PAD = "program pad(x: f32[N, H, W], p: dim) where p >= 0, H >= 1, W >= 1 {{ y = pad(x, {}) return y }}"
ADJOINT = (
    "program adjoint(g: f32[N, H + 2*p, W + 2*p], H: dim, W: dim, p: dim) where p >= 0, H >= 1, W >= 1 "
    "{{ x = pad_adjoint(g, extent = [N, H, W], {}) return x }}"
)


def speed(options, program, sizes):
    """The GB/s of one run of `padlock bench`, beside which it times copies."""
    bind = ",".join(f"{name}={size}" for name, size in sizes.items())
    command = [options.padlock, "bench", str(program), f"--bind={bind}", f"--threads={options.threads}",
               f"--rounds={options.rounds}", "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    cold = next(one for one in report["comparisons"] if one["state"] == "cold")
    return next(row["gb_per_s"] for row in cold["rows"] if row["name"] == "padlock")


def numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("padlock")
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--rows", type=numbers, default=[4096, 1024, 256])
    parser.add_argument("--pads", type=numbers, default=[1, 2, 4, 8])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=31)
    options = parser.parse_args()
    print(f"{'mode':10} {'rows':>5} {'pad':>4} {'pad GB/s':>9} {'adjoint':>9} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        pad, adjoint = pathlib.Path(folder, "pad.pad"), pathlib.Path(folder, "adjoint.pad")
        for mode in MODES:
            pad.write_text(PAD.format(AMOUNTS.format(mode)), encoding="utf-8")
            adjoint.write_text(ADJOINT.format(AMOUNTS.format(mode)), encoding="utf-8")
            for rows in options.rows:
                for p in options.pads:
                    sizes = {"N": max(1, (options.mib << 20) // (4 * rows * rows)), "H": rows, "W": rows, "p": p}
                    runs = [(speed(options, pad, sizes), speed(options, adjoint, sizes)) for _ in range(2)]
                    best = [max(rates) for rates in zip(*runs)]
                    print(f"{mode:10} {rows:5} {p:4} {best[0]:9.1f} {best[1]:9.1f} {best[1] / best[0]:6.2f}", flush=True)


if __name__ == "__main__":
    main()
