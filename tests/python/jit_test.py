"""The builder: Python that writes a program's text, and nothing else."""

import re
import unittest
from typing import Annotated

from python_testing import ROOT, main, needs

import padlock
from padlock import lang


class Text(unittest.TestCase):
    def test_a_program(self):
        @padlock.jit
        def pad_relu(x: padlock.f32["B", "S"], lo: padlock.dim):
            """Pads, then cuts off what is negative."""
            lang.where(lo >= -8, lo <= 8, x.shape[1] + lo >= 0)
            y = lang.pad(x, low=[0, lo], high=[0, -(x.shape[1] + lo) % 8], value=-1.5)
            return lang.relu(y)

        self.assertEqual(
            pad_relu.text,
            "program pad_relu(x: f32[B, S], lo: dim)\n"
            "where lo >= -8, lo <= 8, S + lo >= 0\n"
            "{\n"
            "  t0 = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = -1.5)\n"
            "  t1 = relu(t0)\n"
            "  return t1\n"
            "}\n",
        )
        self.assertEqual((pad_relu.__name__, pad_relu.__doc__), ("pad_relu", "Pads, then cuts off what is negative."))
        self.assertEqual(pad_relu.shapes(B=2, S=6, lo=1), {"t1": (2, 8)})

    def test_annotations_that_type_checkers_take(self):
        @padlock.jit
        def cut(
            x: Annotated[lang.Tensor, padlock.f32["B", "S"]], a: Annotated[lang.Scalar, padlock.f32], k: Annotated[lang.Dim, padlock.dim]
        ) -> lang.Tensor:
            return lang.pad(x, [0, k], [0, -k], value=a)

        self.assertEqual(cut.text.splitlines()[0], "program cut(x: f32[B, S], a: f32, k: dim)")

    def test_size_expressions_are_what_python_computes(self):
        forms = [
            lambda a, b: a + 2 * b - 3,
            lambda a, b: (a - b) - (a - 5),
            lambda a, b: a - (b - 1) % 4,
            lambda a, b: -a % 7 + b * (a + 1),
            lambda a, b: (a + b) // 3 * 2,
            lambda a, b: 7 - a * b // 2 % 5,
            lambda a, b: -(a + b) // 4 + 20,
            lambda a, b: 100 // (a + 1) + 9 % (b + 1),
        ]
        for number, form in enumerate(forms):

            def sized(x: padlock.u8["A", "B"]):
                lang.where(x.shape[0] >= 1, x.shape[1] >= 1)
                return lang.broadcast(lang.slice(x, [0, 0], [1, 1]), [lang.max(form(*x.shape), 0), 1], [0, 1])

            kernel = padlock.compile(lang.text_of(sized), device=None)
            for a, b in ((1, 1), (3, 2), (5, 9), (8, 4)):
                self.assertEqual(kernel.shapes(A=a, B=b), {"t1": (max(form(a, b), 0), 1)}, (number, kernel.text))

    @needs("numpy")
    def test_every_operation(self):
        import numpy

        @padlock.jit
        def everything(x: padlock.f32["A", "B"], y: padlock.f32["A", "B"], a: padlock.f32, k: padlock.dim):
            lang.where(k >= 0, k <= x.shape[0])
            one = lang.leaky_relu(lang.clamp(lang.abs(x) + y * 2.0 - a, -3.0, 3.0), 0.5)
            two = lang.select(lang.and_(lang.lt(x, y), lang.not_(lang.eq(x, 0.0))), lang.sqrt(lang.abs(x)), -y / 4.0)
            three = lang.maximum(lang.minimum(one, two), lang.sign(lang.sub(x, y)))
            both = lang.concat(lang.transpose(three, [1, 0]), lang.transpose(lang.neg(three), [1, 0]), axis=0)
            chosen = lang.or_(lang.ge(both, 0.0), lang.or_(lang.le(both, -1.0), lang.or_(lang.gt(both, 9.0), lang.ne(both, both))))
            part = lang.slice(lang.cast(chosen, padlock.i32), [0, k], [2 * x.shape[1], x.shape[0]], [2, 1])
            return lang.pad(part, [1, 0], [0, 1], interior=[1, 0], value=7), lang.pad(both, [2, 1], [1, 2], mode="wrap")

        x, y = numpy.random.default_rng(1).normal(size=(2, 4, 3)).astype("f4")
        first, second = everything(x, y, 0.25, 1)
        self.assertEqual(first.shape, tuple(everything.shapes(A=4, B=3, k=1).values())[0])
        one = numpy.clip(abs(x) + y * 2 - numpy.float32(0.25), -3, 3)
        one = numpy.where(one < 0, one * numpy.float32(0.5), one)
        two = numpy.where((x < y) & (x != 0), numpy.sqrt(abs(x)), -y / numpy.float32(4))
        three = numpy.maximum(numpy.minimum(one, two), numpy.sign(x - y))
        both = numpy.concatenate([three.T, (-three).T])
        self.assertEqual(second.tobytes(), numpy.pad(both, ((2, 1), (1, 2)), mode="wrap").tobytes())
        part = ((both >= 0) | (both <= -1)).astype("i4")[::2, 1:]
        want = numpy.full((2 * part.shape[0], part.shape[1] + 1), 7, "i4")
        want[1::2, :-1] = part
        self.assertEqual(first.tolist(), want.tolist())

    def test_each_operation_of_the_language_has_a_function(self):
        table = (ROOT / "ir" / "operation.h").read_text(encoding="utf-8")
        names = re.findall(r'X\(\w+, "(\w+)", \w+, -?\d+\)', table)
        self.assertIn("pad", names)
        lacking = [name for name in names if not hasattr(lang, name) and not hasattr(lang, name + "_")]
        self.assertEqual(lacking, [], "python/padlock/lang/ writes them")

    @needs("numpy")
    def test_gradients_of_pads(self):
        import numpy

        @padlock.jit
        def backward(g: padlock.f32["G"], n: padlock.dim, p: padlock.dim):
            lang.where(n >= 1, p >= 0, g.shape[0] == n + 2 * p)
            return lang.pad_adjoint(g, [n], [p], [p], mode="wrap"), lang.pad_adjoint(g, [n], [p], [p])

        self.assertIn("pad_adjoint(g, extent = [n], low = [p], high = [p], mode = wrap)", backward.text)
        around, cut = backward(numpy.arange(7, dtype="f4"), 3, 2)
        self.assertEqual((around.tolist(), cut.tolist()), ([2 + 5, 3 + 0 + 6, 4 + 1], [2, 3, 4]))

    @needs("numpy")
    def test_activations(self):
        import numpy

        names = ("floor", "ceil", "round", "exp", "log", "tanh", "sigmoid", "erf", "gelu", "gelu_tanh", "silu")

        @padlock.jit
        def all_of_them(x: padlock.f32["N"]):
            return tuple(getattr(lang, name)(x) for name in (*names, "softplus", "rsqrt"))

        x = numpy.array([0.25, 1.5, 3.0], "f4")
        made = dict(zip((*names, "softplus", "rsqrt"), all_of_them(x)))
        for name in ("floor", "ceil", "exp", "log", "tanh"):
            numpy.testing.assert_allclose(made[name], getattr(numpy, name)(x), rtol=1e-6)
        self.assertEqual(made["round"].tolist(), [0, 2, 3])
        numpy.testing.assert_allclose(made["sigmoid"], 1 / (1 + numpy.exp(-x)), rtol=1e-6)
        numpy.testing.assert_allclose(made["rsqrt"], x**-0.5, rtol=1e-6)

    @needs("numpy")
    def test_strides_and_the_order_of_parameters(self):
        import numpy

        @padlock.jit
        def columns(k: padlock.dim, x: padlock.f32["A", "B"].strides("s", "t")):
            return lang.pad(x, [k, 0], [0, 0])

        x = numpy.arange(6, dtype="f4").reshape(2, 3).T
        self.assertEqual(columns(1, x).tolist(), [[0, 0]] + x.tolist())


