"""Rows by data: the programs of examples/gallery/rows against their public definitions, and what padlock.torch and
padlock.numpy make of them. Without PyTorch the tests of it are skipped."""

from __future__ import annotations

import unittest
from typing import Any

import numpy
import padlock
import padlock.numpy
from python_testing import ROOT, has, main, needs

if has("torch"):
    import padlock.torch
    import torch
    import torch.nn.functional as F

ROWS = ROOT / "examples" / "gallery" / "rows"
LENGTHS = [[3, 0, 7, 2], [0], [5], [1, 1, 1], [0, 0, 9], [16, 4, 31, 8, 2]]
GARBAGE = [-(2**63), 2**63 - 1, -1, 2**31, -(2**31), 2**32, 2**32 + 1, 6, 5, 0]


def gallery(name: str) -> Any:
    return padlock.compile((ROWS / f"{name}.pad").read_text(), device="host")


def offsets_of(lengths: list[int]) -> Any:
    return torch.cat([torch.zeros(1, dtype=torch.int64), torch.tensor(lengths).cumsum(0)])


def same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and bool((a.view(torch.uint8) == b.view(torch.uint8)).all())


@needs("torch")
class Gallery(unittest.TestCase):
    """Each program, bit for bit."""

    def test_jagged_to_padded_and_back(self) -> None:
        to, back = gallery("jagged_to_padded"), gallery("padded_to_jagged")
        for lengths in LENGTHS:
            offsets, values = offsets_of(lengths), torch.randn(sum(lengths), 12)
            for length in (0, 1, 5, 32):
                with self.subTest(lengths=lengths, length=length):
                    padded = to(values, offsets, -1.5, L=length)
                    wanted = torch.ops.aten._jagged_to_padded_dense_forward(values, [offsets], [length], -1.5)
                    self.assertTrue(same(padded, wanted))
                    rows = back(padded, offsets, T=len(values))
                    columns = torch.cat([torch.arange(n) for n in lengths])
                    self.assertTrue(same(rows, torch.where(columns[:, None] < length, values, 0)))
                    if length >= max(lengths):  # others ATen refuses
                        wanted = torch.ops.aten._padded_dense_to_jagged_forward(padded, [offsets], len(values))
                        self.assertTrue(same(rows, wanted))

    def test_both_sides_are_pad_sequence(self) -> None:
        left, right = gallery("jagged_to_padded_left"), gallery("jagged_to_padded")
        for lengths in LENGTHS:
            values, offsets = torch.randn(sum(lengths), 6), offsets_of(lengths)
            parts = list(values.split(lengths))
            wanted = torch.nn.utils.rnn.pad_sequence(parts, batch_first=True, padding_value=2.5)
            self.assertTrue(same(right(values, offsets, 2.5, L=max(lengths)), wanted))
            halves = [part.to(torch.bfloat16) for part in parts]
            wanted = torch.nn.utils.rnn.pad_sequence(halves, batch_first=True, padding_side="left")
            self.assertTrue(same(left(values.to(torch.bfloat16), offsets, L=max(lengths)), wanted))

    def test_token_batches_are_a_tokenizers(self) -> None:
        kernel = gallery("token_batch")
        for lengths in LENGTHS:
            tokens = torch.randint(1, 1000, (sum(lengths),), dtype=torch.int32)
            ids, mask, positions = kernel(tokens, offsets_of(lengths), 7, L=max(lengths))
            width = -(-max(lengths) // 8) * 8
            for b, part in enumerate(tokens.split(lengths)):
                spare = width - len(part)
                self.assertEqual(ids[b].tolist(), part.tolist() + [7] * spare)
                self.assertEqual(mask[b].tolist(), [1] * len(part) + [0] * spare)
                self.assertEqual(positions[b].tolist(), [*range(len(part))] + [0] * spare)

    def test_groups_are_a_loop_over_groups(self) -> None:
        to, back = gallery("group_pad"), gallery("group_unpad")
        for lengths in LENGTHS:
            for multiple in (1, 8, 32):
                x = torch.randn(sum(lengths), 16).to(torch.bfloat16)
                parts = [F.pad(part, (0, 0, 0, -len(part) % multiple)) for part in x.split(lengths)]
                ends = torch.tensor(lengths).cumsum(0).to(torch.int32)
                longer = torch.tensor([len(part) for part in parts]).cumsum(0).to(torch.int32)
                begins, longer_begins = (F.pad(e, (1, 0))[:-1] for e in (ends, longer))
                spare = torch.zeros(5, 16, dtype=torch.bfloat16)
                padded = to(x, begins, ends, longer_begins, longer, R=int(longer[-1]) + 5)
                self.assertTrue(same(padded, torch.cat([*parts, spare])))
                self.assertTrue(same(back(padded, begins, ends, longer_begins, T=len(x)), x))

    def test_rows_by_ids(self) -> None:
        x, ids = torch.randn(11, 20).half(), torch.tensor([3, -1, 0, 10, 11, -5, 3], dtype=torch.int32)
        is_row = (ids >= 0) & (ids < 11)
        wanted = torch.where(is_row[:, None], x[ids.clamp(0, 10)], 0)
        self.assertTrue(same(gallery("rows_by_ids")(x, ids), wanted))

    def test_unpad_and_back(self) -> None:
        mask = torch.rand(3, 8) < 0.6
        ids = mask.flatten().nonzero().flatten()
        x = torch.randn(3, 8, 2, 5)
        tokens = gallery("unpad")(x, ids)
        self.assertTrue(same(tokens, x.flatten(0, 1)[ids]))
        again = gallery("repad")(tokens.flatten(1), ids, B=3, S=8)
        self.assertTrue(same(again, torch.where(mask[..., None], x.flatten(2), 0)))

    def test_pages(self) -> None:
        pool = torch.randn(9, 4, 2, 6).to(torch.bfloat16)
        table = torch.tensor([[4, 0, 8, -1, -1], [2, 2, 2, 2, 2], [-1, 99, 1, 1, 3]], dtype=torch.int32)
        lengths = torch.tensor([9, 20, 0], dtype=torch.int32)
        read = gallery("paged_read")(pool, table, lengths)
        for b in range(3):
            for t in range(20):
                page = int(table[b, t // 4])
                there = t < lengths[b] and 0 <= page < 9
                self.assertTrue(same(read[b, t], pool[page, t % 4] if there else torch.zeros_like(pool[0, 0])))

    def test_embedding(self) -> None:
        weight, tokens = torch.randn(17, 24), torch.randint(0, 17, (3, 6))
        self.assertTrue(same(gallery("embedding")(weight, tokens), F.embedding(tokens, weight, padding_idx=0)))

    def test_shifted_windows(self) -> None:
        x, start = torch.randn(4, 15), torch.tensor([-3, 0, 12, 99], dtype=torch.int32)
        made = gallery("shifted_window")(x, start, W=6)
        for b, first in enumerate(start.tolist()):
            wanted = [x[b, s].item() if 0 <= s < 15 else 0.0 for s in range(first, first + 6)]
            self.assertEqual(made[b].tolist(), wanted)

    def test_relative_position_bias(self) -> None:
        table, index = torch.randn(25, 3), torch.randint(0, 25, (9, 9))
        wanted = table[index.flatten()].view(9, 9, 3).permute(2, 0, 1).contiguous()
        self.assertTrue(same(gallery("relative_position_bias")(table, index), wanted))


@needs("torch")
class Torch(unittest.TestCase):
    def test_jagged_batches(self) -> None:
        for lengths in LENGTHS:
            for kind in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
                for shape in ((), (5,), (2, 3)):
                    values = torch.randint(0, 2, (sum(lengths), *shape)).to(kind)
                    offsets, parts = offsets_of(lengths), values.split(lengths)
                    for side in ("right", "left"):
                        wanted = torch.nn.utils.rnn.pad_sequence(list(parts), batch_first=True, padding_side=side)
                        made = padlock.torch.to_padded(values, offsets, max(lengths), side=side)
                        self.assertTrue(same(made, wanted), (lengths, kind, shape, side))
                        back = padlock.torch.from_padded(made, offsets.int(), len(values), side=side)
                        self.assertTrue(same(back, values))

    def test_longer_sequences_are_cut(self) -> None:
        values, offsets = torch.arange(10.0), torch.tensor([0, 6, 10])
        self.assertEqual(padlock.torch.to_padded(values, offsets, 3).tolist(), [[0, 1, 2], [6, 7, 8]])
        self.assertEqual(padlock.torch.to_padded(values, offsets, 3, side="left").tolist(), [[3, 4, 5], [7, 8, 9]])
        back = padlock.torch.from_padded(torch.ones(2, 3), offsets, 10, side="left")
        self.assertEqual(back.tolist(), [0, 0, 0, 1, 1, 1, 0, 1, 1, 1])

    def test_groups(self) -> None:
        for lengths in LENGTHS:
            x, ends = torch.randn(sum(lengths), 4), torch.tensor(lengths).cumsum(0)
            padded, offsets = padlock.torch.pad_groups(x, ends, 8)
            parts = [F.pad(part, (0, 0, 0, -len(part) % 8)) for part in x.split(lengths)]
            self.assertTrue(same(padded[: offsets[-1]], torch.cat(parts)))
            self.assertTrue((padded[offsets[-1] :] == 0).all())
            self.assertTrue(same(padlock.torch.unpad_groups(padded, ends, 8, len(x)), x))

    def test_garbage_is_the_fill(self) -> None:
        garbage = torch.tensor(GARBAGE)
        values = torch.ones(6, 3)
        made = padlock.torch.take_rows(values, garbage, value=-1)
        self.assertEqual(made[:, 0].tolist(), [-1] * 8 + [1, 1])
        for side in ("right", "left"):
            padded = padlock.torch.to_padded(values, garbage, 9, side=side)
            self.assertTrue(((padded == 0) | (padded == 1)).all())
            self.assertEqual(padlock.torch.from_padded(padded, garbage, 40, side=side).shape, (40, 3))
        self.assertEqual(padlock.torch.pad_groups(values, garbage, 8, rows=24)[0].shape, (24, 3))

    def test_gradients(self) -> None:
        offsets = offsets_of([3, 0, 4])
        check = torch.autograd.gradcheck
        values = torch.randn(7, 2, dtype=torch.float64, requires_grad=True)
        padded = torch.randn(3, 4, 2, dtype=torch.float64, requires_grad=True)
        for side in ("right", "left"):
            for length in (2, 4):
                self.assertTrue(check(lambda v: padlock.torch.to_padded(v, offsets, length, 1.0, side), values))
            self.assertTrue(check(lambda p: padlock.torch.from_padded(p, offsets, 7, side), padded))
        ends = offsets[1:]
        self.assertTrue(check(lambda v: padlock.torch.pad_groups(v, ends, 4)[0], values))
        longer = torch.randn(16, 2, dtype=torch.float64, requires_grad=True)
        self.assertTrue(check(lambda v: padlock.torch.unpad_groups(v, ends, 4, 7), longer))
        index = torch.tensor([6, -1, 0, 0, 9])
        self.assertTrue(check(lambda v: padlock.torch.take_rows(v, index), values))

    def test_operators_are_what_torch_asks_of_them(self) -> None:
        offsets, values = offsets_of([3, 0, 4]), torch.randn(7, 2, requires_grad=True)
        ops = torch.ops.padlock
        groups = [torch.tensor(g) for g in ([0, 3], [3, 7], [0, 8], [8, 16])]
        for op, given in (
            (ops.to_padded, (values, offsets, 4, 0, "right")),
            (ops.from_padded, (torch.randn(3, 4, 2, requires_grad=True), offsets, 7, "left")),
            (ops.move_groups, (values, groups, 16, 0)),
            (ops.take_rows, (values, torch.tensor([0, -1, 6]), 0)),
        ):
            torch.library.opcheck(op.default, given)

    def test_programs_have_gradients(self) -> None:
        text = """program p(x: f64[R, C], i: i64[N], a: i64[M]) {
          y = take(x, i, axis = 0, value = f64(R + 1)) s = search(a, i) k = sub(s, 1) z = take(y, k, axis = 0)
          w = mul(z, f64(2)) return y, w }"""
        x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
        i, a = torch.tensor([3, -1, 0, 9]), torch.tensor([0, 3])
        y, w = torch.ops.padlock.run(text, [x, i, a], [], [])
        wanted = torch.stack([x[3], torch.full((3,), 5.0), x[0], torch.full((3,), 5.0)])
        self.assertTrue(same(y.detach(), wanted.double().detach()))
        rows = torch.stack([y[1], torch.zeros(3), y[0], y[1]]).double() * 2
        self.assertTrue(same(w.detach(), rows.detach()))
        self.assertTrue(torch.autograd.gradcheck(lambda v: torch.ops.padlock.run(text, [v, i, a], [], []), x))

    def test_under_compile(self) -> None:
        @torch.compile(fullgraph=True, backend="aot_eager")
        def batch(values: Any, offsets: Any) -> Any:
            return padlock.torch.to_padded(values * 2, offsets, 4) + 1

        values, offsets = torch.randn(7, 2), offsets_of([3, 0, 4])
        self.assertTrue(same(batch(values, offsets), padlock.torch.to_padded(values * 2, offsets, 4) + 1))

    def test_vmap(self) -> None:
        offsets, values = offsets_of([3, 0, 4]), torch.randn(7, 5, 2)
        made = torch.vmap(lambda v: padlock.torch.to_padded(v, offsets, 4), in_dims=1)(values)
        for i in range(5):
            self.assertTrue(same(made[i], padlock.torch.to_padded(values[:, i], offsets, 4)))
        with self.assertRaisesRegex(NotImplementedError, "padlock::take_rows under vmap: expected the same offsets or indices"):
            torch.vmap(lambda i: padlock.torch.take_rows(values, i))(torch.zeros(2, 3, dtype=torch.int64))

    def test_wrong_arguments(self) -> None:
        values, offsets = torch.randn(7, 2), offsets_of([3, 4])
        with self.assertRaisesRegex(ValueError, "side: expected 'right' or 'left', found 'both'"):
            padlock.torch.to_padded(values, offsets, 4, side="both")
        with self.assertRaisesRegex(TypeError, "offsets: expected a tensor of int32 or int64 with one axis, found torch.float32"):
            padlock.torch.to_padded(values, offsets.float(), 4)
        with self.assertRaisesRegex(ValueError, "multiple: expected 1 or more, found 0"):
            padlock.torch.pad_groups(values, offsets, 0)


class NumPy(unittest.TestCase):
    def test_jagged_batches_and_back(self) -> None:
        for lengths in LENGTHS:
            offsets = numpy.concatenate([[0], numpy.cumsum(lengths)])
            for shape in ((), (3,), (2, 2)):
                values = numpy.random.default_rng(1).standard_normal((sum(lengths), *shape), dtype=numpy.float32)
                for side in ("right", "left"):
                    made = padlock.numpy.to_padded(values, offsets, max(lengths), value=9, side=side)
                    for b, n in enumerate(lengths):
                        part = values[offsets[b] : offsets[b + 1]]
                        spare = numpy.full((max(lengths) - n, *shape), 9, numpy.float32)
                        wanted = [part, spare] if side == "right" else [spare, part]
                        self.assertTrue((made[b] == numpy.concatenate(wanted)).all())
                    self.assertTrue((padlock.numpy.from_padded(made, offsets, len(values), side=side) == values).all())

    def test_groups_and_rows(self) -> None:
        x, ends = numpy.arange(14, dtype=numpy.int16).reshape(7, 2), numpy.array([3, 3, 7], numpy.int32)
        padded, longer = padlock.numpy.pad_groups(x, ends, 4, rows=10)
        self.assertEqual(longer.tolist(), [4, 4, 8])
        self.assertEqual(padded[:, 0].tolist(), [0, 2, 4, 0, 6, 8, 10, 12, 0, 0])
        self.assertTrue((padlock.numpy.unpad_groups(padded, ends, 4, 7) == x).all())
        taken = padlock.numpy.take_rows(x, numpy.array([6, -1, 0, 7]), value=-3)
        self.assertEqual(taken.tolist(), [[12, 13], [-3, -3], [0, 1], [-3, -3]])


class Collate(unittest.TestCase):
    def wanted(self, lists: Any, width: int, side: str, value: Any) -> Any:
        spare = [[value] * (width - len(one)) for one in lists]
        return [one + rest if side == "right" else rest + one for one, rest in zip(lists, spare)]

    def test_lists(self) -> None:
        for lists in ([[1, 2, 3], [], [4]], [[]], [[2**63 - 1], [-(2**63), 0]], [[True, False], [7]]):
            for side in ("right", "left"):
                for multiple in (1, 8):
                    width = -(-max(map(len, lists)) // multiple) * multiple
                    made, mask = padlock.collate(lists, multiple, side, -5, mask=True)
                    self.assertEqual((made.dtype, mask.dtype), (numpy.int64, numpy.int64))
                    self.assertEqual(made.tolist(), self.wanted(lists, width, side, -5))
                    self.assertEqual(mask.tolist(), self.wanted([[1] * len(one) for one in lists], width, side, 0))
                    self.assertEqual(padlock.collate(lists, multiple, side, -5).tolist(), made.tolist())

    def test_arrays_and_what_becomes_one(self) -> None:
        for kind in (numpy.int32, numpy.float32, numpy.bool_):
            parts = [numpy.arange(n).astype(kind) for n in (3, 0, 5)]
            made, mask = padlock.collate(parts, multiple_of=4, side="left", mask=True)
            self.assertEqual(made.dtype, kind)
            self.assertEqual(made.tolist(), self.wanted([part.tolist() for part in parts], 8, "left", kind(0)))
            self.assertEqual(mask.sum(1).tolist(), [3, 0, 5])
        rows = padlock.collate([numpy.ones((2, 3)), numpy.ones((1, 3))], value=7)
        self.assertEqual(rows.tolist(), [[[1] * 3] * 2, [[1] * 3, [7] * 3]])
        self.assertEqual(padlock.collate([[0.5], [1.5, 2.5], []]).tolist(), [[0.5, 0], [1.5, 2.5], [0, 0]])
        self.assertEqual(padlock.collate([(1, 2), (3,)]).tolist(), [[1, 2], [3, 0]])

    @needs("torch")
    def test_tensors(self) -> None:
        made, mask = padlock.collate([torch.ones(2), torch.ones(3)], mask=True)
        self.assertEqual(made.tolist(), [[1, 1, 0], [1, 1, 1]])
        self.assertEqual((made.dtype, mask.tolist()), (torch.float32, [[1, 1, 0], [1, 1, 1]]))

    def test_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "collate: expected one or more sequences, found none"):
            padlock.collate([])
        with self.assertRaisesRegex(ValueError, "multiple_of: expected 1 or more, found 0"):
            padlock.collate([[1]], multiple_of=0)
        with self.assertRaisesRegex(ValueError, "side: expected 'right' or 'left', found 'top'"):
            padlock.collate([[1]], side="top")
        with self.assertRaisesRegex(TypeError, "collate: expected sequences of one type, found float32, int64"):
            padlock.collate([numpy.ones(2, numpy.float32), numpy.ones(2, numpy.int64)])


class Language(unittest.TestCase):
    def test_take_search_and_sizes(self) -> None:
        lang = padlock.lang

        @padlock.jit
        def rows(x: padlock.f32["R", "C"], ends: padlock.i64["G"], n: padlock.dim):  # type: ignore[valid-type,name-defined]
            r = lang.iota(padlock.i64, [n], axis=0)
            g = lang.search(ends, r)
            y = lang.take(x, g, axis=0, value=-1.0)
            z = lang.take(x, g, g, axes=[0, 1])
            return y, z, lang.add(r, padlock.i64(x.shape[0] + 1))

        x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        y, z, r = rows(x, numpy.array([1, 3]), 4)
        self.assertEqual(y.tolist(), [[0, 1, 2], [3, 4, 5], [3, 4, 5], [-1, -1, -1]])
        self.assertEqual(z.tolist(), [0, 4, 4, 0])
        self.assertEqual(r.tolist(), [3, 4, 5, 6])

    def test_wrong_arguments(self) -> None:
        def refused(make: Any, message: str) -> None:
            with self.assertRaisesRegex(padlock.InvalidArgument, message):
                padlock.jit(make).text  # noqa: B018

        def no_axis(x: padlock.f32["R", "C"], i: padlock.i64["N"]):  # type: ignore[valid-type,name-defined]
            return padlock.lang.take(x, i)

        def beyond(x: padlock.f32["R", "C"], i: padlock.i64["N"]):  # type: ignore[valid-type,name-defined]
            return padlock.lang.take(x, i, axis=2)

        refused(no_axis, "take: expected one or more indices, and either an axis or axes")
        refused(beyond, r"take: expected axes below 2, found \[2\]")


if __name__ == "__main__":
    main()
