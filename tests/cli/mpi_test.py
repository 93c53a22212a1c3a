"""The command under mpirun: the same bytes for any number of ranks, and what happens when a rank or
a file fails."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from support import OAS, CliCase, watch

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
STUDY = """
format = "oas-study/1"
name = "little"
title = "A little study"
question = "Does it go on?"
replications = 30
[[sweep]]
name = "s"
kind = "learning"
steps = 20000
checkpoints = 5
agent = ["uniform", "myopic"]
"""


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

    def bad_ranks(self, ranks, *arguments, says, code=2):
        result = self.ranks(ranks, *arguments)
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
        self.simulate("--runs", 2, "--steps", 600_000, "-o", "logs/", "--shards", 2)
        self.expect_same("logs", ranks=(2, 5, 8))

    def test_one_file_is_enough(self):
        self.simulate("--steps", 20_000, "-o", "log.csv")
        for estimator in ("oas-overlap", "oas-ml"):
            self.expect_same("log.csv", "--estimator", estimator, ranks=(3,))

    def test_one_large_file_is_shared(self):
        for layout in (("--steps", 120_000), ("--steps", 300, "--runs", 400)):
            self.simulate("--policy", "uniform", *layout, "-o", "log.csv")
            for estimator in ("oas-overlap", "oas-weighted"):
                with self.subTest(layout=layout, estimator=estimator):
                    arguments = ("log.csv", "--estimator", estimator)
                    self.good("estimate", "machine-maintenance", *arguments, "--threads", 1,
                              "-o", "one.json")
                    self.expect_same(*arguments, ranks=(1, 2, 3, 5))
                    self.assertEqual(self.read("alone.json"), self.read("one.json"))

    def test_a_likelihood_over_several_windows_of_one_file(self):
        self.simulate("--steps", 1_200_000, "-o", "log.csv")
        self.expect_same("log.csv", "--max-passes", 3, ranks=(2, 3))

    def test_the_fit_and_learned_rewards_are_the_same(self):
        self.good("problem", "machine-maintenance", "-o", "with.json")
        model = json.loads(self.read("with.json"))
        self.write_model("bare.json", {k: v for k, v in model.items() if k != "reward"})
        for layout, logs in ((("--steps", 600_000), "one.csv"),
                             (("--runs", 300, "--steps", 20, "--shards", 3), "logs/")):
            self.simulate("--policy", "uniform", *layout, "--reward", "-o", logs)
            arguments = ("estimate", "bare.json", logs, "--max-passes", 3, "--carried-draws", 3)
            self.good(*arguments, "-o", "alone.json")
            self.assertIn("reward", json.loads(self.read("alone.json")))
            for number in (1, 2, 3, 5):
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
        self.shards()
        for method in ("block-bootstrap", "parametric-bootstrap"):
            with self.subTest(method):
                self.expect_same("logs", "--estimator", "oas-overlap", "--error-bars", method,
                                 "--resamples", 20, "--actions-ignore-observations", ranks=(3, 8))
                said = self.expect_same("logs", "--error-bars", method, "--resamples", 20,
                                        ranks=(2, 5))
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
        self.bad_ranks(3, "estimate", "machine-maintenance", "logs/*.zst", "gone.csv",
                       says="gone.csv: ")

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


class Studies(MpiCase):
    def test_a_study_that_was_killed_goes_on_with_other_ranks(self):
        self.write("little.toml", STUDY)
        self.good("study", "run", "little.toml", "-o", "alone")
        for victim in ("rank 0", "worker"):
            with self.subTest(victim):
                folder = victim.replace(" ", "-")
                self.kill_in_the_middle(victim, folder)
                self.good_ranks(2, "study", "run", "little.toml", "-o", folder)
                self.assertEqual(self.read(f"{folder}/learning.csv"),
                                 self.read("alone/learning.csv"))

    def kill_in_the_middle(self, victim, folder):
        job = self.start(3, "study", "run", "little.toml", "-o", folder)
        store = self.folder / folder / "results.sqlite-wal"
        self.wait_for(job, lambda: store.exists() and store.stat().st_size > 100_000)
        ranks = self.processes_of(job.pid)
        self.assertEqual(len(ranks), 3, "the study was over too early")
        os.kill(ranks[0 if victim == "rank 0" else -1], signal.SIGKILL)
        self.assertNotEqual(job.wait(60), 0)

    def test_a_bad_study_is_reported_once(self):
        self.write("bad.toml", "name = 3\n")
        self.bad_ranks(3, "study", "run", "bad.toml", "-o", "out", says="bad.toml")


class Runs(MpiCase):
    def test_learning_runs_are_the_same(self):
        arguments = ("learn", "machine-maintenance", "--agent", "uniform", "--agent", "oas-ucrl",
                     "--runs", 3, "--steps", 2000, "--oracle-gap", 0.01)
        self.good(*arguments, "-o", "alone")
        self.good_ranks(3, *arguments, "-o", "ranks")
        names = sorted(os.listdir(self.folder / "alone"))
        self.assertEqual(sorted(os.listdir(self.folder / "ranks")), names)
        for name in names:
            if name.endswith(".csv"):
                self.assertEqual(self.read(f"ranks/{name}"), self.read(f"alone/{name}"))
            else:
                self.assertEqual(self.without_times(f"ranks/{name}"),
                                 self.without_times(f"alone/{name}"))

    def without_times(self, name):
        def strip(value):
            if isinstance(value, dict):
                return {k: strip(v) for k, v in value.items() if "seconds" not in k}
            return [strip(v) for v in value] if isinstance(value, list) else value
        return strip(json.loads(self.read(name)))

    def test_shards_are_the_same(self):
        arguments = ("simulate", "machine-maintenance", "--runs", 10, "--steps", 300, "--shards", 4)
        self.good(*arguments, "-o", "alone/")
        for ranks in (2, 5):
            self.good_ranks(ranks, *arguments, "-o", f"ranks{ranks}/")
            for name in os.listdir(self.folder / "alone"):
                self.assertEqual(self.read(f"ranks{ranks}/{name}"), self.read(f"alone/{name}"))

    def test_one_file_is_written_by_rank_0(self):
        self.simulate("--steps", 100, "-o", "alone.csv")
        said = self.good_ranks(2, "simulate", "machine-maintenance", "--seed", 5, "--steps", 100,
                               "-o", "ranks.csv").stderr
        self.assertEqual(self.read("ranks.csv"), self.read("alone.csv"))
        self.assertIn("rank 0 alone", said)


class TheRest(MpiCase):
    def test_other_verbs_run_on_rank_0(self):
        result = self.good_ranks(3, "check", "machine-maintenance")
        self.assertEqual(result.stdout, self.good("check", "machine-maintenance"))
        self.assertIn("rank 0 alone", result.stderr)

    def test_rank_0_shows_how_far_it_is(self):
        """On the terminal that mpirun has; mpirun gives its ranks none."""
        for words in (("learn", "pest-control", "--agent", "uniform", "--steps", 1_000_000_000,
                       "--runs", 2, "--oracle-gap", 1e-2),):
            shown, _, _ = watch(command(2, *words), self.folder, 100, until="learning [",
                                environment=ENVIRONMENT)
            self.assertIn("learning [", shown)
        quiet = self.good_ranks(2, "check", "machine-maintenance")
        self.assertNotIn("\r", quiet.stderr)

    def test_wrong_usage_is_reported_once(self):
        self.bad_ranks(3, "estimate", "machine-maintenance", says="LOG")
        self.bad_ranks(3, "estimate", "no-such-problem", "x.csv", says="no-such-problem")

    def test_a_rank_that_fails_alone_ends_the_job(self):
        """Rank 1 does not see the model that rank 0 sees."""
        self.good("problem", "machine-maintenance", "-o", "model.json")
        self.simulate("--runs", 3, "--steps", 100, "-o", "logs/", "--shards", 3)
        script = self.write("run.sh", f"""
[ "$OMPI_COMM_WORLD_RANK" = 1 ] && model=gone.json || model=model.json
exec {OAS} estimate $model logs --estimator oas-overlap -o out.json
""")
        result = subprocess.run([MPIRUN, "-n", "3", "bash", script], cwd=self.folder, text=True,
                                capture_output=True, check=False, env=ENVIRONMENT, timeout=60)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("oas: rank 1: gone.json", result.stderr)
        self.assertFalse((self.folder / "out.json").exists())

    def test_the_version_says_that_mpi_is_in(self):
        self.assertRegex(self.good("--version"), r"^\d+\.\d+\.\d+ \(Open MPI \d+\.\d+.*\)\n$")


if __name__ == "__main__":
    unittest.main()
