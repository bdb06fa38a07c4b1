"""Times what torch.compile makes with backend="padlock", beside eager mode and Inductor: milliseconds of the fastest call, a line of JSON
each. Of a pad between products also what these alone take, into memory that is there: no back end is faster than that.

    PYTHONPATH=build/release/python python bench/python/torch_backend.py [threads [case ...]]

Cases are numbers, from 0; without one, all are measured.
"""

import json
import sys
import time

import torch

import padlock.torch


def window(x):
    """Windows of 7 * 7 pixels of images padded to whole ones."""
    padded = torch.nn.functional.pad(x, (0, 0, 0, -x.shape[2] % 7, 0, -x.shape[1] % 7))
    n, h, w, c = padded.shape
    return padded.view(n, h // 7, 7, w // 7, 7, c).transpose(2, 3).reshape(-1, 7, 7, c)


def between(x, a, b):
    """A pad and relu between two products."""
    return torch.relu(torch.nn.functional.pad(x @ a, (3, 5))) @ b


def cases():
    yield "window partition", window, (torch.randn(8, 61, 57, 96),)
    for rows, inner, last in ((256, 16, 8), (1024, 16, 8), (4096, 16, 8), (256, 4, 1), (1024, 4, 1), (4096, 4, 4), (4096, 1, 1)):
        name = f"pad and relu between products, {rows} rows, {inner} and {last} columns"
        yield name, between, (torch.randn(rows, inner), torch.randn(inner, 1016), torch.randn(1024, last))


def fastest(functions, seconds=2.0):
    """The fastest call of each, which take turns."""
    least, end = {name: float("inf") for name in functions}, time.perf_counter() + seconds * len(functions)
    while time.perf_counter() < end:
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            least[name] = min(least[name], time.perf_counter() - start)
    return least


def products(x, a, b):
    """The two products of `between` alone."""
    first, padded, last = x @ a, torch.zeros(len(x), len(b)), torch.empty(len(x), b.shape[1])
    return lambda: (torch.mm(x, a, out=first), torch.mm(padded, b, out=last))


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    torch.set_num_threads(threads)
    padlock.configure(threads=threads)
    with torch.no_grad():
        wanted = [int(one) for one in sys.argv[2:]]
        for i, (name, function, inputs) in enumerate(cases()):
            if wanted and i not in wanted:
                continue
            run = {"eager": function}
            run |= {backend: torch.compile(function, backend=backend, dynamic=True) for backend in ("inductor", "padlock")}
            calls = {backend: lambda one=one: one(*inputs) for backend, one in run.items()}
            if function is between:
                calls["products alone"] = products(*inputs)
            for call in calls.values():
                call()
            print(json.dumps(said(name, threads, fastest(calls))), flush=True)


def said(name, threads, took):
    """A line of the results: with products, also what a pad and relu that cost nothing would bring."""
    times = {backend: round(seconds * 1e3, 4) for backend, seconds in took.items()}
    line = {"case": name, "threads": threads, "ms": times, "taken": padlock.torch.decisions()[-1].taken}
    line["of inductor"] = round(took["inductor"] / took["padlock"], 3)
    if "products alone" in took:
        line["at most"] = round(took["inductor"] / took["products alone"], 3)
    return line


if __name__ == "__main__":
    main()
