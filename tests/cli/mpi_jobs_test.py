"""Verbs other than estimate under mpirun: studies, runs, and what only rank 0 does."""

import json
import os
import signal
import subprocess
import unittest

from mpi_support import ENVIRONMENT, MPIRUN, MpiCase, command
from support import OAS, watch

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

    def test_only_running_is_shared(self):
        """What reads or mends results is for one process."""
        self.write("little.toml", STUDY.replace("30", "2").replace("20000", "200"))
        self.good("study", "run", "little.toml", "-o", "alone")
        for words in (("report", "alone"), ("repair", "alone"), ("replay", "alone", 0), ("list",)):
            result = self.good_ranks(3, "study", *words)
            self.assertIn("rank 0 alone", result.stderr)
            self.assertEqual(result.stdout, self.good("study", *words))

    def test_the_benchmark_is_shared(self):
        words = ("bench", "run", "--agent", "uniform", "--band", "weak", "--runs", 1, "--steps", 50)
        self.good(*words, "-o", "alone")
        said = self.good_ranks(3, *words, "-o", "ranks").stderr
        self.assertNotIn("rank 0 alone", said)
        self.assertEqual(self.read("ranks/learning.csv"), self.read("alone/learning.csv"))

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
