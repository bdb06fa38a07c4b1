#!/usr/bin/env python3
"""Judges the activations on a GPU by the project's known answers, and times pad and activation in CUDA graphs: beside pad and
relu, PyTorch's copy of the same bytes, and torch.compile with static sizes.

usage: activations.py [--json=FILE] [--functions=NAME,...] [--types=f32,f16,bf16] [--blocks=N] [--no-times] [--no-compile]
                      [--simulated]

Needs PyTorch, the package padlock and, for f32, the package xxhash. f16 and bf16: all 65 536 arguments, by Padlock's code
for a CPU. f32: all 2^32, or the first N of the 256 blocks of known_answers.txt. The exit status is 1 where a bit is wrong.
`--simulated`: on a CPU, of little tensors; its times mean nothing.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

import torch
import torch.nn.functional as F

import graphs
import padlock

ANSWERS = pathlib.Path(__file__).resolve().parents[2] / "tests/activation/known_answers.txt"
BLOCK = 1 << 24
NAN = 0x7FC00000  # what every NaN of f32 counts as
WORDS = {
    "exp": torch.exp, "log": torch.log, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "erf": torch.erf, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "softplus": F.softplus, "rsqrt": torch.rsqrt,
}
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def known_answers():
    """The 256 hashes of each function."""
    found = {}
    for line in ANSWERS.read_text(encoding="utf-8").splitlines():
        if line.strip() and line[0] != "#":
            name, *hashes = line.split()
            found.setdefault(name, []).extend(int(word, 16) for word in hashes)
    return found


def kernel_of(function, dtype, is_padded):
    pad = "x = pad(x, low = [0, 1], high = [0, 1])\n" if is_padded else ""
    shape = "B, S" if is_padded else "N"
    name = "y" if is_padded else "x"
    body = pad.replace("x =", "y =", 1)
    return padlock.compile(f"program {function}_{dtype}{'_pad' if is_padded else ''}(x: {dtype}[{shape}]) {{\n"
                           f"{body}z = {function}({name})\nreturn z }}\n")


class Activations:
    def __init__(self, arguments):
        self.arguments = arguments
        self.device = graphs.Simulated(torch) if arguments.simulated else graphs.Cuda(torch)
        self.out = open(arguments.json, "w", encoding="utf-8") if arguments.json else None
        self.wrong = 0

    def emit(self, kind, **fields):
        if self.out:
            print(json.dumps({"kind": kind, **fields}), file=self.out, flush=True)
        print(kind, " ".join(f"{name} {value}" for name, value in fields.items()), flush=True)

    def judge_halves(self, function, dtype):
        kernel = kernel_of(function, dtype, False)
        arguments = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16).view(TYPES[dtype])
        expected, found = kernel(arguments), kernel(arguments.to(self.device.name)).cpu()
        differs = (expected.view(torch.int16) != found.view(torch.int16)) & ~(expected.isnan() & found.isnan())
        self.count(function, dtype, 1 << 16, int(differs.sum()), differs.nonzero().flatten()[:5].tolist())

    def count(self, function, dtype, of, wrong, some, **fields):
        self.wrong += wrong
        self.emit("bits", name=function, dtype=dtype, of=of, wrong=wrong, some=some, **fields)

    def judge_floats(self, function, hashes):
        """By block, since a hash does not say which result is wrong. Counts blocks."""
        import xxhash

        kernel, begin, wrong = kernel_of(function, "f32", False), time.monotonic(), []
        made = torch.empty(BLOCK, dtype=torch.float32, device=self.device.name)
        host = torch.empty(BLOCK, dtype=torch.int32, pin_memory=not self.arguments.simulated)
        for block in range(self.arguments.blocks):
            bits = torch.arange(block * BLOCK, (block + 1) * BLOCK, dtype=torch.int64, device=self.device.name).to(torch.int32)
            kernel(bits.view(torch.float32), out=made)
            host.copy_(torch.where(made.isnan(), NAN, made.view(torch.int32)))
            if xxhash.xxh3_64_intdigest(host.numpy()) != hashes[block]:
                wrong.append(block)
        self.count(function, "f32", self.arguments.blocks * BLOCK, len(wrong), wrong[:5], seconds=round(time.monotonic() - begin, 1))

    def time(self, function, dtype):
        element = torch.empty((), dtype=TYPES[dtype]).element_size()
        rows, columns = (1 << 28) // (1024 * element) if not self.arguments.simulated else 16, 1022
        x = torch.randn(rows, columns, device=self.device.name).to(TYPES[dtype])
        if function in ("log", "rsqrt"):
            x = x.abs() + 0.01
        y = torch.empty(rows, 1024, dtype=x.dtype, device=x.device)
        timer = graphs.Timer(self.device, 20, 1)
        mine, relu = kernel_of(function, dtype, True), kernel_of("relu", dtype, True)
        timer.add("copy", lambda i, source=torch.empty_like(y): y.copy_(source))
        timer.add("relu", lambda i: relu(x, out=y))
        timer.add("padlock", lambda i: mine(x, out=y))
        if not self.arguments.no_compile:
            torch._dynamo.reset()
            static = torch.compile(lambda x: WORDS[function](F.pad(x, (1, 1))), dynamic=False)
            static(x)
            timer.add("static", lambda i: static(x))
        rounds = [{name: timer.sample_us(name) for name in timer.graphs} for _ in range(9)]
        us = {name: round(statistics.median(one[name] for one in rounds), 1) for name in timer.graphs}
        self.emit("time", name=function, dtype=dtype, us=us, of={name: round(us[name] / us["padlock"], 3) for name in us})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--json")
    parser.add_argument("--functions", default=",".join(WORDS))
    parser.add_argument("--types", default="f16,bf16,f32")
    parser.add_argument("--blocks", type=int, default=256)
    parser.add_argument("--no-times", action="store_true")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--simulated", action="store_true")
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    run, answers = Activations(arguments), known_answers()
    run.emit("facts", gpu="simulated" if arguments.simulated else torch.cuda.get_device_name(), torch=torch.__version__,
             padlock=padlock.__version__)
    for dtype in arguments.types.split(","):
        for function in arguments.functions.split(","):
            if dtype == "f32":
                run.judge_floats(function, answers[function])
            else:
                run.judge_halves(function, dtype)
    for dtype in () if arguments.no_times else arguments.types.split(","):
        for function in arguments.functions.split(","):
            run.time(function, dtype)
    return 1 if run.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
