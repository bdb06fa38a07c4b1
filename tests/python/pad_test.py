"""padlock.pad, padlock.numpy.pad and padlock.torch.pad: against elements found by walking, against NumPy's own tests,
and against PyTorch's own samples."""

import collections
import os
import random
import unittest
import warnings

from python_testing import has, main, needs, pad_list, run_python

import padlock

MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


@needs("numpy")
class Eager(unittest.TestCase):
    def test_any_width_and_sign(self):
        import numpy

        for mode in MODES:
            for n in (1, 2, 3, 5):
                x = numpy.arange(1, n + 1, dtype="i2")
                for low in range(-n, 3 * n + 2):
                    for high in (-1, 0, 2 * n + 1):
                        if low + n + high < 0:
                            continue
                        made = padlock.pad(x, (low,), (high,), mode)
                        self.assertEqual(made.tolist(), pad_list(x.tolist(), low, high, mode), (mode, n, low, high))

    def test_several_axes_of_each_size_of_element(self):
        import numpy

        seed = int(os.environ.get("PADLOCK_SEED", random.randrange(1 << 30)))
        print(f"seed {seed}")
        draw = random.Random(seed)
        for kind in ("?", "i2", "f4", "f8", "c16"):
            for mode in MODES:
                axes = draw.randint(1, 4)
                x = numpy.random.default_rng(seed).integers(0, 2, [draw.randint(1, 4) for _ in range(axes)]).astype(kind)
                low = tuple(draw.randint(0, 5) for _ in range(axes))
                high = tuple(draw.randint(0, 5) for _ in range(axes))
                want = numpy.pad(x, tuple(zip(low, high)), mode)
                self.assertEqual(padlock.pad(x, low, high, mode).tobytes(), want.tobytes(), (seed, kind, mode))

    def test_interior(self):
        import numpy

        made = padlock.pad(numpy.array([[1, 2, 3]]), (0, -1), (0, 1), interior=(0, 2), value=9)
        self.assertEqual(made.tolist(), [[9, 9, 2, 9, 9, 3, 9]])

    def test_what_it_refuses(self):
        import numpy

        x = numpy.zeros((2, 3))
        for arguments, message in (
            (((0,), (0, 0)), "low: expected 2 integers, one for each axis, found 1"),
            (((0, 0), (0, 1.5)), "high: expected an integer of 64 bits, found 1.5"),
            (((0, 0), 3), "high: expected a sequence of integers, found 3"),
            (((0, 0), (0, 0), "mirror"), "expected the mode constant, edge, .*, found 'mirror'"),
            (((0, 0), (0, 0), "edge", 3), "value and interior are for the mode constant alone"),
            (((0, -3), (0, -1)), "-1"),
            (((0, 2**62), (0, 2**62)), ""),
        ):
            with self.subTest(message), self.assertRaisesRegex(padlock.Error, message):
                padlock.pad(x, *arguments)
        with self.assertRaises(padlock.FailedPrecondition):
            padlock.pad(numpy.zeros((2, 0)), (0, 1), (0, 0), "wrap")

    def test_errors_name_the_axis_and_its_numbers(self):
        import numpy

        x, empty = numpy.zeros((2, 3)), numpy.zeros((2, 0))
        for array, arguments, message, axis, values in (
            (x, ((0, -5), (0, 0)), "axis 1: expected a result of 0 elements or more, found -2 (an extent of 3 with -5 before and 0 behind)",
             1, {"extent": 3, "low": -5, "high": 0}),
            (x.T, ((1, 2**41), (0, 0)), "axis 1: expected an amount before from -1099511627776 to 1099511627776, found 2199023255552",
             1, {"extent": 2, "low": 2**41, "high": 0}),
            (x, ((0, 0), (-(2**41), 0)), "axis 0: expected an amount behind from -1099511627776 to 1099511627776, found -2199023255552",
             0, {"extent": 2, "low": 0, "high": -(2**41)}),
            (x, ((0, 0), (0, 1), "constant", None, (0, -1)), "axis 1: expected an interior from 0 to 1099511627776, found -1",
             1, {"extent": 3, "low": 0, "high": 1, "interior": -1}),
            (empty, ((0, 1), (0, 0), "edge"), "axis 1: expected an element to fill in by mode edge, found an extent of 0, with 1 before and 0 behind",
             1, {"extent": 0, "low": 1, "high": 0}),
            (x, ((2**40, 2**40), (0, 0)), "expected a result of less than 140737488355328 bytes, found extents and amounts that make more", None, {}),
        ):
            with self.subTest(message), self.assertRaises(padlock.FailedPrecondition) as caught:
                padlock.pad(array, *arguments)
            error = caught.exception
            self.assertEqual((str(error), error.axis, error.values, error.line), (message, axis, values, None))

    def test_calls_are_remembered_and_forgotten(self):
        import numpy

        for size in list(range(1, 1500)) + [1, 2]:
            self.assertEqual(padlock.pad(numpy.ones(size, "i1"), (1,), (0,)).sum(), size)


