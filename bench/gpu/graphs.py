"""Times calls of PyTorch's world as CUDA graphs: many calls are captured, and what a replay of them takes is the device's."""

import collections
import contextlib
import gc
import random
import time

COPY_SHAPES = ((512, 4), (1024, 4), (2048, 4), (4096, 8))  # words of 4 bytes and warps of a block


class Cuda:
    """The GPU that PyTorch has chosen."""

    name = "cuda"

    def __init__(self, torch):
        self.torch = torch
        self.l2_bytes = getattr(torch.cuda.get_device_properties(torch.cuda.current_device()), "L2_cache_size", 64 << 20)

    def synchronize(self):
        self.torch.cuda.synchronize()

    def free_bytes(self):
        self.torch.cuda.empty_cache()
        return self.torch.cuda.mem_get_info()[0]

    def capture(self, call, calls, buffers=None):
        """A graph of `call(0)`, `call(1)` and so on, `calls` in all. Results are kept as long as `buffers` calls take, so
        that as many are alive; None: as long as `call` does itself."""
        cuda, kept = self.torch.cuda, collections.deque()
        stream, graph = cuda.Stream(), cuda.CUDAGraph()
        stream.wait_stream(cuda.current_stream())
        with cuda.stream(stream):
            for i in range(2):  # what a first call does is not captured
                call(i)
            stream.synchronize()
            with without_garbage_collection(), capturing(graph):
                for i in range(calls):
                    if buffers is not None and len(kept) == buffers:
                        kept.popleft()
                    made = call(i)
                    if buffers is not None:
                        kept.append(made)
        cuda.current_stream().wait_stream(stream)
        graph.replay()
        self.synchronize()
        return graph

    def replay_ms(self, graph):
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.torch.cuda._sleep(1000000)  # the host has queued all when the device begins
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end)


class Simulated:
    """This CPU in a GPU's place, which shows that the rest works. Its times mean nothing."""

    name = "cpu"
    l2_bytes = 1 << 16

    def __init__(self, torch):
        self.torch = torch

    def synchronize(self):
        pass

    def free_bytes(self):
        return 1 << 30

    def capture(self, call, calls, buffers=None):
        def graph():
            for i in range(min(calls, 2)):
                call(i)

        graph()
        return graph

    def replay_ms(self, graph):
        begin = time.perf_counter()
        graph()
        return (time.perf_counter() - begin) * 1e3


class CaptureFailed(Exception):
    """What is left of such a capture may spoil the next one of the process."""


@contextlib.contextmanager
def capturing(graph):
    graph.capture_begin()
    try:
        yield
    except Exception as error:
        with contextlib.suppress(Exception):
            graph.capture_end()
        raise CaptureFailed(f"{type(error).__name__}: {error}") from error
    try:
        graph.capture_end()
    except Exception as error:
        raise CaptureFailed(f"{type(error).__name__}: {error}") from error


@contextlib.contextmanager
def without_garbage_collection():
    """What it destroys may be illegal to destroy while a stream is captured."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Timer:
    """Contestants of one problem as graphs of calls on buffers that take turns."""

    def __init__(self, device, calls, buffers):
        self.device, self.calls, self.buffers, self.graphs = device, calls, buffers, {}

    def add(self, name, call):
        """`call(i)` works on the buffers i."""
        self.graphs[name] = self.device.capture(lambda i: call(i % self.buffers), self.calls, self.buffers)

    def sample_us(self, name):
        return self.device.replay_ms(self.graphs[name]) * 1e3 / self.calls

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
