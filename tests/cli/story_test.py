"""The commands as a user types them: the story of the README, and what each verb promises."""

import csv
import gzip
import json
import os
import subprocess
import unittest

from support import OAS, CliCase


class Story(CliCase):
    def test_from_problem_to_estimate(self):
        self.assertIn("machine-maintenance", self.good("list"))
        self.good("problem", "machine-maintenance", "-o", "m.json")
        self.assertIn("can be learned", self.good("check", "m.json"))
        self.good("simulate", "m.json", "--policy", "belief", "--steps", 1000000, "--seed", 1, "-o",
                  "log.csv")
        out = self.good("estimate", "m.json", "log.csv", "--estimator", "oas", "-o", "learned.json")
        self.assertIn("500000 pairs", out)
        report = self.good_json("compare", "m.json", "learned.json")
        self.assertLess(report["frobenius"], 0.1)
        self.assertGreater(report["frobenius"], 0.01)
        self.assertGreater(report["interval_coverage"], 0.85)
        self.assertEqual(len(report["rows"]), 12)

    def test_problem_names_are_models(self):
        self.good("simulate", "robot-corridor", "--steps", 20000, "-o", "log.csv")
        self.good("estimate", "robot-corridor", "log.csv", "-o", "learned.json")
        self.good("compare", "robot-corridor", "learned.json")

    def test_names_of_corner_models_are_models(self):
        self.assertIn("corner/ring-4", self.good("list"))
        self.good("problem", "corner/ring-4-noisy", "-o", "ring.json")
        self.good("simulate", "corner/ring-4-noisy", "--steps", 5000, "-o", "log.csv")
        self.good("estimate", "ring.json", "log.csv", "-o", "learned.json")
        self.good("compare", "corner/ring-4-noisy", "learned.json")

    def test_estimate_does_not_look_at_the_transition(self):
        self.good("problem", "network-link", "-o", "full.json")
        self.good("problem", "network-link", "--hide-transition", "-o", "hidden.json")
        self.good("simulate", "full.json", "--steps", 20000, "-o", "log.csv")
        self.good("estimate", "full.json", "log.csv", "-o", "a.json")
        self.good("estimate", "hidden.json", "log.csv", "-o", "b.json")
        self.assertEqual(self.read("a.json"), self.read("b.json"))

    def test_particles_estimate_in_one_pass_whatever_the_timing(self):
        self.good("simulate", "robot-corridor", "--steps", 2000, "-o", "log.csv")
        said = self.good("estimate", "robot-corridor", "log.csv", "--estimator", "particle",
                         "--particles", 40, "--seed", 3, "-o", "a.json")
        self.assertIn("posterior standard deviation (40 draws)", said)
        self.good("estimate", "robot-corridor", "log.csv", "--estimator", "particle",
                  "--particles", 40, "--seed", 3, "--threads", 1, "-o", "b.json")
        self.good("estimate", "robot-corridor", "log.csv", "--estimator", "particle",
                  "--particles", 40, "--seed", 4, "-o", "c.json")
        self.assertEqual(self.read("a.json"), self.read("b.json"))
        self.assertNotEqual(self.read("a.json"), self.read("c.json"))
        self.good("compare", "robot-corridor", "a.json")
        self.bad("estimate", "robot-corridor", "log.csv", "--estimator", "particle",
                 "--particles", 1, "-o", "x.json", says=["--particles: "])

    def test_an_estimate_is_a_model(self):
        self.good("simulate", "pest-control", "--steps", 50000, "-o", "log.csv")
        self.good("estimate", "pest-control", "log.csv", "-o", "learned.json")
        self.good("check", "learned.json")
        self.good("simulate", "learned.json", "--steps", 100, "-o", "again.csv")
        self.good("simulate", "pest-control", "--filter", "learned.json", "--steps", 100, "-o",
                  "filtered.csv")

    def test_check_does_not_promise_what_its_own_table_denies(self):
        """One long run of what wears out shows next to nothing of the time before."""
        sensor = [[0.85, 0.13, 0.02], [0.15, 0.8, 0.05], [0.01, 0.02, 0.97]]
        for leaves in (0.05, 0.0005):
            wear = [[1 - leaves, leaves, 0], [0, 1 - leaves, leaves], [0, 0, 1]]
            self.write("wear.json", json.dumps({
                "format": "oas-model/1", "timing": "before", "states": ["new", "worn", "broken"],
                "actions": ["run"], "observations": ["hum", "rattle", "still"], "start": [1, 0, 0],
                "transition": [wear], "observation": sensor}))
            many = self.good_json("check", "wear.json", "--runs", 1000, "--steps", 128)
            self.assertEqual(many["learnable"], leaves > 0.01)  # else failures are too rare
            if many["learnable"]:
                one = ("--runs", 4, "--steps", 100000)
                self.assertFalse(self.good_json("check", "wear.json", *one)["learnable"])
                text = self.good("check", "wear.json", *one)
                self.assertNotIn("every row of the transition model can be learned", text)
                self.assertIn("use many runs from the start (--steps and --runs say", text)

    def test_random_problems(self):
        self.good("problem", "random", "--states", 4, "--actions", 2, "--observations", 6,
                  "--alpha", 0.2, "--seed", 3, "-o", "r.json")
        report = self.good_json("check", "r.json", "--runs", 2, "--steps", 5000)
        self.assertGreaterEqual(report["alpha"], 0.2)
        steps = [one["steps"] for one in report["data"]["estimators"]]
        self.assertEqual(sorted(steps, reverse=True), steps)
        report = self.good_json("check", "r.json", "--runs", 2, "--steps", 5000, "--estimator",
                                "oas-ml", "--target-error", 0.5, "--trial", 10)
        self.assertLess(abs(report["data"]["estimators"][0]["trial_error"] - 0.5), 0.25)
        # For so large an error one step is enough, says the prediction; a trial needs a pair.
        self.good("check", "corner/minimal", "--runs", 2, "--steps", 2000, "--target-error", 5,
                  "--trial", 2)
        self.good("problem", "random", "--after", "--seed", 3, "-o", "after.json")
        self.assertEqual(json.loads(self.read("after.json"))["timing"], "after")


