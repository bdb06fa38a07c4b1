"""padlock tune, and what run and explain make of the cache that it wrote."""

import json
import os
import re
import signal
import subprocess
import time
import unittest
import unittest.mock

from padlock_testing import PAD_RELU, PADLOCK, Case

SIZES = "B=32,S=300,lo=3"


class Tune(Case):
    def setUp(self):
        super().setUp()
        self.write("p.pad", PAD_RELU)

    def tune(self, *arguments, code=0):
        done = self.padlock("tune", "p.pad", "--cache=t.db", "--quiet", "--json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (code, ""), arguments)
        return json.loads(done.stdout)

    def records(self, kind):
        (key,) = json.loads(self.succeed("cache", "show", "--cache=t.db", "--json"))["keys"]
        return key[kind]

    def test_what_is_tuned_is_kept_and_used(self):
        report = self.tune(f"--opt={SIZES}", "--budget=500ms")
        (region,) = report["regions"]
        self.assertEqual(region["sizes"], {"B": 32, "S": 300, "lo": 3})
        self.assertGreater(report["trials"], 0)
        self.assertEqual(len(self.records("measurements")), region["measured"])
        (choice,) = self.records("choices")
        self.assertEqual(choice["config"], region["config"])
        self.assertGreaterEqual(region["candidates"], region["measured"])
        self.assertEqual((choice["measured"], choice["candidates"]), (region["measured"], region["candidates"]))
        counts = f"{region['measured']} of {region['candidates']} configs"
        self.assertIn(counts, region["reason"])
        self.assertIn(f"({counts} measured)", self.succeed("cache", "show", "--cache=t.db"))
        for command in (
            ("run", "p.pad", "--input=x=random", f"--bind={SIZES}"),
            ("explain", "p.pad", f"--bind={SIZES}"),
        ):
            done = json.loads(self.succeed(*command, "--cache=t.db", "--cache-mode=require", "--json"))
            self.assertEqual(done["config"], region["config"])
        self.assertIn(f"key {report['key'][:12]}: tuned for ", done["reason"])
        self.assertIn(region["region"], done["reason"])
        self.assertTrue(done["reason"].endswith(f", {counts} measured"), done["reason"])
        again = self.tune(f"--opt={SIZES}", "--budget=500ms", "--resume")
        self.assertEqual((again["trials"], again["regions"][0]["was_known"]), (0, True))
        self.assertEqual(again["regions"][0]["reason"], f"the cache has it, {counts} measured")

    def test_without_time_the_default_is_tried_alone_and_no_search_is_claimed(self):
        report = self.tune(f"--opt={SIZES}", "--budget=0s")
        (region,) = report["regions"]
        self.assertEqual((report["trials"], region["measured"]), (1, 1))
        self.assertRegex(
            region["reason"],
            "^the budget ended before another config than the default was tried: "
            f"1 of {region['candidates']} configs was measured; about [0-9]+ s are enough$",
        )
        self.assertGreater(region["candidates"], 1)

    def test_a_cache_that_cannot_be_written_ends_the_command_before_anything_is_measured(self):
        for cache in ("/dev/null/t.db", self.folder):
            done = self.padlock("tune", "p.pad", f"--opt={SIZES}", f"--cache={cache}", "--budget=60s")
            self.assertEqual(done.returncode, 8, done.stderr)
            self.assertIn("expected a cache that can be written, found one that cannot: ", done.stderr)
            self.assertNotIn("kept in", done.stdout)

    def test_an_error_names_the_option_that_was_typed_and_what_is_near(self):
        for option in ("min", "opt", "max"):
            done = self.padlock("tune", "p.pad", f"--{option}=b=64")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"--{option} names 'b', which is no symbol of the program", done.stderr)
            self.assertIn("did you mean 'B'?", done.stderr)
            done = self.padlock("tune", "p.pad", f"--{option}=B=4,B=5")
            self.assertIn(f"--{option} gives B twice", done.stderr)
            done = self.padlock("tune", "p.pad", f"--{option}=B=four")
            self.assertIn(f"expected a 64-bit integer for B in --{option}, found 'four'", done.stderr)
        done = self.padlock("tune", "p.pad", "--regime=wram")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--regime: expected auto, warm, cold or both, found 'wram'; did you mean 'warm'?", done.stderr)

    def test_a_regime_is_said_by_plan_report_cache_and_reason(self):
        for asked, regime in (("auto", "warm"), ("cold", "cold"), ("both", "both")):
            cache = f"{regime}.db"
            how = (f"--opt={SIZES}", f"--regime={asked}", f"--cache={cache}", "--json")
            (region,) = json.loads(self.succeed("tune", "p.pad", *how, "--dry-run"))["regions"]
            self.assertEqual(region["regime"], regime)
            (region,) = json.loads(self.succeed("tune", "p.pad", *how, "--quiet", "--budget=0s"))["regions"]
            self.assertEqual(region["regime"], regime)
            self.assertIn(f" ({regime}): ", self.succeed("cache", "show", f"--cache={cache}"))
            done = json.loads(self.succeed("explain", "p.pad", f"--bind={SIZES}", f"--cache={cache}", "--json"))
            self.assertIn(f" ({regime}), 1 of ", done["reason"])

    def test_sizes_that_need_more_time_than_there_is_are_said_at_once(self):
        done = self.padlock("tune", "p.pad", f"--opt={SIZES}", "--budget=10ms", "--cache=t.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("region 1 of 1 needs about 0.15 s for the default alone, and its budget is 0", done.stderr)
        self.assertIn("the default alone needs about 0.15 s here, and the budget is 0.01 s", done.stdout)

    def test_a_dry_run_lists_and_writes_nothing(self):
        dry_run = (f"--opt={SIZES}", "--dry-run", "--search=full", "--memory=64")
        report = self.tune(*dry_run)
        self.assertEqual(report["memory_bytes"], 64 << 20)
        (region,) = report["regions"]
        self.assertGreaterEqual(len(region["configs"]), 32)
        self.assertEqual(len(region["configs"]), region["configs_in_space"])
        self.assertEqual(os.listdir(self.folder), ["p.pad"])
        # Input, result and their copies, and a red zone on either side of two buffers.
        self.assertEqual(region["scratch_bytes"], 3 * 4 * 32 * (300 + 304) + 2 * (2 * 65536 + 4095 * 8))
        self.assertEqual(report, self.tune(*dry_run))

    def test_an_interruption_keeps_what_was_measured_and_resuming_does_not_repeat_it(self):
        process = subprocess.Popen(
            [PADLOCK, "tune", "p.pad", f"--opt={SIZES}", "--search=full", "--budget=60s", "--cache=t.db", "--json"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(600):
            time.sleep(0.05)
            if (self.folder / "t.db").exists() and re.search("[1-9][0-9]* measured", self.padlock("cache", "list", "--cache=t.db").stdout):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        report = json.loads(out)
        self.assertTrue(report["interrupted"])
        measured = self.records("measurements")
        self.assertGreaterEqual(len(measured), 1)
        self.assertNotIn("crash", [m["verdict"] for m in measured])
        self.assertEqual(self.records("choices"), [])
        self.tune(f"--opt={SIZES}", "--budget=0s", "--resume")
        dates = {m["config"]: m["samples_ps"] for m in self.records("measurements")}
        for m in measured:
            self.assertEqual(dates[m["config"]], m["samples_ps"])

    def test_memory_that_does_not_suffice_is_said(self):
        report = self.tune("--opt=B=4096,S=4096,lo=0", "--memory=8", "--dry-run")
        (region,) = report["regions"]
        self.assertLess(region["sizes"]["B"], 4096)
        self.assertIn("the largest found that fits", region["notes"][0])

    def test_progress_and_text(self):
        done = self.padlock("tune", "p.pad", f"--opt={SIZES}", "--budget=200ms", "--cache=t.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("  measured at B=32,S=300,lo=3, with tensors in the last cache (warm)\n", done.stdout)
        self.assertIn("seed 1", done.stdout)
        self.assertTrue(done.stdout.endswith("kept in t.db\n"))

    def test_a_miss_is_said_and_an_error_where_the_cache_is_required(self):
        explained = self.succeed("explain", "p.pad", "--cache=none.db")
        self.assertIn("the default of this target: the cache missed, no record of the program", explained)
        self.fail_with(8, "no record of the program", "explain", "p.pad", "--cache=none.db", "--cache-mode=require")
        self.fail_with(8, "unusable", "explain", "p.pad", "--cache=p.pad", "--cache-mode=require")
        self.assertIn("the default of this target\n", self.succeed("explain", "p.pad"))

    def test_exit_codes(self):
        base = ("tune", "p.pad", "--cache=t.db")
        self.fail_with(6, "admits no sizes within these limits", *base, "--min=lo=9")
        self.fail_with(2, "C", *base, "--opt=C=1")
        self.fail_with(2, "outside of what the minimum and maximum say", *base, "--opt=B=1", "--min=B=2")
        self.fail_with(2, "above its maximum", *base, "--max=B=1", "--min=B=2")
        self.fail_with(2, "--budget: expected a time like 10s", *base, "--budget=soon")
        self.fail_with(2, "expected fast, full or random", *base, "--search=slow")
        self.fail_with(2, "expected a device that is tuned, found simt", *base, "--device=simt")
        self.fail_with(2, "--cache-mode: expected off", "explain", "p.pad", "--cache=t.db", "--cache-mode=on")
        with unittest.mock.patch.dict(os.environ, PADLOCK_WORKER="/no/such"):
            # Quiet, since a slow machine may tell of its progress before.
            self.fail_with(7, "PADLOCK_WORKER=/no/such cannot be run", *base, "--quiet", f"--opt={SIZES}")

    def test_a_worker_has_none_of_the_callers_files(self):
        worker = self.folder / "worker.py"
        worker.write_text("#!/usr/bin/env python3\nimport os\nopen('files', 'w').write(' '.join(os.listdir('/proc/self/fd')))\n")
        worker.chmod(0o755)
        number = 77
        os.dup2(1, number)
        self.addCleanup(os.close, number)
        done = subprocess.run(
            [PADLOCK, "tune", "p.pad", "--cache=t.db", f"--opt={SIZES}"], cwd=self.folder, pass_fds=(number,),
            env={**os.environ, "PADLOCK_WORKER": str(worker)}, capture_output=True, text=True, timeout=60, check=False,
        )
        self.assertIn("did not start as a worker", done.stderr)
        files = (self.folder / "files").read_text(encoding="ascii").split()
        self.assertIn("0", files)
        self.assertNotIn(str(number), files)


if __name__ == "__main__":
    unittest.main()
