"""What /openapi.json promises, tried by Schemathesis where that is installed (PyPI)."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from agent_http_test import Served
from support import CliCase

TOOL = os.environ.get("OAS_SCHEMATHESIS") or shutil.which("schemathesis")
# Names of units, actions and observations are known to the running agent only, so requests of the
# right form may be refused.
LEFT_OUT = "positive_data_acceptance"


class OpenApi(CliCase):
    @unittest.skipUnless(TOOL, "needs schemathesis (pip install schemathesis)")
    def test_the_agent_keeps_its_description(self):
        with Served(self.folder, "--http-rate", 0) as agent:
            agent.play("pump-7", 30)
            text = agent.request("GET", "/openapi.json")[2]
            self.write("openapi.json", text)
            result = subprocess.run(
                [TOOL, "run", "openapi.json", "--url", agent.url, "-c", "all", "--exclude-checks",
                 LEFT_OUT, "-n", "40", "--seed", "1", "--phases", "examples,coverage,fuzzing"],
                cwd=self.folder, capture_output=True, text=True, check=False, timeout=250)
            self.assertEqual(result.returncode, 0, result.stdout[-6000:] + result.stderr[-2000:])
            self.assertEqual(agent.stop(), (0, ""))
            self.assertTrue(list(Path(self.folder, "journal").glob("*.oasj")))


if __name__ == "__main__":
    unittest.main()
