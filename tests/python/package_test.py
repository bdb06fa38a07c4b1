"""The package as a whole: its names, files by what is in them, packs, sparse tensors, and what is given back."""

import gc
import pathlib
import tempfile
import unittest
import weakref

from python_testing import EXAMPLE, ROOT, main, needs, run_python

import padlock


class Names(unittest.TestCase):
    def test_dir_has_what_there_is(self):
        names = dir(padlock)
        for name in (*padlock.__all__, "jit", "f32", "dim", "bool_", "lang", "numpy", "torch", "jax", "onnx", "load", "load_pack", "trim"):
            self.assertIn(name, names)
        self.assertNotIn("annotations", names)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_a_program_by_its_path(self):
        path = self.write("example.pad", EXAMPLE)
        self.assertEqual(padlock.compile(path).text, EXAMPLE)
        for given in (path, str(path)):
            self.assertEqual(padlock.load(given).text, EXAMPLE)
        self.assertEqual(padlock.load(self.write("marked", "\ufeff" + EXAMPLE)).text, EXAMPLE)
        with self.assertRaisesRegex(padlock.InvalidArgument, "expected a program's text, or a pathlib.Path of its file, found int"):
            padlock.compile(7)
        with self.assertRaises(FileNotFoundError):
            padlock.load(self.folder / "none")

    def test_a_model_by_what_is_in_it(self):
        import padlock.onnx

        model = ROOT / "examples" / "pad_to_multiple.onnx"
        unnamed = self.folder / "model"
        unnamed.write_bytes(model.read_bytes())
        for path in (model, unnamed):
            self.assertIsInstance(padlock.load(path), padlock.onnx.Model)

    @needs("numpy")
    def test_a_pack(self):
        import numpy

        x = numpy.array([[1, -2, 3]], "f4")
        made = padlock.compile(EXAMPLE)
        path = self.folder / "example.pack"
        made.save(path, targets=["host", "host:x86-64-v3"])
        self.assertEqual(list(self.folder.iterdir()), [path])
        for pack in (padlock.load_pack(path), padlock.load(path)):
            self.assertEqual(pack.names, [made.name])
            self.assertEqual([target["name"] for target in pack.describe()["programs"][0]["targets"]], ["host", "host:x86-64-v3"])
            for kernel in (pack.kernel(), pack[made.name]):
                self.assertEqual(kernel(x, lo=1).tolist(), made(x, lo=1).tolist())
                self.assertEqual(kernel.shapes(B=2, S=6, lo=1), made.shapes(B=2, S=6, lo=1))
        with self.assertRaisesRegex(padlock.NotFound, f"expected a program of the pack .{made.name}., found 'other'"):
            pack["other"]

    @needs("numpy")
    def test_a_packs_kernel_has_code_and_compiles_none(self):
        padlock.compile(EXAMPLE).save(self.folder / "example.pack", targets="host")
        code = f"""
import padlock, numpy
kernel = padlock.load_pack({str(self.folder / 'example.pack')!r}).kernel()
print(kernel(numpy.ones((1, 2), "f4"), lo=1).shape)
padlock.configure(threads=1)
print(kernel(numpy.ones((1, 2), "f4"), lo=1).shape)
"""
        done = run_python(code, PADLOCK_TIME="1")
        self.assertEqual((done.stdout.split("\n"), done.stderr), (["(1, 8)", "(1, 8)", ""], ""))

    def test_packs_that_are_none(self):
        path = self.folder / "example.pack"
        padlock.compile(EXAMPLE).save(path)
        damaged = bytearray(path.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        path.write_bytes(damaged)
        with self.assertRaises(padlock.Unavailable):
            padlock.load_pack(path)
        with self.assertRaisesRegex(padlock.InvalidArgument, "sm_1"):
            padlock.compile(EXAMPLE).save(self.folder / "other.pack", targets=["sm_1"])
        self.assertEqual([file.name for file in self.folder.iterdir()], ["example.pack"])


class Sparse(unittest.TestCase):
    @needs("torch")
    def test_tensors_of_torch_that_are_not_dense(self):
        import torch

        eye = torch.eye(3)
        kernel = padlock.compile("program pad(x: f32[A, B]) { y = pad(x, low = [1, 1], high = [1, 1]) return y }")
        for x, message in (
            (eye.to_sparse(), "found one of the layout torch.sparse_coo: pad its to_dense"),
            (eye.to_sparse_csr(), "found one of the layout torch.sparse_csr: pad its to_dense"),
            (torch.nested.nested_tensor([eye, eye[:2]]), "found a nested one: pad each tensor of its unbind"),
            (torch.quantize_per_tensor(eye, 0.1, 0, torch.qint8), "found a quantized one: pad its int_repr"),
        ):
            for door in (lambda x: padlock.pad(x, (1, 1), (1, 1)), kernel, kernel.shapes):
                with self.subTest(message), self.assertRaisesRegex(padlock.InvalidArgument, message):
                    door(x)

    @needs("scipy")
    def test_matrices_of_scipy(self):
        import numpy
        import scipy.sparse

        with self.assertRaisesRegex(padlock.InvalidArgument, r"found a sparse one, scipy.sparse.*csr_matrix: pad its todense\(\)"):
            padlock.pad(scipy.sparse.csr_matrix(numpy.eye(3)), (1, 1), (1, 1))


@needs("numpy")
class GivenBack(unittest.TestCase):
    """What a process holds of programs and classes that it dropped."""

    def test_programs_that_were_dropped_go_by_themselves_and_by_trim(self):
        gc.collect()
        padlock.trim()
        for number in range(200):
            padlock.compile(f"program pad(x: f32[N]) {{ y = pad(x, low = [{number}], high = [1]) return y }}")
        self.assertLess(padlock.trim(), 64)
        held = padlock.compile(EXAMPLE)
        self.assertEqual(padlock.trim(), 0)
        del held
        self.assertEqual(padlock.trim(), 1)

    def test_classes_of_arrays_that_were_dropped(self):
        import numpy

        def use(number):
            class Array(numpy.ndarray):
                pass

            x = numpy.full((2, 3), number).view(Array)
            self.assertEqual(padlock.pad(x, (0, 1), (0, 0)).tolist(), [[0, number, number, number]] * 2)
            return weakref.ref(Array)

        classes = [use(number) for number in range(20)]
        gc.collect()
        self.assertEqual([one() for one in classes], [None] * 20)

    def test_a_kernel_that_a_daemon_holds_at_exit_is_nobodys_news(self):
        code = f"""
import padlock, threading
def hold():
    kernel = padlock.compile({EXAMPLE!r})
    ready.set()
    threading.Event().wait()
ready = threading.Event()
threading.Thread(target=hold, daemon=True).start()
ready.wait()
"""
        done = run_python(code, PADLOCK_LEAK_WARNINGS=None)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertIn("nanobind: leaked", run_python(code, PADLOCK_LEAK_WARNINGS="1").stderr)


if __name__ == "__main__":
    main()
