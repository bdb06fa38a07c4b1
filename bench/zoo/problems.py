"""Reads families.txt: each line's program with sizes, in each of its types."""

import dataclasses
import math
import pathlib
import random
import re

from programs import ELEMENT_BYTES, PROGRAMS, Program

TABLE = pathlib.Path(__file__).parent / "families.txt"


@dataclasses.dataclass(frozen=True)
class Problem:
    family: str
    name: str
    dtype: str
    program: Program

    @property
    def title(self):
        return f"{self.family}, {self.name}, {self.dtype}"

    @property
    def text(self):
        """Its program has a name of its own, so that no other problem's code serves it."""
        return "program " + re.sub(r"\W", "_", f"p {self.title}") + self.program.text

    @property
    def bytes(self):
        """All inputs, read once, and the result, written once."""
        size = lambda shape, dtype: math.prod(shape) * ELEMENT_BYTES[dtype]
        return sum(size(*given) for given in self.program.inputs) + size(self.program.output, self.dtype)


def numbers(text, device):
    """`N=256|4 low=0,1`: by name, what stands for the device; a list where there is a comma."""
    found = {}
    for word in text.split():
        name, value = word.split("=")
        choice = value.split("|")[0 if device == "gpu" else -1].split(",")
        found[name] = [int(n) for n in choice] if len(choice) > 1 else int(choice[0])
    return found


def problems_of(line, device, divisor=1):
    """Yields one for each type. `divisor`: of the first extent, which becomes at least 1, for a trial."""
    fields = [field.strip() for field in line.split(";")]
    if len(fields) != 6:
        raise ValueError(f"expected six fields apart by ';', found {len(fields)}: {line.strip()}")
    family, name, program, dtypes, extents, amounts = fields
    builder, _, word = program.partition(" ")
    for dtype in dtypes.split():
        sizes = numbers(extents, device)
        first = next(iter(sizes))
        sizes[first] = max(1, sizes[first] * 4 // ELEMENT_BYTES[dtype] // divisor)
        yield Problem(family, name, dtype, PROGRAMS[builder](dtype, sizes, numbers(amounts, device), word))


def all_problems(device, families=None, divisor=1, table=TABLE):
    """All of the table, or of some families, in an order that a run which is stopped has some of each family of."""
    lines = [line for line in table.read_text(encoding="utf-8").splitlines() if line.strip() and line[0] != "#"]
    found = [problem for line in lines for problem in problems_of(line, device, divisor)]
    known = {problem.family for problem in found}
    if unknown := set(families or []) - known:
        raise SystemExit(f"error: expected families of {', '.join(sorted(known))}, found {', '.join(sorted(unknown))}")
    random.Random(1).shuffle(found)
    return [problem for problem in found if not families or problem.family in families]
