"""torch.compile(backend="padlock"): results share memory with each other and with inputs as they do in eager mode, and what is read
is what was there before it was written to."""

import unittest

from python_testing import main, needs

FORCE = {"padlock.force": True}

VIEWS = {
    "rows": lambda y: y[1:],
    "a row": lambda y: y[0],
    "columns": lambda y: y[:, 1:-1],
    "select": lambda y: y.select(1, 2),
    "view": lambda y: y.view(-1),
    "detach": lambda y: y.detach(),
    "split": lambda y: y.split(2)[1],
    "unbind": lambda y: y.unbind(0)[1],
    "expand": lambda y: y.expand(2, *y.shape),
    "as_strided": lambda y: y.as_strided((2, 2), (1, 2), 3),
    "turned": lambda y: y.T,
    "diagonal": lambda y: y.diagonal(),
    "unfold": lambda y: y.unfold(0, 2, 1),
    "a view of a view": lambda y: y[1:].view(-1)[2:],
}


def compiled(function, *, dynamic=None, options=FORCE):
    import torch

    torch._dynamo.reset()
    return torch.compile(function, backend="padlock", dynamic=dynamic, options=options)


def taken():
    import padlock.torch

    return [decision for decision in padlock.torch.decisions() if decision.taken]


def written(tensors):
    """What each tensor holds after the first element of each, in turn, was written to."""
    import torch

    seen = []
    with torch.no_grad():
        for i, one in enumerate(tensors):
            one.detach()[(0,) * one.dim()] = 100 + i
            seen.append([other.detach().clone() for other in tensors])
    return seen


@needs("torch", "numpy")
class Case(unittest.TestCase):
    def setUp(self):
        import padlock.torch

        padlock.torch.forget()

    def same(self, function, make, *, kernels=1, dynamic=(False, True), note=None, options=FORCE):
        """Runs a function compiled and in eager mode; then writes to each result and input, and looks at all of them."""
        import torch

        import padlock.torch

        for symbolic in dynamic:
            padlock.torch.forget()
            inputs = [make(), make()]
            made, want = compiled(function, dynamic=symbolic, options=options)(inputs[0]), function(inputs[1])
            self.assertEqual([one.stride() for one in made], [one.stride() for one in want], (note, symbolic))
            for one, other in zip(written([*made, inputs[0]]), written([*want, inputs[1]]), strict=True):
                self.assertTrue(all(map(torch.equal, one, other)), (note, symbolic))
            forward = [one for one in taken() if not one.backward]
            self.assertEqual(len(forward), kernels, (note, symbolic))


class Views(Case):
    """Of a result, of something inside, of an input: with gradients and without, of all sizes and of some."""

    def test_of_another_result(self):
        import torch

        for name, view in VIEWS.items():
            for records in (False, True):

                def function(x, view=view):
                    y = torch.nn.functional.pad(x, (1, 1)).relu()
                    return y, view(y)

                self.same(function, lambda: torch.ones(4, 6, requires_grad=records), note=(name, records))  # noqa: B023

    def test_of_what_is_no_result_itself(self):
        import torch

        def function(x):
            y = torch.nn.functional.pad(x, (1, 1)).relu()
            return y[1:], y[:2], y.view(-1), y + 1

        self.same(function, lambda: torch.ones(4, 6))

    def test_of_an_input(self):
        import torch

        def function(x):
            flat = x.view(-1)
            return torch.nn.functional.pad(flat, (1, 1)), flat, x[1:], flat[3:].detach()

        self.same(function, lambda: torch.ones(4, 6))
        self.same(function, lambda: torch.ones(4, 6, requires_grad=True))

    def test_what_a_kernel_reads_as_well(self):
        import torch

        def function(x):
            y = torch.nn.functional.pad(x, (1, 1))
            part = y[1:]
            return y, part, torch.nn.functional.pad(part, (2, 0)).abs()

        self.same(function, lambda: torch.ones(4, 6))

    def test_copies_share_nothing(self):
        import torch

        def function(x):
            y = torch.nn.functional.pad(x, (1, 1))
            return y, y.clone(), y.reshape(-1).clone(), y.t().contiguous(), torch.cat([y])

        self.same(function, lambda: torch.ones(4, 6))

    def test_equal_results_stay_apart(self):
        """Crops let one node compute what they cut, where several do."""
        import torch

        def function(x):
            pads = [torch.nn.functional.pad(x, (1, 0), "replicate") for _ in range(3)]
            return torch.nn.functional.pad(pads[0], (-1, -1)), pads[1], pads[2]

        self.same(function, lambda: torch.ones(4, 6), options={})

    def test_of_a_crop_between_convolutions(self):
        """What else is kept with channels last would make a copy of the view."""
        import torch

        w = torch.ones(2, 2, 1, 1)

        def function(x):
            y = torch.nn.functional.pad(torch.conv2d(x, w), (-1, 1, -1, 1))
            return y.view(-1), y[0], torch.conv2d(y, w)

        self.same(function, lambda: torch.ones(2, 2, 5, 6), options={}, dynamic=(False,))


