#!/usr/bin/env python3
"""Prints what has to be built for the tests that are chosen: all of a configured build folder but the programs of other tests.

usage: test_targets.py BUILD_DIR [-R REGEX] [-E REGEX]
"""

import argparse
import json
import pathlib
import re
import subprocess


def names_of_tests(build_dir):
    """The names of all tests, built or not."""
    command = ["ctest", "--test-dir", build_dir, "--show-only=json-v1"]
    return [test["name"] for test in json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["tests"]]


def inputs_of(build_dir, targets):
    """(target, what it is made by, its inputs) for each target, as Ninja knows them."""
    output = subprocess.run(["ninja", "-C", build_dir, "-t", "query", *targets], check=True, capture_output=True, text=True).stdout
    for text in re.split(r"^(?=\S)", output, flags=re.MULTILINE)[1:]:
        name, *lines = text.splitlines()
        rule = next((line.split()[1] for line in lines if line.startswith("  input: ")), None)
        body = lines[1:lines.index("  outputs:")] if rule else []
        yield name.rstrip(":"), rule, [line.split()[-1] for line in body]


def leaves_of(query):
    """Follows "all" to what it stands for: `query` names the inputs of targets, and the folders' own "all" is no leaf."""
    leaves, folders = [], ["all"]
    while folders:
        found = [target for _, _, inputs in query(folders) for target in inputs]
        folders = [target for target in found if target.endswith("/all")]
        leaves += [target for target in found if not target.endswith("/all")]
    return leaves


def needed(leaves, tests, chosen):
    """The leaves without the programs of tests that are not chosen. A program may serve several tests: `name` also
    `name_more`."""
    def is_idle(program):
        return program in tests and not any(name == program or name.startswith(f"{program}_") for name in chosen)

    return [leaf for leaf in leaves if not is_idle(pathlib.PurePath(leaf).name)]


def chosen_of(tests, wanted, unwanted):
    return [name for name in tests
            if (not wanted or re.search(wanted, name)) and not (unwanted and re.search(unwanted, name))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build_dir")
    parser.add_argument("-R", dest="wanted", help="only the tests that match")
    parser.add_argument("-E", dest="unwanted", help="none of the tests that match")
    arguments = parser.parse_args()
    tests = names_of_tests(arguments.build_dir)
    leaves = leaves_of(lambda targets: inputs_of(arguments.build_dir, targets))
    print("\n".join(needed(leaves, set(tests), chosen_of(tests, arguments.wanted, arguments.unwanted))))


if __name__ == "__main__":
    main()
