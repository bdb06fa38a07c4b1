#!/usr/bin/env python3
"""Prints what is asked of Padlock's speed on a CPU beside what a run of padlock_bench_host found, from its JSON lines.

A requirement is met when the upper end of its ratio's interval reaches the figure and the ratio itself is within 2 % of
it. One that names no size is the median over the programs (the geometric mean where that is asked for), with an interval
from bootstrapping over them; programs below 0.9 of the figure are listed, and results of up to 4 KiB are judged apart.

usage: table.py RESULTS.jsonl [--append] [--markdown]
"""

import argparse
import json
import math
import random
import statistics
import sys

WITHIN = 0.98
LISTED_BELOW = 0.9
SMALL_BYTES = 4096
MODES = ("reflect", "symmetric", "edge", "wrap")


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def copy_us(row):
    """Of a run of the families: the time of the better copy."""
    return min(row["us"][name] for name in ("memcpy", "copy kernel") if name in row["us"])


def bootstrap(statistic, values, resamples=2000):
    """(value, low, high): a 95 % interval of the statistic over the values. The same values give the same interval."""
    draw = random.Random(1)
    found = sorted(statistic(draw.choices(values, k=len(values))) for _ in range(resamples))
    return statistic(values), found[int(0.025 * (resamples - 1))], found[int(0.975 * (resamples - 1))]


def is_met(found, high, asked):
    return high >= asked and found >= WITHIN * asked


class Results:
    """The lines of one run."""

    def __init__(self, lines):
        self.lines = lines
        self.provenance = next((line for line in lines if line["kind"] == "provenance"), {})

    def ratios(self, what, **fields):
        return [line for line in self.lines if line["kind"] == "ratio" and line["what"] == what
                and all(line[name] == value for name, value in fields.items())]

    def time(self, what):
        return next((line for line in self.lines if line["kind"] == "time" and line["what"] == what), None)

    def best_peers(self, what="peer", **fields):
        """For each program, operation, type and number of threads the ratio to the peer that was fastest."""
        best = {}
        for line in self.ratios(what, **fields):
            key = tuple(line[name] for name in ("case", "op", "dtype", "threads"))
            if key not in best or line["ratio"] < best[key]["ratio"]:
                best[key] = line
        return list(best.values())


def label(line):
    parts = [line["case"]]
    if line["what"] in ("peer", "short rows peer"):
        parts.append(f"{line['op']} {line['dtype']} t{line['threads']} {line['engine']}")
    elif line["dtype"] != "f32":
        parts.append(line["dtype"])
    return " ".join(parts)


def of_one(name, asked, lines):
    """A requirement at one size."""
    rows = []
    for line in lines:
        rows.append({"name": f"{name}", "asked": asked, "found": line["ratio"], "low": line["ratio_low"],
                     "high": line["ratio_high"], "met": is_met(line["ratio"], line["ratio_high"], asked), "of": 1,
                     "below": []})
    return rows or [{"name": name, "asked": asked, "found": None, "met": False, "of": 0, "below": []}]


def over_all(name, asked, lines, statistic=statistics.median):
    """A requirement over the programs; of those with small results in a row of its own."""
    rows = []
    for suffix, chosen in (("", [line for line in lines if line["result_bytes"] > SMALL_BYTES]),
                           (", results up to 4 KiB", [line for line in lines if line["result_bytes"] <= SMALL_BYTES])):
        if not chosen:
            if not suffix:
                rows.append({"name": name, "asked": asked, "found": None, "met": False, "of": 0, "below": []})
            continue
        found, low, high = bootstrap(statistic, [line["ratio"] for line in chosen])
        below = sorted((line["ratio"], label(line)) for line in chosen if line["ratio"] < LISTED_BELOW * asked)
        rows.append({"name": name + suffix, "asked": asked, "found": found, "low": low, "high": high,
                     "met": is_met(found, high, asked), "of": len(chosen), "below": below})
    return rows


def every_row(name, asked, lines):
    """A requirement of each program: the worst one is shown, those that miss it are listed."""
    if not lines:
        return [{"name": name, "asked": asked, "found": None, "met": False, "of": 0, "below": []}]
    missed = [line for line in lines if not is_met(line["ratio"], line["ratio_high"], asked)]
    worst = min(lines, key=lambda line: line["ratio"])
    return [{"name": name, "asked": asked, "found": worst["ratio"], "low": worst["ratio_low"],
             "high": worst["ratio_high"], "met": not missed, "of": len(lines),
             "below": sorted((line["ratio"], label(line)) for line in missed)}]


