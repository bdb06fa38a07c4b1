"""table.py, picture.py and host_peers.py of bench/."""

import json
import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree

import host_peers
import picture
import table


def ratio(what, value, case="p", width=0.01, small=False, **fields):
    return {"kind": "ratio", "what": what, "case": case, "of": "a", "to": "b", "engine": "padlock", "op": "pad",
            "dtype": "f32", "threads": 1, "ratio": value, "ratio_low": value - width, "ratio_high": value + width,
            "result_bytes": 100 if small else 10000, **fields}


def row(engine, size, rate, case="square_4", **fields):
    return {"kind": "row", "state": "warm, beside peers", "engine": engine, "op": "" if engine == "memcpy" else "pad",
            "dtype": "" if engine == "memcpy" else "f32", "threads": 1, "bytes": size, "gb_per_s": rate, "case": case, **fields}


def found(lines, name):
    rows = [r for r in table.requirements(table.Results(lines)) if r["name"] == name]
    assert len(rows) == 1, (name, len(rows))
    return rows[0]


class Table(unittest.TestCase):
    def test_the_rule(self):
        self.assertTrue(table.is_met(1.0, 1.0, 1.0))
        self.assertTrue(table.is_met(0.98, 1.0, 1.0))
        self.assertFalse(table.is_met(0.97, 1.1, 1.0))  # the interval reaches it, the median is too far
        self.assertFalse(table.is_met(0.99, 0.995, 1.0))  # the median is near, the interval does not reach it

    def test_a_size(self):
        name = "square_1024 against memcpy"
        lines = [ratio("memcpy", 0.9, "square_1024"), ratio("memcpy", 0.1, "square_256")]
        self.assertTrue(found(lines, name)["met"])
        lines[0]["ratio"] = lines[0]["ratio_high"] = 0.8
        self.assertFalse(found(lines, name)["met"])
        self.assertIsNone(found([], name)["found"])

    def test_a_median_over_the_programs(self):
        lines = [ratio("relu", v, f"p{i}") for i, v in enumerate([1.0, 1.0, 0.99, 0.5, 1.02])]
        lines.append(ratio("relu", 0.3, "tiny", small=True))
        result = found(lines, "pad+relu against pad")
        self.assertEqual((result["found"], result["of"], result["met"]), (1.0, 5, True))
        self.assertEqual(result["below"], [(0.5, "p3")])
        apart = found(lines, "pad+relu against pad, results up to 4 KiB")
        self.assertEqual((apart["found"], apart["of"], apart["met"]), (0.3, 1, False))

    def test_the_best_peer_counts(self):
        lines = [ratio("peer", 3.0, engine="numpy"), ratio("peer", 0.9, engine="torch"),
                 ratio("peer", 5.0, "q", engine="numpy"), ratio("peer", 0.1, "q", engine="jax", threads=2)]
        each = found(lines, "each program against the best peer, 1 thread(s)")
        self.assertEqual((each["found"], each["of"], each["met"]), (0.9, 2, False))
        self.assertEqual(each["below"], [(0.9, "p pad f32 t1 torch")])
        mean = found(lines, "geometric mean against the best peer, 1 thread(s)")
        self.assertAlmostEqual(mean["found"], (0.9 * 5.0) ** 0.5)
        self.assertTrue(mean["met"])
        self.assertEqual(found(lines, "each program against the best peer, 2 thread(s)")["found"], 0.1)

    def test_times_are_asked_to_be_small(self):
        line = {"kind": "time", "what": "call", "unit": "ns", "value": 100.0, "value_low": 90.0, "value_high": 110.0}
        self.assertTrue(found([line], "a call of 16x16: 100.0 of 150 ns")["met"])
        line.update(value=300.0, value_low=290.0)
        self.assertFalse(found([line], "a call of 16x16: 300.0 of 150 ns")["met"])

    def test_the_text_names_all_rows_and_what_was_not_measured(self):
        lines = [ratio("relu", 1.0), {"kind": "peer", "name": "jax", "threads": 1, "found": 0, "version": "no jax"}]
        rows = table.requirements(table.Results(lines))
        text = table.text_of(rows)
        self.assertEqual(text.count("not measured"), len(rows) - 1)
        lines += [{"kind": "not measured", "engine": "numpy", "dtype": "bf16", "case": case, "reason": "no type"} for case in "ppq"]
        page = table.markdown_of(rows).splitlines()
        self.assertEqual(len(page), len(rows) + 2)
        self.assertIn("| pad+relu against pad | 0.97 | 1.00 | 1.00 to 1.00 | yes |", page)
        peers = table.peers_text(table.Results(lines))
        self.assertIn("jax: not found: no jax", peers)
        self.assertIn("numpy cannot do 2 programs of bf16: no type", peers)


    def test_noise(self):
        lines = [{"kind": "row", "name": "memcpy again", "ratio": 1 + off} for off in (0.01, -0.02, 0.5)]
        text = table.noise_text(table.Results([*lines, ratio("cold memcpy", 0.8), ratio("cold memcpy", 1.0)]))
        self.assertIn("off by 2.0 % (median of 3 comparisons), by up to 2.0 % in 95 %", text)
        self.assertIn("one thread against memcpy, cold: median 0.90, from 0.80 to 1.00", text)
        self.assertEqual(table.noise_text(table.Results([])), "no comparisons")


