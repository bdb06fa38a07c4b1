"""Sources that must not compile do not, each line for the reason that stands above it; the control beside them does.

Usage: must_not_compile.py FOLDER g++|clang++ COMPILER FLAG..."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

FOLDER, KIND, *COMMAND = pathlib.Path(sys.argv[1]), *sys.argv[2:]


def compile_source(path):
    command = [*COMMAND, "-fsyntax-only", "-fdiagnostics-color=never", "-x", "c++", str(path)]
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def errors_by_line(path, diagnostics):
    """Each error with its notes, by its line of that file; 0 for an error elsewhere."""
    errors = {}
    line = None
    for text in diagnostics.splitlines():
        if error := re.match(r"(.*?):(\d+):(?:\d+:)? (?:fatal )?error: ", text):
            line = int(error[2]) if error[1] == str(path) else 0
        elif "error:" in text and not text.startswith(" "):
            line = 0
        if line is not None:
            errors[line] = errors.get(line, "") + text + "\n"
    return errors


def expected_errors(path):
    """Reads what each line must be refused for from the comment above it, one for each compiler."""
    expected = {}
    waiting = None
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if comment := re.match(r"\s*// (g\+\+|clang\+\+): (.*)", text):
            waiting = comment[2] if comment[1] == KIND else waiting
        elif waiting is not None:
            expected[number], waiting = waiting, None
    return expected


class MustNotCompile(unittest.TestCase):
    def test_the_control_compiles(self):
        controls = list(FOLDER.glob("*.cpp"))
        self.assertEqual(len(controls), 1)
        done = compile_source(controls[0])
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def check(self, path):
        expected = expected_errors(path)
        self.assertNotEqual(expected, {})
        done = compile_source(path)
        self.assertNotEqual(done.returncode, 0)
        found = errors_by_line(path, done.stderr)
        self.assertEqual(sorted(found), sorted(expected), done.stderr)
        for line, pattern in expected.items():
            self.assertRegex(found[line], pattern)

    def test_what_is_wrong_does_not_compile(self):
        sources = sorted(FOLDER.glob("*.inc"))
        self.assertNotEqual(sources, [])
        for path in sources:
            with self.subTest(path.name):
                self.check(path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
