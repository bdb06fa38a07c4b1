"""bench/zoo: the table of problems, processes that die, and the summary. What needs PyTorch: tests/python/zoo_test.py."""

import contextlib
import io
import json
import pathlib
import tempfile
import textwrap
import unittest

import bars
import gpu_tables
import problems
import summary
import survivor


def row(name, us, family="images", dtype="f32", **fields):
    return {"kind": "zoo_row", "family": family, "name": name, "dtype": dtype, "us": us, "bytes": 1 << 20, **fields}


class Table(unittest.TestCase):
    def test_each_problem_has_its_own_title_and_fits_a_device(self):
        for device, most in (("gpu", 1 << 29), ("host", 1 << 25)):
            found = problems.all_problems(device)
            self.assertGreater(len(found), 140)
            self.assertEqual(len({problem.title for problem in found}), len(found))
            self.assertEqual(len({problem.text.split("(")[0] for problem in found}), len(found))
            self.assertEqual([problem.title for problem in found if problem.bytes > most], [])

    def test_smaller_types_have_as_many_bytes(self):
        found = {p.dtype: p for p in problems.all_problems("gpu", ["images"]) if p.name == "7x7 pad 1"}
        self.assertEqual({found[dtype].bytes for dtype in ("f32", "f16", "i8")}, {500000 * 4 * (49 + 81)})
        self.assertEqual(found["i8"].program.inputs, [((4000, 500, 7, 7), "i8")])
        self.assertEqual(found["f32"].program.dims, {"l2": 1, "l3": 1, "h2": 1, "h3": 1})

    def test_families_are_chosen_and_unknown_ones_refused(self):
        self.assertEqual({p.family for p in problems.all_problems("host", ["rows", "crops"])}, {"rows", "crops"})
        with self.assertRaises(SystemExit) as raised:
            problems.all_problems("host", ["rows", "cows"])
        self.assertRegex(str(raised.exception), "expected families of activations, .*, found cows")

    def test_a_line_of_another_form_is_refused(self):
        with self.assertRaises(ValueError) as raised:
            list(problems.problems_of("rows ; a ; pad relu ; f32 ; B=1 S=1", "host"))
        self.assertIn("expected six fields apart by ';', found 5: rows", str(raised.exception))


#: A child whose peers die, hang or answer, as a problem's number says.
CHILD = """
import argparse, os, sys, time
sys.path.insert(0, {zoo!r})
import survivor
parser = argparse.ArgumentParser()
parser.add_argument("--child", action="store_true")
for name in ("--first", "--without"):
    parser.add_argument(name, default="")
given = parser.parse_args()
emit = survivor.emitter()
print("what a library prints is no line")
for index in range(int(given.first), 4):
    done = []
    for who in ("padlock", "dies", "hangs"):
        if who in given.without.split(",") and index == int(given.first):
            continue
        emit("zoo_step", index=index, who=who)
        if who == "dies" and index == 1:
            os._exit(7)
        if who == "hangs" and index == 2:
            time.sleep(60)
        if who == "padlock" and index == 3:
            os.abort()
        done.append(who)
    emit("zoo_row", index=index, done=done)
"""


class Survivor(unittest.TestCase):
    def run_all(self, seconds, step_seconds):
        found = []
        with tempfile.TemporaryDirectory(prefix="padlock_test_") as folder:
            script = pathlib.Path(folder) / "child.py"
            script.write_text(textwrap.dedent(CHILD.format(zoo=str(pathlib.Path(survivor.__file__).parent))), encoding="utf-8")
            ended = survivor.run(str(script), [], 4, seconds, step_seconds, found.append)
        return ended, found

    def test_who_ends_the_process_or_hangs_is_left_out_of_that_problem_alone(self):
        ended, found = self.run_all(60, 2)
        rows = {line["index"]: line["done"] for line in found if line["kind"] == "zoo_row"}
        self.assertEqual(rows, {0: ["padlock", "dies", "hangs"], 1: ["padlock", "hangs"], 2: ["padlock", "dies"]})
        skipped = [(line["index"], line["who"], line["reason"]) for line in found if line["kind"] == "zoo_skipped"]
        self.assertEqual(skipped, [(1, "dies", "its process ended with status 7"), (2, "hangs", "took more than 2 s"),
                                   (3, "padlock", "its process ended with status -6")])
        self.assertEqual(ended, 3)

    def test_the_time_of_a_run_is_limited(self):
        ended, found = self.run_all(2, 60)
        self.assertEqual(found[-1]["reason"], "the run's time is over")
        self.assertEqual([line["index"] for line in found if line["kind"] == "zoo_row"], [0, 1])
        self.assertEqual(ended, 1)


