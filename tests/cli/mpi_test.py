"""The command under mpirun: the same bytes for any number of ranks, and what happens when a rank or
a file fails."""

import json
import os
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from mpi_support import ENVIRONMENT, MPIRUN, MpiCase
from support import OAS


class Estimates(MpiCase):
    def shards(self):
        self.simulate("--runs", 7, "--steps", 4000, "--policy", "uniform", "-o", "logs/",
                      "--shards", 7)

    def test_moments_are_the_same_for_any_number_of_ranks(self):
        self.shards()
        self.expect_same("logs", "--estimator", "oas-overlap")

    def test_other_estimators_too(self):
        self.shards()
        for estimator in ("oas", "oas-weighted", "spectral", "em"):
            with self.subTest(estimator):
                self.expect_same("logs", "--estimator", estimator, ranks=(3,))

    def test_a_likelihood_over_several_windows(self):
        """Rows go from rank to rank; of eight, five have neither files nor windows."""
        self.simulate("--policy", "uniform", "--runs", 3, "--steps", 360_000, "-o", "logs/",
                      "--shards", 3)
        self.expect_same("logs", ranks=(2, 8))

    def test_one_file_is_enough(self):
        self.simulate("--steps", 20_000, "-o", "log.csv")
        for estimator in ("oas-overlap", "oas-ml"):
            self.expect_same("log.csv", "--estimator", estimator, ranks=(3,))

    def test_one_large_file_is_shared(self):
        for layout in (("--steps", 120_000), ("--steps", 300, "--runs", 400)):
            self.simulate("--policy", "uniform", *layout, "-o", "log.csv")
            for estimator, ranks in (("oas-overlap", (1, 2, 5)), ("oas-weighted", (3,))):
                with self.subTest(layout=layout, estimator=estimator):
                    arguments = ("log.csv", "--estimator", estimator)
                    self.good("estimate", "machine-maintenance", *arguments, "--threads", 1,
                              "-o", "one.json")
                    self.expect_same(*arguments, ranks=ranks)
                    self.assertEqual(self.read("alone.json"), self.read("one.json"))

    def test_a_likelihood_over_several_windows_of_one_file(self):
        self.simulate("--policy", "uniform", "--steps", 1_100_000, "-o", "log.csv")
        self.expect_same("log.csv", ranks=(3,))

    def test_the_fit_and_learned_rewards_are_the_same(self):
        self.good("problem", "machine-maintenance", "-o", "with.json")
        model = json.loads(self.read("with.json"))
        self.write_model("bare.json", {k: v for k, v in model.items() if k != "reward"})
        for layout, logs, ranks in ((("--steps", 550_000), "one.csv", (2, 5)),
                                    (("--runs", 300, "--steps", 20, "--shards", 3), "logs/",
                                     (1, 3))):
            self.simulate("--policy", "uniform", *layout, "--reward", "-o", logs)
            arguments = ("estimate", "bare.json", logs, "--carried-draws", 3)
            self.good(*arguments, "-o", "alone.json")
            self.assertIn("reward", json.loads(self.read("alone.json")))
            for number in ranks:
                self.good_ranks(number, *arguments, "-o", "ranks.json")
                self.assertEqual(self.read("ranks.json"), self.read("alone.json"), number)

    def test_a_fault_in_any_part_of_a_large_file(self):
        self.simulate("--policy", "uniform", "--steps", 120_000, "-o", "log.csv")
        lines = self.read("log.csv").decode().splitlines()
        for place in (2, 59_990, 120_001):
            for fault in ("run,clean", "run,clean,2"):
                self.write("wrong.csv", "\n".join([*lines[:place], fault, *lines[place + 1:]]))
                arguments = ("estimate", "machine-maintenance", "wrong.csv", "--estimator", "oas")
                alone = self.oas(*arguments, "--threads", 1)
                self.assertEqual(alone.returncode, 2)
                self.assertIn(f"wrong.csv:{place + 1}:", alone.stderr)
                self.assertEqual(self.oas(*arguments, "--threads", 3).stderr, alone.stderr)
                if fault.endswith("2"):
                    self.bad_ranks(3, *arguments, says=alone.stderr.strip().removeprefix("oas: "))

    def test_bootstraps(self):
        self.simulate("--runs", 7, "--steps", 400, "--policy", "uniform", "-o", "logs/",
                      "--shards", 7)
        for method in ("block-bootstrap", "parametric-bootstrap"):
            with self.subTest(method):
                self.expect_same("logs", "--estimator", "oas-overlap", "--error-bars", method,
                                 "--resamples", 20, "--actions-ignore-observations", ranks=(8,))
                said = self.expect_same("logs", "--error-bars", method, "--resamples", 20,
                                        ranks=(3,))
                self.assertIn("oas: a bootstrap of a likelihood keeps all rows", said)

    def test_a_bootstrap_that_cannot_be_ends_on_all_ranks(self):
        self.write("few.csv", "action,observation,propensity\n" + "0,0,0.5\n" * 500)
        for method in ("block-bootstrap", "parametric-bootstrap"):
            arguments = ("estimate", "machine-maintenance", "few.csv", "--error-bars", method)
            alone = self.oas(*arguments)
            together = self.ranks(3, *arguments)
            self.assertEqual(together.returncode, alone.returncode, together.stderr)
            self.assertEqual(together.stdout, alone.stdout)
            for line in alone.stderr.splitlines():
                self.assertIn(line, together.stderr)

    def test_what_only_rank_0_can_do_it_says(self):
        self.shards()
        said = self.expect_same("logs", "--estimator", "particle", "--particles", 100, ranks=(3,))
        self.assertIn("oas: estimator 'particle' runs on rank 0 alone", said)

    def test_the_first_bad_line_is_reported_for_any_number_of_ranks(self):
        for shard in range(9):
            rows = ["action,observation,propensity"] + ["0,0,0.5"] * 50
            if shard in (4, 7):
                rows[20 + shard] = "0,nonsense,0.5"
            self.write(f"{shard}.csv", "\n".join(rows) + "\n")
        for ranks in (2, 5, 12):
            for estimator in ("oas-overlap", "oas-ml"):
                self.bad_ranks(ranks, "estimate", "machine-maintenance", "*.csv", "--estimator",
                               estimator, says="4.csv:25:2: ")

    def test_empty_and_missing_files(self):
        self.shards()
        self.write("empty.csv", "")
        self.bad_ranks(3, "estimate", "machine-maintenance", "logs/*.zst", "empty.csv",
                       says="empty.csv: ")
        for estimator in ("oas-ml", "oas-weighted"):
            self.bad_ranks(3, "estimate", "machine-maintenance", "logs/*.zst", "gone.csv",
                           "--estimator", estimator, says="gone.csv: No such file")

    def test_a_pipe_that_cannot_be_read_twice_is_reported_once(self):
        self.bad_ranks(3, "estimate", "machine-maintenance", "-", "--estimator", "oas-weighted",
                       stdin="action,observation,propensity\n0,0,0.5\n",
                       says="which a pipe does not allow")

    def test_a_shard_without_rows_among_others(self):
        """As without MPI, and by the rank that has it."""
        self.shards()
        self.write("empty.csv", "run,action,observation,propensity\n")
        files = [*(f"logs/shard-{i:05}.csv.zst" for i in range(3)), "empty.csv",
                 *(f"logs/shard-{i:05}.csv.zst" for i in range(3, 7))]
        for estimator in ("oas-overlap", "oas-ml"):
            arguments = ("estimate", "machine-maintenance", *files, "--estimator", estimator)
            said = self.bad(*arguments, says=["empty.csv: no rows"]).strip()
            for ranks in (2, 8, 11):
                self.bad_ranks(ranks, *arguments, says=said)

    def test_a_shard_that_one_rank_cannot_read(self):
        """What is wrong with the disk of one machine is told with the machine."""
        self.shards()
        for shard in range(7):
            self.good("simulate", "machine-maintenance", "--steps", 100, "-o", f"{shard}.csv")
        (self.folder / "5.csv").unlink()
        (self.folder / "5.csv").symlink_to("/proc/self/mem")  # opens, but cannot be read at 0
        for estimator in ("oas-overlap", "oas-ml"):
            for ranks in (2, 8):
                self.bad_ranks(ranks, "estimate", "machine-maintenance", "?.csv", "--estimator",
                               estimator, code=1, says="5.csv: read failed: Input/output error")

    def test_a_shard_that_is_another_one_on_one_machine(self):
        """Rank 1 works in a folder where one shard has other bytes of the same number."""
        self.shards()
        shutil.copytree(self.folder / "logs", self.folder / "elsewhere" / "logs")
        path = self.folder / "elsewhere" / "logs" / "shard-00003.csv.zst"
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        script = self.write("run.sh", f"""
[ "$OMPI_COMM_WORLD_RANK" = 1 ] && cd elsewhere
exec {OAS} estimate machine-maintenance logs --estimator oas-overlap -o out.json
""")
        result = subprocess.run([MPIRUN, "-n", "3", "bash", script], cwd=self.folder, text=True,
                                capture_output=True, check=False, env=ENVIRONMENT, timeout=120)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, r"oas: logs/shard-00003.csv.zst:.* \(found by rank 1 on ")

    def test_a_rank_that_is_killed_ends_the_job_and_leaves_nothing(self):
        self.good("problem", "random", "--states", 12, "--actions", 2, "--observations", 12, "-o",
                  "model.json")
        self.good("simulate", "model.json", "--policy", "uniform", "--runs", 3, "--steps", 530_000,
                  "--shards", 3, "-o", "logs/")
        before = sorted(os.listdir(self.folder))
        for victim in (0, 2):
            job = self.start(3, "estimate", "model.json", "logs", "--estimator", "em", "-o",
                             "out.json")
            self.wait_for(job, lambda: self.seconds_of(job, victim) > 1.0)  # it is in the passes
            os.kill(self.processes_of(job.pid)[victim], signal.SIGKILL)
            self.assertEqual(job.wait(60), 128 + signal.SIGKILL)
            self.assertEqual(sorted(os.listdir(self.folder)), before)

    def seconds_of(self, job, rank):
        """Processor time that a rank has used."""
        ranks = self.processes_of(job.pid)
        if rank >= len(ranks):
            return 0.0
        try:
            stat = Path(f"/proc/{ranks[rank]}/stat").read_text()
        except OSError:
            return 0.0
        return sum(map(int, stat.rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def test_a_damaged_shard_is_named(self):
        self.shards()
        path = self.folder / "logs" / "shard-00005.csv.zst"
        content = path.read_bytes()
        path.write_bytes(content[:-20])
        self.bad_ranks(3, "estimate", "machine-maintenance", "logs",
                       says="shard-00005.csv.zst: has")
        path.write_bytes(content[:-20] + bytes(20))
        self.bad_ranks(3, "estimate", "machine-maintenance", "logs", says="shard-00005.csv.zst: ")
        path.unlink()
        self.bad_ranks(3, "estimate", "machine-maintenance", "logs",
                       says="shard-00005.csv.zst: is listed")

class Memory(MpiCase):
    def simulate_readings(self, shards):
        """Of 530,000 rows each, a little more than a window, which are 41 bytes in memory."""
        self.write_model("model.json", {
            "format": "oas-model/1", "timing": "before", "states": 2, "actions": 1,
            "observations": {"dimension": 1}, "transition": [[[0.9, 0.1], [0.2, 0.8]]],
            "density": [[{"kind": "gaussian", "mean": mean, "sd": 1} for mean in (0, 3)]]})
        self.good("simulate", "model.json", "--runs", shards, "--steps", 530_000, "--policy",
                  "uniform", "-o", "logs/", "--shards", shards)

    def test_ranks_need_less_memory_than_the_log_takes(self):
        self.simulate_readings(8)
        self.good("estimate", "model.json", "logs", "-o", "alone.json")
        limit = 120_000_000
        self.assertLess(limit, 8 * 530_000 * 41)
        self.write("limited.py", f"""
import os, resource, sys
resource.setrlimit(resource.RLIMIT_DATA, ({limit}, {limit}))
os.execv(sys.argv[1], sys.argv[1:])
""")

        def limited(ranks):
            return subprocess.run(
                [MPIRUN, "-n", str(ranks), sys.executable, "limited.py", OAS, "estimate",
                 "model.json", "logs", "--threads", "1", "-o", "ranks.json"], text=True,
                cwd=self.folder, capture_output=True, check=False, env=ENVIRONMENT)
        together = limited(8)
        self.assertEqual(together.returncode, 0, together.stderr)
        self.assertEqual(self.read("ranks.json"), self.read("alone.json"))
        alone = limited(1)
        self.assertEqual(alone.returncode, 1)
        self.assertIn("oas: there is not enough memory for this", alone.stderr)

    def test_no_rank_holds_more_than_its_share(self):
        """Rows of 41 bytes, 1,060,000 of them: two ranks need 20 MB less each than one."""
        self.simulate_readings(2)
        self.write("measure.py", """
import os, resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
with open("memory-" + os.environ["OMPI_COMM_WORLD_RANK"], "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
""")
        peaks = []
        for ranks in (1, 2):
            result = subprocess.run(
                [MPIRUN, "-n", str(ranks), sys.executable, "measure.py", OAS, "estimate",
                 "model.json", "logs", "--threads", "1", "-o", f"{ranks}.json", "-q"],
                cwd=self.folder, capture_output=True, text=True, check=False, env=ENVIRONMENT)
            self.assertEqual(result.returncode, 0, result.stderr)
            peaks.append(max(int(self.read(f"memory-{rank}")) for rank in range(ranks)))
        self.assertEqual(self.read("1.json"), self.read("2.json"))
        self.assertLess(peaks[1], peaks[0] - 14_000, "KB")


if __name__ == "__main__":
    unittest.main()
