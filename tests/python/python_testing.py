"""Shared by the tests of the Python package."""

import collections
import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = (ROOT / "examples" / "pad_relu.pad").read_text(encoding="utf-8")


def has(module):
    return importlib.util.find_spec(module) is not None


def needs(*modules):
    """Skips a test or a class, and says which package it lacks."""
    lacking = [module for module in modules if not has(module)]
    return unittest.skipIf(lacking, f"needs {', '.join(lacking)}: PADLOCK_BENCH_PYTHON names a Python that has them")


def run_python(code, timeout=120, options=(), **environment):
    """Runs a program in a process of its own, without the variables that are None. Returns it, with its output as text."""
    return subprocess.run(
        [sys.executable, *options, "-c", code],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={name: value for name, value in {**os.environ, **environment}.items() if value is not None},
    )


def pad_index(o, n, low, mode):
    """Finds where element `o` of a padded axis comes from, by walking one step at a time; None: the fill. Shares nothing with
    the compiler's formulas."""
    i = o - low
    if mode == "constant":
        return i if 0 <= i < n else None
    if mode == "edge":
        while i < 0:
            i += 1
        while i >= n:
            i -= 1
        return i
    if mode == "wrap":
        while i < 0:
            i += n
        while i >= n:
            i -= n
        return i
    if mode == "reflect" and n == 1:
        return 0
    repeat = 1 if mode == "symmetric" else 0
    while not 0 <= i < n:
        i = -i - repeat if i < 0 else 2 * (n - 1) - i + repeat
    return i


def pad_list(values, low, high, mode, fill=0):
    """The same of a list of one axis."""
    chosen = [pad_index(o, len(values), low, mode) for o in range(low + len(values) + high)]
    return [fill if i is None else values[i] for i in chosen]


def main():
    """Runs the module's tests. Says at the end why some were skipped, each reason once, with how many it skipped."""
    ran = unittest.main(argv=sys.argv, exit=False).result
    for reason, count in sorted(collections.Counter(reason for _, reason in ran.skipped).items()):
        print(f"skipped {count}: {reason}", flush=True)
    sys.exit(not ran.wasSuccessful())
