"""oas plan --horizon, and what everybody else says about a plan that ends."""

import json
import unittest

from support import CliCase


def best_sum(model, steps):
    """The best sum over all ways to act on what is observed, by the tree of all histories"""
    before = model["timing"] == "before"
    states = range(len(model["states"]))
    rewards = model["reward"]

    def value(x, n):
        if n == 0:
            return 0.0
        best = None
        for a, table in enumerate(model["transition"]):
            total = sum(x[s] * rewards[a][s] for s in states)
            for o in range(len(model["observations"])):
                seen = [row[o] for row in model["observation"][a]]
                follow = [sum(x[s] * table[s][t] * (seen[s] if before else seen[t])
                              for s in states) for t in states]
                total += value(follow, n - 1)
            best = total if best is None else max(best, total)
        return best

    return value(model["start"], steps)


MODEL = {
    "format": "oas-model/1", "timing": "after", "states": ["good", "worn", "failed"],
    "actions": ["run", "repair"], "observations": ["quiet", "loud"], "start": [1.0, 0.0, 0.0],
    "transition": [[[0.8, 0.2, 0.0], [0.0, 0.7, 0.3], [0.0, 0.0, 1.0]],
                   [[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.9, 0.0, 0.1]]],
    "observation": [[[0.9, 0.1], [0.4, 0.6], [0.1, 0.9]]] * 2,
    "reward": [[1.0, 0.8, -1.0], [-1.0, -1.0, -1.5]]}


