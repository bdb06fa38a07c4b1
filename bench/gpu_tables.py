#!/usr/bin/env python3
"""Writes the tables of docs/performance-gpu.md from kept results: JSON lines of padlock_bench_gpu, and of peers.py on the
same machine. Each stands below a comment with its name, up to the next empty line.

usage: bench/gpu_tables.py --results=FILE --peers=FILE --page=FILE [--families=FILE]
"""

import argparse
import pathlib
import sys

from table import geometric_mean, read_lines

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "zoo"))

import summary  # noqa: E402

LARGE = 256 << 20
KINDS = [(dtype, rows) for rows in ("aligned", "misaligned") for dtype in ("f32", "f16", "i8")]
HEADS = [f"{dtype} {rows}" for dtype, rows in KINDS]


def mean_and_least(values):
    return f"{geometric_mean(values):.2f} ({min(values):.2f})" if values else "-"


def size_text(size):
    return f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"


def markdown(head, rows):
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *rows])


class Results:
    """Padlock's rows, by program and size; `shape` is what a program pads: rank4, rows1000, matrix."""

    def __init__(self, lines, peers=()):
        self.lines, self.peers = lines, {}
        self.rows = {(line["problem"], line["size"]): line for line in lines
                     if line["kind"] == "gpu_row" and line["name"] == "padlock"}
        for line in peers:
            if line["kind"] == "gpu_row" and not line["name"].endswith(" copy"):
                self.peers.setdefault((line["problem"], line["size"]), {})[line["name"]] = line["median_us"]

    def chosen(self, **fields):
        return [line for line in self.rows.values() if all(line[name] == value for name, value in fields.items())]

    def shaped(self, shape, **fields):
        return [line for line in self.chosen(**fields)
                if f"_{shape}_" in line["problem"] or (shape == "rank" and "_rank" in line["problem"])]

    def of_copy(self, shape, dtype, rows, **fields):
        return [line["of_copy"] for line in self.shaped(shape, dtype=dtype, rows=rows, **fields)]

    def by_size(self, shape):
        sizes = sorted({line["size"] for line in self.shaped(shape)})
        return [[size_text(size), *(mean_and_least(self.of_copy(shape, *kind, size=size)) for kind in KINDS)]
                for size in sizes]

    def by_length(self):
        lengths = sorted({int(line["problem"].rsplit("_rows", 1)[1].split("_")[0])
                          for line in self.rows.values() if "_rows" in line["problem"]})
        cells = lambda length: [self.of_copy(f"rows{length}", *kind, size=LARGE, relu=True) for kind in KINDS]
        return [[str(length), *(f"{found[0]:.2f}" if found else "-" for found in cells(length))] for length in lengths]

    def by_rank(self):
        return [[str(rank), *(f"{self.of_copy('rank', *kind, size=LARGE, rank=rank)[0]:.2f}" for kind in KINDS)]
                for rank in (2, 3, 4, 5)]

    def variants(self):
        """Time of a variant over that of the plain pad of the same rows."""
        rows = []
        plain = {line["dtype"]: line for line in self.shaped("rows1000", size=LARGE, rows="misaligned")
                 if not line["relu"] and line["mode"] == "constant" and not line["literal"]}
        for name, fields in [("and relu", {"relu": True}), ("literal extents", {"literal": True}),
                             *((mode, {"mode": mode}) for mode in ("edge", "reflect", "symmetric", "wrap"))]:
            fields = {"relu": False, "literal": False, "mode": "constant", **fields}
            found = {line["dtype"]: line for line in self.shaped("rows1000", size=LARGE, rows="misaligned", **fields)}
            rows.append([name, *(f"{found[dtype]['median_us'] / plain[dtype]['median_us']:.3f}"
                                 for dtype in ("f32", "f16", "i8"))])
        return rows

    def ratios(self, peer):
        """Time of a peer, None: the best of a problem's, over Padlock's; by problem and size."""
        found = {}
        for key, times in self.peers.items():
            wanted = [ms for name, ms in times.items() if peer in (None, name)]
            if wanted and key in self.rows:
                found[key] = min(wanted) / self.rows[key]["median_us"]
        return found

    def beside_peers(self):
        rows = []
        for peer in [*sorted({name for times in self.peers.values() for name in times}), None]:
            found = self.ratios(peer)
            if not found:
                continue
            (problem, size), least = min(found.items(), key=lambda item: item[1])
            rows.append([peer or "the best of them", str(len(found)), str(sum(ratio >= 1 for ratio in found.values())),
                         f"{geometric_mean(found.values()):.2f}", f"{least:.2f}", f"`{problem}`, {size_text(size)}"])
        return rows

    def host(self):
        return [[line["name"], f"{line['median_ns'] / 1000:.2f} us"] for line in self.lines
                if line["kind"] == "gpu_host" and not line["name"].endswith("again")]

    def tables(self):
        """By name."""
        return {
            "by size": markdown(["input", *HEADS], self.by_size("rank")),
            "by rank": markdown(["rank", *HEADS], self.by_rank()),
            "by length": markdown(["columns", *HEADS], self.by_length()),
            "transposes": markdown(["matrix", *HEADS], self.by_size("matrix")),
            "variants": markdown(["beside pad alone", "f32", "f16", "i8"], self.variants()),
            "peers": markdown(["peer", "problems", "Padlock is faster in", "mean", "least", "which"], self.beside_peers()),
            "host": markdown(["what a call costs the host", "time"], self.host()),
        }


def families(lines):
    """By family Padlock's speed over the better copy's and over each peer's: mean (least; level or ahead of how many)."""
    return markdown(*summary.table_of([line for line in lines if line["kind"] == "zoo_row"]))


def with_tables(page, tables):
    for name, text in tables.items():
        mark = f"<!-- table: {name} -->\n"
        if page.count(mark) != 1:
            raise SystemExit(f"gpu_tables.py: error: expected one line '{mark.strip()}' in the page, found {page.count(mark)}")
        before, after = page.split(mark)
        page = before + mark + text + "\n\n" + after.split("\n\n", 1)[1]
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("results", "peers", "page"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--families", help="a run of bench/gpu/zoo.py, for the table of that name")
    arguments = parser.parse_args()
    with open(arguments.page, encoding="utf-8") as file:
        page = file.read()
    results = Results(read_lines(arguments.results), read_lines(arguments.peers))
    tables = results.tables()
    if arguments.families:
        tables["families"] = families(read_lines(arguments.families))
    with open(arguments.page, "w", encoding="utf-8") as file:
        file.write(with_tables(page, tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
