"""What liars are made of: the structs of the buffer protocol and of DLPack, filled in rightly and then bent. For lying.py."""

import ctypes
import itertools

SHAPE = (2, 3)
HUGE = 1 << 45  # elements that no machine has memory for


class Buffer(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    ]  # fmt: skip


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class Unversioned(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


class Table(ctypes.Structure):
    """DLPackExchangeAPI."""

    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p), ("managed_from", ctypes.c_void_p), ("to_object", ctypes.c_void_p),
        ("view_of", ctypes.c_void_p), ("current_stream", ctypes.c_void_p),
    ]  # fmt: skip


class Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int), ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(Slot)),
    ]  # fmt: skip


api = ctypes.pythonapi
api.PyType_FromSpec.restype = ctypes.py_object
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.Py_IncRef.argtypes = [ctypes.py_object]
GET, RELEASE = 1, 2  # Py_bf_getbuffer, Py_bf_releasebuffer
kept = []  # what C holds pointers to


def keep(thing):
    kept.append(thing)
    return thing


def address(thing):
    return ctypes.cast(thing, ctypes.c_void_p).value


def integers(*values):
    """Memory with these numbers in 64 bits."""
    return address(keep((ctypes.c_int64 * max(1, len(values)))(*values)))


class Memory:
    """Six floats, 1 to 6, somewhere in memory that is the exporter's."""

    def __init__(self, rng):
        self.misaligned = rng.random() < 0.1
        self.raw = keep(ctypes.create_string_buffer(256))
        self.data = ctypes.addressof(self.raw) + 64 + (1 if self.misaligned else 0)
        ctypes.memmove(self.data, (ctypes.c_float * 6)(1, 2, 3, 4, 5, 6), 24)


class Liar:
    """A draw: which lies are told, and whether the values come out right all the same."""

    def __init__(self, rng):
        self.rng = rng
        self.memory = Memory(rng)
        self.lies = []
        self.harmless = True

    def tell(self, name, harmless=False):
        self.lies.append(name)
        self.harmless = self.harmless and harmless

    def draw(self, table):
        """Tells up to three of the lies of a table: (name, is harmless, function)."""
        for name, harmless, function in self.rng.sample(table, self.rng.choice([0, 1, 1, 1, 2, 3])):
            function()
            self.tell(name, harmless)


# The buffer protocol.

FORMATS = [b"", b"x", b"ff", b">f", b"!f", b"i", b"Zf", b"d", b"q", b"w", b"P", b"O", b"T{f:a:}", b"\xff\xfe", b"f" * 999, b"@", b"3f"]


def buffer_lies(liar, view):
    """The lies of a Py_buffer, which is right so far."""
    rng = liar.rng

    def put(name, value):
        return lambda: setattr(view, name, value)

    any_size = lambda: rng.choice([-1, -(1 << 63), 0, 1, 5, 25, 1 << 31, 1 << 62, (1 << 63) - 1])
    lies = [
        ("strides NULL", True, put("strides", None)),
        ("read only", True, put("readonly", 1)),
        ("internal", True, put("internal", 1)),
        ("shape NULL", False, put("shape", None)),
        ("buf NULL", False, put("buf", None)),
        ("format NULL", False, put("format", None)),
        ("format", False, put("format", rng.choice(FORMATS))),
        ("ndim", False, put("ndim", rng.choice([-1, -(1 << 31), 65, 1 << 20, (1 << 31) - 1]))),
        ("ndim 0", False, put("ndim", 0)),
        ("itemsize", False, put("itemsize", rng.choice([0, -4, 3, 5, 1 << 40, (1 << 63) - 1]))),
        ("suboffsets", False, put("suboffsets", integers(0, 0))),
        ("length", False, put("len", rng.choice([-1, 0, 23, 25, 1 << 40, (1 << 63) - 1]))),
        ("negative extents", False, put("shape", integers(-2, -3))),
        ("negative extent", False, put("shape", integers(2, -3))),
        ("huge extents", False, put("shape", integers(1 << 32, 1 << 32))),
        ("extents that wrap", False, put("shape", integers((1 << 62) + 6, 4))),
        ("one huge extent", False, put("shape", integers(2, HUGE))),
    ]
    if rng.random() < 0.2:  # extents of one say nothing of strides
        view.shape, view.strides, view.len = integers(1, 1), integers(any_size(), any_size()), 4
        liar.tell("odd strides of one element")
        liar.harmless = False  # not the values that are compared
    return lies


