#!/usr/bin/env python3
"""Times rows by data on a CPU, on one thread: jagged batches to padded ones and back, beside torch's pad_sequence and ATen's jagged
operators, and collate beside a tokenizer's padding of lists in Python.

Contestants take batches of calls in turn, in an order that is shuffled anew each round. A figure is the least mean of a batch
in milliseconds; a ratio is the median over the rounds of another's time to padlock's.

usage: PYTHONPATH=build/release/python python3 bench/python/rows.py [--json=FILE] [--rounds=N] [--batch=B] [--length=L]
"""

import argparse
import json
import random
import statistics
import time

import numpy
import padlock
import padlock.torch
import torch

aten = torch.ops.aten
COLUMNS = (0, 1, 4, 16, 64, 128, 1024)  # 0: tokens, without an axis of columns


def seconds_each(function, count):
    start = time.perf_counter()
    for _ in range(count):
        function()
    return (time.perf_counter() - start) / count


def measure(contestants, rounds):
    """The least time of each in milliseconds, and how much longer than padlock the others take."""
    counts = {}
    for name, function in contestants.items():
        function()
        counts[name] = max(1, int(0.01 / max(seconds_each(function, 1), 1e-7)))
    times = {name: [] for name in contestants}
    for _ in range(rounds):
        for name in random.sample(list(contestants), len(contestants)):
            times[name].append(seconds_each(contestants[name], counts[name]))
    ratios = {name: statistics.median(a / b for a, b in zip(all_times, times["padlock"])) for name, all_times in times.items()}
    return {name: round(min(all_times) * 1e3, 5) for name, all_times in times.items()}, {
        name: round(ratio, 3) for name, ratio in ratios.items() if name != "padlock"
    }


def jagged(kind, columns, batch, length):
    lengths = torch.randint(length // 4, length + 1, (batch,), generator=torch.Generator().manual_seed(1)).tolist()
    offsets = torch.tensor([0, *lengths]).cumsum(0)
    values = torch.randn(sum(lengths), *([columns] if columns else [])).to(kind)
    parts, longest = list(values.split(lengths)), max(lengths)
    padded = padlock.torch.to_padded(values, offsets, longest)
    assert torch.equal(padded, torch.nn.utils.rnn.pad_sequence(parts, batch_first=True))
    assert torch.equal(padlock.torch.from_padded(padded, offsets, len(values)), values)
    yield "to padded", {
        "padlock": lambda: padlock.torch.to_padded(values, offsets, longest),
        "pad_sequence": lambda: torch.nn.utils.rnn.pad_sequence(parts, batch_first=True),
        "aten": lambda: aten._jagged_to_padded_dense_forward(values, [offsets], [longest], 0.0),
    }
    yield "from padded", {
        "padlock": lambda: padlock.torch.from_padded(padded, offsets, len(values)),
        "aten": lambda: aten._padded_dense_to_jagged_forward(padded, [offsets], len(values)),
    }


def padded_lists(sequences, multiple):
    """As tokenizers do."""
    width = -(-max(map(len, sequences)) // multiple) * multiple
    ids, marks = [], []
    for one in sequences:
        ids.append(one + [0] * (width - len(one)))
        marks.append([1] * len(one) + [0] * (width - len(one)))
    return ids, marks


def collations():
    draw = random.Random(1)
    sequences = [[draw.randrange(50000) for _ in range(draw.randint(1, 512))] for _ in range(64)]
    yield "collate", {
        "padlock": lambda: padlock.collate(sequences, multiple_of=8, mask=True),
        "lists alone": lambda: padded_lists(sequences, 8),
        "lists, numpy.array": lambda: [numpy.array(one) for one in padded_lists(sequences, 8)],
        "lists, torch.tensor": lambda: [torch.tensor(one) for one in padded_lists(sequences, 8)],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--length", type=int, default=512)
    options = parser.parse_args()
    torch.set_num_threads(1)
    padlock.configure(threads=1)
    rows = []

    def run(about, cases):
        for name, contestants in cases:
            times, ratios = measure(contestants, options.rounds)
            rows.append({"case": name, **about, "ms": times, "ratios": ratios})
            print(json.dumps(rows[-1]), flush=True)

    run({}, collations())
    for kind in (torch.float32, torch.bfloat16):
        for columns in COLUMNS:
            about = {"type": str(kind).removeprefix("torch."), "columns": columns, "batch": options.batch, "length": options.length}
            run(about, jagged(kind, columns, options.batch, options.length))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