@needs("numpy")
class Numpy(unittest.TestCase):
    def test_out_and_column_major(self):
        import numpy

        import padlock.numpy

        x = numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3))
        made = padlock.numpy.pad(x, ((1, 0), (0, 2)), mode="reflect")
        self.assertTrue(made.flags.f_contiguous)
        self.assertEqual(made.tolist(), numpy.pad(x, ((1, 0), (0, 2)), mode="reflect").tolist())
        out = numpy.empty((3, 5))
        self.assertIs(padlock.numpy.pad(x, ((1, 0), (0, 2)), "mean", out=out), out)
        self.assertEqual(out.tolist(), numpy.pad(x, ((1, 0), (0, 2)), "mean").tolist())

    def test_widths_as_they_are_mostly_written_take_the_short_way(self):
        import numpy

        from padlock._core import pad_like_numpy

        x = numpy.arange(24.0).reshape(2, 3, 4)
        for width in (2, 0, (1, 2), ((1, 2),) * 3, ((0, 3), (1, 0), (2, 2))):
            for mode in MODES:
                for view in (x, x[:, ::2], x.T[:0] if mode == "constant" else x[1:]):
                    made = pad_like_numpy(view, width, mode, None)
                    self.assertIsNotNone(made, (width, mode))
                    self.assertEqual(made.tolist(), numpy.pad(view, width, mode).tolist(), (width, mode))
        for width in (-1, 1.0, True, (1,), ((1,),), [1, 2], ((1, 2), (1, 2)), ((1, 2), (1, -2), (0, 0)), 2**70, {0: 1}, None):
            self.assertIsNone(pad_like_numpy(x, width, "edge", None), width)
        for array, mode in ((x[:0], "edge"), (x, "mean"), (x, None), (x.T, "edge"), ([1], "edge"), (x.astype(">f8"), "edge")):
            self.assertIsNone(pad_like_numpy(array, 1, mode, None), (array, mode))

    def test_fills_that_their_type_does_not_hold_are_numpys_affair(self):
        import numpy

        import padlock.numpy

        def outcome(pad, *arguments, **options):
            try:
                with numpy.errstate(all="ignore"):
                    return pad(*arguments, **options).tobytes()
            except Exception as error:  # whatever NumPy raises
                return type(error).__name__

        fills = [-1, 255, 256, 300, -129, 2**31, 2**63, 2**64, 1.5, -0.5, 1e300, numpy.nan, numpy.inf, True, 1 + 2j]
        fills += [numpy.array(fill) for fill in (256, -1, 3.75, 2 - 1j)] + [numpy.float16(3.5), numpy.int64(-7)]
        for letter in "?bBhHiIqQefdFD":
            x = numpy.ones(2, letter)
            for fill in fills:
                with self.subTest(type=letter, fill=fill):
                    options = {"constant_values": fill}
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        self.assertEqual(outcome(padlock.numpy.pad, x, 1, **options), outcome(numpy.pad, x, 1, **options))

    @needs("pytest")
    def test_numpys_own_tests(self):
        code = """
import numpy, padlock.numpy, pytest, sys
served = 0
def count_served(original):
    def counted(*arguments):
        global served
        made = original(*arguments)
        served += made is not None
        return made
    return counted
for name in ("_pad", "pad_like_numpy"):
    setattr(padlock.numpy, name, count_served(getattr(padlock.numpy, name)))
numpy.pad = padlock.numpy.pad
class Count:
    passed = failed = 0
    def pytest_runtest_logreport(self, report):
        self.failed += report.failed
        self.passed += report.when == "call" and not report.failed
count = Count()
status = pytest.main(["-q", "--pyargs", "numpy.lib.tests.test_arraypad", "-p", "no:cacheprovider"], plugins=[count])
print("RESULT", int(status), count.passed, count.failed, served)
"""
        done = run_python(code, timeout=300)
        results = [line.split() for line in done.stdout.splitlines() if line.startswith("RESULT")]
        self.assertTrue(results, done.stdout + done.stderr)
        _, status, passed, failed, served = results[0]
        self.assertEqual((status, failed), ("0", "0"), done.stdout[-3000:])
        self.assertGreaterEqual(int(passed), 500)
        self.assertGreaterEqual(int(served), 100)
        print(f"numpy's tests: {passed} passed, {served} calls served by kernels")


