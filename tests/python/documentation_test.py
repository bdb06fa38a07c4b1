"""Runs what the documentation shows of Python, block by block, and the examples in Python."""

import doctest
import os
import pathlib
import re
import unittest

from python_testing import ROOT, has, main, needs, run_python

# What the page on Python writes.
WRITTEN = (pathlib.Path("/tmp/pad_relu.pack"), pathlib.Path("/tmp/padlock_python.db"))


def blocks(page):
    """(first line, language, text) of each block of Python."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for match in re.finditer(r"^```(python|pycon)\n(.*?)^```$", text, re.M | re.S):
        yield text.count("\n", 0, match.start()) + 2, match[1], match[2]


class Checker(doctest.OutputChecker):
    """Compares what is printed, but for what each torch calls the sizes of a trace (s77, s27): they are numbered as they come."""

    def check_output(self, want, got, optionflags):
        return super().check_output(self.numbered(want), self.numbered(got), optionflags)

    def numbered(self, text):
        names = {}
        return re.sub(r"\bs\d+\b", lambda match: names.setdefault(match[0], f"s{len(names)}"), text)


class Documentation(unittest.TestCase):
    def run_page(self, page, at_least):
        for file in WRITTEN:
            file.unlink(missing_ok=True)
            self.addCleanup(file.unlink, missing_ok=True)
        self.addCleanup(os.chdir, pathlib.Path.cwd())
        os.chdir(ROOT)  # where commands of a page run, too
        names = {}  # a page defines what it uses
        count = 0
        for line, language, text in blocks(page):
            with self.subTest(page=page, line=line):
                count += 1
                lacking = [name for name in ("torch", "jax") if re.search(rf"import {name}\b", text) and not has(name)]
                if lacking:
                    self.skipTest(f"needs {lacking[0]}: PADLOCK_BENCH_PYTHON names a Python that has it")
                if language == "python":
                    exec(compile(text, f"{page}:{line}", "exec"), names)
                    continue
                test = doctest.DocTestParser().get_doctest(text, names, page, page, line)
                said = []
                runner = doctest.DocTestRunner(Checker(), optionflags=doctest.ELLIPSIS)
                runner.run(test, out=said.append, clear_globs=False)
                names = test.globs
                self.assertEqual(runner.failures, 0, "".join(said))
        self.assertGreaterEqual(count, at_least)

    @needs("numpy")
    def test_python_page(self):
        self.run_page("docs/python.md", 8)

    @needs("numpy")
    def test_start_page(self):
        self.run_page("docs/start.md", 3)

    @needs("numpy")
    def test_programs_page(self):
        self.run_page("docs/programs.md", 6)

    @needs("numpy")
    def test_onnx_page(self):
        self.run_page("docs/onnx.md", 1)

    @needs("torch", "numpy")
    def test_pytorch_pages(self):
        self.run_page("docs/pytorch.md", 7)
        self.run_page("docs/performance-pytorch.md", 1)

    @needs("torch", "numpy")
    def test_rows_page(self):
        self.run_page("docs/rows.md", 1)

    def test_no_page_is_left_out(self):
        pages = {"README.md", *(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))}
        source = pathlib.Path(__file__).read_text(encoding="utf-8")
        self.assertEqual([page for page in sorted(pages) if any(blocks(page)) and f'"{page}"' not in source], [])

    @needs("torch", "numpy")
    def test_pytorch_examples(self):
        done = run_python((ROOT / "examples/pytorch/deterministic_training.py").read_text(encoding="utf-8"), timeout=240)
        self.assertIn("cpu: two runs are the same, bit for bit", done.stdout, done.stderr)
        self.assertNotIn("DIFFERENT", done.stdout)
        done = run_python((ROOT / "examples/pytorch/pytorch_195582.py").read_text(encoding="utf-8"), timeout=240)
        self.assertRegex(done.stdout, r"(?m)^padlock: off by 0, and by 0 in a second run; eager's largest is 0.606$", done.stderr)
        print(done.stdout.splitlines()[0])

    @needs("numpy")
    def test_readme(self):
        self.run_page("README.md", 4)


if __name__ == "__main__":
    main()
