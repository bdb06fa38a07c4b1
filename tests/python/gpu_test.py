"""The package on a GPU: the caller's stream of each library, captured graphs, gradients, kernels within programs."""

import unittest

from python_testing import EXAMPLE, has, main, needs

MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def gpu():
    """Returns whether PyTorch sees a GPU."""
    if not has("torch"):
        return False
    import torch

    return torch.cuda.is_available()


needs_gpu = unittest.skipUnless(gpu(), "needs a GPU that PyTorch sees")


@needs_gpu
@needs("torch")
class Torch(unittest.TestCase):
    def tensor(self, shape, dtype="float32"):
        import torch

        return (torch.randn(shape, device="cuda") * 50).to(getattr(torch, dtype))

    def test_each_mode_and_type_has_the_same_bits_as_torchs_pad(self):
        import torch
        import torch.nn.functional as F

        import padlock.torch

        for dtype in ("float32", "float16", "bfloat16", "float64", "int8", "int64"):
            for mode in MODES:
                for shape, pad in (((3, 5, 17), (2, 3)), ((2, 3, 33, 65), (1, 4, 3, 2)), ((1, 2, 511, 1000), (7, 0, 0, 9))):
                    if mode != "constant" and dtype in ("int8", "int64"):
                        continue  # torch has no such pad on a GPU
                    x = self.tensor(shape, dtype)
                    made = padlock.torch.pad(x, pad, mode=mode)
                    self.assertEqual(made.device, x.device)
                    self.assertTrue(torch.equal(made, F.pad(x, pad, mode=mode)), (dtype, mode, shape))

    def test_calls_follow_the_current_stream(self):
        import torch

        import padlock.torch

        stream = torch.cuda.Stream()
        x, out = self.tensor((2048, 2048)), torch.empty(2050, 2050, device="cuda")
        for k in range(50):
            with torch.cuda.stream(stream):
                x.fill_(float(k))
                padlock.torch.pad(x, (1, 1, 1, 1), out=out)
                total = padlock.torch.pad(torch.full_like(x, float(k)), (1, 1)).sum(dtype=torch.float64)  # its input dies at once
                seen = out.clone()
            stream.synchronize()
            self.assertTrue(seen[1:-1, 1:-1].eq(k).all() and seen[0].eq(0).all(), k)
            self.assertEqual(total.item(), k * 2048 * 2048)

    def test_a_kernel_without_tensors_runs_where_its_result_is(self):
        import torch

        import padlock
        import padlock.torch  # noqa: F401

        text = "program f(n: dim, v: f32) { a = iota(f32, shape = [n], axis = 0)\n y = add(a, v)\n return y }"
        kernel, want = padlock.compile(text, device=None), torch.arange(5000.0) + 0.5
        self.assertTrue(torch.equal(kernel(5000, 0.5, out=torch.empty(5000)), want))
        self.assertTrue(torch.equal(kernel(5000, 0.5, out=torch.empty(5000, device="cuda")).cpu(), want))
        (made,) = torch.ops.padlock.run(text, [], [5000], [0.5], torch.device("cuda"))
        self.assertTrue(made.is_cuda and torch.equal(made.cpu(), want))
        function = lambda: torch.nn.functional.pad(torch.ones(512, 512, device="cuda"), (1, 1))  # noqa: E731
        for dynamic in (False, True):
            torch._dynamo.reset()
            ours = torch.compile(function, backend="padlock", dynamic=dynamic, options={"padlock.force": True})()
            self.assertTrue(ours.is_cuda and torch.equal(ours, function()))

    def test_a_captured_call_is_replayed_whether_its_kernel_was_loaded_or_not(self):
        import torch
        import torch.nn.functional as F

        import padlock.torch

        x = self.tensor((61, 77))
        for pad in ((1, 1, 1, 1), (3, 1, 2, 1)):
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                y = padlock.torch.pad(x, pad, mode="reflect")
            x.copy_(self.tensor((61, 77)))
            graph.replay()
            self.assertTrue(torch.equal(y, F.pad(x[None], pad, mode="reflect")[0]), pad)

    def test_gradients_are_those_of_the_cpu_also_where_torch_is_to_be_deterministic(self):
        import torch
        import torch.nn.functional as F

        import padlock.torch

        torch.use_deterministic_algorithms(True)
        self.addCleanup(torch.use_deterministic_algorithms, False)
        for mode in MODES:
            x = torch.randint(-8, 8, (2, 3, 20, 30), device="cuda").double().requires_grad_()
            y = padlock.torch.pad(x, (3, 2, 1, 4), mode=mode)
            weight = torch.randint(-8, 8, y.shape, device="cuda").double()
            y.backward(weight)
            other = x.detach().cpu().requires_grad_()
            F.pad(other, (3, 2, 1, 4), mode=mode).backward(weight.cpu())
            self.assertTrue(torch.equal(x.grad.cpu(), other.grad), mode)

    def test_a_compiled_pad_of_a_dynamic_row_is_right_at_each_length(self):
        import torch
        import torch.nn.functional as F

        def run(x):
            return F.pad(x, (0, 1)).relu()

        compiled = torch.compile(run, backend="padlock", dynamic=True)
        for n in (128, 129, 135, 136, 512, 1001):
            x = self.tensor((17, n))
            self.assertTrue(torch.equal(compiled(x), run(x)), n)

    def test_report_169760_a_pad_of_a_dimension_marked_as_dynamic(self):
        import torch
        import torch.nn.functional as F

        def run(x):
            return F.relu(F.pad(x, (0, 1)))

        for backend in ("padlock", "inductor"):
            torch._dynamo.reset()
            compiled, right = torch.compile(run, backend=backend), True
            for n in (128, 129, 135, 512, 2047):
                x = self.tensor((17, n))
                torch._dynamo.mark_dynamic(x, 1)
                right &= torch.equal(compiled(x), run(x))
            print(f"#169760 with {backend}: {'right' if right else 'WRONG'}")
            self.assertTrue(right or backend == "inductor")

    def test_the_operators_pass_opcheck(self):
        import torch

        import padlock.torch  # noqa: F401

        program = "program p(x: f32[M, N], by: f32, n: dim) { y = pad(x, low = [0, n], high = [0, 0])\n z = mul(y, by)\n return z }"
        for recorded in (False, True):
            x = torch.randn(3, 4, device="cuda", requires_grad=recorded)
            for mode in MODES.values():
                torch.library.opcheck(torch.ops.padlock.pad.default, (x, [0, 3], [1, 2], mode))
                g = torch.randn(4, 9, device="cuda", requires_grad=recorded)
                torch.library.opcheck(torch.ops.padlock.pad_adjoint.default, (g, [3, 4], [0, 3], [1, 2], mode))
            torch.library.opcheck(torch.ops.padlock.run.default, (program, [x], [1], [2.5]))

    def train(self, axes, steps=3):
        """Weights after a few steps of a net with reflection pads, and whether torch let it run."""
        import torch

        torch.manual_seed(0)
        pad, conv = getattr(torch.nn, f"ReflectionPad{axes}d"), getattr(torch.nn, f"Conv{axes}d")
        model = torch.nn.Sequential(pad(2), conv(3, 8, 5), torch.nn.ReLU(), pad(1), conv(8, 3, 3)).cuda()
        images = torch.rand(2, 3, *[12] * axes, device="cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(steps):
            optimizer.zero_grad()
            (model(images) - images).square().mean().backward()
            optimizer.step()
        return torch.cat([weights.detach().flatten() for weights in model.parameters()])

    def test_a_train_step_that_torch_refuses_in_deterministic_mode(self):
        import torch

        import padlock.torch

        torch.use_deterministic_algorithms(True)
        self.addCleanup(torch.use_deterministic_algorithms, False)
        for axes in (1, 2, 3):
            with padlock.torch.override_pad():
                first, second = self.train(axes), self.train(axes)
            self.assertTrue(torch.equal(first, second), axes)
            try:
                self.train(axes)
                refused = "runs"
            except RuntimeError as error:
                refused = f"refuses it: {str(error).splitlines()[0][:60]}"
            print(f"ReflectionPad{axes}d in deterministic mode: the same bits twice; torch alone {refused}")


@needs_gpu
@needs("cupy")
class CuPy(unittest.TestCase):
    def test_calls_follow_the_current_stream(self):
        import cupy

        import padlock

        with cupy.cuda.Stream(non_blocking=True) as stream:
            for k in range(50):
                made = padlock.pad(cupy.full((1000, 1000), k, dtype=cupy.float32), (1, 1), (1, 1))
                total = made.sum(dtype="float64")  # which rounds no sum of these
                stream.synchronize()
                self.assertIsInstance(made, cupy.ndarray)
                self.assertEqual(float(total), k * 1e6)

    def test_a_kernel_takes_and_makes_its_arrays(self):
        import cupy

        import padlock

        x = cupy.arange(12, dtype=cupy.float32).reshape(3, 4) - 5
        made = padlock.compile(EXAMPLE)(x, lo=1)
        want = cupy.pad(x, ((0, 0), (1, 3)), constant_values=-1.5)
        self.assertTrue((made == cupy.maximum(want, 0)).all())


@needs_gpu
@needs("jax")
class Jax(unittest.TestCase):
    def setUp(self):
        import jax

        if jax.default_backend() != "gpu":
            self.skipTest("needs JAX with CUDA")

    def test_each_mode_and_type_within_jit(self):
        import jax
        import jax.numpy as jnp
        import numpy

        import padlock.jax

        for mode in MODES.values():
            for kind in ("float32", "bfloat16", "int8", "complex64"):
                x = jnp.asarray(numpy.random.default_rng(1).integers(0, 9, (3, 5))).astype(kind)
                made = jax.jit(lambda x: padlock.jax.pad(x, (2, 0), (1, 4), mode))(x)  # noqa: B023
                want = jnp.pad(x, ((2, 1), (0, 4)), mode=mode)
                self.assertEqual(numpy.asarray(made).tobytes(), numpy.asarray(want).tobytes(), (mode, kind))

    def test_what_is_before_and_after_it_keeps_its_order(self):
        import jax
        import jax.numpy as jnp

        import padlock
        import padlock.jax

        total = jax.jit(lambda x, k: (padlock.jax.pad(x + k, (1, 1), (1, 1)) * 2).sum())
        x = jnp.zeros((2048, 2048), jnp.float32)
        for k in range(30):
            self.assertEqual(float(total(x, float(k % 4))), k % 4 * 2 * 2048 * 2048)
            eager = padlock.pad(x + k % 4, (1, 1), (1, 1))
            self.assertEqual(float(eager.sum()), k % 4 * 2048 * 2048)


if __name__ == "__main__":
    main()