def at_most(name, asked, line):
    """A time: as a ratio, of what was asked to what was found."""
    if line is None:
        return [{"name": name, "asked": 1.0, "found": None, "met": False, "of": 0, "below": []}]
    found, high = asked / line["value"], asked / line["value_low"]
    return [{"name": f"{name}: {line['value']:.1f} of {asked} {line['unit']}", "asked": 1.0, "found": found,
             "low": asked / line["value_high"], "high": high, "met": is_met(found, high, 1.0), "of": 1, "below": []}]


def short_rows(results):
    """Those of a run of --short-rows, which has nothing else. None of its results is small."""
    of_memcpy = results.ratios("short rows memcpy")
    if not of_memcpy:
        return []
    if (target := of_memcpy[0].get("target", "host")) != "host":  # of smaller vectors than the machine's
        return over_all(f"short rows of {target} against memcpy, geometric mean", 0.5, of_memcpy, geometric_mean)
    rows = over_all("short rows against memcpy, geometric mean", 0.8, of_memcpy, geometric_mean)
    rows += every_row("each of them", 0.65, of_memcpy)
    rows += every_row("each of them against the best peer", 1.0, results.best_peers("short rows peer"))
    groups = {}
    for line in of_memcpy:
        groups.setdefault(line["case"].rsplit("_", 2 if line["case"][-1].isdigit() else 1)[0], []).append(line)
        groups.setdefault(line["dtype"], []).append(line)
    for name, lines in groups.items():
        rows += over_all(f"{name} against memcpy, geometric mean", 0.8, lines, geometric_mean)
    return rows


def requirements(results):
    """All rows, in the order in which they were asked."""
    if short := short_rows(results):
        return short
    of_memcpy = [("square_8192", 1.2), ("rows_1000", 1.0), ("rows_224", 0.9), ("square_1024", 0.85), ("square_256", 0.6)]
    rows = []
    for case, asked in of_memcpy:
        rows += of_one(f"{case} against memcpy", asked, results.ratios("memcpy", case=case))
    for dtype in ("f16", "bf16", "i8"):
        rows += over_all(f"{dtype} against f32, same bytes", 0.95, results.ratios("type", dtype=dtype))
    for dtype in ("f16", "bf16", "i8"):
        rows += over_all(f"{dtype} misaligned by one element against f32", 0.85,
                         results.ratios("misaligned", dtype=dtype))
    rows += over_all("pad+relu against pad", 0.97, results.ratios("relu"))
    for mode in MODES:
        rows += over_all(f"{mode} against constant", 0.9, results.ratios(f"mode {mode}"))
    rows += over_all("rank 4 and 5 against rank 2", 0.9, results.ratios("rank 2"))
    rows += over_all("symbolic against literal extents", 0.95, results.ratios("literal"))
    for threads in (1, 2):
        peers = results.best_peers(threads=threads)
        large = [line for line in peers if line["result_bytes"] > SMALL_BYTES]
        small = [line for line in peers if line["result_bytes"] <= SMALL_BYTES]
        rows += every_row(f"each program against the best peer, {threads} thread(s)", 1.0, large)
        rows += every_row(f"the same, results up to 4 KiB, {threads} thread(s)", 1.0, small) if small else []
        rows += over_all(f"geometric mean against the best peer, {threads} thread(s)", 2.0, peers, geometric_mean)
    tuned = results.ratios("tuned")
    rows += over_all("default against tuned, geometric mean", 0.9, tuned, geometric_mean)
    rows += every_row("default against tuned, each program", 0.7, tuned)
    rows += at_most("a call of 16x16", 150, results.time("call"))
    rows += at_most("text to callable, rank 4, warm process", 12, results.time("compile warm"))
    rows += at_most("text to callable, rank 4, first of a process", 25, results.time("compile first"))
    return rows


