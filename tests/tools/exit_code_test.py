"""Every exit code of the command, with the message that goes with it."""

import json
import os
import subprocess
import unittest
import unittest.mock

from padlock_testing import PAD_RELU, PADLOCK, Case, floats, npy

X = "--input=x=@x.npy"
FAKE_CUDA = os.environ["PADLOCK_FAKE_CUDA"]


def use_driver(file):
    """While it is entered, the command takes this file for the driver of GPUs."""
    return unittest.mock.patch.dict(os.environ, PADLOCK_CUDA_DRIVER=file)


class ExitCodes(Case):
    def setUp(self):
        super().setUp()
        self.write("p.pad", PAD_RELU)
        self.write("v.pad", "program p(x: f32[A], v: f16, n: dim) { y = pad(x, low = [n], high = [0]) return y }")
        self.write("x.npy", npy("<f4", (1, 3), floats(1, 2, 3)))
        self.write("a.npy", npy("<f4", (3,), floats(1, 2, 3)))

    def usage(self, message, *arguments):
        return self.fail_with(2, message, *arguments)

    def test_0(self):
        self.succeed("run", "p.pad", X, "--bind=lo=0")
        for help_of in ((), ("run",), ("emit",), ("explain",), ("pack",), ("tune",), ("bench",), ("cache",), ("devices",), ("version",)):
            self.assertIn("Usage: padlock", self.succeed(*help_of, "-h"))

    def test_2_command_lines(self):
        self.usage("expected a subcommand; padlock -h lists them")
        for later in ("pad", "frobnicate"):
            self.usage(f"unknown subcommand '{later}'", later, "p.pad")
        self.usage("--frobnicate", "run", "p.pad", "--frobnicate")
        self.usage("expected PROGRAM after 'padlock run'; padlock run -h has two examples", "run")
        self.usage("other", "run", "p.pad", "other")
        self.usage("--seed", "run", "p.pad", "--seed=abc")
        self.usage("--seed", "run", "p.pad", "--seed=-1")
        self.usage("--ulp", "run", "p.pad", "--ulp=-1")
        self.usage("--ulp", "run", "p.pad", "--ulp=1.5")

    def test_errors_as_json(self):
        def errors_of(code, *arguments):
            report = json.loads(self.padlock(*arguments, "--json").stdout)
            self.assertEqual(report["schema"], 1)
            self.assertEqual(report["exit_code"], code)
            return report["errors"]

        self.write("bad.pad", "program p(x: f33[A])\n{\n  y = rely(x)\n  return y\n}\n")
        for command in (("emit",), ("run",), ("explain",)):
            errors = errors_of(3, *command, "bad.pad")
            self.assertEqual([(e["status"], e["file"], e["line"], e["column"]) for e in errors],
                             [("INVALID_ARGUMENT", "bad.pad", 1, 14), ("INVALID_ARGUMENT", "bad.pad", 3, 7)])
            self.assertEqual(errors[1]["message"], "expected an operation, found 'rely'; did you mean 'relu'?")
        (error,) = errors_of(4, "run", "p.pad", X, "--bind=lo=-5")
        self.assertEqual((error["status"], error["values"]), ("FAILED_PRECONDITION", {"S": 3, "lo": -5}))
        self.assertIn("S + lo", error["expression"])
        (error,) = errors_of(2, "run", "p.pad", "--frobnicate")
        self.assertEqual(error["status"], "INVALID_ARGUMENT")
        (error,) = errors_of(3, "run", "none.pad")
        self.assertEqual((error["status"], error["message"]), ("NOT_FOUND", "cannot read none.pad: No such file or directory"))
        self.fail_with(3, "bad.pad:3:7", "emit", "bad.pad", "--json=report.json")
        self.assertEqual(len(json.loads((self.folder / "report.json").read_text())["errors"]), 2)

    def test_2_names(self):
        self.usage("--input names 'w', which is no parameter of the program (it has: x)", "run", "p.pad", "--input=w=random")
        self.usage("--input names 'y'", "run", "p.pad", "--input=y=random")
        self.usage("--input gives x twice", "run", "p.pad", X, X)
        self.usage("no value for x: give --input=x=@FILE.npy, a raw file or random", "run", "p.pad", "--bind=lo=1")
        self.usage("no value for v: give --input=v=LITERAL", "run", "v.pad", "--input=x=@a.npy", "--bind=n=0")
        self.usage("no value for lo: give --bind=lo=...", "run", "p.pad", X)
        self.usage("no value for B, S, lo: give --bind=B=...,S=...,lo=...", "run", "p.pad", "--input=x=random")
        self.usage("--bind names 'Q', which is no symbol of the program (it has: B, S, lo)", "run", "p.pad", X, "--bind=Q=1,lo=0")
        self.usage("--bind gives lo twice", "run", "p.pad", X, "--bind=lo=0", "--bind=lo=0")
        self.usage("--output names 'y', which the program does not return (it returns: z)", "run", "p.pad", X, "--output=y=@y.npy")
        self.usage("--expect names 'y'", "run", "p.pad", X, "--expect=y=@x.npy")

    def test_2_values(self):
        self.usage("expected a 64-bit integer for lo in --bind, found '1.5'", "run", "p.pad", X, "--bind=lo=1.5")
        self.usage("expected a 64-bit integer", "run", "p.pad", X, "--bind=lo=99999999999999999999")
        for literal in ("abc", "1e9", "", "bits(0x10000)"):
            self.usage("--input=v: ", "run", "v.pad", "--input=x=@a.npy", f"--input=v={literal}", "--bind=n=0")
        self.usage("v is a scalar", "run", "v.pad", "--input=x=@a.npy", "--input=v=random", "--bind=n=0")
        self.usage("x is a tensor", "run", "p.pad", "--input=x=1.5")
        self.usage("expected extents and a type", "run", "p.pad", "--input=x=4x16=@x.bin")
        self.usage("expected a file that ends in .npy or .bin", "run", "p.pad", X, "--output=z=@z.txt")
        self.usage("expected a device", "run", "p.pad", X, "--device=gpu")
        self.usage("--target is for --device=simt", "run", "p.pad", X, "--target=sm_90")

    def test_2_configs(self):
        self.usage("vector_bytes", "run", "p.pad", X, "--bind=lo=0", "--config=vector_bytes=7")
        self.usage("colour", "run", "p.pad", X, "--bind=lo=0", "--config=colour=red")
        self.usage("expected no config", "run", "p.pad", X, "--bind=lo=0", "--device=reference", "--config=unroll=1")

    def test_2_stages_and_targets(self):
        self.usage("expected a stage (ir, kernel, schedule, llvm, ptx or asm), found 'c'", "emit", "p.pad", "--stage=c")
        self.usage("stage ptx is of GPU targets", "emit", "p.pad", "--stage=ptx")
        self.usage("no-such-cpu", "emit", "p.pad", "--stage=asm", "--target=host:no-such-cpu")
        self.usage("no value for S, lo", "explain", "p.pad", "--bind=B=1")

    def test_3_programs(self):
        self.fail_with(3, "cannot read no.pad: No such file or directory", "run", "no.pad")
        self.write("bad.pad", "program p(x: f32[A]) {\n  y = pod(x)\n  return y\n}\n")
        for command in ("run", "emit", "explain"):
            done = self.fail_with(3, "padlock: error: bad.pad:2:7: ", command, "bad.pad")
            self.assertIn("\n    y = pod(x)\n        ^", done.stderr)
        self.write("nul.pad", b"program p\0")
        self.fail_with(3, "nul.pad:1:", "run", "nul.pad")
        self.write("empty.pad", "")
        self.fail_with(3, "empty.pad:1:1: ", "run", "empty.pad")

    def test_3_files(self):
        self.fail_with(3, "cannot write no/z.npy", "run", "p.pad", X, "--bind=lo=0", "--output=z=@no/z.npy")
        self.fail_with(3, "cannot write no/z.json", "run", "p.pad", X, "--bind=lo=0", "--json=no/z.json")
        self.fail_with(3, "cannot read no.npy", "run", "p.pad", X, "--bind=lo=0", "--expect=z=@no.npy")

    def test_3_all_outputs_or_none(self):
        self.write("two.pad", "program p(x: f32[A, B]) { y = neg(x) z = abs(x) return y, z }")
        self.fail_with(3, "cannot write no/z.npy", "run", "two.pad", X, "--output=y=@y.npy", "--output=z=@no/z.npy")
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith("y")], [])

    def test_an_output_keeps_the_mode_of_the_file_that_it_replaces(self):
        self.write("secret.npy", "old")
        os.chmod(self.folder / "secret.npy", 0o600)
        self.succeed("run", "p.pad", X, "--bind=lo=0", "--output=z=@secret.npy")
        self.assertEqual(os.stat(self.folder / "secret.npy").st_mode & 0o777, 0o600)
        self.assertNotEqual((self.folder / "secret.npy").read_bytes(), b"old")

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_3_stdout(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PADLOCK, "version"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, "padlock: error: cannot write to stdout: No space left on device\n")

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_2_stderr_that_is_full_or_closed(self):
        for stderr in ("2>/dev/full", "2>&-", "2>&- >&- <&-"):
            for arguments, code in (("nonsense", 2), ("emit /no/such.pad", 3), ("cache show --cache=/no/such/t.db", None)):
                with self.subTest(stderr=stderr, arguments=arguments):
                    done = subprocess.run(["sh", "-c", f'"$0" {arguments} {stderr}', PADLOCK], capture_output=True, check=False)
                    self.assertGreaterEqual(done.returncode, 0)
                    self.assertLess(done.returncode, 128)
                    if code is not None:
                        self.assertEqual(done.returncode, code)

    def test_4_constraints(self):
        done = self.fail_with(4, "p.pad:1:32: ", "run", "p.pad", X, "--bind=lo=9")
        self.assertIn("lo <= 8", done.stderr)
        done = self.fail_with(4, "p.pad:2:", "run", "p.pad", X, "--bind=lo=-4")
        self.assertIn("S + lo >= 0", done.stderr)
        self.assertIn("\n  where 1 <= B <= 4096, -8 <= lo <= 8, S + lo >= 0\n", done.stderr)
        self.fail_with(4, "extent of axis 1 of 'x' is 3, expected S = 5", "run", "p.pad", X, "--bind=lo=0,S=5")
        self.fail_with(4, "S + lo >= 0", "explain", "p.pad", "--bind=B=1,S=1,lo=-2")
        self.assertFalse((self.folder / "z.npy").exists())

    def test_4_equal_extents(self):
        self.write("e.pad", "program p(x: f32[A], y: f32[B]) { z = add(x, y) return z }")
        self.write("b.npy", npy("<f4", (2,), floats(1, 2)))
        self.fail_with(4, "e.pad:1:", "run", "e.pad", "--input=x=@a.npy", "--input=y=@b.npy")

    def test_5(self):
        self.write("z.npy", npy("<f4", (1, 8), floats(*[1, 2, 3, 0.5, 0.5, 0.5, 0.5, 0.25])))
        self.fail_with(
            5, "--expect=z: 1 of 8 elements differ; the first at [0, 7] expected 0.25, found 0.5",
            "run", "p.pad", X, "--bind=lo=0", "--expect=z=@z.npy",
        )

    def run_on(self, device):
        return ("run", "p.pad", X, "--bind=lo=0", f"--device={device}")

    def test_7_without_a_driver(self):
        for device in ("cuda:0", "cuda:3"):
            with use_driver("libno_such_cuda.so"):
                done = self.fail_with(7, f"device {device} is not available: ", *self.run_on(device))
            self.assertIn("looked for libno_such_cuda.so among the loaded libraries", done.stderr)

    def test_7_with_a_driver(self):
        with use_driver(FAKE_CUDA):
            self.fail_with(7, f"device cuda:3 is not available: {FAKE_CUDA} has 1 device", *self.run_on("cuda:3"))
            # The fake driver does not run PTX: it faults.
            self.fail_with(7, "on cuda:0 failed: CUDA_ERROR_LAUNCH_FAILED", *self.run_on("cuda:0"))
            self.usage("--target is for --device=simt", *self.run_on("cuda:0"), "--target=sm_80")
            self.usage(
                "--target: what is explained on cuda:0 is made for it",
                "explain", "p.pad", "--device=cuda:0", "--target=sm_80",
            )

    def test_targets(self):
        self.fail_with(
            2, "unknown target 'sm_12': expected host, a level (host:x86-64, ",
            "emit", "p.pad", "--stage=ptx", "--target=sm_12",
        )


