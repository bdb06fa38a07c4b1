"""torch.compile(backend="padlock") of random functions of pads, slices, views, operators in place and several results. Eager mode is the
judge of values, shapes, strides, types, devices, gradients, and of who shares memory with whom.

PADLOCK_SEED and PADLOCK_FIRST say which; PADLOCK_ROUNDS how many; PADLOCK_INDUCTOR=1 compiles what Padlock leaves, which takes seconds
each: it runs as it was traced else."""

import os
import random
import unittest
import warnings
from unittest import mock

from python_testing import main, needs
from torch_functions import Source

ROUNDS, FIRST = int(os.environ.get("PADLOCK_ROUNDS", 60)), int(os.environ.get("PADLOCK_FIRST", 0))


def about(tensor):
    """Strides along axes of one element are left out: torch's own traces and its operators differ there."""
    strides = [s if n > 1 and tensor.numel() > 0 else None for n, s in zip(tensor.shape, tensor.stride())]
    return type(tensor), tuple(tensor.shape), strides, tensor.dtype, tensor.device, tensor.requires_grad


def held(tensors):
    return [one.detach().clone() for one in tensors]


class Run:
    """What a function makes, of which all is asked that a caller could see."""

    def __init__(self, source, function, more):
        import torch

        self.leaves, self.given = source.inputs(more)
        self.results = function(*self.given)
        self.abouts = [about(one) for one in (*self.results, *self.given)]
        self.values = held([*self.results, *self.given])
        floats = [one for one in self.results if one.requires_grad]
        wanted = [one for one in self.leaves if one.requires_grad]
        self.gradients = []
        if floats and wanted:
            total = sum((one.double() * (i + 1)).sum() for i, one in enumerate(floats))
            self.gradients = torch.autograd.grad(total, wanted, allow_unused=True)
        self.written = self._write()

    def _write(self):
        """All tensors, after the first and the last element of each, in turn, were written to."""
        import torch

        seen, tensors = [], [*self.results, *self.given]
        with torch.no_grad():
            for i, one in enumerate(tensors):
                if one.numel() > 0 and one.dtype != torch.bool:
                    one.detach()[(0,) * one.dim()] = 50 + i
                    one.detach()[(-1,) * one.dim()] = 80 + i
                seen += held(tensors)
        return seen


def difference(made, want):
    """The first thing that two runs do not have in common, or None."""
    import torch

    def same(a, b):
        if a is None or b is None:
            return a is b
        return torch.equal(a.nan_to_num(), b.nan_to_num()) and torch.equal(a.isnan(), b.isnan())

    for what in ("abouts", "values", "gradients", "written"):
        pairs = list(zip(getattr(made, what), getattr(want, what), strict=True))
        for i, (one, other) in enumerate(pairs):
            if not (one == other if what == "abouts" else same(one, other)):
                return f"{i} of {len(pairs)} {what}: found {one}, expected {other}"
    return None


def raised(run):
    """What a run returns, or how it ended."""
    try:
        return run()
    except Exception as error:  # noqa: BLE001
        return error


def compiled(source, *, ours):
    """A random function, compiled. What is not Padlock's runs as it was traced."""
    import torch
    from padlock.torch import _backend

    compile_fx, rest = _backend.inductor()
    if not os.environ.get("PADLOCK_INDUCTOR"):
        rest = lambda model, examples, **how: _backend._boxed(model.forward)  # noqa: E731
    alone = lambda model, inputs, **how: compile_fx(model, inputs, inner_compile=rest)  # noqa: E731
    torch._dynamo.reset()
    options = {"options": {"padlock.force": source.force}} if ours else {}
    made = torch.compile(source.function(), backend="padlock" if ours else alone, dynamic=source.dynamic, **options)

    def call(*inputs):
        with mock.patch.object(_backend, "inductor", lambda: (compile_fx, rest)):
            return made(*inputs)

    return call


def unlike(one, other):
    """How two runs differ, of which each may have ended in an error."""
    if isinstance(one, Exception) or isinstance(other, Exception):
        kinds = {(type(run), type(getattr(run, "inner_exception", None))) for run in (one, other)}
        return None if len(kinds) == 1 else f"{type(one).__name__}: {one}"
    return difference(one, other)


def compare(source):
    """How one function differs under the back end, or None; and whether it does the very same without Padlock."""
    sizes = (0, 2) if source.dynamic else (0,)
    runs = {}
    for ours in (True, False):
        made = compiled(source, ours=ours)
        runs[ours] = [raised(lambda: Run(source, made, more)) for more in sizes]  # noqa: B023
        if ours:
            wanted = [Run(source, source.function(), more) for more in sizes]
            differs = next(filter(None, map(unlike, runs[True], wanted)), None)
            if differs is None:
                return None, False
    return differs, not any(map(unlike, runs[True], runs[False]))


@needs("torch", "numpy")
class Random(unittest.TestCase):
    def test_functions(self):
        import padlock.torch

        seed = int(os.environ.get("PADLOCK_SEED", random.randrange(1 << 30)))
        print(f"seed {seed}", flush=True)
        run = taken = 0
        number, failures, theirs = FIRST, [], []
        padlock.torch.forget()
        while run < ROUNDS:
            source = Source(seed, number)
            number += 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if isinstance(raised(lambda: [Run(source, source.function(), more) for more in (0, 2)]), Exception):  # noqa: B023
                    continue
                differs, without = compare(source)
            run += 1
            taken += any(decision.taken for decision in padlock.torch.decisions())
            padlock.torch.forget()
            if differs is not None:
                (theirs if without else failures).append(f"{source}# {differs}\n")
                print(("the same without Padlock: " if without else "") + f"{source}# {differs}", flush=True)
        print(f"{run} functions, {taken} with kernels; {len(failures)} differ, and {len(theirs)} do the same without Padlock")
        self.assertEqual(failures, [])
        self.assertGreater(taken, run // 4)


if __name__ == "__main__":
    main()
