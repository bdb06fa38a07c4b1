"""torch.compile(backend="padlock") of rows by data: embeddings, indices and searches in one kernel with pads and what is around
them. The bits are eager's, and so is an error for an index out of range."""

from python_testing import main
from torch_backend_test import Case, compiled, taken

LEAST, MOST = -(2**63), 2**63 - 1


class Fused(Case):
    def fused(self, function, *cases, kernels=1, **how):
        """Every case as eager mode has it, by so many kernels."""
        ours = compiled(function, **how)
        for case in cases:
            self.assert_same(ours(*case), function(*case), [one.shape for one in case])
        self.assertEqual([len(taken()), [one.text.count(" take(") for one in taken()]], [kernels, [1] * kernels])

    def test_an_embedding_with_a_pad(self):
        import torch
        import torch.nn.functional as F

        for kind in (torch.int32, torch.int64):
            with self.subTest(kind=kind):
                self.setUp()
                ids = [torch.randint(0, 17, shape).to(kind) for shape in ((3, 6), (2, 5), (4, 7))]
                self.fused(lambda w, i: F.pad(F.embedding(i, w, padding_idx=2), (0, 3, 1, 0)) * 2, *((torch.randn(17, 24), i) for i in ids))

    def test_an_embedding_of_padded_ids(self):
        import torch
        import torch.nn.functional as F

        weight = torch.randn(17, 8).to(torch.bfloat16)
        self.fused(
            lambda w, i: F.embedding(F.pad(i, (0, -i.shape[1] % 8), value=3), w),
            *((weight, torch.randint(0, 17, shape)) for shape in ((3, 6), (2, 15), (4, 3))),
        )

    def test_negative_indices_count_from_the_end(self):
        import torch
        import torch.nn.functional as F

        ids = torch.tensor([3, -1, 0, -11, 10, -7])
        for kind in (torch.int32, torch.int64):
            self.setUp()
            self.fused(lambda x, i: F.pad(x[i], (1, 1)), (torch.randn(11, 20), ids.to(kind)), (torch.randn(12, 3), ids[:2].to(kind)))
        self.setUp()
        self.fused(lambda x, i: F.pad(x[:, i, 1:], (1, 1)).relu(), (torch.randn(7, 11, 5), ids.view(2, 3)), (torch.randn(3, 13, 4), ids[:4].view(2, 2)))

    def test_two_indices(self):
        import torch
        import torch.nn.functional as F

        rows, columns = torch.tensor([[0], [-1], [2], [1], [2], [-3]]), torch.tensor([1, -2, 0, 3, -4, 2, 1])
        self.fused(lambda x, i, j: F.pad(x[i, j], (2, 0)), (torch.randn(3, 4, 5), rows, columns), (torch.randn(5, 6, 7), rows, columns[:2]))

    def test_index_select(self):
        import torch
        import torch.nn.functional as F

        for axis in (0, 1, -1):
            self.setUp()
            function = lambda x, i: F.pad(torch.index_select(x, axis, i), (0, 2, 0, 1))  # noqa: B023, E731
            self.fused(function, (torch.randn(4, 5, 6), torch.tensor([3, 0, 3])), (torch.randn(5, 4, 7), torch.tensor([1, 3])))

    def test_searches(self):
        import torch
        import torch.nn.functional as F

        offsets, x = torch.tensor([0, 2, 2, 5]), torch.arange(-2, 8)
        for wanted in (torch.int64, torch.int32):
            self.setUp()
            narrow = wanted == torch.int32
            ours = compiled(lambda a, x: F.pad(torch.searchsorted(a, x, right=True, out_int32=narrow), (1, 2)))  # noqa: B023
            for a in (offsets, offsets.flip(0), offsets[:0]):  # of what does not ascend, too
                self.assert_same(ours(a, x), F.pad(torch.searchsorted(a, x, right=True, out_int32=narrow), (1, 2)))
            self.assertIn(" search(", taken()[0].text)
        self.setUp()
        ours = compiled(lambda a, x: F.pad(torch.bucketize(x, a, right=True), (1, 2)))
        self.assert_same(ours(offsets, x), F.pad(torch.bucketize(x, offsets, right=True), (1, 2)))
        self.assertIn(" search(", taken()[0].text)

    def test_gradients(self):
        import torch
        import torch.nn.functional as F

        function = lambda w, i: F.pad(F.embedding(i, w, padding_idx=2), (0, 3, 1, 0)) * 2  # noqa: E731
        ids = torch.tensor([[1, 2, 1], [0, 16, 1]])
        ours, theirs = (torch.randn(17, 8, generator=torch.manual_seed(1)).requires_grad_() for _ in range(2))
        compiled(function)(ours, ids).square().sum().backward()
        function(theirs, ids).square().sum().backward()
        self.assertTrue(torch.equal(ours.grad, theirs.grad))
        self.assertTrue(any(" take(" in one.text for one in taken()))


