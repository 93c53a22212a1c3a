"""Steps in classes: the numbers are those of the same log with its actions named by hand."""

import json
import random
import unittest
from datetime import datetime, timedelta

from support import CliCase

CLASSES = {"day": (20, 28), "week": (140, 190), "month": (650, 770)}  # hours
OPTION = ",".join(f"{name}={low}h..{high}h" for name, (low, high) in CLASSES.items())
# Actions keep their names where there is one class, which all lengths are in.
BY_HAND = ("--step-classes", "visit=1h..1000h")
ACTIONS = ["wait@day", "wait@week", "repair", "wait@month"]
WEAR = {"wait@day": 0.03, "wait@week": 0.2, "wait@month": 0.55}


def transition(action):
    if action == "repair":
        return [[0.95, 0.05], [0.8, 0.2]]
    return [[1 - WEAR[action], WEAR[action]], [0.02, 0.98]]


def model(timing="before", rows=None, real=False):
    document = {"format": "oas-model/1", "timing": timing, "states": ["good", "worn"],
                "actions": ACTIONS, "transition": [transition(a) for a in ACTIONS]}
    if rows:
        document["rows"] = rows
    if real:
        document["observations"] = {"dimension": 2}
        document["density"] = [[[{"kind": "gaussian", "mean": m, "sd": 1},
                                 {"kind": "gaussian", "mean": -m, "sd": 2}]
                                for m in (0, 2)]] * len(ACTIONS)
    else:
        document["observations"] = ["low", "high"]
        document["observation"] = [[[0.8, 0.2], [0.3, 0.7]]] * len(ACTIONS)
    return document


def fleet(rng, units=6, rows=60, timing="before", shifted=False, real=False):
    """Visits (time, unit, action, class of the step that follows, cells of the reading)."""
    def reading(state):
        if real:
            cells = [f"{rng.gauss(2 * state, 1):.3f}", f"{rng.gauss(-2 * state, 2):.3f}"]
            if rng.random() < 0.1:
                cells[rng.randrange(2)] = ""
            return ",".join(cells)
        return "high" if rng.random() < (0.2, 0.7)[state] else "low"
    visits = []
    for unit in range(units):
        now, state = datetime(2026, 1, 1 + unit, 8), 0
        for t in range(rows):
            kind = rng.choice(list(CLASSES))
            action = "repair" if rng.random() < 0.2 else "wait"
            seen = reading(state)
            full = action if action == "repair" else f"{action}@{kind}"
            state = int(rng.random() < transition(full)[state][1])
            if timing == "after" and not shifted:
                seen = reading(state)
            visits.append((now, f"unit {unit}", action, kind if t + 1 < rows else None, seen))
            low, high = CLASSES[kind]
            now += timedelta(minutes=rng.randint(low * 60, high * 60))
    return visits


