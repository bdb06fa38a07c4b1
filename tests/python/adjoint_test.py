"""padlock.lang.pad_adjoint: PyTorch's and JAX's gradients of whole numbers, and the order in which others are added."""

import itertools
import os
import random
import unittest

from python_testing import main, needs, pad_index

import padlock
from padlock import lang

MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def adjoint_of(mode):
    """The adjoint of a pad of two axes, of any sizes."""

    @padlock.jit
    def back(g: padlock.f32["A", "B"], h: padlock.dim, w: padlock.dim, top: padlock.dim, left: padlock.dim):
        rows, columns = g.shape
        high = [rows - h - top, columns - w - left]
        lang.where(h >= 0, w >= 0)
        return lang.pad_adjoint(g, [h, w], [top, left], high, mode=mode)

    return back


@needs("numpy")
class Adjoints(unittest.TestCase):
    def setUp(self):
        seed = int(os.environ.get("PADLOCK_SEED", random.randrange(1 << 30)))
        print(f"seed {seed}")
        self.draw = random.Random(seed)

    def pads(self, count, widest):
        """Extents, amounts before and after them, and a gradient of whole numbers."""
        import numpy

        for _ in range(count):
            extent = [self.draw.randint(1, 9) for _ in range(2)]
            before, after = ([self.draw.randint(0, widest(n)) for n in extent] for _ in range(2))
            shape = [sum(sizes) for sizes in zip(before, extent, after)]
            numbers = [self.draw.randint(-999, 999) for _ in range(shape[0] * shape[1])]
            yield extent, before, after, numpy.array(numbers, "f4").reshape(shape)

    def same(self, made, want, what):
        import numpy

        made, want = numpy.asarray(made), numpy.asarray(want)
        self.assertEqual(made.shape, want.shape, what)
        # A sum that is zero may be either zero elsewhere.
        self.assertEqual((made + 0.0).tobytes(), (want + 0.0).tobytes(), what)

    @needs("torch")
    def test_torchs_gradients(self):
        import torch

        widest = {"replicate": lambda n: 12, "reflect": lambda n: n - 1, "circular": lambda n: n, "constant": lambda n: 5}
        for mode, named in (("edge", "replicate"), ("reflect", "reflect"), ("wrap", "circular"), ("constant", "constant")):
            back = adjoint_of(mode)
            for extent, before, after, g in self.pads(25, widest[named]):
                x = torch.zeros(1, 1, *extent, requires_grad=True)
                amounts = [before[1], after[1], before[0], after[0]]
                torch.nn.functional.pad(x, amounts, mode=named).backward(torch.from_numpy(g)[None, None])
                self.same(back(g, *extent, *before), x.grad[0, 0].numpy(), (mode, extent, before, after))

    @needs("jax")
    def test_jaxs_gradients_of_many_laps(self):
        import jax
        import jax.numpy as jnp

        for mode in MODES:
            back = adjoint_of(mode)
            for extent, before, after, g in self.pads(4, lambda n: 25):
                if mode == "reflect" and 1 in extent:
                    continue  # jnp.pad repeats the element once, however wide
                padded = lambda x: jnp.pad(x, list(zip(before, after)), mode=mode)  # noqa: B023, E731
                _, pull = jax.vjp(padded, jnp.zeros(extent, "float32"))
                self.same(back(g, *extent, *before), pull(jnp.asarray(g))[0], (mode, extent, before, after))

    @needs("jax")
    def test_jaxs_gradients_of_crops_and_gaps(self):
        import jax
        import jax.numpy as jnp

        @padlock.jit
        def back(g: padlock.f32["A", "B"], h: padlock.dim, w: padlock.dim, top: padlock.dim, left: padlock.dim):
            lang.where(h >= 1, w >= 1)
            low, high = [top, left], [g.shape[0] - top - 2 * h + 1, g.shape[1] - left - 3 * w + 2]
            return lang.pad_adjoint(g, [h, w], low, high, interior=[1, 2])

        for h, w, top, left, bottom, right in ((3, 4, 2, 0, 0, 1), (3, 4, -1, -4, 5, -2), (1, 1, 0, 3, -1, 0), (5, 2, -3, 1, -3, 1)):
            config = ((top, bottom, 1), (left, right, 2))
            made, pull = jax.vjp(lambda x: jax.lax.pad(x, jnp.float32(0), config), jnp.zeros((h, w), "float32"))  # noqa: B023
            g = jnp.arange(1, made.size + 1, dtype="float32").reshape(made.shape)
            import numpy

            self.same(back(numpy.asarray(g), h, w, top, left), pull(g)[0], config)

    def test_the_order_of_numbers_that_round(self):
        import numpy

        for mode in MODES:
            back = adjoint_of(mode)
            for extent, before, after, g in self.pads(6, lambda n: 15):
                scale = [2.0 ** self.draw.randint(-12, 12) for _ in range(g.size)]
                g = g * numpy.array(scale, "f4").reshape(g.shape)
                want = numpy.zeros(extent, "f4")
                first = numpy.ones(extent, bool)
                for o in itertools.product(*map(range, g.shape)):
                    j = tuple(pad_index(at, n, low, mode) for at, n, low in zip(o, extent, before))
                    if None in j:
                        continue
                    want[j] = g[o] if first[j] else want[j] + g[o]
                    first[j] = False
                made = numpy.asarray(back(g, *extent, *before))
                self.assertEqual(made.tobytes(), want.tobytes(), (mode, extent, before, after))


if __name__ == "__main__":
    main()
