"""What if we did that? Policies by name, plans under dynamics that are not known exactly."""

import json
import unittest

from support import CliCase

PUMP = {"format": "oas-model/1", "timing": "after", "states": ["good", "failed"],
        "actions": ["run", "repair"], "observations": ["hum", "grind"], "start": [1, 0],
        "transition": [[[0.9, 0.1], [0, 1]], [[1, 0], [1, 0]]],
        "observation": [[[1, 0], [0, 1]], [[1, 0], [0, 1]]],
        "reward": [[1, 0], [-1, -1]]}


class WhatIf(CliCase):
    def setUp(self):
        super().setUp()
        self.write("pump.json", json.dumps(PUMP))

    def table(self, *policies, model="pump.json", more=()):
        named = [word for policy in policies for word in ("--policy", policy)]
        return self.good_json("evaluate", model, *named, *more)["policies"]

    def test_gains_and_frequencies_of_named_policies(self):
        run, turns, seen = self.table("constant:run", "schedule:run,repair",
                                      "threshold:failed>0.5=repair,else=run")
        self.assertAlmostEqual(run["gain"], 0, places=9)
        self.assertAlmostEqual(run["frequencies"]["failed"]["value"], 1, places=9)
        self.assertAlmostEqual(turns["gain"], 0, places=9)  # always good before run: (1 - 1) / 2
        self.assertAlmostEqual(turns["frequencies"]["failed"]["value"], 0.05, places=9)
        # Fails after 10 steps on average, then one repair.
        self.assertAlmostEqual(seen["gain"], (10 - 1) / 11, places=9)
        self.assertAlmostEqual(seen["frequencies"]["failed"]["value"], 1 / 11, places=9)
        text = self.good("evaluate", "pump.json", "--policy", "constant:run", "--policy", "uniform")
        self.assertIn("in failed", text)
        self.assertIn("constant:run", text)

    def test_the_policy_of_a_log(self):
        rows = "run,hum\n" * 3 + "run,grind\nrepair,hum\n"
        self.write("log.csv", "action,observation\n" + rows * 4)
        logged, rule = self.table("log:log.csv", "threshold:failed>0.5=repair,else=run")
        self.assertAlmostEqual(logged["gain"], rule["gain"], places=9)
        self.assertIn("20 rows", logged["note"])
        self.write("empty.csv", "action,observation\n")
        self.bad("evaluate", "pump.json", "--policy", "log:empty.csv",
                 says=["empty.csv", "no rows"])
        self.write("wrong.csv", "action,observation\nrun,hum\nfly,hum\n")
        self.bad("evaluate", "pump.json", "--policy", "log:wrong.csv", says=["wrong.csv:3", "fly"])

    def test_draws_give_limits_and_plans_say_so(self):
        self.good("simulate", "machine-maintenance", "--steps", 300, "--runs", 2, "-o", "log.csv")
        self.good("estimate", "machine-maintenance", "log.csv", "--estimator", "gibbs", "--draws",
                  100, "-o", "e.json")
        plan = self.good_json("plan", "e.json", "--grid", 12, "--steps", 6400, "-o", "plan.json")
        limits = plan["posterior"]
        self.assertLess(limits["lower"], limits["mean"])
        self.assertLess(limits["mean"], limits["upper"])
        self.assertEqual(json.loads(self.read("plan.json"))["posterior"], limits)
        first, second = self.table("uniform", "plan.json", model="e.json")
        low, high = second["gain_limits"]
        self.assertAlmostEqual(low, limits["lower"], delta=0.01)
        self.assertAlmostEqual(high, limits["upper"], delta=0.01)
        self.assertGreater(second["share_of_draws_above_the_first"], 0.99)
        self.assertIn("limits", first["frequencies"]["failing"])
        self.assertIn("above the first", self.good(
            "evaluate", "e.json", "--policy", "uniform", "--policy", "plan.json"))
        again = self.good_json("forecast", "e.json", "log.csv", "--policy", "plan.json", "--reach",
                               "failing", "--steps", 10)
        run = self.good_json("forecast", "e.json", "log.csv", "--actions", "run", "--reach",
                             "failing", "--steps", 10)
        for careful, careless in zip(again["units"], run["units"]):
            self.assertLess(careful["reached_within_steps"]["value"],
                            careless["reached_within_steps"]["value"])
        cautious = self.good("plan", "e.json", "--cautious", 0.2, "--grid", 8, "--steps", 640)
        self.assertIn("draws that did not choose", cautious)

    def test_limits_hold_states_that_nothing_leaves(self):
        """A failure that nobody ever saw mend itself may well be one for ever."""
        self.good("simulate", "pump.json", "--steps", 400, "--runs", 3, "-o", "log.csv")
        self.good("estimate", "pump.json", "log.csv", "--estimator", "gibbs", "--draws", 200, "-o",
                  "e.json")
        run, twice, never = self.table("constant:run", "schedule:run,run", "constant:repair",
                                       model="e.json")
        self.assertLessEqual(run["gain_limits"][0], 1e-9)  # the truth is 0
        self.assertGreaterEqual(run["frequencies"]["failed"]["limits"][1], 1 - 1e-9)
        self.assertGreater(run["gain"], run["gain_limits"][0])
        self.assertEqual(twice["share_of_draws_above_the_first"], 0)
        self.assertEqual(never["simulated"], False)
        text = self.good("evaluate", "e.json", "--policy", "constant:run", "--policy",
                         "schedule:run,run")
        self.assertIn("the same", text)

    def test_a_schedule_by_either_option_is_the_same_forecast(self):
        self.good("simulate", "machine-maintenance", "--steps", 60, "--runs", 3, "-o", "log.csv")
        asked = ("forecast", "machine-maintenance", "log.csv", "--reach", "failing", "--steps", 8)
        plain = self.good_json(*asked, "--actions", "run,run,repair")
        other = self.good_json(*asked, "--policy", "schedule:run,run,repair")
        for a, b in zip(plain["units"], other["units"]):
            for key in ("reached_within_steps", "mean_steps"):
                self.assertAlmostEqual(a[key]["value"], b[key]["value"], places=8)
        self.bad(*asked, "--actions", "run", "--policy", "uniform", says=["--policy", "--actions"])
        self.bad(*asked, "--policy", "none.json", says=["none.json"])

    def test_a_promise(self):
        told = self.good_json("plan", "pump.json", "--robust", "--radius", 0.05, "-o", "robust.pg")
        self.assertLessEqual(told["promise"], told["worst_found"])
        self.assertGreaterEqual(told["promise"], told["plain_promise"])
        worse = json.loads(self.read("pump.json"))
        worse["transition"] = [[[0.85, 0.15], [0, 1]], [[0.95, 0.05], [0.95, 0.05]]]
        self.write("worse.json", json.dumps(worse))
        gain = self.good_json("evaluate", "worse.json", "robust.pg", "--start-node", 0)["exact"]
        self.assertGreaterEqual(gain, told["promise"])
        self.assertIn("in every model of the set",
                      self.good("plan", "pump.json", "--robust", "--radius", 0.05))

    def test_discounts_and_limits(self):
        told = self.good_json("plan", "pump.json", "--discount", 0.9, "--steps", 6400)
        # V = 1 + 0.9 (0.9 V + 0.1 (-1 + 0.9 V))
        best = (1 - 0.09) / (1 - 0.81 - 0.081)
        self.assertAlmostEqual(told["discounted"]["upper"], best, delta=1e-4)
        self.assertAlmostEqual(told["discounted"]["lower"], best, delta=1e-2)
        told = self.good_json("plan", "pump.json", "--limit", "failed=0.06", "--steps", 20000)
        self.assertLessEqual(told["limited"]["frequency"], 0.06)
        self.assertGreater(told["limited"]["multiplier"], 0)

    def test_what_comes_before_an_end_is_compared_with_a_discount(self):
        """Where all ends in a failure for ever, long-run averages are the same for all policies."""
        lasting = {**PUMP, "transition": [[[0.9, 0.1], [0, 1]], [[0.96, 0.04], [0, 1]]],
                   "reward": [[1, 0], [0.5, 0]]}
        self.write("pump.json", json.dumps(lasting))
        text = self.good("evaluate", "pump.json", "--policy", "constant:run", "--policy",
                         "constant:repair")
        self.assertIn("stays in failed for ever", text)
        self.assertIn("--discount compares the time before", text)
        asked = ("constant:run", "constant:repair")
        for plain in self.table(*asked):
            self.assertAlmostEqual(plain["gain"], 0, places=9)
        run, repair = self.table(*asked, more=("--discount", 0.95))
        self.assertAlmostEqual(run["worth"], 1 / (1 - 0.95 * 0.9), places=9)
        self.assertAlmostEqual(repair["worth"], 0.5 / (1 - 0.95 * 0.96), places=9)
        self.assertAlmostEqual(run["frequencies"]["good"]["value"], 0.05 * run["worth"], places=9)
        self.assertAlmostEqual(run["frequencies"]["failed"]["value"], 1 - 0.05 * run["worth"],
                               places=9)
        text = self.good("evaluate", "pump.json", "--policy", "uniform", "--discount", 0.95)
        self.assertIn("discounted by 0.95", text)
        self.assertNotIn("for ever", text)
        # A plan is judged by what it was made for, in whatever model it is tried.
        told = self.good_json("plan", "pump.json", "--discount", 0.95, "-o", "plan.json")
        worse = {**lasting, "transition": [[[0.8, 0.2], [0, 1]], [[0.96, 0.04], [0, 1]]]}
        self.write("worse.json", json.dumps(worse))
        for model, worth in (("pump.json", 1 / (1 - 0.95 * 0.9)),
                             ("worse.json", 1 / (1 - 0.95 * 0.8))):
            found = self.good_json("evaluate", model, "plan.json")
            self.assertEqual(found["discounted"]["discount"], 0.95)
            self.assertAlmostEqual(found["discounted"]["simulated"], worth,
                                   delta=1.5 * found["discounted"]["half_width"])
            self.assertAlmostEqual(self.table("plan.json", model=model,
                                              more=("--discount", 0.95))[0]["worth"], worth,
                                   places=9)
        self.assertLessEqual(told["discounted"]["lower"], told["discounted"]["upper"])
        self.assertIn("from the start, discounted by 0.95",
                      self.good("evaluate", "pump.json", "plan.json"))
        self.bad("evaluate", "pump.json", "plan.json", "--discount", 0.9, says=["--discount"])
        self.bad("evaluate", "pump.json", "--policy", "uniform", "--discount", 1,
                 says=["--discount"])

    def test_discounted_limits_hold_what_the_estimate_leaves_open(self):
        self.good("simulate", "machine-maintenance", "--steps", 300, "--runs", 2, "-o", "log.csv")
        self.good("estimate", "machine-maintenance", "log.csv", "--estimator", "gibbs", "--draws",
                  100, "-o", "e.json")
        told = self.good_json("plan", "e.json", "--discount", 0.9, "--grid", 12, "--steps", 6400,
                              "-o", "plan.json")
        mine = self.table("plan.json", model="e.json", more=("--discount", 0.9))[0]
        for limit, key in zip(mine["worth_limits"], ("lower", "upper")):
            self.assertAlmostEqual(limit, told["posterior"][key], delta=0.02)

    def test_what_cannot_be_is_refused(self):
        model = "pump.json"
        for policy, says in (("constant:fly", "no action 'fly'"), ("schedule:", "no action"),
                             ("threshold:failed>2=run,else=run", "between 0 and 1"),
                             ("threshold:failed>0.3=repair", "else=ACTION"),
                             ("never", "never"), ("none.json", "none.json"),
                             ("log:none.csv", "none.csv")):
            self.bad("evaluate", model, "--policy", policy, says=[says])
        self.bad("evaluate", model, says=["PLAN", "--policy"])
        self.bad("evaluate", model, "--policy", "threshold:failed>0.3=repair,else=run", "--filter",
                 "machine-maintenance", says=["--filter", "2 states"])
        self.bad("evaluate", model, "--policy", "uniform", "--steps", 100, says=["--steps"])
        self.bad("evaluate", model, "plan.json", "--policy", "uniform", says=["plan.json"])
        self.bad("evaluate", model, "--policy", "uniform", "--confidence", 1, says=["--confidence"])
        for more, says in (
                (("--robust",), "carries no draws"), (("--cautious", 0.1), "carries no draws"),
                (("--robust", "--cautious", 0.1), "cannot be combined with --cautious or --all"),
                (("--robust", "--radius", 0.1, "-o", "x.json"), "written as .pg"),
                (("--robust", "--radius", 0.1, "--iota", 0.1), "has no floor"),
                (("--robust", "--radius", 0.1, "--discount", 0.9),
                 "cannot be combined with a discount"),
                (("--discount", 1), "--discount"), (("--discount", 0.9, "--gap", 0.1), "discount"),
                (("--limit", "failed"), "STATE=SHARE"), (("--limit", "broken=0.1"), "broken"),
                (("--all", "--discount", 0.9), "--all"), (("--confidence", 0), "--confidence")):
            self.bad("plan", model, *more, says=[says])


if __name__ == "__main__":
    unittest.main()
