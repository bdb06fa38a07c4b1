"""Times what torch.compile makes with backend="padlock", beside eager mode and Inductor: milliseconds of a call in the fastest row
of calls, a line of JSON each. Of a pad between products also what these alone take, into memory that is there, which is the bound
for a pad that costs nothing, and what they take with a copy of as many bytes as the pad reads between them: no back end whose pad is
a kernel of its own is much faster than that.

    PYTHONPATH=build/release/python python bench/python/torch_backend.py [--threads=N] [--device=cuda] [--seconds=N] [CASE ...]

Cases are numbers, from 0; without one, all are measured. On a GPU there are larger ones, and both back ends once more with calls
that are replayed as CUDA graphs (mode="reduce-overhead").
"""

import argparse
import json
import time

import torch

import padlock.torch

ROWS = ((256, 16, 8), (1024, 16, 8), (4096, 16, 8), (16384, 16, 8), (256, 4, 1), (1024, 4, 1), (4096, 4, 4), (4096, 1, 1))
CPU_ROWS, LARGE_ROWS = ((8192, 4, 4), (16384, 1, 1)), ((65536, 16, 8), (262144, 16, 8))


def window(x):
    """Windows of 7 * 7 pixels of images padded to whole ones."""
    padded = torch.nn.functional.pad(x, (0, 0, 0, -x.shape[2] % 7, 0, -x.shape[1] % 7))
    n, h, w, c = padded.shape
    return padded.view(n, h // 7, 7, w // 7, 7, c).transpose(2, 3).reshape(-1, 7, 7, c)


def between(x, a, b):
    """A pad and relu between two products."""
    return torch.relu(torch.nn.functional.pad(x @ a, (3, 5))) @ b


def cases(device):
    def random(*shape):
        return torch.randn(*shape, device=device)

    for images in (8, 64)[: 1 + (device != "cpu")]:
        yield f"window partition, {images} images", window, (random(images, 61, 57, 96),)
    for rows, inner, last in ROWS + (LARGE_ROWS if device != "cpu" else CPU_ROWS):
        name = f"pad and relu between products, {rows} rows, {inner} and {last} columns"
        yield name, between, (random(rows, inner), random(inner, 1016), random(1024, last))


def seconds_of(function, device):
    """One of eight calls in a row, as a call alone depends on what ran before it; on a GPU one of twenty, as what is there waits for
    what was asked before it."""
    calls = 20 if device != "cpu" else 8
    start = time.perf_counter()
    for _ in range(calls):
        function()
    if device != "cpu":
        torch.cuda.synchronize()
    return (time.perf_counter() - start) / calls


def fastest(functions, device, seconds):
    """The fastest call of each, which take turns."""
    least, end = {name: float("inf") for name in functions}, time.perf_counter() + seconds * len(functions)
    while time.perf_counter() < end:
        for name, function in functions.items():
            least[name] = min(least[name], seconds_of(function, device))
    return least


def bounds(x, a, b):
    """The two products of `between` alone, and with a copy of what is between them, all into memory that is there."""
    first, padded = x @ a, torch.zeros(len(x), len(b), device=x.device)
    last, moved = torch.empty(len(x), b.shape[1], device=x.device), padded.view(-1)[: first.numel()]

    def alone():
        torch.mm(x, a, out=first)
        torch.mm(padded, b, out=last)

    def with_a_copy():
        torch.mm(x, a, out=first)
        moved.copy_(first.view(-1))
        torch.mm(padded, b, out=last)

    return {"products alone": alone, "products and a copy": with_a_copy}


def compiled(function, device):
    """The function as it is, and by each back end."""
    yield "eager", function
    for backend in ("inductor", "padlock"):
        yield backend, torch.compile(function, backend=backend, dynamic=True)
    for backend in ("inductor", "padlock") if device != "cpu" else ():
        yield f"{backend}, replayed", torch.compile(function, backend=backend, dynamic=True, mode="reduce-overhead")


def said(name, threads, took):
    """A line of the results: with products, also what a pad and relu that cost nothing, or a copy, would bring."""
    times = {backend: round(seconds * 1e3, 4) for backend, seconds in took.items()}
    line = {"case": name, "threads": threads, "ms": times, "taken": padlock.torch.decisions()[-1].taken}
    line["of inductor"] = round(took["inductor"] / took["padlock"], 3)
    for bound, words in (("products and a copy", "at most"), ("products alone", "at most, if it cost nothing")):
        if bound in took:
            line[words] = round(took["inductor"] / took[bound], 3)
    if "padlock, replayed" in took:
        line["of inductor, replayed"] = round(took["inductor, replayed"] / took["padlock, replayed"], 3)
    return line


def measured(name, function, inputs, arguments):
    torch._dynamo.reset()
    calls = {backend: lambda one=one: one(*inputs) for backend, one in compiled(function, arguments.device)}
    if function is between:
        calls |= bounds(*inputs)
    want = function(*inputs)
    for backend, call in list(calls.items()):
        made = [call() for _ in range(3)][-1]
        if made is not None and not torch.allclose(made, want, rtol=1e-3, atol=1e-2):
            raise ValueError(f"{name}: {backend} has another result than eager mode")
    return said(name, arguments.threads, fastest(calls, arguments.device, arguments.seconds))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--seconds", type=float, default=2, help="for each column of a case")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    padlock.configure(threads=arguments.threads)
    with torch.no_grad():
        table = list(cases(arguments.device))
        for i in arguments.cases or range(len(table)):
            print(json.dumps(measured(*table[i], arguments)), flush=True)


if __name__ == "__main__":
    main()
