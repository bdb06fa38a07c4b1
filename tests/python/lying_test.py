"""Objects that lie to the buffer protocol and to DLPack: a named error or the right values, never a crash. Some rounds of lying.py in a
process of its own, with a seed of today; PADLOCK_SEED takes another, PADLOCK_ROUNDS more."""

import array
import os
import pathlib
import random
import subprocess
import sys
import unittest

import padlock
from python_testing import main

SEED = int(os.environ.get("PADLOCK_SEED", random.randrange(1 << 30)))
ROUNDS = int(os.environ.get("PADLOCK_ROUNDS", 2000))


class Lying(unittest.TestCase):
    def test_random_lies(self):
        print(f"seed {SEED}, {ROUNDS} rounds", flush=True)
        command = [sys.executable, "-X", "faulthandler", pathlib.Path(__file__).with_name("lying.py"), str(SEED), str(ROUNDS)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=580, check=False)
        print(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-4000:])
        self.assertIn("'a result'", done.stdout)
        self.assertIn("'InvalidArgument'", done.stdout)

    def test_an_exporter_that_refuses(self):
        view = memoryview(b"abc")
        view.release()
        with self.assertRaisesRegex(padlock.InvalidArgument, "expected a tensor, found memoryview"):
            padlock.pad(view, (1,), (1,))

    def test_a_producer_that_gives_no_capsule(self):
        class Producer:
            def __dlpack_device__(self):
                return (1, 0)

            def __dlpack__(self, **options):
                return 7

        with self.assertRaisesRegex(padlock.InvalidArgument, r"__dlpack__\(\) to return a capsule with a tensor, found 7"):
            padlock.pad(Producer(), (1,), (1,))

    def test_a_device_that_is_none(self):
        class Producer:
            def __dlpack_device__(self):
                return "cpu"

            def __dlpack__(self, **options):
                raise AssertionError("not asked")

        with self.assertRaisesRegex(padlock.InvalidArgument, r"__dlpack_device__\(\) to return two integers, found 'cpu'"):
            padlock.pad(Producer(), (1,), (1,))

    def test_negative_strides_of_a_buffer_are_read_once(self):
        values = memoryview(array.array("i", range(6)))[::-2]
        self.assertEqual(memoryview(padlock.pad(values, (1,), (1,))).tolist(), [0, 5, 3, 1, 0])


if __name__ == "__main__":
    main()
