"""Memory of large results that a kernel keeps: it serves again only when nothing sees it any more."""

import gc
import threading
import unittest

import python_testing
from python_testing import needs, run_python

import padlock

PROGRAM = """program shifted(x: f32[N], by: f32)
{
  y = add(x, by)
  return y
}
"""
TWO = """program two(x: f32[N])
{
  y = neg(x)
  z = pad(x, low = [1], high = [0])
  return y, z
}
"""
LARGE = 2 << 20  # elements: 8 MiB


@needs("numpy")
class KeptResults(unittest.TestCase):
    def setUp(self):
        import numpy

        self.np = numpy
        self.kernel = padlock.compile(PROGRAM)
        self.x = numpy.zeros(LARGE, "f4")

    def address(self, array):
        return array.__array_interface__["data"][0]

    def test_memory_of_a_dead_result_serves_the_next(self):
        first = self.kernel(self.x, 1.0)
        place = self.address(first)
        self.assertEqual(self.kernel._kept_bytes, 0)
        del first
        self.assertGreaterEqual(self.kernel._kept_bytes, LARGE * 4)
        second = self.kernel(self.x, 2.0)
        self.assertEqual((self.address(second), self.kernel._kept_bytes), (place, 0))
        self.assertTrue((second == 2).all())

    def test_no_view_of_a_result_is_written_again(self):
        views = (
            lambda y: y[5:],
            lambda y: y.reshape(2, -1).T,
            lambda y: y.view("i4"),
            memoryview,
            lambda y: self.np.from_dlpack(y),
            lambda y: y[::-1][3:],
        )
        for make in views:
            view = make(self.kernel(self.x, 1.0))
            before = bytes(self.np.asarray(view)[..., :4])
            for number in range(3):
                self.kernel(self.x, 5.0 + number)
            self.assertEqual(bytes(self.np.asarray(view)[..., :4]), before)
            self.assertEqual(self.np.asarray(view).size, LARGE - (5 if make is views[0] else 3 if make is views[5] else 0))

    def test_results_that_live_are_apart(self):
        results = [self.kernel(self.x, float(i)) for i in range(5)]
        self.assertEqual(len({self.address(y) for y in results}), 5)
        for i, y in enumerate(results):
            self.assertTrue((y == i).all())

    def test_no_more_is_kept_than_a_call_needs(self):
        results = [self.kernel(self.x, float(i)) for i in range(5)]
        del results
        self.assertLessEqual(self.kernel._kept_bytes, LARGE * 4 * 5 // 4 + (2 << 20))
        self.assertGreater(self.kernel._kept_bytes, 0)
        self.kernel(self.np.zeros(4 * LARGE, "f4"), 1.0)
        self.kernel(self.x, 1.0)  # what is much too large for it goes
        self.assertLessEqual(self.kernel._kept_bytes, LARGE * 4 * 5 // 4 + (2 << 20))

    def test_small_results_are_numpys(self):
        small = self.kernel(self.np.zeros(1000, "f4"), 1.0)
        self.assertIsNone(small.base)
        del small
        self.assertEqual(self.kernel._kept_bytes, 0)

    def test_arrays_are_as_numpys_own(self):
        y = self.kernel(self.x, 1.0)
        self.assertEqual((y.dtype, y.shape), (self.np.dtype("f4"), (LARGE,)))
        self.assertTrue(y.flags.writeable and y.flags.c_contiguous and y.flags.aligned)
        y[0] = 7
        self.assertEqual(y.copy()[0], 7)

    def test_it_can_be_switched_off(self):
        y = self.kernel(self.x, 1.0)
        del y
        self.kernel.keeps_results = False
        self.assertEqual(self.kernel._kept_bytes, 0)
        y = self.kernel(self.x, 1.0)
        self.assertIsNone(y.base)
        del y
        self.assertEqual(self.kernel._kept_bytes, 0)

    def test_pads_keep_nothing(self):
        self.assertIsNone(padlock.pad(self.x, (1,), (1,)).base)

    def test_several_results_of_a_call_are_apart(self):
        kernel = padlock.compile(TWO)
        x = self.np.arange(LARGE, dtype="f4")
        for _ in range(3):
            y, z = kernel(x)
            self.assertTrue((y == -x).all() and (z[1:] == x).all() and z[0] == 0)

    def test_results_outlive_their_kernel(self):
        y = self.kernel(self.x, 3.0)
        self.kernel = None
        gc.collect()
        self.assertTrue((y == 3).all())

    def test_threads(self):
        wrong = []

        def work(number):
            for _ in range(10):
                y = self.kernel(self.x, float(number))
                if not (y == number).all():
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_forked_child_has_its_own(self):
        code = f"""
import os, numpy, padlock
kernel = padlock.compile({PROGRAM!r})
x = numpy.zeros({LARGE}, 'f4')
kept = kernel(x, 1.0)
kernel(x, 2.0)
child = os.fork()
if child == 0:
    y = kernel(x, 3.0)
    kept += 1
    os._exit(0 if (y == 3).all() and (kept == 2).all() else 1)
print(os.waitpid(child, 0)[1], (kept == 1).all(), (kernel(x, 4.0) == 4).all())
"""
        done = run_python(code, options=("-W", "ignore::DeprecationWarning"))  # Python's, of any process with threads
        self.assertEqual((done.stdout.split(), done.stderr), (["0", "True", "True"], ""))


@needs("torch")
class KeptTensors(unittest.TestCase):
    """The same of tensors: what compiled graphs' programs make is kept together, what a kernel makes is its own."""

    def setUp(self):
        import torch

        import padlock.torch
        from padlock import _core

        self.torch, self.core, self.release = torch, _core, padlock.torch.release_memory
        self.release()
        self.x = torch.zeros(LARGE)

    def tearDown(self):
        self.release()

    def cluster(self, by, x=None):
        return self.torch.ops.padlock.cluster(PROGRAM, [self.x if x is None else x], [], [by])[0]

    def test_memory_of_a_dead_tensor_serves_the_next(self):
        first = self.cluster(1.0)
        place = first.data_ptr()
        self.assertEqual(self.core.shared_kept_bytes(), 0)
        del first
        self.assertEqual(self.core.shared_kept_bytes(), LARGE * 4)
        second = self.cluster(2.0)
        self.assertEqual((second.data_ptr(), self.core.shared_kept_bytes()), (place, 0))
        self.assertTrue((second == 2).all())

    def test_it_is_given_back_when_that_is_asked_for(self):
        alive = self.cluster(1.0)
        self.cluster(2.0)
        self.assertEqual(self.core.shared_kept_bytes(), LARGE * 4)
        self.release()
        self.assertEqual(self.core.shared_kept_bytes(), 0)
        self.assertTrue((alive == 1).all())

    def test_no_view_of_a_tensor_is_written_again(self):
        views = (
            lambda y: y[5:],
            lambda y: y.view(2, -1).t(),
            lambda y: y.view(self.torch.int32),
            lambda y: y.numpy(),
            lambda y: self.torch.from_dlpack(y.detach()),
            lambda y: y.untyped_storage(),
        )
        for make in views:
            view = make(self.cluster(1.0))
            as_tensor = self.torch.tensor([]).set_(view) if make is views[5] else self.torch.as_tensor(view)
            before = as_tensor.clone()
            for number in range(3):
                self.cluster(5.0 + number)
            self.assertTrue(self.torch.equal(as_tensor, before))

    def test_what_autograd_saved_is_not_written_again(self):
        weight = self.torch.ones(LARGE, requires_grad=True)
        loss = (self.cluster(3.0) * weight).sum()
        for number in range(3):
            self.cluster(5.0 + number)
        loss.backward()
        self.assertTrue((weight.grad == 3).all())

    def test_no_more_is_kept_than_the_limit(self):
        limit, large = 256 << 20, self.torch.zeros(8 * LARGE)  # 64 MiB
        results = [self.cluster(float(i), large) for i in range(6)]
        self.assertEqual([float(y[-1]) for y in results], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
        del results
        self.assertEqual(self.core.shared_kept_bytes(), limit)
        self.cluster(1.0)  # the oldest makes place for what came last
        self.assertLessEqual(self.core.shared_kept_bytes(), limit)
        self.assertGreater(self.core.shared_kept_bytes(), limit - 2 * 64 * (1 << 20))

    def test_what_is_much_too_large_does_not_serve(self):
        del_me = self.cluster(1.0, self.torch.zeros(2 * LARGE))
        place = del_me.data_ptr()
        del del_me
        self.assertNotEqual(self.cluster(1.0).data_ptr(), place)

    def test_small_tensors_are_torchs(self):
        self.cluster(1.0, self.torch.zeros(1000))
        self.assertEqual(self.core.shared_kept_bytes(), 0)

    def test_tensors_are_as_torchs_own(self):
        y = self.cluster(1.0, self.torch.zeros(3, LARGE)[0])
        self.assertEqual((y.dtype, y.shape, y.stride(), y.requires_grad), (self.torch.float32, (LARGE,), (1,), False))
        y.add_(6)
        self.assertEqual(float(y.clone()[0]), 7.0)
        with self.assertRaisesRegex(RuntimeError, "not resizable"):
            y.detach().resize_(2 * LARGE)  # of a tensor that refused torch does not say any more how large it is
        y.share_memory_()
        self.assertTrue(y.is_shared() and bool((y == 7).all()))

    def test_a_kernel_keeps_what_it_made_itself(self):
        kernel = padlock.compile(PROGRAM)
        y = kernel(self.x, 1.0)
        self.assertTrue((y == 1).all())
        del y
        self.assertEqual((kernel._kept_bytes, self.core.shared_kept_bytes()), (LARGE * 4, 0))
        kernel.keeps_results = False
        self.assertEqual(kernel._kept_bytes, 0)

    def test_tensors_that_die_on_other_threads(self):
        """Without the GIL, as autograd's do, beside others that are made."""
        wrong = []

        def work(number):
            for step in range(20):
                y = self.cluster(float(number))
                weight = self.torch.ones(LARGE, requires_grad=True)
                z = (y * weight).sum()
                del y
                z.backward()
                if not (weight.grad == number).all():
                    wrong.append((number, step))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_process_gives_back_what_is_kept_and_ends_with_tensors_alive(self):
        code = f"""
import atexit
from padlock import _core
atexit.register(lambda: print(_core.shared_kept_bytes()))  # runs last, as it came first
import torch, padlock.torch
def cluster(by):
    return torch.ops.padlock.cluster({PROGRAM!r}, [torch.zeros({LARGE})], [], [by])[0]
torch.alive = cluster(1.0)
cluster(2.0)
print(_core.shared_kept_bytes())
"""
        done = run_python(code)
        self.assertEqual((done.stdout.split(), done.returncode, done.stderr), ([str(LARGE * 4), "0"], 0, ""))

    def test_a_forked_child_has_its_own(self):
        code = f"""
import os, torch, padlock.torch
torch.set_num_threads(1)
x = torch.zeros({LARGE})
def cluster(by):
    return torch.ops.padlock.cluster({PROGRAM!r}, [x], [], [by])[0]
kept = cluster(1.0)
cluster(2.0)
child = os.fork()
if child == 0:
    y = cluster(3.0)
    kept += 1
    os._exit(0 if float(y.min()) == float(y.max()) == 3 and float(kept[-1]) == 2 else 1)
print(os.waitpid(child, 0)[1], float(kept[-1]), float(cluster(4.0)[-1]))
"""
        done = run_python(code, options=("-W", "ignore::DeprecationWarning"))
        self.assertEqual((done.stdout.split(), done.stderr), (["0", "1.0", "4.0"], ""))


if __name__ == "__main__":
    python_testing.main()
