"""padlock.compile and Kernel: calls, out, sizes, errors as classes, and many threads."""

import gc
import pickle
import threading
import unittest

from python_testing import EXAMPLE, main, needs, run_python

import padlock

TWO = """program two(x: f32[N], a: f32, k: dim)
where 0 <= k <= 8
{
  y = pad(x, low = [k], high = [0], value = a)
  z = add(x, a)
  return y, z
}
"""


class Errors(unittest.TestCase):
    def test_a_text_that_is_no_program(self):
        with self.assertRaises(padlock.InvalidArgument) as caught:
            padlock.compile("program f(x: f32[S]) {\n  y = pat(x)\n  return y\n}")
        error = caught.exception
        self.assertIsInstance(error, ValueError)
        self.assertEqual((error.status, error.line, error.column), ("INVALID_ARGUMENT", 2, 7))
        self.assertIn("pat", error.message)
        self.assertIn("^", str(error))

    def test_every_error_of_a_text_is_shown(self):
        with self.assertRaises(padlock.InvalidArgument) as caught:
            padlock.compile("program p(x: f33[A])\n{\n  y = rely(x)\n  z = tanh(w)\n  return z\n}\n")
        for place in ("1:14: ", "3:7: ", "4:12: "):
            self.assertIn(place, str(caught.exception))
        self.assertEqual((caught.exception.line, caught.exception.column), (1, 14))
        self.assertEqual(caught.exception.message, "expected a type or 'dim', found 'f33'; did you mean 'f32'?")
        with self.assertRaises(padlock.InvalidArgument) as caught:
            padlock.compile("program p(x: f32[A])\n{\n  y = rely(x)\n  z = relu(y)\n  return z\n}\n")
        self.assertEqual(str(caught.exception).count("expected"), 1)

    def test_an_expression_with_its_values(self):
        kernel = padlock.compile(EXAMPLE, device=None)
        with self.assertRaises(padlock.FailedPrecondition) as caught:
            kernel.shapes(B=2, S=3, lo=-5)
        error = caught.exception
        self.assertIsInstance(error, ValueError)
        self.assertEqual(error.expression, "S + lo >= 0")
        self.assertEqual(error.values, {"S": 3, "lo": -5})
        self.assertEqual(error.status, "FAILED_PRECONDITION")

    def test_each_class_is_what_callers_catch(self):
        for kind, base in (
            (padlock.InvalidArgument, ValueError),
            (padlock.FailedPrecondition, ValueError),
            (padlock.ResourceExhausted, MemoryError),
            (padlock.Unavailable, RuntimeError),
            (padlock.Unimplemented, NotImplementedError),
            (padlock.NotFound, LookupError),
        ):
            self.assertTrue(issubclass(kind, base) and issubclass(kind, padlock.Error))
        self.assertFalse(issubclass(padlock.Internal, ValueError))

    def test_a_fault_of_the_library_is_never_a_value_error(self):
        from padlock.errors import make_error

        for status in range(1, 17):
            self.assertIs(type(make_error(status, 2, "m", "t", -1, "", {}, 0, 0)), padlock.Internal)

    def test_a_device_that_is_not_there(self):
        with self.assertRaisesRegex(padlock.Unavailable, "cuda"):
            padlock.compile(EXAMPLE, device="cuda:7")
        with self.assertRaisesRegex(padlock.InvalidArgument, "expected the device"):
            padlock.compile(EXAMPLE, device="tpu")

    def test_a_target_that_is_none_does_not_end_the_process(self):
        kernel = padlock.compile(EXAMPLE, device=None)
        for target, message in (
            ("host:i686", "target 'host:i686': i686 is a 32-bit CPU: expected host, a level"),
            ("host:pentium4", "pentium4 is a 32-bit CPU"),
            ("host:hasswell", "did you mean 'host:haswell'?"),
            ("sm_90a", "did you mean 'sm_90'?"),
        ):
            for ask in (lambda: kernel.emit("llvm", target=target), lambda: kernel.prove(target=target)):
                with self.assertRaises(padlock.InvalidArgument) as caught:
                    ask()
                self.assertIn(message, caught.exception.message)

    def test_a_text_that_is_too_large(self):
        for text, message in (
            ("program f(x: f32[S]) { return x }" + " " * 2000000, "expected a program of at most 1048576 bytes, found 2000033"),
            ("program f(x: f32[" + "(" * 300 + "S" + ")" * 300 + "]) { return x }", "expected parentheses at most 256 deep"),
            ("program f(x: f32[" + "1, " * 70 + "S]) { return x }", "expected a tensor of rank at most 64"),
        ):
            with self.subTest(message), self.assertRaisesRegex(padlock.ResourceExhausted, message) as caught:
                padlock.compile(text)
            self.assertEqual((caught.exception.status, caught.exception.line), ("RESOURCE_EXHAUSTED", 1))