def text_of(rows):
    width = max(len(row["name"]) for row in rows)
    lines = [f"{'':<{width}}  asked  found  interval        met  of"]
    for row in rows:
        if row["found"] is None:
            lines.append(f"{row['name']:<{width}}  {row['asked']:5.2f}  not measured")
            continue
        lines.append(f"{row['name']:<{width}}  {row['asked']:5.2f}  {row['found']:5.2f}  [{row['low']:5.2f},{row['high']:6.2f}]"
                     f"  {'yes' if row['met'] else 'NO ':<3}  {row['of']}")
        for ratio, case in row["below"][:12]:
            lines.append(f"{'':<{width}}    {ratio:5.2f}  {case}")
        if len(row["below"]) > 12:
            lines.append(f"{'':<{width}}    and {len(row['below']) - 12} more")
    return "\n".join(lines)


def markdown_of(rows):
    """The same for a page."""
    lines = ["| what | asked | found | 95 % interval | met |", "|---|---|---|---|---|"]
    for row in rows:
        if row["found"] is None:
            lines.append(f"| {row['name']} | {row['asked']:.2f} | not measured | | |")
            continue
        lines.append(f"| {row['name']} | {row['asked']:.2f} | {row['found']:.2f} | {row['low']:.2f} to {row['high']:.2f} | "
                     f"{'yes' if row['met'] else 'no'} |")
    return "\n".join(lines)


def noise_text(results):
    """How far a contestant is from itself, and what was not asked for but says something."""
    off = sorted(abs(line["ratio"] - 1) for line in results.lines
                 if line["kind"] == "row" and line["name"].endswith(" again"))
    if not off:
        return "no comparisons"
    lines = [f"noise: memcpy beside itself is off by {100 * statistics.median(off):.1f} % (median of {len(off)} comparisons), "
             f"by up to {100 * off[int(0.95 * (len(off) - 1))]:.1f} % in 95 % of them"]
    for what, name in (("memcpy", "one thread against memcpy, warm"), ("cold memcpy", "one thread against memcpy, cold"),
                       ("two threads", "two threads against one, warm")):
        ratios = [line["ratio"] for line in results.ratios(what)]
        if ratios:
            lines.append(f"{name}: median {statistics.median(ratios):.2f}, from {min(ratios):.2f} to {max(ratios):.2f}")
    return "\n".join(lines)


def peers_text(results):
    lines = []
    for line in results.lines:
        if line["kind"] == "peer" and line["threads"] == 1:
            lines.append(f"{line['name']}: {line['version'] if line['found'] else 'not found: ' + line['version']}")
    by_peer = {}
    for line in results.ratios("peer") + results.ratios("short rows peer"):
        by_peer.setdefault((line["engine"], line["threads"]), []).append(line["ratio"])
    for (peer, threads), ratios in sorted(by_peer.items()):
        lines.append(f"  against {peer}, {threads} thread(s): geometric mean {geometric_mean(ratios):.2f}, "
                     f"least {min(ratios):.2f}, {len(ratios)} programs")
    cannot = {}
    for line in results.lines:
        if line["kind"] == "not measured":
            cannot.setdefault((line["engine"], line["dtype"], line["reason"][:70]), set()).add(line["case"])
    for (peer, dtype, reason), cases in sorted(cannot.items()):
        lines.append(f"  {peer} cannot do {len(cases)} programs of {dtype}: {reason}")
    return "\n".join(lines) or "no peers"


def expanded(values):
    """The lines of a file's values: a list has the fields that the last line of kind "columns" names, null for none."""
    columns = None
    for value in values:
        if isinstance(value, list):
            given = {field: found for field, found in zip(columns["fields"], value, strict=True) if found is not None}
            yield {"kind": columns["of"], **given}
        elif value.get("kind") == "columns":
            columns = value
        else:
            yield value


def read_lines(path):
    """The JSON lines of a run, or what keep.py left of them."""
    with open(path, encoding="utf-8") as file:
        return list(expanded(json.loads(line) for line in file if line.strip()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("results")
    parser.add_argument("--append", action="store_true", help="add the rows to the file, instead of those that it has")
    parser.add_argument("--markdown", action="store_true", help="print the rows as a table for a page")
    arguments = parser.parse_args()
    results = Results(read_lines(arguments.results))
    rows = requirements(results)
    print(peers_text(results), noise_text(results), (markdown_of if arguments.markdown else text_of)(rows), sep="\n\n")
    if arguments.append:
        kept = [line for line in results.lines if line["kind"] != "requirement"]
        added = [{"schema": 2, "kind": "requirement", **{k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}} for row in rows]
        with open(arguments.results, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in kept + added)
    return 0


if __name__ == "__main__":
    sys.exit(main())
