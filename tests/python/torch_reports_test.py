"""Runs what was reported of pads under torch.compile: each is right with backend="padlock". What Inductor makes of it here and now
is printed, and not asserted: some of it is repaired, some needs a GPU. Those that begin with "more" are compiled with backend="padlock"
alone, not by Inductor: their bugs were a GPU's, or are repaired in the oldest torch that Padlock takes."""

import unittest

from python_testing import main, needs


def repro_195582():
    """A pad that crops behind BatchNorm2d."""
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(1, 50, (2, 2))
            self.norm = torch.nn.BatchNorm2d(50)
            self.last = torch.nn.Linear(50, 10)

        def forward(self, x):
            x = self.norm(self.conv(x))
            x = x.view(x.shape[0], -1)
            return self.last(torch.nn.functional.pad(x, (0, 50 - x.shape[-1])))

    return Model().eval(), (torch.randn(3, 1, 4, 4),)


def repro_194558():
    """A crop whose result is multiplied."""
    import torch

    weight = torch.randn(4, 6)
    return lambda x: torch.nn.functional.pad(x, (0, -2, 0, 0)) @ weight, (torch.randn(2, 6),)


def repro_189895():
    """A pad behind a reduction that is split."""
    import torch

    def lengths(mask):
        return torch.nn.functional.pad(torch.cumsum(mask.sum(-1, dtype=torch.int32), 0, dtype=torch.int32), (1, 0))

    return lengths, (torch.ones(1, 16384, dtype=torch.bool),)


def repro_194281():
    """A decoder of 3-d convolutions with upsampling, at sizes that are not aligned."""
    import torch

    def block(channels_in, channels_out):
        return torch.nn.Sequential(
            torch.nn.ReplicationPad3d((1, 1, 1, 1, 2, 0)), torch.nn.Conv3d(channels_in, channels_out, 3), torch.nn.SiLU()
        )

    up = torch.nn.Upsample(scale_factor=(1, 2, 2))
    return torch.nn.Sequential(block(4, 8), up, block(8, 4), up, block(4, 3)).eval(), (torch.randn(1, 4, 2, 11, 11),)


def repro_144462():
    """A pad of one element."""
    import torch

    return lambda x: torch.nn.functional.pad(x, (10, 10), "constant", 0), (torch.randn(1, 1, 1),)


def repro_97117():
    """A pad by nothing, whose result is written to."""
    import torch

    def write(x):
        made = torch.nn.functional.pad(x, (0, 0))
        made.add_(1)
        return made, x * 1

    return write, (torch.ones(3, 4),)


def repro_170798():
    """Fills that a double does not hold."""
    import torch

    def fills(x):
        return [torch.constant_pad_nd(x, (1, 1), value) for value in (2**53 + 1, 2**63 - 1, -(2**63))]

    return fills, (torch.zeros(2, dtype=torch.int64),)


def repro_97807():
    """Two pads of different modes, written to."""
    import torch

    def write(x):
        b = torch.nn.functional.pad(torch.nn.functional.pad(x, (0, 1)), (0, 0, 0, 1), "reflect")
        b[0, 0, 0] = 0.1
        return b

    return write, (torch.rand(1, 2, 1),)


def repro_96484():
    """A crop that is added and reduced."""
    import torch

    return lambda a, b: (torch.nn.functional.pad(a, (0, -1)) + b).min(0).values, (torch.rand(2), torch.rand(1))


def repro_107571():
    """ZeroPad1d, 2d and 3d."""
    import torch

    pads = torch.nn.Sequential(torch.nn.ZeroPad3d(1), torch.nn.ZeroPad2d((1, 0, 2, 0)), torch.nn.ZeroPad1d(2))
    return pads, (torch.rand(1, 2, 2, 2, 2),)


def repro_179442():
    """A pad of channels-last images: the elements; the strides are the language's, dense."""
    import torch

    x = torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last)
    return lambda x: torch.nn.functional.pad(x, (1, 2, 2, 1), mode="reflect"), (x,)


