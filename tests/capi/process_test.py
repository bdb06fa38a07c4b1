"""The library as a file: loaded and unloaded, two copies of it, after a fork, beside another LLVM; the examples. Nothing
may be printed that the program does not print itself.

usage: process_test.py LIBRARY PROCESS_MAIN RELOADS EXAMPLES_FOLDER
"""

import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY, PROGRAM, RELOADS, EXAMPLES = sys.argv[1:5]


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=240)


class Process(unittest.TestCase):
    def silent(self, *words):
        done = run(PROGRAM, *words)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), words)

    def folder(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="padlock_process_"))
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def test_loaded_and_unloaded_many_times(self):
        self.silent("reload", LIBRARY, RELOADS)

    def test_two_copies_in_one_process(self):
        copy = self.folder() / "libpadlock_copy.so"
        shutil.copyfile(LIBRARY, copy)
        self.silent("two", LIBRARY, copy)

    def test_fork_before_first_use(self):
        self.silent("fork", LIBRARY)

    def test_forks_while_threads_compile_and_launch(self):
        self.silent("forks", LIBRARY, os.environ.get("PADLOCK_FORKS", 40))

    def workers_that_started(self, *with_workers):
        """Loads a library by a relative name, goes to another folder, and tunes there. Returns whose workers were started."""
        root = self.folder()
        for name in ("loaded", "other", "program"):
            (root / name / "lib").mkdir(parents=True)
        shutil.copyfile(LIBRARY, root / "loaded" / "lib" / "libpadlock.so")
        program = shutil.copy(PROGRAM, root / "program" / "lib")
        for name in with_workers:
            for place in ("lib", "libexec", "libexec/padlock"):
                worker = root / name / place / "padlock-worker"
                worker.parent.mkdir(exist_ok=True)
                worker.write_text(f"#!/bin/sh\necho {name} >> {root}/started\n")
                worker.chmod(0o755)
        environment = {key: value for key, value in os.environ.items() if key != "PADLOCK_WORKER"}
        done = subprocess.run([program, "moved", root / "other" / "lib"], capture_output=True, text=True, timeout=240,
                              cwd=root / "loaded" / "lib", env=environment)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        started = root / "started"
        return set(started.read_text().split()) if started.exists() else set()

    def test_the_worker_is_the_one_beside_a_library_that_was_loaded_by_a_relative_name(self):
        self.assertEqual(self.workers_that_started("loaded", "other"), {"loaded"})

    def test_no_worker_of_the_current_folder_starts(self):
        self.assertEqual(self.workers_that_started("other"), set())

    def test_beside_another_llvm(self):
        own = re.search(r"libLLVM[^\s]*", run("ldd", LIBRARY).stdout)
        others = [path for pattern in ("/usr/lib/*/libLLVM*.so*", "/usr/lib/llvm-*/lib/libLLVM*.so*")
                  for path in sorted(glob.glob(pattern)) if own is None or own[0] not in path]
        others = [path for path in others if "22" not in pathlib.Path(path).resolve().name]
        if not others:
            self.skipTest("there is no other LLVM on this machine")
        self.silent("after", others[0], LIBRARY)


class Examples(unittest.TestCase):
    def succeed(self, name, *words):
        done = run(pathlib.Path(EXAMPLES, f"padlock_example_{name}"), *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_pad_relu(self):
        self.assertEqual(self.succeed("pad_relu"),
                         "z: f32[2, 8]: 0 0 0 0 0 0 1 2 0 0 0 0 0 0 1 2\n"
                         "z: f32[2, 16]: " + " ".join("0 0 0 0 0 0 1 2 0 0 0 0 0 0 0 0 "
                                                      "0 0 0 0 0 1 2 0 0 0 0 0 0 0 0 0".split()) + "\n")

    def test_dynamic_sizes(self):
        self.assertEqual(self.succeed("dynamic_sizes"),
                         "[2, 5] with lo = 3 gives [2, 8]\n[4, 1000] with lo = -8 gives [4, 992]\n"
                         "S + lo >= 0 breaks S = 3 lo = -5\n")

    def test_server(self):
        self.assertEqual(self.succeed("server", 8, 200), "1600 of 1600 requests served\n")

    def test_tune_once(self):
        with tempfile.TemporaryDirectory(prefix="padlock_example_") as folder:
            lines = self.succeed("tune_once", f"{folder}/tuning.db", "0.05").splitlines()
            self.assertEqual(len(lines), 2, lines)
            self.assertTrue(lines[1].startswith("the cache hit"), lines)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
