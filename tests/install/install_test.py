"""The installed tree, moved elsewhere, serves a C and a C++ program, shared and static, by CMake and by pkg-config; and
another project may add this one as a folder without a variable of its own changing.

usage: install_test.py SOURCE BUILD CMAKE GENERATOR CC CXX LLVM_DIR
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, CMAKE, GENERATOR, CC, CXX, LLVM_DIR = sys.argv[1:8]
HERE = pathlib.Path(__file__).resolve().parent
C_OUTPUT = "z: f32[2, 8]: 0 0 0 0 0 0 1 2 0 0 0 0 0 0 1 2\n"


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="padlock_install_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        first = cls.folder / "first"
        for component in ("library", "runtime", "development"):
            run(CMAKE, "--install", BUILD, "--prefix", first, "--component", component)
        cls.prefix = cls.folder / "moved"
        first.rename(cls.prefix)
        cls.first = first

    def configure(self, source, *options):
        build = self.folder / f"build_{self.id().rsplit('.', 1)[-1]}"
        output = run(CMAKE, "-S", source, "-B", build, "-G", GENERATOR, f"-DCMAKE_C_COMPILER={CC}",
                     f"-DCMAKE_CXX_COMPILER={CXX}", f"-DLLVM_DIR={LLVM_DIR}", "-DCMAKE_BUILD_TYPE=Debug", *options)
        return build, output

    def test_nothing_names_where_it_was_installed_or_built(self):
        texts = [path for path in self.prefix.rglob("*") if path.suffix in (".cmake", ".pc", ".h", ".hpp")]
        self.assertGreaterEqual(len(texts), 7)
        for path in texts:
            for folder in (str(self.first), SOURCE, BUILD):
                self.assertNotIn(folder, path.read_text(), path)

    def test_a_project_finds_the_package(self):
        build, _ = self.configure(HERE / "consumer", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                                  f"-DEXAMPLES={SOURCE}/examples/embedding")
        run(CMAKE, "--build", build)
        for kind in ("shared", "static"):
            self.assertTrue(run(build / f"c_{kind}").startswith(C_OUTPUT), kind)
            self.assertIn("S + lo >= 0 breaks S = 3 lo = -5\n", run(build / f"cpp_{kind}"))
        # It finds its worker where it was installed.
        environment = {name: value for name, value in os.environ.items() if name != "PADLOCK_WORKER"}
        self.assertIn("task_kib", run(build / "tune_shared", self.folder / "tuned.db", "0.2", env=environment))

        for kind in ("runtime", "runtime_static"):
            done = subprocess.run([build / f"pack_{kind}", "/nowhere/x.pack"], capture_output=True, text=True)
            self.assertIn("NOT_FOUND: ", done.stderr)

    def test_components_that_there_are_not_are_answered_with_those_there_are(self):
        def find(components):
            source = self.folder / "components"
            source.mkdir(exist_ok=True)
            (source / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(components C CXX)\n"
                f"find_package(padlock 0.2 REQUIRED {components})\nmessage(STATUS found)\n")
            return subprocess.run([CMAKE, "-S", source, "-B", source / "build", "--fresh", "-G", GENERATOR,
                                   f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={CXX}",
                                   f"-DCMAKE_C_COMPILER={CC}", f"-DLLVM_DIR={LLVM_DIR}"], capture_output=True, text=True)

        for good in ("", "COMPONENTS shared", "COMPONENTS static shared", "OPTIONAL_COMPONENTS wrong"):
            done = find(good)
            self.assertEqual(done.returncode, 0, (good, done.stderr))
        for bad in ("COMPONENTS wrong", "COMPONENTS shared wrong"):
            done = find(bad)
            self.assertNotEqual(done.returncode, 0, bad)
            self.assertIn("expected components of padlock (shared, static), found 'wrong'", " ".join(done.stderr.split()))

    def test_the_command_brings_its_pages_and_the_license(self):
        prefix = self.folder / "command"
        run(CMAKE, "--install", BUILD, "--prefix", prefix, "--component", "command")
        for path in ("share/man/man1/padlock.1", "share/bash-completion/completions/padlock",
                     "share/zsh/site-functions/_padlock", "share/fish/vendor_completions.d/padlock.fish",
                     "share/doc/padlock/LICENSE", "share/doc/padlock/README.md", "share/doc/padlock/docs/cli.md",
                     "share/doc/padlock/examples/pad_relu.pad", "share/doc/padlock/examples/embedding/pad_relu.c"):
            self.assertTrue((prefix / path).stat().st_size > 0, path)
        self.assertTrue(list(self.prefix.rglob("LICENSE")))

    def test_pkg_config_finds_it(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("there is no pkg-config")
        (file,) = self.prefix.rglob("padlock.pc")
        words = run("pkg-config", "--cflags", "--libs", "padlock", env=dict(os.environ, PKG_CONFIG_PATH=str(file.parent)))
        program = self.folder / "by_pkg_config"
        run(CC, f"{SOURCE}/examples/embedding/pad_relu.c", "-o", program, *words.split(),
            f"-Wl,-rpath,{file.parent.parent}")
        self.assertTrue(run(program).startswith(C_OUTPUT))

    def test_another_project_adds_it_as_a_folder(self):
        _, output = self.configure(HERE / "within", f"-DPADLOCK={SOURCE}")
        self.assertIn("no variable changed", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
