"""padlock tune --shard: what is dealt to whom, what is merged, what survives, and the files for clusters."""

import importlib.util
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

from padlock_testing import PAD_RELU, PADLOCK, SOURCE, Case

FLEET = SOURCE / "examples/fleet"
SECOND = PAD_RELU.replace("pad_relu", "second").replace("0.5", "0.25")
LIMITS = "--max=B=64,S=16384"


class Shards(Case):
    def setUp(self):
        super().setUp()
        self.write("p.pad", PAD_RELU)
        self.write("q.pad", SECOND)

    def keys(self, *arguments):
        report = json.loads(self.succeed("tune", "p.pad", "q.pad", LIMITS, "--dry-run", "--json", *arguments))
        return [(r["program"], region["region"]) for r in report["reports"] for region in r["regions"]]

    def tune(self, shard, *arguments):
        return self.padlock("tune", "p.pad", "q.pad", LIMITS, f"--shard={shard}", "--quiet", *arguments)

    def export(self, cache):
        return self.succeed("cache", "export", f"--cache={cache}")

    def test_all_shards_together_are_everything_once(self):
        whole = self.keys()
        self.assertGreaterEqual(len(whole), 4)
        self.assertEqual(len({program for program, _ in whole}), 2)
        for count in range(1, 8):
            dealt = [key for shard in range(count) for key in self.keys(f"--shard={shard}/{count}")]
            self.assertEqual(sorted(dealt), sorted(whole), count)

    def test_merged_in_any_order_the_same_bytes(self):
        caches = ["0.db", "1.db", "2.db"]
        for shard, cache in enumerate(caches):
            done = self.tune(f"{shard}/3", "--budget=0s", f"--cache={cache}")
            self.assertEqual(done.returncode, 0, done.stderr)
        exports = set()
        for number, order in enumerate(itertools.permutations(c for c in caches if (self.folder / c).exists())):
            self.succeed("cache", "merge", *order, f"--cache=merged{number}.db")
            exports.add(self.export(f"merged{number}.db"))
        (lines,) = exports
        records = [json.loads(line) for line in lines.splitlines()]
        self.assertEqual(sum(r["kind"] == "choice" for r in records), len(self.keys()))

    def test_a_shard_that_is_killed_and_resumed_loses_nothing(self):
        process = subprocess.Popen(
            [PADLOCK, "tune", "p.pad", "q.pad", LIMITS, "--shard=0/1", "--budget=60s", "--search=full",
             "--cache=t.db", "--quiet"], cwd=self.folder,
        )
        before = ""
        for _ in range(1200):
            time.sleep(0.05)
            if (self.folder / "t.db").exists():
                before = self.export("t.db")
            if before.count('"kind":"measurement"') >= 2:
                break
        process.kill()
        process.wait()
        before = self.export("t.db")
        self.assertGreaterEqual(before.count('"kind":"measurement"'), 2)
        done = self.tune("0/1", "--budget=0s", "--search=full", "--cache=t.db", "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        after = [json.loads(line) for line in self.export("t.db").splitlines()]
        place = lambda r: tuple(json.dumps(r.get(name)) for name in ("kind", "key", "region", "config", "sizes"))
        found = {place(r): r for r in after}
        for record in map(json.loads, before.splitlines()):
            now = found[place(record)]
            if record["kind"] == "measurement":
                self.assertEqual(now["samples_ps"][: len(record["samples_ps"])], record["samples_ps"])
        self.assertEqual(sum(r["kind"] == "choice" for r in after), len(self.keys()))

    def test_what_is_no_shard_is_refused(self):
        for shard in ("3/3", "-1/3", "0/0", "1", "1/", "/2", "1/2/3", "a/b"):
            self.fail_with(2, f"--shard: expected I/N with I from 0 to N - 1, found '{shard}'",
                           "tune", "p.pad", f"--shard={shard}", "--dry-run")


class Fleet(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "programs").mkdir()
        self.write("programs/p.pad", PAD_RELU.replace("B <= 4096", "B <= 64, S <= 16384"))
        self.environment = {**os.environ, "BUDGET": "0s", "PATH": f"{pathlib.Path(PADLOCK).parent}:{os.environ['PATH']}"}

    def check_caches(self, folder):
        """All shards together have a choice for each region."""
        caches = sorted(str(path.relative_to(self.folder)) for path in (self.folder / folder).glob("*.db"))
        self.succeed("cache", "merge", *caches, "--cache=merged.db")
        (key,) = json.loads(self.succeed("cache", "show", "--cache=merged.db", "--json"))["keys"]
        plan = json.loads(self.succeed("tune", "programs/p.pad", "--dry-run", "--json"))
        self.assertEqual(sorted(c["region"] for c in key["choices"]), sorted(r["region"] for r in plan["regions"]))

    def test_slurm(self):
        script = FLEET / "slurm.sh"
        self.assertEqual(subprocess.run(["sh", "-n", script]).returncode, 0)
        self.assertIn("#SBATCH --array=0-6\n", script.read_text())
        for task in range(2):
            variables = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": "2", "PROGRAMS": "programs"}
            subprocess.run(["sh", script], cwd=self.folder, env={**self.environment, **variables}, check=True)
        self.check_caches("caches")

    def test_kubernetes(self):
        text = (FLEET / "kubernetes.yaml").read_text()
        if importlib.util.find_spec("yaml"):
            import yaml

            job = yaml.safe_load(text)
            self.assertEqual((job["kind"], job["spec"]["completionMode"]), ("Job", "Indexed"))
            (container,) = job["spec"]["template"]["spec"]["containers"]
            shards = {v["name"]: v["value"] for v in container["env"]}["SHARDS"]
            self.assertEqual((str(job["spec"]["completions"]), container["command"]), (shards, ["/bin/sh", "-euc"]))
            (command,) = container["args"]
        else:  # the block of the one argument, as a YAML parser would take it
            block = re.search(r"args:\n *- \|\n((?: {14}.*\n)+)", text).group(1)
            command = re.sub(r"^ {14}", "", block, flags=re.MULTILINE)
        for index in range(2):
            variables = {"JOB_COMPLETION_INDEX": str(index), "SHARDS": "2", "SHARED": str(self.folder)}
            subprocess.run(["/bin/sh", "-euc", command], env={**self.environment, **variables}, check=True)
        self.check_caches("caches")

    @unittest.skipUnless(importlib.util.find_spec("ray"), "Ray is not installed")
    def test_ray(self):
        command = [sys.executable, FLEET / "ray_shards.py", "2", "caches", str(self.folder / "programs/p.pad")]
        subprocess.run([*command, "--budget=0s"], cwd=self.folder, env={**self.environment, "PADLOCK": PADLOCK}, check=True)
        self.check_caches("caches")


if __name__ == "__main__":
    unittest.main()
