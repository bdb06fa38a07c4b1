"""padlock run: placing inputs, writing and comparing results, what it prints."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
import unittest

from padlock_testing import PAD_RELU, PADLOCK, Case, floats, npy, read_npy

DEVICES = ("host", "reference")
COPY = "program copy(x: {type}[A, B]) {{ y = slice(x, start = [0, 0], limit = [A, B]) return y }}"


class Results(Case):
    def test_pads_on_every_device(self):
        self.write("p.pad", PAD_RELU)
        self.write("x.npy", npy("<f4", (2, 3), floats(1, -2, 3, -4, 5, -6)))
        for device in DEVICES:
            self.succeed("run", "p.pad", "--input=x=@x.npy", "--bind=lo=1", "--output=z=@z.npy", f"--device={device}")
            self.assertEqual(
                read_npy(self.folder / "z.npy"),
                ("<f4", (2, 8), floats(*[0.5, 1, 0, 3] + [0.5] * 4 + [0.5, 0, 5, 0] + [0.5] * 4)),
            )

    def test_text_tells_shape_bytes_values_config_and_time(self):
        self.write("p.pad", PAD_RELU)
        self.write("x.npy", npy("<f4", (1, 3), floats(1, -2, 3)))
        text = self.succeed("run", "p.pad", "--input=x=@x.npy", "--bind=lo=0")
        self.assertIn("z: f32[1, 8], 32 bytes: 1 0 3 0.5 0.5 0.5 0.5 0.5\n", text)
        self.assertRegex(text, r"(?m)^config: vector_bytes=")
        self.assertRegex(text, r"(?m)^time: [0-9.]+ ms$")
        self.assertNotIn("seed", text)
        self.assertEqual(self.succeed("run", "p.pad", "--input=x=@x.npy", "--bind=lo=0", "--quiet"), "")

    def test_json_is_one_object(self):
        self.write("p.pad", PAD_RELU)
        self.write("x.npy", npy("<f4", (1, 3), floats(1, -2, 3)))
        arguments = ("run", "p.pad", "--input=x=@x.npy", "--bind=lo=0")
        result = json.loads(self.succeed(*arguments, "--json"))
        self.assertEqual((result["schema"], result["command"], result["program"]), (1, "run", "pad_relu"))
        self.assertEqual(result["results"][0]["extents"], [1, 8])
        self.assertEqual(result["results"][0]["storage_bytes"], 32)
        self.assertEqual(result["results"][0]["first_values"][:4], ["1", "0", "3", "0.5"])
        self.assertNotIn("seed", result)
        text = self.succeed(*arguments, "--json=out.json")
        self.assertIn("z: f32[1, 8]", text)
        written = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(written["results"], result["results"])

    def test_json_before_the_program_does_not_take_it(self):
        self.write("p.pad", PAD_RELU)
        done = self.succeed("run", "--json", "p.pad", "--input=x=random", "--bind=B=1,S=2,lo=0")
        self.assertEqual(json.loads(done)["program"], "pad_relu")

    def test_raw_files_and_bf16(self):
        self.write("p.pad", "program p(x: bf16[A]) { y = pad(x, low = [1], high = [0], value = 1) return y }")
        data = struct.pack("<3H", 0x4000, 0x7FC1, 0x8000)
        expected = struct.pack("<4H", 0x3F80, 0x4000, 0x7FC1, 0x8000)
        self.write("x.bin", data)
        self.write("v2.npy", npy("|V2", (3,), data))
        self.write("u2.npy", npy("<u2", (3,), data))
        self.write("big.npy", npy(">u2", (3,), struct.pack(">3H", 0x4000, 0x7FC1, 0x8000)))
        for given in ("3xbf16=@x.bin", "@v2.npy", "@u2.npy", "@big.npy"):
            self.succeed("run", "p.pad", f"--input=x={given}", "--output=y=@y.bin")
            self.assertEqual((self.folder / "y.bin").read_bytes(), expected, given)
        self.fail_with(2, "which .npy lacks", "run", "p.pad", "--input=x=@v2.npy", "--output=y=@y.npy")

    def test_rank_zero(self):
        self.write("p.pad", "program p(x: f32[]) { y = neg(x) return y }")
        self.write("x.bin", floats(2))
        self.write("x.npy", npy("<f4", (), floats(2)))
        for given in ("f32=@x.bin", "@x.npy"):
            self.succeed("run", "p.pad", f"--input=x={given}", "--output=y=@y.npy")
            self.assertEqual(read_npy(self.folder / "y.npy"), ("<f4", (), floats(-2)))

    def test_every_type_moves_its_bytes(self):
        types = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "i64": "<i8", "i32": "<i4", "i16": "<i2", "i8": "|i1"}
        types |= {"u64": "<u8", "u32": "<u4", "u16": "<u2", "u8": "|u1", "bool": "|b1"}
        for name, descr in types.items():
            data = bytes(range(1, 1 + 6 * int(descr[2]))) if name != "bool" else bytes([0, 1, 1, 0, 1, 0])
            self.write("p.pad", COPY.format(type=name))
            self.write("x.npy", npy(descr, (2, 3), data))
            self.succeed("run", "p.pad", "--input=x=@x.npy", "--output=y=@y.npy")
            self.assertEqual(read_npy(self.folder / "y.npy"), (descr, (2, 3), data))

    def test_scalars_are_literals(self):
        self.write("p.pad", "program p(x: f32[A], v: f32) { y = pad(x, low = [1], high = [0], value = v) return y }")
        self.write("x.npy", npy("<f4", (1,), floats(7)))
        for literal, bits in (("-1.5", 0xBFC00000), ("nan", 0x7FC00000), ("bits(0x7fc00001)", 0x7FC00001)):
            self.succeed("run", "p.pad", "--input=x=@x.npy", f"--input=v={literal}", "--output=y=@y.bin")
            self.assertEqual((self.folder / "y.bin").read_bytes()[:4], struct.pack("<I", bits))

    def test_several_results_and_a_returned_input(self):
        self.write("p.pad", "program p(x: f32[A, B] strides [1, A]) { y = neg(x) return y, x }")
        self.write("x.npy", npy("<f4", (2, 3), floats(1, 2, 3, 4, 5, 6)))
        self.succeed("run", "p.pad", "--input=x=@x.npy", "--output=x=@a.npy", "--output=y=@b.npy")
        self.assertEqual(read_npy(self.folder / "a.npy")[2], floats(1, 2, 3, 4, 5, 6))
        self.assertEqual(read_npy(self.folder / "b.npy")[2], floats(-1, -2, -3, -4, -5, -6))


class Placement(Case):
    """Elements are placed at the declared strides, whatever the file's order."""

    DATA = floats(1, 2, 3, 4, 5, 6)

    def run_copy(self, strides, *extra, shape=(2, 3), data=DATA, fortran=False):
        self.write("p.pad", f"program p(x: f32[A, B] {strides}) {{ y = neg(x) return y }}")
        self.write("x.npy", npy("<f4", shape, data, fortran=fortran))
        self.succeed("run", "p.pad", "--input=x=@x.npy", "--output=y=@y.npy", *extra)
        data = read_npy(self.folder / "y.npy")[2]
        return [-v for v in struct.unpack(f"<{len(data) // 4}f", data)]

    def test_both_orders_give_the_same_array(self):
        column_major = floats(1, 4, 2, 5, 3, 6)
        for strides in ("", "strides [B, 1]", "strides [1, A]", "strides [T, U]", "strides [B + 5, 1]"):
            self.assertEqual(self.run_copy(strides), [1, 2, 3, 4, 5, 6], strides)
            self.assertEqual(self.run_copy(strides, data=column_major, fortran=True), [1, 2, 3, 4, 5, 6], strides)

    def test_a_stride_may_be_bound(self):
        self.assertEqual(self.run_copy("strides [T, 1]", "--bind=T=10"), [1, 2, 3, 4, 5, 6])
        # What explain says of the storage is what the run takes: 10 + 3 elements.
        text = self.succeed("explain", "p.pad", "--bind=A=2,B=3,T=10")
        self.assertIn("= 52 bytes", text)

    def test_shared_addresses_must_agree(self):
        self.assertEqual(self.run_copy("strides [0, 1]", data=floats(1, 2, 3, 1, 2, 3)), [1, 2, 3, 1, 2, 3])
        self.fail_conflict("strides [0, 1]", "element [0, 0] differs from another one there")
        # Overlapping without a stride of 0: (0, 1) and (1, 0) share an address.
        self.assertEqual(self.run_copy("strides [1, 1]", data=floats(1, 2, 3, 2, 3, 4)), [1, 2, 3, 2, 3, 4])
        self.fail_conflict("strides [1, 1]", "put several elements at one address")

    def fail_conflict(self, strides, message):
        self.write("p.pad", f"program p(x: f32[A, B] {strides}) {{ y = neg(x) return y }}")
        self.write("x.npy", npy("<f4", (2, 3), self.DATA))
        self.fail_with(4, message, "run", "p.pad", "--input=x=@x.npy")

    def test_byte_orders(self):
        big = struct.pack(">6f", 1, 2, 3, 4, 5, 6)
        self.write("p.pad", "program p(x: f32[A, B] strides [1, A]) { y = neg(x) return y }")
        self.write("x.npy", npy(">f4", (2, 3), big))
        self.succeed("run", "p.pad", "--input=x=@x.npy", "--output=y=@y.npy")
        self.assertEqual(read_npy(self.folder / "y.npy")[2], floats(-1, -2, -3, -4, -5, -6))

    def test_empty_arrays(self):
        self.assertEqual(self.run_copy("strides [T, U]", shape=(0, 3), data=b""), [])
        self.assertEqual(self.run_copy("", shape=(3, 0), data=b"", fortran=True), [])

    def test_more_than_a_buffer_of_elements(self):
        count = 300 * 400
        data = struct.pack(f"<{count}f", *range(count))
        transposed = struct.pack(f"<{count}f", *(row * 400 + column for column in range(400) for row in range(300)))
        self.write("p.pad", "program p(x: f32[A, B]) { y = slice(x, start = [0, 0], limit = [A, B]) return y }")
        self.write("x.npy", npy("<f4", (300, 400), transposed, fortran=True))
        self.succeed("run", "p.pad", "--input=x=@x.npy", "--output=y=@y.npy")
        self.assertEqual(read_npy(self.folder / "y.npy")[2], data)


