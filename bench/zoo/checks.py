"""What a run of the families checks before it times: PyTorch's functions of problems, their inputs, and results."""

def torch_function(words_, problem):
    """A new function, so that nothing that was compiled of another one serves it."""
    return lambda *inputs: words_.result(problem.program.run(words_, *inputs))


def is_close(torch, found, expected):
    """For peers, which round sums and fused operations as they like."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if not found.dtype.is_floating_point:
        return torch.equal(found, expected)
    bound = 1e-5 if found.dtype == torch.float32 else 2e-2
    return torch.allclose(found.float(), expected.float(), atol=bound, rtol=bound)


def difference(torch, found, expected):
    """Returns where bits differ, for people; None where none does."""
    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[found.element_size()]
    differs = found.view(integers) != expected.view(integers)
    if found.shape == expected.shape and not bool(differs.any()):
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
