"""Objects that lie to the buffer protocol and to DLPack, at random. Run by lying_test.py in a process of its own.

usage: lying.py SEED COUNT

Each round makes one tensor by one protocol, bends some of its fields, and hands it to one door of Padlock. What can be told from the
object alone has to end in a named error, and the rest in the right values. A pointer or a stride that leads to memory which is
not the exporter's cannot be told; none is made. The number of the round at hand is on standard error should the process die.
"""

import collections
import ctypes
import random
import sys

import padlock
from liars import Liar, kept, make_buffer, make_dlpack, make_table

KERNEL = padlock.compile("program pad(x: f32[A, B]) { y = pad(x, low = [0, 1], high = [1, 0], value = 7) return y }")


def expected():
    return [[7, 1, 2, 3], [7, 4, 5, 6], [7, 7, 7, 7]]


def through_pad(made, out=None):
    return padlock.pad(made, (0, 1), (1, 0), value=7, out=out)


def through_kernel(made, out=None):
    return KERNEL(made, out=out)


def as_out(made):
    return padlock.pad((ctypes.c_float * 3)(1, 2, 3), (0,), (3,), out=made)


def as_shapes(made):
    return KERNEL.shapes(made)


DOORS = [through_pad, through_kernel, as_out, as_shapes]
MAKERS = [make_buffer, make_dlpack, make_table]
#: Errors that a caller can act on. A SystemError, a cast's RuntimeError or an Internal would be ours.
NAMED = (padlock.InvalidArgument, padlock.FailedPrecondition, padlock.ResourceExhausted, padlock.Unavailable, MemoryError, LookupError)
OWN = "the exporter's own"


def round_of(seed, number, outcomes):
    rng = random.Random(seed * 1_000_003 + number)
    liar = Liar(rng)
    maker, door = rng.choice(MAKERS), rng.choice(DOORS)
    made, left = maker(liar)
    place = f"seed {seed}, round {number}: {maker.__name__}, {door.__name__}"
    try:
        result = door(made)
        outcome = "a result"
        if door in (through_pad, through_kernel):
            values = memoryview(result).tolist()
            if liar.harmless and values != expected():
                raise AssertionError(f"{place}, {liar.lies}: found {values}")
        del result
    except NAMED as error:
        outcome = type(error).__name__
        if liar.harmless and door in (through_pad, through_kernel):
            raise AssertionError(f"{place}, {liar.lies}: {error}") from error
        if isinstance(error, padlock.Error) and not str(error).strip():
            raise AssertionError(f"{place}, {liar.lies}: no words") from error
    except (TypeError, BufferError) as error:
        outcome = type(error).__name__
        if str(error) != OWN:
            raise AssertionError(f"{place}, {liar.lies}: {error!r}") from error
    except Exception as error:
        raise AssertionError(f"{place}, {liar.lies}: {error!r}") from error
    if left() != 0:
        raise AssertionError(f"{place}, {liar.lies}: {left()} not given back")
    outcomes[outcome] += 1


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    outcomes, faults = collections.Counter(), []
    for number in range(count):
        print(f"round {number} of seed {seed}", file=sys.stderr, flush=True)
        try:
            round_of(seed, number, outcomes)
        except AssertionError as fault:
            faults.append(str(fault))
        kept[:-1000] = []  # functions and memory that nobody holds any more
    print(dict(sorted(outcomes.items())))
    print("\n".join(faults[:30]))
    sys.exit(len(faults) > 0)


if __name__ == "__main__":
    main()
