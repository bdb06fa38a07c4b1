#!/usr/bin/env python3
"""Runs a build folder's fuzz programs one after another and closes with how many of them found nothing.

usage: run_fuzz.py BUILD_DIR [--seconds=N] [--seed=N] [--filter=REGEX]

The build lists its programs in fuzz_programs.txt (cmake/Testing.cmake says what they take).
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys

from test_counts import Counts


# The longest that a body may take for one input, under sanitizers (seconds_allowed in tests/fuzz).
LONGEST_INPUT = 180
SEEDS = 100  # some seconds of compiling


def libfuzzer_command(program, arguments, corpus):
    """libFuzzer begins from what the seeded twin makes, and keeps what it finds in `corpus` for the next run."""
    seeds, findings = corpus / "seeds", corpus / "findings"
    for folder in (corpus / "kept", seeds, findings):
        folder.mkdir(parents=True, exist_ok=True)
    twin = program.removesuffix("_libfuzzer")
    subprocess.run([twin, f"--write={seeds}", f"--inputs={SEEDS}", f"--seed={arguments.seed}"], check=True)
    limits = [f"-timeout={LONGEST_INPUT}", "-rss_limit_mb=4096", "-malloc_limit_mb=1024", "-print_final_stats=1"]
    times = [f"-max_total_time={arguments.seconds}", f"-seed={arguments.seed}"]
    return [program, *times, *limits, f"-artifact_prefix={findings}/", str(corpus / "kept"), str(seeds)]


def command_of(kind, program, arguments, corpus):
    if kind == "libfuzzer":
        return libfuzzer_command(program, arguments, corpus)
    return [program, f"--seconds={arguments.seconds}", f"--seed={arguments.seed}"]


def run_program(command, seconds):
    """Returns whether the program ended well. One that goes on long after its time hangs, which is a finding too."""
    print("fuzz:", " ".join(command), flush=True)
    try:
        return subprocess.run(command, timeout=2 * seconds + 2 * LONGEST_INPUT, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        print("fuzz: it hangs", flush=True)
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(1, 2**31))
    parser.add_argument("--filter", default="")
    arguments = parser.parse_args()

    total = Counts()
    for line in (arguments.build_dir / "fuzz_programs.txt").read_text().splitlines():
        kind, _, program = line.partition(" ")
        name = pathlib.Path(program).name
        if not program or not re.search(arguments.filter, name):
            continue
        command = command_of(kind, program, arguments, arguments.build_dir / "corpus" / name)
        found_nothing = run_program(command, arguments.seconds)
        total += Counts(passed=1) if found_nothing else Counts(failed=1)
    print(total)
    return 0 if total.passed > 0 and total.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
