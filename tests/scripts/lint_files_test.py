"""Tests which sources are linted: in repositories of a few commits."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import lint_files

BY_NOBODY = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]


class Repository(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, pathlib.Path.cwd())
        os.chdir(folder.name)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments):
        return subprocess.run(["git", *BY_NOBODY, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    def write(self, *names):
        for name in names:
            file = pathlib.Path(name)
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a", encoding="utf-8") as text:
                text.write("more\n")

    def commit(self, *names):
        self.write(*names)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "x")
        return self.git("rev-parse", "HEAD")

    def compiled(self, *names):
        pathlib.Path("build").mkdir(exist_ok=True)
        here = str(pathlib.Path.cwd())
        commands = [{"directory": f"{here}/build", "file": f"{here}/{name}"} for name in names]
        pathlib.Path("build/compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")
        pathlib.Path(".git/info/exclude").write_text("build/\n", encoding="utf-8")

    def run_with(self, *arguments):
        """What is printed and what is noted."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), \
                unittest.mock.patch.object(sys, "argv", ["lint_files.py", "build", *arguments]):
            lint_files.main()
        return out.getvalue().split(), err.getvalue()


class Files(Repository):
    def test_since_a_commit_are_those_that_differ_and_new_ones(self):
        self.compiled("ir/a.cpp", "ir/b.cpp", "ir/c.cpp", "tests/ir/t.cpp", "abi/z.cpp")
        first = self.commit("ir/a.cpp", "ir/b.cpp", "ir/gone.cpp", "README.md")
        second = self.commit("ir/b.cpp")
        self.write("tests/ir/t.cpp", "abi/z.cpp")
        pathlib.Path("ir/gone.cpp").unlink()
        self.assertEqual(self.run_with(f"--since={first}")[0], ["abi/z.cpp", "ir/b.cpp", "tests/ir/t.cpp"])
        self.assertEqual(self.run_with("--since=HEAD")[0], ["abi/z.cpp", "tests/ir/t.cpp"])
        self.assertIn(f"2 sources that changed since {second[:9]}\n", self.run_with("--since=HEAD")[1])
        self.assertEqual(self.run_with()[0], ["abi/z.cpp", "ir/a.cpp", "ir/b.cpp", "tests/ir/t.cpp"])

    def test_are_compared_with_where_the_branch_began(self):
        self.compiled("ir/a.cpp", "ir/b.cpp")
        self.commit("ir/a.cpp")
        self.git("checkout", "--quiet", "-b", "mine")
        self.commit("ir/b.cpp")
        self.git("checkout", "--quiet", "main")
        self.commit("ir/a.cpp")
        self.git("checkout", "--quiet", "mine")
        self.assertEqual(self.run_with("--since=main")[0], ["ir/b.cpp"])

    def test_a_header_stands_for_its_source(self):
        self.compiled("ir/a.cpp", "ir/b.cpp")
        self.commit("ir/a.cpp", "ir/a.h", "ir/b.cpp")
        self.commit("ir/a.h", "ir/alone.h", "ir/x.hpp")
        self.assertEqual(self.run_with("--since=HEAD~1"), (["ir/a.cpp"], unittest.mock.ANY))

    def test_what_is_not_compiled_is_left_out_and_named(self):
        self.compiled("ir/a.cpp")
        self.commit("ir/a.cpp", "python/core/module.cpp")
        sources, notes = self.run_with()
        self.assertEqual(sources, ["ir/a.cpp"])
        self.assertIn("lint: not linted, as build does not compile them: python/core/module.cpp\n", notes)

    def test_of_more_than_the_most_the_number_left_out_is_said(self):
        self.compiled("ir/a.cpp", "ir/b.cpp", "tests/a.cpp")
        self.commit("ir/a.cpp", "ir/b.cpp", "tests/a.cpp")
        sources, notes = self.run_with("--most=2")
        self.assertEqual(sources, ["ir/a.cpp", "ir/b.cpp"])
        self.assertEqual(notes, "lint: 2 sources\nlint: 1 more are left out; ./dev lint looks at all\n")
        self.assertNotIn("left out", self.run_with("--most=3")[1])

    def test_a_commit_that_is_none_is_refused(self):
        self.compiled()
        self.commit("ir/a.cpp")
        with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()) as err:
            with unittest.mock.patch.object(sys, "argv", ["lint_files.py", "build", "--since=nowhere"]):
                lint_files.main()
        self.assertEqual(ended.exception.code, 2)
        self.assertIn("expected a commit that HEAD shares history with, found nowhere", err.getvalue())


class Branch(Repository):
    def test_is_compared_with_the_main_branch(self):
        main = self.commit("ir/a.cpp")
        self.git("update-ref", "refs/remotes/origin/main", main)
        self.commit("ir/b.cpp")
        self.commit("ir/c.cpp")
        self.assertEqual(lint_files.base_of_branch(), main)

    def test_is_compared_with_the_commit_before_on_the_main_branch_or_without_one(self):
        first = self.commit("ir/a.cpp")
        second = self.commit("ir/b.cpp")
        self.assertEqual(lint_files.base_of_branch(), first)
        self.git("update-ref", "refs/remotes/origin/main", second)
        self.assertEqual(lint_files.base_of_branch(), first)

    def test_with_nothing_to_compare_with_nothing_is_linted_and_that_is_said(self):
        self.compiled("ir/a.cpp")
        self.commit("ir/a.cpp")
        self.assertEqual(self.run_with("--branch"), (
            [], "lint: there is neither origin/main nor a commit before HEAD to compare with: nothing is linted\n"))


if __name__ == "__main__":
    unittest.main()
