"""Does one model fit all? As a user asks it."""

import json
import random
import unittest

from support import CliCase


class Diagnose(CliCase):
    def model(self, name, run=0.9, **changes):
        document = {
            "format": "oas-model/1", "timing": "before", "states": ["ok", "worn"],
            "actions": ["run", "repair"], "observations": ["hum", "grind"], "start": [1, 0],
            "observation": [[[0.9, 0.1], [0.2, 0.8]]] * 2,
            "transition": [[[run, 1 - run], [0.1, 0.9]], [[0.95, 0.05], [0.7, 0.3]]],
            "reward": [[1, 0], [0.4, 0.3]]}
        document.update(changes)
        self.write(name, json.dumps(document))

    def rows(self, name, seed, steps):
        self.good("simulate", name, "--policy", "uniform", "--steps", steps, "--seed", seed, "-o",
                  "part.csv")
        lines = self.read("part.csv").decode().splitlines()
        header = next(line for line in lines if not line.startswith("#")).split(",")
        at = [header.index("action"), header.index("observation")]
        body = [line.split(",") for line in lines if not line.startswith("#")][1:]
        return [[cells[i] for i in at] for cells in body]

    def fleet(self, pieces, times=True):
        """pieces: for each unit the models of its first and its second half."""
        lines = ["pump,ts,cmd,reading,note" if times else "pump,cmd,reading"]
        for unit, (first, second) in enumerate(pieces):
            rows = self.rows(first, 2 * unit, 300) + self.rows(second, 2 * unit + 1, 300)
            for t, (action, seen) in enumerate(rows):
                time = f"{t}," if times else ""
                lines.append(f"p{unit},{time}{action},{seen}{',x' if times else ''}")
        self.write("fleet.csv", "\n".join(lines) + "\n")

    def test_labelled_rows_are_allowed_for(self):
        """Densities from 60 labels are off a little: no alarm. Readings that moved are one."""
        truth = {
            "format": "oas-model/1", "timing": "before", "states": ["ok", "worn"],
            "actions": ["run"], "observations": {"dimension": 1}, "start": [1, 0],
            "density": [[{"kind": "gaussian", "mean": mean, "sd": 1} for mean in (0, 3)]],
            "transition": [[[0.9, 0.1], [0.1, 0.9]]]}
        self.write("truth.json", json.dumps(truth))
        known = {key: truth[key] for key in truth if key not in ("density", "transition")}
        self.write("known.json", json.dumps(known))
        alarms = []
        for seed in range(6):
            rng = random.Random(seed)
            labels = ["state,observation"] + [
                f"{state},{rng.gauss(mean, 1)}" for state, mean in (("ok", 0), ("worn", 3))
                for _ in range(30)]
            self.write("labels.csv", "\n".join(labels) + "\n")
            self.good("calibrate", "labels.csv", "--model", "known.json", "--family", "normal",
                      "-o", "s.json")
            self.good("simulate", "truth.json", "--policy", "uniform", "--steps", 6000,
                      "--seed", seed, "-o", "log.csv")
            said = self.good_json("diagnose", "s.json", "log.csv")
            alarms.append(next(one["found"] for one in said["answers"] if one["name"] == "sensors"))
        self.assertEqual(alarms, [False] * 6)
        truth["density"] = [[{"kind": "gaussian", "mean": mean, "sd": 2} for mean in (2, 7)]]
        self.write("moved.json", json.dumps(truth))
        self.good("simulate", "moved.json", "--policy", "uniform", "--steps", 6000, "--seed", 9,
                  "-o", "log.csv")
        said = self.good_json("diagnose", "s.json", "log.csv")
        self.assertTrue(next(one["found"] for one in said["answers"] if one["name"] == "sensors"))

    COLUMNS = ("--columns", "action=cmd,observation=reading,run=pump,time=ts")

    def answers(self, *asked):
        told = self.good_json("diagnose", *asked)
        return told, {one["name"]: one for one in told["answers"]}

    def test_a_steady_fleet(self):
        self.model("m.json")
        self.fleet([("m.json", "m.json")] * 4)
        told, answers = self.answers("m.json", "fleet.csv", *self.COLUMNS, "--seed", 3)
        self.assertEqual(told["format"], "oas-diagnosis/1")
        self.assertEqual(told["units"], ["p0", "p1", "p2", "p3"])
        self.assertEqual([name for name, one in answers.items() if one["found"]], [])
        for one in answers.values():
            self.assertTrue(one["tested"], one)
            self.assertIn("shown_nine_times_in_ten", one)
        out = self.good("diagnose", "m.json", "fleet.csv", *self.COLUMNS, "--seed", 3)
        self.assertIn("No change was found.", out)

    def test_a_change_is_placed_and_drawn(self):
        self.model("old.json")
        self.model("new.json", run=0.6)
        self.fleet([("old.json", "new.json")] * 4)
        asked = ("old.json", "fleet.csv", *self.COLUMNS)
        told, answers = self.answers(*asked, "-o", "report.json", "--figure", "all.svg")
        self.assertTrue(answers["change"]["found"])
        self.assertFalse(answers["units"]["found"])
        self.assertFalse(answers["change"]["explained_by_others"])
        self.assertLess(abs(float(told["change"]["place"]) - 300), 30)
        self.assertAlmostEqual(told["change"]["transition_before"][0][0][0], 0.9, delta=0.06)
        self.assertAlmostEqual(told["change"]["transition_after"][0][0][0], 0.6, delta=0.1)
        self.assertEqual(json.loads(self.read("report.json")), told)
        svg = self.read("all.svg").decode()
        self.assertIn("</svg>", svg)
        self.assertIn("Dynamics", svg)
        one = self.good("diagnose", *asked, "--threads", 1)
        self.assertEqual(one, self.good("diagnose", *asked, "--threads", 2))
        self.assertIn("most of all in row (run, ok)", one)

    def test_units_and_one_run(self):
        self.model("a.json")
        self.model("b.json", run=0.5)
        self.fleet([("a.json", "a.json"), ("b.json", "b.json")] * 2, times=False)
        told, answers = self.answers("a.json", "fleet.csv", "--columns",
                                     "action=cmd,observation=reading,run=pump")
        self.assertTrue(answers["units"]["found"])
        self.assertFalse(answers["change"]["found"])
        self.assertEqual([group["units"] for group in told["unit_groups"]["groups"]],
                         [["p0", "p2"], ["p1", "p3"]])
        self.good("simulate", "a.json", "--policy", "uniform", "--steps", 300, "-o", "one.csv")
        _, answers = self.answers("a.json", "one.csv")
        self.assertFalse(answers["units"]["tested"])
        self.assertIn("one unit only", answers["units"]["answer"])

    def test_a_change_at_the_border_of_two_files(self):
        """Without times a named unit goes on in the second file where the first one ended."""
        self.model("old.json")
        self.model("new.json", run=0.6)
        self.fleet([("old.json", "new.json")] * 4, times=False)
        header, *lines = self.read("fleet.csv").decode().splitlines()
        for name, first in (("first.csv", 0), ("second.csv", 300)):
            half = [line for t, line in enumerate(lines) if first <= t % 600 < first + 300]
            self.write(name, "\n".join([header, *half]) + "\n")
        told, answers = self.answers("old.json", "first.csv", "second.csv", "--columns",
                                     "action=cmd,observation=reading,run=pump")
        self.assertEqual(told["units"], ["p0", "p1", "p2", "p3"])
        self.assertTrue(answers["change"]["found"])
        self.assertLess(abs(float(told["change"]["place"]) - 300), 30)

    def test_timing_is_noticed(self):
        self.model("m.json", timing="after")
        self.fleet([("m.json", "m.json")] * 4)
        self.model("m.json")
        _, answers = self.answers("m.json", "fleet.csv", *self.COLUMNS)
        self.assertTrue(answers["reading_first"]["found"] or answers["timing"]["found"])
        self.assertIn("timing after", answers["timing"]["answer"]
                      + answers["reading_first"]["answer"])

    def reading_first_log(self):
        """Rows that say nothing of how they were written, of an operator who acts on readings."""
        self.model("first.json", timing="after", rows="reading-first")
        self.good("simulate", "first.json", "--policy", "memoryless", "--runs", 4, "--steps", 900,
                  "--seed", 2, "-o", "log.csv")
        lines = self.read("log.csv").decode().splitlines()
        self.write("rows.csv", "\n".join(lines[1:]) + "\n")

    def test_rows_that_are_said_to_be_reading_first_are_tested(self):
        self.reading_first_log()
        told, answers = self.answers("first.json", "rows.csv")
        self.assertTrue(answers["timing"]["tested"])
        self.assertFalse(answers["timing"]["found"])
        self.assertIn("timing after fits worse", answers["timing"]["answer"])
        self.assertTrue(answers["reading_first"]["confirms_the_model"])
        self.assertFalse(answers["reading_first"]["found"])
        self.assertEqual(told["timing"]["rows"], "reading-first")
        self.model("plain.json", timing="after")
        also, _ = self.answers("plain.json", "rows.csv", "--rows", "reading-first")
        self.assertEqual(also, told)
        self.model("after.json", timing="after")
        self.good("simulate", "after.json", "--policy", "memoryless", "--runs", 4, "--steps", 900,
                  "-o", "after.csv")
        lines = self.read("after.csv").decode().splitlines()
        self.write("rows.csv", "\n".join(lines[1:]) + "\n")
        _, answers = self.answers("first.json", "rows.csv")
        self.assertTrue(answers["timing"]["found"])
        self.assertIn("the rows fit timing after better", answers["timing"]["answer"])

    def test_rows_that_are_said_to_be_after_may_be_reading_first(self):
        self.reading_first_log()
        self.model("after.json", timing="after")
        _, answers = self.answers("after.json", "rows.csv")
        self.assertTrue(answers["timing"]["found"])
        self.assertTrue(answers["reading_first"]["found"])
        self.assertIn("the rows are reading-first.", answers["reading_first"]["answer"])

    def test_sensors_that_depend_on_the_action_tell_all_three_apart(self):
        sensors = [[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.05, 0.95]]]
        self.model("first.json", timing="after", rows="reading-first", observation=sensors,
                   first_observation=sensors[0])
        self.good("simulate", "first.json", "--policy", "memoryless", "--runs", 4, "--steps", 1500,
                  "-o", "log.csv")
        lines = self.read("log.csv").decode().splitlines()
        self.write("rows.csv", "\n".join(lines[1:]) + "\n")
        for timing in ("before", "after"):
            self.model("other.json", timing=timing, observation=sensors)
            told, answers = self.answers("other.json", "rows.csv")
            self.assertTrue(answers["timing"]["found"])
            self.assertIn("the rows fit reading-first better", answers["timing"]["answer"])
            self.assertEqual([one["rows"] for one in told["timing"]["others"]],
                             [one for one in ("before", "after", "reading-first") if one != timing])

    def test_corner_models(self):
        """Deterministic, absorbing, nothing moves, many observations, one action."""
        for name in ("cycle-3", "wear-out", "still", "many-observations", "minimal"):
            self.good("simulate", "corner/" + name, "--steps", 150, "--runs", 2, "-o", "log.csv")
            told = self.good_json("diagnose", "corner/" + name, "log.csv", "--replicates", 199)
            for one in told["answers"]:
                self.assertFalse(one["found"], (name, one))

    def test_bad_input(self):
        self.model("m.json")
        self.write("log.csv", "action,observation\nrun,hum\nrun,grind\nrepair,hum\n")
        self.good("diagnose", "m.json", "log.csv")  # too short to tell anything
        self.bad("diagnose", "m.json", "log.csv", "--level", "2", says=["--level", "2"])
        self.bad("diagnose", "m.json", "log.csv", "--replicates", "5", says=["--replicates", "5"])
        self.bad("diagnose", "m.json", "log.csv", "--figure", "a.png", says=["--figure", ".svg"])
        self.bad("diagnose", "m.json", "log.csv", "log.csv", says=["log.csv"])
        self.bad("diagnose", "m.json", "none.csv", says=["none.csv"])
        self.bad("diagnose", "m.json", "log.csv", "-o", "log.csv", says=["log.csv"])
        self.write("odd.csv", "action,observation\nrun,hum\nrun,squeak\n")
        self.bad("diagnose", "m.json", "odd.csv", says=["odd.csv:3", "squeak"])
        self.write("timed.csv", "time,action,observation\n1,run,hum\n2,run,hum\n")
        self.bad("diagnose", "m.json", "log.csv", "timed.csv", says=["timed.csv", "time"])
        self.write("single.csv", "action,observation\nrun,hum\n")
        self.bad("diagnose", "m.json", "single.csv", says=["no transition"])


