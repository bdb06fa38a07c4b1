"""ONNX models where the command takes programs: their own names for inputs, sizes from files, errors with the path."""

import json
import struct
import unittest

from padlock_testing import Case, floats, npy, read_npy


def field(tag, value):
    """A field of a message: a number, or the bytes of a text or of another message."""
    if isinstance(value, int):
        return bytes([tag << 3, value])
    data = value.encode() if isinstance(value, str) else value
    return bytes([tag << 3 | 2, len(data)]) + data


def info(name, element_type, extent):
    shape = field(1, field(1, extent) if isinstance(extent, int) else field(2, extent))
    return field(1, name) + field(2, field(1, field(1, element_type) + field(2, shape)))


def scalar_info(name, element_type):
    return field(1, name) + field(2, field(1, field(1, element_type) + field(2, b"")))


def model(operator="Pad", fill=False, extent="N", result="y"):
    """y = operator(in.0, pads), of f32[N] and i64[2]; or with a fill that is an input, too."""
    names = field(1, "in.0") + field(1, "pads") + (field(1, "fill") if fill else b"")
    node = names + field(2, result) + field(3, "the_node") + field(4, operator)
    inputs = field(11, info("in.0", 1, extent)) + field(11, info("pads", 7, 2))
    inputs += field(11, scalar_info("fill", 1)) if fill else b""
    graph = field(1, node) + field(2, "g") + inputs + field(12, info(result, 1, "M"))
    return field(1, 10) + field(7, graph) + field(8, field(2, 20))


