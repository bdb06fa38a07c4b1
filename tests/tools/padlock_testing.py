"""Runs the command in a folder of its own for its tests, and reads and writes .npy without NumPy."""

import ast
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

PADLOCK = os.environ["PADLOCK"]
SOURCE = pathlib.Path(os.environ["PADLOCK_SOURCE"])

PAD_RELU = """\
program pad_relu(x: f32[B, S], lo: dim)
where 1 <= B <= 4096, -8 <= lo <= 8, S + lo >= 0
{
  y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = 0.5)
  z = relu(y)
  return z
}
"""


def npy(descr, shape, data, fortran=False, version=(1, 0), header=None):
    """The bytes of a .npy file with `data` as it is."""
    if header is None:
        header = repr({"descr": descr, "fortran_order": fortran, "shape": tuple(shape)})
    text = header.encode() + b"\n"
    length = struct.pack("<H" if version[0] == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + length + text + data


def read_npy(path):
    """(descr, shape, data) of a row-major file of version 1.0."""
    content = pathlib.Path(path).read_bytes()
    assert content[:8] == b"\x93NUMPY\x01\x00", content[:8]
    (length,) = struct.unpack("<H", content[8:10])
    header = ast.literal_eval(content[10 : 10 + length].decode())
    assert header["fortran_order"] is False
    assert (10 + length) % 64 == 0
    return header["descr"], header["shape"], content[10 + length :]


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


class Case(unittest.TestCase):
    """A test with a folder of its own, in which the command runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="padlock_test_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    def padlock(self, *arguments, cwd=None, timeout=60, stdin=None):
        return subprocess.run(
            [PADLOCK, *arguments], cwd=cwd or self.folder, capture_output=True, text=True, timeout=timeout, check=False,
            input=stdin.read_text() if stdin else None,
        )

    def succeed(self, *arguments):
        done = self.padlock(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def fail_with(self, code, message, *arguments):
        """The command exits with `code`, prints nothing on stdout and one error that holds `message`."""
        done = self.padlock(*arguments)
        self.assertEqual(done.returncode, code, (arguments, done.stderr))
        self.assertTrue(done.stderr.startswith("padlock: error: "), done.stderr)
        self.assertIn(message, done.stderr)
        return done
