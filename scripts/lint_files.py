#!/usr/bin/env python3
"""Prints the sources that clang-tidy should look at, one a line: all, or those that changed. Messages go to stderr.

usage: lint_files.py BUILD_DIR [--since COMMIT | --branch] [--most N]

A file has changed if it differs from where this branch left COMMIT, committed or not, or is new. A header stands for the
source of its name. A source that the build folder does not compile (python/ without nanobind) is left out: clang-tidy
would not find its headers.
"""

import argparse
import json
import pathlib
import subprocess
import sys


def note(text):
    print(f"lint: {text}", file=sys.stderr)


def git(*arguments):
    """What git prints, as lines; nothing where it fails."""
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def commit_of(name):
    """The commit's hash, or None."""
    return next(iter(git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")), None)


def base_of(name):
    """Where HEAD left the commit, or None where they have no commit in common or there is no such commit."""
    return next(iter(git("merge-base", name, "HEAD")), None) if commit_of(name) else None


def base_of_branch():
    """Where HEAD left origin/main; the commit before HEAD where that is HEAD itself or there is no origin/main; None
    where HEAD is the first commit."""
    base = base_of("origin/main")
    return base if base and base != commit_of("HEAD") else commit_of("HEAD~1")


def files_since(commit):
    """The files that differ from the commit, all where it is None; those that git does not know yet are among them."""
    known = git("diff", "--name-only", "--diff-filter=d", commit) if commit else git("ls-files")
    return [pathlib.PurePath(file) for file in known + git("ls-files", "--others", "--exclude-standard")]


def compiled_in(build_dir):
    """The sources that the build folder compiles, relative to the current folder."""
    here = pathlib.Path.cwd()
    commands = json.loads((pathlib.Path(build_dir) / "compile_commands.json").read_text())
    files = (pathlib.PurePath(command["directory"], command["file"]) for command in commands)
    return {file.relative_to(here) for file in files if file.is_relative_to(here)}


def sources_of(files, compiled):
    """The sources to look at, the product's before the tests', and those that are not compiled."""
    sources = {file.with_suffix(".cpp") for file in files if file.suffix in {".h", ".hpp"}} & compiled
    sources |= {file for file in files if file.suffix == ".cpp"}
    known = sorted(sources & compiled, key=lambda file: (file.parts[0] == "tests", file))
    return known, sorted(sources - compiled)


def base_asked_for(arguments, parser):
    """The commit to compare with; None: there is none to be found."""
    if arguments.branch:
        return base_of_branch()
    commit = base_of(arguments.since)
    if commit is None:
        parser.error(f"expected a commit that HEAD shares history with, found {arguments.since}")
    return commit


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build_dir")
    base = parser.add_mutually_exclusive_group()
    base.add_argument("--since", metavar="COMMIT")
    base.add_argument("--branch", action="store_true", help="since origin/main, or on it since the commit before")
    parser.add_argument("--most", type=int, help="print so many sources at most")
    arguments = parser.parse_args()

    commit = base_asked_for(arguments, parser) if arguments.since or arguments.branch else None
    if arguments.branch and commit is None:
        note("there is neither origin/main nor a commit before HEAD to compare with: nothing is linted")
        return
    sources, unknown = sources_of(files_since(commit), compiled_in(arguments.build_dir))
    if unknown:
        note(f"not linted, as {arguments.build_dir} does not compile them: {', '.join(map(str, unknown))}")
    chosen = sources[: arguments.most]
    note(f"{len(chosen)} sources" + (f" that changed since {commit[:9]}" if commit else ""))
    if len(chosen) < len(sources):
        note(f"{len(sources) - len(chosen)} more are left out; ./dev lint looks at all")
    for source in chosen:
        print(source)


if __name__ == "__main__":
    main()
