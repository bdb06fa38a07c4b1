#!/usr/bin/env python3
"""Runs a build folder's tests through CTest and closes with the number of test cases, not of test programs.

usage: run_tests.py BUILD_DIR [--jobs N] [-R REGEX] [-E REGEX]
"""

import argparse
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

from test_counts import Counts, count_program

SLOWEST = 10  # programs that are listed with their times

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SKIPPED = re.compile(r"^(?:skipped \d+: .*|dev: pip cannot install .*|.*1 skipped: built without .*)$", re.MULTILINE)


def outcome_of(case):
    """CTest's "notrun" is a skip only where the test itself asked for it; else its program or a fixture is missing."""
    status, skipped = case.get("status"), case.find("skipped")
    asked = skipped is not None and skipped.get("message", "").startswith("SKIP_")
    if status == "run":
        return "passed"
    return "skipped" if status == "disabled" or asked else "failed"


def run_ctest(arguments, report):
    command = ["ctest", "--test-dir", arguments.build_dir, "--output-on-failure", "--no-tests=error"]
    command += ["--parallel", str(arguments.jobs), "--output-junit", str(report)]
    # Keep the end of long outputs: the summary stands there.
    command += ["--test-output-size-passed", "1000000", "--test-output-size-failed", "1000000"]
    command += ["--test-output-truncation", "head"]
    if arguments.regex:
        command += ["--tests-regex", arguments.regex]
    if arguments.exclude:
        command += ["--exclude-regex", arguments.exclude]
    return subprocess.run(command, check=False).returncode


def cases_of(report):
    """The programs of CTest's report, as elements."""
    text = _NOT_XML.sub("?", report.read_text(encoding="utf-8", errors="replace"))
    return list(xml.etree.ElementTree.fromstring(text).iter("testcase"))


def slowest(cases):
    """Lines with the seconds and the names of the programs that took longest, below a line that says so."""
    times = sorted(((float(case.get("time") or 0), case.get("name")) for case in cases), reverse=True)
    return ["The slowest test programs:"] + [f"{seconds:8.1f} s  {name}" for seconds, name in times[:SLOWEST]]


def count_cases_of(cases):
    """The number of test cases, after each skip was printed with its reason."""
    total = Counts()
    for case in cases:
        output, outcome = case.findtext("system-out") or "", outcome_of(case)
        for line in _SKIPPED.findall(output):
            print(f"{case.get('name')}: {line}")
        total += count_program(output, outcome)
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build_dir")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("-R", dest="regex", help="only the test programs that match")
    parser.add_argument("-E", dest="exclude", help="none of the test programs that match")
    arguments = parser.parse_args()

    report = pathlib.Path(arguments.build_dir).resolve() / "test_report.xml"
    report.unlink(missing_ok=True)
    status = run_ctest(arguments, report)
    cases = cases_of(report) if report.exists() else []
    total = count_cases_of(cases) if cases else Counts(failed=1)
    print(*slowest(cases), total, sep="\n")
    return 0 if status == 0 and total.failed == 0 and total.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
