"""The command under mpirun, for tests."""

import os
import subprocess
import time
import unittest
from pathlib import Path

from support import OAS, CliCase

MPIRUN = os.environ.get("OAS_MPIRUN")
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


def command(ranks, *arguments):
    return [MPIRUN, "-n", str(ranks), OAS, *map(str, arguments)]


@unittest.skipUnless(MPIRUN, "no mpirun")
class MpiCase(CliCase):
    def ranks(self, ranks, *arguments, stdin=None):
        return subprocess.run(command(ranks, *arguments), cwd=self.folder, input=stdin, text=True,
                              capture_output=True, check=False, env=ENVIRONMENT, timeout=120)

    def good_ranks(self, ranks, *arguments):
        result = self.ranks(ranks, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def bad_ranks(self, ranks, *arguments, says, code=2, stdin=None):
        result = self.ranks(ranks, *arguments, stdin=stdin)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        ours = [line for line in result.stderr.splitlines() if line.startswith("oas: ")]
        self.assertEqual(len(ours), 1, result.stderr)
        self.assertIn(says, ours[0])

    def simulate(self, *arguments):
        self.good("simulate", "machine-maintenance", "--seed", 5, *arguments)

    def start(self, ranks, *arguments):
        return subprocess.Popen(command(ranks, *arguments), cwd=self.folder, env=ENVIRONMENT,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_for(self, job, condition):
        """Until that is so; where the job ends before, the test had too little to do."""
        while not condition():
            self.assertIsNone(job.poll(), "it was over too early")
            time.sleep(0.01)

    @staticmethod
    def processes_of(parent):
        """Children of mpirun, in the order of their ranks."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if int((process / "stat").read_text().rpartition(")")[2].split()[1]) != parent:
                    continue
                for variable in (process / "environ").read_text().split("\0"):
                    if variable.startswith("OMPI_COMM_WORLD_RANK="):
                        found.append((int(variable.partition("=")[2]), int(process.name)))
            except OSError:  # it has ended
                pass
        return [pid for _, pid in sorted(found)]

    def expect_same(self, *arguments, ranks=(1, 2, 3, 5, 8)):
        """An estimate that is the same with and without MPI; returns what rank 0 said."""
        self.good("estimate", "machine-maintenance", *arguments, "-o", "alone.json")
        for number in ranks:
            result = self.good_ranks(number, "estimate", "machine-maintenance", *arguments, "-o",
                                     "ranks.json")
            self.assertEqual(self.read("ranks.json"), self.read("alone.json"), number)
        return result.stderr
