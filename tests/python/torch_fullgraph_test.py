"""torch.compile(fullgraph=True) of this package's own functions, with any back end: graphs without breaks, of operators with fakes."""

import unittest

from python_testing import main, needs, run_python

BACKENDS = ("eager", "aot_eager", "inductor", "padlock")
PROGRAM = """
program shifted(x: f32[N], v: f32, n: dim) {
  y = pad(x, low = [1], high = [n], mode = wrap)
  z = add(y, v)
  return z, y
}"""


@needs("torch", "numpy")
class Fullgraph(unittest.TestCase):
    def check(self, function, *inputs, backends=BACKENDS):
        """Compares values and gradients, static and with symbolic sizes."""
        import torch

        for backend in backends:
            for dynamic in (False, True):
                torch._dynamo.reset()
                ours = torch.compile(function, backend=backend, fullgraph=True, dynamic=dynamic)
                runs = []
                for run in (ours, function):
                    leaves = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
                    made = run(*leaves)
                    results = list(made) if isinstance(made, (list, tuple)) else [made]
                    total = sum(one.double().sum() for one in results if one.requires_grad)
                    wanted = [x for x in leaves if x.requires_grad]
                    runs.append([*results, *(torch.autograd.grad(total, wanted) if wanted else ())])
                for one, other in zip(*runs, strict=True):
                    self.assertEqual((type(one), one.dtype, one.shape), (type(other), other.dtype, other.shape))
                    self.assertTrue(torch.equal(one, other), (backend, dynamic))

    def test_pads_of_every_mode(self):
        import torch

        import padlock.torch

        x = torch.arange(12.0).view(1, 3, 4)
        for mode in ("constant", "replicate", "reflect", "symmetric", "circular"):
            self.check(lambda x: padlock.torch.pad(x, (1, 2), mode=mode), x, backends=("aot_eager", "padlock"))  # noqa: B023
        self.check(lambda x: padlock.torch.pad(x, (1, 2, 0, -1), value=2.5) * 2, x)
        self.check(lambda x: padlock.torch.pad(x, (-1, 7), "circular"), x)
        self.check(lambda x: padlock.torch.pad(x, (x.shape[0], x.shape[-1]), "reflect"), x)
        self.check(lambda x: padlock.torch.pad(x, (1, 1), value=-1), torch.arange(6))

    def test_pads_of_the_language(self):
        import torch

        import padlock

        self.check(lambda x: padlock.pad(x, (0, 1), (2, -1)) + padlock.pad(x, [1, 0], [1, 0], "edge").sum(), torch.ones(3, 4))
        self.check(lambda x: padlock.pad(x, (0, 0), (0, 0), interior=(1, 0), value=3), torch.ones(3, 4))

    def test_kernels(self):
        import torch

        import padlock

        kernel = padlock.compile(PROGRAM)
        self.check(lambda x: kernel(x, 2.5, 3), torch.arange(5.0))
        self.check(lambda x: kernel(x, n=x.shape[0], v=1.0)[0] * 2, torch.arange(5.0), backends=("aot_eager", "padlock"))

    def test_jitted_functions(self):
        import torch

        import padlock

        @padlock.jit
        def framed(n: padlock.dim, x: padlock.f32["A", "B"]):
            return padlock.lang.relu(padlock.lang.pad(x, low=[n, 0], high=[0, n]))

        self.check(lambda x: framed(1, x * 2), torch.arange(6.0).view(2, 3))
        self.check(lambda x: framed(x=x, n=2), torch.arange(6.0).view(2, 3))

    def test_kernels_without_tensors_make_torchs(self):
        import torch

        import padlock

        kernel = padlock.compile("program f(n: dim) { y = iota(f32, shape = [n], axis = 0)\n return y }")
        for backend in BACKENDS:
            torch._dynamo.reset()
            made = torch.compile(lambda x: kernel(3) + x, backend=backend, fullgraph=True)(torch.ones(3))  # noqa: B023
            self.assertEqual(made.tolist(), [1.0, 2.0, 3.0])

    def test_pads_that_are_sent_here(self):
        import torch

        import padlock.torch

        def inside(x):
            with padlock.torch.override_pad():
                return torch.nn.functional.pad(x, (2, 1), mode="reflect")

        self.check(inside, torch.arange(6.0).view(2, 3))

    def test_what_is_wrong_is_said(self):
        import torch

        import padlock
        import padlock.torch

        kernel = padlock.compile(PROGRAM)
        for function, message in (
            (lambda x: kernel(x, 2.5), "a kernel lacks a value for 'n'"),
            (lambda x: kernel(x, 2.5, 3, m=4), "expected the names of parameters, found 'm'"),
            (lambda x: kernel(x, 2.5, 3, out=x), "out: expected None under torch.compile"),
            (lambda x: padlock.torch.pad(x, (1, 1), mode="mirror"), "expected the mode constant, replicate"),
        ):
            torch._dynamo.reset()
            with self.assertRaises(Exception) as raised:
                torch.compile(function, backend="eager", fullgraph=True)(torch.ones(4))
            self.assertIn(message, str(raised.exception))

    def test_whoever_is_imported_first(self):
        call = "print(torch.compile(lambda x: kernel(x), backend='eager', fullgraph=True)(torch.ones(2)).tolist())"
        make = "kernel = padlock.compile('program f(x: f32[N]) { y = pad(x, low = [1], high = [0])\\n return y }')"
        for imports in ("import padlock, torch", "import torch, padlock", "import torch._dynamo, padlock, torch"):
            ran = run_python(f"{imports}\n{make}\n{call}")
            self.assertEqual((ran.stdout, ran.returncode), ("[0.0, 1.0, 1.0]\n", 0), ran.stderr)

    def test_importing_this_imports_no_dynamo(self):
        ran = run_python("import sys, torch, padlock.torch; print('torch._dynamo' in sys.modules)")
        self.assertEqual(ran.stdout, "False\n", ran.stderr)


if __name__ == "__main__":
    main()
