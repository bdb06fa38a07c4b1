"""What PADLOCK_DUMP, PADLOCK_TIME and PADLOCK_LOG show of a command: on stderr and in a folder alone."""

import os
import re
import subprocess
import unittest

from padlock_testing import PAD_RELU, PADLOCK, Case

PASSES = ["lower", "split", "bodies", "cover", "indices", "prove", "emit", "simplify", "codegen", "link"]
RUN = ("run", "p.pad", "--input=x=random", "--bind=B=2,S=6,lo=1", "--seed=1")


class Trace(Case):
    def setUp(self):
        super().setUp()
        self.write("p.pad", PAD_RELU)

    def with_variables(self, *arguments, **variables):
        environment = {**os.environ, "PADLOCK": PADLOCK, **variables}
        command = arguments if arguments[0].startswith("/") else (PADLOCK, *arguments)
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60, check=False)

    def dumps(self):
        return sorted((self.folder / "dumps").iterdir())

    def test_the_script_of_a_dump_makes_the_same_code(self):
        for target, stage, file in (("host", "asm", "code.s"), ("sm_90", "ptx", "code.ptx")):
            for more in ((), ("--bounds-check",)):
                emit = ("emit", "p.pad", f"--stage={stage}", f"--target={target}", *more)
                done = self.with_variables(*emit, PADLOCK_DUMP="dumps")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                (dump,) = [folder for folder in self.dumps() if not (folder / "seen").exists()]
                (dump / "seen").touch()
                self.assertEqual((dump / file).read_text(), done.stdout)
                again = self.with_variables(str(dump / "repro.sh"))
                self.assertEqual((again.returncode, again.stdout), (0, done.stdout), again.stderr)

    def test_a_run_dumps_what_it_compiles_and_the_reference_nothing(self):
        done = self.with_variables(*RUN, PADLOCK_DUMP="dumps")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (dump,) = self.dumps()
        self.assertEqual(self.with_variables(str(dump / "repro.sh")).stdout, (dump / "code.s").read_text())
        self.with_variables(*RUN, "--device=reference", PADLOCK_DUMP="dumps")
        self.assertEqual(self.dumps(), [dump])

    def test_an_error_is_dumped(self):
        terms = "".join(f" y{i} = add(y{i - 1}, x{i})" for i in range(1, 5000))
        inputs = ", ".join(f"x{i}: f32[S]" for i in range(5000))
        self.write("long.pad", f"program long({inputs}) {{ y0 = relu(x0){terms} return y4999 }}")
        done = self.with_variables("emit", "long.pad", "--stage=asm", PADLOCK_DUMP="dumps")
        self.assertNotEqual(done.returncode, 0)
        (dump,) = self.dumps()
        error = (dump / "error.txt").read_text()
        self.assertIn(error.split(": ")[-1].strip(), done.stderr)
        self.assertTrue((dump / "program.pad").exists())
        self.assertFalse((dump / "code.s").exists())

    def test_processes_dump_into_one_folder(self):
        environment = {**os.environ, "PADLOCK_DUMP": str(self.folder / "dumps")}
        command = [PADLOCK, "emit", "p.pad", "--stage=asm", "--target=host:x86-64-v3"]
        processes = [subprocess.Popen(command, cwd=self.folder, env=environment, stdout=subprocess.PIPE) for _ in range(4)]
        outputs = {process.communicate(timeout=60)[0] for process in processes}
        self.assertEqual(len(outputs), 1)
        self.assertEqual(len(self.dumps()), 4)
        for dump in self.dumps():
            self.assertEqual((dump / "code.s").read_bytes(), next(iter(outputs)))

    def test_a_folder_that_cannot_be_made_is_one_warning(self):
        for command in (("emit", "p.pad", "--stage=asm"), RUN, ("pack", "p.pad", "--target=host:x86-64-v3,sm_90", "--output=o.pack")):
            done = self.with_variables(*command, PADLOCK_DUMP="p.pad/dumps")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, r"^padlock: warning: PADLOCK_DUMP=/.*/p\.pad/dumps: nothing is dumped: [^\n]+\n$")

    def test_times_name_each_pass_once(self):
        done = self.with_variables(*RUN, PADLOCK_TIME="1")
        self.assertEqual(done.returncode, 0)
        (line,) = done.stderr.splitlines()
        self.assertTrue(line.startswith("padlock: pad_relu for host, ms: "), line)
        self.assertEqual(re.findall(r"([a-z]+) \d+\.\d{3}", line), [*PASSES, "total"])
        done = self.with_variables("emit", "p.pad", "--stage=ptx", "--target=sm_90", PADLOCK_TIME="1")
        self.assertEqual(re.findall(r"([a-z]+) \d+\.\d{3}", done.stderr), [*PASSES, "total"])
        self.assertEqual(done.stdout, self.succeed("emit", "p.pad", "--stage=ptx", "--target=sm_90"))
        proved = self.with_variables("prove", "p.pad", PADLOCK_TIME="1")
        self.assertEqual(re.findall(r"([a-z]+) \d+\.\d{3}", proved.stderr), [*PASSES[:6], "total"])
        unknown = self.with_variables(*RUN, PADLOCK_TIME="all")
        self.assertEqual(unknown.stderr, "padlock: warning: PADLOCK_TIME: expected 1, found 'all': no times are printed\n")
        self.assertEqual(self.with_variables(*RUN, PADLOCK_TIME="0").stderr, "")

    def test_the_tuners_worker_shows_its_compiles(self):
        tune = ("tune", "p.pad", "--cache=t.db", "--quiet", "--opt=B=32,S=300,lo=3", "--budget=0s")
        done = self.with_variables(*tune, PADLOCK_TIME="1", PADLOCK_DUMP="dumps")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^padlock: pad_relu for host, ms: lower ")
        self.assertTrue((self.dumps()[0] / "code.s").exists())

    def test_log_levels(self):
        debug = self.with_variables(*RUN, PADLOCK_LOG="debug").stderr
        self.assertRegex(debug, r"(?m)^padlock: debug: pad_relu took \d+\.\d{3} ms to compile for target '")
        self.assertRegex(debug, r"(?m)^padlock: info: compiled pad_relu for host: config .* \(the default of this target\)$")
        info = self.with_variables(*RUN, PADLOCK_LOG="info").stderr
        self.assertRegex(info, r"^padlock: info: compiled pad_relu for host: [^\n]*\n$")
        self.assertEqual(self.with_variables(*RUN, PADLOCK_LOG="").stderr, "")
        unknown = self.with_variables(*RUN, PADLOCK_LOG="all").stderr
        self.assertEqual(unknown, "padlock: warning: PADLOCK_LOG: expected debug or info, found 'all': warnings alone are printed\n")

    def test_a_warning_is_printed_once_whoever_prints_it(self):
        self.write("bad.db", "no database")
        for variables in ({}, {"PADLOCK_LOG": "info"}):
            done = self.with_variables(*RUN, "--cache=bad.db", **variables)
            self.assertEqual(done.stderr.count("padlock: warning: cache: "), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
