"""When will it fail? As a user asks it."""

import csv
import json
import unittest

from support import CliCase


class Forecast(CliCase):
    def setUp(self):
        super().setUp()
        self.good("simulate", "machine-maintenance", "--steps", 200, "--runs", 3, "-o", "log.csv")

    def test_known_dynamics_have_no_limits(self):
        asked = ("machine-maintenance", "log.csv", "--actions", "run", "--reach", "failing")
        out = self.good("forecast", *asked)
        self.assertIn("taken as exact", out)
        told = self.good_json("forecast", *asked)
        self.assertEqual([unit["unit"] for unit in told["units"]], ["0", "1", "2"])
        self.assertNotIn("limits", told["units"][0]["mean_steps"])
        self.assertEqual(told["units"][0]["reached_ever"]["value"], 1)

    def test_an_estimate_by_gibbs_brings_limits(self):
        self.good("estimate", "machine-maintenance", "log.csv", "--estimator", "gibbs", "--draws",
                  400, "-o", "e.json")
        draws = json.loads(self.read("e.json"))["estimate"]["draws"]
        self.assertEqual(len(draws), 200)
        asked = ("e.json", "log.csv", "--actions", "run,run,repair", "--reach", "failing,degraded",
                 "--steps", 15)
        told = self.good_json("forecast", *asked, "-o", "f.csv")
        for unit in told["units"]:
            for key in ("reached_within_steps", "mean_steps"):
                low, high = unit[key]["limits"]
                self.assertLess(low, unit[key]["value"])
                self.assertLess(unit[key]["value"], high)
        with open(f"{self.folder}/f.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 3 * 16)
        self.assertAlmostEqual(sum(float(rows[5][f"state_{name}"]) for name in (
            "new", "worn", "degraded", "failing")), 1, places=4)
        self.assertEqual(float(rows[15]["reached"]),
                         float(f"{told['units'][0]['reached_within_steps']['value']:.6g}"))
        text = self.read("e.json").decode()
        self.write("bad.json", text.replace('"draws": [', '"draws": [ [[1]], ', 1))
        self.bad("forecast", "bad.json", "log.csv", "--actions", "run",
                 says=["bad.json", "$.estimate.draws[0]"])

    def test_rows_that_cannot_be_are_told(self):
        sure = [[[1, 0], [0, 1]]]
        self.write("m.json", json.dumps({
            "format": "oas-model/1", "timing": "before", "states": ["ok", "failed"],
            "actions": ["run"], "observations": ["hum", "grind"], "observation": sure,
            "transition": [[[0.9, 0.1], [0, 1]]]}))
        self.write("log.csv", "action,observation\nrun,hum\nrun,grind\nrun,hum\n")
        result = self.oas("forecast", "m.json", "log.csv", "--reach", "failed", "--json")
        self.assertEqual(result.returncode, 0)
        self.assertIn("1 row was of probability 0", result.stderr)
        told = json.loads(result.stdout)
        self.assertEqual((told["reach"], told["impossible_rows"]), (["failed"], 1))

    def test_times_agree_with_probabilities(self):
        """Where a unit may be there now, or never get there, the limits of both say so."""
        rows = "".join(f"run,{'hum' if t < 30 else 'grind'}\n" for t in range(40))
        self.write("log.csv", "action,observation\n" + rows)
        model = {"format": "oas-model/1", "timing": "before", "states": ["ok", "failed"],
                 "actions": ["run"], "observations": ["hum", "grind"],
                 "observation": [[[1, 0], [0, 1]]]}
        self.write("m.json", json.dumps(model))
        self.good("estimate", "m.json", "log.csv", "--estimator", "gibbs", "-o", "e.json")
        there = self.good_json("forecast", "e.json", "log.csv", "--reach", "failed")["units"][0]
        self.assertEqual(there["mean_steps"]["limits"][0], 0)
        back = self.good_json("forecast", "e.json", "log.csv", "--reach", "ok", "--steps",
                              2)["units"][0]
        self.assertEqual(back["reached_within_steps"]["limits"][0], 0)
        self.assertEqual(back["mean_steps"]["limits"][1], None)  # never
        self.assertGreater(back["mean_steps"]["limits"][0], 0)

    def test_the_dead_stay_dead(self):
        """Runs end with failure: only a structure tells that it is for ever."""
        rows = "".join(f"{run},run,{what}\n" for run in range(30)
                       for what in ["hum"] * (1 + run % 4) + ["grind"])
        self.write("log.csv", "run,action,observation\n" + rows)
        self.write("m.json", json.dumps(
            {"format": "oas-model/1", "timing": "before", "states": ["ok", "failed"],
             "actions": ["run"], "observations": ["hum", "grind"],
             "observation": [[[0.9, 0.1], [0, 1]]]}))
        self.write("s.json", json.dumps(
            {"format": "oas-structure/1", "entries": [["*", "failed", "failed", 1]]}))
        estimate = ("estimate", "m.json", "log.csv", "--estimator", "gibbs", "-o", "e.json")
        warned = self.oas(*estimate).stderr
        self.assertIn("row (run, failed) is not determined: it was left less than once", warned)
        result = self.oas(*estimate, "--structure", "s.json")
        self.assertNotIn("failed) is", result.stderr)
        self.assertIn("structure: 1 known zero, 1 other fixed entry", result.stdout)
        about = json.loads(self.read("e.json"))["estimate"]
        self.assertEqual({tuple(draw[0][1]) for draw in about["draws"]}, {(0, 1)})
        self.assertEqual((about["lower"][0][1], about["upper"][0][1]), ([0, 1], [0, 1]))
        back = self.good_json("forecast", "e.json", "log.csv", "--reach", "ok")["units"][0]
        self.assertLess(back["reached_ever"]["limits"][1], 1)

    def test_bad_usage(self):
        asked = ("forecast", "machine-maintenance", "log.csv")
        self.bad(*asked, says=["--actions", "run, inspect, repair"])
        self.bad(*asked, "--actions", "fly", says=["--actions", "'fly'", "repair"])
        self.bad(*asked, "--actions", "run", "--reach", "broken", says=["--reach", "'broken'"])
        self.bad(*asked, "--actions", "run", "--steps", -1, says=["--steps", "-1"])
        self.bad(*asked, "--actions", "run", "--confidence", 2, says=["confidence", "2"])
        self.write_model("m.json", self.model(transition=None))
        self.bad("forecast", "m.json", "log.csv", "--actions", "0",
                 says=["m.json", "no transition"])


if __name__ == "__main__":
    unittest.main()
