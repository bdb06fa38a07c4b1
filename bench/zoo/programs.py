"""The programs of families.txt: each as Padlock's text, and as a function of a library's words (words.py)."""

import dataclasses
import typing

ELEMENT_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1, "u8": 1}
ACTIVATIONS = ("relu", "gelu", "silu")


@dataclasses.dataclass(frozen=True)
class Program:
    text: str  # after "program NAME"
    dims: dict  # of the text, by name
    inputs: list  # (shape, element type) of each
    output: tuple  # its shape
    run: typing.Callable  # (words, *inputs) -> the library's result
    # Whether each library that rounds as IEEE 754 says has the same bits. Sums and activations are theirs.
    is_exact: bool = True
    result_dtype: str = ""  # the table's, if empty


def at_least_one(names):
    return ", ".join(f"{name} >= 1" for name in names)


def listed(values):
    return f"[{', '.join(map(str, values))}]"


def pad(dtype, extents, amounts, word):
    """Amounts are run-time values of the axes that are padded."""
    low, high, names = amounts["low"], amounts["high"], list(extents)
    axes = [a for a in range(len(names)) if (low[a], high[a]) != (0, 0)]
    dims = {f"l{a}": low[a] for a in axes} | {f"h{a}": high[a] for a in axes}
    is_mode = word not in ACTIVATIONS
    how = f"mode = {word}" if is_mode else "value = -1"
    amount = lambda side: listed(f"{side}{a}" if a in axes else 0 for a in range(len(names)))
    bounds = ", ".join(f"-64 <= {d} <= 600" for d in dims)
    text = (f"(x: {dtype}{listed(names)}, {', '.join(d + ': dim' for d in dims)}) where {at_least_one(names)}, {bounds} "
            f"{{ y = pad(x, low = {amount('l')}, high = {amount('h')}, {how}) "
            f"{'return y' if is_mode else f'z = {word}(y) return z'} }}")
    shape = tuple(extents.values())

    def run(words, x):
        if is_mode:
            return words.pad(x, low, high, word, 0)
        return words.activation(word, words.pad(x, low, high, "constant", -1))

    output = tuple(low[a] + n + high[a] for a, n in enumerate(shape))
    return Program(text, dims, [(shape, dtype)], output, run, word not in ("gelu", "silu"))


def moved(permutation):
    def make(dtype, extents, amounts, word):
        names = list(extents)
        edge = [int(names[p] in "HW") for p in permutation]
        text = (f"(x: {dtype}{listed(names)}) where {at_least_one(names)} {{ y = transpose(x, perm = {listed(permutation)}) "
                f"z = pad(y, low = {listed(edge)}, high = {listed(edge)}) return z }}")
        shape = tuple(extents.values())
        output = tuple(shape[p] + 2 * edge[i] for i, p in enumerate(permutation))
        run = lambda words, x: words.pad(words.transpose(x, permutation), edge, edge, "constant", 0)
        return Program(text, {}, [(shape, dtype)], output, run)

    return make


