"""table.py, picture.py, bars.py, keep.py, gpu_tables.py and host_peers.py of bench/, and the results that are kept."""

import json
import math
import os
import pathlib
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree

import bars
import gpu_tables
import host_peers
import keep
import picture
import summary
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


class Bars(unittest.TestCase):
    def test_a_bar_is_a_mean_over_what_everybody_could_do(self):
        rates = {"p": {"copy": 4.0, "padlock": 2.0, "numpy": 1.0}, "q": {"copy": 4.0, "padlock": 9.0}}
        panel = bars.panel_of("t", rates, "copy")
        self.assertEqual((panel["programs"], panel["bars"]), (1, [("padlock", 0.5), ("numpy", 0.25)]))
        rates["q"]["numpy"] = 16.0
        self.assertEqual(bars.panel_of("t", rates, "copy")["bars"], [("padlock", math.sqrt(0.5 * 2.25)), ("numpy", 1.0)])

    def test_figures_without_a_common_program_are_refused(self):
        with self.assertRaises(SystemExit) as raised:
            bars.panel_of("small ones", {"p": {"copy": 1.0}, "q": {"padlock": 1.0}}, "copy")
        self.assertIn("no program of 'small ones' that everybody did", str(raised.exception))

    def test_the_drawing_names_machine_commit_and_everybody(self):
        panel = bars.panel_of("small", {name: {"copy": 4.0, "padlock": 2.0} for name in "pq"}, "copy")
        root = xml.etree.ElementTree.fromstring(bars.svg([("Z < 80, commit abc1234", [panel])], ["note"]))
        texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(texts, ["Z < 80, commit abc1234", "small (2 programs)", "a plain copy", "1.00", "Padlock", "0.50", "note"])
        widths = [float(e.get("width")) for e in root.iter("{http://www.w3.org/2000/svg}rect")]
        self.assertAlmostEqual(widths[1], widths[0] / 2, delta=0.1)
        self.assertIn("prefers-color-scheme:dark", root.find("{http://www.w3.org/2000/svg}style").text)

    def test_the_kept_pictures_are_made_from_the_kept_results(self):
        source = pathlib.Path(bars.__file__).parent.parent
        page = (source / "docs" / "performance-method.md").read_text(encoding="utf-8")
        commands = [line for line in page.splitlines() if line.startswith("bench/bars.py ")]
        self.assertEqual(len(commands), 3)
        for command in commands:
            options = [word[2:].split("=", 1) for word in command.split()[1:]]
            runs = [bars.read_lines(source / file) for name, file in options if name == "families"]
            kept = (source / dict(options)["output"]).read_text(encoding="utf-8")
            self.assertEqual(bars.families_picture(runs), kept, command)


class CpuPage(unittest.TestCase):
    def test_the_table_of_families_is_made_from_the_kept_results(self):
        source = pathlib.Path(bars.__file__).parent.parent
        page = (source / "docs" / "performance.md").read_text(encoding="utf-8")
        (file,) = re.findall(r"\| families \|.*\]\(\.\./(bench/results/[^)]+)\)", page)
        tables = {"families": gpu_tables.families(bars.read_lines(source / file))}
        self.assertEqual(gpu_tables.with_tables(page, tables), page)