def more_92038():
    """A fill of a pad of integers, given as a number with a point."""
    import torch

    return lambda x: torch.nn.functional.pad(x, (1, 2), value=-3.0) + 1, (torch.arange(6, dtype=torch.int32).view(2, 3),)


def more_196039():
    """relu of -0.0 and of NaNs with a payload: the bits."""
    import torch

    x = torch.tensor([-(2**31), 0x7FC00001, 0x3F800000, -0x40800000], dtype=torch.int32)
    return lambda x: torch.relu(torch.nn.functional.pad(x.view(torch.float32), (1, 1), value=-0.0)).view(torch.int32), (x,)


def more_108043():
    """A pad by nothing of nothing."""
    import torch

    return torch.nn.ConstantPad2d(0, 1.0), (torch.rand(0, 0, 1),)


def more_37844():
    """A convolution that is circular along one axis."""
    import torch

    return torch.nn.Conv2d(2, 3, (1, 3), padding=(0, 1), padding_mode="circular"), (torch.rand(1, 2, 3, 5),)


def more_165861():
    """More rows than a grid's second axis has."""
    import torch

    return lambda x: torch.nn.functional.pad(x, (1, 1), mode="reflect"), (torch.arange(65537 * 2.0).view(65537, 2),)


def more_90870():
    """A part of a tensor that does not begin where its storage does."""
    import torch

    return lambda x: torch.nn.functional.pad(x[5:15], (2, -1)).clone(), (torch.arange(20.0),)


def close(a, b):
    import torch

    return torch.allclose(a, b, rtol=1e-4, atol=1e-5)


@needs("torch", "numpy")
class Reports(unittest.TestCase):
    def run_with(self, backend, make, options=None):
        import torch

        torch._dynamo.reset()
        torch.manual_seed(420)
        function, inputs = make()
        with torch.no_grad():
            if backend is not None:
                function = torch.compile(function, backend=backend, options=options)
            return function(*(x.clone() for x in inputs))

    def pairs_of(self, made, want):
        return zip(*(x if isinstance(x, (list, tuple)) else [x] for x in (made, want)), strict=True)

    def check(self, make, options=None, same=close):
        """Compares what Padlock makes with eager mode, whose results it returns."""
        made, want = self.run_with("padlock", make, options), self.run_with(None, make)
        for a, b in self.pairs_of(made, want):
            self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
            self.assertTrue(same(a, b), (a, b))
        return want

    def test_each(self):
        for name, make in sorted(globals().items()):
            if name.startswith("repro_"):
                with self.subTest(name):
                    want = self.check(make)
                    print(f"#{name.removeprefix('repro_')}: right here; Inductor: {self.inductor(make, want)}")

    def test_more(self):
        import torch

        import padlock.torch

        for name, make in sorted(globals().items()):
            if name.startswith("more_"):
                with self.subTest(name):
                    padlock.torch.forget()
                    # Leaves the last bits of a convolution to Inductor, who has it called.
                    self.check(make, {"padlock.force": True}, close if make is more_37844 else torch.equal)
                    self.assertTrue(any(decision.taken for decision in padlock.torch.decisions()))
                    print(f"#{name.removeprefix('more_')}: right here")

    def inductor(self, make, want):
        try:
            made = self.run_with("inductor", make)
        except Exception as error:  # noqa: BLE001
            return f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"
        pairs = list(self.pairs_of(made, want))
        if all(close(a, b) for a, b in pairs):
            return "right"
        return f"wrong by {max((a.double() - b.double()).abs().max().item() for a, b in pairs):.3g}"

    def test_crops_are_kernels_and_the_same_each_time(self):
        import torch

        import padlock.torch

        padlock.torch.forget()
        runs = [self.run_with("padlock", repro_195582) for _ in range(3)]
        self.assertTrue(all(torch.equal(run, runs[0]) for run in runs))
        self.assertIn((True, "it has a pad that crops"), [(one.taken, one.reason) for one in padlock.torch.decisions()])


if __name__ == "__main__":
    main()
