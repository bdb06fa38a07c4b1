#!/usr/bin/env python3
"""Draws the pictures of the README and of the pages on performance, as SVG, from runs of the families of problems
(bench/host_zoo.py, bench/gpu/zoo.py): how fast Padlock and the libraries beside it are, as a part of the speed of a plain
copy of the same bytes. A bar is a geometric mean over the problems of its panel that every contestant of the panel did.

usage: bars.py --families=RESULTS.jsonl [--families=...] --output=FILE.svg        a column for each run
"""

import argparse
import html
import sys

from table import copy_us, geometric_mean, read_lines

WIDTH, MARGIN, ROW, BAR, NAME = 860, 16, 21, 14, 148
# Read by whoever has a light background and whoever has a dark one: no colour of its own behind, and text that follows.
STYLE = """text{fill:#1f2328;font:12px sans-serif}
.title{font-size:14px;font-weight:bold}
.small{fill:#59636e;font-size:11px}
.bar{fill:#8c959f}
.copy{fill:#57606a}
.padlock{fill:#1a7f4b}
.line{stroke:#57606a;stroke-dasharray:4 3}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9198a1}.bar{fill:#6e7681}.copy{fill:#aab4be}
.padlock{fill:#3fb970}.line{stroke:#aab4be}}"""
STATIC, DYNAMIC = "torch.compile, static", "torch.compile, dynamic"
NAMES = {"padlock": "Padlock", "numpy": "NumPy", "onnxruntime": "ONNX Runtime", "jax": "JAX", "torch eager": "PyTorch",
         "torch static": STATIC, "torch dynamic": DYNAMIC}


def panel_of(title, rates, copy):
    """{title, programs, bars}: of every contestant the mean of its part of the copy's speed, the fastest first. `rates` maps
    a program to the speeds of those who did it; programs that one of all contestants could not do are left out."""
    everybody = set().union(*rates.values())
    complete = [by_name for by_name in rates.values() if everybody <= set(by_name)]
    if not complete or copy not in everybody:
        raise SystemExit(f"bars.py: error: no program of '{title}' that everybody did")
    means = {name: geometric_mean([by_name[name] / by_name[copy] for by_name in complete]) for name in everybody - {copy}}
    return {"title": title, "programs": len(complete), "bars": sorted(means.items(), key=lambda bar: (-bar[1], bar[0]))}


def families_panel(title, dtypes, rows):
    """Draws the problems of these types of a run of the families (bench/zoo), of which everybody did some; the copy is the
    better of those that were timed."""
    rates = {}
    for row in rows:
        if row["kind"] == "zoo_row" and row["dtype"] in dtypes:
            speeds = {name: 1 / us for name, us in row["us"].items() if name in NAMES}
            rates[row["family"], row["name"], row["dtype"]] = {**speeds, "copy": 1 / copy_us(row)}
    return panel_of(title, rates, "copy")


def text(x, y, content, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{html.escape(content)}</text>'


def drawn(panel, left, top, width, most):
    """The panel's elements: a title, and a bar with its figure for the copy and each contestant."""
    programs = f"{panel['programs']} programs" if panel["programs"] > 1 else "1 program"
    parts = [text(left, top + 12, f"{panel['title']} ({programs})", "small")]
    unit = (width - NAME - 40) / most
    for row, (name, ratio) in enumerate([("a plain copy", 1.0), *panel["bars"]]):
        y = top + 20 + row * ROW
        kind = {"a plain copy": "copy", "padlock": "padlock"}.get(name, "bar")
        parts.append(text(left + NAME - 8, y + 11.5, NAMES.get(name, name), anchor="end"))
        parts.append(f'<rect x="{left + NAME}" y="{y}" width="{unit * ratio:.1f}" height="{BAR}" rx="2" class="{kind}"/>')
        parts.append(text(left + width, y + 11.5, f"{ratio:.2f}", anchor="end"))
    x = left + NAME + unit
    parts.append(f'<path d="M{x:.1f} {top + 18}V{top + 20 + ROW * (len(panel["bars"]) + 1)}" class="line"/>')
    return parts


def height_of(panels):
    return sum(20 + ROW * (len(panel["bars"]) + 1) + 12 for panel in panels)


def svg(columns, foot):
    """`columns`: (title, panels) each, side by side."""
    width = (WIDTH - MARGIN * (len(columns) + 1)) / len(columns)
    most = max(max(1.0, panel["bars"][0][1]) for _, panels in columns for panel in panels)
    height = 34 + max(height_of(panels) for _, panels in columns) + 18 * len(foot)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">', f"<style>{STYLE}</style>"]
    for index, (title, panels) in enumerate(columns):
        left, top = MARGIN + index * (width + MARGIN), 34
        parts.append(text(left, 20, title, "title"))
        for panel in panels:
            parts += drawn(panel, left, top, width, most)
            top += height_of([panel])
    parts += [text(MARGIN, height - 18 * (len(foot) - row) + 8, line, "small") for row, line in enumerate(foot)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def families_columns(files):
    """A column for each run of the families, of a machine each, with a panel for floats, one for halves and one for bytes."""
    columns = []
    for rows in files:
        machine = next(line for line in rows if line["kind"] == "zoo_provenance")
        panels = [families_panel(f"problems that models have, {title}", dtypes, rows)
                  for title, dtypes in (("f32", ("f32",)), ("f16", ("f16",)), ("bytes", ("i8", "u8")))]
        columns.append((f"{machine.get('gpu') or machine['cpu']}, commit {machine['commit']}", panels))
    return columns


def families_picture(files):
    foot = ["Speed relative to the better of two plain copies of the same bytes (on a CPU memcpy). Geometric means over the problems "
            "that all could do.", "torch.compile with static sizes compiles each problem anew; Padlock's kernels serve all sizes."]
    return svg(families_columns(files), foot)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--families", action="append", required=True, metavar="RESULTS.jsonl")
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()
    drawing = families_picture(map(read_lines, arguments.families))
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write(drawing)
    return 0


if __name__ == "__main__":
    sys.exit(main())
