#!/usr/bin/env python3
"""Reads every #include and every foreign name, and fails on what the drawing of the rooms does not allow.

    support <- ir <- onnx, abi, solver;  abi, solver <- compiler <- trace;  abi <- runtime
    trace, runtime <- tuner <- session;  session, onnx <- capi, which implements include <- tools, bench, examples

A room is a folder that ROOMS lists; a folder below it that is not listed belongs to it. The tables are the rules:

- ROOMS: the rooms that the files of a room may include.
- WITHOUT: rooms whose code runs where others do not exist, so that no chain of includes may lead there.
- FOREIGN: libraries, and who may include their headers or say their names.
- FORBIDDEN_NAMES: names that a room may not even mention.
- MOST_FILES: sources of a folder, without those below it, tests included.

Two headers may not define a type of the same name in the same namespace: a linker would keep the functions of one.

Tests may include anything and name anything.

usage: check_layers.py [ROOT]
"""

import collections
import pathlib
import re
import sys

IR = {"support", "ir", "ir/expr", "ir/binding"}
EXPR = {"support", "ir/expr"}
EMIT = EXPR | {"compiler/emit/rows", "compiler/emit/scalar"}
RUNTIME = IR | {"abi", "runtime"}
CACHE = {"tuner/cache", "support"}

