"""What each door does with each kind of argument, observed. arguments_test.py compares it with the tables of docs/arguments.md.

usage: arguments.py: writes what it observes to the page.
"""

import array
import ctypes
import importlib.util
import pathlib
import re
import warnings

import padlock
from liars import Tensor, address, api, integers, keep

ROWS = [[1, 2, 3], [4, 5, 6]]
PADDED = [[0, 1, 2, 3, 0], [0, 4, 5, 6, 0]]
PROGRAM = "program pad(x: f32[A, B]) { y = pad(x, low = [0, 1], high = [0, 1]) return y }"
NOT_TRIED = "not tried"


def has(name):
    return importlib.util.find_spec(name) is not None


def numpys():
    import numpy

    x = numpy.array(ROWS, "f4")
    records = numpy.zeros((2, 3), dtype=[("a", "u1"), ("b", "<f4")])
    records["b"] = x
    frozen = x.copy()
    frozen.flags.writeable = False
    return {
        "NumPy, dense": x,
        "NumPy, a view with steps": numpy.repeat(x, 2, axis=1)[:, ::2],
        "NumPy, reversed": x[:, ::-1].copy()[:, ::-1],
        "NumPy, a field of records": records["b"],
        "NumPy, read-only": frozen,
        "NumPy, float64": x.astype("f8"),
        "NumPy, complex": x.astype("c8"),
        "NumPy, foreign byte order": x.astype(">f4"),
        "NumPy, objects": x.astype("O"),
        "NumPy, masked": numpy.ma.masked_array(x),
    }


def torches():
    import torch

    x = torch.tensor(ROWS, dtype=torch.float32)
    return {
        "PyTorch, dense": x,
        "PyTorch, a view with steps": x.repeat_interleave(2, 1)[:, ::2],
        "PyTorch, gradients to record": x.clone().requires_grad_(),
        "PyTorch, bfloat16": x.bfloat16(),
        "PyTorch, a negative view": torch._neg_view(-x),
        "PyTorch, a subclass": x.as_subclass(type("Mine", (torch.Tensor,), {})),
        "PyTorch, sparse": x.to_sparse(),
        "PyTorch, on meta": x.to("meta"),
        "PyTorch, under inference_mode": Under(inference, x),
        "PyTorch, under FakeTensorMode": Under(faked, x),
        "PyTorch, under torch.func.vmap": Under(mapped, x),
        "PyTorch, under a mode that sees functions": Under(seen, x),
    }


class Under:
    """An argument with what a door is called under."""

    def __init__(self, call, x):
        self.call, self.x = call, x


def inference(door, x):
    import torch

    with torch.inference_mode():
        return door(x)


def faked(door, x):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        made = door(mode.from_tensor(x))
    assert tuple(made.shape) == (2, 5)
    return made.new_empty((2, 5), device="meta")


def mapped(door, x):
    import torch

    return torch.func.vmap(door)(x[None])[0]


def seen(door, x):
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):
        def __torch_function__(self, function, types, arguments=(), named=None):
            return function(*arguments, **(named or {}))

    with Mode():
        return door(x)


def jaxes():
    import jax.numpy as jnp

    x = jnp.array(ROWS, "float32")
    return {"JAX, dense": x, "JAX, bfloat16": x.astype("bfloat16")}


class Exporter:
    """Any object with __dlpack__."""

    def __init__(self, device_type=1):
        self.device_type = device_type

    def __dlpack_device__(self):
        return (self.device_type, 0)

    def __dlpack__(self, **options):
        managed = keep(type("Managed", (ctypes.Structure,), {"_fields_": [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]})())
        managed.tensor = tensor_of_c(device_type=self.device_type)
        return api.PyCapsule_New(ctypes.addressof(managed), keep(b"dltensor"), None)


def floats():
    return address(keep((ctypes.c_float * 12)(1, 2, 3, 4, 5, 6)))


def tensor_of_c(**fields):
    made = Tensor(floats(), 1, 0, 2, 2, 32, 1, integers(2, 3), integers(3, 1), 0)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def others():
    return {
        "any exporter of DLPack": Exporter(),
        "any exporter, of memory pinned for CUDA": Exporter(3),
        "any exporter, on another device (ROCm)": Exporter(10),
        "memoryview": memoryview(array.array("f", [1, 2, 3, 4, 5, 6])).cast("B").cast("f", (2, 3)),
        "ctypes": ((ctypes.c_float * 3) * 2)((1, 2, 3), (4, 5, 6)),
        "a list": ROWS,
        "None": None,
    }


def tensors_of_c():
    """Kinds of DLTensor, for the doors of C and C++."""
    return {
        "DLTensor, dense": tensor_of_c(),
        "DLTensor, strides NULL": tensor_of_c(strides=None),
        "DLTensor, other strides": tensor_of_c(strides=integers(4, 1)),
        "DLTensor, negative strides": tensor_of_c(strides=integers(-3, 1)),
        "DLTensor, float64": tensor_of_c(bits=64),
        "DLTensor, another rank": tensor_of_c(ndim=1),
        "DLTensor, shape NULL": tensor_of_c(shape=None),
        "DLTensor, on another device": tensor_of_c(device_type=10),
    }


def kinds():
    """(name, argument) of all kinds that this machine can make; None for those that it cannot."""
    made = {}
    for module, make in (("numpy", numpys), ("torch", torches), ("jax", jaxes)):
        made.update(make() if has(module) else {})
    made.update(others())
    made["CuPy"] = made["PyTorch, on CUDA"] = made["JAX, on CUDA"] = NOT_TRIED
    return made