class Simulate(CliCase):
    def test_same_seed_same_bytes_whatever_the_threads(self):
        for threads in (1, 2):
            self.good("simulate", "pest-control", "--steps", 3000, "--runs", 40, "--seed", 5,
                      "--threads", threads, "-o", f"log{threads}.csv")
        self.assertEqual(self.read("log1.csv"), self.read("log2.csv"))
        self.good("simulate", "pest-control", "--steps", 3000, "--runs", 40, "--seed", 6, "-o",
                  "other.csv")
        self.assertNotEqual(self.read("log1.csv"), self.read("other.csv"))

    def test_long_and_short_runs_agree(self):
        self.good("simulate", "pest-control", "--steps", 65536, "-o", "short.csv")
        self.good("simulate", "pest-control", "--steps", 65537, "-o", "long.csv")
        self.assertTrue(self.read("long.csv").startswith(self.read("short.csv")))

    def test_compressed_logs_hold_the_same_rows(self):
        self.good("simulate", "pest-control", "--steps", 2000, "-o", "log.csv")
        self.good("simulate", "pest-control", "--steps", 2000, "-o", "log.csv.gz")
        self.good("simulate", "pest-control", "--steps", 2000, "-o", "log.csv.zst")
        self.assertEqual(gzip.decompress(self.read("log.csv.gz")), self.read("log.csv"))
        for name in ("log.csv", "log.csv.gz", "log.csv.zst"):
            self.good("estimate", "pest-control", name, "-o", name + ".json")
        self.assertEqual(self.read("log.csv.json"), self.read("log.csv.gz.json"))
        self.assertEqual(self.read("log.csv.json"), self.read("log.csv.zst.json"))

    def test_columns(self):
        self.good("simulate", "pest-control", "--steps", 5, "--runs", 2, "--reward", "--state",
                  "-o", "log.csv")
        header = self.read("log.csv").decode().splitlines()[1]
        self.assertEqual(header, "run,action,observation,propensity,reward,state")

    def test_standard_output(self):
        out = self.good("simulate", "pest-control", "--steps", 3, "--quiet", "-o", "-")
        self.assertEqual(len(out.splitlines()), 5)