class Models(Case):
    def setUp(self):
        super().setUp()
        self.write("m.onnx", model())
        self.write("x.npy", npy("<f4", (3,), floats(1, 2, 3)))

    def test_import_prints_or_writes_the_program(self):
        text = self.succeed("import", "m.onnx")
        self.assertEqual(
            text,
            "program g(in_0: f32[N], pads_0: dim, pads_1: dim)\n{\n"
            "  y = pad(in_0, low = [pads_0], high = [pads_1])\n  return y\n}\n",
        )
        interface = json.loads(self.succeed("import", "m.onnx", "--output=m.pad", "--json"))
        self.assertEqual(interface["inputs"][1], {"name": "pads", "kind": "dims", "parameters": ["pads_0", "pads_1"]})
        self.assertEqual((self.folder / "m.pad").read_text(), text)
        self.assertEqual(self.succeed("emit", "m.onnx"), text)

    def test_run_takes_inputs_by_the_models_names_and_sizes_from_files(self):
        wanted = ("<f4", (4,), floats(0, 1, 2, 3))
        for type_, form in (("<i8", "<2q"), ("<i4", "<2i")):
            self.write("pads.npy", npy(type_, (2,), struct.pack(form, 1, 0)))
            self.succeed("run", "m.onnx", "--input=in.0=@x.npy", "--input=pads=@pads.npy", "--output=y=@y.npy")
            self.assertEqual(read_npy(self.folder / "y.npy"), wanted)
        self.succeed("run", "m.onnx", "--input=in_0=@x.npy", "--bind=pads_0=1,pads_1=0", "--output=y=@y.npy")
        self.assertEqual(read_npy(self.folder / "y.npy"), wanted)

    def test_results_and_symbols_go_by_the_models_names_too(self):
        self.write("n.onnx", model(extent="batch.size", result="82"))
        self.write("pads.npy", npy("<i8", (2,), struct.pack("<2q", 1, 0)))
        self.write("y.npy", npy("<f4", (4,), floats(0, 1, 2, 3)))
        run = ("run", "n.onnx", "--input=in.0=@x.npy", "--input=pads=@pads.npy")
        for name in ("82", "v82"):
            text = self.succeed(*run, f"--output={name}=@z.npy", f"--expect={name}=@y.npy")
            self.assertIn("82: f32[4], 16 bytes: 0 1 2 3\n82: as expected, 4 elements\n", text)
            self.assertEqual(read_npy(self.folder / "z.npy"), ("<f4", (4,), floats(0, 1, 2, 3)))
        report = json.loads(self.succeed(*run, "--expect=82=@y.npy", "--json"))
        self.assertEqual([one["name"] for one in report["results"] + report["expect"]], ["82", "82"])
        random = ("run", "n.onnx", "--input=in.0=random", "--input=pads=@pads.npy", "--seed=1")
        self.assertIn("82: f32[4], ", self.succeed(*random, "--bind=batch.size=3"))
        self.assertIn("82: f32[4], ", self.succeed(*random, "--bind=batch_size=3"))
        explained = json.loads(self.succeed("explain", "n.onnx", "--bind=batch.size=3,pads_0=1,pads_1=2", "--json"))
        self.assertEqual(explained["results"][0]["storage_bytes"]["value"], 24)
        self.succeed("bench", "n.onnx", "--bind=batch.size=3,pads_0=1,pads_1=2", "--rounds=3", "--quiet")
        tuned = self.succeed("tune", "n.onnx", "--opt=batch.size=64,pads_0=1,pads_1=2", "--budget=0s", "--cache=t.db", "--quiet", "--json")
        self.assertEqual(json.loads(tuned)["trials"], 1)
        self.fail_with(2, "--bind gives batch_size twice", *random, "--bind=batch.size=3,batch_size=3")
        interface = json.loads(self.succeed("import", "n.onnx", "--json"))
        self.assertEqual(interface["results"][0], {"name": "82", "kind": "tensor", "parameters": ["v82"]})
        self.assertEqual(
            interface["symbols"][0], {"name": "batch.size", "kind": "symbol", "parameters": ["batch_size"]}
        )

    def test_messages_have_the_models_names(self):
        self.write("n.onnx", model(result="82"))
        self.write("pads.npy", npy("<i8", (2,), struct.pack("<2q", 1, 0)))
        self.fail_with(2, "no value for in.0: give --input=in.0=@FILE.npy", "run", "n.onnx", "--bind=pads_0=1,pads_1=0")
        self.fail_with(2, "no value for pads, which says sizes: give --input=pads=@FILE.npy", "run", "n.onnx", "--input=in.0=@x.npy")
        run = ("run", "n.onnx", "--input=in.0=@x.npy", "--input=pads=@pads.npy")
        self.fail_with(2, "--input names 'z', which is no parameter of the program (it has: in.0)", *run, "--input=z=@x.npy")
        self.fail_with(2, "--output names 'y', which the program does not return (it returns: 82)", *run, "--output=y=@y.npy")
        wrong = ("run", "n.onnx", "--input=in.0=@pads.npy", "--input=pads=@pads.npy")
        self.fail_with(4, "expected elements of f32 for in.0, found", *wrong)

    def test_sizes_that_are_none(self):
        self.write("long.npy", npy("<i8", (3,), struct.pack("<3q", 1, 0, 0)))
        self.write("pads.npy", npy("<i8", (2,), struct.pack("<2q", 1, 0)))
        run = ("run", "m.onnx", "--input=in.0=@x.npy")
        self.fail_with(4, "expected 2 elements of pads, found 3", *run, "--input=pads=@long.npy")
        self.fail_with(4, "expected elements of i64 or i32", *run, "--input=pads=@x.npy")
        self.fail_with(2, "pads says sizes: give --input=pads=@FILE.npy", *run, "--input=pads=random")
        self.fail_with(
            2, "--bind gives pads_1, and so does --input=pads", *run, "--input=pads=@pads.npy", "--bind=pads_1=1"
        )

    def test_a_scalar_comes_from_a_file_or_a_literal(self):
        self.write("f.onnx", model(fill=True))
        self.write("pads.npy", npy("<i8", (2,), struct.pack("<2q", 1, 0)))
        self.write("fill.npy", npy("<f4", (), floats(-1.5)))
        self.write("one.npy", npy("<f4", (1,), floats(-1.5)))
        run = ("run", "f.onnx", "--input=in.0=@x.npy", "--input=pads=@pads.npy", "--output=y=@y.npy")
        for fill in ("@fill.npy", "@one.npy", "-1.5"):
            self.succeed(*run, f"--input=fill={fill}")
            self.assertEqual(read_npy(self.folder / "y.npy"), ("<f4", (4,), floats(-1.5, 1, 2, 3)))
        self.fail_with(4, "x.npy: expected one element of f32 for fill, found", *run, "--input=fill=@x.npy")
        self.fail_with(4, "pads.npy: expected one element of f32 for fill, found", *run, "--input=fill=@pads.npy")
        self.fail_with(2, "give --input=fill=LITERAL, or @FILE.npy of one element", *run, "--input=fill=random")

    def test_every_command_takes_a_model(self):
        proved = self.succeed("prove", "m.onnx", "--target=host:x86-64-v3")
        self.assertIn(" 0 refuted", proved)
        explained = json.loads(self.succeed("explain", "m.onnx", "--bind=N=3,pads_0=1,pads_1=2", "--json"))
        self.assertEqual(explained["results"][0]["storage_bytes"]["value"], 24)
        self.succeed("pack", "m.onnx", "--target=host:x86-64-v3", "--output=m.pack")
        self.succeed("run", "m.pack", "--input=in_0=@x.npy", "--bind=pads_0=1,pads_1=0", "--output=y=@y.npy")
        self.assertEqual(read_npy(self.folder / "y.npy"), ("<f4", (4,), floats(0, 1, 2, 3)))
        tuned = self.padlock("tune", "m.onnx", "--opt=N=64,pads_0=1,pads_1=2", "--budget=0s", "--cache=t.db", "--quiet", "--json")
        self.assertEqual((tuned.returncode, tuned.stderr), (0, ""))
        self.assertEqual(json.loads(tuned.stdout)["trials"], 1)

    def test_a_part_of_a_model_is_had_by_its_outputs(self):
        graph = field(1, field(1, "x") + field(2, "a") + field(4, "Relu"))
        graph += field(1, field(1, "a") + field(2, "c") + field(3, "the_conv") + field(4, "Conv"))
        graph += field(1, field(1, "c") + field(2, "82") + field(4, "Abs"))
        graph += field(2, "g") + field(11, info("x", 1, "N")) + field(12, info("82", 1, "M")) + field(13, info("c", 1, "K"))
        self.write("n.onnx", field(1, 10) + field(7, graph) + field(8, field(2, 20)))
        self.fail_with(3, "'the_conv' (Conv): Padlock has no Conv. These parts of it are programs", "import", "n.onnx")
        self.fail_with(3, "--to=NAME, or 'outputs' in C and Python): 'a' of 'x' (1 node); '82' of 'c' (1 node)", "emit", "n.onnx")
        self.assertEqual(
            self.succeed("import", "n.onnx", "--to=82"), "program g(c: f32[K])\n{\n  v82 = abs(c)\n  return v82\n}\n"
        )
        self.succeed("import", "n.onnx", "--to=a", "--output=a.pad")
        self.succeed("run", "a.pad", "--input=x=@x.npy", "--output=a=@a.npy")
        self.fail_with(3, "expected the name of a value that the model computes, found 'b'", "import", "n.onnx", "--to=b")

    def test_models_that_are_refused(self):
        self.write("n.onnx", model("NonZero"))
        self.write("bad.onnx", b"\x3a\x7f")
        self.fail_with(3, "n.onnx: expected a model of which", "prove", "n.onnx")
        self.fail_with(3, "'the_node' (NonZero): Padlock has no NonZero", "import", "n.onnx")
        self.fail_with(3, "bad.onnx: expected an ONNX model", "emit", "bad.onnx")
        self.fail_with(3, "absent.onnx", "emit", "absent.onnx")


if __name__ == "__main__":
    unittest.main()
