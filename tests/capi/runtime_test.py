"""libpadlock_runtime as a file: it exports what padlock_runtime.map lists, needs no compiler, is small, and runs a pack.

When the exports fail: as for libpadlock (exports_test.py); what needs no compiler belongs into both maps.

usage: runtime_test.py LIBRARY SOURCE_FOLDER NM READELF STRIP PADLOCK EXAMPLE
STRIP is empty where the library is as it is installed; PADLOCK where there is no command.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LIBRARY, SOURCE, NM, READELF, STRIP, PADLOCK, EXAMPLE = sys.argv[1:8]
MOST_BYTES = 1 << 20


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def listed(name):
    return re.findall(r"^    (padlock_\w+);$", pathlib.Path(SOURCE, "capi", name).read_text(), re.M)


class Runtime(unittest.TestCase):
    def test_it_exports_what_is_listed(self):
        exported = {line.split()[2].split("@")[0] for line in run(NM, "-D", "--defined-only", LIBRARY).splitlines()
                    if line.split()[1] != "A"}
        mapped = listed("padlock_runtime.map")
        self.assertEqual(mapped, sorted(set(mapped)))
        self.assertEqual(sorted(exported), mapped)
        self.assertLess(set(mapped), set(listed("padlock.map")))
        self.assertIn("padlock_pack_load", mapped)

    def test_it_needs_no_compiler(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run(READELF, "-d", LIBRARY))
        self.assertIn("libc.so.6", needed)
        for name in needed:
            self.assertRegex(name, r"^(lib(stdc\+\+|gcc_s|m|c)\.so|ld-linux)", needed)

    def test_it_is_small(self):
        with tempfile.TemporaryDirectory() as folder:
            installed = pathlib.Path(LIBRARY)
            if STRIP:
                installed = pathlib.Path(folder, "stripped.so")
                run(STRIP, "-o", installed, LIBRARY)
            self.assertLess(installed.stat().st_size, MOST_BYTES)

    @unittest.skipIf(PADLOCK == "", "the command that makes packs is not built")
    def test_it_runs_a_pack(self):
        with tempfile.TemporaryDirectory() as folder:
            pack = pathlib.Path(folder, "two.pack")
            run(PADLOCK, "pack", f"{SOURCE}/examples/pad_relu.pad", f"{SOURCE}/examples/concat_slice.pad",
                f"--output={pack}", "--quiet")
            lines = run(EXAMPLE, pack).splitlines()
            self.assertEqual(lines[0], "has pad_relu")
            self.assertEqual(lines[-1], "z: 0 1 0 3 0 0 0 0 0 0 5 0 0 0 0 0")
            pack.write_bytes(pack.read_bytes()[:-1])
            done = subprocess.run([EXAMPLE, pack], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("DATA_LOSS: ", done.stderr)
            self.assertIn("the pack is damaged: it says that it has", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
