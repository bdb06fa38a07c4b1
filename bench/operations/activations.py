#!/usr/bin/env python3
"""Prints what the activations cost beside PyTorch's, on one thread and arrays that stay in its caches.

usage: activations.py LIBPADLOCK.SO [--elements=N] [--rounds=N]

Padlock's results are correctly rounded; PyTorch's are not. Both calls take turns, and the best of each counts: so what
else the machine does is left out. The last column is PyTorch's time over Padlock's.
"""

import argparse
import ctypes
import time

import torch

aten = torch.ops.aten
FUNCTIONS = {  # into a result that is there, as Padlock's are
    "exp": aten.exp.out,
    "log": aten.log.out,
    "tanh": aten.tanh.out,
    "sigmoid": aten.sigmoid.out,
    "erf": aten.erf.out,
    "gelu": aten.gelu.out,
    "gelu_tanh": lambda x, out: aten.gelu.out(x, approximate="tanh", out=out),
    "silu": aten.silu.out,
    "softplus": aten.softplus.out,
    "rsqrt": aten.rsqrt.out,
}
POSITIVE = ("log", "rsqrt")
TYPES = {"f32": (torch.float32, 2, 32), "f16": (torch.float16, 2, 16), "bf16": (torch.bfloat16, 4, 16)}
SECONDS_OF_A_SAMPLE = 0.002


class DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("borrowed", ctypes.c_void_p * 6), ("threads", ctypes.c_int32),
                ("cache_mode", ctypes.c_int32), ("files", ctypes.c_void_p * 3), ("cache_match", ctypes.c_int32),
                ("reserved", ctypes.c_int32)]


class BindOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("inputs", ctypes.c_void_p), ("input_count", ctypes.c_size_t),
                ("rest", ctypes.c_void_p * 4), ("flags", ctypes.c_int32 * 2)]


class Padlock:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.padlock_error_text.restype = ctypes.c_char_p
        options = ContextOptions(ctypes.sizeof(ContextOptions), threads=1)
        self.context = self.made("padlock_context_create", ctypes.byref(options))

    def check(self, status, error):
        if status != 0:
            raise SystemExit(self.library.padlock_error_text(error).decode())

    def made(self, function, *arguments):
        result, error = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(getattr(self.library, function)(*arguments, ctypes.byref(result), ctypes.byref(error)), error)
        return result

    def call(self, function, dtype, x, y):
        """Returns the kernel that computes y from x."""
        text = f"program p(x: {dtype}[N]) {{ y = {function}(x) return y }}".encode()
        program = self.made("padlock_program_parse", self.context, text, ctypes.c_size_t(len(text)))
        kernel = self.made("padlock_program_compile", program, None)
        shape = (ctypes.c_int64 * 1)(x.numel())
        _, code, bits = TYPES[dtype]
        tensor = DlTensor(x.data_ptr(), (1, 0), 1, code, bits, 1, shape)
        tensors = (ctypes.c_void_p * 1)(ctypes.addressof(tensor))
        options = BindOptions(ctypes.sizeof(BindOptions), ctypes.addressof(tensors), 1)
        bound = self.made("padlock_kernel_bind", kernel, ctypes.byref(options))
        inputs, results = (ctypes.c_void_p * 1)(x.data_ptr()), (ctypes.c_void_p * 1)(y.data_ptr())
        one, error = ctypes.c_size_t(1), ctypes.c_void_p()
        launch = self.library.padlock_call_launch
        return lambda: self.check(launch(bound, inputs, one, results, one, None, ctypes.byref(error)), error)


def seconds_of(call, count):
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def best_of(calls, rounds):
    counts = [max(1, int(SECONDS_OF_A_SAMPLE / seconds_of(call, 20))) for call in calls]
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        best = [min(b, seconds_of(call, count)) for b, call, count in zip(best, calls, counts)]
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library")
    parser.add_argument("--elements", type=int, default=32768)
    parser.add_argument("--rounds", type=int, default=60)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    padlock = Padlock(arguments.library)
    print(f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, {arguments.elements} elements")
    print("| function | type | Padlock, 10^9 elements/s | PyTorch | ratio |\n|---|---|---|---|---|")
    for dtype, (torch_type, _, _) in TYPES.items():
        for name, function in FUNCTIONS.items():
            x = torch.linspace(0.01 if name in POSITIVE else -8, 8, arguments.elements).to(torch_type)
            y, z = torch.empty_like(x), torch.empty_like(x)
            ours, theirs = best_of([padlock.call(name, dtype, x, y), lambda: function(x, out=z)], arguments.rounds)
            torch.testing.assert_close(y, z)
            rates = [arguments.elements / seconds / 1e9 for seconds in (ours, theirs)]
            print(f"| {name} | {dtype} | {rates[0]:.3f} | {rates[1]:.3f} | {theirs / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()
