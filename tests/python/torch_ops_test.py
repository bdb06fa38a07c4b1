"""The operators padlock::pad, padlock::pad_adjoint and padlock::run, and override_pad: torch's own checks of them, fakes,
gradients, batches, autocast."""

import os
import random
import re
import unittest

from python_testing import ROOT, main, needs

MODES = ("constant", "edge", "reflect", "symmetric", "wrap")
TORCH_MODES = {"edge": "replicate", "reflect": "reflect", "wrap": "circular", "constant": "constant"}
PROGRAM = """
program f(x: f32[A, B], l: dim, v: f32) {
  y = pad(x, low = [0, l], high = [0, 3 - l], value = v)
  z = relu(y)
  w = slice(z, start = [0, 0], limit = [A, (B + 1) floordiv 2])
  return z, w
}"""


@needs("torch", "numpy")
class Operators(unittest.TestCase):
    def test_torchs_own_checks(self):
        import torch

        import padlock.torch  # noqa: F401

        x = torch.randn(3, 4, requires_grad=True)
        for arguments in (([0, 1], [2, -1], "constant", 1.5), ([0, 1], [0, 2], "wrap"), ([1, 0], [0, 5], "reflect")):
            torch.library.opcheck(torch.ops.padlock.pad.default, (x, *arguments))
        for mode in MODES:
            g = torch.randn(4, 9, requires_grad=True)
            torch.library.opcheck(torch.ops.padlock.pad_adjoint.default, (g, [3, 4], [0, 3], [1, 2], mode))
        for recorded in (False, True):
            x = torch.randn(3, 4, requires_grad=recorded)
            torch.library.opcheck(torch.ops.padlock.run.default, (PROGRAM, [x], [1], [2.5]))

    def test_gradients_of_gradients_in_every_mode(self):
        import torch

        import padlock.torch  # noqa: F401

        for mode in MODES:
            for low, high in ((2, 1), (7, -1), (-1, 9), (-1, -1)):
                x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
                g = torch.randn(3, 4 + low + high, dtype=torch.float64, requires_grad=True)
                pad = lambda t: torch.ops.padlock.pad(t, [0, low], [0, high], mode)  # noqa: B023, E731
                back = lambda t: torch.ops.padlock.pad_adjoint(t, [3, 4], [0, low], [0, high], mode)  # noqa: B023, E731
                for run, given in ((pad, x), (back, g)):
                    self.assertTrue(torch.autograd.gradcheck(run, (given,)))
                    self.assertTrue(torch.autograd.gradgradcheck(run, (given,)))

    def test_gradients_of_whole_numbers_are_torchs(self):
        import torch

        seed = int(os.environ.get("PADLOCK_SEED", random.randrange(1 << 30)))
        print(f"seed {seed}")
        draw = random.Random(seed)
        for mode in ("edge", "reflect", "wrap", "constant"):
            for kind in (torch.float32, torch.float64):
                axes = draw.randint(1, 3) if mode != "constant" else 2
                shape = [draw.randint(4, 9) for _ in range(axes + 2)]
                pairs = [draw.randint(0, 3) for _ in range(2 * axes)]
                x = torch.randint(-8, 9, shape).to(kind)
                grads = []
                for pad in (torch.nn.functional.pad, padlock_pad()):
                    leaf = x.clone().requires_grad_()
                    made = pad(leaf, pairs, TORCH_MODES[mode])
                    made.backward(torch.arange(made.numel()).reshape(made.shape).to(kind) % 7 - 3)
                    grads.append(leaf.grad)
                self.assertTrue(torch.equal(*grads), (seed, mode, kind, shape, pairs))

    def test_a_program_of_torchs_symbols(self):
        import torch
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        import padlock.torch  # noqa: F401

        mode = FakeTensorMode(shape_env=ShapeEnv())
        x = mode.from_tensor(torch.randn(5, 6), static_shapes=False)
        with mode:
            z, w = torch.ops.padlock.run(PROGRAM, [x], [x.shape[0]], [0.0])
        rows, columns = x.shape
        self.assertEqual((str(z.shape[0]), str(z.shape[1])), (str(rows), str(columns + 3)))
        self.assertEqual(str(w.shape[1]), str((columns + 1) // 2))
        self.assertEqual(z.dtype, torch.float32)

    def test_batches(self):
        import torch

        import padlock.torch  # noqa: F401

        x = torch.randn(2, 3, 4)
        many = torch.vmap(lambda t: torch.ops.padlock.run(PROGRAM, [t], [1], [0.5])[0])(x)
        for i in range(2):
            self.assertTrue(torch.equal(many[i], torch.ops.padlock.run(PROGRAM, [x[i]], [1], [0.5])[0]))
        made = torch.vmap(lambda t: torch.ops.padlock.pad(t, [0, 5], [0, 1], "reflect"), in_dims=1)(x)
        self.assertTrue(torch.equal(made, torch.ops.padlock.pad(x, [0, 0, 5], [0, 0, 1], "reflect").movedim(1, 0)))
        grad = torch.vmap(torch.func.grad(lambda t: padlock_pad()(t, (2, 1), "replicate").square().sum()))(x)
        leaf = x.clone().requires_grad_()
        torch.nn.functional.pad(leaf, (2, 1), "replicate").square().sum().backward()
        self.assertTrue(torch.allclose(grad, leaf.grad))

    def test_autocast_changes_no_type(self):
        import torch

        x = torch.randn(2, 3, requires_grad=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertEqual(padlock_pad()(x, (1, 1)).dtype, torch.nn.functional.pad(x, (1, 1)).dtype)
            product = padlock_pad()(x @ x.t(), (1, 1), "reflect")
        self.assertEqual(product.dtype, torch.bfloat16)
        product.sum().backward()
        self.assertEqual(x.grad.dtype, torch.float32)


def padlock_pad():
    import padlock.torch

    return padlock.torch.pad


# Every operation of the language but those that f64 lacks.
MOVES = """
program f(x: f64[A, B], y: f64[B], n: dim, s: f64) where 0 <= n <= 9, B >= 3, A >= 2 {
  a = pad(x, low = [0, n], high = [1, n + 1], value = s)
  b = pad(x, low = [0, 1], high = [0, 2 * n], mode = MODE)
  c = concat(a, b, axis = 0)
  d = slice(c, start = [0, 0], limit = [A, B])
  e = slice(y, start = [0], limit = [1])
  f = mul(d, y)
  g = pad(f, low = [1, 0], high = [0, 2], interior = [1, 2], value = e)
  h = transpose(g, perm = [1, 0])
  i = slice(h, start = [1, 0], limit = [B, A], step = [2, 1])
  j = reshape(i, shape = [A * (B floordiv 2)])
  k = broadcast(j, shape = [2, A * (B floordiv 2), 3], axes = [1])
  back = pad_adjoint(b, extent = [A, B], low = [0, 1], high = [0, 2 * n], mode = MODE)
  counted = iota(f64, shape = [A, 1], axis = 0)
  l = mul(back, counted)
  order = iota(i64, shape = [4], axis = 0)
  found = search(order, order)
  m = take(l, found, axis = 0, value = s)
  return c, k, l, m
}"""
CORNERS = """
program f(x: f64[A, B], y: f64[B], low: f64) {
  a = relu(x)
  b = leaky_relu(x, alpha = 0.25)
  c = clamp(x, lo = low, hi = 0.75)
  d = add(a, y)
  e = mul(b, c)
  f = sub(d, e)
  g = neg(f)
  h = abs(g)
  p = add(h, 1.5)
  q = sqrt(p)
  r = div(y, q)
  w = floor(r)
  u = ceil(r)
  v = round(u)
  s = sign(v)
  t = maximum(q, r)
  m = minimum(t, s)
  less = lt(x, y)
  le = le(x, low)
  gt = gt(y, 0.25)
  ge = ge(x, bits(0x3fe0000000000000))
  eq = eq(x, y)
  ne = ne(s, w)
  one = and(less, gt)
  two = or(le, ge)
  three = not(eq)
  four = and(two, ne)
  five = or(one, four)
  six = and(five, three)
  kept = select(six, m, x)
  chosen = select(five, f64(-inf), 2)
  whole = cast(chosen, i8)
  float = cast(whole, f64)
  z = mul(kept, float)
  return z, q
}"""
SMOOTH = ("exp", "log", "tanh", "sigmoid", "erf", "gelu", "gelu_tanh", "silu", "softplus", "rsqrt")


@needs("torch", "numpy")
class Programs(unittest.TestCase):
    """Gradients of any program: its statements once more, as operators that have some."""

    def run_program(self, text, xs, dims=(), scalars=()):
        import torch

        import padlock.torch  # noqa: F401

        return torch.ops.padlock.run(text, list(xs), list(dims), list(scalars))

    def moves(self):
        import torch

        xs = torch.randn(3, 5, dtype=torch.float64), torch.randn(5, dtype=torch.float64)
        for mode in MODES:
            yield MOVES.replace("MODE", mode), xs, (2,), (0.5,)

    def test_what_is_run_again_is_the_program(self):
        import torch
        from padlock.torch import _replay

        given = torch.randn(3, 4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
        for text, xs, dims, scalars in (*self.moves(), (CORNERS, given, (), (-0.5,))):
            wanted, made = self.run_program(text, xs, dims, scalars), _replay.replay(text, xs, dims, scalars)
            for a, b in zip(wanted, made, strict=True):
                # torch's square root is not correctly rounded on every processor (MKL's on Intel's is not); ours is.
                same = torch.allclose(a, b, rtol=1e-15, atol=0) if text is CORNERS else torch.equal(a, b)
                self.assertTrue(same, text)
        known = {*_replay._MOVES, *_replay._ELEMENTWISE}
        table = (ROOT / "ir" / "operation.h").read_text(encoding="utf-8")
        self.assertEqual(known, set(re.findall(r'^  X\(\w+, "(\w+)", \w+, -?\d\)', table, re.M)))
        self.assertTrue(all(f" {name}(" in MOVES + CORNERS for name in known - {*SMOOTH}))

    def test_first_and_second(self):
        import torch

        seed = int(os.environ.get("PADLOCK_SEED", random.randrange(1 << 30)))
        print(f"seed {seed}")
        torch.manual_seed(seed)
        given = torch.randn(3, 4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
        for text, xs, dims, scalars in (*self.moves(), (CORNERS, given, (), (-0.5,))):
            run = lambda *xs: [r for r in self.run_program(text, xs, dims, scalars)]  # noqa: B023, E731
            leaves = [x.clone().requires_grad_() for x in xs]
            self.assertTrue(torch.autograd.gradcheck(run, leaves, fast_mode=True), seed)
            self.assertTrue(torch.autograd.gradgradcheck(run, leaves, fast_mode=True), seed)

    def test_activations(self):
        import torch

        for name in SMOOTH:
            x = (torch.rand(50) * 4 + 0.1).requires_grad_()
            text = f"program f(x: f32[N]) {{ y = {name}(x)\n return y }}"
            (made,) = self.run_program(text, [x])
            found = torch.autograd.grad(made.sum(), x, create_graph=True)[0]
            second = torch.autograd.grad(found.sum(), x)[0]
            functional = {"gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu, "softplus": torch.nn.functional.softplus}
            functional["gelu_tanh"] = lambda x: torch.nn.functional.gelu(x, approximate="tanh")
            exact = x.detach().double().requires_grad_()
            wanted = torch.autograd.grad(functional.get(name, getattr(torch, name, None))(exact).sum(), exact, create_graph=True)[0]
            self.assertTrue(torch.allclose(found.double(), wanted, rtol=1e-5, atol=1e-6), name)
            self.assertTrue(torch.allclose(second.double(), torch.autograd.grad(wanted.sum(), exact)[0], rtol=1e-4, atol=1e-5), name)

    def test_kernels_whole_numbers_and_what_needs_none(self):
        import torch

        import padlock

        text = "program f(x: f32[N], m: bool[N], i: i32[N]) { y = select(m, x, 0)\n z = add(i, i)\n return y, z }"
        x, mask, i = torch.randn(4, requires_grad=True), torch.tensor([True, False, True, True]), torch.arange(4, dtype=torch.int32)
        y, z = padlock.compile(text)(x, mask, i)
        self.assertEqual((y.requires_grad, z.requires_grad), (True, False))
        y.backward(torch.tensor([1.0, 2.0, 3.0, 4.0]))
        self.assertEqual(x.grad.tolist(), [1.0, 0.0, 3.0, 4.0])
        with torch.no_grad():
            self.assertFalse(padlock.compile(text)(x, mask, i)[0].requires_grad)

    def test_transforms(self):
        import torch

        import padlock

        kernel = padlock.compile("program f(x: f32[N]) { y = pad(x, low = [1], high = [2], mode = wrap)\n z = mul(y, y)\n return z }")
        x, run = torch.tensor([1.0, 2.0, 3.0]), lambda x: kernel(x).sum()
        self.assertEqual(torch.func.grad(run)(x).tolist(), [4.0, 8.0, 12.0])
        self.assertEqual(torch.vmap(torch.func.grad(run))(torch.stack([x, -x])).tolist(), [[4.0, 8.0, 12.0], [-4.0, -8.0, -12.0]])
        self.assertEqual(torch.func.grad(lambda x: torch.vmap(kernel)(x).sum())(x[None]).tolist(), [[4.0, 8.0, 12.0]])
        self.assertEqual(torch.func.jvp(run, (x,), (torch.ones(3),))[1].item(), 24.0)
        self.assertEqual(torch.func.jacrev(torch.func.grad(run))(x).diag().tolist(), [4.0, 4.0, 4.0])
        # Never a gradient that is silently 0.
        with self.assertRaisesRegex(RuntimeError, "functorch"):
            torch.func.grad(lambda x: torch.ops.padlock.run(kernel.text, [x], [], [])[0].sum())(x)

    def test_under_compile(self):
        import torch

        function = lambda x: self.run_program(PROGRAM, [x * 2], [1], [2.5])[0].square()  # noqa: E731
        x = torch.randn(3, 4, requires_grad=True)
        (wanted,) = torch.autograd.grad(function(x).sum(), x)
        for backend in ("aot_eager", "padlock"):
            torch._dynamo.reset()
            (found,) = torch.autograd.grad(torch.compile(function, backend=backend)(x).sum(), x)
            self.assertTrue(torch.equal(found, wanted), backend)


@needs("torch", "numpy")
class Override(unittest.TestCase):
    def test_functions_and_modules_inside_are_ours(self):
        import torch

        import padlock.torch

        layer = torch.nn.ReflectionPad2d(7)
        x = torch.randn(1, 2, 3, 3, requires_grad=True)
        with self.assertRaises(RuntimeError):
            layer(x)
        with padlock.torch.override_pad():
            made = layer(x)
            self.assertEqual(tuple(made.shape), (1, 2, 17, 17))
            made.sum().backward()
            self.assertEqual(torch.nn.functional.pad(x.detach(), (1, 2), value=3.0)[0, 0, 0, 0].item(), 3.0)
        self.assertIn("padlock", made.grad_fn.name())
        self.assertEqual(x.grad.sum().item(), 2 * 17 * 17)
        with self.assertRaises(RuntimeError):
            layer(x)

    def test_what_is_not_ours_stays_torchs(self):
        import torch

        import padlock.torch

        nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
        with padlock.torch.override_pad():
            with self.assertRaisesRegex(NotImplementedError, "mode"):
                torch.nn.functional.pad(torch.ones(2, 3), (1, 1), mode="mirror")
            with self.assertRaises((NotImplementedError, RuntimeError)):
                torch.nn.functional.pad(nested, (1, 1))

    def test_convolutions_that_pad(self):
        import torch

        import padlock.torch

        torch.manual_seed(0)
        for mode in ("reflect", "replicate", "circular"):
            layer = torch.nn.Conv2d(2, 3, 3, padding=1, padding_mode=mode)
            x = torch.randn(2, 2, 5, 6)
            want = layer(x)
            with padlock.torch.override_pad():
                self.assertTrue(torch.equal(layer(x), want), mode)


@needs("torch", "numpy", "expecttest")
class Samples(unittest.TestCase):
    """Gradients on PyTorch's own samples of pads."""

    def samples(self, kind):
        from torch.testing._internal.common_methods_invocations import op_db

        for op in (op for op in op_db if op.name == "nn.functional.pad"):
            for sample in op.sample_inputs("cpu", kind):
                if sample.input.numel() > 0:
                    yield op, sample

    def test_of_whole_numbers_they_are_torchs(self):
        import torch

        count = 0
        for kind in (torch.float32, torch.float64):
            for op, sample in self.samples(kind):
                x = torch.randint(-8, 9, sample.input.shape).to(kind)
                grads = []
                for pad in (torch.nn.functional.pad, padlock_pad()):
                    leaf = x.clone().requires_grad_()
                    made = pad(leaf, *sample.args, **sample.kwargs)
                    made.backward(torch.arange(made.numel()).reshape(made.shape).to(kind) % 11 - 5)
                    grads.append(leaf.grad)
                self.assertTrue(torch.equal(*grads), (op.variant_test_name, sample))
                count += 1
        print(f"gradients of {count} samples of OpInfo")
        self.assertGreater(count, 100)

    def test_first_and_second_by_differences(self):
        import torch

        seed = int(os.environ.get("PADLOCK_SEED", random.randrange(1 << 30)))
        parts = int(os.environ.get("PADLOCK_OPINFO_PARTS", 4))
        chosen = [sample for _, sample in self.samples(torch.float64) if sample.input.numel() <= 64][seed % parts :: parts]
        for sample in chosen:
            run = lambda x: padlock_pad()(x, *sample.args, **sample.kwargs)  # noqa: B023, E731
            leaf = sample.input.clone().requires_grad_()
            self.assertTrue(torch.autograd.gradcheck(run, (leaf,)), (seed, sample))
            self.assertTrue(torch.autograd.gradgradcheck(run, (leaf,)), (seed, sample))
        print(f"gradcheck and gradgradcheck on {len(chosen)} samples, seed {seed}")


if __name__ == "__main__":
    main()
