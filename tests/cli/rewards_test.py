"""Rewards that were learned from the column of a log, and what is made of them."""

import json
import random
import unittest

from support import CliCase

PUMP = {"format": "oas-model/1", "timing": "after", "states": ["good", "bad"],
        "actions": ["run", "fix"], "observations": ["low", "high"], "start": [1, 0],
        "transition": [[[0.9, 0.1], [0, 1]], [[1, 0], [0.9, 0.1]]],
        "observation": [[0.9, 0.1], [0.1, 0.9]]}


class LearnedRewards(CliCase):
    def setUp(self):
        super().setUp()
        self.write_model("pump.json", PUMP)

    def test_what_was_never_tried_is_not_free(self):
        rows = "".join(f"{unit},run,{'high' if step > 9 else 'low'},{-3 if step > 9 else -1}\n"
                       for unit in range(20) for step in range(20))
        self.write("cost.csv", "run,action,observation,reward\n" + rows)
        learned = self.oas("estimate", "pump.json", "cost.csv", "-o", "learned.json")
        self.assertEqual(learned.returncode, 0)
        for state in ("good", "bad"):
            self.assertIn(f"the log does not tell the reward of (fix, {state}); it is taken to be "
                          "the least in the log, -3", learned.stderr)
        self.assertEqual(json.loads(self.read("learned.json"))["reward"][1], [-3, -3])
        said = ("learned.json: its log did not determine 2 of the 4 rewards (action, state): "
                "(fix, good), (fix, bad)")
        plan = self.oas("plan", "learned.json", "--steps", 6400, "-o", "plan.json", "--json")
        self.assertIn(said, plan.stderr)
        told = json.loads(plan.stdout)
        self.assertIn(said, told["warnings"][-1])
        self.assertLess(told["gain_upper"], -0.9)
        asked = self.oas("evaluate", "learned.json", "--policy", "constant:fix", "--json")
        self.assertIn(said, asked.stderr)
        self.assertAlmostEqual(json.loads(asked.stdout)["policies"][0]["gain"], -3, places=9)
        self.assertIn(said, self.oas("evaluate", "learned.json", "plan.json", "--steps",
                                     6400).stderr)

    def test_an_empty_column_teaches_nothing(self):
        self.write("log.csv", "action,observation,reward\n" + "run,low,\nfix,high,\n" * 50)
        learned = self.oas("estimate", "pump.json", "log.csv", "-o", "learned.json")
        self.assertIn("no row of the log has a reward", learned.stderr)
        self.bad("plan", "learned.json", says=["has no reward"])

    def test_rewards_beyond_all_sums_are_refused(self):
        self.write("log.csv", "action,observation,reward\n" + "run,low,1e308\nfix,high,-1\n" * 9)
        for estimator in ("oas-ml", "gibbs"):
            self.bad("estimate", "pump.json", "log.csv", "--estimator", estimator, "-o", "e.json",
                     says=["log.csv", "action run are too large"])

    def noisy_log(self, name, reading):
        """Rewards 1 and 0 of good and bad while it runs, with noise of standard deviation 5"""
        rng = random.Random(4)
        rows, state = [], 0
        for _ in range(600):
            action = rng.random() < 0.2
            reward = (0.5 - state if action else 1 - state) + rng.gauss(0, 5)
            state = int(rng.random() >= PUMP["transition"][action][state][0])
            rows.append(f"{'fix' if action else 'run'},{reading(rng, state)},{reward:.4f}\n")
        self.write(name, "action,observation,reward\n" + "".join(rows))

    def limits(self, model):
        """Width of the limits of two policies over the draws, and what is warned of"""
        asked = self.oas("evaluate", model, "--policy", "constant:run", "--policy", "constant:fix",
                         "--json")
        self.assertEqual(asked.returncode, 0, asked.stderr)
        answers = json.loads(asked.stdout)["policies"]
        return [high - low for low, high in (one["gain_limits"] for one in answers)], asked.stderr

    def without_draws_of_rewards(self, model, name):
        document = json.loads(self.read(model))
        self.assertEqual(len(document["estimate"].pop("reward_draws")), 200)
        return self.write_model(name, document)

    def test_limits_over_draws_hold_the_error_of_rewards(self):
        self.noisy_log("log.csv", lambda rng, state: "low" if (rng.random() < 0.9) != state
                       else "high")
        self.good("estimate", "pump.json", "log.csv", "--estimator", "gibbs", "-o", "e.json")
        self.without_draws_of_rewards("e.json", "old.json")
        errors = json.loads(self.read("e.json"))["estimate"]["reward_standard_error"]
        widths, stderr = self.limits("e.json")
        self.assertEqual(stderr, "")
        narrow, stderr = self.limits("old.json")
        self.assertIn("old.json: its rewards were learned from a log, but the file carries no "
                      "draws of them", stderr)
        for width, less in zip(widths, narrow):
            self.assertGreater(width, 2 * less)
        # Always fix: nearly always good, so that the reward there is all. The limits are quantiles
        # of 200 draws: their distance has an error of 0.27 standard deviations.
        self.assertAlmostEqual(widths[1], 2 * 1.96 * errors[1][0], delta=1.4 * errors[1][0])
        plan = ("--grid", 12, "--steps", 640)
        self.assertIn("over 200 dynamics and rewards drawn from the posterior",
                      self.good("plan", "e.json", *plan))
        self.assertIn("over 200 dynamics drawn", self.good("plan", "old.json", *plan))
        self.assertIn("200 models, dynamics and rewards, drawn", self.good(
            "evaluate", "e.json", "--policy", "constant:run"))
        self.assertIn("draws that did not choose", self.good("plan", "e.json", "--cautious", 0.2,
                                                             *plan))
        robust = self.oas("plan", "e.json", "--robust", "--grid", 12)
        self.assertEqual(robust.returncode, 0)
        self.assertIn("takes the rewards as exact", robust.stderr)
        again = self.good("estimate", "pump.json", "log.csv", "--estimator", "gibbs", "-o",
                          "again.json", "--threads", 3)
        self.assertIn("again.json", again)
        self.assertEqual(self.read("e.json"), self.read("again.json"))

    def test_cells_of_a_model_keep_draws_of_rewards(self):
        bells = [{"kind": "gaussian", "mean": mean, "sd": 1} for mean in (0, 3)]
        model = {key: value for key, value in PUMP.items() if key != "observation"}
        self.write_model("real.json", {**model, "observations": {"dimension": 1},
                                       "density": [bells, bells]})
        self.noisy_log("real.csv", lambda rng, state: f"{rng.gauss(3 * state, 1):.4f}")
        self.good("estimate", "real.json", "real.csv", "--estimator", "gibbs", "-o", "e.json")
        self.good("discretise", "e.json", "--cells", 4, "-o", "cells.json")
        self.without_draws_of_rewards("cells.json", "old.json")
        for width, less in zip(self.limits("cells.json")[0], self.limits("old.json")[0]):
            self.assertGreater(width, 2 * less)

    def test_draws_of_rewards_that_do_not_fit_are_named(self):
        self.noisy_log("log.csv", lambda rng, state: "high" if state else "low")
        self.good("estimate", "pump.json", "log.csv", "--estimator", "gibbs", "-o", "e.json")
        document = json.loads(self.read("e.json"))
        document["estimate"]["reward_draws"][3][1] = [1]
        self.write_model("bad.json", document)
        self.bad("plan", "bad.json", says=["bad.json", "reward_draws[3][1]"])
        document["estimate"]["reward_draws"].pop()
        self.write_model("bad.json", document)
        self.bad("plan", "bad.json", says=["bad.json", "reward_draws", "199", "200"])


if __name__ == "__main__":
    unittest.main()
