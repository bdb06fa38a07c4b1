#!/usr/bin/env python3
"""Sums up a run of the families of problems: by family Padlock beside the better copy and beside each peer, as geometric
mean and least, and in how many problems it is level (0.99) or ahead.

usage: summary.py RESULTS.jsonl [--markdown]
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from table import copy_us, geometric_mean, read_lines  # noqa: E402

LEVEL = 0.99
COPY = "copy"


def has_no_words(skipped):
    """Whether a library is left out for what it does not have, and not for what it did."""
    return skipped["reason"].startswith("Cannot: ")


def speeds(row):
    """Padlock's speed over the better copy's, and over that of each peer and the best of them, by name."""
    ours = row["us"]["padlock"]
    peers = {name: us for name, us in row["us"].items() if name not in ("memcpy", "copy kernel", "padlock", "padlock new")}
    found = {COPY: copy_us(row) / ours, **{name: us / ours for name, us in peers.items()}}
    if len(peers) > 1:
        found["the best of them"] = min(peers.values()) / ours
    return found


def grouped(rows, of):
    groups = {}
    for row in rows:
        for name, ratio in speeds(row).items():
            groups.setdefault((of(row), name), []).append((ratio, f"{row['name']}, {row['dtype']}"))
    return groups


def cell(found):
    """mean (least; level or ahead of how many)"""
    if not found:
        return "-"
    ratios = [ratio for ratio, _ in found]
    return f"{geometric_mean(ratios):.2f} ({min(ratios):.2f}; {sum(r >= LEVEL for r in ratios)}/{len(ratios)})"


def table_of(rows):
    """Head and lines."""
    names = list(dict.fromkeys(name for row in rows for name in speeds(row)))
    names.sort(key=lambda name: (name != COPY, name == "the best of them"))
    families = sorted({row["family"] for row in rows})
    groups = grouped(rows, lambda row: row["family"]) | grouped(rows, lambda row: "all")
    return ["family", *names], [[family, *(cell(groups.get((family, name))) for name in names)] for family in [*families, "all"]]


def worst(rows, count=8):
    """What is farthest behind the best peer."""
    found = sorted((speeds(row).get("the best of them") or speeds(row)[COPY], row["family"], row["name"], row["dtype"]) for row in rows)
    return [f"  {ratio:5.2f}  {family}, {name}, {dtype}" for ratio, family, name, dtype in found[:count]]


def first_calls(rows):
    """How long the first call of a program took."""
    times = sorted(row["first_ms"] for row in rows if "first_ms" in row)
    if not times:
        return []
    return [f"first call: median {times[len(times) // 2]:.0f} ms, most {times[-1]:.0f} ms, above 150 ms: "
            f"{sum(ms > 150 for ms in times)} of {len(times)}"]


def markdown(head, lines):
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *lines])


def aligned(head, lines):
    widths = [max(map(len, column)) for column in zip(head, *lines)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip() for cells in [head, *lines])


def text_of(objects, as_markdown=False):
    rows = [found for found in objects if found["kind"] == "zoo_row"]
    wrong = [found for found in objects if found["kind"] == "zoo_wrong"]
    skipped = [found for found in objects if found["kind"] == "zoo_skipped" and not has_no_words(found)]
    if not rows:
        return f"no problem was timed, {len(wrong)} wrong, {len(skipped)} skipped"
    table = (markdown if as_markdown else aligned)(*table_of(rows))
    parts = [table, "geometric mean of Padlock's speed over each (least; level or ahead)", *first_calls(rows),
             "farthest behind the best of them:", *worst(rows),
             f"{len(rows)} problems, {len(wrong)} wrong, {len(skipped)} skipped"]
    parts += [f"  WRONG {found['title']}: {found['reason']}" for found in wrong]
    parts += [f"  skipped {found.get('title', found['index'])}, {found['who']}: {found['reason'][:120]}" for found in skipped[:12]]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("results")
    parser.add_argument("--markdown", action="store_true", help="print the table for a page")
    arguments = parser.parse_args()
    print(text_of(read_lines(arguments.results), arguments.markdown))
    return 0


if __name__ == "__main__":
    sys.exit(main())
