"""Times calls of PyTorch's world as CUDA graphs: many calls are captured, and what a replay of them takes is the device's."""

import collections
import random

COPY_SHAPES = ((512, 4), (1024, 4), (2048, 4), (4096, 8))  # words of 4 bytes and warps of a block


def capture(torch, call, calls, buffers=None):
    """A graph of `call(0)`, `call(1)` and so on, `calls` in all. Results are kept as long as `buffers` calls take, so that
    as many are alive; None: as long as `call` does itself."""
    kept = collections.deque()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for i in range(2):
            call(i)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(calls):
            if buffers is not None and len(kept) == buffers:
                kept.popleft()
            made = call(i)
            if buffers is not None:
                kept.append(made)
    graph.replay()
    torch.cuda.synchronize()
    return graph


def replay_ms(torch, graph):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(1000000)  # the host has queued all when the device begins
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


class Timer:
    """Contestants of one problem as graphs of calls on buffers that take turns."""

    def __init__(self, torch, calls, buffers):
        self.torch, self.calls, self.buffers, self.graphs = torch, calls, buffers, {}

    def add(self, name, call):
        """`call(i)` works on the buffers i."""
        self.graphs[name] = capture(self.torch, lambda i: call(i % self.buffers), self.calls, self.buffers)

    def sample_us(self, name):
        return replay_ms(self.torch, self.graphs[name]) * 1e3 / self.calls

    def keep_fastest(self, prefix, name):
        """Of the contestants with a prefix the fastest stays, as `name`."""
        found = [other for other in self.graphs if other.startswith(prefix)]
        if found:
            best = min(found, key=lambda other: min(self.sample_us(other) for _ in range(3)))
            self.graphs[name] = self.graphs[best]
            for other in found:
                del self.graphs[other]

    def samples(self, rounds):
        names, found = list(self.graphs), {name: [] for name in self.graphs}
        for turn in range(rounds + 1):  # the first does not count
            random.shuffle(names)
            for name in names:
                us = self.sample_us(name)
                if turn > 0:
                    found[name].append(us)
        return found


class CopyKernel:
    """Vectors of 16 bytes, as Triton writes them."""

    def __init__(self):
        import triton
        from triton import language

        globals()["language"] = language  # which the kernel names
        self.kernel = triton.jit(_copy)

    def __call__(self, source, target, block, warps):
        self.kernel[(-(-source.numel() // block),)](source, target, source.numel(), BLOCK=block, num_warps=warps)


def _copy(source, target, count, BLOCK: "language.constexpr"):  # noqa: F821
    at = language.program_id(0).to(language.int64) * BLOCK + language.arange(0, BLOCK)  # noqa: F821
    language.store(target + at, language.load(source + at, mask=at < count), mask=at < count)  # noqa: F821
