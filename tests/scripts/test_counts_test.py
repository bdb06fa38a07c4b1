import pathlib
import tempfile
import unittest

import sum_counts
from run_tests import cases_of, count_cases_of, slowest
from test_counts import Counts, count_cases, count_program

DOCTEST = """[doctest] doctest version is "2.4.9"
===============================================================================
[doctest] test cases: 12 | 9 passed | 2 failed | 1 skipped
[doctest] assertions: 90 | 88 passed | 2 failed |
[doctest] Status: FAILURE!
"""
LIT = """
Testing Time: 0.02s

Total Discovered Tests: 7
  Unsupported        : 1 (14.29%)
  Passed             : 3 (42.86%)
  Expectedly Failed  : 1 (14.29%)
  Failed             : 1 (14.29%)
  Unexpectedly Passed: 1 (14.29%)
"""
REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite>
  <testcase name="a" time="0.4" status="run"><system-out>[doctest] test cases: 3 | 3 passed | 0 failed | 0 skipped</system-out></testcase>
  <testcase name="b" time="120.34" status="fail"><failure message=""/><system-out>crash \x01</system-out></testcase>
  <testcase name="c" time="0" status="notrun"><skipped message="Unable to find executable"/></testcase>
  <testcase name="d" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
  <testcase name="e" status="disabled"/>
</testsuite>
"""


def cases_in(text):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        report.write_text(text)
        return cases_of(report)


class TestCounts(unittest.TestCase):
    def test_doctest(self):
        self.assertEqual(count_cases(DOCTEST), Counts(9, 2, 1))

    def test_colours_do_not_matter(self):
        self.assertEqual(
            count_cases("\x1b[0;36m[doctest] \x1b[0mtest cases:  1 | \x1b[0;32m1 passed\x1b[0m | 0 failed | 0 skipped"),
            Counts(1, 0, 0),
        )

    def test_lit(self):
        self.assertEqual(count_cases(LIT), Counts(4, 2, 1))

    def test_unittest(self):
        self.assertEqual(count_cases("Ran 5 tests in 0.002s\n\nOK\n"), Counts(5, 0, 0))
        self.assertEqual(count_cases("Ran 5 tests in 1s\n\nOK (skipped=2)\n"), Counts(3, 0, 2))
        self.assertEqual(
            count_cases("Ran 9 tests in 1s\n\nFAILED (failures=1, errors=2, skipped=1)\n"), Counts(5, 3, 1)
        )

    def test_sums_several_summaries(self):
        self.assertEqual(count_cases(DOCTEST + LIT), Counts(13, 4, 2))

    def test_a_closing_line_counts_what_came_before_it(self):
        self.assertEqual(count_cases(DOCTEST + "240 passed, 1 failed, 2 skipped\n"), Counts(240, 1, 2))
        self.assertEqual(count_cases("240 passed, 1 failed, 2 skipped\n" + DOCTEST), Counts(9, 2, 1))

    def test_no_summary(self):
        self.assertIsNone(count_cases("Passed: 3\n"))
        self.assertEqual(count_program("", "passed"), Counts(1, 0, 0))
        self.assertEqual(count_program("", "failed"), Counts(0, 1, 0))

    def test_a_crash_after_a_good_summary_is_a_failure(self):
        self.assertEqual(count_program("Ran 5 tests in 1s\n\nOK\n", "failed"), Counts(5, 1, 0))

    def test_report(self):
        self.assertEqual(count_cases_of(cases_in(REPORT)), Counts(3, 2, 2))

    def test_the_slowest_programs_are_listed_with_their_seconds(self):
        self.assertEqual(slowest(cases_in(REPORT))[:3], ["The slowest test programs:", "   120.3 s  b", "     0.4 s  a"])
        many = "".join(f'<testcase name="t{i}" time="{i}"/>' for i in range(1, 31))
        self.assertEqual(slowest(cases_in(f"<testsuite>{many}</testsuite>"))[1:],
                         [f"{i:8.1f} s  t{i}" for i in range(30, 20, -1)])
        self.assertEqual(slowest([]), ["The slowest test programs:"])

    def test_sum_of_logs(self):
        logs = ["noise\n3 passed, 0 failed, 1 skipped\n", "4 passed, 2 failed, 0 skipped", "broken build", ""]
        self.assertEqual(sum_counts.total(logs, 0), Counts(7, 2, 1))
        self.assertEqual(sum_counts.total(logs, 3), Counts(7, 3, 1))
        self.assertEqual(sum_counts.counts_of("1 passed, 0 failed, 0 skipped\nlast"), Counts())

    def test_closing_line(self):
        self.assertEqual(str(Counts(3, 2, 1)), "3 passed, 2 failed, 1 skipped")


if __name__ == "__main__":
    unittest.main()
