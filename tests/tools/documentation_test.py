"""Every command of the README and of a page in docs/, and every example at the end of a help text, works as typed. What a
page shows of a command's output is in it; a command of which it shows an error fails with that."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

from padlock_testing import PADLOCK, SOURCE, Case

CACHE_ACTIONS = ("list", "show", "verify", "merge", "diff", "prune", "export", "import", "sync", "report")
SUBCOMMANDS = ("run", "emit", "prove", "explain", "import", "pack", "tune", "bench", "cache", "devices", "version", "completion", "man")
HELP_TEXTS = [(name,) for name in SUBCOMMANDS] + [("cache", action) for action in CACHE_ACTIONS]
# Which examples write.
CACHE = pathlib.Path("/tmp/padlock_tuning.db")
PACK = pathlib.Path("/tmp/two.pack")
# What the page on debugging writes.
DUMPS = pathlib.Path("/tmp/padlock_dumps")
RIGHT = pathlib.Path("/tmp/padlock_right.npy")
# A result that a page writes and reads.
WRITTEN = pathlib.Path("/tmp/padlock_z.npy")
# Commands that a page has at least, so that a change of its form does not leave them out.
LEAST_COMMANDS = {
    "README.md": 3, "docs/start.md": 3, "docs/programs.md": 3, "docs/cli.md": 30, "docs/cli-reference.md": 6, "docs/onnx.md": 4,
    "docs/proofs.md": 6, "docs/tuning.md": 14,
}
# Where caches meet.
FLEET = pathlib.Path("/tmp/padlock_fleet")


def documented_commands(page):
    """Each command of a page, with the lines that the page shows of its output."""
    text = (SOURCE / page).read_text(encoding="utf-8")
    commands = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            else:
                commands[-1][1].append(line)
    return commands


class Documentation(Case):
    def check_command(self, line, shown=()):
        line, _, file = line.partition(" < ")
        words = shlex.split(line)
        self.assertEqual(words[0], "padlock", line)
        done = self.padlock(*words[1:], cwd=SOURCE, stdin=SOURCE / file if file else None)
        if shown and shown[0].startswith("padlock: error: "):
            self.assertNotEqual(done.returncode, 0, line)
            self.assertEqual(done.stderr.splitlines()[: len(shown)], shown, line)
            return
        self.assertEqual(done.returncode, 0, (line, done.stderr))
        if words[1] != "tune":  # which says how far it is, once a second
            self.assertEqual(done.stderr, "", line)
        self.assertNotEqual(done.stdout, "", line)
        for text in shown:
            self.assertIn(f"\n{text}", f"\n{done.stdout}", line)

    def check_page(self, page, least):
        commands = documented_commands(page)
        self.assertGreaterEqual(len(commands), least)
        for line, shown in commands:
            self.check_command(line, shown)
        return [line for line, _ in commands]

    def setUp(self):
        super().setUp()
        for file in (CACHE, PACK, RIGHT):
            file.unlink(missing_ok=True)
            self.addCleanup(file.unlink, missing_ok=True)
        shutil.rmtree(FLEET, ignore_errors=True)
        FLEET.mkdir()
        self.addCleanup(shutil.rmtree, FLEET)

    def test_commands_of_the_pages(self):
        """All pages but two, whose commands have tests of their own; a page without commands is known as such."""
        for page in ("README.md", *(f"docs/{file.name}" for file in sorted((SOURCE / "docs").glob("*.md")))):
            if page not in ("docs/architecture.md", "docs/debugging.md"):
                with self.subTest(page=page):
                    self.check_page(page, LEAST_COMMANDS.get(page, 0))
        WRITTEN.unlink()

    def test_commands_of_the_page_on_debugging(self):
        """They are a shell's. What is shown is in the output, numbers aside; the dump's folder has this process's number."""
        environment = {**os.environ, "PADLOCK": PADLOCK, "PATH": f"{os.path.dirname(PADLOCK)}:{os.environ['PATH']}"}
        self.addCleanup(shutil.rmtree, DUMPS, ignore_errors=True)
        commands = documented_commands("docs/debugging.md")
        self.assertGreaterEqual(len(commands), 13)
        for line, shown in commands:
            dumped = next(iter(DUMPS.iterdir())).name if DUMPS.exists() else ""
            done = subprocess.run(
                ["bash", "-c", line.replace("pad_relu-host-1234-0", dumped)],
                cwd=SOURCE, env=environment, capture_output=True, text=True, timeout=60, check=False,
            )
            self.assertEqual(done.returncode, 5 if "padlock: error: " in "".join(shown) else 0, (line, done.stderr))
            printed = [re.sub(r"\d+", "#", text) for text in (done.stdout + done.stderr).splitlines()]
            for text in shown:
                self.assertIn(re.sub(r"\d+", "#", text), printed, line)
            if line.startswith("ls "):
                self.assertEqual(len(printed), len(shown), (line, printed))

    def test_every_dumped_file_is_documented(self):
        page = (SOURCE / "docs" / "debugging.md").read_text(encoding="utf-8")
        source = (SOURCE / "trace" / "observer.cpp").read_text(encoding="utf-8")
        for name in set(re.findall(r'"([a-z]+\.(?:txt|sh|pad|s|ptx))"', source)):
            self.assertRegex(page, rf"(?m)^\| [^|]*`{re.escape(name)}`", name)

    def test_one_program_at_every_stage(self):
        """The architecture page shows some stages whole, and of others lines in their order, registers' numbers aside."""
        stages = []
        for line, shown in documented_commands("docs/architecture.md"):
            words = shlex.split(line)
            if words[1] != "emit":
                self.check_command(line, shown)
                continue
            stages.append(words[3].removeprefix("--stage="))
            done = self.padlock(*words[1:], cwd=SOURCE)
            self.assertEqual((done.returncode, done.stderr), (0, ""), line)
            if stages[-1] in ("ir", "kernel", "schedule"):
                self.assertEqual(done.stdout.splitlines(), shown, line)
                continue
            printed = iter(re.sub(r"%[a-z]*\d+", "%", text) for text in done.stdout.splitlines())
            for text in shown:
                self.assertIn(re.sub(r"%[a-z]*\d+", "%", text), printed, (line, text))
        self.assertEqual(stages, ["ir", "kernel", "schedule", "llvm", "asm", "ptx"])

    def test_passes_are_those_of_the_pipeline(self):
        page = (SOURCE / "docs" / "architecture.md").read_text(encoding="utf-8")
        pipeline = (SOURCE / "compiler" / "pipeline.cpp").read_text(encoding="utf-8")
        at = 0
        for cell in re.findall(r"(?m)^\| (`[^|]*`) \| ", page.split("## Passes")[1].split("\n## ")[0]):
            for name in re.findall(r"`(\w+)`", cell):
                at = pipeline.find(name, at)
                self.assertNotEqual(at, -1, f"{name} after the passes before it")

    def test_functions_that_the_pages_name_are_declared(self):
        header = (SOURCE / "include" / "padlock" / "padlock.h").read_text(encoding="utf-8")
        for page in ("README.md", "docs/embedding.md"):
            named = set(re.findall(r"\bpadlock_\w+(?=\()", (SOURCE / page).read_text(encoding="utf-8")))
            self.assertGreaterEqual(len(named), 1, page)
            for name in named:
                self.assertIn(f" {name}(", header, page)

    def test_files_that_the_pages_name_are_there(self):
        for page in (SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").glob("*.md"))):
            names = re.findall(r"`(?!build/)([a-z_]+/[\w./*{},-]*)`", page.read_text(encoding="utf-8"))
            self.assertEqual([name for name in names if not any(SOURCE.glob(name))], [], page.name)

    def test_every_config_key_is_documented(self):
        page = (SOURCE / "docs" / "cli-reference.md").read_text(encoding="utf-8")
        for target in ("host", "sm_90"):
            command = ("explain", str(SOURCE / "examples" / "pad_relu.pad"), f"--target={target}")
            (config,) = re.findall(r"^config\n  (\S+)$", self.succeed(*command), re.MULTILINE)
            for key in re.findall(r"(\w+)=", config):
                self.assertRegex(page, rf"(?m)^\| `{key}` \|")

    def test_links_between_the_pages_lead_somewhere(self):
        for page in (SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").glob("*.md"))):
            for target in re.findall(r"\]\((?!https?://)([^)#]*)", page.read_text(encoding="utf-8")):
                self.assertTrue((page.parent / target).exists(), (page.name, target))

    def test_help_ends_with_two_examples(self):
        for words in HELP_TEXTS:
            text = self.succeed(*words, "-h")
            examples = text[text.index("Examples:") :].split("\n")[1:]
            examples = [line.strip() for line in examples if line.strip()]
            self.assertEqual(len(examples), 2, text)
            for line in examples:
                self.check_command(line)

    def test_every_option_is_documented(self):
        page = "".join((SOURCE / "docs" / name).read_text(encoding="utf-8") for name in ("cli.md", "cli-reference.md"))
        for words in HELP_TEXTS:
            for option in re.findall(r"^  (?:-h,)?(--[a-z-]+)", self.succeed(*words, "-h"), re.MULTILINE):
                if option not in ("--help", "--target"):
                    self.assertIn(f"{option}", page, words)

    def test_every_subcommand_is_documented(self):
        page = (SOURCE / "docs" / "cli.md").read_text(encoding="utf-8")
        listed = self.succeed("-h").split("Subcommands:")[1]
        names = re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)
        self.assertEqual(sorted(names), sorted(SUBCOMMANDS))
        for name in names:
            self.assertRegex(page, rf"(?m)^## .*\b{name}\b")
        actions = re.findall(r"^  ([a-z]+) ", self.succeed("cache", "-h").split("Subcommands:")[1].split("Examples:")[0], re.MULTILINE)
        self.assertEqual(sorted(actions), sorted(CACHE_ACTIONS))
        for action in actions:
            self.assertRegex(page, rf"(?m)^\| `{action}\b")


if __name__ == "__main__":
    unittest.main()
