#!/usr/bin/env python3
"""Times models of timm with random weights under backend="padlock", beside Inductor, which take turns: of each model the median and
the quartiles of the rounds' ratios (above 1: Padlock is faster), a line of JSON each.

    PYTHONPATH=build/release/python python bench/python/timm_models.py NAME [...] [--size=N] [--batch=N] [--seconds=N]

A second run has what Inductor compiled in its cache.
"""

import argparse
import json
import statistics
import time

import timm
import torch

import padlock.torch


def seconds_of(call, x):
    start = time.perf_counter()
    call(x)
    return time.perf_counter() - start


def rounds_of(ours, theirs, x, seconds):
    """Pairs of times, each with the other one first in turn."""
    pairs, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(pairs) < 3:
        if len(pairs) % 2:
            second, first = seconds_of(theirs, x), seconds_of(ours, x)
        else:
            first, second = seconds_of(ours, x), seconds_of(theirs, x)
        pairs.append((first, second))
    return pairs


def measured(name, arguments):
    torch.manual_seed(0)
    torch._dynamo.reset()
    padlock.torch.forget()
    options = {"strict_img_size": False} if name.startswith("swin") else {}
    model = timm.create_model(name, pretrained=False, num_classes=10, **options).eval()
    x = torch.randn(arguments.batch, 3, arguments.size, arguments.size)
    ours, theirs = (torch.compile(model, backend=backend, dynamic=False) for backend in ("padlock", "inductor"))
    ours(x), theirs(x), ours(x), theirs(x)
    pairs = rounds_of(ours, theirs, x, arguments.seconds)
    low, middle, high = statistics.quantiles((b / a for a, b in pairs), n=4)
    taken = [one for one in padlock.torch.decisions() if one.taken]
    about = {"model": name, "batch": arguments.batch, "size": arguments.size, "rounds": len(pairs), "clusters": len(taken)}
    times = {"padlock_ms": 1e3 * min(a for a, _ in pairs), "inductor_ms": 1e3 * min(b for _, b in pairs)}
    return {**about, **times, "ratio": middle, "quartiles": [low, high]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    padlock.configure(threads=1)
    with torch.no_grad():
        for name in arguments.models:
            print(json.dumps(measured(name, arguments)), flush=True)


if __name__ == "__main__":
    main()