class Sizes(unittest.TestCase):
    def test_shapes_need_no_tensor(self):
        kernel = padlock.compile(EXAMPLE, device=None)
        self.assertEqual(kernel.shapes(B=2, S=6, lo=1), {"z": (2, 8)})
        self.assertEqual((kernel.name, kernel.text), ("pad_relu", EXAMPLE))
        with self.assertRaisesRegex(padlock.InvalidArgument, "T"):
            kernel.shapes(B=2, S=6, lo=1, T=3)

    def test_explain_prove_and_emit(self):
        kernel = padlock.compile(EXAMPLE)
        self.assertEqual(kernel.explain(B=4, S=10, lo=3)["results"][0]["name"], "z")
        self.assertIn("config", kernel.explain())
        proof = kernel.prove("sm_90")
        self.assertTrue(proof)
        self.assertEqual(proof.refuted, 0)
        self.assertIn("proved", proof.report)
        self.assertIn("store z", kernel.emit("kernel"))
        self.assertIn(".visible .entry", kernel.emit("ptx", "sm_90"))
        with self.assertRaises(padlock.InvalidArgument):
            kernel.emit("soup")

    def test_kernels_are_pickled_by_their_text(self):
        self.assertEqual(pickle.loads(pickle.dumps(padlock.compile(EXAMPLE))).shapes(B=1, S=1, lo=0), {"z": (1, 8)})