class Horizon(CliCase):
    def machine(self, **changes):
        self.write_model("machine.json", {**MODEL, **changes})
        return "machine.json"

    def test_plan_and_evaluate(self):
        for timing in ("before", "after"):
            model = self.machine(timing=timing)
            for steps in (1, 4, 7):
                plan = self.good_json("plan", model, "--horizon", steps, "--gap", 1e-9,
                                      "-o", "plan.json")
                best = best_sum({**MODEL, "timing": timing}, steps)
                self.assertAlmostEqual(plan["horizon"]["lower"], best, delta=2e-9)
                self.assertAlmostEqual(plan["horizon"]["upper"], best, delta=2e-9)
                self.assertAlmostEqual(plan["gain_lower"], plan["horizon"]["lower"] / steps)
                self.assertEqual(plan["first_action"], "run")
                self.assertNotIn("stages", plan)
                found = self.good_json("evaluate", model, "plan.json", "--steps", 20000,
                                       "--level", 0.999999)
                self.assertAlmostEqual(found["exact"], plan["horizon"]["lower"], places=12)
                self.assertAlmostEqual(found["exact_per_step"] * steps, found["exact"], places=12)
                self.assertLessEqual(abs(found["simulated"] - found["exact"]),
                                     found["half_width"] + 1e-12)

    def test_words(self):
        model = self.machine()
        text = self.good("plan", model, "--horizon", 12, "-o", "plan.json")
        for words in ("machine.json: the best sum over 12 steps lies in [", "a step in [",
                      "what this plan earns, exact", "first action: run\n", "in 12 stages",
                      "plan.json: written"):
            self.assertIn(words, text)
        text = self.good("evaluate", model, "plan.json")
        self.assertIn("plan.json in machine.json: the sum over 12 steps\n  exact ", text)
        self.assertIn("16,666 runs)", text)
        text = self.good("plan", model, "--horizon", 12, "--discount", 0.9)
        self.assertIn("over 12 steps, discounted by 0.9 lies in", text)

    def test_the_first_reading_decides(self):
        model = self.machine(rows="reading-first", start=[0.5, 0.0, 0.5])
        text = self.good("plan", model, "--horizon", 6, "-o", "plan.json")
        self.assertIn("the first action depends on the first reading: run after quiet; "
                      "repair after loud", text)
        plan = self.good_json("plan", model, "--horizon", 6)
        self.assertEqual(plan["first_action"], {"quiet": "run", "loud": "repair"})
        self.assertIn("first action: run, whatever is read first",
                      self.good("plan", model, "--horizon", 1))
        self.bad("evaluate", self.machine(), "plan.json",
                 says=["plan.json", "begins with a reading"])

    def test_work_and_threads(self):
        result = self.oas("plan", "network-link", "--horizon", 40, "--work", 1e-4, "-o", "1.json",
                          "--threads", 1)
        self.assertEqual(result.returncode, 0)
        self.assertIn("the limit of work is reached", result.stderr)
        self.good("plan", "network-link", "--horizon", 40, "--work", 1e-4, "-o", "2.json",
                  "--threads", 2)
        self.assertEqual(self.read("1.json"), self.read("2.json"))
        first = json.loads(self.read("1.json"))["horizon"]
        more = self.good_json("plan", "network-link", "--horizon", 40, "--work", 1e-2)["horizon"]
        self.assertLessEqual(first["lower"], more["lower"])
        self.assertGreaterEqual(first["upper"], more["upper"])

    def test_simulate(self):
        model = self.machine()
        plan = self.good_json("plan", model, "--horizon", 5, "-o", "plan.json")
        played = self.good_json("simulate", model, "--policy", "plan.json", "--steps", 5,
                                "--runs", 4000, "-o", "log.csv")
        self.assertAlmostEqual(played["mean_reward"], plan["gain_lower"], delta=0.1)
        self.good("simulate", model, "--policy", "plan.json", "--steps", 3, "-o", "log.csv")
        self.bad("simulate", model, "--policy", "plan.json", "--steps", 6, "-o", "log.csv",
                 says=["plan.json: the plan is over after 5 steps", "--runs of at most 5 --steps"])
        self.bad("simulate", model, "--policy", "plan.json", "--steps", 5, "--iota", 0.1,
                 "-o", "log.csv", says=["no floor"])
        self.bad("simulate", model, "--policy", "plan.json", "--steps", 5, "--filter", model,
                 "-o", "log.csv", says=["keeps no belief"])
        reading = self.machine(rows="reading-first")
        self.good("plan", reading, "--horizon", 5, "-o", "reading.json")
        self.good("simulate", reading, "--policy", "reading.json", "--steps", 5, "--runs", 50,
                  "-o", "log.csv")

    def test_estimates_with_draws(self):
        model = self.machine()
        self.good("simulate", model, "--steps", 2000, "--reward", "-o", "log.csv")
        self.good("estimate", model, "log.csv", "--estimator", "gibbs", "--draws", 100,
                  "-o", "learned.json")
        plan = self.good_json("plan", "learned.json", "--horizon", 6, "--confidence", 0.9,
                              "-o", "plan.json")
        drawn = plan["posterior"]
        self.assertEqual((drawn["draws"], drawn["confidence"]), (100, 0.9))
        self.assertLess(drawn["lower"], drawn["mean"])
        self.assertGreater(drawn["upper"], drawn["mean"])
        found = self.good_json("evaluate", "learned.json", "plan.json", "--steps", 6400)
        self.assertEqual(found["posterior"]["mean"], drawn["mean"])
        self.assertIn("in all on average", self.good("plan", "learned.json", "--horizon", 6))
        for option in (("--cautious", 0.1), ("--robust",), ("--radius", 0.1)):
            self.bad("plan", "learned.json", "--horizon", 6, *option, says=["a horizon or a limit"])

    def test_what_does_not_go_with_it(self):
        for text in ("0", "-1", "1.5", "nan", "1000000000", "10001", ""):
            self.bad("plan", "pest-control", "--horizon", text,
                     says=["--horizon: not a whole number between 1 and 10000"])
        for option, says in ((("--limit", "infested=0.1"), "limit is for the long run"),
                             (("--all",), "--all"), (("--figure", "x.svg"), "--figure"),
                             (("--iota", 0.1), "no floor"), (("--grid", 5), "--grid"),
                             (("--steps", 1000), "--steps: a plan for a horizon"),
                             (("--seed", 3), "--seed: a plan for a horizon"),
                             (("--planner", "grid"), "a horizon needs planner point"),
                             (("--gap", 0), "--gap"), (("--work", -1), "--work")):
            self.bad("plan", "pest-control", "--horizon", 3, *option, says=[says])
        self.bad("plan", "pest-control", "--work", 1,
                 says=["--work: used only by --horizon, by --gap and by plans"])

    def test_others_say_that_it_ends(self):
        model = self.machine()
        self.good("plan", model, "--horizon", 5, "-o", "plan.json")
        self.good("simulate", model, "--steps", 50, "-o", "log.csv")
        for command in (("convert", "plan.json", "plan.pg"), ("convert", "plan.json", "plan.alpha"),
                        ("forecast", model, "log.csv", "--policy", "plan.json"),
                        ("evaluate", model, "--policy", "plan.json"),
                        ("report", model, "log.csv", "--plan", "plan.json", "-o", "page.html")):
            self.bad(*command, says=["plan.json: the plan is for 5 steps (--horizon)",
                                     "oas evaluate MODEL PLAN"])
        for option in (("--filter", model), ("--grid", 5)):
            self.bad("evaluate", model, "plan.json", *option, says=["plan.json", "keeps no belief"])
        self.bad("evaluate", model, "plan.json", "--start-node", 0, says=["--start-node"])
        self.bad("evaluate", "pest-control", "plan.json", says=["plan.json"])


if __name__ == "__main__":
    unittest.main()
