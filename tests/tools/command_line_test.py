"""The command line itself: help, versions, names that are almost right, the standard input, completions, the manual."""

import json
import pathlib
import re
import shutil
import subprocess
import unittest

from padlock_testing import PAD_RELU, PADLOCK, SOURCE, Case, floats, npy

X = "--input=x=@x.npy"
COMMANDS = ("run", "emit", "import", "prove", "explain", "pack", "tune", "bench", "cache", "devices", "version", "completion", "man")
MODEL = SOURCE / "examples/pad_to_multiple.onnx"


class CommandLine(Case):
    def setUp(self):
        super().setUp()
        self.write("p.pad", PAD_RELU)
        self.write("x.npy", npy("<f4", (1, 3), floats(1, 2, 3)))

    def pipe(self, content, *arguments):
        done = subprocess.run([PADLOCK, *arguments], cwd=self.folder, input=content, capture_output=True, timeout=60, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_the_version_has_three_spellings(self):
        version = self.succeed("version")
        self.assertRegex(version, r"^padlock \d+\.\d+\.\d+ \(LLVM [\d.]+\)\n$")
        self.assertEqual(self.succeed("--version"), version)
        self.assertEqual(self.succeed("-V"), version)

    def test_a_report_of_a_fault_has_what_it_needs(self):
        facts = json.loads(self.succeed("version", "--verbose", "--json"))
        for name in ("version", "llvm", "commit", "api", "cpu", "driver", "device host", "cache", "worker"):
            self.assertTrue(facts[name], name)
        text = self.succeed("version", "--verbose")
        for name, value in facts.items():
            if name not in ("schema", "command", "version", "llvm"):
                self.assertIn(f"{name:<12}  {value}\n", text)
        self.assertTrue(facts["cache"].endswith("padlock/tuning.db"), facts["cache"])

    def test_help_is_a_command_too(self):
        self.assertEqual(self.succeed("help"), self.succeed("-h"))
        for command in COMMANDS:
            self.assertEqual(self.succeed("help", command), self.succeed(command, "--help"))
        self.assertEqual(self.succeed("help", "cache", "show"), self.succeed("cache", "show", "-h"))
        self.fail_with(2, "unknown subcommand 'rum'; did you mean 'run'?", "help", "rum")

    def test_help_says_exit_codes_files_and_where_the_pages_are(self):
        text = self.succeed("help")
        page = (SOURCE / "docs/cli-reference.md").read_text()
        codes = re.findall(r"(?m)^\| (\d+) \| ", page[page.index("## Errors and exit codes"):])
        self.assertEqual(re.findall(r"(?m)^ +(\d+)  \S", text), codes)
        self.assertIn("docs/cli.md", text)
        self.assertIn("PROGRAM.pad | MODEL.onnx | PACK | -", self.succeed("run", "-h"))

    def test_names_that_are_almost_right(self):
        usage = lambda message, *arguments: self.fail_with(2, message, *arguments)
        usage("unknown subcommand 'expalin'; did you mean 'explain'?", "expalin", "p.pad")
        self.fail_with(2, "unknown target 'sm90'", "emit", "p.pad", "--target=sm90")
        self.fail_with(2, "did you mean 'sm_90'?", "emit", "p.pad", "--target=sm90")
        usage("unknown subcommand 'shwo'; did you mean 'show'?", "cache", "shwo")
        usage("padlock run has no option '--ouput'; did you mean '--output'?", "run", "p.pad", "--ouput=z=@z.npy")
        usage("padlock cache show has no option '--progam'; did you mean '--program'?", "cache", "show", "--progam=12")
        usage("has no option '--frobnicate'\n", "run", "p.pad", "--frobnicate")
        usage("(it has: B, S, lo); did you mean 'B'?", "run", "p.pad", X, "--bind=b=1,lo=0")
        usage("(it has: x); did you mean 'x'?", "run", "p.pad", "--input=X=random")
        usage("(it returns: z); did you mean 'z'?", "run", "p.pad", X, "--output=Z=@z.npy")
        usage("found 'kernal'; did you mean 'kernel'?", "emit", "p.pad", "--stage=kernal")
        usage("found 'require_'; did you mean 'require'?", "run", "p.pad", X, "--cache-mode=require_")
        usage("found '1x3xfloat32'; write 'f32'", "run", "p.pad", "--input=x=1x3xfloat32=@x.npy")
        usage("found '1x3xf23'; did you mean 'f32'?", "run", "p.pad", "--input=x=1x3xf23=@x.npy")
        usage("found 'gpu'; write 'cuda:0'", "run", "p.pad", X, "--device=gpu")
        usage("found 'cpu'; write 'host'", "run", "p.pad", X, "--device=cpu")
        usage("found 'hots'; did you mean 'host'?", "run", "p.pad", X, "--device=hots")
        usage("; did you mean 'sm_90'?", "emit", "p.pad", "--stage=ptx", "--target=SM_90")
        usage("; did you mean 'host:znver4'?", "emit", "p.pad", "--stage=llvm", "--target=znver4")
        usage("; did you mean 'host:skylake'?", "emit", "p.pad", "--stage=llvm", "--target=host:skylak")
        usage("; did you mean 'unroll'?", "emit", "p.pad", "--stage=llvm", "--config=unrol=1")
        usage("found 'nontemproal'; did you mean 'nontemporal'?", "emit", "p.pad", "--stage=llvm", "--config=store=nontemproal")
        usage("found 'basch'; did you mean 'bash'?", "completion", "basch")

    def test_a_program_comes_from_the_standard_input(self):
        text = PAD_RELU.encode()
        self.assertEqual(self.pipe(text, "emit", "-"), (0, self.succeed("emit", "p.pad"), ""))
        code, out, _ = self.pipe(text, "run", "-", X, "--bind=lo=0", "--quiet", "--output=z=@z.npy")
        self.assertEqual((code, out), (0, ""))
        self.succeed("run", "p.pad", X, "--bind=lo=0", "--expect=z=@z.npy")
        code, _, err = self.pipe(b"program p(x: f33[A]) { return x }", "emit", "-")
        self.assertEqual(code, 3)
        self.assertIn("padlock: error: <stdin>:1:14: expected a type", err)
        with open(self.folder / "p.pad", "rb") as file:  # a file, not a pipe
            done = subprocess.run([PADLOCK, "emit", "-"], stdin=file, capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, self.succeed("emit", "p.pad"))

    def test_models_and_packs_are_known_by_their_first_bytes(self):
        model = MODEL.read_bytes()
        self.assertEqual(self.pipe(model, "import", "-")[1], self.succeed("import", str(MODEL)))
        self.write("model", model)
        self.assertEqual(self.succeed("emit", "model"), self.succeed("emit", str(MODEL)))
        self.assertEqual(self.pipe(model, "emit", "-")[1], self.succeed("emit", str(MODEL)))
        self.succeed("pack", "p.pad", "--output=f.pack", "--quiet")
        pack = (self.folder / "f.pack").read_bytes()
        self.write("renamed.bin", pack)
        wanted = re.sub("time: .*", "", self.succeed("run", "f.pack", X, "--bind=lo=0"))
        self.assertEqual(re.sub("time: .*", "", self.succeed("run", "renamed.bin", X, "--bind=lo=0")), wanted)
        self.assertEqual(re.sub("time: .*", "", self.pipe(pack, "run", "-", X, "--bind=lo=0")[1]), wanted)
        self.fail_with(3, "renamed.bin: expected a program or an ONNX model, found a pack", "emit", "renamed.bin")

    def test_a_byte_order_mark_is_skipped(self):
        self.write("bom.pad", b"\xef\xbb\xbf" + PAD_RELU.encode())
        self.assertEqual(self.succeed("emit", "bom.pad"), self.succeed("emit", "p.pad"))
        self.write("bad.pad", b"\xef\xbb\xbfprogram p(x: f33[A]) { return x }")
        error = self.fail_with(3, "bad.pad:1:14:", "emit", "bad.pad").stderr
        self.assertIn("\n  program p(x: f33[A]) { return x }\n               ^\n", error)
        self.write("u.pad", b"\xef\xbb\xbf" + PAD_RELU.encode())
        error = self.fail_with(4, "S + lo", "run", "u.pad", X, "--bind=lo=-5").stderr
        self.assertNotIn("\ufeff", error)

    def test_run_and_bench_say_where_the_config_is_from(self):
        forced = self.succeed("run", "p.pad", X, "--bind=lo=0", "--config=unroll=1")
        default = self.succeed("run", "p.pad", X, "--bind=lo=0")
        explained = json.loads(self.succeed("explain", "p.pad", "--bind=B=1,S=3,lo=0", "--json"))
        self.assertIn(f"\nconfig: {explained['config']}\n  {explained['reason']}\n", default)
        self.assertNotIn(explained["reason"], forced)
        report = json.loads(self.succeed("run", "p.pad", X, "--bind=lo=0", "--json"))
        self.assertEqual(report["reason"], explained["reason"])
        timed = self.succeed("bench", "p.pad", "--bind=B=1,S=3,lo=0", "--rounds=3")
        self.assertIn(f"\nconfig: {explained['config']}\n  {explained['reason']}\n", timed)
        self.assertIn("config: none (reference)\n", self.succeed("run", "p.pad", X, "--bind=lo=0", "--device=reference"))


class Scripts(Case):
    def options_of(self, *command):
        return set(re.findall(r"(?m)^ +(?:-\w,)?\s*(--[\w-]+)", self.succeed(*command, "-h")))

    def commands(self):
        found = [(name,) for name in COMMANDS if name != "cache"]
        return found + [("cache", name) for name in re.findall(r"(?m)^  (\w+) ", self.succeed("cache", "-h").split("SUBCOMMANDS:")[-1].split("Subcommands:")[-1].split("Examples:")[0])]

    def complete(self, *words):
        """What bash offers for the last word."""
        (self.folder / "script").write_text(self.succeed("completion", "bash"))
        quoted = " ".join(f"'{word}'" for word in ("padlock", *words))
        program = f"source ./script; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _padlock; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        done = subprocess.run(["bash", "-c", program], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split())

    def test_bash_offers_what_the_command_takes(self):
        self.assertEqual(self.complete("") - {"--help", "--version", "--version="}, set(COMMANDS))
        self.assertEqual(self.complete("ex"), {"explain"})
        for command in self.commands():
            offered = {name.rstrip("=") for name in self.complete(*command, "--")}
            self.assertEqual(offered, self.options_of(*command), command)
        self.assertIn("show", self.complete("cache", "s"))
        self.assertEqual(self.complete("run", "p.pad", "--device", "=", "s"), {"simt"})
        self.assertEqual(self.complete("emit", "--stage", "="), {"ir", "kernel", "schedule", "llvm", "ptx", "asm"})
        self.write("p.pad", PAD_RELU)
        self.assertEqual(self.complete("run", "p"), {"p.pad"})
        self.assertEqual(self.complete("tune", "--cache", "=", "p."), {"p.pad"})

    def test_every_value_that_is_offered_is_taken(self):
        self.write("p.pad", PAD_RELU)
        for stage in self.complete("emit", "--stage", "="):
            target = ("--target=sm_90",) if stage == "ptx" else ()
            self.succeed("emit", "p.pad", f"--stage={stage}", *target)
        for target in self.complete("explain", "--target", "="):
            self.succeed("explain", "p.pad", f"--target={target}")
        for mode in self.complete("run", "--cache-mode", "=") - {"require", "read-write"}:
            self.succeed("explain", "p.pad", f"--cache-mode={mode}")

    def test_zsh_and_fish_know_the_same_options(self):
        zsh, fish = self.succeed("completion", "zsh"), self.succeed("completion", "fish")
        for command in self.commands():
            for option in self.options_of(*command):
                self.assertRegex(zsh, rf"'\*{option}[=\[-]", (command, option))
                self.assertRegex(fish, rf"__fish_seen_subcommand_from {command[-1]}' -l {option[2:]} ", (command, option))
        for shell, script in (("zsh", zsh), ("fish", fish)):
            if shutil.which(shell):
                (self.folder / "script").write_text(script)
                subprocess.run([shell, "-n", "script"], cwd=self.folder, check=True)

    def test_the_manual_has_every_command_and_option(self):
        page = self.succeed("man")
        plain = re.sub(r"\\f[BIR]|\\&", "", page).replace("\\-", "-")
        for command in self.commands():
            section = plain[plain.index(f'.SS "{" ".join(command)}"'):]
            section = section[: section.find(".SS", 4)]
            for option in self.options_of(*command):
                self.assertIn(option, section, command)
        self.assertEqual(re.findall(r"(?m)^\.TP\n(\d+)\n", page)[:3], ["0", "1", "2"])
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww"], input=page, capture_output=True, text=True, check=True)
            self.assertEqual(done.stderr, "")
        self.assertFalse([line for line in page.splitlines() if line.startswith("'")])
        self.assertIn("--ulp=N\n", plain)


if __name__ == "__main__":
    unittest.main()
