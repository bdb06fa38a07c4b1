"""Kinds of tensors that are not what their memory says: right, or refused by name; never a wrong element."""

import array
import unittest

from python_testing import has, main, needs

import padlock

LOW, HIGH = (0, 1), (0, 2)


def expected(rows, fill=0):
    """Rows with one fill before and two behind."""
    return [[fill, *row, fill, fill] for row in rows]


class Buffers(unittest.TestCase):
    """Exporters of the buffer protocol that leave out what it lets them leave out."""

    def test_ctypes_arrays_have_no_strides(self):
        import ctypes

        made = padlock.pad((ctypes.c_float * 3)(1, 2, 3), (1,), (1,))
        self.assertEqual(memoryview(made).tolist(), [0, 1, 2, 3, 0])

    def test_ctypes_arrays_of_arrays(self):
        import ctypes

        rows = ((ctypes.c_int16 * 2) * 3)((1, 2), (3, 4), (5, 6))
        made = padlock.pad(rows, LOW, HIGH)
        self.assertEqual(memoryview(made).tolist(), expected([[1, 2], [3, 4], [5, 6]]))

    def test_a_ctypes_array_of_nothing(self):
        import ctypes

        made = padlock.pad((ctypes.c_double * 0)(), (1,), (2,))
        self.assertEqual(memoryview(made).tolist(), [0, 0, 0])

    def test_bytes(self):
        self.assertEqual(memoryview(padlock.pad(b"ab", (1,), (0,))).tolist(), [0, 97, 98])


@needs("numpy")
class Numpy(unittest.TestCase):
    def check(self, x, rows=None):
        import numpy

        made = padlock.pad(x, LOW, HIGH)
        self.assertIs(type(made), numpy.ndarray)
        want = numpy.zeros((x.shape[0], x.shape[1] + 3), made.dtype)
        want[:, 1:-2] = x if rows is None else rows
        self.assertEqual(made.dtype, x.dtype)
        self.assertEqual(made.tobytes(), want.tobytes())

    def test_each_element_type(self):
        import numpy

        for letter in "?bhilqBHILQefdFD":
            with self.subTest(letter):
                self.check((numpy.arange(6).reshape(2, 3) % 3).astype(letter))

    def test_views_with_steps_offsets_and_repeats(self):
        import numpy

        x = numpy.arange(48, dtype="i4").reshape(6, 8)
        self.check(x[1:5:2, 2:7:3])
        self.check(x.T)
        self.check(numpy.broadcast_to(numpy.arange(3, dtype="f4"), (4, 3)))
        self.check(numpy.lib.stride_tricks.sliding_window_view(numpy.arange(9.0), 3))

    def test_reversed_axes(self):
        import numpy

        x = numpy.arange(12, dtype="i2").reshape(3, 4)
        self.check(x[::-1, ::-1])
        self.check(x[:1][::-1])  # the stride of one row says nothing

    def test_strides_that_are_no_whole_elements(self):
        import numpy

        records = numpy.zeros((2, 3), dtype=[("a", "u1"), ("b", "<f4")])
        records["b"] = numpy.arange(6).reshape(2, 3)
        self.check(records["b"])
        import padlock.numpy

        self.assertEqual(padlock.numpy.pad(records["b"], 1).tolist(), numpy.pad(records["b"], 1).tolist())
        if has("torch"):
            import padlock.torch

            for x in (records["b"], numpy.ones((3, 4))[::-1]):
                self.assertEqual(padlock.torch.pad(x, (1, 2)).tolist(), numpy.pad(x, ((0, 0), (1, 2))).tolist())

    def test_misaligned_memory(self):
        import numpy

        memory = numpy.zeros(25, "u1")
        x = memory[1:].view("f4").reshape(2, 3)
        x[:] = [[1, 2, 3], [4, 5, 6]]
        self.check(x)

    def test_empty_and_rank_zero(self):
        import numpy

        self.assertEqual(padlock.pad(numpy.zeros((0, 3)), LOW, HIGH).shape, (0, 6))
        self.assertEqual(padlock.pad(numpy.zeros((2, 0)), LOW, HIGH, value=7).tolist(), [[7.0] * 3] * 2)
        self.assertEqual(padlock.pad(numpy.array(5.0), (), ()).tolist(), 5.0)

    def test_read_only_input_is_read_and_read_only_out_refused(self):
        import numpy

        x = numpy.ones((2, 3), "f4")
        x.flags.writeable = False
        self.check(x)
        out = numpy.zeros((2, 6), "f4")
        out.flags.writeable = False
        with self.assertRaisesRegex(padlock.InvalidArgument, "found a read-only one"):
            padlock.pad(x, LOW, HIGH, out=out)
        self.assertFalse(out.any())

    def test_foreign_byte_order_objects_and_records_are_refused(self):
        import numpy

        for kind in (">f4", "O", "S3", [("a", "f4")], "M8[s]", "g"):
            with self.subTest(kind), self.assertRaisesRegex(padlock.InvalidArgument, "expected (numbers or bools|elements that programs have)"):
                padlock.pad(numpy.zeros((2, 3), kind), LOW, HIGH)

    def test_masked_arrays_are_refused(self):
        import numpy

        with self.assertRaisesRegex(padlock.InvalidArgument, "expected a tensor, found .*MaskedArray"):
            padlock.pad(numpy.ma.masked_array([[1.0, 2, 3]], [[0, 1, 0]]), LOW, HIGH)

    def test_memory_views_and_arrays(self):
        import numpy

        self.assertEqual(padlock.pad(array.array("i", [1, 2]), (1,), (0,)).tolist(), [0, 1, 2])
        self.assertEqual(padlock.pad(memoryview(b"ab"), (0,), (1,)).tolist(), [97, 98, 0])

    def test_complex_fills(self):
        import numpy

        for kind in ("c8", "c16"):
            x = numpy.array([[1 + 2j, 3 - 4j]], kind)
            made = padlock.pad(x, (0, 1), (0, 0), value=5 - 6j)
            self.assertEqual(made.tolist(), [[5 - 6j, 1 + 2j, 3 - 4j]])
            self.assertEqual(padlock.pad(x[:, ::-1], (0, 1), (1, 0), mode="edge").tolist(), [[3 - 4j, 3 - 4j, 1 + 2j]] * 2)

    @needs("ml_dtypes")
    def test_bits_of_other_libraries_types(self):
        import ml_dtypes
        import numpy

        for kind in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
            x = numpy.array([[1.5, -2, 0.25]], kind)
            made = padlock.pad(x, LOW, HIGH, value=1.5)
            self.assertEqual(made.dtype, x.dtype)
            self.assertEqual(made.astype("f4").tolist(), [[1.5, 1.5, -2, 0.25, 1.5, 1.5]])

    def test_an_out_that_differs_is_refused(self):
        import numpy

        x = numpy.ones((2, 3), "f4")
        for out, message in (
            (numpy.zeros((2, 6), "f8"), "expected elements of f32, found f64"),
            (numpy.zeros((2, 5), "f4"), r"expected the shape \(2, 6\), found \(2, 5\)"),
            (numpy.zeros((2, 12), "f4")[:, ::2], "expected a dense, row-major tensor"),
            ((numpy.zeros((2, 6), "f4"),) * 2, "expected 1 tensors, found 2"),
        ):
            with self.subTest(message), self.assertRaisesRegex(padlock.InvalidArgument, message):
                padlock.pad(x, LOW, HIGH, out=out)
        memory = numpy.zeros(20, "f4")
        with self.assertRaisesRegex(padlock.InvalidArgument, "overlap"):
            padlock.pad(memory[:6].reshape(2, 3), LOW, HIGH, out=memory[4:16].reshape(2, 6))

    def test_what_is_no_tensor(self):
        for thing in ([[1, 2]], 3, "text", None, object()):
            with self.subTest(thing), self.assertRaisesRegex(padlock.InvalidArgument, "expected a tensor, found"):
                padlock.pad(thing, LOW, HIGH)


