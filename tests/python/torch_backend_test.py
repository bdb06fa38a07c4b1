"""torch.compile(backend="padlock"): what becomes a kernel and what does not, for which sizes, and that the bits are eager's."""

import os
import random
import unittest
from unittest import mock

from python_testing import main, needs

FORCE = {"padlock.force": True}


def compiled(function, *, dynamic=True, **options):
    import torch

    torch._dynamo.reset()
    return torch.compile(function, backend="padlock", dynamic=dynamic, options=options.get("options", FORCE))


def taken():
    import padlock.torch

    return [decision for decision in padlock.torch.decisions() if decision.taken]


def padlock_torch():
    import padlock.torch

    return padlock.torch


def said(graph):
    """A graph's operators with their arguments, tensors by their places and sizes by their values."""
    import torch

    names, lines = {}, []
    for node in graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, (int, torch.SymInt)):
            names[node] = str(value)
            continue
        arguments = torch.fx.node.map_arg((node.args, node.kwargs), names.__getitem__)
        names[node] = f"%{len(lines)}"
        shape = (tuple(value.shape), value.stride()) if isinstance(value, torch.Tensor) else ()
        lines.append((str(node.target), str(arguments).replace("'", ""), str(shape)))
    return lines


@needs("torch", "numpy")
class Case(unittest.TestCase):
    def setUp(self):
        import padlock.torch

        padlock.torch.forget()

    def assert_same(self, made, want, *note):
        import torch

        self.assertEqual((made.shape, made.dtype, made.stride()), (want.shape, want.dtype, want.stride()), note)
        self.assertTrue(torch.equal(made.isnan(), want.isnan()) and torch.equal(made.nan_to_num(), want.nan_to_num()), note)


