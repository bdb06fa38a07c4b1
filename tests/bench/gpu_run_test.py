"""bench/gpu/run.sh and peers.py, all of their path, on simt: what the script runs, reports and exits with."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ["PADLOCK_BIN"]).resolve()
SCRIPTS = pathlib.Path(os.environ["PADLOCK_SOURCE"]) / "bench" / "gpu"
PROGRAMS = ("padlock", "padlock_conformance", "padlock_bench_gpu")


def lines_of(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="padlock_test_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.portable = self.folder / "portable"
        self.portable.mkdir()
        for name in PROGRAMS:
            (self.portable / name).symlink_to(BIN / name)
        for name in ("run.sh", "peers.py", "graphs.py"):
            shutil.copy(SCRIPTS / name, self.portable)
        self.out = self.folder / "out"

    def replace(self, program, script):
        """Puts a shell script into a program's place."""
        path = self.portable / program
        path.unlink()
        path.write_text("#!/bin/sh\n" + script, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def run_script(self, *arguments, environment=None):
        return subprocess.run(
            [self.portable / "run.sh", *arguments], capture_output=True, text=True, timeout=280, check=False,
            env={**os.environ, **(environment or {})},
        )

    def run_simt(self, *arguments):
        return self.run_script(f"--out={self.out}", "--device=simt", "--quick", "--commit=c0ffee", *arguments)

    def steps(self):
        return {line["name"]: line for line in lines_of(self.out / "steps.jsonl")}


class WholeRun(Case):
    def test_every_step_runs_on_simt_and_is_reported(self):
        done = self.run_simt()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        steps = self.steps()
        self.assertEqual(
            list(steps),
            ["devices", "conformance", "memcheck_conformance", "memcheck_bench", "initcheck_conformance",
             "initcheck_bench", "bench", "shapes", "search",
             *(f"{step}_{peer}" for step in ("peers", "shapes") for peer in ("torch", "triton", "jax", "cupy", "plain")), "zoo"],
        )
        # The families need a package padlock and PyTorch, which Python has here or not: zoo_test.py has them.
        self.assertEqual({step["status"] for name, step in steps.items() if name != "zoo"}, {"passed"})
        self.assertIn("all right", done.stdout)
        self.assertIn("times mean nothing", done.stdout)
        self.assertEqual((self.out / "summary.txt").read_text(encoding="utf-8"), done.stdout)

        bench = lines_of(self.out / "bench.jsonl")
        self.assertEqual(bench[0]["kind"], "gpu_provenance")
        self.assertEqual((bench[0]["device"], bench[0]["commit"], bench[0]["simulated"]), ("simt", "c0ffee", True))
        rows = [line for line in bench if line["kind"] == "gpu_row"]
        self.assertEqual(len({row["problem"] for row in rows}), 24)
        self.assertEqual({row["name"] for row in rows}, {"memcpy", "memcpy again", "padlock"})
        for row in rows:
            self.assertTrue(row["simulated"])
            self.assertGreater(row["median_us"], 0)
            self.assertAlmostEqual(row["gb_per_s"] * row["median_us"] * 1e3 / row["bytes"], 1, places=3)
        self.assertTrue(any(line["kind"] == "gpu_host" for line in bench))
        search = {line["name"] for line in lines_of(self.out / "search.jsonl") if line["kind"] == "gpu_row"}
        self.assertEqual(search, {"memcpy", "memcpy again", "padlock", "padlock best 1"})

        shapes = {line["problem"] for line in lines_of(self.out / "shapes.jsonl") if line["kind"] == "gpu_row"}
        self.assertEqual(len(shapes), 65)
        self.assertIn("transpose_pad_i8_matrix_misaligned", shapes)

        peers = [line for file in sorted(self.out.glob("peers_*.jsonl")) for line in lines_of(file)]
        self.assertEqual({line["peer"] for line in peers if line["kind"] == "gpu_peer"},
                         {"torch", "triton", "jax", "cupy", "plain"})
        plain = [line for line in peers if line["kind"] == "gpu_row" and line["name"] == "plain"]
        self.assertEqual(len(plain), 24)
        # The fields of padlock_bench_gpu's rows, but for those of its code.
        code = {"config", "text_to_ptx_ms", "text_to_ptx_warm_ms", "load_ms", "registers", "local_bytes",
                "of_memcpy_low", "of_memcpy_high", "of_copy"}
        self.assertEqual(set(rows[0]) - code, set(plain[0]) - {"timing"})
        self.assertIn("bytes per second over those of a copy", done.stdout)
        self.assertRegex(done.stdout, r"padlock +f16 +misaligned")


class Failures(Case):
    def test_wrong_results_are_reported_and_later_steps_run(self):
        self.replace("padlock_conformance", 'echo "3 passed, 2 failed, 0 skipped"; exit 1\n')
        done = self.run_simt("--steps=devices,conformance,search")
        self.assertEqual(done.returncode, 1, done.stdout)
        steps = self.steps()
        self.assertEqual(list(steps), ["devices", "conformance", "search"])
        self.assertEqual((steps["conformance"]["status"], steps["conformance"]["exit"]), ("failed", 1))
        self.assertEqual(steps["search"]["status"], "passed")
        self.assertIn("3 passed, 2 failed", done.stdout)

    def test_a_device_that_is_not_there_is_no_success(self):
        done = self.run_script(f"--out={self.out}", "--device=cuda:0", "--steps=conformance,bench",
                               environment={"PADLOCK_CUDA_DRIVER": "/nowhere/libcuda.so.1"})
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(self.steps()["bench"]["exit"], 7)
        self.assertIn("no CUDA driver", done.stdout)

    def test_what_shows_nothing_wrong_has_a_status_of_its_own(self):
        self.replace("padlock", "exit 5\n")
        done = self.run_simt("--steps=devices")
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("right, but something else failed", done.stdout)

    def test_wrong_usage(self):
        for arguments, message in (
            ([], "--out=FOLDER is needed"),
            ([f"--out={self.out}", "--device=host"], "expected --device=cuda:N or simt, found host"),
            ([f"--out={self.out}", "--portable=/nowhere"], "/nowhere has no program padlock"),
            ([f"--out={self.out}", "--fast"], "unknown argument --fast"),
        ):
            done = self.run_script(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)


class Peers(Case):
    def peers(self, *arguments):
        problems = self.folder / "problems.jsonl"
        with open(problems, "w", encoding="utf-8") as out:
            subprocess.run([BIN / "padlock_bench_gpu", "--list", "--sizes=64K", "--filter=rank2_aligned"], stdout=out,
                           check=True, timeout=60)
        done = subprocess.run(
            [sys.executable, "-B", self.portable / "peers.py", f"--problems={problems}",
             f"--json={self.folder / 'peers.jsonl'}", "--device=simt", *arguments],
            capture_output=True, text=True, timeout=120, check=False)
        return done, lines_of(self.folder / "peers.jsonl")

    def test_a_peer_that_is_not_installed_is_said_to_be(self):
        # A package of that name that cannot be imported, wherever this runs.
        (self.folder / "cupy.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
        os.environ["PYTHONPATH"] = str(self.folder)
        self.addCleanup(os.environ.pop, "PYTHONPATH")
        done, lines = self.peers("--peer=cupy")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(line["peer"], line["status"]) for line in lines], [("cupy", "not installed")])
        self.assertIn("cupy is not installed (not here)", lines[0]["reason"])

    def test_a_peer_that_takes_too_long_is_stopped_and_what_it_measured_counts(self):
        (self.folder / "jax.py").write_text("import time\ntime.sleep(60)\n", encoding="utf-8")
        os.environ["PYTHONPATH"] = str(self.folder)
        self.addCleanup(os.environ.pop, "PYTHONPATH")
        done, lines = self.peers("--peer=jax", "--peer=plain", "--limit=3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line["status"] for line in lines if line["kind"] == "gpu_peer"],
                         ["incomplete", "installed"])
        self.assertEqual(sum(line["kind"] == "gpu_row" for line in lines), 6)

    def test_bytes_are_counted_as_the_bench_counts_them(self):
        sys.path.insert(0, str(SCRIPTS))
        self.addCleanup(sys.path.remove, str(SCRIPTS))
        import peers  # pylint: disable=import-outside-toplevel

        listed = subprocess.run([BIN / "padlock_bench_gpu", "--list", "--families=table,rows,transpose,variants"],
                                capture_output=True, text=True, check=True, timeout=60).stdout
        problems = [json.loads(line) for line in listed.splitlines()]
        # Of each type: 8 of the table, 14 of rows, but for i8 13 (rows of 1000 bytes are no vectors), 2, and 6 variants.
        # A literal program counts in each size.
        self.assertEqual(len(problems), 9 * sum(8 + rows + 2 + 6 for rows in (14, 14, 13)))
        for problem in problems:
            self.assertEqual(sum(peers.bytes_of(problem)), problem["bytes"])


if __name__ == "__main__":
    unittest.main()