@needs("torch", "numpy")
class Torch(unittest.TestCase):
    def check(self, x):
        import torch

        made = padlock.pad(x, LOW, HIGH)
        want = torch.nn.functional.pad(x.resolve_conj().resolve_neg(), (1, 2))
        self.assertTrue(torch.equal(made, want), (made, want))
        self.assertEqual(made.dtype, x.dtype)

    def test_plain_strided_expanded_offset_and_empty(self):
        import torch

        x = torch.arange(48.0).reshape(6, 8)
        for view in (x, x.t(), x[1:5:2, 2:7:3], x[:1].expand(4, 8), x[2:], x[:0], x[:, :0], x.to(torch.bfloat16), x > 3):
            self.check(view)
        self.assertEqual(padlock.pad(torch.tensor(4.0), (), ()).item(), 4.0)

    def test_negative_and_conjugate_views(self):
        import torch

        z = torch.tensor([[1 + 2j, 3 - 4j]])
        negative = z.conj().imag
        self.assertTrue(negative.is_neg())
        self.check(negative)
        self.check(z.conj())
        self.assertEqual(padlock.pad(negative, LOW, HIGH).tolist(), [[0.0, -2.0, 4.0, 0.0, 0.0]])
        kernel = padlock.compile("program f(x: f32[A, B]) { y = relu(x)\n return y }")
        self.assertEqual(kernel(negative).tolist(), [[0.0, 4.0]])
        out = torch.zeros(1, 5).to(torch.complex64).conj().imag
        with self.assertRaisesRegex(padlock.InvalidArgument, "out: expected a plain tensor"):
            padlock.pad(torch.ones(1, 2), LOW, HIGH, out=out)

    def test_gradients_are_recorded(self):
        import torch

        x = torch.arange(6.0).reshape(2, 3).requires_grad_()
        padlock.pad(x, LOW, HIGH, mode="wrap").sum().backward()
        self.assertEqual(x.grad.tolist(), [[2.0, 2.0, 2.0]] * 2)
        with torch.no_grad():
            self.assertFalse(padlock.pad(x, LOW, HIGH).requires_grad)
        kernel = padlock.compile("program f(x: f32[A, B]) { y = relu(x)\n return y }")
        kernel(x).sum().backward()
        self.assertEqual(x.grad.tolist(), [[2.0, 3.0, 3.0], [3.0] * 3])
        self.check(torch.nn.Parameter(torch.ones(2, 3)))

    def test_fakes_meta_and_functional_wrappers(self):
        import torch
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            self.assertEqual(tuple(padlock.pad(torch.ones(2, 3), LOW, HIGH).shape), (2, 6))
        meta = padlock.pad(torch.ones(2, 3, device="meta"), LOW, HIGH)
        self.assertEqual((meta.device.type, tuple(meta.shape)), ("meta", (2, 6)))
        made = torch.func.functionalize(lambda t: padlock.pad(t, LOW, HIGH))(torch.ones(1, 2))
        self.assertEqual(made.tolist(), expected([[1.0, 1.0]]))

    def test_transformed_functions(self):
        import torch

        x = torch.arange(12.0).reshape(2, 2, 3)
        made = torch.vmap(lambda t: padlock.pad(t, LOW, HIGH, mode="edge"))(x)
        self.assertTrue(torch.equal(made, torch.nn.functional.pad(x, (1, 2), mode="replicate")))
        grad = torch.func.grad(lambda t: padlock.pad(t, LOW, HIGH, mode="edge").sum())(x[0])
        self.assertEqual(grad.tolist(), [[2.0, 1.0, 3.0]] * 2)

    def test_subclasses_see_the_call(self):
        import torch

        seen = []

        class Logged(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                seen.append(str(function))
                return super().__torch_function__(function, types, args, kwargs or {})

        made = padlock.pad(torch.ones(1, 2).as_subclass(Logged), LOW, HIGH)
        self.assertEqual(made.tolist(), expected([[1.0, 1.0]]))
        self.assertIn("padlock.pad", " ".join(seen))

    def test_modes_see_the_call(self):
        import torch
        from torch.overrides import TorchFunctionMode
        from torch.utils._python_dispatch import TorchDispatchMode

        seen = []

        class Function(TorchFunctionMode):
            def __torch_function__(self, function, types, args=(), kwargs=None):
                seen.append(str(function))
                return function(*args, **(kwargs or {}))

        class Dispatch(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                seen.append(str(function))
                return function(*args, **(kwargs or {}))

        for mode in (Function, Dispatch):
            seen.clear()
            with mode():
                self.assertEqual(padlock.pad(torch.ones(1, 2), LOW, HIGH).tolist(), expected([[1.0, 1.0]]))
            self.assertIn("padlock", " ".join(seen), mode)

    def test_what_has_no_strided_memory_is_refused(self):
        import torch

        for x in (
            torch.ones(2, 3).to_sparse(),
            torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 0, torch.quint8),
            torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        ):
            with self.subTest(type(x)), self.assertRaises((NotImplementedError, RuntimeError, padlock.Error)):
                padlock.pad(x, LOW, HIGH)

    def test_float8(self):
        import torch

        for kind in (torch.float8_e4m3fn, torch.float8_e5m2):
            made = padlock.pad(torch.tensor([[1.5, -2.0]]).to(kind), LOW, HIGH, value=1.5)
            self.assertEqual(made.dtype, kind)
            self.assertEqual(made.float().tolist(), expected([[1.5, -2.0]], 1.5))

    def test_a_trace_keeps_the_call(self):
        import torch
        from torch.fx.experimental.proxy_tensor import make_fx

        graph = make_fx(lambda t: padlock.pad(t, LOW, HIGH))(torch.ones(1, 2))
        self.assertIn("torch.ops.padlock.pad.default", graph.code)

    def test_out_and_numpy_beside_torch(self):
        import numpy
        import torch

        out = torch.empty(1, 5)
        self.assertIs(padlock.pad(numpy.ones((1, 2), "f4"), LOW, HIGH, out=out), out)
        self.assertEqual(out.tolist(), expected([[1.0, 1.0]]))


@needs("jax")
class Jax(unittest.TestCase):
    def test_arrays_come_back_as_arrays(self):
        import jax
        import jax.numpy as jnp

        for kind in (jnp.float32, jnp.bfloat16, jnp.int8, jnp.bool_):
            x = jnp.ones((2, 3), kind)
            made = padlock.pad(x, LOW, HIGH)
            self.assertIsInstance(made, jax.Array)
            self.assertEqual(made.dtype, x.dtype)
            self.assertTrue((made == jnp.pad(x, ((0, 0), (1, 2)))).all())

    def test_an_array_takes_no_result(self):
        import jax.numpy as jnp

        with self.assertRaises((padlock.InvalidArgument, BufferError)):
            padlock.pad(jnp.ones((2, 3)), LOW, HIGH, out=jnp.zeros((2, 6)))

    def test_tracers_are_refused(self):
        import jax
        import jax.numpy as jnp

        with self.assertRaisesRegex(Exception, "racer|expected a tensor"):
            jax.jit(lambda x: padlock.pad(x, LOW, HIGH))(jnp.ones((2, 3)))


if __name__ == "__main__":
    main()
