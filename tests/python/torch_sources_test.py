"""torch.compile(backend="padlock"): kernels without tensors among their inputs, and the strides of results where several are dense."""

import unittest

from python_testing import main, needs
from torch_aliases_test import Case, compiled, taken

COUNTED = "program f(n: dim, v: f32) { a = iota(f32, shape = [n], axis = 0)\n y = add(a, v)\n return y }"


class WithoutTensors(Case):
    """A kernel whose inputs are no tensors takes its library and its device from the graph."""

    def test_the_result_is_a_tensor_of_the_graphs_device(self):
        import torch

        for options in ({}, {"padlock.force": True}):
            for dynamic in (False, True):
                function = lambda: torch.nn.functional.pad(torch.zeros(512, 512), (1, 1), value=2)  # noqa: E731
                made, want = compiled(function, dynamic=dynamic, options=options)(), function()
                self.assertEqual((type(made), made.device, made.stride()), (torch.Tensor, want.device, want.stride()))
                self.assertTrue(torch.equal(made, want))
        self.assertTrue(taken())

    def test_beside_what_inductor_compiles_and_with_symbolic_sizes(self):
        import torch

        def function(n, x):
            return torch.nn.functional.pad(torch.ones(n, 512), (n, 1)).cumsum(0), x + 1

        ours = compiled(function, dynamic=True)
        for n in (5, 7):
            for made, want in zip(ours(n, torch.ones(2)), function(n, torch.ones(2)), strict=True):
                self.assertTrue(torch.equal(made, want))
        self.assertEqual(len(taken()), 1)

    def test_in_a_backward_graph(self):
        import torch

        class Planted(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.sum(0)

            @staticmethod
            def backward(ctx, grad):
                return torch.nn.functional.pad(torch.full((4, 3), 2.0), (1, 2))

        for dynamic in (False, True):
            x = torch.ones(4, 6, requires_grad=True)
            compiled(lambda x: Planted.apply(x) * 1, dynamic=dynamic)(x).sum().backward()
            self.assertEqual(x.grad.tolist(), [[0.0, 2.0, 2.0, 2.0, 0.0, 0.0]] * 4)
        self.assertIn("program cluster()", [one.text for one in taken() if one.backward][0])

    def test_the_operator(self):
        import torch

        import padlock.torch  # noqa: F401

        (made,) = torch.ops.padlock.run(COUNTED, [], [3], [0.5])
        self.assertEqual(made.tolist(), [0.5, 1.5, 2.5])
        (made,) = torch.ops.padlock.run(COUNTED, [], [3], [0.5], torch.device("cpu"))
        self.assertEqual(made.device.type, "cpu")
        self.assertEqual(torch.ops.padlock.run(COUNTED, [], [3], [0.5], torch.device("meta"))[0].shape, (3,))
        torch.library.opcheck(torch.ops.padlock.run.default, (COUNTED, [], [3], [0.5], torch.device("cpu")))

    def test_a_kernel_that_is_given_its_results(self):
        import numpy
        import torch

        import padlock

        kernel = padlock.compile(COUNTED)
        for out in (torch.empty(3), numpy.empty(3, "f4")):
            self.assertIs(kernel(n=3, v=0.5, out=out), out)
            self.assertEqual(out.tolist(), [0.5, 1.5, 2.5])


class Strides(Case):
    """Along an axis of one element, or without elements, several strides are dense; callers see which."""

    def check(self, function, x):
        import torch

        for dynamic in (False, True):
            made, want = compiled(function, dynamic=dynamic)(x), function(x)
            self.assertEqual((made.shape, made.stride()), (want.shape, want.stride()), dynamic)
            self.assertTrue(torch.equal(made, want), dynamic)

    def test_of_views(self):
        import torch

        pad, x = torch.nn.functional.pad, torch.ones(4, 6)
        self.check(lambda x: pad(x, (1, 1))[:1, :3], x)
        self.check(lambda x: pad(x, (1, 1))[:0, 1:], x)
        self.check(lambda x: pad(x, (1, 1))[:, None, 2:3], x)
        self.assertEqual(len(taken()), 6)

    def test_of_what_is_computed(self):
        import torch

        pad, x = torch.nn.functional.pad, torch.ones(4, 6)
        self.check(lambda x: pad(x, (1, 1))[:1, :3].relu(), x)
        self.check(lambda x: pad(x, (1, 1))[:0, 1:] * 2, x)
        self.check(lambda x: pad(x, (1, 1)).t()[2:3, :3] + 1, x)
        self.assertEqual(len(taken()), 6)

    def test_without_elements_no_extent_is_inferred(self):
        import torch

        self.check(lambda x: torch.stack([x[:0], x[:0]]), torch.ones(3, 6))
        self.assertEqual(len(taken()), 2)

    def test_of_an_axis_of_one_element_that_a_kernel_reads(self):
        """No symbol is taken from there: a tensor may have any stride along it."""
        import torch

        self.check(lambda x: torch.nn.functional.pad(x[2:].unfold(-1, 2, 1), (1, -1)), torch.ones(3, 6))
        self.check(lambda x: torch.nn.functional.pad(x, (1, -1)), torch.ones(3, 6)[:1].unfold(-1, 2, 1))
        self.assertEqual(len(taken()), 4)


if __name__ == "__main__":
    main()
