#!/usr/bin/env python3
"""Prints what has to be built for the tests that are chosen. Where each is a program that the build makes: these programs, which
bring what they need. Where one is anything else, such as a script: all of a configured build folder but the programs of other tests.

usage: test_targets.py BUILD_DIR [-R REGEX] [-E REGEX]
"""

import argparse
import pathlib
import re
import subprocess


_TEST = re.compile(r'^(?:add_test\(\[(?P<rule>=*)\[(?P<name>.*?)\](?P=rule)\] (?P<command>.*)|subdirs\("(?P<folder>.*)")\)$', re.MULTILINE)


def commands_of_tests(folder):
    """The command of each test by its name, as CMake writes them for CTest, which knows none of what is not built. A folder
    without tests has no such file."""
    file, commands = pathlib.Path(folder) / "CTestTestfile.cmake", {}
    for found in _TEST.finditer(file.read_text() if file.exists() else ""):
        if found["folder"]:
            commands |= commands_of_tests(pathlib.Path(folder) / found["folder"])
        else:
            commands[found["name"]] = re.findall(r'"((?:[^"\\]|\\.)*)"', found["command"])
    return commands


def program_of(command, build_dir):
    """The target that a test runs, or None where it runs anything else, or reads what the build makes. Of
    `EMULATOR -L SYSROOT PROGRAM` it is PROGRAM."""
    command = command[3:] if command[1:2] == ["-L"] else command
    made = [pathlib.PurePath(word) for word in command if pathlib.PurePath(word).is_relative_to(build_dir)]
    return str(made[0].relative_to(build_dir)) if len(made) == 1 and str(made[0]) == command[0] else None


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


def to_build(leaves, commands, chosen, build_dir):
    programs = [program_of(commands[name], pathlib.Path(build_dir).resolve()) for name in chosen]
    if programs and all(program in leaves for program in programs):
        return list(dict.fromkeys(programs))
    return needed(leaves, set(commands), chosen)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build_dir")
    parser.add_argument("-R", dest="wanted", help="only the tests that match")
    parser.add_argument("-E", dest="unwanted", help="none of the tests that match")
    arguments = parser.parse_args()
    commands = commands_of_tests(arguments.build_dir)
    leaves = leaves_of(lambda targets: inputs_of(arguments.build_dir, targets))
    chosen = chosen_of(commands, arguments.wanted, arguments.unwanted)
    print("\n".join(to_build(leaves, commands, chosen, arguments.build_dir)))


if __name__ == "__main__":
    main()
