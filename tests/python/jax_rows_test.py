"""Rows by data in padlock.jax: the bits of jnp.take and of each public definition, under JAX's transformations."""

import unittest

from python_testing import has, main, needs

KINDS = ("float32", "bfloat16", "float16", "int8", "uint16", "int32", "bool", "complex64", "float8_e4m3fn")
LENGTHS = ([3, 0, 7, 2], [0], [5], [1, 1, 1], [0, 0, 9])
LEAST, MOST = -(2**31), 2**31 - 1

if has("jax"):
    import jax
    import jax.numpy as jnp
    import numpy

    import padlock.jax


def array(shape, kind="float32", seed=1):
    return jnp.asarray(numpy.random.default_rng(seed).integers(-9, 9, shape)).astype(kind)


def offsets_of(lengths):
    return jnp.asarray([0, *numpy.cumsum(lengths)], jnp.int32)


def by_jax(x, index, axis=0, value=0):
    """jnp.take, where a negative index is out of range. It refuses an empty axis."""
    if x.shape[axis] == 0:
        return jnp.full((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]), value, x.dtype)
    outside = jnp.where((index < 0) | (index >= x.shape[axis]), x.shape[axis], index)
    return jnp.take(x, outside, axis=axis, mode="fill", fill_value=value)


class Compared(unittest.TestCase):
    def same(self, made, want):
        self.assertEqual((made.shape, made.dtype), (want.shape, want.dtype))
        self.assertEqual(numpy.asarray(made).tobytes(), numpy.asarray(want).tobytes())


@needs("jax", "numpy")
class Rows(Compared):
    def test_take_is_jaxs_for_each_type_and_axis(self):
        index = jnp.asarray([[3, -1, 0], [2, 4, 5], [MOST, LEAST, -5]], jnp.int32)
        for kind in KINDS:
            x = array((4, 5, 6), kind)
            for axis in (0, 1, 2, -1):
                with self.subTest(kind=kind, axis=axis):
                    made = jax.jit(lambda x, i: padlock.jax.take(x, i, axis, value=1))(x, index)  # noqa: B023
                    self.same(made, by_jax(x, index, axis, 1))

    def test_take_of_nothing_and_of_one(self):
        for shape in ((0, 3), (3, 0), (1, 1), (1,), (0,)):
            for count in ((), (0,), (1,), (2, 0)):
                x, index = array(shape), jnp.zeros(count, jnp.int32)
                self.same(padlock.jax.take(x, index), by_jax(x, index))

    def test_take_by_indices_of_64_bits(self):
        with jax.enable_x64(True):
            index = jnp.asarray([2**32, 2**32 + 1, -(2**63), 2**63 - 1, 1, -1], jnp.int64)
            x = array((3, 4), "float64")
            self.same(padlock.jax.take(x, index, value=-0.5), by_jax(x, index, 0, -0.5))

    def test_jagged_to_padded_and_back_are_a_loop(self):
        for lengths in LENGTHS:
            values, offsets = array((sum(lengths), 3, 2)), offsets_of(lengths)
            for length in (0, 1, 9):
                for side in ("right", "left"):
                    made = jax.jit(lambda v, o: padlock.jax.to_padded(v, o, length, 2.5, side))(values, offsets)  # noqa: B023
                    want, again = numpy.full((len(lengths), length, 3, 2), 2.5, "float32"), numpy.zeros(values.shape, "float32")
                    for b, (begin, n) in enumerate(zip(offsets.tolist(), lengths)):
                        kept = min(n, length)
                        if kept and side == "right":
                            want[b, :kept] = again[begin : begin + kept] = values[begin : begin + kept]
                        elif kept:
                            want[b, length - kept :] = again[begin + n - kept : begin + n] = values[begin + n - kept : begin + n]
                    self.same(made, jnp.asarray(want))
                    self.same(padlock.jax.from_padded(made, offsets, sum(lengths), side), jnp.asarray(again))

    def test_groups_and_back_are_a_loop(self):
        for lengths in (*LENGTHS, []):
            x, ends = array((sum(lengths), 4), "bfloat16"), jnp.asarray(numpy.cumsum(lengths), jnp.int32)
            for multiple in (1, 4):
                made, longer = padlock.jax.pad_groups(x, ends, multiple, 40)
                parts = jnp.split(x, ends[:-1]) if lengths else []
                parts = [jnp.pad(part, ((0, -len(part) % multiple), (0, 0))) for part in parts]
                self.assertEqual(longer.tolist(), numpy.cumsum([len(part) for part in parts]).tolist())
                spare = jnp.zeros((40 - sum(map(len, parts)), 4), "bfloat16")
                self.same(made, jnp.concatenate([*parts, spare]))
                self.same(padlock.jax.unpad_groups(made, ends, multiple, len(x)), x)

    def test_garbage_is_the_fill(self):
        garbage = jnp.asarray([MOST, LEAST, -1, 5, 3, MOST, LEAST], jnp.int32)
        made = padlock.jax.to_padded(array((3, 2)), garbage, 4)
        self.assertEqual(made.shape, (6, 4, 2))
        self.assertEqual(padlock.jax.from_padded(array((6, 4, 2)), garbage, 3).shape, (3, 2))