class Wholes(Case):
    """Graphs that Padlock covers: Inductor never starts."""

    def setUp(self):
        super().setUp()
        import padlock.torch._backend as backend

        compile_fx = self.compile_fx = backend.inductor()[0]
        never = mock.Mock(side_effect=AssertionError("Inductor started"))
        patch = mock.patch.object(backend, "inductor", lambda: (compile_fx, never))
        patch.start()
        self.addCleanup(patch.stop)

    def test_found_by_its_entry_point(self):
        import torch

        self.assertIn("padlock", torch.compiler.list_backends())
        function = torch.compile(lambda x: torch.nn.functional.pad(x, (1, 2)).relu(), backend="padlock", options=FORCE)
        self.assert_same(function(torch.tensor([[-1.0, 2.0]])), torch.tensor([[0.0, 0.0, 2.0, 0.0, 0.0]]))

    def test_every_mode_one_program_for_all_sizes(self):
        import torch

        for mode in ("constant", "reflect", "replicate", "circular"):
            function = lambda x, n: torch.nn.functional.pad(x, (n, 2), mode=mode) * 2 + 1  # noqa: B023, E731
            ours = compiled(function)
            before = len(taken())
            for rows, columns, n in ((3, 7, 2), (5, 9, 3), (4, 30, 5), (17, 11, 6)):
                x = torch.randn(2, rows, columns)
                self.assert_same(ours(x, n), function(x, n), mode)
            self.assertEqual(len(taken()) - before, 1, mode)
            self.assertIn(": dim", taken()[-1].text)

    def test_window_partition_is_one_kernel(self):
        import torch

        def partition(x, w: int):
            rows, columns = x.shape[1:3]
            x = torch.nn.functional.pad(x, (0, 0, 0, (-columns) % w, 0, (-rows) % w))
            b, rows, columns, c = x.shape
            return x.view(b, rows // w, w, columns // w, w, c).permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, w, w, c)

        ours = compiled(partition)
        for rows, columns, w in ((13, 15, 7), (14, 20, 7), (30, 9, 4)):
            x = torch.randn(2, rows, columns, 3)
            self.assert_same(ours(x, w), partition(x, w))
        self.assertEqual(len(taken()), 1)

    def test_sizes_that_python_rounds(self):
        import math

        import torch

        def same(x, k: int, s: int):
            """The pad that TensorFlow calls SAME, as timm computes it."""
            columns = x.shape[-1]
            more = max((math.ceil(columns / s) - 1) * s + k - columns + math.floor(columns / 3), 0)
            return torch.nn.functional.pad(x, (more // 2, more - more // 2))

        ours = compiled(same)
        for columns, k, s in ((13, 3, 2), (14, 3, 2), (31, 7, 4), (32, 7, 4)):
            x = torch.randn(2, columns)
            self.assert_same(ours(x, k, s), same(x, k, s))
        self.assertEqual(len(taken()), 1)

    def test_forward_and_backward(self):
        import torch

        def step(x):
            y = torch.nn.functional.pad(x, (2, -1, 1, 3)) * 3
            return torch.cat([y[:, 1:-1], y[:, :2].abs()], 1)

        for dynamic in (False, True):
            ours = compiled(step, dynamic=dynamic)
            for shape in ((4, 6), (7, 9)):
                x = torch.randint(-9, 9, shape).float().requires_grad_()
                want = step(x)
                seed = torch.randint(-3, 4, want.shape).float()
                (expected,) = torch.autograd.grad(want, x, seed)
                made = ours(x)
                self.assert_same(made.detach(), want.detach())
                self.assert_same(torch.autograd.grad(made, x, seed)[0], expected)
        self.assertEqual({decision.backward for decision in taken()}, {False, True})

    def test_strides(self):
        import torch

        function = lambda x: torch.nn.functional.pad(x, (1, 2, 0, 1), value=0.25) + 1  # noqa: E731
        dense = torch.randn(2, 3, 5, 4)
        for name, x in (
            ("channels last", dense.to(memory_format=torch.channels_last)),
            ("transposed", dense.transpose(2, 3)),
            ("a part", torch.randn(2, 3, 9, 9)[:, :, 2:7, 1:5]),
            ("expanded", torch.randn(1, 3, 1, 4).expand(2, 3, 5, 4)),
            ("negative", torch.complex(dense, dense).conj().imag),
            ("dense", dense),
        ):
            for dynamic in (False, True):
                made = compiled(function, dynamic=dynamic)(x)
                want = function(x)
                self.assertTrue(torch.equal(made, want), name)
                if name in ("dense", "channels last"):
                    self.assertEqual(made.stride(), want.stride(), name)

    def test_halves_round_as_eager_does(self):
        import torch

        for kind in (torch.bfloat16, torch.float16):
            x, y = torch.randn(37, 41).to(kind), torch.randn(37, 45).to(kind)
            function = lambda x, y: ((torch.nn.functional.pad(x, (1, 3)) * 0.1 + y) * y - 0.7) / 3.3  # noqa: E731
            self.assert_same(compiled(function)(x, y), function(x, y), kind)

    def test_types_are_converted_as_torch_does(self):
        import torch

        def function(x, n, b):
            y = torch.cat([x * n, n + 0.5], 1) > 1
            return torch.where(y | torch.nn.functional.pad(b, (0, 2)), 2.5, -1).to(torch.float16), y.to(torch.int32) + 1

        x, n, b = torch.randn(3, 4), torch.arange(-6, 6).reshape(3, 4), torch.rand(3, 6) > 0.5
        for made, want in zip(compiled(function)(x, n, b), function(x, n, b), strict=True):
            self.assert_same(made, want)


    def test_casts_that_may_be_out_of_range_are_torchs(self):
        """It leaves undefined what they make; they stay as they are without us."""
        import torch

        pad, x = torch.nn.functional.pad, torch.tensor([[-1.0, 300.0, 1e10, float("inf"), -5e9, 7.5]])
        for kind in (torch.uint8, torch.int8, torch.int32, torch.int64):
            with mock.patch.object(padlock_torch()._backend, "inductor", self.plain):
                self.assert_same(compiled(lambda x: pad(x, (1, 2)).to(kind))(x), pad(x, (1, 2)).to(kind), kind)  # noqa: B023
        self.assertNotIn("u8", "".join(one.text for one in taken()))
        ours = lambda x: pad(x, (1, 2)).clamp(0, 255).round().to(torch.uint8)  # noqa: E731
        self.assert_same(compiled(ours)(x), ours(x))
        self.assertIn("u8", taken()[-1].text)

    def plain(self):
        """What Inductor would be given, run as it is: its code for such casts is a processor's."""
        from padlock.torch import _backend

        return self.compile_fx, lambda model, examples, **how: _backend._boxed(model.forward)


class Directly(Case):
    """Graphs that record no gradient and that Padlock covers are traced once: AOTAutograd never starts. All others go its way."""

    def went(self, function, *inputs, options=FORCE, dynamic=True):
        """Whether a graph went without AOTAutograd. Its results are eager mode's either way."""
        from padlock.torch import _backend

        compile_fx, rest = _backend.inductor()
        counted = mock.Mock(side_effect=compile_fx)
        with mock.patch.object(_backend, "inductor", lambda: (counted, rest)):
            made, want = compiled(function, dynamic=dynamic, options=options)(*inputs), function(*inputs)
        self.assert_same(made.detach(), want.detach())
        return counted.call_count == 0

    def test_what_is_covered(self):
        import torch

        f, x = torch.nn.functional, torch.randn(2, 3, 5, 4)
        for dynamic in (False, True):
            self.assertTrue(self.went(lambda x: torch.relu(f.pad(x, (1, 2))) * 2 + x.shape[1], x, dynamic=dynamic))
            self.assertTrue(self.went(lambda x: f.pad(x, (1, 2, 1, 0), mode="circular")[:, :, 1:].half(), x, dynamic=dynamic))
            self.assertTrue(self.went(lambda x: x.transpose(1, 2).reshape(2, -1), x, dynamic=dynamic))
        with torch.no_grad():
            self.assertTrue(self.went(lambda x: f.pad(x, (1, 2)), x.clone().requires_grad_()))
        self.assertTrue(self.went(lambda x, n: f.pad(x, (1, 2)) * (n + 0.5), x, 3))
        self.assertEqual(len(taken()), 8)

    def test_what_asks_for_more(self):
        import torch

        f, x = torch.nn.functional, torch.randn(4, 6)
        self.assertFalse(self.went(lambda x: f.pad(x, (1, 2)), x.clone().requires_grad_()))
        self.assertFalse(self.went(lambda x: f.pad(x, (1, 2)).cumsum(1), x))
        self.assertFalse(self.went(lambda x: f.pad(x, (1, 2)).relu_(), x))
        self.assertFalse(self.went(lambda x: torch.relu(f.pad(x, (1, 2))), x, options={}))
        with torch.autocast("cpu"):
            self.assertFalse(self.went(lambda x: f.pad(x, (1, 2)), x))

    def test_no_tensor_is_made_for_its_number_of_elements(self):
        import torch

        def blocks(x):
            padded = torch.nn.functional.pad(x, (0, -x.shape[1] % 4))
            return padded.view(x.shape[0], -1, 4).transpose(0, 1).reshape(-1, 4)

        def windows(x):
            padded = torch.nn.functional.pad(x, (0, 0, 0, -x.shape[2] % 7, 0, -x.shape[1] % 7))
            n, h, w, c = padded.shape
            return padded.view(n, h // 7, 7, w // 7, 7, c).transpose(2, 3).reshape(-1, 7, 7, c)

        # Equal sizes are one symbol, whose square is in the number of elements of a square image.
        for function, shape in ((blocks, (3, 10)), (windows, (2, 10, 11, 3)), (windows, (2, 10, 10, 3))):
            self.assertTrue(self.went(function, torch.randn(shape)))
            self.assertRegex(taken()[-1].text, r"return t\d+\n", shape)

    def test_the_trace_keeps_no_fakes(self):
        import torch
        from torch._subclasses.fake_tensor import FakeTensorMode

        from padlock.torch import _direct

        trace, moved = _direct.trace_operators, []

        def asked():
            # Counts what the cache was asked for: its size stays either way, as Dynamo's own trace has kept the same before.
            info = FakeTensorMode.cache_info()
            return info.hits, info.misses, sum(info.bypasses.values())

        def counted(*given):
            before = asked()
            self.assertNotEqual(before, (0, 0, 0))
            made = trace(*given)
            moved.append(asked() != before)
            return made

        x = torch.ones(3, 5)
        with mock.patch.object(_direct, "trace_operators", counted):
            self.assertTrue(self.went(lambda x: torch.nn.functional.pad(x, (1, 4)).view(3, 2, 5) * 3, x, dynamic=False))
        self.assertEqual(moved, [False])

    def test_inputs_that_are_changed_and_results_that_are_views(self):
        import torch

        def changes(x):
            x.mul_(2)
            return torch.nn.functional.pad(x, (1, 1))

        def views(x):
            return torch.nn.functional.pad(x, (1, 1)), x, x.t()

        ours, x, y = compiled(changes), torch.ones(2, 3), torch.ones(2, 3)
        self.assert_same(ours(x), changes(y))
        self.assert_same(x, y)
        _, same, turned = compiled(views)(x)
        self.assertEqual((same.data_ptr(), turned.data_ptr(), turned.stride()), (x.data_ptr(), x.data_ptr(), (1, 3)))

    def test_what_is_not_covered_is_told_of_once(self):
        import torch

        import padlock.torch

        f, x = torch.nn.functional, torch.randint(-9, 9, (300, 400)).float()
        self.assertFalse(self.went(lambda x: torch.div(f.pad(x, (1, 2)), 4, rounding_mode="floor"), x, options={}))
        self.assertEqual(len(padlock.torch.decisions()), 1)


class Choices(Case):
    """The rule that says which cluster pays."""

    def run_both(self, function, *inputs, options=None, close=False):
        import torch

        made, want = compiled(function, options=options or {})(*inputs), function(*inputs)
        self.assertTrue(torch.allclose(made, want, rtol=1e-4, atol=1e-4) if close else torch.equal(made, want))

    def reasons(self):
        import padlock.torch

        return {decision.reason: decision.taken for decision in padlock.torch.decisions()}

    def test_between_what_is_called_it_is_taken_if_it_is_large(self):
        import torch

        def between(x, a, b):
            return torch.relu(torch.nn.functional.pad(x @ a, (3, 5))) @ b

        weights = torch.randn(64, 120), torch.randn(128, 8)
        with self.assertLogs("padlock.torch", "DEBUG") as log:
            self.run_both(between, torch.randn(900, 64), *weights, close=True)
        self.assertEqual(len(taken()), 1)
        self.assertRegex(log.output[1], r"took 2 operators \(aten.constant_pad_nd.default, aten.relu.default; \d+ bytes\)")
        self.run_both(between, torch.randn(30, 64), *weights, close=True)
        self.assertIn("less than 262144 bytes", self.reasons())

    def test_sizes_that_were_computed_before_it_have_names(self):
        """Layers whose sizes quote those of the layer before have one program, however deep they are."""
        import math

        import torch

        def layers(x, w):
            for _ in range(3):
                n = x.shape[-1]
                more = max((math.ceil(n / 2) - 1) * 2 + 3 - n, 0)
                x = torch.nn.functional.conv1d(torch.nn.functional.pad(x, (more // 2, more - more // 2)), w, stride=2)
            return x

        w = torch.randn(2, 2, 3)
        ours = compiled(layers)
        for columns in (64, 57, 91):
            x = torch.randn(1, 2, columns)
            self.assertTrue(torch.allclose(ours(x, w), layers(x, w), rtol=1e-4, atol=1e-4))
        texts = [one.text for one in taken()]
        self.assertEqual(len(texts), 3)
        self.assertEqual(texts[1], texts[2])
        self.assertRegex(texts[1], r"x0: f32\[1, \w+, n0\]\)")

    def test_how_sizes_depend_on_each_other_is_said_where_it_is_needed(self):
        import torch

        def halves(x):
            a = (x @ x)[:, : x.shape[1] // 2] @ torch.ones(x.shape[1] // 2, x.shape[1] // 2)
            b = x.t() @ x
            return (torch.nn.functional.pad(b, (1, 1))[:, 1 : 1 + x.shape[1] // 2] + a) @ a.t()

        ours = compiled(halves)
        for n in (8, 11):
            x = torch.randint(-3, 4, (n, n)).float()
            self.assertTrue(torch.equal(ours(x), halves(x)))
        self.assertEqual(len(taken()), 1)

    def test_beside_what_inductor_fuses_it_is_left(self):
        import torch

        self.run_both(lambda x: torch.nn.functional.pad(x, (3, 5)).sum(1), torch.ones(900, 128))
        (reason,) = self.reasons()
        line = r"torch_backend_test.py:\d+ 'self.run_both\(.*, torch.ones\(900, 128\)\)'"
        self.assertRegex(reason, f"^beside aten.sum.dim_IntList at {line}, with which Inductor may fuse it$")

    def test_beside_a_convolution_it_is_taken_if_channels_are_last_already(self):
        """Inductor keeps images of convolutions so; a kernel between them that has them otherwise costs two copies."""
        import torch

        x, w = torch.randn(2, 8, 40, 72), torch.randn(8, 8, 3, 3)
        last = [one.to(memory_format=torch.channels_last) for one in (x, w)]
        for mode in ("constant", "reflect"):
            padlock_torch().forget()
            between = lambda x, w: torch.conv2d(torch.nn.functional.pad(torch.conv2d(x, w), (1, 2, 2, 1), mode), w)  # noqa: B023, E731
            self.run_both(between, x, w, close=True)
            (reason,) = self.reasons()
            line = r"torch_backend_test.py:\d+ 'between = .*'"
            self.assertRegex(reason, f"^beside aten.convolution.default at {line}, for which Inductor chooses the order of axes$")
            self.run_both(between, *last, close=True)
            self.assertEqual(len(taken()), int(mode == "constant"), mode)  # a result of the other modes has channels first
            with torch._inductor.config.patch(layout_optimization=False):
                self.run_both(between, x, w, close=True)
            self.assertEqual(len(taken()), 1 + int(mode == "constant"), mode)

    def test_a_copy_alone_is_left_between_what_is_called(self):
        import torch

        heads = lambda x, w: (x @ w).view(64, 4, 49, 32).transpose(1, 2).reshape(-1, 128)  # noqa: E731
        x, w = torch.randint(-3, 4, (64, 196, 8)).float(), torch.randint(-3, 4, (8, 32)).float()
        self.run_both(lambda x, w: heads(x, w) @ torch.ones(128, 3), x, w)
        self.assertEqual(self.reasons(), {"a copy alone, which Inductor makes as well": False})
        self.run_both(lambda x: x.transpose(1, 2).reshape(64, -1), torch.randn(64, 196, 32))
        self.assertEqual(len(taken()), 1)

    def test_kernels_between_what_is_called_are_called_directly(self):
        import torch

        calls = mock.Mock(side_effect=torch.ops.padlock.call_kernel)
        x = torch.randint(-3, 4, (6, 6)).float()
        fresh = torch._inductor.config.patch(force_disable_caches=True)
        with fresh, mock.patch.object(torch.ops.padlock, "call_kernel", calls):
            self.run_both(lambda x: torch.nn.functional.pad(x @ x, (1, -1)) @ x, x)
        self.assertEqual(calls.call_count, 1)

    def test_code_of_another_version_is_not_taken_from_inductors_cache(self):
        import torch
        from torch._inductor import config

        from padlock.torch import _backend

        compile_fx, keys = _backend.inductor()[0], []

        def rest(graph_module, examples, **how):
            keys.append(config.post_grad_custom_pre_pass.uuid())
            return _backend._boxed(graph_module.forward)

        for none in (None, []):
            patched = mock.patch.object(_backend, "inductor", lambda: (compile_fx, rest))
            with config.patch(post_grad_custom_pre_pass=none), patched:
                compiled(lambda x: torch.nn.functional.pad(x, (1, 2)).cumsum(1))(torch.ones(2, 3))
                self.assertEqual(config.post_grad_custom_pre_pass, none)
        self.assertEqual(keys, [f"padlock {_backend._hash_of_sources()}"] * 2)

    def test_a_crop_is_always_taken(self):
        """Alone, where what is around it is left."""
        import torch

        self.run_both(lambda x: (torch.nn.functional.pad(x, (-3, 5)) * 2).sum(1), torch.ones(9, 12))
        told = [(one.taken, one.kind or one.reason, len(one.operators)) for one in padlock_torch().decisions()]
        self.assertEqual(told, [(False, "beside what Inductor may fuse", 2), (True, "it has a pad that crops", 1)])
        padlock_torch().forget()
        self.run_both(lambda x: torch.nn.functional.pad(x @ x, (-3, 3)).relu() @ x, torch.eye(9), close=True)
        self.assertEqual([(one.taken, len(one.operators)) for one in padlock_torch().decisions()], [(True, 2)])

    def test_a_crop_between_convolutions_has_channels_last(self):
        """No copy stands beside it: Inductor makes no more loops than without it."""
        import torch
        from torch._inductor import metrics

        x, w = torch.randn(2, 8, 40, 72), torch.randn(8, 8, 3, 3)
        crop = lambda x: torch.nn.functional.pad(x, (-1, 1, -1, 1))  # noqa: E731
        for dynamic in (False, True):
            loops = []
            for between in (crop, lambda x: x):
                padlock_torch().forget()
                function = lambda x, w: torch.conv2d(between(torch.conv2d(x, w).relu()), w)  # noqa: B023, E731
                metrics.reset()
                with torch._inductor.config.patch(force_disable_caches=True):
                    made = compiled(function, dynamic=dynamic, options={})(x, w)
                self.assertTrue(torch.allclose(made, function(x, w), rtol=1e-4, atol=1e-4))
                loops.append(metrics.generated_kernel_count)
                if between is crop:
                    self.assertEqual(len(taken()), 1)
                    self.assertIn("perm = [0, 2, 3, 1]", taken()[0].text)
            self.assertLessEqual(*loops)

    def test_a_crop_shares_what_others_compute_as_well(self):
        import torch
        from padlock.torch import _backend

        def halves(x, w):
            y = torch.conv2d(x, w)
            return torch.conv2d(y.relu(), w).sum(1) + torch.conv2d(torch.nn.functional.pad(y.relu(), (-1, 1, -1, 1)), w).sum(1)

        x, w = torch.randn(2, 8, 20, 24), torch.randn(8, 8, 3, 3)
        kept = []
        with mock.patch.object(_backend, "give_back", lambda graph, backward: kept.extend(graph.nodes)):
            self.run_both(halves, x, w, close=True)
        self.assertEqual([str(node.target) for node in kept].count("aten.relu.default"), 1)

    def test_other_types_are_left(self):
        import torch

        made = compiled(lambda x: torch.nn.functional.pad(x, (1, 1)) * 2)(torch.ones(2, 3, dtype=torch.complex64))
        self.assertEqual((made.dtype, taken()), (torch.complex64, []))

    def test_an_unknown_option_is_refused(self):
        import torch

        with self.assertRaisesRegex(Exception, "expected the option padlock.force, found padlock.forse"):
            compiled(lambda x: x + 1, options={"padlock.forse": True})(torch.ones(2))


class Left(Case):
    """Where nothing is taken, Inductor is given the graph that it has without us, and makes the same of it."""

    def graph_of(self, function, inputs, *, dynamic, ours):
        """What Inductor is given: each operator with its arguments, sizes by their values, and the graph's result."""
        import torch
        from padlock.torch import _backend

        compile_fx, _ = _backend.inductor()
        graphs = []

        def rest(graph_module, examples, **how):
            graph_module.graph.eliminate_dead_code()
            graphs.append(said(graph_module.graph))
            return _backend._boxed(graph_module.forward)

        torch._dynamo.reset()
        alone = lambda model, inputs: compile_fx(model, inputs, inner_compile=rest)  # noqa: E731
        with mock.patch.object(_backend, "inductor", lambda: (compile_fx, rest)), torch.no_grad():
            made = torch.compile(function, backend="padlock" if ours else alone, dynamic=dynamic)(*inputs)
        (graph,) = graphs
        return graph, made

    def check(self, function, *inputs, without, count=0):
        import torch

        for dynamic in (False, True):
            padlock_torch().forget()
            graph, made = self.graph_of(function, inputs, dynamic=dynamic, ours=True)
            own, want = self.graph_of(function, inputs, dynamic=dynamic, ours=False)
            self.assertEqual(len(taken()), count)
            self.assertTrue(torch.allclose(made, want, rtol=1e-5, atol=1e-5))
            self.assertFalse([line for line in graph if without in line[0]], graph)
            if count == 0:
                self.assertEqual(graph, own)

    def test_every_mode_between_convolutions(self):
        import torch

        x, w = torch.randn(2, 8, 40, 72), torch.randn(8, 8, 3, 3)
        for mode in ("constant", "reflect", "replicate", "circular"):
            pad = lambda x: torch.nn.functional.pad(x.relu(), (1, 2, 2, 1), mode)  # noqa: B023, E731
            self.check(lambda x, w: torch.conv2d(pad(torch.conv2d(x, w)), w), x, w, without="padlock")  # noqa: B023

    def test_of_one_and_of_three_axes(self):
        import torch

        for mode in ("reflect", "replicate", "circular"):
            pad = lambda x, pairs: torch.nn.functional.pad(x, pairs, mode).exp().sum(-1)  # noqa: B023, E731
            self.check(lambda x: pad(x, (2, 1)), torch.randn(3, 9), without="padlock")  # noqa: B023
            self.check(lambda x: pad(x, (2, 1, 0, 3, 1, 1)), torch.randn(2, 3, 5, 6, 7), without="padlock")  # noqa: B023

    def test_one_of_two_that_is_not_taken(self):
        import torch

        def two(x, a, b):
            pad = lambda t: torch.nn.functional.pad(t, (3, 5), "reflect")  # noqa: E731
            return pad(pad(x @ a).relu() @ b).exp().sum(1)

        self.check(two, torch.randn(900, 64), torch.randn(64, 120), torch.randn(128, 16), without="padlock.pad", count=1)

    def test_what_torch_has_not_stays(self):
        """Padlock's own pads: torch refuses more than an axis' length, and has no symmetric mode."""
        import torch

        for how, mode in ((5, "reflect"), (2, "symmetric")):
            function = lambda x: torch.ops.padlock.pad(x, [0, how], [0, 1], mode).exp().sum(1)  # noqa: B023, E731
            x = torch.randn(4, 3)
            graph, made = self.graph_of(function, (x,), dynamic=False, ours=True)
            self.assertTrue([line for line in graph if "padlock.pad" in line[0]], graph)
            self.assertTrue(torch.allclose(made, function(x)))


class Faults(Case):
    """A name that is missing and a graph that is refused cost speed, and nothing else."""

    def function(self, x):
        import torch

        return torch.nn.functional.pad(x, (1, 2), mode="reflect") + 1

    def check(self, patch, message):
        import torch
        from padlock.torch import _names

        _names._warned.clear()
        x = torch.randn(3, 4)
        with patch, self.assertWarnsRegex(RuntimeWarning, message) if message else mock.MagicMock():
            self.assertTrue(torch.equal(compiled(self.function)(x), self.function(x)))

    def test_no_compile_fx(self):
        from padlock.torch import _backend

        self.check(mock.patch.object(_backend, "inductor", lambda: (None, None)), "this torch has no compile_fx")

    def test_a_fault_in_a_pass(self):
        from padlock.torch import _backend

        broken = mock.Mock(side_effect=KeyError("planted"))
        self.check(mock.patch.object(_backend, "Clusters", broken), "a graph is left to Inductor: KeyError: 'planted'")
        self.check(mock.patch.object(_backend, "rescue", broken), "modes of pads are left to Inductor: 'planted'")

    def test_a_program_that_is_refused(self):
        import padlock.torch
        from padlock.torch import _backend

        self.check(mock.patch.object(_backend, "kernel_of", mock.Mock(side_effect=MemoryError("planted"))), None)
        self.assertIn("Padlock refuses its program: planted", [decision.reason for decision in padlock.torch.decisions()])

    def test_a_program_that_is_refused_is_made_again_only_where_sizes_have_names(self):
        import torch
        from padlock.torch import _backend

        def layers(x):
            half = x.shape[1] // 2
            return torch.nn.functional.pad((x @ x)[:, :half] @ torch.ones(half, half), (1, 2))

        refuses = mock.Mock(side_effect=MemoryError("planted"))
        for function, x, texts in ((self.function, torch.randn(3, 4), 1), (layers, torch.ones(8, 8), 2)):
            refuses.reset_mock()
            with mock.patch.object(_backend, "kernel_of", refuses):
                compiled(function)(x)
            self.assertEqual(len({call.args for call in refuses.call_args_list}), texts)
            self.assertEqual(refuses.call_count, texts)


class Pass(Case):
    def test_for_owners_of_the_compile_call(self):
        import torch

        import padlock.torch

        function = lambda x: torch.nn.functional.pad(x @ x, (1, -2)).relu() @ x.t()[:-1]  # noqa: E731
        x = torch.randint(-4, 5, (8, 8)).float()
        torch._dynamo.reset()
        # A graph that an earlier process left in Inductor's cache has its kernel already, and nothing is decided.
        how = {"post_grad_custom_post_pass": padlock.torch.inductor_pass, "force_disable_caches": True}
        with torch._inductor.config.patch(how):
            self.assertTrue(torch.equal(torch.compile(function)(x), function(x)))
        self.assertEqual(len(taken()), 1)
        self.assertIn("padlock", padlock.torch.inductor_pass.uuid())


class Random(Case):
    """Chains of moves and of operators that round, drawn at random: the bits are eager's."""

    def draw(self, draw, shape):
        import torch

        f = torch.nn.functional
        axes, steps = len(shape), []
        for _ in range(draw.randint(2, 6)):
            kind = draw.randrange(10)
            low, high = draw.randint(-1, 3), draw.randint(-1, 3)
            mode = draw.choice(("constant", "replicate", "reflect", "circular"))
            axis, number = draw.randrange(axes), draw.randint(-3, 3) + 0.25
            steps.append(
                (
                    lambda t, a=low, b=high: f.pad(t, (a, b), value=1.5),
                    lambda t, a=abs(low), b=abs(high), m=mode: f.pad(t, (a, b), m) if min(t.shape) > 3 else t,
                    lambda t, a=axis: torch.cat([t, t * 2], a),
                    lambda t, a=axis, n=axes: t.transpose(a, n - 1),
                    lambda t, a=axis: t.narrow(a, 1, t.shape[a] - 1),
                    lambda t, v=number: torch.where(t > v, t - v, t * v),
                    lambda t: t.flip(0)[1:] if t.shape[0] > 3 else t.abs(),
                    lambda t, v=number: t.clamp(-abs(v), abs(v) + 1).neg(),
                    lambda t: t.transpose(0, 1).contiguous().view(t.shape[0], t.shape[1], *t.shape[2:]),
                    lambda t, a=axis: t.unsqueeze(a).expand(*t.shape[:a], 2, *t.shape[a:]).sum(a),
                )[kind]
            )
        return steps

    def test_chains(self):
        import torch

        seed = int(os.environ.get("PADLOCK_SEED", random.randrange(1 << 30)))
        print(f"seed {seed}")
        draw = random.Random(seed)
        torch.manual_seed(seed)
        for _ in range(int(os.environ.get("PADLOCK_ROUNDS", 6))):
            shape = [draw.randint(4, 9) for _ in range(draw.randint(2, 3))]
            steps = self.draw(draw, shape)

            def chain(x, steps=steps):
                for step in steps:
                    x = step(x)
                return x * 3

            ours = compiled(chain, dynamic=draw.random() < 0.6)
            for more in (0, 2):
                x = torch.randn([n + more for n in shape])
                self.assert_same(ours(x), chain(x), seed, shape)


@needs("expecttest")
class Samples(Case):
    """PyTorch's own samples of pads, some of them in each run."""

    def test_opinfo(self):
        import torch
        from torch.testing._internal.common_methods_invocations import op_db

        seed = int(os.environ.get("PADLOCK_SEED", random.randrange(1 << 30)))
        parts = int(os.environ.get("PADLOCK_OPINFO_PARTS", 24))
        all_of_them = [
            (op, kind, sample)
            for op in op_db
            if op.name in ("nn.functional.pad", "constant_pad_nd")
            for kind in sorted(op.dtypes, key=str)
            for sample in op.sample_inputs("cpu", kind)
        ]
        chosen = all_of_them[seed % parts :: parts]
        for dynamic in (False, True):
            for op, kind, sample in chosen:
                function = lambda x: op.op(x, *sample.args, **sample.kwargs)  # noqa: B023, E731
                made, want = compiled(function, dynamic=dynamic)(sample.input), function(sample.input)
                self.assertEqual((made.shape, made.dtype), (want.shape, want.dtype))
                if made.numel():
                    bits = [x.contiguous().reshape(-1).view(torch.uint8) for x in (made, want)]
                    self.assertTrue(torch.equal(*bits), (seed, op.name, kind, sample))
        print(f"{len(chosen)} of {len(all_of_them)} samples of OpInfo, static and dynamic, seed {seed}")
        self.assertGreater(len(all_of_them), 1600)


if __name__ == "__main__":
    main()
