"""Compares padlock.h with abi_baseline.txt: every function with its types, every constant with its value, every struct with
its members in their order.

When this fails with *gone* or *changed*: programs that are compiled already break. Take the change back, or raise the major
version of the API. When it fails with *new*: `abi_baseline_test.py SOURCE_FOLDER --write` adds it, and the change says so
in CHANGELOG.md. Struct members are new only at a struct's end.

usage: abi_baseline_test.py SOURCE_FOLDER [--write]
"""

import pathlib
import re
import sys


def declarations(header):
    """{name: text} of what a compiled program depends on, in the header's order. A struct's members are one text each."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", header, flags=re.S)
    text = re.sub(r"^\s*#[^\n]*(?:\\\n[^\n]*)*", " ", text, flags=re.M)
    flat = re.sub(r"\s+", " ", text)
    found = {}
    for match in re.finditer(r"PADLOCK_API ([^;{}]*?\b(padlock_\w+)\([^;{}]*\));", flat):
        found[match[2]] = f"function {match[1]}"
    for match in re.finditer(r"typedef ([^;{}]*?\(\*(padlock_\w+)\)\([^;{}]*\));", flat):
        found[match[2]] = f"pointer {match[1]}"
    for match in re.finditer(r"typedef (\w+) (padlock_\w+);", flat):
        found[match[2]] = f"type {match[1]} {match[2]}"
    for match in re.finditer(r"enum \{(.*?)\}", flat):
        for name, value in re.findall(r"(PADLOCK_\w+) = (-?\w+)", match[1]):
            found[name] = f"constant {name} = {value}"
    for match in re.finditer(r"typedef struct (padlock_\w+) \{(.*?)\} \1;", flat):
        for index, member in enumerate(filter(None, map(str.strip, match[2].split(";")))):
            found[f"{match[1]}.{index:02}"] = f"member {match[1]} {index:02}: {member}"
    return found


def compared(baseline, now):
    """What differs, one line each."""
    for name, text in baseline.items():
        if name not in now:
            yield f"gone: {text}"
        elif now[name] != text:
            yield f"changed: {text}\n     now: {now[name]}"
    yield from (f"new: {text}" for name, text in now.items() if name not in baseline)


def read(path):
    texts = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {name_of(text): text for text in texts}


def name_of(text):
    kind, rest = text.split(" ", 1)
    if kind == "member":
        return ".".join(rest.split(":")[0].split())
    if kind == "constant":
        return rest.split()[0]
    if kind == "type":
        return rest.split()[-1]
    return re.search(r"(padlock_\w+)\)?\(", rest)[1] if kind == "pointer" else re.search(r"\b(padlock_\w+)\(", rest)[1]


def check_that_it_can_fail(now):
    """A lost function, another type, a member in the middle and a new constant are each found."""
    function = next(name for name, text in now.items() if text.startswith("function"))
    member = next(name for name in now if name.endswith(".00"))
    edits = {"gone": {k: v for k, v in now.items() if k != function}, "changed": {**now, member: now[member] + "2"},
             "new": {**now, "PADLOCK_X": "constant PADLOCK_X = 1"}}
    return [kind for kind, edited in edits.items() if not any(line.startswith(kind) for line in compared(now, edited))]


def main():
    source = pathlib.Path(sys.argv[1])
    file = source / "tests" / "capi" / "abi_baseline.txt"
    now = declarations((source / "include" / "padlock" / "padlock.h").read_text(encoding="utf-8"))
    if "--write" in sys.argv:
        head = "# What programs that are compiled against padlock.h depend on; abi_baseline_test.py compares. API 1006.\n"
        file.write_text(head + "".join(f"{text}\n" for text in now.values()), encoding="utf-8")
    failures = list(compared(read(file), now)) + [f"the comparison does not find what is {kind}" for kind in check_that_it_can_fail(now)]
    if len(now) < 200:
        failures.append(f"expected 200 declarations at least, found {len(now)}")
    print("\n".join(failures) if failures else f"{len(now)} declarations, as in the baseline")
    print(__doc__ if failures else "", end="")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