def make_buffer(liar):
    """An object whose type has functions of C for buffers."""
    answers = itertools.count()
    second = liar.rng.random() < 0.2  # the second answer is another lie
    refuses = liar.rng.random() < 0.05
    state = {}

    def fill(view):
        view.buf, view.len, view.itemsize, view.readonly, view.ndim = liar.memory.data, 24, 4, 0, 2
        view.format = b"f"
        view.shape, view.strides, view.suboffsets, view.internal = integers(*SHAPE), integers(12, 4), None, None
        state["lies"] = state.get("lies") or buffer_lies(liar, view)

    def get(made, view, flags):
        first = next(answers) == 0
        if refuses:
            return -1  # without an error, which Python's rules do not allow
        fill(view.contents)
        if first or second:
            liar.draw(buffer_lies(liar, view.contents))
        api.Py_IncRef(made)
        view.contents.obj = id(made)
        state["held"] = state.get("held", 0) + 1
        return 0

    def release(made, view):
        state["held"] -= 1

    getter = keep(ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Buffer), ctypes.c_int)(get))
    releaser = keep(ctypes.PYFUNCTYPE(None, ctypes.py_object, ctypes.POINTER(Buffer))(release))
    slots = keep((Slot * 3)(Slot(GET, address(getter)), Slot(RELEASE, address(releaser)), Slot(0, None)))
    spec = keep(Spec(b"lying.Buffer", 0, 0, 0, slots))
    if refuses:
        liar.tell("refuses")
    return api.PyType_FromSpec(ctypes.byref(spec))(), lambda: state.get("held", 0)


# DLPack.

DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def tensor_lies(liar, tensor):
    rng = liar.rng

    def put(**fields):
        return lambda: [setattr(tensor, name, value) for name, value in fields.items()]

    return [
        ("strides NULL", True, put(strides=None)),
        ("device cuda_host", True, put(device_type=3)),
        ("shape NULL", False, put(shape=None)),
        ("data NULL", False, put(data=None)),
        ("data NULL with an offset", False, put(data=None, byte_offset=liar.memory.data)),
        ("ndim", False, put(ndim=rng.choice([-1, -(1 << 31), 65, 1 << 20, (1 << 31) - 1]))),
        ("bits", False, put(bits=rng.choice([0, 1, 4, 7, 12, 24, 33, 255]))),
        ("lanes", False, put(lanes=rng.choice([0, 2, 4, 65535]))),
        ("code", False, put(code=rng.choice([3, 15, 16, 100, 255]))),
        ("device", False, put(device_type=rng.choice([0, -1, 2, 4, 7, 10, 13, 14, 99, (1 << 31) - 1]))),
        ("device number", False, put(device_type=2, device_id=rng.choice([-1, 7, (1 << 31) - 1]))),
        ("negative extent", False, put(shape=integers(2, -3))),
        ("huge extents", False, put(shape=integers(1 << 32, 1 << 32))),
        ("extents that wrap", False, put(shape=integers((1 << 62) + 6, 4))),
        ("one huge extent", False, put(shape=integers(2, HUGE))),
        ("most of extents", False, put(shape=integers((1 << 63) - 1, (1 << 63) - 1))),
    ]


def honest_tensor(liar):
    return Tensor(liar.memory.data, 1, 0, 2, 2, 32, 1, integers(*SHAPE), integers(3, 1), 0)


