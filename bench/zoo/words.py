"""The words of the programs (programs.py) in each library: what somebody would write who uses it."""

import importlib

MODES = {"constant": "constant", "edge": "edge", "reflect": "reflect", "symmetric": "symmetric", "wrap": "wrap"}


class Cannot(Exception):
    """What a library has no word for."""


class Numpy:
    """NumPy's; of `array`, a module with the same names, too."""

    def __init__(self, array=None):
        self.array = array or importlib.import_module("numpy")
        self.types = {"f32": "float32", "f16": "float16", "i8": "int8", "u8": "uint8"}

    def pad(self, x, low, high, mode, value):
        array = self.array
        inside = x[tuple(slice(max(-a, 0), n - max(-b, 0)) for a, b, n in zip(low, high, x.shape))]
        amounts = [(max(a, 0), max(b, 0)) for a, b in zip(low, high)]
        if mode == "constant":
            return array.pad(inside, amounts, mode=mode, constant_values=array.asarray(value, x.dtype))
        return array.pad(inside, amounts, mode=MODES[mode])

    def activation(self, name, x):
        if name != "relu":
            raise Cannot(f"no {name}")
        return self.array.maximum(x, self.array.asarray(0, x.dtype))

    def transpose(self, x, permutation):
        return self.array.transpose(x, permutation)

    def reshape(self, x, shape):
        return self.array.reshape(x, shape)

    def concat(self, parts, axis):
        return self.array.concatenate(parts, axis)

    def cast(self, x, dtype):
        return x.astype(self.types[dtype])

    def sub(self, a, b):
        return a - b

    def mul(self, a, b):
        return a * (self.array.asarray(b, a.dtype) if isinstance(b, float) else b)

    def adjoint(self, g, extents, amount, mode):
        raise Cannot("no gradients")

    def result(self, x):
        return self.array.ascontiguousarray(x)


class Jax(Numpy):
    def __init__(self):
        self.jax = importlib.import_module("jax")
        super().__init__(importlib.import_module("jax.numpy"))

    def activation(self, name, x):
        functions = {"relu": super().activation, "gelu": lambda _, y: self.jax.nn.gelu(y, approximate=False),
                     "silu": lambda _, y: self.jax.nn.silu(y)}
        return functions[name](name, x)

    def adjoint(self, g, extents, amount, mode):
        pads = [(0, 0), (0, 0), (amount, amount), (amount, amount)]
        like = self.array.zeros(extents, g.dtype)
        return self.jax.vjp(lambda x: self.array.pad(x, pads, mode=MODES[mode]), like)[1](g)[0]

    def result(self, x):
        return x


class Torch:
    def __init__(self):
        self.torch = importlib.import_module("torch")
        self.functional = self.torch.nn.functional
        self.types = {"f32": self.torch.float32, "f16": self.torch.float16, "i8": self.torch.int8, "u8": self.torch.uint8}
        self.modes = {"reflect": "reflect", "edge": "replicate", "wrap": "circular"}

    def pad(self, x, low, high, mode, value):
        if mode == "symmetric":
            return self.mirrored(x, low, high)
        first = next((a for a in range(len(low)) if (low[a], high[a]) != (0, 0)), len(low) - 1)
        amounts = [n for a in range(len(low) - 1, first - 1, -1) for n in (low[a], high[a])]
        if mode == "constant":
            return self.functional.pad(x, amounts, value=value)
        return self.functional.pad(x, amounts, mode=self.modes[mode])

    def mirrored(self, x, low, high):
        """PyTorch has no symmetric pads: the ends, flipped, on both sides."""
        for axis, (a, b) in enumerate(zip(low, high)):
            if (a, b) != (0, 0):
                n = x.shape[axis]
                x = self.torch.cat([x.narrow(axis, 0, a).flip(axis), x, x.narrow(axis, n - b, b).flip(axis)], axis)
        return x

    def activation(self, name, x):
        return getattr(self.functional, name)(x)

    def transpose(self, x, permutation):
        return x.permute(permutation)

    def reshape(self, x, shape):
        return x.reshape(shape)

    def concat(self, parts, axis):
        return self.torch.cat(parts, axis)

    def cast(self, x, dtype):
        return x.to(self.types[dtype])

    def sub(self, a, b):
        return a - b

    def mul(self, a, b):
        return a * b

    def adjoint(self, g, extents, amount, mode):
        if mode == "wrap":
            return self.wrapped_adjoint(g, extents, amount)
        aten = self.torch.ops.aten
        backward = aten.reflection_pad2d_backward if mode == "reflect" else aten.replication_pad2d_backward
        return backward(g, g.new_empty(extents), [amount] * 4)

    def wrapped_adjoint(self, g, extents, amount):
        """The gradient of a circular pad, which PyTorch makes of slices."""
        for axis in (2, 3):
            n = extents[axis]
            before, inside, after = g.narrow(axis, 0, amount), g.narrow(axis, amount, n), g.narrow(axis, amount + n, amount)
            middle = inside.narrow(axis, amount, n - 2 * amount)
            first, last = inside.narrow(axis, 0, amount) + after, inside.narrow(axis, n - amount, amount) + before
            g = self.torch.cat([first, middle, last], axis)
        return g

    def result(self, x):
        return x.contiguous()


class Onnx:
    """Words that add nodes to a graph; a value is its name."""

    def __init__(self, onnx):
        self.onnx, self.nodes, self.constants = onnx, [], []
        types = onnx.TensorProto
        self.types = {"f32": types.FLOAT, "f16": types.FLOAT16, "i8": types.INT8, "u8": types.UINT8}
        self.dtype = None  # of what is padded, set by whoever makes the graph

    def node(self, kind, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [name], **attributes))
        return name

    def constant(self, dtype, values, shape):
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.helper.make_tensor(name, dtype, shape, values))
        return name

    def pad(self, x, low, high, mode, value):
        if mode == "symmetric":
            raise Cannot("no mode symmetric")
        inputs = [x, self.constant(self.onnx.TensorProto.INT64, [*low, *high], [2 * len(low)])]
        if mode == "constant":
            inputs.append(self.constant(self.types[self.dtype], [value], []))
        return self.node("Pad", inputs, mode=MODES[mode])

    def activation(self, name, x):
        if name == "silu":
            return self.node("Mul", [x, self.node("Sigmoid", [x])])
        return self.node({"relu": "Relu", "gelu": "Gelu"}[name], [x])

    def transpose(self, x, permutation):
        return self.node("Transpose", [x], perm=permutation)

    def reshape(self, x, shape):
        return self.node("Reshape", [x, self.constant(self.onnx.TensorProto.INT64, shape, [len(shape)])])

    def concat(self, parts, axis):
        return self.node("Concat", parts, axis=axis)

    def cast(self, x, dtype):
        return self.node("Cast", [x], to=self.types[dtype])

    def sub(self, a, b):
        return self.node("Sub", [a, b])

    def mul(self, a, b):
        if isinstance(b, float):
            b = self.constant(self.types[self.dtype], [b], [])
        return self.node("Mul", [a, b])

    def adjoint(self, g, extents, amount, mode):
        raise Cannot("no gradients")

    def result(self, x):
        return x