class Random(Case):
    def run_random(self, *extra):
        self.write("p.pad", PAD_RELU)
        text = self.succeed("run", "p.pad", "--input=x=random", "--bind=B=4,S=9,lo=2", "--json", *extra)
        result = json.loads(text)
        return result["seed"], result["results"][0]["first_values"]

    def test_a_seed_repeats_and_is_printed(self):
        seed, values = self.run_random()
        self.assertEqual(self.run_random(f"--seed={seed}"), (seed, values))
        self.assertEqual(self.run_random("--seed=7"), self.run_random("--seed=7", "--device=reference"))
        self.assertNotEqual(self.run_random("--seed=7")[1], self.run_random("--seed=8")[1])
        text = self.succeed("run", "p.pad", "--input=x=random", "--bind=B=4,S=9,lo=2", "--seed=7")
        self.assertIn("seed: 7\n", text)

    def test_every_type_can_be_random_on_both_devices(self):
        for name in "f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool".split():
            self.write("p.pad", f"program p(x: {name}[A]) {{ y = pad(x, low = [1], high = [2]) return y }}")
            self.succeed("run", "p.pad", "--input=x=random", "--bind=A=50", "--seed=3", "--output=y=@h.bin")
            arguments = ("--input=x=random", "--bind=A=50", "--seed=3", f"--expect=y=53x{name}=@h.bin")
            self.succeed("run", "p.pad", *arguments, "--device=reference")
            self.assertGreater(len(set((self.folder / "h.bin").read_bytes())), 1)


