"""Tests ./dev pairs up to where it builds, and what is said of the figures of padlock_bench_pairs."""

import contextlib
import io
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import compare_libraries

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = compare_libraries.names_in(compare_libraries.PROGRAMS.read_text(encoding="utf-8"))
TWO_ROWS = """ after/before, interval; before again; rounds; ms after; code; row
 1.300  0.996  1.009  1.000   101    0.00670 new  long_rows
 0.978  0.971  0.985  0.997   101    0.00891 same image
2 rows timed, geometric mean 1.1; of all, 7 have the same code to the byte
"""


class Figures(unittest.TestCase):
    def test_of_a_run_are_read_by_program(self):
        self.assertEqual(compare_libraries.ratios_in(TWO_ROWS), {"long_rows": 1.3, "image": 0.978})

    def test_of_several_processes_are_their_median_and_1_for_the_same_code(self):
        self.assertEqual(compare_libraries.medians(["a", "b"], [{"a": 1.2}, {"a": 0.9}, {"a": 1.0}]), {"a": 1.0, "b": 1.0})

    def test_are_those_of_eight_programs(self):
        self.assertEqual(len(NAMES), 8)
        self.assertEqual(compare_libraries.names_in("# x\n\n a ; N=1 ; p\nb;;q"), ["a", "b"])

    def test_within_the_limits_are_well(self):
        self.assertEqual(compare_libraries.verdict({"a": 1.15, "b": 1.05, "c": 0.5}), [])

    def test_beyond_a_limit_are_named(self):
        self.assertEqual(compare_libraries.verdict({"a": 1.151, "b": 1, "c": 1}),
                         ["a takes 1.151 times as long, more than 1.15"])
        self.assertEqual(compare_libraries.verdict({"a": 1.06, "b": 1.06, "c": 0.5}),
                         ["the median is 1.060, more than 1.05"])


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compare(self, script):
        """The exit code and what is printed, with a script in the place of padlock_bench_pairs."""
        bench = self.folder / "bench"
        bench.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        bench.chmod(bench.stat().st_mode | stat.S_IXUSR)
        out, err = io.StringIO(), io.StringIO()
        with self.assertRaises(SystemExit) as ended, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), \
                unittest.mock.patch.object(sys, "argv", ["compare_libraries.py", str(bench), "old.so", "new.so"]):
            compare_libraries.main()
        return ended.exception.code, out.getvalue(), err.getvalue()

    def test_prints_each_ratio_and_the_median_and_fails_where_one_is_too_slow(self):
        code, out, err = self.compare(f"cat <<'TEXT'\n{TWO_ROWS}TEXT")
        self.assertEqual(code, 1)
        self.assertEqual(len(out.splitlines()), 9)
        self.assertIn(" 1.300  long_rows    1.300 1.300 1.300 1.300 1.300\n", out)
        self.assertIn(" 1.000  cast         the same code\n", out)
        self.assertTrue(out.endswith(" 1.000  median\n"), out)
        self.assertEqual(err, "too slow: long_rows takes 1.300 times as long, more than 1.15\n")

    def test_asks_each_process_for_the_eight_programs(self):
        code, _, _ = self.compare(f'echo "$@" >> {self.folder}/asked')
        asked = (self.folder / "asked").read_text(encoding="utf-8").splitlines()
        self.assertEqual((code, len(asked)), (0, compare_libraries.PROCESSES))
        self.assertIn(f"old.so new.so --programs={compare_libraries.PROGRAMS} ", asked[0])
        self.assertEqual(len(set(asked)), len(asked))

    def test_ends_with_the_message_of_a_bench_that_fails(self):
        code, _, _ = self.compare("echo the results differ >&2; exit 1")
        self.assertIn("the results differ\n", code)

    def dev(self, *arguments):
        """What dev says in a folder that has nothing else, so that nothing can be built."""
        shutil.copy(ROOT / "dev", self.folder / "dev")
        done = subprocess.run([self.folder / "dev", "pairs", *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def test_says_how_to_keep_a_library_where_there_is_none(self):
        said = "dev: expected a library to compare with, found no {}. ./dev pairs --keep keeps one, before the change: " \
               "on the commit to compare with\n"
        self.assertEqual(self.dev(), (2, said.format("build/kept/libpadlock.so")))
        self.assertEqual(self.dev("gone.so"), (2, said.format("gone.so")))

    def test_refuses_other_arguments(self):
        self.assertEqual(self.dev("--kept"), (2, "dev: pairs takes one library or --keep, found --kept\n"))
        self.assertEqual(self.dev("a.so", "b.so"), (2, "dev: pairs takes one library or --keep, found a.so b.so\n"))


if __name__ == "__main__":
    unittest.main()
