"""What scripts/gdb/padlock_gdb.py makes of expressions is what the library itself makes of them."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

SAMPLE = os.environ["PADLOCK_GDB_SAMPLE"]
PRINTER = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "gdb" / "padlock_gdb.py"
COUNT = 7  # of the sample's expressions


def run_gdb(*commands):
    words = [word for command in commands for word in ("-ex", command)]
    return subprocess.run(
        ["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", *words, SAMPLE], capture_output=True, text=True, timeout=120, check=False
    )


@unittest.skipIf(shutil.which("gdb") is None, "gdb is not installed")
class Printer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        started = run_gdb("break main", "run")
        if "Breakpoint 1, main" not in started.stdout:
            raise unittest.SkipTest(f"gdb cannot run a program here: {started.stderr.strip()}")

    def test_expressions_are_printed_as_the_library_prints_them(self):
        at_each_stop = ("print e", "up", "print e", "print e.node_->operands", "continue")
        done = run_gdb(f"source {PRINTER}", "break stop_here", "run", *(at_each_stop * COUNT))
        expected = re.findall(r"^text (.*)$", done.stdout, re.MULTILINE)
        self.assertEqual(len(expected), COUNT, done.stdout + done.stderr)
        printed = [text for text in re.findall(r"^\$\d+ = (.*)$", done.stdout, re.MULTILINE) if "std::vector" not in text]
        printed = [text.removeprefix("(const padlock::ir::Expr &) ") for text in printed]
        printed = [re.sub(r"^@0x[0-9a-f]+: ", "", text) for text in printed]
        self.assertEqual(printed, [text for text in expected for _ in range(2)], done.stdout)

    def test_without_a_context_symbols_have_numbers(self):
        done = run_gdb(f"source {PRINTER}", "python MOST_FRAMES = 1", "break stop_here", "run", "continue", "print e")
        self.assertIn("-symbol0", done.stdout, done.stdout + done.stderr)

    def test_nothing_is_called_in_the_program(self):
        source = PRINTER.read_text(encoding="utf-8")
        self.assertNotRegex(source, r"parse_and_eval|gdb\.execute")


if __name__ == "__main__":
    unittest.main()