class Writes(Case):
    """In place: to what a pad reads, to its result, and through a view."""

    def test_to_an_input_after_it_was_read(self):
        import torch

        def function(x):
            y = torch.nn.functional.pad(x, (1, 1))
            x.add_(1)
            return y, x

        self.same(function, lambda: torch.zeros(4, 6))

    def test_to_an_input_before_and_after(self):
        import torch

        def function(x):
            x.mul_(2)
            y = torch.nn.functional.pad(x, (1, 1))
            x[1:].add_(y[1:, 1:-1])
            return y, torch.nn.functional.pad(x, (0, 2)), x.view(-1)

        self.same(function, lambda: torch.ones(4, 6), kernels=1)

    def test_a_part_of_an_input_that_was_written_to_begins_where_it_did(self):
        import torch

        def function(x):
            x.view(-1)[1:].add_(3)
            part = x.narrow(0, 1, x.shape[0] - 1)
            return torch.nn.functional.pad(x, (1, 1)), part.to(part.dtype), part * 2

        self.same(function, lambda: torch.arange(6.0))

    def test_a_shape_that_is_changed_in_place_after_a_pad(self):
        import torch

        def function(x):
            part = x.as_strided((2, 2), (1, 2), 1)
            y = torch.nn.functional.pad(part, (1, 2), "circular")
            part.unsqueeze_(0)
            return y, torch.nn.functional.pad(part, (1, 1), "reflect")

        for records in (False, True):
            self.same(function, lambda: torch.ones(4, 6, requires_grad=records) * 1, kernels=2, dynamic=(False,))  # noqa: B023

    def test_through_a_view_of_a_result(self):
        import torch

        def function(x):
            y = torch.nn.functional.pad(x, (1, 1))
            part = y[1:]
            part.add_(1)
            y[:, 0] = 5
            return y, part, y.T

        for records in (False, True):
            self.same(function, lambda: torch.ones(4, 6, requires_grad=records))  # noqa: B023

    def test_clusters_end_where_memory_is_written(self):
        """In graphs of those who own the compile call, too."""
        import torch
        from padlock.torch._backend import How, take_clusters
        from torch.fx.experimental.proxy_tensor import make_fx

        def function(x):
            y = torch.nn.functional.pad(x, (1, 1))
            x.add_(1)
            return y + torch.nn.functional.pad(x, (0, 2))

        graph = make_fx(function, tracing_mode="fake")(torch.ones(2, 3))
        self.assertGreater(take_clusters(graph.graph, How(force=True)), 1)
        graph.recompile()
        self.assertTrue(torch.equal(graph(torch.ones(2, 3)), function(torch.ones(2, 3))))


if __name__ == "__main__":
    main()
