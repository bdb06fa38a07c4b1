import pathlib
import tempfile
import unittest

import check_layers

ROOT = pathlib.Path(__file__).resolve().parents[2]


def violations(files):
    """What check says of a tree with these files (path: text)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return check_layers.check(root)


class CheckLayers(unittest.TestCase):
    def refuses(self, path, include, reason):
        found = violations({path: f"#pragma once\n#include {include}\n"})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:2: includes {include[1:-1]}: "), found[0])
        self.assertTrue(found[0].endswith(reason), found[0])

    def accepts(self, path, include):
        self.assertEqual(violations({path: f"#include {include}\n"}), [])

    def test_this_tree_keeps_to_the_design(self):
        self.assertEqual(check_layers.check(ROOT), [])

    def test_finds_includes_in_this_tree(self):
        text = (ROOT / "ir" / "literal.h").read_text()
        self.assertIn(("\"", "support/error.h"), [found[1:] for found in check_layers.includes_of(text)])

    def test_arrows_point_one_way(self):
        self.accepts("ir/a.h", '"support/error.h"')
        self.refuses("support/a.h", '"ir/expr/expr.h"', "support/ must not know ir/")
        self.accepts("compiler/a.cpp", '"ir/expr/expr.h"')
        self.refuses("ir/a.cpp", '"compiler/kernel/kernel.h"', "ir/ must not know compiler/")

    def test_what_runs_does_not_know_what_builds(self):
        self.refuses("runtime/a.cpp", '"compiler/kernel/kernel.h"', "runtime/ must not know compiler/")
        self.refuses("compiler/a.cpp", '"runtime/buffer.h"', "compiler/ must not know runtime/")
        self.accepts("tuner/a.cpp", '"compiler/kernel/kernel.h"')

    def test_benchmarks_stand_on_the_api_alone(self):
        self.accepts("bench/a.cpp", '"session/compile/context.h"')
        self.accepts("bench/a.cpp", '"support/error.h"')
        self.refuses("bench/a.cpp", '"ir/expr/expr.h"', "bench/ must not know ir/")

    def test_examples_stand_on_the_librarys_interface_alone(self):
        self.accepts("examples/a.cpp", '"padlock/padlock.hpp"')
        for folder in ("support", "ir", "api"):
            self.refuses("examples/a.cpp", f'"{folder}/a.h"', f"examples/ must not know {folder}/")

    def test_nothing_knows_the_command(self):
        self.refuses("api/a.cpp", '"tools/run.h"', "api/ must not know tools/")

    def test_the_command_stands_on_the_librarys_interface_but_for_the_worker(self):
        self.accepts("tools/commands/run.cpp", '"padlock/padlock.hpp"')
        self.accepts("tools/commands/run.cpp", '"support/error.h"')
        for folder in ("ir", "compiler", "runtime", "tuner", "api"):
            self.refuses("tools/commands/run.cpp", f'"{folder}/a.h"', f"tools/ must not know {folder}/")
        for name in ("emit", "prove"):
            self.refuses(f"tools/{name}.cpp", '"session/compile/context.h"', "tools/ must not know api/")
        for name in ("worker", "worker_main"):
            self.accepts(f"tools/{name}.cpp", '"session/compile/context.h"')
            self.refuses(f"tools/{name}.cpp", '"ir/expr/expr.h"', "tools/ must not know ir/")

    def test_a_folder_within_one_has_rules_of_its_own_if_it_is_listed(self):
        self.accepts("bench/gpu/a.cpp", '"compiler/kernel/kernel.h"')
        self.accepts("bench/gpu/a.cpp", '"bench/report.h"')
        self.refuses("bench/gpu/a.cpp", '"tools/run.h"', "bench/gpu/ must not know tools/")
        self.refuses("bench/a.cpp", '"bench/gpu/device.h"', "bench/ must not know bench/gpu/")
        self.refuses("bench/other/a.cpp", '"compiler/kernel/kernel.h"', "bench/ must not know compiler/")

    def test_tests_may_include_anything_and_nothing_includes_tests(self):
        self.accepts("tests/ir/a.cpp", '"compiler/kernel/kernel.h"')
        self.accepts("tests/ir/a.cpp", "<doctest/doctest.h>")
        self.refuses("ir/a.cpp", '"tests/ir/random.h"', "ir/ must not know tests/")
        self.refuses("ir/a.cpp", "<doctest/doctest.h>", "doctest headers are not for this folder")

    def test_foreign_headers_have_one_folder_each(self):
        self.accepts("compiler/llvm/emit.cpp", "<llvm/IR/Module.h>")
        self.refuses("compiler/kernel/lowering.cpp", "<llvm/IR/Module.h>", "LLVM headers are not for this folder")
        self.refuses("compiler/kernel/lowering.cpp", '"llvm/IR/Module.h"', "LLVM headers are not for this folder")
        self.accepts("tests/solver/isl_solver.cpp", "<isl/ctx.h>")
        self.refuses("compiler/prover/solver.cpp", "<isl/ctx.h>", "isl headers are not for this folder")
        self.accepts("runtime/cuda/driver/driver.cpp", "<cuda.h>")
        self.refuses("runtime/device.cpp", "<cuda.h>", "CUDA headers are not for this folder")
        self.accepts("tuner/cache/database.cpp", "<sqlite3.h>")
        self.refuses("tuner/cache/store.cpp", "<sqlite3.h>", "SQLite headers are not for this folder")
        self.accepts("tuner/cache/record_text.cpp", "<nlohmann/json.hpp>")
        self.accepts("tools/text/json_value.cpp", "<nlohmann/json.hpp>")
        self.refuses("tools/commands/cache.cpp", "<nlohmann/json.hpp>", "nlohmann headers are not for this folder")

    def test_quoted_includes_start_at_the_root(self):
        self.refuses("ir/a.cpp", '"expr.h"', 'includes in quotes are written from the root, e.g. "ir/expr/expr.h"')

    def test_spelling_does_not_hide_an_include(self):
        self.assertEqual(len(violations({"ir/a.cpp": '  #  include  "compiler/kernel/kernel.h" // why\n'})), 1)
        self.assertEqual(len(violations({"ir/a.cpp": "#include <compiler/kernel/kernel.h>\n"})), 1)

    def test_the_tuner_does_not_name_a_callers_memory(self):
        for name in ("UserBuffer", "BufferView"):
            found = violations({"tuner/a.h": f"\nvoid f(const runtime::{name}& b);\n", "api/a.h": f"{name} b;\n"})
            self.assertEqual(found, [f"tuner/a.h:2: names {name}: tuner/ works on ScratchBuffers alone"])

    def test_a_new_folder_needs_a_place(self):
        self.assertIn("extra/ has no place among the layers", violations({"extra/a.cpp": ""})[0])


if __name__ == "__main__":
    unittest.main()