@needs("torch", "numpy", "expecttest")
class Torch(unittest.TestCase):
    @staticmethod
    def bits(x):
        import torch

        return x.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if x.numel() else b""

    def test_opinfo_samples_by_both_paths(self):
        import torch
        from torch.testing._internal.common_methods_invocations import op_db

        import padlock.torch

        counts = collections.Counter()
        for op in (op for op in op_db if op.name == "nn.functional.pad"):
            for kind in sorted(op.dtypes, key=str):
                for grad in (False, True) if kind.is_floating_point or kind.is_complex else (False,):
                    for sample in op.sample_inputs("cpu", kind, requires_grad=grad):
                        want = torch.nn.functional.pad(sample.input, *sample.args, **sample.kwargs)
                        plain = sample.input.detach()
                        bound = dict(zip(("pad", "mode", "value"), sample.args)) | sample.kwargs
                        full = [bound["pad"], bound.get("mode", "constant"), bound.get("value")]
                        for made in (
                            padlock.torch.pad(plain, *sample.args, **sample.kwargs),
                            padlock.torch.pad_traced_pairs(sample.input, *full, None),
                        ):
                            self.assertEqual((made.shape, made.dtype), (want.shape, want.dtype))
                            self.assertEqual(self.bits(made), self.bits(want), (sample, full))
                        counts[op.variant_test_name, str(kind)] += 1
        for op in (op for op in op_db if op.name == "nn.functional.pad"):
            for kind in op.dtypes:
                self.assertGreater(counts[op.variant_test_name, str(kind)], 0, (op.variant_test_name, kind))
        variants = collections.Counter()
        for (variant, _), count in counts.items():
            variants[variant] += count
        print(f"{counts.total()} samples of OpInfo, both paths: {dict(variants)}")

    def test_gradients(self):
        import torch

        import padlock.torch

        for mode in ("constant", "reflect", "replicate", "circular", "symmetric"):
            for pairs in ((2, 1), (7, -1, 0, 9), (-1, -1)):
                x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
                run = lambda t: padlock.torch.pad(t, pairs, mode)  # noqa: E731, B023
                self.assertTrue(torch.autograd.gradcheck(run, (x,)))
                self.assertTrue(torch.autograd.gradgradcheck(run, (x,)))

    def test_circular_pads_of_mixed_signs_as_torchs(self):
        import torch

        import padlock.torch

        x = torch.arange(10.0).reshape(1, 2, 5)
        for pairs in ((-2, 3), (3, -2), (-1, -1), (0, -3)):
            want = torch.nn.functional.pad(x, pairs, mode="circular")
            self.assertTrue(torch.equal(padlock.torch.pad(x, pairs, mode="circular"), want), pairs)

    def test_what_torch_refuses(self):
        import torch

        import padlock.torch

        made = padlock.torch.pad(torch.tensor([1, 2, 3]), (7, 4), mode="circular")
        self.assertEqual(made.tolist(), pad_list([1, 2, 3], 7, 4, "wrap"))
        made = padlock.torch.pad(torch.tensor([True, False]), (3, 3), mode="symmetric")
        self.assertEqual(made.tolist(), pad_list([True, False], 3, 3, "symmetric"))


if __name__ == "__main__":
    main()