class Estimate(CliCase):
    def test_threads_and_files(self):
        names = []
        for seed in range(4):
            names.append(f"log{seed}.csv")
            self.good("simulate", "robot-corridor", "--steps", 5000, "--seed", seed, "-o",
                      names[-1])
        for threads in (1, 2):
            self.good("estimate", "robot-corridor", *names, "--threads", threads, "-o",
                      f"t{threads}.json")
        self.assertEqual(self.read("t1.json"), self.read("t2.json"))

    def test_reads_standard_input(self):
        self.good("simulate", "pest-control", "--steps", 5000, "-o", "log.csv")
        text = self.read("log.csv").decode()
        self.good("estimate", "pest-control", "-", "-o", "a.json", stdin=text)
        self.good("estimate", "pest-control", "log.csv", "-o", "b.json")
        self.assertEqual(self.read("a.json"), self.read("b.json"))

    def test_missing_observations_are_counted(self):
        self.good("simulate", "pest-control", "--steps", 5000, "-o", "log.csv")
        lines = self.read("log.csv").decode().splitlines()
        for i in range(10, 5000, 100):
            action, _, propensity = lines[i].split(",")
            lines[i] = f"{action},,{propensity}"
        self.write("holes.csv", "\n".join(lines) + "\n")
        report = self.good_json("estimate", "pest-control", "holes.csv", "--estimator",
                                "oas-overlap")
        self.assertEqual(report["missing_observations"], 50)
        self.assertEqual(sum(report["pairs"]), 4999 - 100)

    def test_actions_that_ignore_observations(self):
        self.good("simulate", "robot-corridor", "--policy", "round-robin", "--steps", 200000, "-o",
                  "log.csv")
        overlap = ("--estimator", "oas-overlap", "-o", "x.json")
        self.bad("estimate", "robot-corridor", "log.csv", *overlap,
                 says=["--actions-ignore-observations", "propensit"])
        self.good("estimate", "robot-corridor", "log.csv", "--actions-ignore-observations",
                  *overlap)
        self.assertLess(self.good_json("compare", "robot-corridor", "x.json")["frobenius"], 0.3)


    def peak_memory(self, steps, *options):
        """Kilobytes that `oas estimate` needs for a log of so many rows."""
        name = f"log{steps}.csv"
        self.good("simulate", "pest-control", "--steps", steps, "-o", name)
        process = subprocess.Popen([OAS, "estimate", "pest-control", name, "--quiet", *options],
                                   cwd=self.folder)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss

    def test_memory_does_not_grow_with_the_log(self):
        for options in (("--estimator", "oas-overlap"), ("--memory", "0.25")):
            self.assertLess(self.peak_memory(4000000, *options),
                            1.05 * self.peak_memory(800000, *options))


class Filter(CliCase):
    def test_beliefs_and_smoothed_states(self):
        self.good("simulate", "pest-control", "--steps", 400, "--runs", 2, "--state", "-o",
                  "log.csv")
        self.good("filter", "pest-control", "log.csv", "-o", "states.csv")
        with open(self.folder / "states.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        with open(self.folder / "log.csv", newline="") as file:
            file.readline()
            log = list(csv.DictReader(file))
        self.assertEqual(len(rows), 802)
        beliefs = [key for key in rows[0] if key.startswith("belief_")]
        smoothed = [key for key in rows[0] if key.startswith("smoothed_")]
        for row in rows:
            self.assertAlmostEqual(sum(float(row[key]) for key in beliefs), 1.0, places=4)
            self.assertAlmostEqual(sum(float(row[key]) for key in smoothed), 1.0, places=4)
        self.assertEqual((rows[400]["action"], rows[401]["step"]), ("", "0"))
        # The likeliest smoothed state is right much more often than a guess.
        with_action = [row for row in rows if row["action"]]
        hits = sum(row["likeliest"] == seen["state"] for row, seen in zip(with_action, log))
        self.assertGreater(hits / 800, 0.75)


if __name__ == "__main__":
    unittest.main()
