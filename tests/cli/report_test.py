"""The page about a log that an engineer hands to her manager."""

import json
import re
import unittest

from pages import BROWSER, Balance, look_at
from support import CliCase

SORT = """
  var button = document.querySelectorAll("#forecast th button")[4];
  button.click();
  seen.risks = Array.from(document.querySelectorAll("#forecast tbody tr")).map(function (r) {
    return Number(r.cells[4].dataset.value); });
"""


class LogReport(CliCase):
    def setUp(self):
        super().setUp()
        self.good("simulate", "machine-maintenance", "--steps", 150, "--runs", 3, "-o", "log.csv")
        self.good("estimate", "machine-maintenance", "log.csv", "--estimator", "gibbs", "--draws",
                  200, "-o", "e.json")

    def page(self, *options):
        self.good("report", *options, "-o", "r.html")
        text = self.read("r.html").decode()
        parser = Balance()
        parser.feed(text)
        self.assertEqual((parser.open, parser.fetched), ([], []))
        self.assertNotRegex(text.replace("http://www.w3.org/2000/svg", ""), r"https?://")
        self.assertNotRegex(text, r"[^a-z]nan[^a-z]|[^a-z]inf[^a-z]")
        return text

    def test_everything_on_one_page(self):
        self.good("plan", "e.json", "-o", "plan.json")
        page = self.page("e.json", "log.csv", "--plan", "plan.json", "--actions", "run", "--reach",
                         "failing", "--steps", 20, "--title", "Three <machines>")
        self.assertIn("<h1>Three &lt;machines&gt;</h1>", page)
        for part in ("forecast", "plan", "dynamics", "units", "fit", "facts"):
            self.assertIn(f'<section id="{part}">', page)
        told = self.good_json("forecast", "e.json", "log.csv", "--actions", "run", "--reach",
                              "failing", "--steps", 20)
        there = [unit for unit in told["units"] if unit["belief"][-1] > 0.5]  # failing now
        risks = sorted(unit["reached_within_steps"]["value"] for unit in told["units"]
                       if unit not in there)
        shown = re.findall(r"unit (\d) is the most likely one to reach failing within 20 steps: "
                           r"probability ([0-9.]+) ", page)
        self.assertAlmostEqual(float(shown[0][1]), risks[-1], delta=0.006)
        self.assertEqual(len(there), 2)  # else nothing says that they come last
        self.assertIn("2 units are probably there already", page)
        estimate = json.loads(self.read("e.json"))["estimate"]
        self.assertIn(f"{estimate['lower'][0][0][0]:.3f} – {estimate['upper'][0][0][0]:.3f}", page)
        again = self.page("e.json", "log.csv", "--plan", "plan.json", "--actions", "run", "--reach",
                          "failing", "--steps", 20, "--title", "Three <machines>", "--threads", 3)
        self.assertEqual(page, again)
        if BROWSER:
            for width in (390, 1200):
                seen = look_at(self.folder, page, SORT, width)
                self.assertTrue(all(seen["figures"]))
                self.assertGreater(len(seen["figures"]), 8)
                self.assertEqual((seen["requests"], seen["wide"]), ([], False))
                self.assertEqual(seen["risks"], sorted(seen["risks"]))

    def test_what_is_hardly_known_looks_hardly_known(self):
        """A mean time without end keeps its limits, and many rows of the same kind are one box."""
        self.write("short.csv", "run,action,observation\n" +
                   "".join(f"{u},run,clean\n" * 3 for u in range(3)))
        self.good("estimate", "machine-maintenance", "short.csv", "-o", "short.json", "--quiet")
        asked = ("short.json", "short.csv", "--actions", "run", "--reach", "failing", "--steps", 5)
        told = self.good_json("forecast", *asked)["units"]
        self.assertTrue(any(unit["mean_steps"]["limits"][1] is None for unit in told))
        page = self.page(*asked)
        cells = re.findall(r"<td[^>]*>([^<]*)</td></tr>", page.split('id="forecast"')[1]
                           .split("</section>")[0])
        self.assertEqual(len(cells), len(told))
        for cell in cells:
            self.assertRegex(cell, r"\(\S+ to \S+\)$")
        self.assertTrue(any("to never)" in cell for cell in cells))
        boxes = re.findall(r'<p class="answer warning">([^<]*)</p>', page)
        kinds = [re.sub(r"[0-9.]+|rows? .*?\) (and [0-9]+ more )?", "", box) for box in boxes]
        self.assertEqual(len(kinds), len(set(kinds)), boxes)

    def test_rows_are_read_as_the_option_says(self):
        plain = self.model("machine-maintenance", timing="after")
        plain["observation"] = [plain["observation"][0]] * len(plain["observation"])
        self.write_model("plain.json", plain)
        self.write_model("first.json", {**plain, "rows": "reading-first"})
        self.good("simulate", "first.json", "--steps", 40, "--runs", 2, "-o", "first.csv")
        said = self.page("plain.json", "first.csv", "--rows", "reading-first")
        self.assertEqual(said, self.page("first.json", "first.csv"))

    def test_a_unit_that_is_cut_at_a_gap_is_one_unit(self):
        self.write("log.csv", "run,time,action,observation\np,0,run,clean\nq,0,run,clean\n"
                              "p,5,run,clean\nq,1,run,clean\np,6,run,clean\n")
        page = self.page("e.json", "log.csv", "--step", 1, "--gaps", "new-run")
        self.assertIn("5 rows of 2 units in log.csv", page)

    def test_a_plan_with_a_limit_or_a_discount_tells_what_it_earns(self):
        told = self.good_json("plan", "e.json", "--limit", "failing=0.07", "--grid", 12, "--steps",
                              6400, "-o", "plan.json")
        limited, posterior = told["limited"], told["posterior"]
        page = self.page("e.json", "log.csv", "--plan", "plan.json")
        shown = re.findall(r"The plan earns between ([-0-9.]+) and ([-0-9.]+) a step in the long "
                           r"run, while ([0-9.]+) % of the steps are spent in failing "
                           r"\(the limit is 7 %\)", page)[0]
        for text, value in zip(shown, (limited["gain_lower"], limited["gain_upper"],
                                       100 * limited["frequency"])):
            self.assertAlmostEqual(float(text), value, delta=0.01 * abs(value))
        drawn = re.findall(r"earns ([-0-9.]+) a step on average, and between ([-0-9.]+) and "
                           r"([-0-9.]+) with a probability of 95 %", page)[0]
        for text, key in zip(drawn, ("mean", "lower", "upper")):
            self.assertAlmostEqual(float(text), posterior[key], delta=0.01 * abs(posterior[key]))
        told = self.good_json("plan", "machine-maintenance", "--discount", 0.9, "--grid", 12,
                              "--steps", 6400, "-o", "plan.json")
        page = self.page("machine-maintenance", "log.csv", "--plan", "plan.json")
        shown = re.findall(r"From the start the plan earns between ([-0-9.]+) and ([-0-9.]+) in "
                           r"all, where a reward counts 0.9 times", page)[0]
        for text, key in zip(shown, ("lower", "upper")):
            self.assertAlmostEqual(float(text), told["discounted"][key], delta=0.02)

    def test_without_plan_or_forecast(self):
        page = self.page("machine-maintenance", "log.csv")
        for part in ("forecast", "plan"):
            self.assertNotIn(f'<section id="{part}">', page)
        self.assertIn("450 rows of 3 units in log.csv; none of them without a reading.", page)
        self.assertEqual(len(re.findall(r'font-weight="bold"[^>]*>[012]</text>', page)), 3)

    def test_real_valued_one_state_and_many_states(self):
        self.write("real.json", json.dumps({
            "format": "oas-model/1", "timing": "before", "states": ["ok", "bad"],
            "actions": ["run"], "observations": {"dimension": 1},
            "transition": [[[0.9, 0.1], [0.2, 0.8]]],
            "density": [[{"kind": "gaussian", "mean": 0, "sd": 1},
                         {"kind": "gaussian", "mean": 3, "sd": 1}]]}))
        self.good("simulate", "real.json", "--steps", 60, "--policy", "uniform", "-o", "real.csv")
        page = self.page("real.json", "real.csv", "--reach", "bad")
        self.assertIn("The readings lie where the model lets expect them", page)
        self.assertIn("the reading, 60 readings", page)
        if BROWSER:
            self.assertTrue(all(look_at(self.folder, page)["figures"]))
        wrong = json.loads(self.read("real.json"))
        for density in wrong["density"][0]:
            density["sd"] = 0.3
        self.write("wrong.json", json.dumps(wrong))
        page = self.page("wrong.json", "real.csv", "--columns", "observation=observation")
        self.assertIn("Values of observation lie at the ends of what was predicted too often", page)
        for states in (1, 15, 60):
            self.good("problem", "random", "--states", states, "--actions", 1, "--observations",
                      states + 1, "-o", "m.json")
            self.good("simulate", "m.json", "--steps", 60, "--policy", "uniform", "-o", "m.csv")
            self.page("m.json", "m.csv")

    def test_wrong_use_is_named(self):
        self.bad("report", "e.json", "log.csv", "--reach", "failing", says=["--actions", "repair"])
        self.bad("report", "e.json", "log.csv", "--actions", "fly", says=["--actions", "'fly'"])
        self.bad("report", "e.json", "-", says=["standard input"])
        self.bad("report", "e.json", "log.csv", "--actions", "run", "--confidence", 1,
                 says=["--confidence: not a number", "'1'"])
        self.good("plan", "pest-control", "-o", "other.json")
        self.bad("report", "e.json", "log.csv", "--plan", "other.json", says=["other.json"])


if __name__ == "__main__":
    unittest.main()