@needs("jax", "numpy")
class Transformed(Compared):
    def test_gradients_of_take_are_jaxs(self):
        index = jnp.asarray([[3, -1, 0], [3, 9, LEAST]], jnp.int32)
        for axis in (0, 1):
            x = array((5, 4))
            weight = array((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]), seed=2)
            for wrap in (lambda f: jax.jit(jax.grad(f)), lambda f: jax.grad(jax.jit(f))):
                ours = wrap(lambda x: (padlock.jax.take(x, index, axis) * weight).sum())(x)  # noqa: B023
                self.same(ours, jax.grad(lambda x: (by_jax(x, index, axis) * weight).sum())(x))  # noqa: B023

    def test_jagged_and_padded_are_each_others_gradients(self):
        lengths = [3, 0, 7, 2]
        values, offsets, weight = array((12, 3)), offsets_of(lengths), array((4, 5, 3), seed=2)
        for side in ("right", "left"):
            back = jax.grad(jax.jit(lambda v: (padlock.jax.to_padded(v, offsets, 5, 1, side) * weight).sum()))(values)  # noqa: B023
            self.same(back, padlock.jax.from_padded(weight, offsets, 12, side))
            back = jax.jit(jax.grad(lambda p: (padlock.jax.from_padded(p, offsets, 12, side) * values).sum()))(weight)  # noqa: B023
            self.same(back, padlock.jax.to_padded(values, offsets, 5, 0, side))
        ends = offsets[1:]
        back = jax.grad(lambda x: padlock.jax.pad_groups(x, ends, 4, 20)[0].sum())(values)
        self.same(back, jnp.ones_like(values))
        rows = padlock.jax.pad_groups(values, ends, 4, 20)[0]
        back = jax.grad(lambda x: (padlock.jax.unpad_groups(x, ends, 4, 12) * values).sum())(rows)
        self.same(back, rows)

    def test_vmap(self):
        x, index = array((3, 5, 4)), jnp.asarray([[0, -1], [4, 2], [9, 1]], jnp.int32)
        self.same(jax.jit(jax.vmap(padlock.jax.take))(x, index), jnp.stack([by_jax(*both) for both in zip(x, index)]))
        self.same(jax.vmap(padlock.jax.take, (0, None))(x, index[0]), by_jax(x, index[0], 1))

    def test_one_export_for_all_sizes(self):
        from jax import export

        rows, columns, count, length = export.symbolic_shape("t, d, p, l", constraints=["p >= 1"])
        floats, whole = lambda *n: jax.ShapeDtypeStruct(n, jnp.float32), lambda *n: jax.ShapeDtypeStruct(n, jnp.int32)
        unchecked = [export.DisabledSafetyCheck.custom_call("padlock_program")]
        run = jax.jit(lambda v, o, like: padlock.jax.to_padded(v, o, like.shape[0]))
        exported = export.export(run, disabled_checks=unchecked)(floats(rows, columns), whole(count), floats(length))
        to_padded = export.deserialize(exported.serialize()).call
        exported = export.export(jax.jit(padlock.jax.take), disabled_checks=unchecked)(floats(rows, columns), whole(count))
        take = export.deserialize(exported.serialize()).call
        for size in range(1, 9):
            values, offsets = array((2 * size, size + 1)), offsets_of([size, 0, size])
            self.same(to_padded(values, offsets, jnp.zeros(size + 1)), padlock.jax.to_padded(values, offsets, size + 1))
            self.same(take(values, offsets), by_jax(values, offsets))

    def test_what_it_refuses(self):
        x, index = array((3, 4)), jnp.asarray([1], jnp.int32)
        with self.assertRaisesRegex(TypeError, "index: expected an array of int32 or int64, found one of float32"):
            padlock.jax.take(x, x)
        with self.assertRaisesRegex(ValueError, "axis: expected one of 2, found 2"):
            padlock.jax.take(x, index, 2)
        with self.assertRaisesRegex(TypeError, "value: expected a number of Python's, found an array of float32"):
            jax.jit(lambda v: padlock.jax.take(x, index, value=v))(1.0)
        with self.assertRaisesRegex(TypeError, "offsets: expected an array with one axis, found 2"):
            padlock.jax.to_padded(x, index[None], 3)
        with self.assertRaisesRegex(ValueError, "side: expected 'right' or 'left', found 'middle'"):
            padlock.jax.to_padded(x, index, 3, side="middle")
        with self.assertRaisesRegex(ValueError, "multiple: expected 1 or more, found 0"):
            padlock.jax.pad_groups(x, index, 0, 4)
        with self.assertRaisesRegex(TypeError, "forward-mode"):
            jax.jvp(lambda x: padlock.jax.take(x, index), (x,), (x,))
        with jax.enable_x64(True), self.assertRaisesRegex(TypeError, "expected elements of 8 bytes at most, found complex128"):
            padlock.jax.take(array((3,), "complex128"), index)


if __name__ == "__main__":
    main()