def windows(dtype, extents, amounts, word):
    n, h, w, c = shape = tuple(extents.values())
    size = amounts["w"]
    rows, columns = -(-h // size), -(-w // size)
    text = (f"(x: {dtype}[N, H, W, C], w: dim) where {at_least_one('NHWC')}, 1 <= w <= 64 "
            "{ p = pad(x, low = [0, 0, 0, 0], high = [0, -H mod w, -W mod w, 0]) "
            "r = reshape(p, shape = [N, H ceildiv w, w, W ceildiv w, w, C]) t = transpose(r, perm = [0, 1, 3, 2, 4, 5]) "
            "y = reshape(t, shape = [N * (H ceildiv w) * (W ceildiv w), w, w, C]) return y }")

    def run(words, x):
        padded = words.pad(x, [0, 0, 0, 0], [0, -h % size, -w % size, 0], "constant", 0)
        split = words.reshape(padded, (n, rows, size, columns, size, c))
        return words.reshape(words.transpose(split, (0, 1, 3, 2, 4, 5)), (n * rows * columns, size, size, c))

    return Program(text, {"w": size}, [(shape, dtype)], (n * rows * columns, size, size, c), run)


def windows_reverse(dtype, extents, amounts, word):
    n, a, b, w, c = extents.values()
    high, wide = amounts["H"], amounts["W"]
    text = (f"(x: {dtype}[N, A, B, w, w, C], H: dim, W: dim) where {at_least_one('NABwC')}, 1 <= H <= A*w, 1 <= W <= B*w "
            "{ t = transpose(x, perm = [0, 1, 3, 2, 4, 5]) r = reshape(t, shape = [N, A*w, B*w, C]) "
            "y = slice(r, start = [0, 0, 0, 0], limit = [N, H, W, C]) return y }")

    def run(words, x):
        joined = words.reshape(words.transpose(x, (0, 1, 3, 2, 4, 5)), (n, a * w, b * w, c))
        return words.pad(joined, [0, 0, 0, 0], [0, high - a * w, wide - b * w, 0], "constant", 0)

    return Program(text, {"H": high, "W": wide}, [((n, a, b, w, w, c), dtype)], (n, high, wide, c), run)


def concat_last(dtype, extents, amounts, word):
    b, s = extents.values()
    t, high = amounts["T"], amounts["high"]
    text = (f"(a: {dtype}[B, S], b: {dtype}[B, T], h: dim) where {at_least_one('BST')}, 0 <= h <= 600 "
            "{ c = concat(a, b, axis = 1) z = pad(c, low = [0, 0], high = [0, h]) return z }")
    run = lambda words, x, y: words.pad(words.concat([x, y], 1), [0, 0], [0, high], "constant", 0)
    return Program(text, {"h": high}, [((b, s), dtype), ((b, t), dtype)], (b, s + t + high), run)


def concat_keys(dtype, extents, amounts, word):
    b, h, s, d = extents.values()
    t = amounts["T"]
    high = -(s + t) % 64
    text = (f"(a: {dtype}[B, H, S, D], b: {dtype}[B, H, T, D]) where {at_least_one('BHSTD')} "
            "{ c = concat(a, b, axis = 2) z = pad(c, low = [0, 0, 0, 0], high = [0, 0, -(S + T) mod 64, 0]) return z }")
    run = lambda words, x, y: words.pad(words.concat([x, y], 2), [0, 0, 0, 0], [0, 0, high, 0], "constant", 0)
    return Program(text, {}, [((b, h, s, d), dtype), ((b, h, t, d), dtype)], (b, h, s + t + high, d), run)


def normalise(dtype, extents, amounts, word):
    n, h, w, c = shape = tuple(extents.values())
    down, right = amounts["h"], amounts["w"]
    text = (f"(x: u8[N, H, W, C], m: {dtype}[C, 1, 1], s: {dtype}[C, 1, 1], h: dim, w: dim) where {at_least_one('NHWC')}, "
            f"0 <= h <= 600, 0 <= w <= 600 {{ f = cast(x, {dtype}) p = transpose(f, perm = [0, 3, 1, 2]) a = sub(p, m) "
            "b = mul(a, s) z = pad(b, low = [0, 0, h, w], high = [0, 0, h, w]) return z }")

    def run(words, x, mean, scale):
        image = words.transpose(words.cast(x, dtype), (0, 3, 1, 2))
        return words.pad(words.mul(words.sub(image, mean), scale), [0, 0, down, right], [0, 0, down, right], "constant", 0)

    channels = ((c, 1, 1), dtype)
    return Program(text, {"h": down, "w": right}, [(shape, "u8"), channels, channels],
                   (n, c, h + 2 * down, w + 2 * right), run)


def cast_pad(dtype, extents, amounts, word):
    n, c, h, w = shape = tuple(extents.values())
    down, right = amounts["h"], amounts["w"]
    text = (f"(x: u8[N, C, H, W], h: dim, w: dim) where {at_least_one('NCHW')}, 0 <= h <= 600, 0 <= w <= 600 "
            f"{{ f = cast(x, {dtype}) a = mul(f, 0.00390625) z = pad(a, low = [0, 0, h, w], high = [0, 0, h, w]) return z }}")

    def run(words, x):
        scaled = words.mul(words.cast(x, dtype), 0.00390625)
        return words.pad(scaled, [0, 0, down, right], [0, 0, down, right], "constant", 0)

    return Program(text, {"h": down, "w": right}, [(shape, "u8")], (n, c, h + 2 * down, w + 2 * right), run)


def adjoint(dtype, extents, amounts, word):
    n, c, p, q = shape = tuple(extents.values())
    by = amounts["p"]
    inner = (n, c, p - 2 * by, q - 2 * by)
    text = (f"(g: {dtype}[N, C, P, Q], h: dim, w: dim, p: dim) where N >= 1, C >= 1, h >= 2, w >= 2, 0 <= p <= 64, "
            "P == h + 2*p, Q == w + 2*p { y = pad_adjoint(g, extent = [N, C, h, w], low = [0, 0, p, p], "
            f"high = [0, 0, p, p], mode = {word}) return y }}")
    run = lambda words, g: words.adjoint(g, inner, by, word)
    return Program(text, {"h": inner[2], "w": inner[3], "p": by}, [(shape, dtype)], inner, run, False)


PROGRAMS = {"pad": pad, "to_nchw": moved((0, 3, 1, 2)), "to_nhwc": moved((0, 2, 3, 1)), "windows": windows,
            "windows_reverse": windows_reverse, "concat_last": concat_last, "concat_keys": concat_keys,
            "normalise": normalise, "cast_pad": cast_pad, "adjoint": adjoint}
