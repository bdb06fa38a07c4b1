"""Every command in docs/cli.md, and every example at the end of a help text, works as typed."""

import os
import re
import shlex
import unittest

from padlock_testing import SOURCE, Case

SUBCOMMANDS = ("run", "emit", "prove", "explain", "devices", "version")


def documented_commands():
    text = (SOURCE / "docs" / "cli.md").read_text(encoding="utf-8")
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                yield line[2:]


class Documentation(Case):
    def check_command(self, line):
        words = shlex.split(line)
        self.assertEqual(words[0], "padlock", line)
        done = self.padlock(*words[1:], cwd=SOURCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        self.assertNotEqual(done.stdout, "", line)

    def test_documented_commands(self):
        commands = list(documented_commands())
        self.assertGreater(len(commands), 10)
        for line in commands:
            self.check_command(line)
        (written,) = {m[1] for line in commands if (m := re.search(r"--output=\w+=@(\S+)", line))}
        os.remove(written)

    def test_help_ends_with_two_examples(self):
        for subcommand in SUBCOMMANDS:
            text = self.succeed(subcommand, "-h")
            examples = text[text.index("Examples:") :].split("\n")[1:]
            examples = [line.strip() for line in examples if line.strip()]
            self.assertEqual(len(examples), 2, text)
            for line in examples:
                self.check_command(line)

    def test_every_option_is_documented(self):
        page = (SOURCE / "docs" / "cli.md").read_text(encoding="utf-8")
        for subcommand in SUBCOMMANDS:
            for option in re.findall(r"^  (?:-h,)?(--[a-z-]+)", self.succeed(subcommand, "-h"), re.MULTILINE):
                if option not in ("--help", "--target"):
                    self.assertIn(f"{option}", page, subcommand)

    def test_every_subcommand_is_documented(self):
        page = (SOURCE / "docs" / "cli.md").read_text(encoding="utf-8")
        listed = self.succeed("-h").split("Subcommands:")[1]
        names = re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)
        self.assertEqual(sorted(names), sorted(SUBCOMMANDS))
        for name in names:
            self.assertRegex(page, rf"(?m)^## .*\b{name}\b")


if __name__ == "__main__":
    unittest.main()
