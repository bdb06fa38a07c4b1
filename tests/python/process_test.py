"""Processes: what an import loads, other compilers beside this one, forked children, signals, tuning."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from python_testing import EXAMPLE, has, main, needs, run_python

PAD = "padlock.pad(bytearray(b'abc'), (1,), (2,))"
#: Libraries with a compiler, or with threads, of their own.
BESIDE = [name for name in ("numpy", "torch", "triton", "jax", "llvmlite", "numba") if has(name)]
LLVMLITE = """
import llvmlite.binding as llvm
llvm.initialize_native_target(), llvm.initialize_native_asmprinter()
machine = llvm.Target.from_default_triple().create_target_machine()
engine = llvm.create_mcjit_compiler(llvm.parse_assembly("define i32 @seven() { ret i32 7 }"), machine)
engine.finalize_object()
import ctypes
assert ctypes.CFUNCTYPE(ctypes.c_int)(engine.get_function_address("seven"))() == 7
"""
#: What a library does to prove that it still works: those with a compiler compile.
USE = {
    "numpy": "assert numpy.zeros(3).sum() == 0",
    "torch": "assert torch.ones(3).sum().item() == 3",
    "triton": "import triton.language, triton._C.libtriton as lib; lib.ir.context(); lib.llvm.init_targets()",
    "jax": "assert jax.jit(lambda x: x + 1)(1) == 2",
    "llvmlite": LLVMLITE,
    "numba": "assert numba.njit(lambda x: x + 1)(1) == 2",
}


def check(case, done):
    case.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Import(unittest.TestCase):
    def test_it_loads_no_array_library(self):
        code = "import padlock, sys; print([m for m in ('numpy', 'torch', 'jax', 'ml_dtypes') if m in sys.modules])"
        done = run_python(code)
        check(self, done)
        self.assertEqual(done.stdout.strip(), "[]")

    def test_what_variables_ask_for_is_on_stderr(self):
        done = run_python(f"import padlock; {PAD}", PADLOCK_TIME="1", PADLOCK_LOG="info")
        check(self, done)
        self.assertRegex(done.stderr, r"(?m)^padlock: \w+ for host, ms: lower ")
        self.assertRegex(done.stderr, r"(?m)^padlock: info: compiled \w+ for host: config ")

    @needs("numpy")
    def test_development_mode_has_nothing_to_say(self):
        code = f"import padlock; {PAD}; k = padlock.compile({EXAMPLE!r}); import numpy; k(numpy.ones((1, 2), 'f4'), lo=1)"
        done = run_python(code, options=("-X", "dev", "-W", "error"))
        check(self, done)
        self.assertEqual(done.stderr, "")

    @needs("numpy")
    def test_in_any_order_with_other_compilers(self):
        for name in BESIDE:
            for order in ((name, "padlock"), ("padlock", name)):
                with self.subTest(order=order):
                    lines = [f"import {module}" for module in order]
                    lines += [f"assert {PAD}.tolist() == [0, 97, 98, 99, 0, 0]", USE[name], PAD]
                    check(self, run_python("\n".join(lines)))

    @needs("numpy")
    def test_with_all_other_compilers_in_one_process(self):
        for order in (["padlock", *BESIDE], [*reversed(BESIDE), "padlock"]):
            with self.subTest(order=order):
                lines = [f"import {module}" for module in order]
                for module in order:
                    lines += [USE[module]] if module in USE else []
                    lines += [f"kernel = padlock.compile({EXAMPLE!r})", "assert kernel(numpy.ones((1, 2), 'f4'), lo=1).shape == (1, 8)"]
                check(self, run_python("\n".join(lines)))


@needs("torch")
class OtherTorch(unittest.TestCase):
    def test_the_dispatcher_has_the_word_where_a_question_is_not_known(self):
        code = """
import padlock.torch, torch
del torch._C._are_functorch_transforms_active, torch._C._dispatch_key_parse
made = padlock.torch.pad(torch.tensor([1, 2, 3]), (4, 1), mode="circular")
assert made.tolist() == [3, 1, 2, 3, 1, 2, 3, 1]
try:
    padlock.torch.pad(torch.tensor([1, 2, 3]), (4, 1), out=torch.empty(8, dtype=torch.int64))
except padlock.InvalidArgument as error:
    print(error)
"""
        done = run_python(code)
        check(self, done)
        self.assertIn("torch gives this tensor another meaning than its memory", done.stdout)


#: Forks while two threads compile, one launches and one tunes. Prints how each child ended; one that hangs is killed.
FORKS = """
import itertools, os, padlock, numpy, signal, tempfile, threading
text = "program pad(x: f32[B, S], lo: dim) where 0 <= lo <= 8 { y = pad(x, low = [0, lo], high = [0, %d]) return y }"
padlock.configure(cache="read-write", cache_file=tempfile.mkdtemp() + "/tuning.db")
numbers = itertools.count()
x = numpy.ones((64, 8192), "f4")
kernel = padlock.compile(text % 1)
stops = threading.Event()
def compiles():
    while not stops.is_set():
        padlock.compile(text % next(numbers))
def launches():
    while not stops.is_set():
        assert kernel(x, 3).sum() == x.sum()
def tunes():
    while not stops.is_set():
        kernel.tune(dict(B=64, S=1000, lo=3), budget=1)
threads = [threading.Thread(target=work) for work in (compiles, compiles, launches, tunes)]
for thread in threads: thread.start()
for _ in range(int(os.environ.get("PADLOCK_FORKS", 25))):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        good = kernel(x, 3).sum() == x.sum() == padlock.compile(text % next(numbers))(x, 2).sum()
        padlock.configure(cache="off")
        good = good and padlock.compile(text % 7)(x, 2).sum() == kernel(x, 3).sum() == x.sum()
        os._exit(0 if good else 1)
    print(os.waitpid(child, 0)[1])