ROOMS = {
    "support": set(),
    # Programs.
    "ir/expr": {"support"},
    "ir": {"support", "ir/expr"},
    "ir/text": {"support", "ir", "ir/expr"},
    "ir/verify": {"support", "ir", "ir/expr", "ir/text"},
    "ir/binding": {"support", "ir", "ir/expr"},
    "ir/reference": IR,
    # Models of other programs, as programs.
    "onnx": IR | {"ir/text"},
    # The contract between code and its launcher.
    "abi": IR,
    # From programs to code.
    "solver": IR,
    "compiler/kernel": IR | {"ir/text", "abi"},
    # A schedule: plain data, and what makes it.
    "compiler/schedule/model": EXPR | {"ir", "ir/text", "compiler/kernel"},
    "compiler/schedule/cases": EXPR | {"compiler/kernel", "compiler/schedule/model"},
    "compiler/schedule/index": EXPR | {"compiler/kernel", "compiler/schedule/model"},
    "compiler/schedule/host": EXPR | {"compiler/schedule/model", "compiler/schedule/cases"},
    "compiler/schedule/gpu": EXPR | {"compiler/schedule/model", "compiler/schedule/cases"},
    "compiler/schedule": {"compiler/schedule/model", "compiler/schedule/host", "compiler/schedule/gpu"},
    # Its proof.
    "compiler/prover/core": EXPR | {"solver", "compiler/kernel", "compiler/schedule/model", "compiler/schedule/index"},
    "compiler/prover/host": EXPR | {"compiler/schedule/model", "compiler/schedule/index", "compiler/prover/core"},
    "compiler/prover/gpu": EXPR | {"compiler/schedule/model", "compiler/prover/core"},
    "compiler/prover": EXPR | {"compiler/schedule/model", "compiler/prover/core", "compiler/prover/host", "compiler/prover/gpu"},
    # The passes in their order, and the configs that they take.
    "compiler": EXPR
    | {"ir", "compiler/kernel", "compiler/schedule", "compiler/schedule/model", "compiler/schedule/cases", "compiler/schedule/index"}
    | {"compiler/prover"},
    "compiler/targets": IR | {"abi", "compiler", "compiler/schedule/model", "compiler/prover/core"},
    # Code of what is proved: of values, of a launch's rows, and of each target's covers.
    "compiler/emit/scalar": EXPR
    | {"ir", "ir/reference", "abi", "compiler/kernel", "compiler/schedule/model", "compiler/schedule/index"},
    "compiler/emit/rows": EXPR
    | {"abi", "compiler/schedule/model", "compiler/schedule/cases", "compiler/prover/core", "compiler/emit/scalar"},
    "compiler/emit/host/runs": EMIT,
    "compiler/emit/host/row_chunks": EMIT | {"compiler/schedule/model"},
    "compiler/emit/host": EMIT
    | {"abi", "compiler/schedule/index", "compiler/prover/core", "compiler/emit/host/runs", "compiler/emit/host/row_chunks"},
    "compiler/emit/gpu/vector_grid": EMIT | {"compiler/schedule/model"},
    "compiler/emit/gpu/tiles": EMIT | {"compiler/emit/gpu/vector_grid"},
    "compiler/emit/gpu/boxes": EMIT | {"compiler/emit/gpu/vector_grid"},
    "compiler/emit/gpu": EMIT
    | {"abi", "compiler/prover/core"}
    | {"compiler/emit/gpu/vector_grid", "compiler/emit/gpu/tiles", "compiler/emit/gpu/boxes"},
    "compiler/codegen": {"support", "ir", "abi", "compiler", "compiler/schedule/model", "compiler/targets"}
    | {"compiler/emit/rows", "compiler/emit/host", "compiler/emit/gpu"},
    # What a compile shows from outside.
    "trace": {"support", "ir", "abi", "compiler", "compiler/targets"},
    # From code to results.
    "runtime": RUNTIME,
    "runtime/scratch": RUNTIME,
    "runtime/host": RUNTIME | {"ir/reference"},
    "runtime/cuda/driver": {"support"},
    "runtime/cuda": RUNTIME | {"runtime/cuda/driver"},
    "runtime/registry": RUNTIME | {"runtime/host"},
    "runtime/pack": RUNTIME,
    # From results to choices.
    "tuner/cache": RUNTIME | {"ir/text", "ir/verify", "compiler/targets", "runtime/host"},
    "tuner/exchange": CACHE,
    "tuner/trial": RUNTIME
    | {"ir/reference", "compiler", "compiler/targets", "runtime/host", "runtime/registry", "runtime/scratch", "tuner/cache"},
    "tuner/worker": {"support", "trace", "tuner/cache", "tuner/trial"},
    "tuner/search": IR | {"solver", "compiler/schedule/model", "compiler/targets", "tuner/cache", "tuner/trial", "tuner/worker"},
    "tuner": {"support", "tuner/cache", "tuner/worker"},
    # Both for a program's text.
    "session/launch": RUNTIME | {"ir/reference", "runtime/host", "runtime/pack", "runtime/registry", "tuner/cache"},
    "session/compile": RUNTIME
    | {"ir/reference", "compiler/prover/core", "compiler/targets", "runtime/host", "runtime/pack", "session/launch"}
    | {"trace", "tuner/cache", "tuner/exchange", "tuner/search", "tuner/trial", "tuner/worker"},
    # Other programs' way in. The C API translates: a caller's sizes are the inner rooms' before they are a session's.
    "include": set(),
    "capi": IR | {"ir/text", "include", "session/launch"},
    "capi/launch": IR | {"include", "capi", "runtime/pack", "runtime/registry", "session/launch"},
    "capi/compile": {"support", "include", "capi", "capi/launch", "runtime", "runtime/host", "session/compile", "session/launch"}
    | {"tuner/worker", "onnx"},
    "tools": {"support", "include"},
    "tools/arrays": {"support", "include", "tools"},
    "tools/text": {"support", "include", "tools", "tools/arrays"},
    "tools/commands": {"support", "include", "tools", "tools/arrays", "tools/text"},
    # A tuner's process, which the command can be, too.
    "tools/worker": {"include", "tools/commands"},
    "bench": {"support", "include", "runtime/host", "session/compile", "session/launch", "bench/times"},
    "bench/times": {"support", "include", "session/compile", "session/launch"},
    # It measures things that have no name in the API: PTX, its loading, and a launch's part of the driver's call.
    "bench/gpu": RUNTIME
    | {"ir/reference", "compiler/targets", "runtime/cuda", "runtime/cuda/driver", "runtime/registry", "bench"},
    # Nor has the API a name for a worker and an exchange.
    "bench/tuner": {"support", "compiler/targets", "tuner/cache", "tuner/exchange", "tuner/worker", "bench"},
    "examples": {"include"},
    # The Python package stands on the C API as any other program does.
    "python": set(),
    "python/core": {"include"},
}

