#!/usr/bin/env python3
"""Times models of timm with random weights under backend="padlock", beside Inductor: of each model how many times faster it is, by the
lower quartiles of calls' times in each pair of processes (which other work on the machine moves less than medians) and by the
median and the quartiles of rounds, a line of JSON each.

    PYTHONPATH=build/release/python python bench/python/timm_models.py NAME [...] [--size=N] [--batch=N] [--seconds=N]

Each compiled model has a process of its own, as of two in one process the one that is compiled first is some percent slower, whichever
it is; several pairs of processes, as where the memory of one lies is luck that lasts. In a round each process of a pair makes one call,
the other one first in turn. --backends=empty,inductor shows what the bench itself does: "empty" is Inductor behind a function
that does nothing else. --wait waits for a line of input when all is compiled, so that other work can be stopped.
A second run has what Inductor compiled in its cache. No process takes whole graphs from AOTAutograd's cache, as Padlock's cannot: one
that did is 1 to 2 % faster than one that traces, with the same code.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time


class Worker:
    """A process with one compiled model, which makes a call for each line that it is given and says how long it took."""

    def __init__(self, name, backend, arguments):
        sizes = [f"--size={arguments.size}", f"--batch={arguments.batch}"]
        command = [sys.executable, "-B", "-W", "ignore", __file__, name, f"--worker={backend}", *sizes]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self):
        self.process.stdin.write("call\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ready(self):
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def empty(model, inputs, **how):
    """Inductor behind a back end that does nothing else."""
    from torch._inductor.compile_fx import compile_fx

    return compile_fx(model, inputs)


def work(name, arguments):
    """What a worker does: compiles the model, says what was taken, then calls it whenever it is told to."""
    import timm
    import torch
    import torch._functorch.config

    import padlock.torch

    torch._functorch.config.enable_autograd_cache = False
    torch.set_num_threads(1)
    padlock.configure(threads=1)
    torch.manual_seed(0)
    options = {"strict_img_size": False} if name.startswith("swin") else {}
    model = timm.create_model(name, pretrained=False, num_classes=10, **options).eval()
    x = torch.randn(arguments.batch, 3, arguments.size, arguments.size)
    call = torch.compile(model, backend=empty if arguments.worker == "empty" else arguments.worker, dynamic=False)
    with torch.no_grad():
        for _ in range(3):
            call(x)
        print(json.dumps(sum(one.taken for one in padlock.torch.decisions())), flush=True)
        for _ in sys.stdin:
            start = time.perf_counter()
            call(x)
            print(json.dumps(time.perf_counter() - start), flush=True)


def rounds_of(pairs, seconds):
    """Of each pair of workers its rounds' pairs of times."""
    found, end = [[] for _ in pairs], time.perf_counter() + seconds
    while time.perf_counter() < end or len(found[0]) < 3:
        for times, (ours, theirs) in zip(found, pairs, strict=True):
            if len(times) % 2:
                second, first = theirs.ask(), ours.ask()
            else:
                first, second = ours.ask(), theirs.ask()
            times.append((first, second))
    return found


def measured(name, arguments):
    first, second = arguments.backends.split(",")
    pairs = []
    for i in range(arguments.pairs):  # the other one is started first in turn
        order = (first, second) if i % 2 == 0 else (second, first)
        made = {backend: Worker(name, backend, arguments) for backend in order}
        taken = {backend: worker.ready() for backend, worker in made.items()}
        pairs.append((made[first], made[second]))
    if arguments.wait:
        print(f"{name}: ready", file=sys.stderr, flush=True)
        sys.stdin.readline()
    found = rounds_of(pairs, arguments.seconds)
    for worker in (worker for pair in pairs for worker in pair):
        worker.end()
    ratios = [[b / a for a, b in times] for times in found]
    quick = [[statistics.quantiles(one, n=4)[0] for one in zip(*times, strict=True)] for times in found]
    low, middle, high = statistics.quantiles([one for each in ratios for one in each], n=4)
    about = {"model": name, "batch": arguments.batch, "size": arguments.size, "rounds": len(found[0]), "clusters": taken[first]}
    least = {f"{backend}_ms": 1e3 * min(pair[i] for times in found for pair in times) for i, backend in enumerate((first, second))}
    ratio = statistics.geometric_mean(b / a for a, b in quick)
    return {**about, **least, "ratio": ratio, "pairs": [b / a for a, b in quick], "median": middle, "quartiles": [low, high]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--backends", default="padlock,inductor")
    parser.add_argument("--wait", action="store_true")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    for name in arguments.models:
        if arguments.worker:
            work(name, arguments)
        else:
            print(json.dumps(measured(name, arguments)), flush=True)


if __name__ == "__main__":
    main()
