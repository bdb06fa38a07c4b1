"""What a run of the families checks before it times: PyTorch's functions of problems, their inputs, and results."""


def torch_function(words_, problem):
    """A new function, so that nothing that was compiled of another one serves it."""
    return lambda *inputs: words_.result(problem.program.run(words_, *inputs))


def precise(torch, words_, problem, inputs):
    """PyTorch's result, computed in f32 where the inputs are halves, and rounded once."""
    wide = [x.float() if x.dtype == torch.float16 else x for x in inputs]
    return torch_function(words_, problem)(*wide).to(words_.types[problem.dtype])


def is_close(torch, found, expected, sums_in_own_type=False):
    """For peers, which round fused operations as they like, and some of them each step of a sum."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if not found.dtype.is_floating_point:
        return torch.equal(found, expected)
    bound = 1e-5 if found.dtype == torch.float32 else 2e-2
    return torch.allclose(found.float(), expected.float(), atol=(12 if sums_in_own_type else 1) * bound, rtol=bound)


def difference(torch, found, expected):
    """Returns where bits differ, for people; None where none does."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"expected {expected.dtype} of {tuple(expected.shape)}, found {found.dtype} of {tuple(found.shape)}"
    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[found.element_size()]
    differs = found.view(integers) != expected.view(integers)
    if not bool(differs.any()):
        return None
    index = tuple(int(i) for i in differs.nonzero()[0])
    return f"{int(differs.sum())} elements, first at {index}: expected {expected[index].item()!r}, found {found[index].item()!r}"


def inputs_of(torch, types, problem, device):
    """Random ones without zeros, whose sign not all libraries keep."""
    def one(shape, dtype):
        if dtype in ("i8", "u8"):
            return torch.randint(-100 if dtype == "i8" else 0, 100, shape, device=device, dtype=types[dtype])
        values = torch.randn(shape, device=device, dtype=torch.float32).to(types[dtype])
        return torch.where(values == 0, torch.ones((), device=device, dtype=types[dtype]), values)

    return [one(*given) for given in problem.program.inputs]
