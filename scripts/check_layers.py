#!/usr/bin/env python3
"""Reads every #include and fails on an arrow between folders that the design does not draw.

    support <- ir <- compiler;  support <- ir <- runtime;  both <- tuner <- api <- tests, bench, examples
    and api <- capi, which implements include/, the C API <- tools

Beyond the arrows: the command (tools) sees include/ and support/ alone, but for the tuner's worker; examples see include/
alone, and bench api/ and support/ (but for bench/gpu/), LLVM and CUDA have one folder each,
doctest and isl are for tests, and tests may include anything.

usage: check_layers.py [ROOT]
"""

import pathlib
import re
import sys

# Folder: the folders that its files may include. A folder that is not listed is an error, so that a new one gets
# its place here. A folder within one has the outer one's rules unless it is listed itself.
MAY_INCLUDE = {
    "support": set(),
    "ir": {"support"},
    "compiler": {"support", "ir"},
    "runtime": {"support", "ir"},
    "tuner": {"support", "ir", "compiler", "runtime"},
    "api": {"support", "ir", "compiler", "runtime", "tuner", "include"},
    # The C API translates: a caller's sizes and pointers are the inner layers' before they are the api's.
    "capi": {"support", "ir", "runtime", "api", "include"},
    "include": set(),
    "tools": {"support", "include"},
    "bench": {"support", "api", "include"},
    # What it measures has no name in the API: PTX, its loading, and a launch's part of the driver's call.
    "bench/gpu": {"support", "ir", "compiler", "runtime", "bench"},
    # What a worker costs has no name in the API either.
    "bench/tuner": {"support", "compiler", "tuner", "bench"},
    "examples": {"include"},
}
# Files that may include more than their folder: the worker is a part of the inside.
EXCEPTIONS = [(re.compile(r"^tools/worker[a-z_]*\.(h|cpp)$"), {"api"})]
ANYTHING = {"tests"}
NOT_SOURCES = {"build", "cmake", "docs", "scripts"}

# Libraries that only some files may name: their headers, and the paths that may include them.
FOREIGN = [
    ("LLVM", re.compile(r"^(llvm|llvm-c)/"), re.compile(r"^compiler/llvm/")),
    ("isl", re.compile(r"^isl/"), re.compile(r"^tests/")),
    ("CUDA", re.compile(r"^(cuda|cuda_runtime|cuda_fp16|nvrtc|nvml)(_api)?\.h$"), re.compile(r"^runtime/cuda/")),
    ("doctest", re.compile(r"^doctest/"), re.compile(r"^tests/")),
    ("SQLite", re.compile(r"^sqlite3\.h$"), re.compile(r"^tuner/database\.cpp$")),
    ("xxHash", re.compile(r"^xxhash\.h$"), re.compile(r"^support/hash\.cpp$")),
    ("nlohmann", re.compile(r"^nlohmann/"), re.compile(r"^(tuner/record_text|tools/json_value)\.cpp$")),
    ("CLI11", re.compile(r"^CLI/"), re.compile(r"^(tools|bench)/")),
]

# Names that a folder may not even mention: no function of the tuner takes a caller's memory (rule R3).
FORBIDDEN_NAMES = {"tuner": re.compile(r"\b(UserBuffer|BufferView)\b")}

SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".inc", ".def", ".cu"}
_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def includes_of(text):
    """(line number, delimiter, header) of each #include in `text`."""
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _INCLUDE.match(line):
            yield number, match[1], match[2]


def folder_of(path):
    """The listed folder that a path from the root lies in, else its first part."""
    parts = path.split("/")
    listed = ["/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]
    return next((folder for folder in listed if folder in MAY_INCLUDE), parts[0])


def target_folder(root, header):
    """The project's folder that `header` names, or None for a header from elsewhere."""
    if header.startswith("padlock/"):
        return "include"
    first = folder_of(header)
    return first if "/" in header and (first in MAY_INCLUDE or first in ANYTHING or (root / header).exists()) else None


def objection(root, path, delimiter, header):
    """Why the file at `path` may not include `header`, or None."""
    folder = folder_of(path.as_posix())
    for name, headers, places in FOREIGN:
        if headers.match(header) and folder not in ANYTHING and not places.match(path.as_posix()):
            return f"{name} headers are not for this folder"
    target = target_folder(root, header)
    if delimiter == '"' and target is None:
        return 'includes in quotes are written from the root, e.g. "ir/expr/expr.h"'
    if folder in ANYTHING or target is None or target == folder or target in may_include(path.as_posix()):
        return None
    return f"{folder}/ must not know {target}/"


def may_include(path):
    """The folders that the file at `path` may include besides its own."""
    folders = set(MAY_INCLUDE[folder_of(path)])
    return folders.union(*(more for files, more in EXCEPTIONS if files.match(path)))


def source_files(root):
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if path.suffix in SUFFIXES and path.is_file() and parts[0] not in NOT_SOURCES and parts[0][0] != ".":
            yield path.relative_to(root)


def check(root):
    """All violations below `root`, as lines "FILE:LINE: message"."""
    violations = []
    for path in source_files(root):
        if path.parts[0] not in MAY_INCLUDE and path.parts[0] not in ANYTHING:
            violations.append(f"{path}:1: {path.parts[0]}/ has no place among the layers of {pathlib.Path(__file__).name}")
            continue
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        if names := FORBIDDEN_NAMES.get(path.parts[0]):
            for line, content in enumerate(text.splitlines(), start=1):
                if match := names.search(content):
                    violations.append(f"{path}:{line}: names {match[0]}: {path.parts[0]}/ works on ScratchBuffers alone")
        for line, delimiter, header in includes_of(text):
            if reason := objection(root, path, delimiter, header):
                violations.append(f"{path}:{line}: includes {header}: {reason}")
    return violations


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    violations = check(root)
    print("\n".join(violations) if violations else "layers: every include is drawn in the design")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
