import contextlib
import io
import pathlib
import unittest

import activation_coefficients

ROOT = pathlib.Path(__file__).resolve().parents[2]


class TestActivationCoefficients(unittest.TestCase):
    def test_the_header_is_what_the_script_prints(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            activation_coefficients.main()
        header = ROOT / "compiler/emit/scalar/activation/coefficients.h"
        self.assertEqual(printed.getvalue(), header.read_text())


if __name__ == "__main__":
    unittest.main()
