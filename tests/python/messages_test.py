"""What a newcomer does wrong in Python, and what the message says to do."""

import unittest

from python_testing import main, needs

TEXT = "program p(x: f32[B, S], lo: dim) where lo >= 0 { y = pad(x, low = [0, lo], high = [0, 0])\n return y }"


@needs("numpy")
class Messages(unittest.TestCase):
    def refuses(self, kind, message, call):
        with self.assertRaises(kind) as raised:
            call()
        self.assertIn(message, str(raised.exception))

    def setUp(self):
        import numpy

        self.x = numpy.ones((2, 3), "f4")

    def test_of_pads(self):
        import numpy

        import padlock

        x, invalid = self.x, padlock.InvalidArgument
        self.refuses(TypeError, "pad() lacks a value for 'high'; 'low' and 'high' have one amount an axis. padlock.numpy.pad takes NumPy's pairs",
                     lambda: padlock.pad(x, ((1, 1), (2, 2))))
        self.refuses(invalid, "found 'replicate'; write 'edge'", lambda: padlock.pad(x, (1, 1), (1, 1), "replicate"))
        self.refuses(invalid, "found 'circular'; write 'wrap'", lambda: padlock.pad(x, (1, 1), (1, 1), mode="circular"))
        self.refuses(invalid, "found list; numpy.asarray makes one", lambda: padlock.pad([[1, 2]], (1, 1), (1, 1)))
        self.refuses(invalid, "expected numbers or bools in this machine's byte order, found text (the buffer format '1w')",
                     lambda: padlock.pad(numpy.array(["a", "b"]), [1], [1]))
        self.refuses(invalid, "found Python objects (the buffer format 'O')", lambda: padlock.pad(numpy.array([{}, 1], "O"), [1], [1]))
        self.refuses(TypeError, "pad() has no parameter 'pad_width': it has x, low, high, mode, value, interior, out",
                     lambda: padlock.pad(x, pad_width=1))
        self.refuses(TypeError, "collate: expected sequences, found int", lambda: padlock.collate([1, 2, 3]))
        self.refuses(invalid, "expected the shape (4, 5), found (2, 2)", lambda: padlock.pad(x, (1, 1), (1, 1), out=numpy.empty((2, 2), "f4")))

    def test_of_kernels(self):
        import padlock

        kernel = padlock.compile(TEXT)
        self.refuses(TypeError, "p() lacks a value for 'lo'; it has no parameter 'low'", lambda: kernel(self.x, low=1))
        self.refuses(padlock.FailedPrecondition, "expected S = 2; copy the tensor to dense memory, or declare its strides",
                     lambda: kernel(self.x.T, lo=1))
        self.refuses(padlock.InvalidArgument, "what looks like a file: padlock.load('examples/pad_relu.pad') reads it",
                     lambda: padlock.compile("examples/pad_relu.pad"))
        self.refuses(TypeError, "budget: expected seconds, found '1s'", lambda: kernel.tune(budget="1s"))
        self.refuses(AttributeError, "no attribute 'float32'; write 'padlock.f32'", lambda: padlock.float32)

    def test_of_functions(self):
        import numpy

        import padlock

        def made(function, annotation=padlock.f32["B", "S"]):
            function.__annotations__ = {"x": annotation} if annotation else {}
            return lambda: padlock.jit(function)

        self.refuses(padlock.InvalidArgument, "expected a function of padlock.lang, found NumPy's", made(lambda x: numpy.pad(x, 1)))
        with self.assertRaisesRegex(padlock.InvalidArgument, r"messages_test.py:\d+"):  # not a line of NumPy's
            made(lambda x: numpy.pad(x, 1))()
        self.refuses(AttributeError, "a tensor of a program has no 'sum'; docs/language.md lists its operations", made(lambda x: x.sum()))
        self.refuses(AttributeError, "a tensor of a program has no 'relu'; write padlock.lang.relu(x)", made(lambda x: x.relu()))

        def amount(x: padlock.f32["B"], n: padlock.i32):
            return padlock.lang.pad(x, [0], [n])

        self.refuses(padlock.InvalidArgument, "expected a size, found the scalar 'n'; a number in sizes is annotated with padlock.dim",
                     lambda: padlock.jit(amount))
        self.refuses(padlock.InvalidArgument, "found no annotation", made(lambda x: padlock.lang.relu(x), None))
        self.refuses(TypeError, "found None: a 'return' is missing", made(lambda x: None))


if __name__ == "__main__":
    main()