class Expect(Case):
    def setUp(self):
        super().setUp()
        self.write("p.pad", "program p(x: f32[A, B]) { y = add(x, x) return y }")
        self.write("x.npy", npy("<f4", (1, 4), struct.pack("<4I", 0x3F800000, 0x7FC00001, 0x80000000, 0x40000000)))

    def expect(self, code, bits, *extra, shape=(1, 4)):
        self.write("y.npy", npy("<f4", shape, struct.pack(f"<{len(bits)}I", *bits)))
        done = self.padlock("run", "p.pad", "--input=x=@x.npy", "--expect=y=@y.npy", *extra)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_equal(self):
        done = self.expect(0, [0x40000000, 0x7FC00001, 0x80000000, 0x40800000])
        self.assertIn("y: as expected, 4 elements\n", done.stdout)

    def test_an_open_nan_may_be_any_nan(self):
        self.expect(0, [0x40000000, 0xFFC00055, 0x80000000, 0x40800000])
        done = self.expect(5, [0x40000000, 0x7F800000, 0x80000000, 0x40800000])
        self.assertIn("at [0, 1] expected inf, found ", done.stderr)

    def test_a_moved_nan_keeps_its_bits(self):
        self.write("p.pad", "program p(x: f32[A, B]) { y = relu(x) return y }")
        self.expect(0, [0x3F800000, 0x7FC00001, 0x80000000, 0x40000000])
        self.expect(5, [0x3F800000, 0x7FC00002, 0x80000000, 0x40000000])

    def test_differences_are_counted_and_the_first_shown(self):
        done = self.expect(5, [0x40000000, 0x7FC00001, 0x00000000, 0x40800001])
        self.assertIn("--expect=y: 2 of 4 elements differ; the first at [0, 2] expected 0, found -0", done.stderr)
        report = json.loads(self.expect(5, [0x40000000, 0x7FC00001, 0x00000000, 0x40800001], "--json").stdout)
        self.assertEqual(report["expect"][0]["differing"], 2)
        self.assertFalse(report["expect"][0]["equal"])

    def test_ulp_relaxes(self):
        bits = [0x40000001, 0x7FC00001, 0x00000000, 0x407FFFFE]
        self.expect(5, bits)
        self.expect(5, bits, "--ulp=1")
        self.expect(0, bits, "--ulp=2")

    def test_another_shape_or_type_differs(self):
        done = self.expect(5, [0x40000000] * 4, shape=(4, 1))
        self.assertIn("expected <f4[4, 1], found f32[1, 4]", done.stderr)
        self.write("y.bin", bytes(16))
        done = self.padlock("run", "p.pad", "--input=x=@x.npy", "--expect=y=1x4xi32=@y.bin")
        self.assertEqual(done.returncode, 5)

    def test_column_major_expectations(self):
        self.write("x.npy", npy("<f4", (2, 2), floats(1, 2, 3, 4)))
        self.write("y.npy", npy("<f4", (2, 2), floats(2, 6, 4, 8), fortran=True))
        self.succeed("run", "p.pad", "--input=x=@x.npy", "--expect=y=@y.npy")

    def test_results_are_written_even_if_they_differ(self):
        self.expect(5, [0, 0, 0, 0], "--output=y=@out.npy")
        self.assertTrue((self.folder / "out.npy").exists())


