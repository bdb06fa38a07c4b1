#!/usr/bin/env python3
"""Times an ONNX model: its import, and a run beside ONNX Runtime's of the same file.

The model pads NHWC images to a multiple of a window, by amounts that it computes from their sizes, as Swin does. Both take
turns, once with results in memory that is there already, once with results that each allocates. A time is the median over
the rounds, a ratio the median of the rounds' ratios.

usage: PYTHONPATH=build/release/python python3 bench/python/models.py [--json=FILE] [--rounds=N] [--commit=NAME]
                                                                      [--threads=N] [--images=N] [--window=N]
"""

import argparse
import json
import os
import statistics
import time

import numpy
import onnx.helper
import onnxruntime

import padlock
import padlock.onnx

NODES = 1000


def int64(name, values, shape=None):
    return onnx.helper.make_tensor(name, onnx.TensorProto.INT64, [len(values)] if shape is None else shape, values)


def window_pad(window):
    """The model: H and W padded at their ends to multiples of the window."""
    node = onnx.helper.make_node
    nodes = []
    for axis in (1, 2):
        nodes += [
            node("Shape", ["x"], [f"size{axis}"], start=axis, end=axis + 1),
            node("Mod", [f"size{axis}", "window"], [f"over{axis}"]),
            node("Sub", ["window", f"over{axis}"], [f"left{axis}"]),
            node("Mod", [f"left{axis}", "window"], [f"amount{axis}"]),
        ]
    zeros = ["zero"] * 5
    nodes.append(node("Concat", [*zeros, "amount1", "amount2", "zero"], ["pads"], axis=0))
    nodes.append(node("Pad", ["x", "pads"], ["y"]))
    return model_of(nodes, ["N", "H", "W", "C"], [int64("window", [window]), int64("zero", [0])])


def long_chain():
    """A model of NODES operations."""
    names = ["x"] + [f"v{i}" for i in range(1, NODES)] + ["y"]
    kinds = ("Relu", "Neg", "Abs", "Floor")
    nodes = [onnx.helper.make_node(kinds[i % 4], [names[i]], [names[i + 1]]) for i in range(NODES)]
    return model_of(nodes, ["N"], [])


def model_of(nodes, shape, constants):
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes, "g", [value("x", onnx.TensorProto.FLOAT, shape)], [value("y", onnx.TensorProto.FLOAT, None)], constants
    )
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10)


def seconds_of(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compare(name, ours, theirs, rounds):
    ours(), theirs()
    pairs = [(seconds_of(ours), seconds_of(theirs)) for _ in range(rounds)]
    return {
        "name": name,
        "padlock_ms": 1e3 * statistics.median(pair[0] for pair in pairs),
        "onnxruntime_ms": 1e3 * statistics.median(pair[1] for pair in pairs),
        "ratio": statistics.median(pair[1] / pair[0] for pair in pairs),
    }


def runs(arguments):
    """The model at images x 224 x 224 x 96, against ONNX Runtime with as many threads."""
    model = window_pad(arguments.window)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = arguments.threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    loaded = padlock.onnx.load(model)
    x = numpy.random.default_rng(1).standard_normal((arguments.images, 224, 224, 96), dtype="f4")
    expected = session.run(None, {"x": x})[0]
    if not numpy.array_equal(expected, loaded(x)):
        raise SystemExit("the results differ")
    out = numpy.empty_like(expected)
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_output("y", "cpu", 0, numpy.float32, out.shape, out.ctypes.data)
    case = f"{arguments.images}x224x224x96, window {arguments.window}, {arguments.threads} threads"
    yield compare(
        f"{case}, memory that is there",
        lambda: loaded.kernel(x, out=out),
        lambda: session.run_with_iobinding(binding),
        arguments.rounds,
    )
    yield compare(f"{case}, allocated", lambda: loaded(x), lambda: session.run(None, {"x": x}), arguments.rounds)


def imports(rounds):
    data = long_chain().SerializeToString()
    times = [seconds_of(lambda: padlock.onnx.load(data)) for _ in range(rounds)]
    yield {"name": f"load of {NODES} nodes", "padlock_ms": 1e3 * statistics.median(times)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json")
    parser.add_argument("--commit", default="")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--window", type=int, default=12)
    arguments = parser.parse_args()
    padlock.configure(threads=arguments.threads)
    about = {"commit": arguments.commit, "onnxruntime": onnxruntime.__version__, "load": os.getloadavg()[0]}
    rows = []
    for row in [*imports(arguments.rounds), *runs(arguments)]:
        rows.append({**row, **about})
        beside = f", ONNX Runtime {row['onnxruntime_ms']:.1f} ms, ratio {row['ratio']:.2f}" if "ratio" in row else ""
        print(f"{row['name']}: {row['padlock_ms']:.1f} ms{beside}", flush=True)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
