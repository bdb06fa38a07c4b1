#!/usr/bin/env python3
"""Makes the JSON lines of a benchmark small enough to keep in bench/results: rewrites the files, which read_lines of
table.py reads as before. What stays is what pages and their scripts use: of each comparison its median, ratios and
intervals. Of the rows of padlock_bench_host stay those that a picture shows, and how far a baseline is from itself;
the rest of them have their ratios. Numbers have six digits.

The lines of a kind that has many follow one line {"kind": "columns", "of": KIND, "fields": [...]}, as lists; null stands
for a field that a line does not have.

usage: bench/keep.py RESULTS.jsonl ...
"""

import argparse
import json
import sys

from table import read_lines

FIELDS = {
    "row": ["title", "name", "median_ms", "ratio", "case", "state", "engine", "op", "dtype", "threads", "gb_per_s", "bytes"],
    "ratio": ["what", "case", "op", "dtype", "threads", "engine", "target", "ratio", "ratio_low", "ratio_high", "result_bytes"],
    "not measured": ["case", "engine", "dtype", "reason"],
    "gpu_row": ["name", "problem", "dtype", "rank", "rows", "size", "mode", "relu", "transposed", "literal", "median_us",
                "gb_per_s", "of_memcpy", "of_copy", "config"],
}


def kept(line):
    """What stays of a line: itself or some of its fields; None: nothing."""
    kind, name = line["kind"], line.get("name", "")
    if kind == "row" and name.endswith(" again"):
        return {field: line[field] for field in ("kind", "name", "ratio")}
    if kind == "gpu_row" and name.endswith(" again"):
        return None
    if kind == "row" and "state" in line:
        shown = line["state"] == "warm, beside peers" and line["threads"] == 1 and line["op"] in ("", "pad")
        return {field: line[field] for field in line if field != "title"} if shown and line["dtype"] in ("", "f32") else None
    return line


def short(value):
    return float(f"{value:.6g}") if isinstance(value, float) else value


def text_of(lines):
    """The text of the file: lines of few kinds as they are, then the others by kind."""
    def dump(value):
        return json.dumps(value, separators=(",", ":")) + "\n"

    lines = [line for line in map(kept, lines) if line]
    text = [dump({name: short(value) for name, value in line.items()}) for line in lines if line["kind"] not in FIELDS]
    for kind, all_fields in FIELDS.items():
        chosen = [line for line in lines if line["kind"] == kind]
        fields = [field for field in all_fields if any(field in line for line in chosen)]
        if chosen:
            text.append(dump({"kind": "columns", "of": kind, "fields": fields}))
        text += [dump([short(line.get(field)) for field in fields]) for line in chosen]
    return "".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("results", nargs="+")
    for path in parser.parse_args().results:
        text = text_of(read_lines(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
