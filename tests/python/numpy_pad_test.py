"""padlock.numpy.pad beside numpy.pad, at random: odd fills, types, widths, modes and arrays. Values, types and order in memory agree bit
for bit, or both raise, ours NumPy's exception or one that is such. The seed is of today; PADLOCK_SEED takes another, PADLOCK_ROUNDS more."""

import collections
import os
import random
import unittest
import warnings

from python_testing import main, needs

SEED = int(os.environ.get("PADLOCK_SEED", random.randrange(1 << 30)))
ROUNDS = int(os.environ.get("PADLOCK_ROUNDS", 600))
TYPES = ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", "g", "F", "D", "G", ">i4", ">f8", "<u2", "M8[s]", "m8[D]", "U3", "S2", "O", "V4"]
MODES = ["constant"] * 8 + ["edge", "reflect", "symmetric", "wrap"] * 3 + [
    "linear_ramp", "maximum", "mean", "median", "minimum", "empty", "Constant", "circular", "", None, 7, ("edge",)]


class Case:
    """One call: a draw of everything that numpy.pad takes."""

    def __init__(self, rng):
        self.rng = rng
        self.array = self.make_array()
        self.width = self.make_width(self.array.ndim if hasattr(self.array, "ndim") else 1)
        self.mode = rng.choice(MODES)
        self.options = self.make_options()

    def __repr__(self):
        kind = f"{self.array.dtype.str}{self.array.shape}" if hasattr(self.array, "dtype") else repr(self.array)
        return f"pad({kind}, {self.width!r}, {self.mode!r}, {self.options!r})"

    def make_array(self):
        import numpy

        rng = self.rng
        if rng.random() < 0.05:
            return rng.choice([[1, 2, 3], (1.5, 2), 7, [[1], [2]], [], "ab", None, [[1, 2], [3]], {1: 2}, True])
        shape = [rng.choice([0, 1, 1, 2, 3, 4, 5]) for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3]))]
        count = 1
        for extent in shape:
            count *= extent
        kind = numpy.dtype(rng.choice(TYPES))
        flat = numpy.frombuffer(rng.randbytes(count * 8), "i1" if count == 0 else "i8") if kind.kind == "O" else None
        if kind.kind == "O":
            made = numpy.array([int(n) for n in flat], "O")
        elif kind.kind in "UV":
            made = numpy.zeros(count, kind)
        elif kind.kind == "g" or kind.char in "gG":
            made = numpy.arange(count).astype(kind)
        else:
            made = numpy.frombuffer(rng.randbytes(count * kind.itemsize), kind) if kind.char != "?" else numpy.arange(count) % 2 == 1
        made = made.reshape(shape)
        odd = rng.random()
        if odd < 0.1:
            made = numpy.asfortranarray(made)
        elif odd < 0.2 and made.ndim:
            made = made[::-1]
        elif odd < 0.3 and made.ndim:
            made = numpy.repeat(made, 2, axis=0)[::2]
        elif odd < 0.35 and made.ndim > 1:
            made = made.T
        elif odd < 0.4 and kind.kind in "iuf":
            made = numpy.ma.masked_array(made, mask=False)
        return made

    def amount(self):
        return self.rng.choice([0, 0, 1, 1, 2, 3, 5, 9])

    def make_width(self, axes):
        import numpy

        rng = self.rng
        pairs = tuple((self.amount(), self.amount()) for _ in range(axes))
        usual = [self.amount(), (self.amount(),), (self.amount(), self.amount()), pairs, pairs, pairs, list(map(list, pairs)),
                 (pairs[0],) if pairs else (1, 2), numpy.array(pairs if pairs else 1), tuple((p[0],) for p in pairs) or 1]  # fmt: skip
        odd = [-1, (-1, 1), ((1, 2), (3, -4)), 1.0, 1.5, (1.0, 2), None, "1", "12", (1, 2, 3), ((1, 2, 3),), ((1, 2),) * (axes + 1), (), ((),),
               True, (True, False), numpy.int8(2), numpy.uint64(3), numpy.float32(1), {0: 1}, {-1: (1, 2)}, {axes: 1}, {0: (1,)}, {}, {0.5: 1},
               {"a": 1}, 1j, [[1], [2]], numpy.array([], int), range(2), {1, 2}, 1 << 70, 1 << 48, 1 << 62, (1 << 63) - 1, (1 << 62, 1 << 62), ((0, 1 << 62),), b"1", numpy.array([1, 2], object), (1, None)]  # fmt: skip
        return rng.choice(usual) if rng.random() < 0.75 else rng.choice(odd)

    def fill(self):
        import numpy

        rng = self.rng
        return rng.choice([
            0, 1, -1, 7, 127, 128, 255, 256, -128, -129, 65535, 65536, 1 << 31, -(1 << 31), 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64,
            1 << 100, -(1 << 100), 0.0, -0.0, 0.5, 1.5, -2.5, 1e5, 1e39, 1e300, 1e-50, float("nan"), float("inf"), -float("inf"), 1 + 2j, 3j, True,
            False, None, "1", "x", "", b"1", "nan", "1.5", numpy.float16(2.5), numpy.float64(1e40), numpy.float32("nan"), numpy.int8(-3),
            numpy.uint64((1 << 64) - 1), numpy.bool_(True), numpy.complex64(2), numpy.datetime64("2020-01-01"), numpy.timedelta64(3, "D"),
            numpy.array(5), numpy.array([6]), numpy.array(256), numpy.array(-1), numpy.array(1.5), numpy.array([[1 << 40]]), numpy.array("7"),
            numpy.array(None), [1], (2, 3), ((1, 2), (3, 4)), ((1, 2),), [], (), (1, 2, 3), [[1], [2]], {"a": 1}, object, 2**0.5, 10**400,
        ])  # fmt: skip

    def make_options(self):
        rng = self.rng
        odd = rng.random()
        if self.mode == "constant":
            return {"constant_values": self.fill()} if odd < 0.85 else {} if odd < 0.95 else {"end_values": 1}
        if odd < 0.6:
            return {}
        if odd < 0.75:
            return {"reflect_type": rng.choice(["even", "odd", "other", None, 1])}
        if odd < 0.85:
            return {"stat_length": rng.choice([None, 1, (1, 2), ((1, 2),), 0, -1, 1.5, 99])}
        if odd < 0.95:
            return {"end_values": self.fill()}
        return {"constant_values": self.fill()} if odd < 0.98 else {"nonsense": 1}


