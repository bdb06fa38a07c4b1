"""Tests what is built for some of the tests: their programs, or everything but the programs of others."""

import pathlib
import stat
import tempfile
import unittest
import unittest.mock

import test_targets

FOLDERS = {
    "all": ["tools/all", "tests/all"],
    "tools/all": ["bin/padlock", "lib/libpadlock.so"],
    "tests/all": ["bin/ir_test", "bin/solver_test", "bin/padlock_random", "bin/padlock_fake_cuda", "tests/deep/all"],
    "tests/deep/all": ["bin/ir_deep_test"],
}
TESTS = ["ir_test", "ir_deep_test", "solver_test", "padlock_random", "padlock_random_mutations", "lit"]


def leaves():
    return test_targets.leaves_of(lambda targets: [(target, "phony", FOLDERS[target]) for target in targets])


class Targets(unittest.TestCase):
    def left_out(self, wanted=None, unwanted=None):
        chosen = test_targets.chosen_of(TESTS, wanted, unwanted)
        return sorted(set(leaves()) - set(test_targets.needed(leaves(), set(TESTS), chosen)))

    def test_folders_are_followed_to_what_they_stand_for(self):
        self.assertEqual(sorted(leaves()), ["bin/ir_deep_test", "bin/ir_test", "bin/padlock", "bin/padlock_fake_cuda",
                                            "bin/padlock_random", "bin/solver_test", "lib/libpadlock.so"])

    def test_without_a_choice_everything_is_needed(self):
        self.assertEqual(self.left_out(), [])

    def test_programs_of_other_tests_are_left_out_and_nothing_else_is(self):
        self.assertEqual(self.left_out(wanted="^ir_"), ["bin/padlock_random", "bin/solver_test"])
        self.assertEqual(self.left_out(unwanted="solver|deep"), ["bin/ir_deep_test", "bin/solver_test"])

    def test_a_program_is_kept_for_each_test_that_runs_it(self):
        self.assertEqual(self.left_out(unwanted="random$"), [])
        self.assertEqual(self.left_out(unwanted="mutations"), [])
        self.assertEqual(self.left_out(unwanted="random"), ["bin/padlock_random"])

    def test_tests_that_are_programs_need_these_alone(self):
        commands = {"ir_test": ["/b/bin/ir_test"], "padlock_random": ["emulate", "-L", "/root", "/b/bin/padlock_random"],
                    "padlock_random_few": ["emulate", "-L", "/root", "/b/bin/padlock_random", "--few"], "solver_test": ["/b/bin/solver_test"]}
        built = lambda chosen: test_targets.to_build(leaves(), commands, chosen, "/b")
        self.assertEqual(built(["ir_test", "padlock_random_few", "padlock_random"]), ["bin/ir_test", "bin/padlock_random"])
        for other in (["python3", "/s/lit.py"], ["/b/bin/solver_test", "/b/lib/libpadlock.so"], ["emulate", "-L", "/root", "python3", "/b/bin/ir_test"]):
            commands["solver_test"] = other
            self.assertIn("lib/libpadlock.so", built(["ir_test", "solver_test"]), other)
            self.assertNotIn("bin/padlock_random", built(["ir_test", "solver_test"]), other)

    def test_commands_of_tests_are_read_from_what_cmake_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            deep = pathlib.Path(folder) / "tests"
            deep.mkdir()
            pathlib.Path(folder, "CTestTestfile.cmake").write_text('# made\nsubdirs("tests")\n')
            (deep / "CTestTestfile.cmake").write_text('add_test([=[ir_test]=] "/b/bin/ir_test" "--filter=a b")\n'
                                                      'set_tests_properties([=[ir_test]=] PROPERTIES  TIMEOUT "300")\n')
            self.assertEqual(test_targets.commands_of_tests(folder), {"ir_test": ["/b/bin/ir_test", "--filter=a b"]})

    def test_ninjas_answer_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            ninja = pathlib.Path(folder) / "ninja"
            ninja.write_text("#!/bin/sh\ncat <<'TEXT'\n"
                             "all:\n  input: phony\n    tests/all\n    || order\n  outputs:\ntests/all:\n  input: phony\n    bin/a\n"
                             "    bin/b\n  outputs:\n    all\nbin/c:\n  outputs:\n    all\nTEXT\n")
            ninja.chmod(ninja.stat().st_mode | stat.S_IXUSR)
            with unittest.mock.patch.dict("os.environ", {"PATH": f"{folder}:/usr/bin:/bin"}):
                found = list(test_targets.inputs_of(folder, ["all"]))
        self.assertEqual(found, [("all", "phony", ["tests/all", "order"]), ("tests/all", "phony", ["bin/a", "bin/b"]),
                                 ("bin/c", None, [])])


if __name__ == "__main__":
    unittest.main()