class Refusals(unittest.TestCase):
    def refuses(self, function, message):
        with self.assertRaisesRegex(padlock.InvalidArgument, message) as caught:
            padlock.jit(function)
        return str(caught.exception)

    def test_each_names_its_line(self):
        def quotient(x: padlock.f32["S"]):
            return lang.pad(x, [x.shape[0] / 2], [0])

        said = self.refuses(quotient, "sizes are whole: expected 'S // 2', found '/'")
        self.assertRegex(said, r"jit_test.py:\d+: return lang.pad\(x, \[x.shape\[0\] / 2\], \[0\]\)")

    def test_values_that_are_not_there(self):
        def decides(x: padlock.f32["S"]):
            return x if x.shape[0] > 3 else lang.relu(x)

        def chained(x: padlock.f32["S"]):
            lang.where(0 <= x.shape[0] <= 3)
            return x

        def counts(x: padlock.f32["S"]):
            return [lang.relu(x) for _ in range(x.shape[0])][0]

        def branches(x: padlock.f32["S"]):
            return lang.relu(x) if x else x

        self.refuses(decides, "'S > 3' has no value while the program is written")
        self.refuses(chained, "a chain as two comparisons")
        self.refuses(counts, "'S' has no value while the program is written")
        self.refuses(branches, "'x' has no elements while the program is written")

    def test_operands_that_do_not_fit(self):
        self.refuses(lambda x: x, "parameter 'x': expected padlock.f32")

        def axes(x: padlock.f32["S"]):
            return lang.pad(x, [0, 0], [0])

        def kinds(x: padlock.f32["S"]):
            return lang.add(x, object())

        def sizes(x: padlock.f32["S"]):
            return lang.pad(x, [1.5], [0])

        self.refuses(axes, "low: expected 1 sizes, one for each axis, found 2")
        self.refuses(kinds, "expected a tensor, a scalar or a number, found <object")
        self.refuses(sizes, "expected a size, found 1.5")
        with self.assertRaisesRegex(padlock.InvalidArgument, "belong in a function under @padlock.jit"):
            lang.relu(lang.Tensor(None, "x", []))

    def test_types_by_their_names(self):
        def narrowed(x: padlock.f32["S"]):
            return lang.add(lang.cast(x, "f16"), lang.cast(lang.iota("i64", [x.shape[0]], 0), padlock.f16))

        self.assertIn("cast(x, f16)", padlock.jit(narrowed).text)

        def unknown(x: padlock.f32["S"]):
            return lang.cast(x, "float32")

        self.refuses(unknown, r"expected an element type \(f64, f32, .*\), found 'float32'")

    def test_what_is_returned(self):
        def nothing(x: padlock.f32["S"]):
            lang.relu(x)

        with self.assertRaisesRegex(TypeError, "nothing: expected it to return tensors of the program, found None"):
            padlock.jit(nothing)