stops.set()
for thread in threads: thread.join()
"""


@needs("numpy")
class Fork(unittest.TestCase):
    def test_a_child_pads_after_its_parent_did(self):
        code = f"""
import os, padlock, numpy
kernel = padlock.compile({EXAMPLE!r})
x = numpy.ones((64, 8192), "f4")
want = kernel(x, lo=1).tobytes()
padlock.pad(x, (1, 1), (1, 1))
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        same = kernel(x, lo=1).tobytes() == want and padlock.pad(x, (1, 1), (1, 1)).sum() == x.sum()
        os._exit(0 if same else 1)
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
assert kernel(x, lo=1).tobytes() == want
"""
        check(self, run_python(code, timeout=60))

    @unittest.skipIf(os.environ.get("PADLOCK_EMULATED") == "1", "the emulator fails in children of a process with threads")
    def test_children_of_a_parent_whose_threads_compile_launch_and_tune(self):
        done = run_python(FORKS, timeout=900, options=("-W", "ignore::DeprecationWarning"))
        check(self, done)
        self.assertEqual(done.stdout.split(), ["0"] * int(os.environ.get("PADLOCK_FORKS", 25)))

    @needs("torch")
    def test_workers_of_a_data_loader(self):
        code = """
import padlock, padlock.torch, torch
class Rows(torch.utils.data.Dataset):
    def __len__(self): return 64
    def __getitem__(self, i): return padlock.torch.pad(torch.full((256, 300), float(i)), (1, 1), mode="replicate")
padlock.torch.pad(torch.ones(1024, 1024), (1, 1))
loader = torch.utils.data.DataLoader(Rows(), batch_size=8, num_workers=4, multiprocessing_context="fork")
assert [batch[0, 0, 0].item() for batch in loader] == [float(8 * i) for i in range(8)]
"""
        check(self, run_python(code, timeout=120))


class Tuning(unittest.TestCase):
    OPTIONS = "cache='read-write', cache_file=CACHE"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = str(pathlib.Path(folder.name) / "tuning.db")

    def code(self, body):
        return f"import padlock\nCACHE = {self.cache!r}\npadlock.configure({self.OPTIONS})\n" \
               f"kernel = padlock.compile({EXAMPLE!r})\n{body}"

    def test_what_is_learnt_is_used(self):
        body = """
told = []
report = kernel.tune(dict(B=64, S=1000, lo=3), budget=2, progress=told.append)
assert report["schema"] == 1 and told and told[-1]["tried"] > 0, report
reason = kernel.explain(B=64, S=1000, lo=3)["reason"]
print(reason)
assert "default" not in reason, reason
"""
        check(self, run_python(self.code(body), timeout=120))

    def test_what_the_listener_raises_comes_out(self):
        body = """
def stop(progress):
    raise KeyError("enough")
try:
    kernel.tune(dict(B=64, S=1000, lo=3), budget=60, progress=stop)
except KeyError as error:
    assert error.args == ("enough",)
else:
    raise SystemExit("nothing was raised")
"""
        check(self, run_python(self.code(body), timeout=50))

    def test_control_c_ends_it(self):
        # The parent may be a job in the background, whose children ignore SIGINT.
        body = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    kernel.tune(dict(B=64, S=1000, lo=3), budget=300, search="full", progress=lambda told: print("tuning", flush=True))
except KeyboardInterrupt:
    print("interrupted", kernel.shapes(B=1, S=1, lo=0))
"""
        process = subprocess.Popen([sys.executable, "-c", self.code(body)], stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "tuning\n")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(timeout=60)[0].splitlines()[-1:], ["interrupted {'z': (1, 8)}"])

    def test_a_worker_that_is_not_there(self):
        code = f"import padlock\npadlock.configure(worker='/nowhere')\nkernel = padlock.compile({EXAMPLE!r})\n" \
               "try:\n  kernel.tune(dict(B=1, S=1, lo=0), budget=1)\nexcept padlock.Unavailable as e:\n  print(e)"
        done = run_python(code)
        check(self, done)
        self.assertIn("/nowhere", done.stdout)

    def test_a_cache_that_cannot_be_written_raises_before_anything_is_measured(self):
        code = f"import padlock\npadlock.configure(cache='read-write', cache_file='/dev/null/t.db')\n" \
               f"kernel = padlock.compile({EXAMPLE!r})\n" \
               "try:\n  kernel.tune(dict(B=1, S=1, lo=0), budget=300)\nexcept padlock.FailedPrecondition as e:\n  print(e)"
        done = run_python(code)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("expected a cache that can be written, found one that cannot: ", done.stdout)

    def test_a_regime_that_is_none_is_refused_and_the_report_says_which(self):
        body = """
try:
    kernel.tune(dict(B=64, S=1000, lo=3), budget=1, regime="hot")
except padlock.InvalidArgument as error:
    assert "expected a regime (auto, warm, cold or both), found 'hot'" in str(error), error
else:
    raise SystemExit("nothing was raised")
report = kernel.tune(dict(B=64, S=1000, lo=3), budget=0.1, regime="cold")
assert [region["regime"] for region in report["regions"]] == ["cold"], report
assert " (cold), " in kernel.explain(B=64, S=1000, lo=3)["reason"]
"""
        check(self, run_python(self.code(body), timeout=120))

    def test_modes_of_the_cache(self):
        done = run_python("import padlock\npadlock.configure(cache='maybe')")
        self.assertIn("expected cache to be off, read, read-write or require, found 'maybe'", done.stderr)


if __name__ == "__main__":
    main()