class Texts(Case):
    def test_version(self):
        self.assertRegex(self.succeed("version"), r"^padlock \d+\.\d+\.\d+ \(LLVM 22\.\d+\.\d+\)\n$")

    def test_devices(self):
        with use_driver("libno_such_cuda.so"):
            text = self.succeed("devices")
        for name in ("host", "reference", "simt"):
            self.assertRegex(text, rf"(?m)^{name} +\S")
        self.assertRegex(text, r"(?m)^cuda:0 +device cuda:0 is not available: .*looked for libno_such_cuda\.so")

    def test_devices_of_a_driver(self):
        with use_driver(FAKE_CUDA):
            text = self.succeed("devices")
            listed = json.loads(self.succeed("devices", "--json"))["devices"]
        self.assertIn("cuda:0     Fake GPU, sm_90, 132 multiprocessors, L2 50 MiB, memory 1024 MiB at 3352 GB/s\n", text)
        self.assertEqual([device["name"] for device in listed], ["host", "reference", "simt", "cuda:0"])
        gpu = {name: value for name, value in listed[3].items() if name not in ("name", "description")}
        self.assertEqual(gpu, {
            "available": True, "gpu": "Fake GPU", "architecture": "sm_90", "multiprocessors": 132,
            "l2_bytes": 50 << 20, "memory_bytes": 1 << 30, "memory_bandwidth": 3352320000000, "driver_version": 13000,
        })

    def test_stages(self):
        self.write("p.pad", PAD_RELU)
        printed = self.succeed("emit", "p.pad")
        self.write("again.pad", printed)
        self.assertEqual(self.succeed("emit", "again.pad"), printed)
        for stage in ("kernel", "llvm", "asm"):
            self.assertGreater(len(self.succeed("emit", "p.pad", f"--stage={stage}")), 100)

    def test_explain(self):
        self.write("p.pad", PAD_RELU)
        text = self.succeed("explain", "p.pad")
        self.assertIn("z: f32[B, S + lo + (-S - lo) mod 8]", text)
        self.assertIn("the default of this target", text)
        self.assertLess(text.count("\n"), 40)
        text = self.succeed("explain", "p.pad", "--bind=B=2,S=3,lo=1")
        self.assertIn("z: f32[B = 2, S + lo + (-S - lo) mod 8 = 8]", text)
        self.assertIn("= 64 bytes", text)

    def test_explain_for_a_gpu(self):
        self.write("p.pad", PAD_RELU)
        text = self.succeed("explain", "p.pad", "--target=sm_80", "--bind=B=2,S=3,lo=1")
        self.assertIn("sm_80", text)
        self.assertIn("map=tiles", text)
        with use_driver(FAKE_CUDA):
            text = self.succeed("explain", "p.pad", "--device=cuda:0", "--cache=none.db")
        self.assertIn("sm_90", text)
        self.assertIn("the default of this target: the cache missed, no record of the program", text)
        with use_driver("libno_such_cuda.so"):
            self.fail_with(7, "device cuda:0 is not available: ", "explain", "p.pad", "--device=cuda:0")
        self.fail_with(2, "gpu", "explain", "p.pad", "--device=gpu")


if __name__ == "__main__":
    unittest.main()
