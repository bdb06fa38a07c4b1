#!/usr/bin/env python3
"""Draws bytes per second over the bytes that a pad moves, as SVG, from the JSON lines of padlock_bench_host: lines of one
pad (squares, by 1 on every side) for Padlock, memcpy and every peer, f32 and one thread, and a dot for Padlock on each
other program.

usage: picture.py RESULTS.jsonl --output=FILE.svg
"""

import argparse
import html
import math
import sys

from table import read_lines

WIDTH, HEIGHT = 860, 480
LEFT, RIGHT, TOP, BOTTOM = 62, 150, 44, 52
COLOURS = {"padlock": "#0b6e4f", "memcpy": "#444444", "numpy": "#4c72b0", "torch": "#dd5f1f",
           "torch-static": "#a3261f", "torch-dynamic": "#c9a227", "torch-compiled": "#c9a227",
           "onnxruntime": "#8a4fbf", "jax": "#c2255c"}
OTHER = "#888888"


def points_of(lines):
    """(engine, bytes, GB/s) of the squares, by engine; and (bytes, GB/s) of Padlock on the other programs."""
    engines, dots = {}, []
    for line in lines:
        if line["kind"] != "row" or not line.get("state", "").startswith("warm, beside") or line.get("engine") is None:
            continue
        if line["threads"] != 1 or line["op"] == "pad+relu" or line["dtype"] not in ("f32", ""):
            continue
        # Of another type's comparison there is a memcpy as well; the first is f32's.
        point = (line["bytes"], line["gb_per_s"])
        if line["case"].startswith("square_"):
            known = engines.setdefault(line["engine"], {})
            known.setdefault(*point)
        elif line["engine"] == "padlock":
            dots.append(point)
    return {engine: sorted(points.items()) for engine, points in engines.items()}, dots


class Scale:
    """From figures to pixels, both axes logarithmic."""

    def __init__(self, points):
        xs, ys = [x for x, _ in points], [y for _, y in points]
        self.x_range = (math.floor(math.log2(min(xs))), math.ceil(math.log2(max(xs))))
        self.y_range = (math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys))))

    def x(self, value):
        low, high = self.x_range
        return LEFT + (math.log2(value) - low) / max(high - low, 1) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        low, high = self.y_range
        return HEIGHT - BOTTOM - (math.log10(value) - low) / max(high - low, 1) * (HEIGHT - TOP - BOTTOM)


def bytes_text(power):
    value, unit = power, 0
    while value >= 10:
        value, unit = value - 10, unit + 1
    return f"{2 ** value} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[unit]}"


def text(x, y, content, anchor="middle", colour="#222222", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{extra}>{html.escape(content)}</text>'


def axes(scale):
    parts = []
    for power in range(scale.x_range[0], scale.x_range[1] + 1, 3):
        x = scale.x(2.0 ** power)
        parts.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e4e4e4"/>')
        parts.append(text(x, HEIGHT - BOTTOM + 18, bytes_text(power)))
    for power in range(scale.y_range[0], scale.y_range[1] + 1):
        for step in (1, 2, 5) if power < scale.y_range[1] else (1,):
            y = scale.y(step * 10.0 ** power)
            parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{"#cfcfcf" if step == 1 else "#eeeeee"}"/>')
            parts.append(text(LEFT - 8, y + 4, f"{step * 10.0 ** power:g}", "end"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "bytes read and written"))
    parts.append(text(16, (TOP + HEIGHT - BOTTOM) / 2, "GB/s",
                      extra=f' transform="rotate(-90 16 {(TOP + HEIGHT - BOTTOM) / 2:.1f})"'))
    return parts


def labels(engines, scale):
    """Each engine's name at the end of its line, moved apart where lines end together."""
    parts, lowest = [], -math.inf
    for y, engine in sorted((scale.y(points[-1][1]), engine) for engine, points in engines.items()):
        y = max(y, lowest + 15)
        lowest = y
        parts.append(text(WIDTH - RIGHT + 10, y + 4, engine, "start", COLOURS.get(engine, OTHER)))
    return parts


def svg(lines, title):
    engines, dots = points_of(lines)
    points = [point for list_ in engines.values() for point in list_] + dots
    if not points:
        raise SystemExit("picture.py: error: no figures of squares beside peers in that file")
    scale = Scale(points)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             'font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             text(LEFT, 24, title, "start", extra=' font-size="14"'), *axes(scale)]
    for x, y in dots:
        parts.append(f'<circle cx="{scale.x(x):.1f}" cy="{scale.y(y):.1f}" r="2.5" fill="{COLOURS["padlock"]}" opacity="0.45"/>')
    for engine, list_ in sorted(engines.items()):
        path = "L".join(f"{scale.x(x):.1f} {scale.y(y):.1f}" for x, y in list_)
        width, dash = (2.5, "") if engine == "padlock" else (1.5, ' stroke-dasharray="5 3"' if engine == "memcpy" else "")
        parts.append(f'<path d="M{path}" fill="none" stroke="{COLOURS.get(engine, OTHER)}" stroke-width="{width}"{dash}/>')
    return "\n".join([*parts, *labels(engines, scale), "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("results")
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()
    lines = read_lines(arguments.results)
    cpu = next((line["cpu"] for line in lines if line["kind"] == "provenance"), "unknown CPU")
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write(svg(lines, f"Padding f32 by 1 on every side, one thread, {cpu}; dots: Padlock on other pads"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
