"""padlock pack, and padlock run of a pack."""

import json
import os
import platform
import shutil
import unittest
import unittest.mock

from padlock_testing import PAD_RELU, Case, floats, npy, read_npy

TWICE = "program twice(x: f32[A]) { y = add(x, x) return y }"
X = "--input=x=@x.npy"
# What every CPU has that the command is built for, which is another one where an emulator runs it.
IS_AARCH64 = platform.machine() == "aarch64" or os.environ.get("PADLOCK_EMULATED") == "1"
BASE_FEATURE = "neon" if IS_AARCH64 else "sse2"


class Packs(Case):
    def setUp(self):
        super().setUp()
        self.write("p.pad", PAD_RELU)
        self.write("t.pad", TWICE)
        self.write("x.npy", npy("<f4", (2, 3), floats(1, -2, 3, -4, 5, -6)))
        self.write("a.npy", npy("<f4", (3,), floats(1, 2, 3)))

    def pack(self, *arguments):
        return self.succeed("pack", "p.pad", "t.pad", "--output=f.pack", *arguments)

    def test_a_pack_runs_as_its_programs_do(self):
        self.pack("--quiet")
        for name in ("p.pad", "f.pack"):
            program = ("--program=pad_relu",) if name == "f.pack" else ()
            self.succeed("run", name, *program, X, "--bind=lo=1", f"--output=z=@{name}.npy")
        self.assertEqual(read_npy(self.folder / "f.pack.npy"), read_npy(self.folder / "p.pad.npy"))
        self.succeed(
            "run", "f.pack", "--program=pad_relu", X, "--bind=lo=1", "--expect=z=@p.pad.npy", "--device=reference"
        )
        self.assertIn(": 2 4 6\n", self.succeed("run", "f.pack", "--program=twice", "--input=x=@a.npy"))

    def test_an_assembler_makes_cubins_beside_ptx(self):
        head = bytearray(128)  # ELF for NVIDIA's GPUs, with one section
        head[:6], head[18], head[40], head[58], head[60], head[68], head[88], head[96] = b"\x7fELF\x02\x01", 190, 64, 64, 1, 1, 128, 1
        (self.folder / "head").write_bytes(head)
        assembler = self.folder / "assembler"
        assembler.write_text(f'#!/bin/sh\ncat "{self.folder}/head" "$4" > "$3"\n', encoding="utf-8")
        assembler.chmod(0o755)
        text = self.pack("--target=host,sm_90", f"--assembler={assembler}")
        self.assertRegex(text, r"(?m)^    map=.*: [0-9]+ bytes of code, [0-9]+ of a cubin")
        listed = json.loads(self.succeed("pack", "--list", "f.pack", "--json"))
        sizes = [[c["cubin_bytes"] - c["code_bytes"] for c in t["codes"]] for t in listed["programs"][0]["targets"]]
        self.assertLess(sizes[0][0], 0)
        self.assertEqual(sizes[1], [128])
        self.fail_with(7, "no program no_ptxas on PATH", "pack", "t.pad", "--target=sm_90", "--assembler=no_ptxas", "--output=f.pack")

    def test_cudas_assembler_makes_them(self):
        ptxas = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
        if ptxas is None:
            self.skipTest("no ptxas on PATH or in /usr/local/cuda/bin")
        self.assertIn(" of a cubin", self.pack("--target=sm_90", f"--assembler={ptxas}"))

    def test_a_pack_of_one_program_needs_no_name(self):
        self.succeed("pack", "t.pad", "--output=one.pack", "--quiet")
        self.assertIn(": 2 4 6\n", self.succeed("run", "one.pack", "--input=x=@a.npy"))

    def test_the_list_says_what_is_in_it(self):
        text = self.pack("--target=host,sm_90")
        self.assertEqual(self.succeed("pack", "--list", "f.pack"), text)
        self.assertRegex(text, r"(?m)^pad_relu \([0-9a-f]{32}\)$")
        self.assertRegex(text, r"(?m)^  sm_90: sm_90")
        self.assertRegex(text, r"(?m)^    vector_bytes=.*: [0-9]+ bytes of code \(the default of this target\)$")
        listed = json.loads(self.succeed("pack", "--list", "f.pack", "--json"))
        self.assertEqual((listed["schema"], listed["command"]), (1, "pack"))
        self.assertEqual([p["name"] for p in listed["programs"]], ["pad_relu", "twice"])
        targets = listed["programs"][0]["targets"]
        self.assertEqual([t["name"] for t in targets], ["host", "sm_90"])
        self.assertIn(BASE_FEATURE, targets[0]["features"])
        self.assertEqual(targets[1]["features"], [])
        self.assertGreater(targets[0]["codes"][0]["code_bytes"], 100)

    def test_the_same_pack_each_time(self):
        self.pack("--quiet")
        first = (self.folder / "f.pack").read_bytes()
        self.pack("--quiet")
        self.assertEqual((self.folder / "f.pack").read_bytes(), first)

    def test_2(self):
        self.pack("--quiet")
        usage = lambda message, *arguments: self.fail_with(2, message, *arguments)  # noqa: E731
        usage("expected --output=F.pack", "pack", "p.pad")
        usage("--list takes one pack and no --output", "pack", "--list", "f.pack", "--output=g.pack")
        usage("two programs are called pad_relu", "pack", "p.pad", "p.pad", "--output=g.pack")
        usage("unknown target 'sm_1'", "pack", "p.pad", "--target=host,sm_1", "--output=g.pack")
        usage("unknown target ''", "pack", "p.pad", "--target=host,", "--output=g.pack")
        usage("a program of the pack (pad_relu, twice), found ''", "run", "f.pack", X)
        usage("found 'other'", "run", "f.pack", X, "--program=other")
        usage("--program is for packs (F.pack); p.pad is a program", "run", "p.pad", X, "--program=pad_relu")
        for option in ("--config=unroll=1", "--cache=c.db", "--bounds-check"):
            name = option.split("=")[0]
            usage(f"{name} is for programs; f.pack is compiled", "run", "f.pack", "--program=twice", option)
        self.assertFalse((self.folder / "g.pack").exists())

    def test_3(self):
        self.pack("--quiet")
        content = (self.folder / "f.pack").read_bytes()
        self.write("cut.pack", content[:-1])
        self.write("changed.pack", content[:100] + bytes([content[100] ^ 1]) + content[101:])
        self.write("text.pack", PAD_RELU)
        for command in (("pack", "--list"), ("run",)):
            self.fail_with(3, "cannot read no.pack: No such file or directory", *command, "no.pack")
            self.fail_with(3, "cut.pack: the pack is damaged: it says that it has", *command, "cut.pack")
            self.fail_with(3, "changed.pack: the pack is damaged: its checksum is another", *command, "changed.pack")
            self.fail_with(3, "text.pack: the pack is damaged: it does not begin as a pack does", *command, "text.pack")
        self.fail_with(3, "cannot write no/f.pack", "pack", "p.pad", "--output=no/f.pack")
        self.fail_with(3, "cannot read no.pad", "pack", "no.pad", "--output=f.pack")

    def test_4(self):
        self.pack("--quiet")
        self.fail_with(4, "lo <= 8", "run", "f.pack", "--program=pad_relu", X, "--bind=lo=9")

    def test_7(self):
        self.succeed("pack", "t.pad", "--output=gpu.pack", "--target=sm_90", "--quiet")
        self.fail_with(7, "no code of twice for device host (sm_90: it is for GPUs)", "run", "gpu.pack", "--input=x=@a.npy")
        with unittest.mock.patch.dict(os.environ, PADLOCK_CUDA_DRIVER=os.environ["PADLOCK_FAKE_CUDA"]):
            # The fake driver does not run PTX: that it was given it is what is seen.
            self.fail_with(
                7, "on cuda:0 failed: CUDA_ERROR_LAUNCH_FAILED",
                "run", "gpu.pack", "--input=x=@a.npy", "--device=cuda:0",
            )

    def test_8(self):
        self.write("c.db", "no cache")
        self.fail_with(8, "c.db", "pack", "p.pad", "--output=g.pack", "--cache=c.db", "--cache-mode=require")


if __name__ == "__main__":
    unittest.main()
