"""padlock bench: what it prints, and what it refuses. How long anything takes is not asked here."""

import json
import unittest

from padlock_testing import PAD_RELU, Case, floats, npy

SIZES = "--bind=B=4,S=10,lo=3"


class Bench(Case):
    def setUp(self):
        super().setUp()
        self.write("p.pad", PAD_RELU)

    def report(self, *arguments):
        return json.loads(self.succeed("bench", "p.pad", "--rounds=3", "--json", *arguments))

    def test_a_program_beside_a_copy_warm_and_cold(self):
        report = self.report(SIZES, "--seed=5", "--threads=1", "--config=store=plain")
        self.assertEqual((report["schema"], report["command"], report["program"]), (1, "bench", "pad_relu"))
        self.assertEqual((report["device"], report["seed"]), ("host", 5))
        self.assertIn("store=plain", report["config"])
        self.assertEqual(report["bytes"], 4 * 4 * (10 + 16))
        self.assertEqual([c["state"] for c in report["comparisons"]], ["warm", "cold"])
        for comparison in report["comparisons"]:
            copy, again, padlock = comparison["rows"]
            self.assertEqual((copy["name"], again["name"], padlock["name"]), ("copy", "copy again", "padlock"))
            self.assertEqual((copy["of_copy"], copy["of_copy_low"], copy["of_copy_high"]), (1, 1, 1))
            for row in (copy, again, padlock):
                self.assertEqual(row["rounds"], 3)
                self.assertGreater(row["median_ms"], 0)
                self.assertLessEqual(row["of_copy_low"], row["of_copy"])
                self.assertLessEqual(row["of_copy"], row["of_copy_high"])

    def test_text_and_inputs(self):
        self.write("x.npy", npy("<f4", (2, 3), floats(1, 2, 3, 4, 5, 6)))
        text = self.succeed("bench", "p.pad", "--input=x=@x.npy", "--bind=lo=-2", "--rounds=3", "--seed=9")
        self.assertTrue(text.startswith("x: f32[2, 3]\nz: f32[2, 8]\nwarm, 88 bytes\n  copy "), text)
        for expected in ("\n  copy again ", "\n  padlock ", " GB/s ", " of the copy's speed [", "\ncold, 88 bytes\n", "\nseed: 9\nconfig: "):
            self.assertIn(expected, text)
        self.assertEqual(self.succeed("bench", "p.pad", SIZES, "--rounds=3", "--quiet", "--json=r.json"), "")
        self.assertEqual(len(json.loads((self.folder / "r.json").read_text())["comparisons"]), 2)

    def test_other_devices_have_no_caches_to_miss(self):
        for device in ("reference", "simt"):
            report = self.report(SIZES, f"--device={device}")
            self.assertEqual([c["state"] for c in report["comparisons"]], ["warm"])
            self.assertEqual(report["device"], device)

    def test_what_is_refused(self):
        self.fail_with(2, "no value for B, S, lo: give --bind=B=...", "bench", "p.pad")
        self.fail_with(2, "--input names 'w'", "bench", "p.pad", SIZES, "--input=w=random")
        self.fail_with(2, "--rounds", "bench", "p.pad", SIZES, "--rounds=2")
        self.fail_with(2, "expected a device", "bench", "p.pad", SIZES, "--device=tpu")
        self.fail_with(2, "store", "bench", "p.pad", SIZES, "--config=store=sideways")
        self.fail_with(4, "lo", "bench", "p.pad", "--bind=B=4,S=10,lo=9")
        self.fail_with(4, "needs", "bench", "p.pad", "--bind=B=4096,S=1073741824,lo=0")


if __name__ == "__main__":
    unittest.main()
