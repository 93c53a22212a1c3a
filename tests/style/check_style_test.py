"""Shows check_style files that are wrong in one way each."""

import tempfile
import unittest
from pathlib import Path

from check_style import faults


class CheckStyle(unittest.TestCase):
    def faults_of(self, path, content, lists=""):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / "src/oas/core").mkdir(parents=True)
            (root / "src/oas/core/CMakeLists.txt").write_text(lists)
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
            return list(faults(root))

    def test_clean_files_pass(self):
        self.assertEqual(self.faults_of("tests/core/x.cpp", b"int x;\n" * 450), [])
        self.assertEqual(self.faults_of("src/oas/core/x.hpp", b"", "HEADERS x.hpp)\n"), [])
        self.assertEqual(self.faults_of("src/oas/core/detail/x.hpp", b"\n"), [])

    def test_each_fault_is_found(self):
        cases = [
            (b"int x;\n" * 451, "x.cpp:451: 451 lines"),
            (b"a" * 101 + b"\n", "x.cpp:1: 101 columns"),
            (b"\tint x;\n", "x.cpp:1: tab"),
            (b"\nint x; \n", "x.cpp:2: trailing"),
            (b"int x;\r\n", "x.cpp:1: trailing"),
            (b"int x;", "x.cpp:1: no newline"),
            (b"\xff\n", "x.cpp:1: not UTF-8"),
        ]
        for content, expected in cases:
            found = self.faults_of("tests/core/x.cpp", content)
            self.assertEqual(len(found), 1, found)
            self.assertIn(expected, found[0])

    def test_files_of_the_command_are_short(self):
        self.assertEqual(self.faults_of("apps/cli/x.cpp", b"int x;\n" * 150), [])
        found = self.faults_of("apps/cli/x.cpp", b"int x;\n" * 151)
        self.assertEqual(found, ["apps/cli/x.cpp:151: 151 lines, more than 150"])

    def test_parallelism_has_one_default(self):
        for default, count in (("{}", 0), ("{1}", 1), ("Parallelism{1}", 1), ("one_thread", 1)):
            text = f"void f(Parallelism parallelism = {default});\n".encode()
            found = self.faults_of("src/oas/core/x.hpp", text, "HEADERS x.hpp)\n")
            self.assertEqual(len(found), count, found)
            self.assertEqual(self.faults_of("tests/core/x.cpp", text), [])

    def test_columns_are_characters_not_bytes(self):
        self.assertEqual(self.faults_of("tests/core/x.cpp", "é".encode() * 100 + b"\n"), [])

    def test_scripts_are_code_and_data_is_not(self):
        self.assertEqual(len(self.faults_of("scripts/x", b"#!/bin/bash\n\ttrue\n")), 1)
        self.assertEqual(self.faults_of("tests/golden/x.csv", b"\t" * 200), [])

    def test_file_that_cmake_does_not_know(self):
        found = self.faults_of("src/oas/core/x.cpp", b"\n", "SOURCES max.cpp y.cpp)\n")
        self.assertEqual(found, ["src/oas/core/x.cpp:1: missing from src/oas/core/CMakeLists.txt"])


if __name__ == "__main__":
    unittest.main()
