"""Tests what libpadlock exports: the functions of padlock.h, as capi/padlock.map lists them, and nothing else.

When this fails: a function that was added has to be in the header and in the map; one that is gone breaks every program
that calls it, and has to come back (deprecated, if need be) until the next major version of the API.

usage: exports_test.py LIBRARY SOURCE_FOLDER NM
"""

import pathlib
import re
import subprocess
import sys


def main():
    library, source, nm = sys.argv[1:]
    lines = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    # A version itself is listed as an absolute symbol.
    exported = {line.split()[2].split("@")[0] for line in lines.splitlines() if line.split()[1] != "A"}
    header = pathlib.Path(source, "include/padlock/padlock.h").read_text()
    declared = set(re.findall(r"^PADLOCK_API [^;(]*?(padlock_\w+)\(", header, re.M))
    versions = pathlib.Path(source, "capi/padlock.map").read_text().split("{")[1:]
    mapped = [re.findall(r"^    (padlock_\w+);$", version, re.M) for version in versions]
    listed = [name for names in mapped for name in names]
    failures = [f"exported and not in the header: {name}" for name in sorted(exported - declared)]
    failures += [f"in the header and not exported: {name}" for name in sorted(declared - exported)]
    failures += [f"in the map and not in the header: {name}" for name in sorted(set(listed) - declared)]
    if any(names != sorted(names) for names in mapped) or len(set(listed)) != len(listed):
        failures.append("a version of the map is not sorted, or the map names something twice")
    if not declared:
        failures.append("no function was found in the header")
    undefined = subprocess.run([nm, "-D", "--undefined-only", library], check=True, capture_output=True, text=True).stdout
    failures += [f"calls {name}" for name in ("atexit", "__cxa_atexit", "printf", "puts")
                 if re.search(rf"\bU {name}(@|$)", undefined, re.M)]
    print("\n".join(failures) if failures else f"{len(exported)} functions, as listed")
    print(__doc__ if failures else "", end="")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
