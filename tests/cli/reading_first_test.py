"""Logs in which the sensor is read first and the action chosen knowing it, as a user meets them."""

import csv
import io
import json
import unittest

from support import CliCase

SENSOR = [[0.8, 0.15, 0.05], [0.1, 0.3, 0.6]]
MODEL = {
    "format": "oas-model/1", "rows": "reading-first", "states": ["fine", "leaking"],
    "actions": ["pump", "flush"], "observations": ["normal", "low", "alarm"], "start": [0.9, 0.1],
    "transition": [[[0.9, 0.1], [0.05, 0.95]], [[0.97, 0.03], [0.7, 0.3]]], "observation": SENSOR,
    "reward": [[1, 0.4], [0.2, 0.2]]}
GAUSSIAN = [{"kind": "gaussian", "mean": 0, "sd": 1}, {"kind": "gaussian", "mean": 3, "sd": 1}]


def without(model, *keys, **changes):
    return {key: value for key, value in {**model, **changes}.items() if key not in keys}


class ReadingFirst(CliCase):
    def setUp(self):
        super().setUp()
        self.put("m.json", MODEL)

    def put(self, name, model):
        return self.write(name, json.dumps(model))

    def rows(self, name):
        lines = self.read(name).decode().splitlines()
        self.assertEqual(lines[0], "# oas-log/1 timing=after rows=reading-first")
        return list(csv.DictReader(io.StringIO("\n".join(lines[1:]))))

    def test_from_log_to_plan(self):
        self.good("simulate", "m.json", "--runs", 20, "--steps", 500, "--seed", 2, "--state",
                  "--reward", "-o", "log.csv")
        rows = self.rows("log.csv")
        self.assertEqual(len(rows), 10000)
        self.assertEqual(list(rows[0]),
                         ["run", "observation", "action", "propensity", "reward", "state"])
        self.good("estimate", "m.json", "log.csv", "-o", "e.json")
        written = json.loads(self.read("e.json"))
        self.assertEqual(written["rows"], "reading-first")
        self.assertEqual(written["first_observation"], SENSOR)
        for a in range(2):
            for s in range(2):
                self.assertAlmostEqual(written["transition"][a][s][0],
                                       MODEL["transition"][a][s][0], delta=0.1)
        filtered = self.good_json("filter", "e.json", "log.csv", "-o", "b.csv")
        self.assertEqual(filtered["rows"], 10000)
        self.assertEqual(self.good_json("score", "e.json", "log.csv")["rows"], 10000)
        self.good("forecast", "e.json", "log.csv", "--actions", "pump", "--reach", "leaking")
        self.good("compare", "m.json", "e.json")
        self.good("check", "m.json")
        self.good("plan", "e.json", "-o", "plan.json")
        self.good("evaluate", "m.json", "plan.json", "--steps", 100000)
        self.good("simulate", "m.json", "--policy", "plan.json", "--steps", 50, "-o", "acted.csv")
        self.assertEqual(len(self.rows("acted.csv")), 50)
        self.good("learn", "m.json", "--agent", "oas-ucrl-ml", "--steps", 2000, "-o", "run.csv")

    def test_the_option_does_what_the_key_does(self):
        self.put("plain.json", without(MODEL, "rows", timing="after"))
        for model, option in (("m.json", ()), ("plain.json", ("--rows", "reading-first"))):
            self.good("simulate", model, *option, "--steps", 2000, "-o", f"{model}.csv")
            self.good("estimate", model, f"{model}.csv", *option, "-o", f"{model}.e.json")
        self.assertEqual(self.read("m.json.csv"), self.read("plain.json.csv"))
        one, other = (json.loads(self.read(f"{name}.e.json")) for name in ("m.json", "plain.json"))
        self.assertEqual(one, other)
        self.bad("filter", "m.json", "m.json.csv", "--rows", "action-first", "-o", "b.csv",
                 says=["m.json.csv:1", "the rows of the log are reading-first"])
        self.bad("estimate", "plain.json", "m.json.csv", says=["m.json.csv:1", "--rows"])

    def test_sensors_written_once_are_those_of_all_actions(self):
        self.put("long.json", without(MODEL, observation=[SENSOR, SENSOR]))
        for name in ("m.json", "long.json"):
            self.good("convert", name, f"out-{name}")
        self.assertEqual(self.read("out-m.json"), self.read("out-long.json"))
        self.put("real.json", without(MODEL, "observation", observations={"dimension": 1},
                                      density=GAUSSIAN))
        self.put("both.json", without(MODEL, "observation", observations={"dimension": 1},
                                      density=[GAUSSIAN, GAUSSIAN]))
        for name in ("real.json", "both.json"):
            self.good("simulate", name, "--steps", 500, "-o", f"{name}.csv")
        self.assertEqual(self.read("real.json.csv"), self.read("both.json.csv"))

    def test_real_values_and_cells(self):
        self.put("real.json", without(MODEL, "observation", observations={"dimension": 1},
                                      density=GAUSSIAN,
                                      first_density=[GAUSSIAN[0], {"kind": "gaussian", "mean": 2,
                                                                   "sd": 2}]))
        self.good("simulate", "real.json", "--runs", 5, "--steps", 400, "-o", "log.csv")
        for estimator in ("oas-ml", "oas-soft", "oas-overlap"):
            self.good("estimate", "real.json", "log.csv", "--estimator", estimator, "-o",
                      f"{estimator}.json")
            self.assertIn("first_density", json.loads(self.read(f"{estimator}.json")))
        self.good("filter", "oas-ml.json", "log.csv", "-o", "b.csv")
        self.good("discretise", "real.json", "--cells", 4, "--log", "log.csv", "--log-out",
                  "cells.csv", "-o", "finite.json")
        self.assertEqual(len(self.rows("cells.csv")), 2000)
        finite = json.loads(self.read("finite.json"))
        self.assertNotEqual(finite["first_observation"], finite["observation"][0])
        self.good("estimate", "finite.json", "cells.csv")
        self.write("short.csv", "action,observation,propensity\n0,0.5,0.5\n1,,1\n,2.5,\n")
        self.good("discretise", "real.json", "--use", "finite.json", "--log", "short.csv",
                  "--log-out", "cut.csv", "-o", "again.json")
        rows = self.rows("cut.csv")
        self.assertEqual([row["action"] for row in rows], ["pump", "flush", ""])
        self.assertEqual([row["propensity"] for row in rows], ["0.5", "1", ""])
        self.assertEqual(rows[1]["observation"], "")
        self.good("filter", "finite.json", "cut.csv", "-o", "c.csv")

    def test_calibrated_sensors(self):
        self.good("simulate", "m.json", "--runs", 30, "--steps", 100, "--state", "-o", "log.csv")
        out = self.good("calibrate", "log.csv", "--same-for-all-actions", "-o", "c.json")
        self.assertIn("3000 labelled rows", out)  # all: the state stands beside its reading
        self.assertNotIn("could not be used", out)
        made = json.loads(self.read("c.json"))
        self.assertEqual(made["rows"], "reading-first")
        for s, name in enumerate(made["states"]):
            row = SENSOR[MODEL["states"].index(name)]
            for o, label in enumerate(made["observations"]):
                self.assertAlmostEqual(made["first_observation"][s][o],
                                       row[MODEL["observations"].index(label)], delta=0.06)
        out = self.good("calibrate", "log.csv", "--differ-by-action", "-o", "d.json")
        self.assertIn("first readings of runs", out)
        made = json.loads(self.read("d.json"))
        self.assertEqual(sum(map(sum, made["calibration"]["first_counts"])), 30)
        for row, counts in zip(made["first_observation"], made["calibration"]["first_counts"]):
            self.assertEqual(row, [count / sum(counts) for count in counts])
        self.put("own.json", without(MODEL, first_observation=[[0.5, 0.5, 0], [0, 0.5, 0.5]]))
        out = self.good("calibrate", "log.csv", "--model", "own.json", "--differ-by-action", "-o",
                        "e.json")
        self.assertIn("30 rows could not be used", out)
        self.assertIn("first readings, whose sensor the model states: 30", out)
        made = json.loads(self.read("e.json"))
        self.assertEqual(made["first_observation"], [[0.5, 0.5, 0], [0, 0.5, 0.5]])

    def test_labelled_runs_of_one_row(self):
        """Rows that teach nothing of the dynamics teach the sensors."""
        runs = [(f"u{i}", "fine" if i % 2 else "leaking", i) for i in range(60)]
        self.write("f.csv", "run,observation,action,state\n" + "".join(
            f"{name},{('normal', 'low', 'alarm')[i % 3]},pump,{state}\n"
            for name, state, i in runs))
        told = self.good_json("calibrate", "f.csv", "--model", "m.json", "--same-for-all-actions")
        self.assertEqual((told["rows"], told["unused_rows"]), (60, 0))
        self.bad("calibrate", "f.csv", "--model", "m.json", "-o", "x.json",
                 says=["(pump, fine)", "label more rows"])
        self.put("g.json", without(MODEL, "observation", "observations", density=GAUSSIAN,
                                   observations={"dimension": 1}))
        self.write("r.csv", "run,observation,action,state\n" + "".join(
            f"{name},{i % 7 + 3 * (state == 'leaking')},pump,{state}\n"
            for name, state, i in runs))
        told = self.good_json("calibrate", "r.csv", "--model", "g.json", "-o", "c.json")
        self.assertEqual((told["rows"], told["unused_rows"]), (60, 0))
        self.assertEqual(told["readings"], [[30, 30]])
        again = self.good_json("calibrate", "r.csv", "--model", "c.json")
        self.assertEqual(again, told)
        self.bad("calibrate", "r.csv", "--model", "g.json", "--by-action", "-o", "x.json",
                 says=["r.csv", "0 labelled readings"])
        self.write("n.csv", "run,observation,action,state\na,1.5,pump,\nb,,pump,fine\n")
        self.bad("calibrate", "n.csv", "--model", "g.json",
                 says=["Rows: 2; without observation: 1; of an unknown state: 1"])

    def test_rows_of_real_valued_readings_by_the_log_alone(self):
        """Without a model the first line of the log, or --rows, says how rows are written."""
        body = "run,observation,action,state\n" + "".join(
            f"u{i // 4},{i % 7 + 3 * (i % 2)},{i // 2 % 2},{i % 2}\n" for i in range(80))
        self.write("l.csv", body)
        told = self.good_json("calibrate", "l.csv", "--family", "normal", "--rows",
                              "reading-first", "-o", "c.json")
        self.assertEqual((told["rows"], told["unused_rows"]), (80, 0))
        made = json.loads(self.read("c.json"))
        self.assertEqual((made["timing"], made["rows"]), ("after", "reading-first"))
        self.write("h.csv", "# oas-log/1 timing=after rows=reading-first\n" + body)
        self.assertEqual(self.good_json("calibrate", "h.csv", "--family", "normal"), told)

    def test_formats_without_a_first_observation(self):
        for ending in ("pomdp", "pomdpx"):
            self.bad("convert", "m.json", f"m.{ending}", says=["m.json", "--rows action-first"])
            self.good("convert", "m.json", f"m.{ending}", "--rows", "action-first")
        self.bad("convert", "m.json", "b.json", "--timing", "before", says=["reading-first"])
        self.good("convert", "m.pomdp", "back.json", "--rows", "reading-first")
        self.assertEqual(json.loads(self.read("back.json"))["rows"], "reading-first")

    def test_bad_models(self):
        other = [[0.2, 0.2, 0.6], [0.1, 0.3, 0.6]]
        for changes, says in (
                ({"timing": "before"}, ["$.rows", "after"]),
                ({"rows": "sideways"}, ["$.rows", "sideways"]),
                ({"observation": [SENSOR, other]}, ["first_observation", "'pump' and 'flush'"]),
                ({"first_observation": [SENSOR, SENSOR]}, ["$.first_observation"]),
                ({"first_observation": [[0.5, 0.6, 0], [1, 0, 0]]}, ["$.first_observation[0]"]),
                ({"observation": SENSOR[:1]}, ["$.observation"]),
                ({"rows": "action-first"}, ["timing"])):
            self.put("bad.json", without(MODEL, **changes))
            self.bad("check", "bad.json", says=["bad.json", *says])
        self.put("bad.json", without(MODEL, "rows", timing="before", first_observation=SENSOR))
        self.bad("check", "bad.json", says=["bad.json", "first_observation"])

    def test_bad_logs(self):
        for text, says in (
                ("normal,pump\nlow,\nalarm,pump\n", ["log.csv:3:2", "line 4"]),
                ("normal,pump\nloud,\n", ["log.csv:3:1", "'loud'"]),
                ("normal,sing\nlow,\n", ["log.csv:2:2", "'sing'"]),
                ("normal\n", ["log.csv:2", "1 field"]),
                ("", ["log.csv", "no rows"])):
            self.write("log.csv", "observation,action\n" + text)
            for verb in (("estimate", "m.json", "log.csv"),
                         ("score", "m.json", "log.csv"),
                         ("filter", "m.json", "log.csv", "-o", "b.csv")):
                self.bad(*verb, says=says)
        self.write("log.csv", "observation,action\nnormal,pump\n")
        self.bad("estimate", "m.json", "log.csv", says=["the log has no transition"])
        self.good("filter", "m.json", "log.csv", "-o", "b.csv")
        self.bad("simulate", "pest-control", "--rows", "reading-first", "--steps", 5, "-o", "x.csv",
                 says=["pest-control", "timing `before`"])

    def test_a_fleet_with_gaps(self):
        self.write("log.csv",
                   "ts,pump,gauge,cmd\n2026-01-01,a,normal,pump\n2026-01-01,b,low,flush\n"
                   "2026-01-02,a,alarm,flush\n2026-01-03,b,normal,pump\n2026-01-03,a,low,\n"
                   "2026-01-04,b,alarm,pump\n")
        reading = ("--columns", "time=ts,run=pump,observation=gauge,action=cmd", "--step", "1d")
        self.bad("filter", "m.json", "log.csv", *reading, "-o", "b.csv",
                 says=["log.csv:5:1", "gap"])
        self.good("filter", "m.json", "log.csv", *reading, "--gaps", "repeat", "-o", "b.csv")
        with open(self.folder / "b.csv", encoding="utf-8") as file:
            lines = [(row["run"], row["step"], row["action"], row["observation"])
                     for row in csv.DictReader(file)]
        self.assertEqual(lines, [
            ("a", "0", "pump", "normal"), ("a", "1", "flush", "alarm"), ("a", "2", "", "low"),
            ("b", "0", "flush", "low"), ("b", "1", "flush", ""), ("b", "2", "pump", "normal"),
            ("b", "3", "pump", "alarm"), ("b", "4", "", "")])

    def test_a_first_reading_that_lacks_a_component_is_missing_for_moments(self):
        model = without(MODEL, "observation", observations={"dimension": 2},
                        density=[[[bell, bell] for bell in GAUSSIAN]] * 2)
        self.put("vector.json", model)
        self.good("simulate", "vector.json", "--runs", 400, "--steps", 4, "--seed", 3, "-o",
                  "whole.csv")
        rows = self.rows("whole.csv")
        for name, lost in (("half.csv", ("observation_2",)),
                           ("none.csv", ("observation_1", "observation_2"))):
            out = io.StringIO()
            table = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
            table.writeheader()
            before = None
            for row in rows:
                first, before = row["run"] != before, row["run"]
                table.writerow({**row, **{column: "" for column in lost if first}})
            self.write(name, out.getvalue())
        for estimator in ("oas-overlap", "oas-soft"):
            found = {}
            for log in ("whole", "half", "none"):
                self.good("estimate", "vector.json", f"{log}.csv", "--estimator", estimator, "-o",
                          f"{log}.json")
                found[log] = json.loads(self.read(f"{log}.json"))["transition"]
            self.assertEqual(found["half"], found["none"], estimator)
            self.assertNotEqual(found["half"], found["whole"], estimator)


if __name__ == "__main__":
    unittest.main()
