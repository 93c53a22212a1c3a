"""`oas calibrate`: sensors from labelled rows, as a user meets them."""

import json
import random
import unittest

from support import CaseWithoutDraws


class Calibrate(CaseWithoutDraws):
    def labelled(self, problem, steps=40000, **options):
        arguments = [item for pair in options.items() for item in (f"--{pair[0]}", pair[1])]
        self.good("simulate", problem, "--policy", "uniform", "--steps", steps, "--state",
                  *arguments, "-o", "log.csv")

    def test_names_and_indices_in_one_column(self):
        for first, second in (("up", "1"), ("1", "up")):
            self.write("log.csv", "# oas-log/1 timing=after\naction,observation,state\n"
                       f"a,x,{first}\na,y,{second}\n")
            self.bad("calibrate", "log.csv", "-o", "s.json",
                     says=["log.csv:4", f"column state mixes names and indices: '{first}'"])

    def test_from_labels_to_dynamics(self):
        """Calibrate on one log, estimate from another: the whole road without a given sensor."""
        for problem in ("machine-maintenance", "robot-corridor"):
            truth = self.model(problem)
            self.labelled(problem, runs=2)
            skeleton = dict(truth)
            del skeleton["observation"]
            del skeleton["transition"]
            self.write_model("skeleton.json", skeleton)
            out = self.good("calibrate", "log.csv", "--model", "skeleton.json", "-o", "m.json")
            self.assertIn("shown to tell the states apart", out)
            model = json.loads(self.read("m.json"))
            for key in ("states", "actions", "observations", "timing"):
                self.assertEqual(model[key], truth[key])
            about = model["calibration"]
            self.assertTrue(about["suffices"])
            self.assertEqual(about["rows"], 80000 if about["runs"] == 2 else 40000)
            for a, matrix in enumerate(truth["observation"]):
                self.assertLess(about["alpha_lower"][a], about["alpha"][a])
                for s, row in enumerate(matrix):
                    for o, value in enumerate(row):
                        self.assertAlmostEqual(model["observation"][a][s][o], value, delta=0.05)
            self.good("simulate", problem, "--steps", 20000, "--seed", 9, "-o", "new.csv")
            self.good("check", "m.json")
            self.good("estimate", "m.json", "new.csv", "-o", "e.json")
            error = self.good_json("compare", problem, "e.json")["frobenius"]
            self.good("estimate", problem, "new.csv", "-o", "known.json")
            known = self.good_json("compare", problem, "known.json")["frobenius"]
            self.assertLess(error, known + 0.2)

    def calibrated(self):
        """m.json from 2,000 labelled rows, new.csv with 8,000 others; the counts."""
        self.labelled("pest-control", 2000)
        self.good("calibrate", "log.csv", "--model", "pest-control", "--prior", 0.5, "-o", "m.json")
        self.good("simulate", "pest-control", "--steps", 8000, "--seed", 9, "-o", "new.csv")
        model = json.loads(self.read("m.json"))
        self.assertEqual(model["observation_counts"], model["calibration"]["counts"])
        return model

    def test_error_bars_know_how_uncertain_the_sensors_are(self):
        model = self.calibrated()
        rows = int(sum(map(sum, sum(model["observation_counts"], []))))
        out = self.good("estimate", "m.json", "new.csv", "-o", "e.json")
        self.assertIn(f"sensors are uncertain: calibrated from {rows:,} labelled rows", out)
        estimate = json.loads(self.read("e.json"))
        self.assertEqual(estimate["estimate"]["labelled_rows"], rows)
        self.assertEqual(estimate["observation_counts"], model["observation_counts"])
        self.assertNotEqual(estimate["observation"], model["observation"])
        out = self.good("estimate", "m.json", "new.csv", "--sensors", "exact", "-o", "exact.json")
        self.assertNotIn("uncertain", out)
        exact = json.loads(self.read("exact.json"))
        self.assertEqual(exact["observation"], model["observation"])
        numbers = lambda table: [x for a in table for s in a for x in s if x is not None]
        errors = lambda document: sum(numbers(document["estimate"]["standard_error"]))
        self.assertLess(errors(exact), errors(estimate))
        # An estimate as the model, and files that are read in every pass: the same answer.
        for arguments in (["e.json"], ["m.json", "--memory", 0]):
            self.good("estimate", arguments[0], "new.csv", *arguments[1:], "-o", "again.json")
            again = json.loads(self.read("again.json"))
            self.assertEqual(again["estimate"]["labelled_rows"], rows)
            for x, y in zip(numbers(again["transition"]), numbers(estimate["transition"])):
                self.assertAlmostEqual(x, y, delta=2e-3)

    def test_uncertain_sensors_where_they_cannot_be(self):
        self.calibrated()
        for more in (["--estimator", "oas-overlap", "--actions-ignore-observations"],
                     ["--half-life", 2000], ["--error-bars", "block-bootstrap", "--resamples", 20]):
            result = self.oas("estimate", "m.json", "new.csv", *more)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("labelled rows are taken as exact", result.stderr)
            result = self.oas("estimate", "m.json", "new.csv", "--sensors", "exact", *more)
            self.assertNotIn("taken as exact", result.stderr)
            self.bad("estimate", "m.json", "new.csv", "--sensors", "uncertain", *more,
                     says=["cannot be uncertain"])
        self.bad("estimate", "pest-control", "new.csv", "--sensors", "uncertain",
                 says=["observation_counts"])
        self.bad("estimate", "m.json", "new.csv", "--sensors", "maybe", says=["maybe"])
        result = self.oas("convert", "m.json", "m.pomdp", "--expand")
        self.assertIn("labelled rows behind the sensors are left out", result.stderr)

    def test_an_observation_that_no_labelled_row_shows(self):
        """Frequencies rule it out; uncertain sensors do not."""
        head = "# oas-log/1 timing=before\n"
        self.write("log.csv", head + "action,observation,state\n"
                   + "go,red,left\ngo,green,right\ngo,green,left\ngo,green,right\n" * 20)
        self.write("new.csv", head + "action,observation\n"
                   + "go,red\ngo,red\ngo,green\ngo,blue\n" * 500)
        model = {"format": "oas-model/1", "timing": "before", "states": ["left", "right"],
                 "actions": ["go"], "observations": ["blue", "green", "red"]}
        self.write_model("skeleton.json", model)
        self.good("calibrate", "log.csv", "--model", "skeleton.json", "-o", "m.json")
        self.bad("estimate", "m.json", "new.csv", "--sensors", "exact", says=["blue"])
        self.good("estimate", "m.json", "new.csv", "-o", "e.json")
        found = json.loads(self.read("e.json"))["observation"][0]
        self.assertGreater(found[0][0] + found[1][0], 0.1)

    def test_names_from_the_log(self):
        self.write("log.csv", "# oas-log/1 timing=before\naction,observation,state\n"
                   + "go,red,left\ngo,green,right\nstay,red,left\nstay,red,right\n" * 50)
        self.good("calibrate", "log.csv", "-o", "m.json")
        model = json.loads(self.read("m.json"))
        self.assertEqual(model["states"], ["left", "right"])
        self.assertEqual(model["actions"], ["go", "stay"])
        self.assertEqual(model["observations"], ["green", "red"])
        self.assertEqual(model["observation"][0], [[0.0, 1.0], [1.0, 0.0]])
        self.assertEqual(model["calibration"]["counts"][1], [[0, 50], [0, 50]])
        result = self.oas("calibrate", "log.csv")
        self.assertIn("'stay'", result.stderr)  # blind, and said to be

    def test_same_bytes_for_any_number_of_threads(self):
        self.labelled("pest-control", 5000)
        self.write("copy.csv", self.read("log.csv").decode())
        for threads in (1, 4):
            self.good("calibrate", "log.csv", "copy.csv", "--model", "pest-control", "--threads",
                      threads, "-o", f"{threads}.json")
        self.assertEqual(self.read("1.json"), self.read("4.json"))

    def test_rows_of_unknown_states_are_left_out(self):
        head = "action,observation,state\n"
        labelled = ["0,0,0", "0,1,1", "0,1,0", "0,0,1"] * 5
        self.write("all.csv", head + "\n".join(labelled) + "\n")
        self.write("some.csv", head + "\n".join(f"{row}\n0,0," for row in labelled) + "\n")
        whole = self.good_json("calibrate", "all.csv", "--timing", "before")
        some = self.good_json("calibrate", "some.csv", "--timing", "before")
        self.assertEqual(some["counts"], whole["counts"])
        self.assertEqual((some["rows"], some["unused_rows"]), (40, 20))
        after = self.good_json("calibrate", "some.csv", "--timing", "after", "--prior", 0.5)
        self.assertEqual(sum(sum(row) for row in after["counts"][0]), 19)  # 0,0, then a state

    def test_faults_are_named(self):
        self.good("simulate", "pest-control", "--steps", 100, "-o", "bare.csv")
        self.bad("calibrate", "bare.csv", "--model", "pest-control", "-o", "m.json",
                 says=["bare.csv", "'state' is missing"])
        self.bad("calibrate", "bare.csv", "-o", "m.json", says=["bare.csv", "'state' is missing"])
        self.bad("calibrate", "none.csv", says=["none.csv"])
        self.bad("calibrate", says=["LOG"])
        head = "action,observation,state\n"
        self.write("plain.csv", head + "0,0,0\n0,1,1\n")
        self.bad("calibrate", "plain.csv", "-o", "m.json", says=["timing"])
        self.bad("calibrate", "plain.csv", "--timing", "during", says=["during"])
        self.good("calibrate", "plain.csv", "--timing", "before")
        self.bad("calibrate", "plain.csv", "--timing", "after", says=["(0, 0)", "prior"])
        self.good("calibrate", "plain.csv", "--timing", "after", "--prior", 0.5)
        self.bad("calibrate", "plain.csv", "--timing", "before", "--prior", -1, says=["prior"])
        self.bad("calibrate", "plain.csv", "--timing", "before", "--confidence", 2, says=["2"])
        self.bad("calibrate", "plain.csv", "--timing", "before", "-o", "m.pomdp",
                 says=["m.pomdp", ".json"])
        self.bad("calibrate", "-", "--timing", "before", stdin=head + "0,0,0\n",
                 says=["standard input", "--model"])
        self.write("mixed.csv", head + "0,0,0\n0,1,left\n")
        self.bad("calibrate", "mixed.csv", "--timing", "before", says=["mixed.csv:3", "left"])
        self.write("empty.csv", head + "0,0,\n")
        self.bad("calibrate", "empty.csv", "--timing", "before",
                 says=["empty.csv", "column state is empty throughout"])
        self.write("gone.csv", "")
        self.bad("calibrate", "gone.csv", "--timing", "before", says=["gone.csv"])
        self.write("two.csv", "# oas-log/1 timing=after\n" + head + "0,0,0\n0,0,0\n")
        self.bad("calibrate", "two.csv", "--timing", "before", says=["two.csv:1", "timing"])
        self.bad("calibrate", "two.csv", "--model", "pest-control", says=["two.csv:1", "timing"])
        self.write("skeleton.json", '{"format": "oas-model/1", "states": -3, "actions": 1, '
                   '"observations": 2, "timing": "before"}')
        self.bad("calibrate", "plain.csv", "--model", "skeleton.json", says=["skeleton.json", "-3"])
        self.write("blank.csv", head + "0,,0\n0,,1\n")
        self.bad("calibrate", "blank.csv", "--timing", "before", "-o", "m.json",
                 says=["blank.csv", "column observation is empty"])
        self.bad("calibrate", "blank.csv", "--model", "pest-control", "--prior", 1, "-o", "m.json",
                 says=["blank.csv", "no row to calibrate from", "without observation: 2"])
        self.write("lonely.csv", "run," + head + "a,0,0,0\nb,0,1,1\n")
        self.bad("calibrate", "lonely.csv", "--timing", "after", "--prior", 1, "-o", "m.json",
                 says=["lonely.csv", "no row to calibrate from", "timing after"])
        self.bad("calibrate", "plain.csv", "--timing", "before", "--differ-by-action",
                 "--same-for-all-actions", says=["--same-for-all-actions"])
        self.write("far.csv", head + "0,7,0\n")
        self.bad("calibrate", "far.csv", "--model", "pest-control", says=["far.csv:2", "7"])

    def test_states_without_rows_are_named(self):
        """An error unless a prior is given; then a warning, uniform sensors and a list."""
        self.labelled("pest-control", 500)
        rows = self.read("log.csv").decode().splitlines()
        model = self.model("pest-control")
        state = model["states"][-1]
        column = rows[1].split(",").index("state")
        kept = [row for row in rows[2:] if row.split(",")[column] != state]
        self.write("part.csv", "\n".join([*rows[:2], *kept]) + "\n")
        calibrate = ("calibrate", "part.csv", "--model", "pest-control", "-o", "m.json")
        self.bad(*calibrate, says=[state, "prior"])
        result = self.oas(*calibrate, "--prior", 0.5)
        self.assertEqual(result.returncode, 0)
        self.assertIn(f"{state})", result.stderr)
        self.assertNotIn("nan", (result.stdout + result.stderr).lower())
        written = json.loads(self.read("m.json"))
        unseen = written["calibration"]["unseen"]
        self.assertEqual(unseen, [[action, state] for action in model["actions"]])
        for matrix in written["observation"]:
            self.assertEqual(len(set(matrix[-1])), 1)

    def reading_first(self):
        """A unit whose reading is noted before the action is chosen from it."""
        draw = random.Random(7)
        lines, state = [], 0
        for _ in range(20000):
            reading = int(draw.random() < (0.2, 0.7)[state])
            action = int(draw.random() < (0.1, 0.8)[reading])
            lines.append(f"{action},{reading},{state}")
            state = int(draw.random() < (0.3, 0.6)[state])
        self.write("log.csv", "action,observation,state\n" + "\n".join(lines) + "\n")

    def test_actions_chosen_from_readings_are_noticed(self):
        self.reading_first()
        run = ("calibrate", "log.csv", "--timing", "before", "-o", "m.json")
        result = self.oas(*run)
        self.assertEqual(result.returncode, 0)
        self.assertIn("either the sensors depend on the action", result.stderr)
        self.assertIn("or actions were chosen from the observation", result.stderr)
        self.assertIn("p = ", result.stderr)
        model = json.loads(self.read("m.json"))
        self.assertLess(model["calibration"]["action_dependence"]["p_value"], 1e-10)
        # The selection by hand: Z(1|0) = 0.2 becomes 0.2 · 0.2/(0.2 · 0.2 + 0.8 · 0.9) under 0.
        self.assertAlmostEqual(model["observation"][0][0][1], 0.04 / 0.76, delta=0.02)
        pooled = self.oas(*run, "--same-for-all-actions")
        self.assertIn("oas-ml", pooled.stderr)
        model = json.loads(self.read("m.json"))
        self.assertTrue(model["calibration"]["same_for_all_actions"])
        for matrix in model["observation"]:
            for row, truth in zip(matrix, (0.2, 0.7)):
                self.assertAlmostEqual(row[1], truth, delta=0.025)  # five standard deviations
        self.assertEqual(model["observation"][0], model["observation"][1])
        # Rows that were pooled count once, not once for every action.
        self.assertEqual(len(model["observation_counts"]), 2)
        self.assertEqual(model["observation_counts"], model["calibration"]["counts"][0])
        silent = self.oas(*run, "--differ-by-action")
        self.assertNotIn("actions were chosen", silent.stderr)

    def test_sensors_alone_raise_no_suspicion(self):
        """Actions that react to what was seen before, sensors that are the same for all actions."""
        model = self.model("machine-maintenance")
        model["observation"] = [model["observation"][0]] * len(model["actions"])
        self.write_model("same.json", model)
        self.good("simulate", "same.json", "--steps", 40000, "--state", "-o", "log.csv")
        result = self.oas("calibrate", "log.csv", "--model", "same.json", "--prior", 0.5)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("in the same state: p = ", result.stdout)
        self.assertNotIn("chosen from", result.stderr)


if __name__ == "__main__":
    unittest.main()