class Interruption(Case):
    """A run that waits in the middle of writing: a pipe that nobody reads takes no more than a part of a result."""

    def setUp(self):
        super().setUp()
        self.write("p.pad", "program p(x: f32[A]) { y = neg(x) z = abs(x) return y, z }")
        self.write("y.bin", "old")
        os.mkfifo(self.folder / "pipe.bin")
        self.pipe = os.open(self.folder / "pipe.bin", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, self.pipe)

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def start(self, before_exec=None):
        """Returns when the first result is complete under its temporary name."""
        outputs = ("--output=y=@y.bin", "--output=z=@pipe.bin")
        command = [PADLOCK, "run", "p.pad", "--input=x=random", "--bind=A=1000000", *outputs]
        run = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=before_exec
        )
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        self.wait_until(lambda: run.poll() is not None or self.bytes_in_pipe() > 0)
        self.assertIsNone(run.poll())
        self.assertEqual(len(self.names()), 4, self.names())
        return run

    def wait_until(self, condition):
        while not condition():
            time.sleep(0.01)

    def bytes_in_pipe(self):
        try:
            return len(os.read(self.pipe, 1))
        except BlockingIOError:
            return 0

    def test_leaves_no_file_behind(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            run = self.start(lambda number=number: signal.signal(number, signal.SIG_DFL))
            run.send_signal(number)
            self.assertEqual(run.wait(), 130, number)
            self.assertEqual(self.names(), ["p.pad", "pipe.bin", "y.bin"])
            self.assertEqual((self.folder / "y.bin").read_bytes(), b"old")
            while self.bytes_in_pipe():
                os.read(self.pipe, 1 << 20)

    def test_an_ignored_signal_stays_ignored(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            run = self.start(lambda number=number: signal.signal(number, signal.SIG_IGN))
            run.send_signal(number)
            os.set_blocking(self.pipe, True)
            while os.read(self.pipe, 1 << 20):
                pass
            os.set_blocking(self.pipe, False)
            self.assertEqual(run.wait(timeout=60), 0, number)
            self.assertEqual((self.folder / "y.bin").stat().st_size, 4000000)


class Memory(Case):
    @unittest.skipIf(os.environ.get("PADLOCK_SANITIZE"), "a sanitizer's shadow of the arrays is private memory too")
    def test_private_memory_is_inputs_and_outputs_and_64_mib(self):
        """Measured as the greatest private memory while 2 x 64 MiB are read, computed and written."""
        mib = 1 << 20
        self.write("p.pad", "program p(x: u8[A, B] strides [1, A]) { y = pad(x, low = [0, 1], high = [0, 0]) return y }")
        self.write("x.npy", npy("|u1", (8192, 8192), bytes(64 * mib)))
        self.write(
            "measure.py",
            "import re, subprocess, sys\n"
            "p = subprocess.Popen(sys.argv[1:])\n"
            "most = 0\n"
            "while p.poll() is None:\n"
            "    try: text = open(f'/proc/{p.pid}/status').read()\n"
            "    except OSError: break\n"
            "    m = re.search(r'RssAnon:\\s+(\\d+)', text)\n"
            "    most = max(most, int(m[1]) if m else 0)\n"
            "print(p.wait(), most)\n",
        )
        command = [sys.executable, "measure.py", PADLOCK, "run", "p.pad", "--input=x=@x.npy", "--quiet"]
        done = subprocess.run(
            [*command, "--output=y=@y.npy", "--expect=y=@y.npy"], cwd=self.folder, capture_output=True, text=True, check=True
        )
        self.assertTrue(done.stdout.startswith("3 "), done.stdout)  # there is no y.npy to compare with yet
        done = subprocess.run([*command, "--output=y=@y.npy"], cwd=self.folder, capture_output=True, text=True, check=True)
        code, most_kib = map(int, done.stdout.split())
        self.assertEqual(code, 0)
        print(f"most private memory: {most_kib / 1024:.1f} MiB", file=sys.stderr)
        self.assertLess(most_kib / 1024, 64 + 64 + 64 + 1)
        self.assertGreater(most_kib / 1024, 64)


if __name__ == "__main__":
    unittest.main()
