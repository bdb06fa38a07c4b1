"""Counts test cases in what test programs print: doctest, lit and Python's unittest each close with a summary. So does
padlock_conformance, whose last line counts what runs inside it too."""

import dataclasses
import re


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_DOCTEST = re.compile(
    r"^\[doctest\] test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|\s*(\d+) skipped", re.MULTILINE
)
_OWN = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped\s*\Z", re.MULTILINE)
_UNITTEST = re.compile(r"^Ran (\d+) tests? in .*\n\s*\n?(OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)
_LIT_LINE = re.compile(r"^  ([A-Z][A-Za-z ]+?)\s*:\s*(\d+)(?: \([\d.]+%\))?$", re.MULTILINE)
_LIT_PASSED = {"Passed", "Passed With Retry", "Expectedly Failed"}
_LIT_FAILED = {"Failed", "Unresolved", "Timed Out", "Unexpectedly Passed"}
_LIT_SKIPPED = {"Unsupported", "Skipped", "Excluded"}


def _from_unittest(match):
    notes = dict(re.findall(r"([a-z ]+)=(\d+)", match[3] or ""))
    notes = {key.strip(): int(value) for key, value in notes.items()}
    failed = notes.get("failures", 0) + notes.get("errors", 0) + notes.get("unexpected successes", 0)
    skipped = notes.get("skipped", 0)
    return Counts(int(match[1]) - failed - skipped, failed, skipped)


def _from_lit(output):
    counts = Counts()
    for name, number in _LIT_LINE.findall(output):
        counts.passed += int(number) if name in _LIT_PASSED else 0
        counts.failed += int(number) if name in _LIT_FAILED else 0
        counts.skipped += int(number) if name in _LIT_SKIPPED else 0
    return counts


def count_cases(output):
    """The sum of all summaries in `output`, or None where there is none."""
    output = _COLOUR.sub("", output)
    if own := _OWN.search(output):
        return Counts(*map(int, own.groups()))
    found = [Counts(*map(int, match.groups())) for match in _DOCTEST.finditer(output)]
    found += [_from_unittest(match) for match in _UNITTEST.finditer(output)]
    if "Total Discovered Tests:" in output:
        found.append(_from_lit(output))
    return sum(found, Counts()) if found else None


def count_program(output, outcome):
    """Counts one test program. `outcome` is "passed", "failed" or "skipped", as its exit status says.

    A program without a summary is one case. One that failed although its summary has no failure (it crashed after
    it, or a sanitizer spoke at exit) has one failure more."""
    counts = count_cases(output)
    if counts is None or outcome == "skipped":
        return Counts(**{outcome: 1})
    if outcome == "failed" and counts.failed == 0:
        counts.failed = 1
    return counts