class Refused(Case):
    def raises(self, function, x, good, *bad):
        ours = compiled(function)
        self.assert_same(ours(x, good), function(x, good))
        self.assertIn(" take(", taken()[0].text)
        for index in bad:
            with self.assertRaises((IndexError, RuntimeError)):
                function(x, index)
            with self.assertRaisesRegex((IndexError, RuntimeError), "out of (range|bounds)", msg=str(index)):
                ours(x, index)

    def test_an_index_out_of_range_is_an_error(self):
        import torch
        import torch.nn.functional as F

        good = torch.tensor([0, 4, 1])
        bad = [torch.tensor([0, n, 1]) for n in (5, -6, LEAST, MOST, 2**32)]
        self.raises(lambda x, i: F.pad(x[i], (1, 2)), torch.randn(5, 3), good, *bad)
        self.setUp()
        self.raises(lambda x, i: F.pad(F.embedding(i, x), (1, 2)), torch.randn(5, 3), good, *bad, torch.tensor([0, -1, 1]))
        self.setUp()  # torch.compile traces it as x[i], which takes a -1
        self.raises(lambda x, i: F.pad(x.index_select(0, i), (1, 2)), torch.randn(5, 3), good, *bad)

    def test_an_index_that_is_computed_is_checked_beside_what_inductor_compiles(self):
        import torch
        import torch.nn.functional as F

        def function(x, i):
            rows = F.pad(i * 2, (0, 1), value=1)
            return F.pad((x @ x)[rows], (1, 2))

        self.raises(function, torch.randn(5, 5), torch.tensor([0, 2, 1]), torch.tensor([0, 3, 1]), torch.tensor([-3, 0, 0]))

    def test_an_empty_axis(self):
        import torch
        import torch.nn.functional as F

        function = lambda x, i: F.pad(x[i], (1, 2))  # noqa: E731
        ours = compiled(function)
        none = torch.zeros(0, dtype=torch.int64)
        self.assert_same(ours(torch.randn(4, 2), none), function(torch.randn(4, 2), none))
        self.assert_same(ours(torch.randn(0, 2), none), function(torch.randn(0, 2), none))

    def test_what_is_torchs(self):
        import torch
        import torch.nn.functional as F

        x, i = torch.randn(3, 4, 3), torch.tensor([0, -1])
        for function in (
            lambda x, i: F.pad(x[i, :, i], (1, 1)),
            lambda x, i: F.pad(x[torch.ones(3, dtype=torch.bool)], (1, 1)),
            lambda x, i: F.pad(torch.searchsorted(i, i), (1, 1)),
        ):
            self.setUp()
            self.assert_same(compiled(function, dynamic=False)(x, i), function(x, i))
            self.assertTrue(all(" take(" not in one.text and " search(" not in one.text for one in taken()))


if __name__ == "__main__":
    main()
