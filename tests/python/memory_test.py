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


if __name__ == "__main__":
    python_testing.main()
