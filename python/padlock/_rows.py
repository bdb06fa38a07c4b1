"""Programs of rows by data (docs/rows.md), by element type: jagged batches, groups of rows, rows by indices. Rows have one
axis, D, for all remaining axes of a tensor, or none."""

from __future__ import annotations

from functools import lru_cache

SIDES = ("right", "left")


def check_side(side: str) -> str:
    if side not in SIDES:
        raise ValueError(f"side: expected 'right' or 'left', found {side!r}")
    return side


@lru_cache(maxsize=None)
def to_padded(element: str, offset: str, has_rows: bool, side: str) -> str:
    """Rows [T] and offsets [B + 1] become [B, L]: each sequence has up to L rows, and then the fill."""
    row = "  row = add(begin, t)\n  is_row = lt(row, end)\n"
    if side == "left":
        row = "  past = sub(end, i64(L))\n  row = add(past, t)\n  is_row = ge(row, begin)\n"
    return f"""program to_padded(values: {element}[T{", D" if has_rows else ""}], offsets: {offset}[P], value: {element}, L: dim)
where P >= 1, L >= 0
{{
  first = slice(offsets, start = [0], limit = [P - 1])
  last = slice(offsets, start = [1], limit = [P])
  begins = reshape(first, shape = [P - 1, 1])
  ends = reshape(last, shape = [P - 1, 1])
  begin = cast(begins, i64)
  end = cast(ends, i64)
  t = iota(i64, shape = [1, L], axis = 1)
{row}  index = select(is_row, row, -1)
  padded = take(values, index, axis = 0, value = value)
  return padded
}}
"""


@lru_cache(maxsize=None)
def from_padded(element: str, offset: str, has_rows: bool, side: str) -> str:
    """[B, L] and offsets [B + 1] become rows [T]; 0 for a row that the padded tensor lacks."""
    column = "  l = sub(t, begin)\n"
    if side == "left":
        column = "  next = add(b, 1)\n  end = take(at, next, axis = 0)\n  past = sub(end, i64(L))\n  l = sub(t, past)\n"
    return f"""program from_padded(padded: {element}[B, L{", D" if has_rows else ""}], offsets: {offset}[B + 1], T: dim)
where T >= 0
{{
  at = cast(offsets, i64)
  t = iota(i64, shape = [T], axis = 0)
  after = search(at, t)
  b = sub(after, 1)
{"  begin = take(at, b, axis = 0)" + chr(10) if side == "right" else ""}{column}  values = take(padded, b, l, axes = [0, 1])
  return values
}}
"""


@lru_cache(maxsize=None)
def move_groups(element: str, offset: str, has_rows: bool) -> str:
    """Moves groups of rows. Group g of R rows goes to [to_begin[g], to_end[g]), and comes from the rows between
    from_begin[g] and from_end[g]. The rest gets the fill. Begins and ends ascend."""
    vectors = ", ".join(f"{name}: {offset}[G]" for name in ("from_begin", "from_end", "to_begin", "to_end"))
    return f"""program move_groups(x: {element}[T{", D" if has_rows else ""}], {vectors}, value: {element}, R: dim)
where R >= 0
{{
  ends = cast(to_end, i64)
  begins = cast(to_begin, i64)
  firsts = cast(from_begin, i64)
  limits = cast(from_end, i64)
  r = iota(i64, shape = [R], axis = 0)
  g = search(ends, r)
  begin = take(begins, g, axis = 0)
  first = take(firsts, g, axis = 0)
  limit = take(limits, g, axis = 0)
  inside = sub(r, begin)
  row = add(first, inside)
  is_row = lt(row, limit)
  index = select(is_row, row, -1)
  moved = take(x, index, axis = 0, value = value)
  return moved
}}
"""


@lru_cache(maxsize=None)
def take_rows(element: str, index: str, has_rows: bool, has_outer: bool = False) -> str:
    """Takes rows by their numbers, in any order; the fill if there is no such row. With `has_outer`, along the second axis."""
    shape = ("A, " if has_outer else "") + "T" + (", D" if has_rows else "")
    return f"""program take_rows(x: {element}[{shape}], index: {index}[N], value: {element})
{{
  taken = take(x, index, axis = {int(has_outer)}, value = value)
  return taken
}}
"""
