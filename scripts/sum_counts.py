#!/usr/bin/env python3
"""Adds up logs that close with "N passed, N failed, N skipped" and prints the sum in the same form.

usage: sum_counts.py [--failed-steps=N] LOG ...

A step that failed without counting a failure (a build that broke, a format check) would leave the sum clean: where
steps failed and no log says so, each counts as one failure.
"""

import argparse
import pathlib
import re
import sys

from test_counts import Counts

_CLOSING = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


def counts_of(text):
    """The counts on the last line, or none at all."""
    lines = text.strip().splitlines()
    match = _CLOSING.match(lines[-1]) if lines else None
    return Counts(*map(int, match.groups())) if match else Counts()


def total(texts, failed_steps):
    counts = sum((counts_of(text) for text in texts), Counts())
    counts.failed = max(counts.failed, failed_steps)
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--failed-steps", type=int, default=0)
    parser.add_argument("logs", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    print(total([log.read_text(errors="replace") for log in arguments.logs], arguments.failed_steps))


if __name__ == "__main__":
    sys.exit(main())
