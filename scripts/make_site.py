#!/usr/bin/env python3
"""Puts together what MkDocs makes the site of: the pages as they lie in the repository, so that their links hold, and pages of
the C, C++ and Python API made from headers and docstrings. ./dev docs calls it.

usage: make_site.py FOLDER
"""

import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What pages link to beside each other.
FOLDERS = ("docs", "examples", "bench/results", "bench/gpu", "bench/zoo", "include")
FILES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "bench/cases.txt", "bench/pairs.txt")
PYTHON = ("padlock", "padlock.numpy", "padlock.torch", "padlock.jax", "padlock.onnx", "padlock.lang")
SECTION = re.compile(r"/\* -{4} (.*?) -+ \*/")


def without_stars(comment):
    """The text of a C comment."""
    text = re.sub(r"^/\*+|\*/$", "", comment.strip())
    return "\n".join(re.sub(r"^\s*\*? ?", "", line) for line in text.splitlines()).strip()


def declarations_of(section):
    """(comment, declaration) in their order; of either there may be none."""
    at, comment, depth, begin = 0, "", 0, None
    while at < len(section):
        if begin is None and section.startswith("/*", at):
            end = section.index("*/", at) + 2
            comment, at = without_stars(section[at:end]), end
        elif begin is None and section[at] == "#":
            end = section.find("\n", at)
            line = section[at:end if end != -1 else len(section)]
            if line.startswith("#define PADLOCK_API_VERSION"):
                yield comment, line
            comment, at = "", at + len(line)
        elif section.startswith("/*", at):
            at = section.index("*/", at) + 2
        else:
            if begin is None and not section[at].isspace():
                begin = at
            depth += {"{": 1, "}": -1}.get(section[at], 0)
            at += 1
            if begin is not None and depth == 0 and section[at - 1] == ";":
                yield comment, section[begin:at]
                begin, comment = None, ""


def c_page(header):
    """A page of padlock.h: its sections, each declaration below its contract."""
    parts = SECTION.split(header)
    page = ["# C API", "", "Made from `padlock.h`. [C and C++](docs/embedding.md) shows how it is used.", ""]
    for title, section in zip(parts[1::2], parts[2::2]):
        section = re.split(r"\n#(?:if|endif)[^\n]*__cplusplus", section)[0]
        page += [f"## {title}", ""]
        for comment, code in declarations_of(section):
            code = re.sub(r"^PADLOCK_API ", "", code)
            if not re.match(r"typedef struct \w+ \w+;|PADLOCK_STATIC_ASSERT|extern", code):
                page += [*([comment, ""] if comment else []), "```c", code, "```", ""]
    return "\n".join(page)


def without_bodies(code):
    """A class's public part, of whose functions the bodies are left out."""
    kept, brackets, skipped = [], 0, 0
    for character in re.split(r"\n private:", code.rstrip("; \n"))[0]:
        brackets += {"(": 1, ")": -1}.get(character, 0) if not skipped else 0
        if skipped or (character == "{" and brackets == 0 and re.search(r"(\)|const|noexcept)\s*$", "".join(kept[-12:]))):
            skipped += {"{": 1, "}": -1}.get(character, 0)
            if not skipped:
                kept.append(";")
        else:
            kept.append(character)
    text = re.sub(r"\s*;+", ";", re.sub(r"\)( noexcept)? : [^;]*;", r")\1;", "".join(kept)))
    text = "\n".join(line for line in text.splitlines() if "using Handle::Handle" not in line).rstrip("}\n ")
    return f"{text}\n}};"


def cpp_page(header):
    """A page of padlock.hpp: each class with its public part."""
    text = re.sub(r"^namespace detail \{.*?^\}  // namespace detail$", "", header, flags=re.M | re.S)
    page = ["# C++ API", "", "Made from `padlock.hpp`, C++17 in one header. Each class is one handle of [padlock.h](api-c.md).", ""]
    for match in re.finditer(r"((?:^/// [^\n]*\n)+)((?:template <[^\n]*>\n)?(?:class|struct) (\w+)[^;{]*\{.*?^\};)", text, re.M | re.S):
        page += [f"## {match[3]}", "", re.sub(r"^/// ?", "", match[1], flags=re.M).strip(), "", "```cpp", without_bodies(match[2]), "```", ""]
    return "\n".join(page)


def python_page():
    page = ["# Python API", "", "Made from docstrings. [Pads from Python](docs/python.md) shows how it is used.", ""]
    for name in PYTHON:
        page += [f"## {name}", "", f"::: {name}", ""]
    return "\n".join(page)


def main(folder):
    target = pathlib.Path(folder)
    shutil.rmtree(target, ignore_errors=True)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, target / name)
    for name in FILES:
        shutil.copy(ROOT / name, target / name)
    (target / "index.md").write_text((target / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    (target / "README.md").unlink()
    include = ROOT / "include" / "padlock"
    (target / "api-c.md").write_text(c_page((include / "padlock.h").read_text(encoding="utf-8")), encoding="utf-8")
    (target / "api-cpp.md").write_text(cpp_page((include / "padlock.hpp").read_text(encoding="utf-8")), encoding="utf-8")
    (target / "api-python.md").write_text(python_page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