def line_of(text):
    """The number of the only line of this file that ends with a text."""
    found = [number for number, line in enumerate(open(__file__, encoding="utf-8"), 1) if line.rstrip().endswith("# " + text)]
    return found[0]


class Lines(unittest.TestCase):
    """Errors of a function name its lines, not those of the text that it became."""

    def check(self, error, line, message):
        self.assertEqual((error.file, error.line, error.column), (__file__, line, None), str(error))
        self.assertRegex(str(error), f"^{message}\n  {re.escape(__file__)}:{line}: ")

    def test_of_a_program_that_is_refused(self):
        with self.assertRaises(padlock.InvalidArgument) as caught:

            @padlock.jit
            def wrong(x: padlock.f32["B", "S"]):
                y = lang.relu(x)
                return lang.select(y, x, x)  # the line of a select

        self.check(caught.exception, line_of("the line of a select"), ".*bool.*")

    def test_of_sizes_that_break_a_statement_or_a_constraint(self):
        @padlock.jit
        def cut(x: padlock.f32["B", "S"], k: padlock.dim):
            lang.where(k >= 0)
            lang.where(x.shape[0] <= 4)  # the line of a constraint
            return lang.pad(x, [0, 0], [0, -k])  # the line of a pad

        with self.assertRaises(padlock.FailedPrecondition) as caught:
            cut.shapes(B=1, S=2, k=3)
        self.check(caught.exception, line_of("the line of a pad"), "padded extent on axis 1 .*")
        self.assertEqual(caught.exception.values, {"S": 2, "k": 3})
        with self.assertRaises(padlock.FailedPrecondition) as caught:
            cut.shapes(B=5, S=2, k=0)
        self.check(caught.exception, line_of("the line of a constraint"), "upper bound of 'B'.*")

    @needs("numpy")
    def test_of_a_call(self):
        import numpy

        @padlock.jit
        def cut(x: padlock.f32["B", "S"], k: padlock.dim):
            return lang.pad(x, [0, 0], [0, -k])  # the line of a call's pad

        with self.assertRaises(padlock.FailedPrecondition) as caught:
            cut(numpy.ones((1, 2), "f4"), 3)
        self.check(caught.exception, line_of("the line of a call's pad"), "padded extent on axis 1 .*")


@needs("numpy")
class Defaults(unittest.TestCase):
    def test_a_call_may_leave_them_out(self):
        import pickle

        import numpy

        @padlock.jit
        def widened(x: padlock.f32["S"], v: padlock.f32 = 2.5, k: padlock.dim = 1):
            return lang.pad(x, [k], [0], value=v)

        x = numpy.ones(2, "f4")
        for kernel in (widened, pickle.loads(pickle.dumps(widened))):
            self.assertEqual(kernel(x).tolist(), [2.5, 1, 1])
            self.assertEqual(kernel(x, 7).tolist(), [7, 1, 1])
            self.assertEqual(kernel(x, k=2).tolist(), [2.5, 2.5, 1, 1])
            self.assertEqual(kernel.shapes(S=2), {"t0": (3,)})
        with self.assertRaisesRegex(TypeError, "lacks a value for 'x'"):
            widened()

    def test_those_that_are_none(self):
        def of_a_tensor(x: padlock.f32["S"] = 3):
            return x

        def of_a_dim(x: padlock.f32["S"], k: padlock.dim = 1.5):
            return lang.pad(x, [k], [0])

        for function, name in ((of_a_tensor, "x"), (of_a_dim, "k")):
            with self.assertRaisesRegex(padlock.InvalidArgument, f"parameter '{name}': expected a default of a scalar or a dim"):
                padlock.jit(function)


if __name__ == "__main__":
    main()
