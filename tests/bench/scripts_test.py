"""table.py, picture.py, bars.py and host_peers.py of bench/."""

import json
import os
import pathlib
import subprocess
import sys
import unittest
import xml.etree.ElementTree

import bars
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


class Bars(unittest.TestCase):
    HOST = [{"kind": "provenance", "cpu": "Z < 80", "commit": "abc1234"}, {"kind": "row", "title": "compile", "name": "x"},
            *(ratio("memcpy", 1.0, case, result_bytes=size) for case, size in (("p", 100), ("q", 100), ("r", 9 << 20)))]
    HOST += [row(engine, 1, rate, case) for case in "pqr" for engine, rate in (("memcpy", 4.0), ("padlock", 2.0))]

    def gpu_row(self, name, rate, problem="a", dtype="f32", size=256 << 20):
        return {"kind": "gpu_row", "name": name, "gb_per_s": rate, "problem": problem, "dtype": dtype, "size": size}

    def test_a_bar_is_a_mean_over_what_everybody_could_do(self):
        lines = [*self.HOST, row("numpy", 1, 1.0, "p"), row("numpy", 1, 99.0, "r"), row("padlock", 1, 99.0, "p", dtype="f16"),
                 row("memcpy", 1, 99.0, "p"), row("padlock", 1, 99.0, "p", threads=2), row("padlock", 1, 9.0, "p", op="pad+relu")]
        panel = bars.host_panel("t", range(1000), lines)
        self.assertEqual((panel["programs"], panel["bars"]), (1, [("padlock", 0.5), ("numpy", 0.25)]))
        lines.append(row("numpy", 1, 4.0, "q"))
        self.assertEqual(bars.host_panel("t", range(1000), lines)["bars"], [("numpy", 0.5), ("padlock", 0.5)])

    def test_the_copy_of_a_gpu_is_the_drivers(self):
        lines = [self.gpu_row("memcpy", 4.0), self.gpu_row("memcpy again", 5.0), self.gpu_row("padlock", 3.0),
                 self.gpu_row("padlock", 9.0, size=1), self.gpu_row("padlock", 9.0, "b", "i8")]
        panel = bars.gpu_panel("t", ("f32",), lines, [self.gpu_row("jax copy", 9.0), self.gpu_row("jax jit", 1.0)])
        self.assertEqual((panel["programs"], panel["bars"]), (1, [("padlock", 0.75), ("jax jit", 0.25)]))

    def test_figures_without_a_common_program_are_refused(self):
        with self.assertRaises(SystemExit) as raised:
            bars.host_panel("small ones", range(1000), [*self.HOST[:4], row("padlock", 1, 1.0, "p")])
        self.assertIn("no program of 'small ones' that everybody did", str(raised.exception))

    def test_the_drawing_names_machine_commit_and_everybody(self):
        panel = bars.host_panel("small", range(1000), self.HOST)
        root = xml.etree.ElementTree.fromstring(bars.svg([("Z < 80, commit abc1234", [panel])], ["note"]))
        texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(texts, ["Z < 80, commit abc1234", "small (2 programs)", "a plain copy", "1.00", "Padlock", "0.50", "note"])
        widths = [float(e.get("width")) for e in root.iter("{http://www.w3.org/2000/svg}rect")]
        self.assertAlmostEqual(widths[1], widths[0] / 2, delta=0.1)
        self.assertIn("prefers-color-scheme:dark", root.find("{http://www.w3.org/2000/svg}style").text)

    def test_the_kept_picture_is_made_from_the_kept_results(self):
        source = pathlib.Path(bars.__file__).parent.parent
        page = (source / "docs" / "performance.md").read_text(encoding="utf-8")
        (command,) = [line for line in page.splitlines() if line.startswith("bench/bars.py ")]
        options = dict(word[2:].split("=", 1) for word in command.split()[1:])
        lines = [bars.read_lines(source / options[name]) for name in ("host", "gpu", "gpu-peers")]
        kept = (source / options["output"]).read_text(encoding="utf-8")
        self.assertEqual(bars.picture(*lines, options["gpu-peers-commit"]), kept)


