"""Shows the package to a type checker."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from python_testing import main, needs

import padlock

USE = """
from typing import Annotated

import padlock
import padlock.numpy
import numpy

x = numpy.zeros((2, 3))
kernel = padlock.compile("program f(x: f64[A, B]) { return x }", device=None)
shape: tuple[int, ...] = kernel.shapes(A=1, B=2)["x"]
refuted: int = kernel.prove().refuted
kernel(x, out=x)
padlock.pad(x, (0, 1), [0, 2], mode="edge", out=x)
rows: int = padlock.numpy.pad(x, 1).shape[0]
size: padlock.lang.Dim = padlock.lang.max(3, padlock.lang.Dim("n")) + 1


@padlock.jit
def pad_relu(
    x: Annotated[padlock.lang.Tensor, padlock.f32["B", "S"]],
    lo: Annotated[padlock.lang.Dim, padlock.dim],
    low: Annotated[padlock.lang.Scalar, padlock.f32],
) -> padlock.lang.Tensor:
    padlock.lang.where(lo >= -8, x.shape[1] + lo >= 0)
    y = padlock.lang.pad(x, low=[0, lo], high=[0, -(x.shape[1] + lo) % 8], value=low)
    return padlock.lang.relu(y)


text: str = pad_relu.text
try:
    kernel.tune(dict(A=1), budget=1)
except padlock.Error as error:
    axis: int | None = error.axis
"""


WRONG = """
from typing import Annotated

import padlock

padlock.pad([1], 1, 2)
padlock.compile("").prove().refuted.nothing


@padlock.jit
def wrong(
    x: Annotated[padlock.lang.Tensor, padlock.f32["B", "S"]], lo: Annotated[padlock.lang.Dim, padlock.dim]
) -> padlock.lang.Tensor:
    return padlock.lang.pad(lo, low=[0, x], high=[0, 0])
"""
#: Other libraries' types take minutes to read, and are not what is asked.
SETTINGS = "[mypy]\nstrict = True\n" + "".join(
    f"[mypy-{name}.*]\nfollow_imports = skip\nfollow_imports_for_stubs = True\n" for name in ("numpy", "torch")
)


@needs("mypy", "numpy")
class Types(unittest.TestCase):
    def test_right_uses_pass_and_wrong_ones_do_not(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("right.py", USE), ("wrong.py", WRONG), ("mypy.ini", SETTINGS)):
                pathlib.Path(folder, name).write_text(text, encoding="utf-8")
            environment = {**os.environ, "MYPYPATH": str(pathlib.Path(padlock.__file__).parents[1])}
            command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "right.py", "wrong.py"]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)
        said = [line for line in done.stdout.splitlines() if line.startswith(("right.py", "wrong.py"))]
        self.assertEqual([line for line in said if line.startswith("right.py")], [], done.stdout + done.stderr)
        self.assertIn('"pad" has incompatible type "int"', done.stdout)
        self.assertIn('"int" has no attribute "nothing"', done.stdout)
        self.assertIn('Argument 1 to "pad" has incompatible type "Dim"; expected "Tensor"', done.stdout)
        self.assertIn('List item 1 has incompatible type "Tensor"; expected "Dim | int"', done.stdout)


if __name__ == "__main__":
    main()
