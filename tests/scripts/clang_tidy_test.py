"""Tests that clang-tidy reports on the headers of every folder, and names no folder that is gone."""

import pathlib
import re
import tempfile
import unittest

import check_layers

ROOT = pathlib.Path(__file__).resolve().parents[2]


def filtered_folders(config):
    """The top folders that a .clang-tidy names in its HeaderFilterRegex."""
    line = re.search(r"^HeaderFilterRegex: '/\(([a-z|]+)\)/'$", config, re.MULTILINE)
    return set(line[1].split("|")) if line else set()


def folders_with_sources(root):
    """The top folders that hold C or C++, as check_layers sees them."""
    return {file.parts[0] for file in check_layers.source_files(root) if len(file.parts) > 1}


class HeaderFilter(unittest.TestCase):
    def test_names_every_folder_with_sources_and_no_other(self):
        self.assertEqual(filtered_folders((ROOT / ".clang-tidy").read_text()), folders_with_sources(ROOT))

    def test_both_sides_are_read_as_they_stand(self):
        self.assertEqual(filtered_folders("Checks: x\nHeaderFilterRegex: '/(ir|capi)/'\nCheckOptions:\n"), {"ir", "capi"})
        self.assertEqual(filtered_folders("Checks: x\n"), set())
        with tempfile.TemporaryDirectory() as folder:
            for name in ("ir/expr/a.h", "capi/b.cpp", "docs/c.md", "top.cpp"):
                file = pathlib.Path(folder) / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
            self.assertEqual(folders_with_sources(pathlib.Path(folder)), {"ir", "capi"})


if __name__ == "__main__":
    unittest.main()