def capsule_of(liar, deleted):
    """A capsule as drawn, or what stands for one."""
    rng = liar.rng
    odd = rng.random()
    if odd < 0.03:
        liar.tell("no capsule")
        return rng.choice([None, 7, "dltensor", (), object()])
    if odd < 0.06:
        liar.tell("another capsule")
        return api.PyCapsule_New(liar.memory.data, rng.choice([b"used_dltensor", b"used_dltensor_versioned", b"x"]), None)
    managed = keep(rng.choice([Unversioned, Versioned])())
    managed.tensor = honest_tensor(liar)
    name = b"dltensor"
    managed.deleter = address(keep(DELETER(lambda pointer: deleted.append(pointer))))
    if isinstance(managed, Versioned):
        name, managed.major, managed.minor = b"dltensor_versioned", 1, rng.choice([0, 1, 99])
        if rng.random() < 0.1:
            managed.flags = rng.choice([1, 2, 3, (1 << 64) - 1])
            liar.tell("flags", True)
        if rng.random() < 0.1:
            managed.major = rng.choice([0, 2, (1 << 32) - 1])
            liar.tell("version")
    if rng.random() < 0.1:
        managed.deleter = None
        deleted.append("NULL")
        liar.tell("deleter NULL", True)
    liar.draw(tensor_lies(liar, managed.tensor))
    deleted.append("made")
    return api.PyCapsule_New(ctypes.addressof(managed), keep(name), None)


def make_dlpack(liar):
    rng = liar.rng
    deleted = []
    devices = [((1, 0), True)] * 12 + [
        ((3, 0), True), ((2, 0), False), ((99, 0), False), ((-1, 0), False), ((), False), (None, False), (7, False),
        (("cpu", 0), False), ((1 << 70, 0), False), ((1.5, 0), False), ([1, 0], True), (("1", "0"), False),
    ]  # fmt: skip
    device, harmless = rng.choice(devices)
    raises = rng.choice([None] * 20 + [LookupError, TypeError, MemoryError, BufferError])
    where = rng.choice(["__dlpack__", "__dlpack_device__"])
    if device != (1, 0):
        liar.tell(f"device {device}", harmless)

    class Lying:
        def __dlpack_device__(self):
            if raises and where == "__dlpack_device__":
                raise raises("the exporter's own")
            return device

        def __dlpack__(self, **options):
            if raises and where == "__dlpack__":
                raise raises("the exporter's own")
            return capsule_of(liar, deleted)

    if raises:
        liar.tell(f"raises {raises.__name__}")
    #: What is left to be deleted, or was deleted more than once.
    return Lying(), lambda: deleted.count("made") - len([one for one in deleted if one != "made"])


def make_table(liar):
    """A type with a table of C functions."""
    rng = liar.rng
    refuses = rng.random() < 0.05

    def view_of(made, tensor):
        if refuses:
            return -1
        ctypes.memmove(tensor, ctypes.byref(keep(honest_tensor(liar))), ctypes.sizeof(Tensor))
        liar.draw(tensor_lies(liar, tensor.contents))
        return 0

    if refuses:
        liar.tell("refuses")
    view = keep(ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))(view_of))
    # Of a tensor that is made: nothing, one of other extents, or one that no object can be made of.
    odd_results = rng.choice(["fails", "none", "another", "no object"])
    made_as = keep(Versioned(1, 3, None, None, 0, honest_tensor(liar)))
    if odd_results == "no object":
        made_as.tensor.shape = integers(3, 4)

    def allocates(prototype, managed, *_):
        if odd_results in ("another", "no object"):
            managed[0] = ctypes.addressof(made_as)
        return -1 if odd_results == "fails" else 0

    pointer = ctypes.POINTER(ctypes.c_void_p)
    allocate = keep(ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, pointer, ctypes.c_void_p, ctypes.c_void_p)(allocates))
    to_object = keep(ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, pointer)(lambda *_: rng.choice([-1, 0])))
    table = keep(Table(1, 3, None, address(allocate), None, address(to_object), address(view), address(to_object)))
    name = keep(b"dlpack_exchange_api")
    odd = rng.random()
    if odd < 0.05:
        table.view_of = None
    elif odd < 0.1:
        table.major = rng.choice([0, 2])
    elif odd < 0.15:
        name = keep(b"another")
    elif odd < 0.2:
        table = keep(Table(2, 0, ctypes.addressof(table)))  # a newer one before it
    capsule = rng.choice([api.PyCapsule_New(ctypes.addressof(table), name, None)] * 9 + [None])
    if odd < 0.15 or capsule is None:
        liar.tell("no table")
    liar.tell("makes no results")  # `out` is needed, so that no value comes out without it
    return type("Lying", (), {"__dlpack_c_exchange_api__": capsule})(), lambda: 0
