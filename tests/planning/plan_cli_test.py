"""oas plan, evaluate and simulate --policy PLAN, as a user meets them."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.environ["OAS_CLI_SUPPORT"])
from support import CliCase  # noqa: E402

PROBLEMS = ["machine-maintenance", "spectrum-access", "patient-treatment", "network-link",
            "robot-corridor", "pest-control"]


class Story(CliCase):
    def test_every_problem_can_be_planned_evaluated_and_played(self):
        for name in PROBLEMS:
            plan = self.good_json("plan", name, "--steps", 20000, "-o", "plan.json")
            self.assertEqual(plan["status"], "converged")
            self.assertLessEqual(plan["gain_lower"], plan["gain_upper"])
            self.assertLess(plan["gain_upper"] - plan["gain_lower"], 2e-3)
            result = self.good_json("evaluate", name, "plan.json", "--steps", 20000)
            self.assertAlmostEqual(result["simulated"], result["chain"], delta=1e-3)
            self.assertLessEqual(result["lower_limit"], plan["gain_upper"])
            played = self.good_json("simulate", name, "--policy", "plan.json", "--steps", 20000,
                                    "-o", "log.csv")
            self.assertAlmostEqual(played["mean_reward"], plan["gain_upper"], delta=0.05)

    def test_same_seed_same_bytes_for_any_number_of_threads(self):
        for threads in (1, 2):
            self.good("plan", "pest-control", "--iota", 0.05, "--threads", threads,
                      "-o", f"{threads}.json")
        self.assertEqual(self.read("1.json"), self.read("2.json"))

    def test_states_that_no_run_came_to(self):
        both = [[[1.0, 0.0], [0.0, 1.0]]]
        self.write("two.json", json.dumps({
            "format": "oas-model/1", "timing": "before", "states": ["good", "bad"],
            "actions": ["wait"], "observations": ["up", "down"], "start": [0.97, 0.03],
            "transition": both, "observation": both, "reward": [[1.0, 0.0]]}))
        plan = self.good_json("plan", "two.json", "--steps", 6400, "-o", "plan.json")
        self.assertLessEqual(plan["gain_lower"], 0.97 + 1e-9)
        self.assertIn("no simulated run ended", plan["message"])
        done = self.oas("evaluate", "two.json", "plan.json", "--steps", 6400)
        self.assertIn("no simulated run ended", done.stderr)

    def test_optimism(self):
        plain = self.good_json("plan", "pest-control", "--steps", 6400)
        bold = self.good_json("plan", "pest-control", "--radius", 0.05, "--steps", 6400,
                              "-o", "bold.json")
        self.assertGreater(bold["gain_lower"], plain["gain_upper"])
        self.assertGreaterEqual(bold["optimism"]["gain_bound"], bold["gain_upper"])
        model = json.loads(self.read("bold.json"))["model"]
        self.assertNotEqual(model["transition"], self.model("pest-control")["transition"])

    def test_filter(self):
        self.good("plan", "network-link", "--steps", 6400, "-o", "plan.json")
        wrong = self.model("network-link")
        wrong["transition"] = [[[1 / 3] * 3] * 3] * 3
        self.write("wrong.json", json.dumps(wrong))
        right = self.good_json("evaluate", "network-link", "plan.json")
        other = self.good_json("evaluate", "network-link", "plan.json", "--filter", "wrong.json")
        self.assertLess(other["simulated"], right["simulated"])
        self.assertAlmostEqual(other["simulated"], other["chain"],
                               delta=2e-3 + other["half_width"])

    def test_all_and_figures(self):
        rows = self.good_json("plan", "pest-control", "--all", "--iota", 0.03)["oracles"]
        self.assertEqual([row["policy"] for row in rows][-1], "state seen")
        for name in ("pest-control", "network-link"):
            self.good("plan", name, "--steps", 6400, "--figure", "policy.svg")
            self.assertTrue(self.read("policy.svg").startswith(b"<svg"))
        for name in ("machine-maintenance", "robot-corridor"):  # of more than three states
            self.good("plan", name, "--planner", "point", "--steps", 6400, "--figure", "policy.svg")
            drawn = self.read("policy.svg").decode()
            self.assertTrue(drawn.startswith("<svg"))
            self.assertIn("% of the time", drawn)

    def test_point_based(self):
        plan = self.good_json("plan", "pest-control", "--planner", "point", "--steps", 6400,
                              "-o", "plan.json")
        self.assertEqual(plan["planner"], "point")
        self.good("evaluate", "pest-control", "plan.json", "--steps", 6400)


class Warnings(CliCase):
    def undetermined(self, rows):
        """An estimate whose log did not determine some rows"""
        model = self.model("pest-control")
        names = [(a, s) for a in model["actions"] for s in model["states"]]
        flagged = [{"action": a, "state": s, "reason": "no pair"} for a, s in names[:rows]]
        self.write_model("learned.json", {**model, "estimate": {"estimator": "oas",
                                                                "flagged_rows": flagged}})
        return names[:rows]

    def test_rows_that_the_log_did_not_determine(self):
        names = self.undetermined(2)
        total = len(self.model("pest-control")["actions"]) * 2
        rows = ", ".join(f"({a}, {s})" for a, s in names)
        text = (f"learned.json: its log did not determine 2 of the {total} rows (action, state) of "
                f"the transition model: {rows}; the plan may depend on them")
        result = self.oas("plan", "learned.json", "--steps", 6400, "-o", "plan.json", "--json")
        self.assertEqual((result.returncode, result.stderr), (0, f"warning: {text}\n"))
        self.assertEqual(json.loads(result.stdout)["warnings"], [text])
        self.assertEqual(json.loads(self.read("plan.json"))["warnings"], [text])
        again = self.oas("evaluate", "pest-control", "plan.json", "--steps", 6400, "--json")
        self.assertEqual(again.stderr, f"warning: plan.json: made with a warning: {text}\n")
        self.assertEqual(len(json.loads(again.stdout)["warnings"]), 1)
        for verb in (("plan", "learned.json", "--all", "--steps", 6400),
                     ("evaluate", "learned.json", "plan.json", "--steps", 6400),
                     ("learn", "learned.json", "--agent", "uniform", "--steps", 100,
                      "--oracle-gap", 1e-2)):
            self.assertIn("did not determine 2 of the", self.oas(*verb).stderr)
        quiet = self.oas("plan", "learned.json", "--steps", 6400, "-q")
        self.assertEqual(quiet.stderr, "")

    def test_an_estimate_without_draws_says_that_there_are_no_limits(self):
        self.good("simulate", "pest-control", "--steps", 400, "-o", "log.csv")
        said = "the dynamics are taken as exact"
        for estimator, more, told in (("oas-ml", ("--carried-draws", 0), True),
                                      ("oas-ml", (), False), ("gibbs", ("--draws", 80), False)):
            self.good("estimate", "pest-control", "log.csv", "--estimator", estimator, *more, "-o",
                      "e.json")
            out = self.good("plan", "e.json", "--steps", 6400)
            self.assertEqual(said in out, told, out)
        self.assertNotIn(said, self.good("plan", "pest-control", "--steps", 6400))

    def test_many_rows_are_counted_and_some_named(self):
        model = self.model("robot-corridor")
        flagged = [{"action": a, "state": s, "reason": "no pair"} for a in model["actions"]
                   for s in model["states"]]
        self.write_model("learned.json", {**model, "estimate": {"estimator": "oas",
                                                                "flagged_rows": flagged}})
        result = self.oas("plan", "learned.json", "--grid", 6, "--steps", 6400)
        self.assertIn(f"did not determine {len(flagged)} of the {len(flagged)} rows", result.stderr)
        self.assertEqual(result.stderr.count("), ("), 4)
        self.assertIn(", …; the plan", result.stderr)

    def test_determined_estimates_and_plain_models_are_not_warned_of(self):
        self.undetermined(0)
        for model in ("learned.json", "pest-control"):
            self.assertEqual(self.oas("plan", model, "--steps", 6400).stderr, "")

    def test_what_is_written_is_judged_by_what_the_plan_promised(self):
        self.good("plan", "spectrum-access", "--steps", 6400, "-o", "plan.json")
        plan = json.loads(self.read("plan.json"))
        for file in ("plan.pg", "plan.policy"):
            if file == "plan.policy" and plan["model"]["timing"] == "before":
                continue
            good = self.oas("convert", "plan.json", file, "--json")
            self.assertEqual((good.returncode, good.stderr), (0, ""), file)
            self.assertFalse(json.loads(good.stdout)["worse_than_plan"])
        high = {**plan, "gain_lower": 9.1, "gain_upper": 9.2}
        self.write("high.json", json.dumps(high))
        bad = self.oas("convert", "high.json", "bad.pg", "--json")
        self.assertEqual(bad.returncode, 0, bad.stderr)
        found = json.loads(bad.stdout)
        self.assertTrue(found["worse_than_plan"])
        self.assertEqual((found["plan_gain_lower"], found["plan_gain_upper"]), (9.1, 9.2))
        self.assertEqual(bad.stderr, f"warning: bad.pg: its gain is {found['gain']:.6g}, while "
                         "that of high.json is at least 9.1\n")
        exact = self.good_json("evaluate", "spectrum-access", "bad.pg", "--start-node", 0)["exact"]
        self.assertAlmostEqual(found["gain"], exact, delta=1e-12)


class Errors(CliCase):
    def test_bad_input_is_named_and_leaves_nothing(self):
        self.bad("plan", "pest-control", "--iota", 0.7, "-o", "p.json", says=["0.7"])
        self.bad("plan", "pest-control", "--radius", 2, "-o", "p.json", says=["--radius"])
        self.bad("plan", "machine-maintenance", "--grid", 2000, "-o", "p.json",
                 says=["2000", "points"])
        self.bad("plan", "no-such", says=["no-such"])
        self.write("unknown.json", json.dumps(self.model(transition=None)))
        self.bad("plan", "unknown.json", says=["unknown.json", "no transition model"])
        self.good("plan", "pest-control", "--steps", 6400, "-o", "plan.json")
        self.bad("evaluate", "network-link", "plan.json", says=["2 states", "3 states"])
        self.bad("evaluate", "pest-control", "missing.json", says=["missing.json"])
        broken = json.loads(self.read("plan.json"))
        broken["bias"][7] = "high"
        self.write("broken.json", json.dumps(broken))
        self.bad("evaluate", "pest-control", "broken.json", says=["broken.json", "$.bias[7]"])
        self.bad("simulate", "network-link", "--policy", "plan.json", "--steps", 5, "-o", "x.csv",
                 says=["plan.json", "2 states"])


if __name__ == "__main__":
    unittest.main()
