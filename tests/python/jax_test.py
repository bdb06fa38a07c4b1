"""padlock.jax.pad under JAX's transformations: the same bits as jnp.pad."""

import unittest

from python_testing import main, needs

MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


@needs("jax", "numpy")
class Transformed(unittest.TestCase):
    @staticmethod
    def array(shape, kind):
        import jax.numpy as jnp
        import numpy

        return jnp.asarray(numpy.random.default_rng(1).integers(0, 9, shape)).astype(kind)

    def same(self, made, want):
        import numpy

        self.assertEqual((made.shape, made.dtype), (want.shape, want.dtype))
        self.assertEqual(numpy.asarray(made).tobytes(), numpy.asarray(want).tobytes())

    def test_each_mode_and_type_under_jit(self):
        import jax
        import jax.numpy as jnp

        import padlock.jax

        for mode in MODES:
            for kind in ("float32", "bfloat16", "float16", "int8", "uint16", "int32", "bool", "complex64", "float8_e4m3fn"):
                x = self.array((3, 5), kind)
                run = jax.jit(lambda x: padlock.jax.pad(x, (2, 0), (1, 4), mode))  # noqa: B023
                self.same(run(x), jnp.pad(x, ((2, 1), (0, 4)), mode=mode))
        made = jax.jit(lambda x: padlock.jax.pad(x, (0, -1), (1, 0), value=1.5) * 2)(self.array((2, 3), "float32"))
        self.assertEqual(made[2].tolist(), [3.0, 3.0])

    def test_gradients(self):
        import jax
        import jax.numpy as jnp

        import padlock.jax

        x, weight = self.array((3, 5), "float32"), self.array((6, 9), "float32")
        for mode in MODES:
            ours = jax.jit(jax.grad(lambda x: (padlock.jax.pad(x, (2, 0), (1, 4), mode) * weight).sum()))(x)  # noqa: B023
            theirs = jax.grad(lambda x: (jnp.pad(x, ((2, 1), (0, 4)), mode=mode) * weight).sum())(x)  # noqa: B023
            self.same(ours, theirs)

    def test_vmap(self):
        import jax
        import jax.numpy as jnp

        import padlock.jax

        x = self.array((4, 3, 5), "float32")
        for mode in MODES:
            made = jax.jit(jax.vmap(lambda x: padlock.jax.pad(x, (2, 0), (1, 4), mode)))(x)  # noqa: B023
            self.same(made, jnp.pad(x, ((0, 0), (2, 1), (0, 4)), mode=mode))

    def test_one_export_for_all_sizes(self):
        import jax
        import jax.numpy as jnp
        from jax import export

        import padlock.jax

        rows, columns = export.symbolic_shape("a, b")
        for mode in MODES:
            run = jax.jit(lambda x: padlock.jax.pad(x, (1, 0), (0, 2), mode))  # noqa: B023
            exported = export.export(run, disabled_checks=[export.DisabledSafetyCheck.custom_call("padlock_pad")])(
                jax.ShapeDtypeStruct((rows, columns), jnp.float32)
            )
            loaded = export.deserialize(exported.serialize())
            for size in range(1, 21):
                x = self.array((size, 2 * size + 1), "float32")
                self.same(loaded.call(x), jnp.pad(x, ((1, 0), (0, 2)), mode=mode))

    def test_what_it_refuses(self):
        import padlock.jax

        x = self.array((3, 5), "float32")
        with self.assertRaisesRegex(ValueError, "expected 2 amounts on each side, one for each axis, found 1 and 2"):
            padlock.jax.pad(x, (1,), (1, 1))
        with self.assertRaisesRegex(ValueError, "with a value in constant alone, found 'edge'"):
            padlock.jax.pad(x, (1, 1), (1, 1), "edge", 3)
        with self.assertRaisesRegex(Exception, "only|empty|0"):
            padlock.jax.pad(x[:0], (1, 1), (1, 1), "wrap").block_until_ready()


if __name__ == "__main__":
    main()