class Summary(unittest.TestCase):
    ROWS = [row("a", {"memcpy": 3.0, "copy kernel": 2.0, "padlock": 2.0, "torch static": 1.0, "torch dynamic": 4.0}, first_ms=151),
            row("b", {"memcpy": 1.0, "padlock": 1.0, "torch static": 4.0}, first_ms=20),
            row("c", {"memcpy": 1.0, "padlock": 2.0, "padlock new": 9.0, "torch static": 1.99}, family="rows", dtype="i8")]

    def test_ratios_are_to_the_better_copy_and_the_best_peer(self):
        self.assertEqual(summary.speeds(self.ROWS[0]), {"copy": 1.0, "torch static": 0.5, "torch dynamic": 2.0, "the best of them": 0.5})
        head, lines = summary.table_of(self.ROWS)
        self.assertEqual(head, ["family", "copy", "torch static", "torch dynamic", "the best of them"])
        self.assertEqual(lines[0], ["images", "1.00 (1.00; 2/2)", "1.41 (0.50; 1/2)", "2.00 (2.00; 1/1)", "0.50 (0.50; 0/1)"])
        self.assertEqual(lines[1][1:3], ["0.50 (0.50; 0/1)", "0.99 (0.99; 1/1)"])
        self.assertEqual(lines[2][0], "all")

    def test_the_text_names_first_calls_what_is_behind_and_what_went_wrong(self):
        lines = [*self.ROWS, {"kind": "zoo_wrong", "title": "rows, d, f16", "reason": "3 elements"},
                 {"kind": "zoo_skipped", "index": 7, "who": "jax", "reason": "Cannot: no gradients"},
                 {"kind": "zoo_skipped", "index": 8, "who": "jax", "reason": "ValueError: no"}]
        text = summary.text_of(lines)
        self.assertIn("first call: median 151 ms, most 151 ms, above 150 ms: 1 of 2", text)
        self.assertIn("   0.50  images, a, f32", text)
        self.assertIn("3 problems, 1 wrong, 1 skipped\n  WRONG rows, d, f16: 3 elements\n  skipped 8, jax: ValueError: no", text)
        self.assertIn("| --- | --- |", summary.text_of(lines, as_markdown=True))
        self.assertEqual(summary.text_of(lines[3:]), "no problem was timed, 1 wrong, 1 skipped")

    def test_the_page_and_the_picture_take_such_a_run(self):
        self.assertIn("| rows | 0.50 (0.50; 0/1) | 0.99 (0.99; 1/1) | - | - |", gpu_tables.families(self.ROWS))
        panel = bars.families_panel("t", ("f32",), self.ROWS)
        self.assertEqual((panel["programs"], panel["bars"]), (1, [("torch static", 2.0), ("padlock", 1.0), ("torch dynamic", 0.5)]))
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            bars.families_panel("t", ("f64",), self.ROWS)
        run = [{"kind": "zoo_provenance", "gpu": "a GPU", "commit": "abc1234"},
               *(row("a", {"memcpy": 1.0, "padlock": 1.0, "torch static": 2.0, "torch dynamic": 2.0}, dtype=t) for t in ("f32", "f16", "u8"))]
        drawing = bars.families_picture([json.loads(json.dumps(run))])
        for expected in ("a GPU, commit abc1234", "torch.compile, static", "torch.compile, dynamic", "bytes (1 program)"):
            self.assertIn(expected, drawing)


if __name__ == "__main__":
    unittest.main()
