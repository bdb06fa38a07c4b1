"""The families of problems of bench/zoo as bench/gpu/zoo.py and bench/host_zoo.py run them: each result is right, and figures
are of those that were asked for."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from python_testing import ROOT, needs

sys.path.insert(0, str(ROOT / "bench" / "zoo"))


def run(script, *arguments):
    return subprocess.run([sys.executable, "-B", ROOT / "bench" / script, *arguments], capture_output=True, text=True, timeout=500,
                          check=False)


@needs("torch")
class Zoo(unittest.TestCase):
    def test_every_problem_is_right_on_a_cpu(self):
        done = run("gpu/zoo.py", "--dry-run")
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        lines = done.stdout.splitlines()
        self.assertGreater(len(lines), 140)
        self.assertEqual([line for line in lines if not line.endswith("right")], [])

    def test_a_gpus_run_has_a_row_for_each_problem_and_every_peer(self):
        with tempfile.TemporaryDirectory(prefix="padlock_test_") as folder:
            path = os.path.join(folder, "families.jsonl")
            done = run("gpu/zoo.py", f"--json={path}", "--simulated", "--families=windows", "--rounds=3", "--warm=0",
                       "--seconds=400")
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
            with open(path, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
        self.assertEqual(lines[0]["gpu"], "simulated")
        rows = [line for line in lines if line["kind"] == "zoo_row"]
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assertEqual(set(row["us"]), {"memcpy", "padlock", "torch eager", "torch static", "torch dynamic"})
            self.assertGreater(row["first_ms"], row["text_ms"])
        self.assertIn("4 problems, 0 wrong, 0 skipped", done.stdout)

    def test_a_run_on_a_cpu_has_a_row_for_each_problem(self):
        with tempfile.TemporaryDirectory(prefix="padlock_test_") as folder:
            path = os.path.join(folder, "families.jsonl")
            done = run("host_zoo.py", f"--json={path}", "--families=small", "--peers=torch eager,numpy", "--rounds=3", "--seconds=200")
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
            with open(path, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
        self.assertEqual(lines[0]["kind"], "zoo_provenance")
        rows = [line for line in lines if line["kind"] == "zoo_row"]
        self.assertEqual(len(rows), 9)
        for row in rows:
            self.assertEqual(set(row["us"]), {"memcpy", "padlock", "padlock new", "torch eager", "numpy"})
        self.assertIn("9 problems, 0 wrong, 0 skipped", done.stdout)

    def test_a_bit_that_differs_is_found(self):
        import torch

        import checks

        expected = torch.arange(6, dtype=torch.float16).reshape(2, 3)
        self.assertIsNone(checks.difference(torch, expected.clone(), expected))
        found = expected.clone()
        found[1, 2] = -0.0
        expected[1, 2] = 0.0
        self.assertEqual(checks.difference(torch, found, expected), "1 elements, first at (1, 2): expected 0.0, found -0.0")
        self.assertTrue(checks.is_close(torch, found, expected))
        self.assertFalse(checks.is_close(torch, found + 1, expected))
        self.assertFalse(checks.is_close(torch, found.float(), expected))
        self.assertTrue(checks.is_close(torch, found + 0.2, expected, sums_in_own_type=True))
        self.assertFalse(checks.is_close(torch, found + 0.2, expected))
        self.assertIn("found torch.float32 of (2, 3)", checks.difference(torch, found.float(), expected))


if __name__ == "__main__":
    unittest.main()