class Picture(unittest.TestCase):
    def test_every_engine_has_a_line_and_every_other_program_a_dot(self):
        lines = [row("padlock", 2 ** k, 3.0 + k) for k in (10, 20, 28)]
        lines += [row("memcpy", 2 ** k, 5.0) for k in (10, 20)] + [row("new-peer", 2 ** 10, 0.4)]
        lines += [row("padlock", 5000, 2.0, "stem"), row("padlock", 2 ** 10, 99.0, threads=2)]
        engines, dots = picture.points_of(lines)
        self.assertEqual(engines["padlock"], [(2 ** 10, 13.0), (2 ** 20, 23.0), (2 ** 28, 31.0)])
        self.assertEqual(dots, [(5000, 2.0)])
        root = xml.etree.ElementTree.fromstring(picture.svg(lines, "a < b"))
        texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
        for expected in ("a < b", "padlock", "memcpy", "new-peer", "1 KiB", "GB/s"):
            self.assertIn(expected, texts)
        self.assertEqual(len(list(root.iter("{http://www.w3.org/2000/svg}circle"))), 1)

    def test_figures_without_peers_are_refused(self):
        with self.assertRaises(SystemExit) as raised:
            picture.svg([], "t")
        self.assertIn("no figures", str(raised.exception))


class Peers(unittest.TestCase):
    FIELDS = {"id": "1", "dtype": "f32", "extents": "5,4", "low": "-1,2", "high": "3,-2", "mode": "constant", "value": "-inf",
              "relu": "1", "input": "i", "output": "o"}

    def test_a_program_is_read(self):
        problem = host_peers.Problem(self.FIELDS)
        self.assertEqual((problem.result, problem.is_crop, problem.relu), ([7, 4], True, True))
        self.assertEqual(problem.value, float("-inf"))
        with self.assertRaises(host_peers.Cannot):
            host_peers.Problem(dict(self.FIELDS, mode="wrap")).require_pads()

    def test_the_server_answers_each_line_and_survives_what_a_library_does(self):
        class Library:
            def prepare(self, problem):
                if problem.mode == "wrap":
                    raise ValueError("two\nlines")
                return lambda: calls.append(problem)

            def write(self, result, path):
                written.append(path)

        calls, written, said = [], [], []
        words = " ".join(f"{k}={v}" for k, v in self.FIELDS.items())
        host_peers.Server(Library(), said.append).serve(
            [f"prepare {words}", "time id=1 calls=3", "time id=9 calls=3", f"prepare {words.replace('constant', 'wrap')}",
             "forget", "time id=1 calls=1"])
        self.assertEqual((len(calls), written), (4, ["o"]))
        self.assertEqual((said[0], said[2], said[3], said[4], said[5]),
                         ("ready", "KeyError: '9'", "ValueError: two lines", "forgotten", "KeyError: '1'"))
        self.assertRegex(said[1], r"^ms \d")

    def test_what_is_not_installed_is_said(self):
        script = host_peers.__file__
        for name in host_peers.PEERS:
            # -S: without the packages of this machine.
            environment = dict(os.environ, MALLOC_MMAP_MAX_="0")
            done = subprocess.run([sys.executable, "-S", script, f"--peer={name}"], input="", capture_output=True, text=True,
                                  timeout=60, check=False, env=environment)
            self.assertRegex(done.stdout, r"^\w+ is not installed \(.*\)\n$", name)


if __name__ == "__main__":
    unittest.main()