class PartlyMissing(CliCase):
    """Every reading lacks one of its two components."""

    def write_log(self, change):
        rng = random.Random(5)
        rows, state = ["action,observation_1,observation_2"], 0
        for t in range(3000):
            cells = [f"{rng.gauss(3 * state, 1):.3f}", f"{rng.gauss(-3 * state, 1):.3f}"]
            cells[rng.randrange(2)] = ""
            rows.append(",".join(["go", *cells]))
            leave = 0.3 if change and t >= 1500 else 0.1
            state = 1 - state if rng.random() < leave else state
        self.write("log.csv", "\n".join(rows) + "\n")
        self.write("m.json", json.dumps({
            "format": "oas-model/1", "timing": "before", "states": 2, "actions": ["go"],
            "observations": {"dimension": 2},
            "density": [[[{"kind": "gaussian", "mean": m, "sd": 1},
                          {"kind": "gaussian", "mean": -m, "sd": 1}] for m in (0, 3)]]}))

    def test_what_is_there_counts(self):
        for change in (False, True):
            self.write_log(change)
            found = self.good_json("diagnose", "m.json", "log.csv", "--replicates", 199)
            self.assertEqual(found["missing_observations"], 0)
            self.assertEqual(sum(part["rows"] for part in found["readings"][:2]), 3000)
            answers = {one["name"]: one["found"] for one in found["answers"]
                       if "found" in one}
            self.assertEqual(answers["change"], change, answers)
            self.assertFalse(answers["sensors"] or answers["drift"], answers)


if __name__ == "__main__":
    unittest.main()