class GpuPage(unittest.TestCase):
    def test_the_tables_are_made_from_the_kept_results(self):
        source = pathlib.Path(bars.__file__).parent.parent
        page = (source / "docs" / "performance-gpu.md").read_text(encoding="utf-8")
        (command,) = [line for line in page.splitlines() if line.startswith("bench/gpu_tables.py ")]
        options = dict(word[2:].split("=", 1) for word in command.split()[1:])
        lines = [bars.read_lines(source / options[name]) for name in ("results", "peers")]
        tables = gpu_tables.Results(*lines).tables()
        tables["families"] = gpu_tables.families(bars.read_lines(source / options["families"]))
        self.assertEqual(gpu_tables.with_tables(page, tables), page)
        # No cell is empty that figures could have been for, and every result was right.
        self.assertEqual([line for line in lines[0] if line["kind"] == "gpu_failure"], [])
        self.assertEqual(len(gpu_tables.Results(*lines).beside_peers()), 8)

    def row(self, name, problem, us, **fields):
        return {"kind": "gpu_row", "name": name, "problem": problem, "size": 1 << 20, "median_us": us, "of_copy": 2 / us, **fields}

    def test_a_ratio_is_to_the_better_copy_and_the_best_peer(self):
        kind = {"dtype": "f32", "rows": "aligned", "rank": 2}
        ours = [self.row("padlock", "pad_rank2_a", 2.0, **kind), self.row("padlock", "pad_rank3_a", 4.0, **kind),
                self.row("memcpy", "pad_rank2_a", 9.0, **kind)]
        results = gpu_tables.Results(ours, [self.row("x", "pad_rank2_a", 3.0), self.row("y", "pad_rank2_a", 1.0),
                                        self.row("x copy", "pad_rank2_a", 0.1), self.row("x", "pad_rank3_a", 8.0)])
        self.assertEqual(results.by_size("rank"), [["1 MiB", "0.71 (0.50)", "-", "-", "-", "-", "-"]])
        self.assertEqual(results.beside_peers(), [
            ["x", "2", "2", "1.73", "1.50", "`pad_rank2_a`, 1 MiB"], ["y", "1", "0", "0.50", "0.50", "`pad_rank2_a`, 1 MiB"],
            ["the best of them", "2", "1", "1.00", "0.50", "`pad_rank2_a`, 1 MiB"]])

    def test_a_page_without_a_mark_is_refused(self):
        with self.assertRaises(SystemExit) as raised:
            gpu_tables.with_tables("text", {"by size": "| a |"})
        self.assertIn("expected one line '<!-- table: by size -->' in the page, found 0", str(raised.exception))
        self.assertEqual(gpu_tables.with_tables("a\n<!-- table: t -->\nold\nold\n\nb", {"t": "| n |"}),
                         "a\n<!-- table: t -->\n| n |\n\nb")


class Kept(unittest.TestCase):
    LINES = [{"schema": 2, "kind": "provenance", "cpu": "Z"}, ratio("memcpy", 0.12345678), ratio("peer", 2.0, engine="numpy"),
             row("padlock", 100, 2.0, name="beside peers"), row("padlock", 100, 3.0, name="n", threads=2), row("padlock", 100, 4.0, name="n", state="warm"),
             row("padlock", 100, 5.0, name="n", dtype="f16"), row("padlock", 100, 6.0, name="n", op="pad+relu"),
             {"kind": "row", "name": "memcpy again", "ratio": 1.01, "title": "t", "state": "warm"},
             {"kind": "row", "title": "a call", "name": "padlock", "median_ms": 1.5, "ratio": 1, "rounds": 3},
             {"kind": "gpu_row", "name": "memcpy", "problem": "p", "size": 1, "gb_per_s": 2.0, "of_copy": 1, "rounds": 4},
             {"kind": "gpu_row", "name": "memcpy again", "problem": "p", "size": 1, "gb_per_s": 2.0}]

    def kept(self, lines):
        return list(table.expanded(json.loads(line) for line in keep.text_of(lines).splitlines()))

    def test_lines_keep_what_scripts_read(self):
        kept = self.kept(self.LINES)
        self.assertEqual([(line["kind"], line.get("name")) for line in kept],
                         [("provenance", None), ("row", "beside peers"), ("row", "memcpy again"), ("row", "padlock"), ("ratio", None),
                          ("ratio", None), ("gpu_row", "memcpy")])
        self.assertEqual(kept[0], self.LINES[0])
        self.assertEqual(kept[1], self.LINES[3])
        self.assertEqual(kept[2], {"kind": "row", "name": "memcpy again", "ratio": 1.01})
        self.assertEqual((kept[4]["ratio"], kept[4]["what"], "to" in kept[4]), (0.123457, "memcpy", False))
        self.assertEqual(table.noise_text(table.Results(kept)), table.noise_text(table.Results(self.LINES)))
        self.assertEqual(picture.points_of(kept), picture.points_of(self.LINES))

    def test_what_is_kept_stays_as_it_is(self):
        self.assertEqual(keep.text_of(self.kept(self.LINES)), keep.text_of(self.LINES))

    def test_results_are_named_by_a_page_or_a_test_are_there_and_have_two_megabytes_at_most(self):
        source = pathlib.Path(keep.__file__).parent.parent
        results = list((source / "bench" / "results").iterdir())
        tracked = subprocess.run(["git", "ls-files", "bench/results"], cwd=source, capture_output=True, text=True, check=False)
        if tracked.stdout:  # what a run has just left there is nobody's yet
            results = [file for file in results if f"bench/results/{file.name}" in tracked.stdout.splitlines()]
        pages = [source / "README.md", source / "CONTRIBUTING.md", *(source / "docs").glob("*.md"), *source.glob("bench/**/*.md"),
                 *source.glob("bench/**/*.py"), pathlib.Path(__file__)]
        text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
        self.assertEqual([file.name for file in results if file.name not in text and file.name != "README.md"], [])
        named = set(re.findall(r"bench/results/([\w.-]+\.(?:jsonl|txt|svg))", text))
        self.assertGreater(len(named), 20)
        self.assertEqual(named - {file.name for file in results}, set())
        self.assertLessEqual(sum(file.stat().st_size for file in results), 2_000_000)


