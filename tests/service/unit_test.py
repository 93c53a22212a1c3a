"""The unit for systemd, as systemd itself judges it: no mistakes, and next to no exposure.

usage: unit_test.py UNIT OAS_BINARY
"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

NOT_RUN = 77  # what ctest knows as skipped
MOST_EXPOSURE = 15  # tenths; 1.2 today, of which most is that it listens at all


class Unit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # It is to be found in the path, which here it is not.
        text = UNIT.read_text().replace("ExecStart=oas ", f"ExecStart={OAS} ")
        self.assertIn(OAS, text)
        self.unit = Path(folder.name) / "oas-agent@pumps.service"
        self.unit.write_text(text)

    def analyze(self, *words):
        return subprocess.run(["systemd-analyze", "--no-pager", *words, str(self.unit)], text=True,
                              capture_output=True, check=False)

    def test_it_has_no_mistakes(self):
        result = self.analyze("verify")
        about = [line for line in result.stderr.splitlines() if "oas-agent" in line]
        self.assertEqual((result.returncode, about), (0, []), result.stderr)

    def test_it_is_not_exposed(self):
        result = self.analyze("security", "--offline=yes", f"--threshold={MOST_EXPOSURE}")
        self.assertEqual(result.returncode, 0, result.stdout[-400:] + result.stderr)
        self.assertIn("Overall exposure level", result.stdout)


if __name__ == "__main__":
    if shutil.which("systemd-analyze") is None:
        print("NOT RUN: there is no systemd-analyze here")
        sys.exit(NOT_RUN)
    UNIT, OAS = Path(sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1])
