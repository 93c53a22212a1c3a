"""Rewards that were learned from the column of a log, and what is made of them."""

import json
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
        said = ("learned.json: its log did not tell 2 of the 4 rewards (action, state): "
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


if __name__ == "__main__":
    unittest.main()