def outcome_of(pad, case):
    """The result, or the exception, and the categories of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made, error = pad(case.array, case.width, case.mode, **case.options), None
        except Exception as raised:
            made, error = None, raised
    return made, error, {warning.category for warning in caught}


def same(ours, theirs):
    """Bits, types and order in memory. Objects are compared as such."""
    if type(ours) is not type(theirs) or ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    if ours.flags.f_contiguous != theirs.flags.f_contiguous or ours.flags.writeable != theirs.flags.writeable:
        return False
    if ours.dtype.kind == "O":
        return repr(ours.tolist()) == repr(theirs.tolist())
    if ours.dtype.char in "gG":  # ten bytes of each are numbers
        return (ours == theirs).all() or repr(ours) == repr(theirs)
    return ours.tobytes() == theirs.tobytes()


@needs("numpy")
class BesideNumpy(unittest.TestCase):
    def test_random_calls(self):
        import numpy

        import padlock.numpy

        print(f"seed {SEED}, {ROUNDS} calls", flush=True)
        counts, differ = collections.Counter(), []
        for number in range(ROUNDS):
            case = Case(random.Random(SEED * 1_000_003 + number))
            theirs, their_error, their_warnings = outcome_of(numpy.pad, case)
            ours, our_error, our_warnings = outcome_of(padlock.numpy.pad, case)
            counts["raises" if their_error else "a result"] += 1
            if their_error is not None or our_error is not None:
                agree = isinstance(our_error, type(their_error)) and their_error is not None
            else:
                agree = case.mode == "empty" and ours.shape == theirs.shape or same(ours, theirs)
            if not agree or our_warnings != their_warnings:
                found, expected = (ours if our_error is None else our_error), (theirs if their_error is None else their_error)
                differ.append(f"seed {SEED}, call {number}: {case!r}\n  found {found!r} {our_warnings}\n  numpy {expected!r} {their_warnings}")
        print(dict(counts), flush=True)
        self.assertEqual(differ[:10], [], f"{len(differ)} of {ROUNDS} differ:\n" + "\n".join(differ[:10]))
        self.assertGreater(counts["a result"], ROUNDS // 4)
        self.assertGreater(counts["raises"], ROUNDS // 20)


if __name__ == "__main__":
    main()
