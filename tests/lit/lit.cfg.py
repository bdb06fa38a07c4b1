"""lit's configuration. Run through CTest (test "lit"), or alone: lit -v build/release/tests/lit"""

import os

import lit.formats

config.name = "padlock"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(__file__)
config.suffixes = [".pad", ".test"]

config.environment["NO_COLOR"] = "1"
for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]

config.substitutions.append(("%padlock", config.padlock))
config.substitutions.append(("%FileCheck", os.path.join(config.llvm_tools, "FileCheck")))
config.substitutions.append(("%not", os.path.join(config.llvm_tools, "not")))
config.substitutions.append(("%split-file", os.path.join(config.llvm_tools, "split-file")))
# %exits CODE COMMAND...: the command, which must exit with that code.
config.substitutions.append(("%exits", "sh " + os.path.join(config.test_source_root, "exits.sh")))