@needs("numpy")
class Calls(unittest.TestCase):
    def test_by_position_and_by_name(self):
        import numpy

        kernel = padlock.compile(TWO)
        x = numpy.array([1, 2], "f4")
        for results in (kernel(x, 0.5, 1), kernel(x, 0.5, k=1), kernel(k=1, a=0.5, x=x)):
            self.assertEqual([r.tolist() for r in results], [[0.5, 1, 2], [1.5, 2.5]])
        ordered = padlock.compile(TWO, order=["k", "a", "x"])
        self.assertEqual(ordered(1, 0.5, x)[0].tolist(), [0.5, 1, 2])

    def test_out(self):
        import numpy

        kernel = padlock.compile(TWO)
        x, outs = numpy.array([1, 2], "f4"), (numpy.empty(3, "f4"), numpy.empty(2, "f4"))
        results = kernel(x, 0.5, 1, out=outs)
        self.assertIs(results[0], outs[0])
        self.assertEqual([r.tolist() for r in outs], [[0.5, 1, 2], [1.5, 2.5]])

    def test_arguments_that_do_not_fit(self):
        import numpy

        kernel, x = padlock.compile(TWO), numpy.zeros(2, "f4")
        with self.assertRaisesRegex(TypeError, "lacks a value for 'k'"):
            kernel(x, 0.5)
        with self.assertRaisesRegex(TypeError, "takes 3 arguments, 4 are given"):
            kernel(x, 0.5, 1, 2)
        with self.assertRaisesRegex(TypeError, "two values for 'a'"):
            kernel(x, 0.5, 1, a=2)
        with self.assertRaisesRegex(padlock.InvalidArgument, "expected an integer of 64 bits for 'k', found 1.5"):
            kernel(x, 0.5, 1.5)
        with self.assertRaisesRegex(padlock.InvalidArgument, "expected a value of f32, found 'text'"):
            kernel(x, "text", 1)
        with self.assertRaisesRegex(padlock.InvalidArgument, "f32"):
            kernel(numpy.zeros(2, "f8"), 0.5, 1)
        with self.assertRaises(padlock.FailedPrecondition):
            kernel(x, 0.5, 9)

    def test_a_scalar_is_not_none(self):
        import numpy

        for name in ("f32", "i64", "bool"):
            body = "{ y = pad(x, low = [1], high = [0], value = v) return y }"
            kernel = padlock.compile(f"program f(x: {name}[N], v: {name}) {body}")
            x = numpy.zeros(2, {"f32": "f4", "i64": "i8", "bool": "?"}[name])
            with self.subTest(name), self.assertRaisesRegex(padlock.InvalidArgument, f"expected a value of {name} for 'v', found None"):
                kernel(x, v=None)

    def test_scalars_keep_their_bits(self):
        import numpy

        for kind, name, values in (
            ("f8", "f64", (0.1, -0.0, float("inf"), 5e-324)),
            ("f4", "f32", (0.1, -0.0, float("-inf"), 1e-45)),
            ("f2", "f16", (0.1, -0.0, 6e-8, 65504.0)),
            ("i1", "i8", (-128, 127)),
            ("u8", "u64", (2**64 - 1, 0)),
            ("i8", "i64", (-(2**63), 2**63 - 1)),
            ("?", "bool", (True, False)),
        ):
            body = "{ y = pad(x, low = [1], high = [0], value = a) return y }"
            kernel = padlock.compile(f"program f(x: {name}[N], a: {name}) {body}")
            for value in values:
                made = kernel(numpy.zeros(0, kind), value)
                self.assertEqual(made.tobytes(), numpy.array([value], kind).tobytes(), (name, value))
            for value in {"i8": (128, -129), "u64": (2**64, -1), "i64": (2**63,), "f16": (70000.0,)}.get(name, ()):
                with self.assertRaises(padlock.InvalidArgument):
                    kernel(numpy.zeros(0, kind), value)

    def test_sixteen_threads_on_one_kernel(self):
        import numpy

        kernel, wrong = padlock.compile(EXAMPLE), []
        inputs = {size: numpy.arange(4 * size, dtype="f4").reshape(4, size) for size in (3, 100, 30000)}
        wanted = {size: kernel(x, lo=2).tobytes() for size, x in inputs.items()}

        def work(number):
            for i in range(60):
                size = (3, 100, 30000)[(i + number) % 3]
                if kernel(inputs[size], lo=2).tobytes() != wanted[size]:
                    wrong.append((number, i))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_many_calls_keep_nothing_alive(self):
        import sys

        import numpy

        kernel, x = padlock.compile(EXAMPLE), numpy.ones((2, 3), "f4")
        out = kernel(x, lo=1)
        before = (sys.getrefcount(x), sys.getrefcount(out), len(gc.get_objects()))
        for i in range(50000):
            kernel(x, lo=i % 8)
            kernel(x, lo=1, out=out)
        gc.collect()
        after = (sys.getrefcount(x), sys.getrefcount(out))
        self.assertEqual(after, before[:2])
        self.assertLess(len(gc.get_objects()) - before[2], 100)

    @needs("torch")
    def test_many_calls_of_torch_keep_no_tensor_alive(self):
        code = f"""
import gc, resource, sys
import padlock, padlock.torch, torch
kernel, x = padlock.compile({EXAMPLE!r}), torch.ones(32, 24)
out, padded = kernel(x, lo=1), padlock.torch.pad(x, (1, 1))
def alive():
    gc.collect()
    return sum(isinstance(thing, torch.Tensor) for thing in gc.get_objects()), sys.getrefcount(x), sys.getrefcount(out)
def calls(count):
    for i in range(count // 5):
        kernel(x, lo=i % 8)
        kernel(x, lo=1, out=out)
        padlock.torch.pad(x, (1, i % 7), mode="reflect")
        padlock.torch.pad(x, (1, 1), out=padded)
        try:
            kernel(x, lo=1, out=padded)
        except ValueError:
            pass
calls(1000)
before, memory = alive(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
calls(100000)
print(alive() == before, before, alive(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory)
"""
        done = run_python(code)
        self.assertTrue(done.stdout.startswith("True"), done.stdout + done.stderr)
        # 40,000 results of 3 KiB and more would be 120 MiB.
        self.assertLess(int(done.stdout.split()[-1]), 40000, done.stdout)


if __name__ == "__main__":
    main()
