"""Files of every version are read, and malformed ones are exit code 3: named, at once, without memory."""

import os
import random
import resource
import struct
import subprocess
import unittest

from padlock_testing import PADLOCK, Case, floats, npy, read_npy

DATA = floats(1, 2, 3, 4, 5, 6)


class Versions(Case):
    def test_every_version(self):
        self.write("p.pad", "program p(x: f32[A, B]) { y = neg(x) return y }")
        for version in ((1, 0), (2, 0), (3, 0)):
            self.write("x.npy", npy("<f4", (2, 3), DATA, version=version))
            self.succeed("run", "p.pad", "--input=x=@x.npy", "--output=y=@y.npy")
            self.assertEqual(read_npy(self.folder / "y.npy"), ("<f4", (2, 3), floats(-1, -2, -3, -4, -5, -6)))


class Malformed(Case):
    def setUp(self):
        super().setUp()
        self.write("p.pad", "program p(x: f32[A, B]) { y = neg(x) return y }")

    def refuse(self, content, message, code=3):
        self.write("x.npy", content)
        return self.fail_with(code, message, "run", "p.pad", "--input=x=@x.npy")

    def test_sizes_that_do_not_agree(self):
        self.refuse(npy("<f4", (2, 3), DATA[:-1]), "x.npy: expected 24 bytes of data for <f4[2, 3], found 23")
        self.refuse(npy("<f4", (2, 3), DATA + b"!"), "x.npy: expected 24 bytes of data for <f4[2, 3], found 25")
        self.refuse(npy("<f4", (2, 3), b""), "expected 24 bytes of data")

    def test_shapes_beyond_all_memory(self):
        self.refuse(npy("<f4", (10**18,), DATA), "expected 4000000000000000000 bytes of data for <f4[1000000000000000000]")
        self.refuse(npy("<f4", (10**18, 10**18), DATA), "expected more than 2^63 bytes of data")
        self.refuse(npy("<f4", (2**62, 4), b""), "expected more than 2^63 bytes of data")
        self.refuse(npy("<f4", (2**64, 4), b""), "expected an extent >= 0 that fits 64 bits")
        self.refuse(npy("<f4", (10**18, 10**18, 0), b""), "expected an array of fewer than 2^62 elements")

    def test_headers(self):
        self.refuse(b"", "x.npy: not a .npy file")
        self.refuse(b"PK\x03\x04", "x.npy: not a .npy file")
        self.refuse(npy("<f4", (2, 3), DATA)[:9], "npy header: the file ends inside it")
        self.refuse(npy("<f4", (2, 3), DATA)[:40], "npy header: the file ends inside it")
        self.refuse(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}", "npy header: expected at most 65536 bytes, found 4294967295")
        self.refuse(b"\x93NUMPY\x09\x00\x02\x00{}", "npy header: expected version 1.0, 2.0 or 3.0, found 9.0")
        self.refuse(npy("|O", (1,), b"\x80\x04K\x01."), "which are never unpickled")
        self.refuse(npy([("a", "<f4")], (2, 3), DATA), "structured types are not read")
        self.refuse(npy("", (), b"", header="{'descr': __import__('os').system('touch evil')}"), "expected one type as descr")
        self.assertFalse((self.folder / "evil").exists())

    def test_types_and_ranks_that_do_not_fit(self):
        self.refuse(npy("<f8", (2, 3), DATA * 2), "x.npy: expected elements of f32 for x, found <f8[2, 3]", code=4)
        self.refuse(npy("<f4", (6,), DATA), "'x' has rank 2, but a tensor of rank 1 is given", code=4)

    def test_raw_sizes(self):
        self.write("x.bin", DATA)
        self.fail_with(3, "x.bin: expected 28 bytes of data for f32[7, 1], found 24", "run", "p.pad", "--input=x=7x1xf32=@x.bin")
        self.fail_with(4, "expected elements of f32 for x, found i32[2, 3]", "run", "p.pad", "--input=x=2x3xi32=@x.bin")

    def test_what_is_no_regular_file(self):
        os.mkfifo(self.folder / "pipe")
        for name in ("pipe", "/dev/zero", "."):
            self.fail_with(3, "not a regular file", "run", "p.pad", f"--input=x=@{name}")
        self.fail_with(3, "cannot read no.npy: No such file or directory", "run", "p.pad", "--input=x=@no.npy")


class Fuzz(Case):
    def test_broken_files_end_in_an_error_or_a_result(self):
        seed = int(os.environ.get("PADLOCK_SEED", "20261120"))
        print(f"seed {seed}")
        rng = random.Random(seed)
        self.write("p.pad", "program p(x: f32[A, B]) { y = neg(x) return y }")
        good = npy("<f4", (2, 3), DATA)
        codes = set()
        for _ in range(60):
            content = bytearray(good)
            for _ in range(rng.randint(1, 3)):
                at = rng.randrange(len(content))
                if rng.random() < 0.5:
                    content[at] = rng.choice(b"0123456789,()'<>{} \x00\xff")
                else:
                    del content[at : at + rng.randint(1, 6)]
                if not content:
                    content = bytearray(b"\x93")
            self.write("x.npy", bytes(content))
            done = subprocess.run(
                [PADLOCK, "run", "p.pad", "--input=x=@x.npy", "--quiet", "--device=reference"],
                cwd=self.folder, capture_output=True, text=True, timeout=60, check=False,
            )
            self.assertIn(done.returncode, (0, 3, 4), (seed, bytes(content), done.stderr))
            codes.add(done.returncode)
        self.assertIn(3, codes)


class Limits(Case):
    def limited(self, megabytes, *arguments):
        size = megabytes << 20
        return subprocess.run(
            [PADLOCK, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
        )

    @unittest.skipIf("asan" in PADLOCK or "tsan" in PADLOCK, "sanitizers reserve terabytes of addresses")
    def test_memory_that_is_not_there_is_exit_code_4(self):
        self.write("p.pad", "program p(x: u8[A]) { y = pad(x, low = [0], high = [0]) return y }")
        done = self.limited(4096, "run", "p.pad", "--input=x=random", "--bind=A=8000000000", "--device=reference")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stderr, "^padlock: error: (result y|input x) needs 8000000000 bytes of memory")

    def test_more_than_any_machine_has(self):
        self.write("p.pad", "program p(x: u8[A]) { y = pad(x, low = [0], high = [0]) return y }")
        self.fail_with(4, "needs 1099511627776 bytes of memory", "run", "p.pad", "--input=x=random", "--bind=A=1099511627776")
        self.write("s.pad", "program p(x: u8[A] strides [T]) { y = pad(x, low = [0], high = [0]) return y }")
        self.write("x.npy", npy("|u1", (2,), b"ab"))
        self.fail_with(4, "input x needs 1099511627777 bytes of memory", "run", "s.pad", "--input=x=@x.npy", "--bind=T=1099511627776")


if __name__ == "__main__":
    unittest.main()
