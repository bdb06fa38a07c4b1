#!/usr/bin/env python3
"""Times `padlock run MODEL.onnx` as a command, beside a process in which Python runs ONNX Runtime on the same files.

Each process starts, loads the model of models.py that pads images to windows, reads x.npy, runs once with as many threads,
and then writes y.npy or does not. ONNX Runtime's process reads the file, or maps it, whichever is faster: both are told. The
processes take turns. A time is the median over the rounds, a ratio the median of the rounds' ratios. `run` is what each says
of the run alone: the results' memory is new in both.

usage: PYTHONPATH=build/release/python python3 bench/python/model_command.py [--padlock=FILE] [--json=FILE] [--rounds=N]
           [--commit=NAME] [--threads=N] [--images=N] [--window=N] [--folder=FOLDER]
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnxruntime
from models import window_pad

RUNTIME = """
import sys, time
started = time.perf_counter()
import numpy, onnxruntime
model, x, y, threads, mapped = sys.argv[1:]
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(threads)
options.log_severity_level = 3
session = onnxruntime.InferenceSession(model, options)
loaded = time.perf_counter()
given = numpy.load(x, mmap_mode="r" if mapped == "1" else None)
read = time.perf_counter()
made = session.run(None, {"x": given})[0]
ran = time.perf_counter()
print(made.ravel()[:8])
if y:
    numpy.save(y, made)
print(1e3 * (loaded - started), 1e3 * (read - loaded), 1e3 * (ran - read))
"""


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_of(command, threads):
    """Runs a process on as many cores as threads. Returns how long it takes from its start to its end, its processor time, and
    what it prints."""
    start, used = time.perf_counter(), processor_seconds()
    pinned = ["taskset", "--cpu-list", f"0-{threads - 1}", *command]
    ended = subprocess.run(pinned, capture_output=True, text=True, check=True)
    return time.perf_counter() - start, processor_seconds() - used, ended.stdout


def ours(padlock, model, x, y, threads):
    command = [padlock, "run", str(model), f"--input=x=@{x}", "--json=-", *([f"--output=y=@{y}"] if y else [])]
    took, used, said = run_of(command, threads)
    return took, used, 1e-3 * json.loads(said)["time_ms"]


def theirs(model, x, y, threads, mapped):
    command = [sys.executable, "-c", RUNTIME, str(model), str(x), str(y or ""), str(threads), str(int(mapped))]
    took, used, said = run_of(command, threads)
    return took, used, 1e-3 * float(said.split()[-1])


def compare(name, runs, rounds):
    for run in runs.values():
        run()
    times = {key: [] for key in runs}
    for _ in range(rounds):
        for key, run in runs.items():
            times[key].append(run())
    row = {"name": name}
    for key, values in times.items():
        for part, what in enumerate(("ms", "processor_ms", "run_ms")):
            row[f"{key}_{what}"] = 1e3 * statistics.median(value[part] for value in values)
    best = min((key for key in runs if key != "padlock"), key=lambda key: row[f"{key}_ms"])
    for part, what in enumerate(("ratio", "processor_ratio", "run_ratio")):
        row[what] = statistics.median(their[part] / our[part] for their, our in zip(times[best], times["padlock"]))
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--padlock", default="build/release/bin/padlock")
    parser.add_argument("--json")
    parser.add_argument("--commit", default="")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--window", type=int, default=12)
    parser.add_argument("--folder", help="where the arrays lie; memory by default")
    arguments = parser.parse_args()
    about = {"commit": arguments.commit, "onnxruntime": onnxruntime.__version__, "load": os.getloadavg()[0]}
    case = f"{arguments.images}x224x224x96, window {arguments.window}, {arguments.threads} threads"
    rows = []
    with tempfile.TemporaryDirectory(dir=arguments.folder or "/dev/shm") as folder:
        model, x, y, z = (pathlib.Path(folder) / name for name in ("model.onnx", "x.npy", "y.npy", "z.npy"))
        model.write_bytes(window_pad(arguments.window).SerializeToString())
        shape = (arguments.images, 224, 224, 96)
        numpy.save(x, numpy.random.default_rng(1).standard_normal(shape, dtype="f4"))
        for name, our, their in ((f"{case}, not written", None, None), (f"{case}, written", y, z)):
            runs = {
                "padlock": lambda our=our: ours(arguments.padlock, model, x, our, arguments.threads),
                "onnxruntime": lambda their=their: theirs(model, x, their, arguments.threads, False),
                "onnxruntime_mapped": lambda their=their: theirs(model, x, their, arguments.threads, True),
            }
            rows.append({**compare(name, runs, arguments.rounds), **about})
            print(json.dumps(rows[-1]), flush=True)
        if y.read_bytes() != z.read_bytes():
            raise SystemExit("the results differ")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
