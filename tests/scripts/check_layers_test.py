"""For each rule of check_layers a planted breach that it reports, and what it lets pass."""

import pathlib
import tempfile
import unittest

import check_layers

ROOT = pathlib.Path(__file__).resolve().parents[2]


def violations(files):
    """The reports on a tree with these files (path: text)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return check_layers.check(root)


class Case(unittest.TestCase):
    def refuses(self, path, include, reason):
        found = violations({path: f"#pragma once\n#include {include}\n"})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:2: includes {include[1:-1]}: "), found[0])
        self.assertTrue(found[0].endswith(reason), found[0])

    def accepts(self, path, include):
        self.assertEqual(violations({path: f"#include {include}\n"}), [])


class Types(Case):
    HEADER = "#pragma once\nnamespace padlock::compiler {{\n{}\n}}  // namespace padlock::compiler\n"

    def of(self, one, other):
        return violations({"compiler/emit/rows/one.h": one, "compiler/kernel/other.h": other})

    def test_two_headers_that_define_one_name(self):
        for definition in ("struct Lanes {", "class Lanes : private Base {", "enum class Lanes : std::uint8_t {"):
            found = self.of(self.HEADER.format("struct Lanes {\n};"), self.HEADER.format(definition + "\n};"))
            self.assertEqual(found, ["compiler/kernel/other.h:3: defines padlock::compiler::Lanes, as compiler/emit/rows/one.h does"])

    def test_what_is_another_name(self):
        lanes = self.HEADER.format("struct Lanes {\n};")
        for other in (self.HEADER.format("class Lanes;"), self.HEADER.format("class All {\n  struct Lanes {\n  };\n};"),
                      lanes.replace("compiler {", "ir {"), self.HEADER.format("struct Loops {\n};")):
            self.assertEqual(self.of(lanes, other), [])


class ThisTree(Case):
    def test_keeps_to_the_design(self):
        self.assertEqual(check_layers.check(ROOT), [])

    def test_has_every_room_and_uses_every_arrow(self):
        used = set()
        for file in check_layers.source_files(ROOT):
            room = check_layers.room_of(file.as_posix())
            for _, _, header in check_layers.includes_of((ROOT / file).read_text()):
                used.add((room, check_layers.target_room(ROOT, header)))
        for room in check_layers.ROOMS:
            self.assertTrue((ROOT / room).is_dir(), room)
        unused = {(room, to) for room, allowed in check_layers.ROOMS.items() for to in allowed} - used
        # Sets that several rooms share name what one of them does not need; nothing above an eighth is air.
        drawn = sum(len(allowed) for allowed in check_layers.ROOMS.values())
        self.assertLess(len(unused), drawn / 3, sorted(unused))

    def test_has_no_arrows_in_a_circle(self):
        def reach(room, path):
            for following in check_layers.ROOMS[room]:
                self.assertNotIn(following, path + [room] if following != room else path, path + [room, following])
                if following != room:
                    reach(following, path + [room])

        for room in check_layers.ROOMS:
            reach(room, [])

    def test_is_read_as_it_is(self):
        text = (ROOT / "ir" / "text" / "literal.h").read_text()
        self.assertIn(('"', "support/error.h"), [found[1:] for found in check_layers.includes_of(text)])


def header_in(room):
    return "padlock/padlock.h" if room == "include" else f"{room}/planted.h"


class Rooms(Case):
    def test_each_arrow_that_is_not_drawn_is_reported_and_no_other(self):
        for room, allowed in check_layers.ROOMS.items():
            others = [other for other in check_layers.ROOMS if other != room]
            text = "".join(f'#include "{header_in(other)}"\n' for other in others)
            expected = [
                f"{room}/planted.cpp:{line}: includes {header_in(other)}: {room}/ must not know {other}/"
                for line, other in enumerate(others, start=1) if other not in allowed
            ]
            self.assertEqual(violations({f"{room}/planted.cpp": text}), expected)
            self.assertTrue(expected or not others, room)

    def test_a_folder_below_a_room_belongs_to_it(self):
        self.refuses("ir/expr/deep/a.cpp", '"ir/program.h"', "ir/expr/ must not know ir/")
        self.accepts("ir/expr/deep/a.cpp", '"ir/expr/expr.h"')

    def test_a_new_folder_needs_a_place(self):
        self.assertIn("extra/ has no place among the rooms", violations({"extra/a.cpp": ""})[0])

    def test_quoted_includes_start_at_the_root(self):
        self.refuses("ir/a.cpp", '"expr.h"', 'includes in quotes are written from the root, e.g. "ir/expr/expr.h"')

    def test_spelling_does_not_hide_an_include(self):
        self.assertEqual(len(violations({"ir/a.cpp": '  #  include  "compiler/kernel/kernel.h" // why\n'})), 1)
        self.assertEqual(len(violations({"ir/a.cpp": "#include <compiler/kernel/kernel.h>\n"})), 1)

    def test_a_folder_holds_no_more_files_than_one_reads(self):
        full = {f"solver/a{number}.h": "" for number in range(check_layers.MOST_FILES)}
        below = {"solver/cases/a.h": "", "solver/CMakeLists.txt": ""}
        self.assertEqual(violations(full | below), [])
        self.assertEqual(violations(full | {"solver/b.h": ""}),
                         ["solver:1: holds 31 files, and 30 at most are a list that one reads"])

    def test_tests_may_include_anything_and_nothing_includes_tests(self):
        self.accepts("tests/ir/a.cpp", '"compiler/kernel/kernel.h"')
        self.accepts("tests/ir/a.cpp", "<doctest/doctest.h>")
        self.refuses("ir/a.cpp", '"tests/ir/random.h"', "ir/ must not know tests/")


class ChainsOfIncludes(Case):
    # A room that may include another one, whose files lead where the first must not come.
    PLANTED = {
        "session/launch": ("tuner/cache", "compiler/targets"),
        "capi/launch": ("session/launch", "tuner/cache", "compiler/targets"),
        "runtime": ("runtime", "tuner"),
        "tools": ("support", "ir"),
        "examples": ("include", "capi"),
        "python": ("include", "capi"),
    }

    def test_each_half_is_followed_through_other_rooms(self):
        self.assertEqual(set(self.PLANTED), set(check_layers.WITHOUT))
        for room, way in self.PLANTED.items():
            path = [f"{room}/a.cpp"] + [f"{step}/b{number}.h" for number, step in enumerate(way)]
            files = {here: f'#include "{there}"\n' for here, there in zip(path, path[1:])}
            files[path[-1]] = ""
            chain = " -> ".join(path)
            said = f"reaches {path[-1]}, which does not exist where {room}/ runs: {chain}"
            self.assertIn(f"{room}/a.cpp:1: {said}", violations(files))

    def test_a_headers_source_counts(self):
        found = violations({
            "session/launch/a.cpp": '#include "tuner/cache/b.h"\n',
            "tuner/cache/b.h": "",
            "tuner/cache/b.cpp": '#include "compiler/targets/c.h"\n',
            "compiler/targets/c.h": "",
        })
        self.assertEqual(len(found), 1, found)
        self.assertIn("session/launch/a.cpp -> tuner/cache/b.h -> tuner/cache/b.cpp -> compiler/targets/c.h", found[0])

    def test_what_does_not_lead_there_passes(self):
        self.assertEqual(violations({
            "session/launch/a.cpp": '#include "tuner/cache/b.h"\n',
            "tuner/cache/b.h": '#include "ir/program.h"\n',
            "ir/program.h": "",
        }), [])


class Foreign(Case):
    # Library: a header, a line that says a name of it, a place for both, a file in another place.
    PLANTED = {
        "LLVM": ("<llvm/IR/Module.h>", "llvm::Module* m;", "compiler/emit/scalar/a.cpp", "compiler/kernel/a.cpp"),
        "isl": ("<isl/ctx.h>", "isl_ctx* c;", "tests/solver/a.cpp", "solver/a.cpp"),
        "CUDA": ("<cuda.h>", "CUdeviceptr p;", "runtime/cuda/a.cpp", "runtime/host/a.cpp"),
        "doctest": ("<doctest/doctest.h>", 'TEST_CASE("x") {}', "tests/ir/a.cpp", "ir/a.cpp"),
        "SQLite": ("<sqlite3.h>", "sqlite3_open(0, 0);", "tuner/cache/database.cpp", "tuner/cache/store.cpp"),
        "protozero": ("<protozero/pbf_reader.hpp>", "protozero::pbf_reader r;", "onnx/wire.cpp", "onnx/elements.cpp"),
        "xxHash": ("<xxhash.h>", "XXH3_64bits(0, 0);", "support/hash.cpp", "support/file.cpp"),
        "nlohmann": ("<nlohmann/json.hpp>", "nlohmann::json j;", "tools/text/json_value.cpp", "tools/commands/cache.cpp"),
        "nanobind": ("<nanobind/nanobind.h>", "nanobind::object o;", "python/core/a.cpp", "capi/a.cpp"),
        "Python": ("<Python.h>", "PyObject* o;", "python/core/a.cpp", "capi/a.cpp"),
        "CLI11": ("<CLI/CLI.hpp>", "CLI::App app;", "tools/commands/a.cpp", "session/compile/a.cpp"),
    }

    def test_each_librarys_headers_have_their_places(self):
        self.assertEqual(set(self.PLANTED), {name for name, *_ in check_layers.FOREIGN})
        for name, (header, _, place, elsewhere) in self.PLANTED.items():
            self.accepts(place, header)
            self.refuses(elsewhere, header, f"{name} headers are not for this folder")

    def test_each_librarys_names_have_their_places(self):
        for name, (_, line, place, elsewhere) in self.PLANTED.items():
            self.assertEqual(violations({place: f"\n{line}\n"}), [])
            found = violations({elsewhere: f"\n{line}\n"})
            self.assertEqual(len(found), 1, found)
            self.assertRegex(found[0], rf"^{elsewhere}:2: names \S+: {name} is not for this folder$")

    def test_a_drivers_function_is_a_name_of_cuda(self):
        self.assertIn("names cuLaunchKernel: CUDA", violations({"session/launch/a.cpp": "cuLaunchKernel();\n"})[0])

    def test_comments_and_strings_may_say_a_name(self):
        text = '// of a CUstream\n/// CUcontext\n/* llvm::Module\n * CUevent */\nauto s = "cuLaunchKernel \\" CUstream";\n'
        self.assertEqual(violations({"runtime/a.h": text}), [])
        self.assertEqual(len(violations({"runtime/a.h": text + "CUstream s;\n"})), 1)

    def test_forward_declarations_that_are_listed_pass(self):
        for name, files in check_layers.SAYS_NAMES.items():
            said = [file.as_posix() for file in check_layers.source_files(ROOT) if files.match(file.as_posix())]
            self.assertTrue(said, name)

    def test_the_tuner_does_not_name_a_callers_memory(self):
        for name in ("UserBuffer", "BufferView"):
            found = violations({"tuner/trial/a.h": f"\nvoid f(const runtime::{name}& b);\n", "session/launch/a.h": f"{name} b;\n"})
            self.assertEqual(found, [f"tuner/trial/a.h:2: names {name}: tuner/ works on ScratchBuffers alone"])


if __name__ == "__main__":
    unittest.main()