KERNEL = padlock.compile(PROGRAM)


def by_pad(x):
    return padlock.pad(x, (0, 1), (0, 1))


def by_kernel(x):
    return KERNEL(x)


def by_numpy(x):
    import padlock.numpy

    return padlock.numpy.pad(x, ((0, 0), (1, 1)))


def by_torch(x):
    import padlock.torch

    return padlock.torch.pad(x, (1, 1))


def as_out(x):
    import numpy

    return padlock.pad(numpy.array([[1, 2], [4, 5]], "f4"), (0, 0), (0, 1), value=9, out=x)


DOORS = {"`padlock.pad`": by_pad, "a kernel": by_kernel, "`out=`": as_out, "`padlock.numpy.pad`": by_numpy, "`padlock.torch.pad`": by_torch}


def numbers(made):
    """The elements of a result, whatever its library."""
    for name in ("detach", "float"):
        made = getattr(made, name)() if hasattr(made, name) and not hasattr(made, "__array_interface__") else made
    return made.tolist() if hasattr(made, "tolist") else memoryview(made).tolist()


def library_of(made):
    if type(made).__name__ == "Mine":
        return "the subclass"
    return {"numpy": "NumPy", "torch": "PyTorch", "jaxlib": "JAX", "jax": "JAX"}.get(type(made).__module__.split(".")[0], type(made).__name__)


def outcome_of(door, x):
    """The library of the result, "written", or the class of the error. An Error of Padlock's stands by its own name."""
    if x is NOT_TRIED:
        return NOT_TRIED
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = x.call(door, x.x) if isinstance(x, Under) else door(x)
    except Exception as error:
        return f"*{type(error).__name__}*"
    if door is as_out:
        return "written" if made is x or isinstance(x, Under) else "a new result"
    if getattr(getattr(made, "device", None), "type", "") == "meta":
        return library_of(made)
    found = [[float(getattr(value, "real", value)) for value in row] for row in numbers(made)]
    assert found == PADDED, (door, type(x), found)
    return library_of(made)


def table_of_python():
    lines = ["| given | " + " | ".join(DOORS) + " |", "|---|" + "---|" * len(DOORS)]
    for name, x in kinds().items():
        cells = []
        for door in DOORS.values():
            fresh = kinds()[name] if door is as_out else x  # what is written is no kind of its own any more
            cells.append(outcome_of(door, fresh))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


class BindOptions(ctypes.Structure):
    """padlock_bind_options, as far as it is used."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("inputs", ctypes.c_void_p), ("input_count", ctypes.c_size_t), ("dims", ctypes.c_void_p),
        ("dim_count", ctypes.c_size_t), ("scalars", ctypes.c_void_p), ("scalar_count", ctypes.c_size_t),
    ]  # fmt: skip


def library():
    """libpadlock, as it is loaded."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if "/libpadlock" in line}
    return ctypes.CDLL(next(path for path in paths if "runtime" not in path))


def outcome_in_c(c, kernel, tensor):
    """Binds and launches. The status, with its message."""
    call, error = ctypes.c_void_p(), ctypes.c_void_p()
    inputs = (ctypes.c_void_p * 1)(ctypes.addressof(tensor))
    options = BindOptions(ctypes.sizeof(BindOptions), address(inputs), 1, None, 0, None, 0)
    status = c.padlock_kernel_bind(kernel, ctypes.byref(options), ctypes.byref(call), ctypes.byref(error))
    if status == 0:
        result = Tensor(address(keep((ctypes.c_float * 10)())), 1, 0, 2, 2, 32, 1, integers(2, 5), None, 0)
        results = (ctypes.c_void_p * 1)(ctypes.addressof(result))
        status = c.padlock_call_launch_tensors(call, inputs, 1, results, 1, None, ctypes.byref(error))
        if status == 0:
            assert list(ctypes.cast(result.data, ctypes.POINTER(ctypes.c_float * 10)).contents) == sum(PADDED, []), tensor.strides
            return "taken"
    c.padlock_error_message.restype = ctypes.c_char_p
    return f"`{c.padlock_error_message(error).decode()}`"


def table_of_c():
    c = library()
    context, program, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert c.padlock_context_create(None, ctypes.byref(context), None) == 0
    text = PROGRAM.encode()
    assert c.padlock_program_parse(context, text, ctypes.c_size_t(len(text)), ctypes.byref(program), None) == 0
    assert c.padlock_program_compile(program, None, ctypes.byref(kernel), None) == 0
    lines = ["| given for `x: f32[A, B]` | found |", "|---|---|"]
    lines += [f"| {name} | {outcome_in_c(c, kernel, tensor)} |" for name, tensor in tensors_of_c().items()]
    return "\n".join(lines)


PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "arguments.md"


def observed():
    """The tables by the names of their places in the page."""
    return {"python": table_of_python(), "c": table_of_c()}


def written():
    """The tables that the page has."""
    text = PAGE.read_text(encoding="utf-8")
    return {name: re.search(rf"<!-- {name} -->\n\n(.*?)\n\n<!-- end -->", text, re.S)[1] for name in ("python", "c")}


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    for name, table in observed().items():
        begin = text.index(f"<!-- {name} -->")
        end = text.index("<!-- end -->", begin)
        text = f"{text[:begin]}<!-- {name} -->\n\n{table}\n\n{text[end:]}"
    PAGE.write_text(text, encoding="utf-8")
