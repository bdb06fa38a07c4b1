#!/usr/bin/env python3
"""Times rows by data on a GPU, in CUDA graphs: jagged batches and back, groups of rows and back, token ids; beside a copy of the
bytes that are moved, ATen's operators, zeros with index_copy, and what torch.compile makes of a gather for these very sizes.

usage: rows.py [--quick] [--out=FILE.jsonl] [--no-compile] [--device=cpu: every step once, for its results alone]

One line a problem: milliseconds (median of rounds that take turns), bytes moved, and the speed of each relative to the copy.
A result that differs from the public definition ends the run with status 1.
"""

import argparse
import json
import statistics
import sys

import torch
import torch.nn.functional as F

import padlock.torch

KINDS = {"bf16": torch.bfloat16, "f32": torch.float32}


class Timer:
    """A call as a graph, timed by events; on a CPU it is only made once."""

    def __init__(self, call, is_gpu):
        self.call, self.graph = call, None
        for _ in range(3):
            self.result = call()
        if not is_gpu:
            return
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.result = call()
        self.graph.replay()  # what is captured has not run
        torch.cuda.synchronize()

    def milliseconds(self, repeats):
        if self.graph is None:
            return 1.0
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(repeats):
            self.graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / repeats


def same(a, b):
    return a.shape == b.shape and torch.equal(a.contiguous().view(torch.uint8), b.contiguous().view(torch.uint8))