# No compiler, no solver, no search: what libpadlock_runtime is made of.
COMPILERS = ("onnx", "compiler", "solver", "trace", "tuner/exchange", "tuner/trial", "tuner/worker", "tuner/search", "session/compile", "capi/compile")
WITHOUT = {
    "session/launch": COMPILERS,
    "capi/launch": COMPILERS,
    "runtime": ("compiler", "solver", "trace", "tuner", "session"),
    "tools": ("ir", "onnx", "abi", "solver", "compiler", "trace", "runtime", "tuner", "session"),
    "examples": ("ir", "onnx", "abi", "solver", "compiler", "trace", "runtime", "tuner", "session", "capi"),
    "python": ("support", "ir", "onnx", "abi", "solver", "compiler", "trace", "runtime", "tuner", "session", "capi"),
}
ANYTHING = {"tests"}
NOT_SOURCES = {"build", "cmake", "docs", "scripts"}

# Library: (headers, names, who may include or say them).
FOREIGN = [
    ("LLVM", r"^(llvm|llvm-c)/", r"\bllvm::", r"^compiler/(emit|codegen)/"),
    ("isl", r"^isl/", r"\bisl_[a-z]", r"^tests/"),
    ("CUDA", r"^(cuda|cuda_runtime|cuda_fp16|nvrtc|nvml)(_api)?\.h$", r"\bCU(?!DA)[a-z][A-Za-z]+\b|\bcu[A-Z][A-Za-z]+\b", r"^runtime/cuda/"),
    ("doctest", r"^doctest/", r"\bTEST_CASE\(", r"^tests/"),
    ("SQLite", r"^sqlite3\.h$", r"\bsqlite3_[a-z]", r"^tuner/cache/database\.cpp$"),
    ("protozero", r"^protozero/", r"\bprotozero::", r"^onnx/wire\.cpp$"),
    ("xxHash", r"^xxhash\.h$", r"\bXXH3?_[0-9a-z]", r"^support/hash\.cpp$"),
    ("nlohmann", r"^nlohmann/", r"\bnlohmann::", r"^(tuner/cache/record_text|tools/text/json_value)\.cpp$"),
    ("nanobind", r"^nanobind/", r"\bnanobind::", r"^python/core/"),
    ("Python", r"^Python\.h$", r"\bPyObject\b", r"^python/core/"),
    ("CLI11", r"^CLI/", r"\bCLI::", r"^(tools|bench)/"),
]
FOREIGN = [(name, re.compile(headers), re.compile(names), re.compile(places)) for name, headers, names, places in FOREIGN]
# Files that say a library's names without its headers: forward declarations, and words for people.
SAYS_NAMES = {
    "LLVM": re.compile(r"^compiler/pass_edits\.h$"),
    "SQLite": re.compile(r"^tuner/(cache/database\.h|absent\.cpp)$"),
    "CUDA": re.compile(r"^examples/embedding/cuda_stream\.c$"),  # a program that has a stream of its own
}

# A newcomer reads a folder as a list; what is longer holds two ideas.
MOST_FILES = 30

# No function of the tuner takes a caller's memory (rule R3).
FORBIDDEN_NAMES = {"tuner": re.compile(r"\b(UserBuffer|BufferView)\b")}

SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".inc", ".def", ".cu"}
_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
# A string or a comment, which may say anything.
_PROSE = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def includes_of(text):
    """(line number, delimiter, header) of each #include in `text`."""
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _INCLUDE.match(line):
            yield number, match[1], match[2]


