"""Faults planted in the importer of models, under the body and the watch of its fuzzer: each is reported with its input."""

import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["PADLOCK_PLANTED"]


class Watch(unittest.TestCase):
    def replay(self, fault):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "input"
            file.write_text(fault, encoding="utf-8")
            ended = subprocess.run([PROGRAM, f"--replay={file}"], capture_output=True, text=True, check=False)
            return ended, file

    def test_nothing(self):
        ended, file = self.replay("")
        self.assertEqual((ended.returncode, ended.stdout), (0, f"{file}: nothing found\n"), ended.stderr)

    def test_each_fault(self):
        for fault, said in {
            "time": "an input takes no longer than its body allows",
            "steps": "a pass ends within its limit of steps",
            "memory": "an allocation has at most 1 GiB|exceeds maximum supported size",
            "memory in parts": "an input's memory is at most 1 GiB",
            "crash": "Segmentation fault",
            "internal": "no model is a fault of the importer",
            "no reason": "a refused model is so for a reason",
            "no results": "a program has results",
        }.items():
            with self.subTest(fault):
                ended, file = self.replay(fault)
                self.assertLess(ended.returncode, 0, ended.stdout)  # ended by a signal
                self.assertRegex(ended.stderr, said)
                self.assertIn(f"reproduce: --replay={file}\n{fault}\n", ended.stderr)


if __name__ == "__main__":
    unittest.main()
