"""torch.compile(backend="padlock") says what it took and why it left the rest: one line a graph, with the user's lines."""

import unittest

from python_testing import main, needs
from torch_aliases_test import Case, compiled


@needs("torch", "numpy")
class Log(Case):
    def lines(self, function, *inputs, level="INFO", **options):
        with self.assertLogs("padlock.torch", level) as log:
            made = compiled(function, options=options, dynamic=False)(*inputs)
            if made.requires_grad:
                made.sum().backward()
        return [record.getMessage() for record in log.records]

    def test_one_line_a_graph_counts_the_reasons(self):
        import torch

        pad = torch.nn.functional.pad

        def model(x, w):
            for _ in range(3):
                x = x - pad(x, (1, 2)).sum(1, keepdim=True)
            return pad(x @ w, (2, 2)) @ torch.ones(12, 3)

        (line,) = self.lines(model, torch.ones(4, 8), torch.ones(8, 8))
        self.assertRegex(line, r"^took 0 of \d clusters of a graph; left: \d beside what Inductor may fuse \(first: torch_log_test.py:\d+ 'x = x - pad")
        self.assertRegex(line, r"; 1 less than 262144 bytes \(first: torch_log_test.py:\d+ 'return pad")

    def test_a_model_of_which_nothing_is_taken_is_warned_of_once(self):
        import torch

        import padlock.torch

        padlock.torch.forget()
        with self.assertLogs("padlock.torch", "WARNING") as log:
            for axis in (0, 1):
                compiled(lambda x: torch.nn.functional.pad(x, (1, 2)).sum(axis), options={}, dynamic=False)(torch.ones(4, 6))
        (record,) = log.records
        self.assertRegex(record.getMessage(), r"^padlock took none of 1 places with pads in this model, and leaves them to Inductor: 1 beside "
                         r"what Inductor may fuse \(first: torch_log_test.py:\d+ .*padlock.force.*setLevel\('INFO'\)")
        with self.assertNoLogs("padlock.torch", "WARNING"):
            compiled(lambda x: torch.nn.functional.pad(x, (1, 2)) * 2, options={"padlock.force": True}, dynamic=False)(torch.ones(4, 6))

    def test_the_backward_graph_has_its_own(self):
        import torch

        x = torch.ones(4, 6, requires_grad=True)
        said = self.lines(lambda x: torch.nn.functional.pad(x, (1, 2)) * 2, x, **{"padlock.force": True})
        self.assertEqual(said, ["took 1 of 1 clusters of a graph", "took 1 of 1 clusters of a backward graph"])

    def test_a_graph_without_pads(self):
        import torch

        self.assertEqual(self.lines(lambda x: x.cumsum(0), torch.ones(3)), ["a graph has no pad, concatenation or copy of a view"])

    def test_clusters_and_programs_are_details(self):
        import torch

        x = torch.ones(4, 6, requires_grad=True)
        said = self.lines(lambda x: torch.nn.functional.pad(x, (1, 2)).cumsum(0), x, level="DEBUG", **{"padlock.force": True})
        self.assertRegex(said[1], r"^took 1 operators \(aten.constant_pad_nd.default; \d+ bytes\) at torch_log_test.py:\d+ 'said = .*: padlock.force$")
        self.assertRegex(said[2], r"^the program of them:\nprogram cluster")

    def test_decisions_have_the_users_line(self):
        import torch

        import padlock.torch

        def layer(x):
            return torch.nn.functional.pad(x, (1, 2)).sum()  # here

        compiled(layer, options={})(torch.ones(4, 6))
        (decision,) = padlock.torch.decisions()
        self.assertRegex(decision.line, r"^torch_log_test.py:\d+ 'return .*# here'$")
        self.assertRegex(decision.reason, r"^beside aten.sum.default at torch_log_test.py:\d+ '.*', with which Inductor may fuse it$")
        self.assertEqual(decision.kind, "beside what Inductor may fuse")


if __name__ == "__main__":
    main()
