"""Shows check_layering trees that are wrong in one way each."""

import tempfile
import unittest
from pathlib import Path

from check_layering import faults

LAYERS = "core:\nmodel: core\nio: core model\n"


class CheckLayering(unittest.TestCase):
    def faults_of(self, files, layers=LAYERS):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            for path, text in {"cmake/layers.txt": layers, **files}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            return list(faults(root))

    def assert_one_fault(self, part, files, layers=LAYERS):
        found = self.faults_of(files, layers)
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_allowed_includes_pass(self):
        files = {
            "src/oas/core/rng.hpp": "#include <vector>\n",
            "src/oas/core/rng.cpp": '#include "oas/core/detail/bits.hpp"\n',
            "src/oas/core/detail/bits.hpp": "\n",
            "src/oas/model/pomdp.hpp": '#include "oas/core/rng.hpp"\n#include <oas/core/rng.hpp>\n',
            "src/oas/oas.hpp": '#include "oas/core/rng.hpp"\n',
            "apps/cli/main.cpp": '#include "oas/oas.hpp"\n#include "options.hpp"\n',
        }
        self.assertEqual(self.faults_of(files), [])

    def test_back_edge(self):
        files = {"src/oas/core/rng.hpp": '\n#  include "oas/model/pomdp.hpp"\n'}
        self.assert_one_fault("rng.hpp:2: oas/model/pomdp.hpp: core may not include model", files)

    def test_detail_of_another_module(self):
        files = {"src/oas/io/csv.cpp": '#include "oas/core/detail/bits.hpp"\n'}
        self.assert_one_fault("detail/ is private to core", files)

    def test_detail_in_an_application(self):
        files = {"apps/cli/main.cpp": '#include "oas/core/detail/bits.hpp"\n'}
        self.assert_one_fault("detail/ is private to core", files)

    def test_relative_include_cannot_hide_a_back_edge(self):
        files = {"src/oas/core/rng.hpp": '#include "../model/pomdp.hpp"\n'}
        self.assert_one_fault("write the whole path", files)
        files = {"src/oas/core/rng.cpp": '#include "rng.hpp"\n', "src/oas/core/rng.hpp": "\n"}
        self.assert_one_fault("write the whole path", files)

    def test_umbrella_inside_the_library(self):
        files = {"src/oas/io/csv.cpp": '#include "oas/oas.hpp"\n'}
        self.assert_one_fault("for users", files)

    def test_unknown_module(self):
        self.assert_one_fault("not in cmake/layers.txt", {"src/oas/extra/x.hpp": "\n"})

    def test_table_with_a_cycle(self):
        self.assert_one_fault("cycle among core, model", {}, "core: model\nmodel: core\nio: core\n")

    def test_table_with_an_unknown_name(self):
        self.assert_one_fault("which has no line", {}, "core: base\n")


if __name__ == "__main__":
    unittest.main()