class GpuPage(unittest.TestCase):
    """The tables of docs/performance-gpu.md say what the kept results do."""

    def setUp(self):
        self.source = pathlib.Path(bars.__file__).parent.parent
        results = self.source / "bench" / "results"
        self.rows = {(line["problem"], line["size"]): line
                     for line in bars.read_lines(results / "nvidia-h200-96a1d14.jsonl")
                     if line["kind"] == "gpu_row" and line["name"] == "padlock"}
        self.peers = bars.read_lines(results / "nvidia-h200-f3c3799-peers.jsonl")
        self.page = (self.source / "docs" / "performance-gpu.md").read_text(encoding="utf-8")

    def table(self, first):
        """The cells of the table whose header begins with that column, by the row's first cell."""
        lines = self.page.split(f"| {first} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
        return {cells[0]: cells[1:] for cells in ([c.strip() for c in line.strip("|").split("|")] for line in lines)}

    def ratios(self, dtype, rows, **fields):
        return [line["of_memcpy"] for line in self.rows.values() if line["dtype"] == dtype and line["rows"] == rows
                and all(line[name] == value for name, value in fields.items())]

    def test_beside_a_copy(self):
        columns = [(dtype, rows) for rows in ("aligned", "misaligned") for dtype in ("f32", "f16", "i8")]
        by_size, by_rank = self.table("input"), self.table("rank")
        self.assertEqual((len(by_size), len(by_rank)), (5, 4))
        for name, cells in by_size.items():
            size = int(name.split()[0]) * {"KiB": 1 << 10, "MiB": 1 << 20}[name.split()[1]]
            found = [f"{table.geometric_mean(self.ratios(*column, size=size)):.2f}" for column in columns]
            self.assertEqual(cells, found, name)
        for rank, cells in by_rank.items():
            found = [f"{self.ratios(*column, size=256 << 20, rank=int(rank))[0]:.2f}" for column in columns]
            self.assertEqual(cells, found, rank)
        large = [line["of_memcpy"] for (_, size), line in self.rows.items() if size >= 64 << 20]
        self.assertIn(f"reach\n{min(large):.2f} to {max(large):.2f} of a plain copy on the device, "
                      f"{table.geometric_mean(large):.2f} in the geometric mean", self.page)

    def test_of_the_flattened_output(self):
        results = bars.read_lines(self.source / "bench" / "results" / "nvidia-h200-b8e400f.jsonl")
        self.rows = {(line["problem"], line["size"]): line for line in results
                     if line["kind"] == "gpu_row" and line["name"] == "padlock"}
        by_size = self.table("size")
        self.assertEqual(len(by_size), 4)
        for name, cells in by_size.items():
            size = int(name.split()[0]) * {"KiB": 1 << 10, "MiB": 1 << 20}[name.split()[1]]
            found = [self.ratios(dtype, rows, size=size) for rows in ("aligned", "misaligned")
                     for dtype in ("f32", "f16", "i8")]
            self.assertEqual(cells, [f"{table.geometric_mean(r):.2f} ({min(r):.2f})" for r in found], name)

    def test_beside_other_libraries(self):
        for name, cells in self.table("peer").items():
            ratios = {}
            for line in self.peers:
                if line["kind"] == "gpu_row" and line["name"] == name:
                    ratio = self.rows[line["problem"], line["size"]]["gb_per_s"] / line["gb_per_s"]
                    ratios.setdefault(line["size"], []).append(ratio)
            everything = [ratio for of_size in ratios.values() for ratio in of_size]
            found = [str(len(everything)), str(sum(ratio > 1 for ratio in everything)),
                     f"{table.geometric_mean(ratios[16 << 20]):.2f}", f"{table.geometric_mean(ratios[256 << 20]):.2f}",
                     f"{min(ratios[256 << 20]):.2f}"]
            self.assertEqual(cells, found, name)


class Readme(unittest.TestCase):
    def test_its_numbers_are_those_of_the_kept_results(self):
        source = pathlib.Path(bars.__file__).parent.parent
        page = (source / "README.md").read_text(encoding="utf-8")
        host = bars.read_lines(source / "bench" / "results" / "host-amd-epyc-2cpu-dcd42ab.jsonl")
        gpu = bars.read_lines(source / "bench" / "results" / "nvidia-h200-96a1d14.jsonl")
        results = table.Results(host)
        peers = [f"{table.geometric_mean([line['ratio'] for line in results.best_peers(threads=n) if line['result_bytes'] > 4096]):.2f}"
                 for n in (1, 2)]
        stream = bars.read_lines(source / "bench" / "results" / "nvidia-h200-b8e400f.jsonl")
        large = [line["of_memcpy"] for line in stream if line["kind"] == "gpu_row" and line["name"] == "padlock" and line["size"] == 256 << 20]
        launch = {line["name"]: line["median_ns"] / 1000 for line in gpu if line["kind"] == "gpu_host"}
        (square,) = results.ratios("memcpy", case="square_8192")
        panels = [dict(bars.host_panel("", sizes, host)["bars"]) for sizes in (range(8 << 20), range(8 << 20, sys.maxsize))]
        for number in (f"same bytes | {square['ratio']:.2f} |", f"| {', '.join(peers)} |", f"| {results.time('call')['value']:.0f} ns |",
                       f"| {results.time('compile warm')['value']:.1f} ms |",
                       f"| {table.geometric_mean(large):.2f} ({min(large):.2f}, {max(large):.2f}) |",
                       f"| {launch['launch']:.2f} us, {launch['cuLaunchKernel']:.2f} us |",
                       *(f"{text} {', '.join(f'{panel[name]:.2f}' for panel in panels)}"
                         for text, name in (("torch.compile", "torch-compiled"), ("JAX", "jax"), ("| means", "padlock")))):
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
