"""Calls libpadlock through its C interface, with nothing but Python's own modules: what the scripts beside it time."""

import ctypes
import time

TYPES = {"f32": (2, 32), "f16": (2, 16), "bf16": (4, 16)}  # DLPack's code and bits


class DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("borrowed", ctypes.c_void_p * 7), ("threads", ctypes.c_int32),
                ("cache_mode", ctypes.c_int32), ("files", ctypes.c_void_p * 3), ("cache_match", ctypes.c_int32),
                ("reserved", ctypes.c_int32)]


class NamedValue(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_int64)]


class BindOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("inputs", ctypes.c_void_p), ("input_count", ctypes.c_size_t),
                ("dims", ctypes.c_void_p), ("dim_count", ctypes.c_size_t), ("scalars", ctypes.c_void_p * 2),
                ("flags", ctypes.c_int32 * 2)]


class Padlock:
    def __init__(self, path, threads=1):
        self.library = ctypes.CDLL(path)
        self.library.padlock_error_text.restype = ctypes.c_char_p
        options = ContextOptions(ctypes.sizeof(ContextOptions), threads=threads)
        self.context = self.made("padlock_context_create", ctypes.byref(options))

    def check(self, status, error):
        if status != 0:
            raise SystemExit(self.library.padlock_error_text(error).decode())

    def made(self, function, *arguments):
        result, error = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(getattr(self.library, function)(*arguments, ctypes.byref(result), ctypes.byref(error)), error)
        return result

    def compiled(self, text):
        program = self.made("padlock_program_parse", self.context, text.encode(), ctypes.c_size_t(len(text)))
        return self.made("padlock_program_compile", program, None)

    def call(self, kernel, dtype, shape, source, result, dims=()):
        """Returns what runs a kernel of one input, of this shape and at address `source`, and one result; `dims` has
        the values of its other parameters by name."""
        tensor = DlTensor(source, (1, 0), len(shape), *TYPES[dtype], 1, (ctypes.c_int64 * len(shape))(*shape))
        tensors = (ctypes.c_void_p * 1)(ctypes.addressof(tensor))
        named = (NamedValue * len(dims))(*((name.encode(), value) for name, value in dict(dims).items()))
        options = BindOptions(ctypes.sizeof(BindOptions), ctypes.addressof(tensors), 1, ctypes.addressof(named), len(dims))
        bound = self.made("padlock_kernel_bind", kernel, ctypes.byref(options))
        inputs, results = (ctypes.c_void_p * 1)(source), (ctypes.c_void_p * 1)(result)
        one, error = ctypes.c_size_t(1), ctypes.c_void_p()
        launch = self.library.padlock_call_launch
        return lambda: self.check(launch(bound, inputs, one, results, one, None, ctypes.byref(error)), error)


def seconds_of(call, count=1):
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count