class SameAsByHand(CliCase):
    def write_both(self, timing, rows=None, real=False, until=None):
        """classes.csv as somebody writes it down, by-hand.csv with the names of the model."""
        visits = fleet(random.Random(7), timing=timing, shifted=rows is not None, real=real)
        header = "time,run,action," + ("observation_1,observation_2" if real else "observation")
        plain, named = [], []
        for time, unit, action, kind, seen in visits:
            full = action if action == "repair" else f"{action}@{kind or 'day'}"
            plain.append(f"{time:%Y-%m-%d %H:%M},{unit},{action},{seen}")
            # In timing after the last reading came over a step of unknown length.
            if timing == "after" and rows is None and kind is None and action != "repair":
                seen = "," if real else ""
            named.append(f"{time:%Y-%m-%d %H:%M},{unit},{full},{seen}")
        order = sorted(range(len(plain)), key=lambda i: plain[i][:16])  # units mixed
        self.assertNotEqual(order, sorted(order))
        for name, lines in (("classes.csv", plain), ("by-hand.csv", named)):
            self.write(name, "\n".join([header, *(lines[i] for i in order)]) + "\n")
        self.write("m.json", json.dumps(model(timing, rows, real)))

    def same(self, *arguments, output=None):
        results = []
        for log, options in (("classes.csv", ("--step-classes", OPTION)), ("by-hand.csv", BY_HAND)):
            printed = self.good(*[log if one == "LOG" else one for one in arguments], *options)
            text = printed.encode() if output is None else self.read(output)
            results.append(text.replace(log.encode(), b"LOG"))
        self.assertEqual(*results)
        self.assertGreater(len(results[0]), 100)

    def same_everywhere(self, estimators):
        for name in estimators:
            self.same("estimate", "m.json", "LOG", "--estimator", name, "--json")
        self.same("filter", "m.json", "LOG", "-o", "b.csv", output="b.csv")
        self.same("score", "m.json", "LOG", "--json")
        self.same("diagnose", "m.json", "LOG", "--json")
        self.same("forecast", "m.json", "LOG", "--actions", "wait@week", "--reach", "worn",
                  "--steps", "4", "--json")
        window = ("--from", "2026-02-01", "--until", "2027-03-01")
        self.same("score", "m.json", "LOG", *window, "--json")
        self.same("filter", "m.json", "LOG", *window, "-o", "b.csv", output="b.csv")

    def test_before(self):
        self.write_both("before")
        self.same_everywhere(("oas-ml", "em", "oas-overlap", "oas", "oas-weighted", "gibbs"))

    def test_after(self):
        self.write_both("after")
        self.same_everywhere(("oas-ml", "em"))

    def test_reading_first(self):
        self.write_both("after", rows="reading-first")
        self.same_everywhere(("oas-ml", "em"))

    def test_real_valued_in_all_three_ways(self):
        for timing, rows in (("before", None), ("after", None), ("after", "reading-first")):
            self.write_both(timing, rows, real=True)
            self.same("estimate", "m.json", "LOG", "--json")
            self.same("filter", "m.json", "LOG", "-o", "b.csv", output="b.csv")
            self.same("score", "m.json", "LOG", "--json")
            self.same("diagnose", "m.json", "LOG", "--json")

    def test_each_class_has_dynamics_of_its_own(self):
        self.write_both("before")
        self.good("estimate", "m.json", "classes.csv", "--step-classes", OPTION, "-o", "e.json")
        learned = json.loads(self.read("e.json"))
        worn = [matrix[0][1] for matrix in learned["transition"]]
        self.assertLess(worn[0], worn[1])
        self.assertLess(worn[1], worn[3])

    def test_faults(self):
        self.write_both("before")
        def bad(*options, says, verb="score", more=("--json",)):
            self.bad(verb, "m.json", "classes.csv", *options, *more, says=says)
        bad("--step-classes", "day=1d,week=7d",
            says=["classes.csv:8:1: 6.26 d lie between 2026-01-02T08:00:00 and", "in no class"])
        bad("--step-classes", "day=1d,week=20h..8d", says=["overlap"])
        bad("--step-classes", "day=1d,fortnight=14d", says=["'fortnight'", "'wait@fortnight'"])
        bad("--step-classes", OPTION, "--step", "1d", says=["equal or in classes"])
        bad("--step-classes", OPTION, "--gaps", "repeat", says=["'repeat'", "new-run"])
        bad("--step-classes", OPTION, "--columns", "time=", says=["no column 'time'"])
        self.good("score", "m.json", "classes.csv", "--step-classes",
                  OPTION.replace("770h", "700h"), "--gaps", "new-run")
        self.bad("calibrate", "classes.csv", "--timing", "before", "--step-classes", OPTION,
                 says=["--step-classes", "--model"])
        self.bad("score", "pest-control", "classes.csv", "--step-classes", OPTION,
                 says=["no action of the model is for class 'day'"])


if __name__ == "__main__":
    unittest.main()
