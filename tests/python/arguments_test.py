"""The tables of docs/arguments.md, and what is observed."""

import unittest

from python_testing import main, needs


@needs("numpy", "torch", "jax", "ml_dtypes")
class Arguments(unittest.TestCase):
    maxDiff = None

    def test_the_page_says_what_is_observed(self):
        import arguments

        observed, written = arguments.observed(), arguments.written()
        for name in observed:
            self.assertEqual(written[name].splitlines(), observed[name].splitlines(), "python tests/python/arguments.py writes the page")

    def test_what_is_taken_and_what_is_refused_are_both_there(self):
        import arguments

        table = arguments.written()["python"]
        for word in ("NumPy |", "PyTorch |", "JAX |", "written |", "*InvalidArgument* |", "not tried |"):
            self.assertIn(word, table)
        for kind in arguments.kinds():
            self.assertIn(f"| {kind} |", table)


if __name__ == "__main__":
    main()