class Bench:
    def __init__(self, options):
        self.options, self.is_gpu, self.wrong = options, options.device == "cuda", 0
        self.out = open(options.out, "w", encoding="utf-8") if options.out else None

    def compiled(self, function):
        return None if self.options.no_compile else torch.compile(function, dynamic=False)

    def run(self, problem, wanted, bytes_moved, calls):
        timers = {}
        for name, call in calls.items():
            if call is None:
                continue
            try:
                timers[name] = Timer(call, self.is_gpu)
            except Exception as error:  # a peer that cannot do it is no reason to stop
                print(f"{problem}: {name}: {type(error).__name__}: {str(error).splitlines()[0]}", file=sys.stderr)
                continue
            if not same(timers[name].result, wanted):
                print(f"{problem}: {name} DIFFERS", file=sys.stderr)
                self.wrong += name == "padlock"
        source = torch.empty(bytes_moved // 2 // 16 * 16, dtype=torch.uint8, device=self.options.device)
        target = torch.empty_like(source)
        timers["copy"] = Timer(lambda: target.copy_(source), self.is_gpu)
        for timer in timers.values():
            timer.result = None
        once = max(timer.milliseconds(3) for timer in timers.values())
        repeats = max(1, min(200, int(20 / max(once, 1e-3))))
        rounds = [{name: timer.milliseconds(repeats) for name, timer in timers.items()} for _ in range(7 if self.is_gpu else 1)]
        times = {name: statistics.median(one[name] for one in rounds) for name in timers}
        line = {"problem": problem, "bytes": bytes_moved, "ms": times, "of_copy": {n: times["copy"] / t for n, t in times.items()}}
        if self.out:
            print(json.dumps(line), file=self.out, flush=True)
        print(f"{problem:44} {bytes_moved / 2**20:8.0f} MiB  " +
              "  ".join(f"{name} {times[name]:.4f} ms ({times['copy'] / times[name]:.2f})" for name in times), flush=True)


def jagged(bench, kind, batch, length, columns):
    device, element = bench.options.device, torch.empty((), dtype=KINDS[kind]).element_size()
    torch.manual_seed(0)
    lengths = torch.randint(0, length + 1, (batch,))
    offsets = F.pad(lengths.cumsum(0), (1, 0)).to(device)
    rows = int(lengths.sum())
    values = torch.randn(rows, columns, device=device).to(KINDS[kind])
    t = torch.arange(length, device=device)
    bytes_moved = (rows + batch * length) * columns * element
    aten = torch.ops.aten
    padded = padlock.torch.to_padded(values, offsets, length)
    wanted = torch.zeros(batch, length, columns, dtype=KINDS[kind], device=device)
    is_row = t[None] < (offsets[1:] - offsets[:-1])[:, None]
    wanted[is_row] = values

    def gather(values, offsets):
        inside = t[None] < (offsets[1:] - offsets[:-1])[:, None]
        index = torch.where(inside, offsets[:-1, None] + t, 0)
        return torch.where(inside[..., None], values[index], 0)

    def gather_back(padded, offsets):
        r = torch.arange(rows, device=device)
        b = torch.searchsorted(offsets, r, right=True) - 1
        return padded[b, r - offsets[b]]

    to, back = bench.compiled(gather), bench.compiled(gather_back)
    name = f"{kind} B {batch} L {length} D {columns}"
    bench.run(f"jagged to padded, {name}", wanted, bytes_moved, {
        "padlock": lambda: padlock.torch.to_padded(values, offsets, length),
        "aten": lambda: aten._jagged_to_padded_dense_forward(values, [offsets], [length], 0.0),
        "compiled": to and (lambda: to(values, offsets)),
    })
    bench.run(f"padded to jagged, {name}", values, 2 * rows * columns * element, {
        "padlock": lambda: padlock.torch.from_padded(padded, offsets, rows),
        "aten": lambda: aten._padded_dense_to_jagged_forward(padded, [offsets], rows),
        "compiled": back and (lambda: back(padded, offsets)),
    })


def groups(bench, kind, rows, count, columns, multiple):
    device, element = bench.options.device, torch.empty((), dtype=KINDS[kind]).element_size()
    torch.manual_seed(1)
    cuts = torch.sort(torch.randint(0, rows + 1, (count - 1,))).values
    ends = torch.cat([cuts, torch.tensor([rows])]).to(torch.int32)
    begins = F.pad(ends, (1, 0))[:-1]
    longer = ((ends - begins + multiple - 1) // multiple * multiple).cumsum(0).to(torch.int32)
    made = int(longer[-1])
    places = torch.cat([torch.arange(n) + b for n, b in zip((ends - begins).tolist(), F.pad(longer, (1, 0))[:-1].tolist())])
    inverse = torch.full((made,), -1).index_copy(0, places, torch.arange(rows)).to(device)
    places, ends = places.to(device), ends.to(device)
    x = torch.randn(rows, columns, device=device).to(KINDS[kind])
    wanted = torch.zeros(made, columns, dtype=x.dtype, device=device).index_copy(0, places, x)
    padded = wanted.clone()
    given, to = padlock.torch._rows._groups(ends, multiple)  # as a layer has them
    name = f"{kind} T {rows} G {count} D {columns} by {multiple}"
    gather = bench.compiled(lambda x, inverse: torch.where((inverse >= 0)[:, None], x[inverse.clamp(min=0)], 0))
    back = bench.compiled(lambda padded, places: padded[places])
    bench.run(f"groups, {name}", wanted, (rows + made) * columns * element, {
        "padlock": lambda: torch.ops.padlock.move_groups(x, given + to, made, 0),
        "index_copy": lambda: torch.zeros(made, columns, dtype=x.dtype, device=device).index_copy_(0, places, x),
        "compiled": gather and (lambda: gather(x, inverse)),
    })
    bench.run(f"groups back, {name}", x, 2 * rows * columns * element, {
        "padlock": lambda: torch.ops.padlock.move_groups(padded, to + given, rows, 0),
        "index_select": lambda: padded.index_select(0, places),
        "compiled": back and (lambda: back(padded, places)),
    })


def tokens(bench, batch, length):
    device = bench.options.device
    torch.manual_seed(2)
    lengths = torch.randint(0, length + 1, (batch,))
    offsets = F.pad(lengths.cumsum(0), (1, 0)).to(device)
    ids = torch.randint(0, 50000, (int(lengths.sum()),), device=device)
    t = torch.arange(length, device=device)

    def gather(ids, offsets):
        inside = t[None] < (offsets[1:] - offsets[:-1])[:, None]
        return torch.where(inside, ids[torch.where(inside, offsets[:-1, None] + t, 0)], 0)

    made = bench.compiled(gather)
    bench.run(f"token ids, B {batch} L {length}", gather(ids, offsets), 8 * (len(ids) + batch * length), {
        "padlock": lambda: padlock.torch.to_padded(ids, offsets, length),
        "compiled": made and (lambda: made(ids, offsets)),
    })


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    options = parser.parse_args()
    bench = Bench(options)
    if bench.is_gpu:
        print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    batch, length = (512, 512) if bench.is_gpu else (7, 33)
    for kind in KINDS:
        for columns in (64, 128, 1024) if not options.quick else (128,):
            jagged(bench, kind, batch, length, columns)
    rows = 32768 if bench.is_gpu else 300
    for kind in KINDS:
        for count in (1, 8, 64, 256) if not options.quick else (64,):
            for row_bytes in (512, 2048, 16384) if not options.quick else (2048,):
                columns = row_bytes // torch.empty((), dtype=KINDS[kind]).element_size()
                for multiple in (8, 32, 128) if not options.quick else (32,):
                    groups(bench, kind, rows, count, columns, multiple)
    for size in ((512, 512), (4096, 2048)) if bench.is_gpu else ((7, 33),):
        tokens(bench, *size)
    sys.exit(bench.wrong > 0)


if __name__ == "__main__":
    main()