class Pages(unittest.TestCase):
    RESULTS = pathlib.Path(bars.__file__).parent / "results"

    def page(self, name):
        return (self.RESULTS.parent.parent / name).read_text(encoding="utf-8")

    def test_the_readme_has_the_numbers_of_the_kept_results(self):
        page = self.page("README.md")
        (file,) = re.findall(r"bench/results/([\w.-]+-letterbox\.jsonl)", page)
        ms = {line["call"]: line["median_ms"] for line in bars.read_lines(self.RESULTS / file) if line.get("batch") == 8}
        for number in (f"Eight images take {ms['padlock, NumPy']:.2f} ms", f"{ms['torch static']:.1f} ms with static sizes",
                       f"{ms['torch dynamic']:.1f} with dynamic ones", f"PyTorch eager {ms['torch eager']:.1f}, NumPy {ms['numpy']:.1f}"):
            self.assertIn(number, page)
        (cpu,) = re.findall(r"\| families \|.*/(host-[\w.-]+)\)", self.page("docs/performance.md"))
        for machine, digits, text in ((cpu, 1, "its speed on a CPU"), ("nvidia-h200-3c9288c9-zoo.jsonl", 2, "on an H200")):
            ratios = summary.grouped([line for line in bars.read_lines(self.RESULTS / machine) if line["kind"] == "zoo_row"], lambda row: "all")
            means = [table.geometric_mean([ratio for ratio, _ in ratios["all", name]]) for name in ("torch static", "torch dynamic")]
            self.assertIn(f"{means[0]:.{digits}f}, {means[1]:.{digits}f} times {text}", page)

    def test_the_page_has_the_numbers_of_the_kept_results(self):
        page = self.page("docs/performance.md")
        results = table.Results(bars.read_lines(self.RESULTS / "host-amd-epyc-2cpu-dcd42ab.jsonl"))
        peers = [f"{table.geometric_mean([line['ratio'] for line in results.best_peers(threads=n) if line['result_bytes'] > 4096]):.2f}"
                 for n in (1, 2)]
        (square,) = results.ratios("memcpy", case="square_8192")
        for number in (f"against memcpy | 1.2 | {square['ratio']:.2f} |", f"| {', '.join(peers)} |", f"| {results.time('call')['value']:.0f} ns |",
                       f"| {results.time('compile warm')['value']:.1f} ms;"):
            self.assertIn(number, page)


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
