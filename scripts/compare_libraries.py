#!/usr/bin/env python3
"""Compares the kernels of two builds of libpadlock on the programs of bench/pairs.txt. Exits with 1 if the second is slower.

usage: compare_libraries.py PADLOCK_BENCH_PAIRS BEFORE.so AFTER.so

A ratio is the time with AFTER over the time with BEFORE: above 1 AFTER is slower. Programs for which both make the same
code, to the byte, are not timed and count as 1.
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "bench" / "pairs.txt"

# Where a process puts code and arrays is worth up to 8 % of a program's time, for the same code, and is the same all
# through the process: so several are asked.
PROCESSES = 5
# On two shared cores medians of five processes with the same code were off by up to 3 %, and the median of the eight
# programs by 0.3 %: what is beyond these limits is the change.
MOST_MEDIAN = 1.05
MOST_OF_A_PROGRAM = 1.15

_ROW = re.compile(r"^ *([\d.]+) +[\d.]+ +[\d.]+ +[\d.]+ +\d+ +[\d.]+ (?:same|new ) (\S+)$", re.MULTILINE)


def names_in(text):
    """The names of a list of programs."""
    lines = (line.strip() for line in text.splitlines())
    return [line.split(";")[0].strip() for line in lines if line and not line.startswith("#")]


def ratios_in(output):
    """Ratio by program, of those that padlock_bench_pairs has timed."""
    return {name: float(ratio) for ratio, name in _ROW.findall(output)}


def medians(names, processes):
    """The median of each program's ratios in all processes; 1 for a program that none has timed."""
    return {name: statistics.median([ratios[name] for ratios in processes if name in ratios] or [1.0]) for name in names}


def verdict(ratios):
    """What is too slow, one sentence each; nothing: all is well."""
    found = [f"{name} takes {ratio:.3f} times as long, more than {MOST_OF_A_PROGRAM}"
             for name, ratio in ratios.items() if ratio > MOST_OF_A_PROGRAM]
    median = statistics.median(ratios.values())
    if median > MOST_MEDIAN:
        found.append(f"the median is {median:.3f}, more than {MOST_MEDIAN}")
    return found


def run(bench, before, after, seed):
    """What one process prints. Ends this one where it fails, as with results that differ."""
    command = [bench, before, after, f"--programs={PROGRAMS}", "--rounds=101", "--budget-ms=2000", f"--seed={seed}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}{bench} failed")
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    for name in ("bench", "before", "after"):
        parser.add_argument(name)
    arguments = parser.parse_args()
    processes = [ratios_in(run(arguments.bench, arguments.before, arguments.after, seed)) for seed in range(1, PROCESSES + 1)]
    ratios = medians(names_in(PROGRAMS.read_text(encoding="utf-8")), processes)
    for name, ratio in ratios.items():
        each = " ".join(f"{one[name]:.3f}" for one in processes if name in one) or "the same code"
        print(f"{ratio:6.3f}  {name:<12} {each}")
    print(f"{statistics.median(ratios.values()):6.3f}  median")
    found = verdict(ratios)
    for sentence in found:
        print(f"too slow: {sentence}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