def room_of(path):
    """The listed room that a path from the root lies in, else its first part."""
    parts = path.split("/")
    listed = ["/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]
    return next((room for room in listed if room in ROOMS), parts[0])


def lies_in(path, rooms):
    return any(path == room or path.startswith(f"{room}/") for room in rooms)


def target_room(root, header):
    """The project's room that `header` names, or None for a header from elsewhere."""
    if header.startswith("padlock/"):
        return "include"
    room = room_of(header)
    return room if "/" in header and (room in ROOMS or room in ANYTHING or (root / header).exists()) else None


def objection(root, path, delimiter, header):
    """Why the file at `path` may not include `header`, or None."""
    room = room_of(path)
    for name, headers, _, places in FOREIGN:
        if headers.match(header) and room not in ANYTHING and not places.match(path):
            return f"{name} headers are not for this folder"
    target = target_room(root, header)
    if delimiter == '"' and target is None:
        return 'includes in quotes are written from the root, e.g. "ir/expr/expr.h"'
    if room in ANYTHING or target is None or target == room or target in ROOMS[room]:
        return None
    return f"{room}/ must not know {target}/"


def without_prose(text):
    """The text with strings and comments blanked out, line by line in place."""
    return _PROSE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def named(path, text):
    """(line, message) of each foreign or forbidden name in a product file."""
    code = without_prose(text).splitlines()
    for line, content in enumerate(code, start=1):
        if _INCLUDE.match(content):
            continue
        for name, _, names, places in FOREIGN:
            allowed = places.match(path) or (name in SAYS_NAMES and SAYS_NAMES[name].match(path))
            if not allowed and (match := names.search(content)):
                yield line, f"names {match[0].rstrip('(')}: {name} is not for this folder"
    for room, names in FORBIDDEN_NAMES.items():
        if lies_in(path, [room]):
            for line, content in enumerate(text.splitlines(), start=1):
                if match := names.search(content):
                    yield line, f"names {match[0]}: {room}/ works on ScratchBuffers alone"


def source_files(root):
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if path.suffix in SUFFIXES and path.is_file() and parts[0] not in NOT_SOURCES and parts[0][0] != ".":
            yield path.relative_to(root)


class Chains:
    """Follows includes of includes, and from a header to the source of its name."""

    def __init__(self, texts):
        self._texts = texts  # by path

    def _next(self, path):
        for _, delimiter, header in includes_of(self._texts[path]):
            if header in self._texts:
                yield header
        if path.endswith(".h") and f"{path[:-2]}.cpp" in self._texts:
            yield f"{path[:-2]}.cpp"

    def to(self, start, rooms):
        """The first chain of files from `start` into one of `rooms`, or None."""
        before, pending = {start: None}, [start]
        for path in pending:
            if lies_in(path, rooms):
                chain = [path]
                while before[chain[-1]] is not None:
                    chain.append(before[chain[-1]])
                return chain[::-1]
            for following in self._next(path):
                if following not in before:
                    before[following] = path
                    pending.append(following)
        return None


def check_chains(texts):
    chains = Chains(texts)
    for path in texts:
        for room, rooms in WITHOUT.items():
            if lies_in(path, [room]) and (chain := chains.to(path, rooms)):
                yield f"{path}:1: reaches {chain[-1]}, which does not exist where {room}/ runs: {' -> '.join(chain)}"
                break


def check_sizes(root):
    for folder, count in sorted(collections.Counter(file.parent for file in source_files(root)).items()):
        if count > MOST_FILES:
            yield f"{folder.as_posix()}:1: holds {count} files, and {MOST_FILES} at most are a list that one reads"


# A line that begins or ends a namespace, or defines a type outside of all others.
_SCOPE = re.compile(r"^(?:namespace (?P<begins>[\w:]*) ?\{$|(?P<ends>\}  // namespace)|(?:struct|class|enum class) (?P<type>\w+)(?: final)?(?: : [^;]*)? \{)")


def types_of(text):
    """(line, name with its namespaces) of each type that a header defines outside of other types."""
    scopes = []
    for number, line in enumerate(text.splitlines(), start=1):
        match = _SCOPE.match(line)
        if not match:
            continue
        if match["begins"] is not None:
            scopes.append(match["begins"])
        elif match["ends"]:
            del scopes[-1:]
        else:
            yield number, "::".join([*scopes, match["type"]])


def check_types(texts):
    known = {}
    for path in (path for path in texts if path.endswith(".h")):
        for line, name in types_of(texts[path]):
            first = known.setdefault(name, path)
            if first != path:
                yield f"{path}:{line}: defines {name}, as {first} does"


def check(root):
    """All violations below `root`, as lines "FILE:LINE: message"."""
    violations, texts = list(check_sizes(root)), {}
    for file in source_files(root):
        path = file.as_posix()
        room = room_of(path)
        if room not in ROOMS and room not in ANYTHING:
            violations.append(f"{path}:1: {room}/ has no place among the rooms of {pathlib.Path(__file__).name}")
            continue
        text = (root / file).read_text(encoding="utf-8", errors="replace")
        for line, delimiter, header in includes_of(text):
            if reason := objection(root, path, delimiter, header):
                violations.append(f"{path}:{line}: includes {header}: {reason}")
        if room not in ANYTHING:
            texts[path] = text
            violations += [f"{path}:{line}: {message}" for line, message in named(path, text)]
    return violations + list(check_chains(texts)) + list(check_types(texts))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    violations = check(root)
    print("\n".join(violations) if violations else "layers: every include and every name is drawn in the design")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
