"""What every verb that reads logs must stand: runs that are mixed up, and logs with hardly
anything in them."""

import json
import unittest

from support import CaseWithoutDraws

LINE = {
    "format": "oas-model/1", "timing": "before", "states": 2, "actions": 2,
    "observations": {"dimension": 1},
    "transition": [[[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.4, 0.6]]],
    "density": [[{"kind": "gaussian", "mean": m, "sd": 1} for m in (0, 3)]] * 2,
}

ESTIMATORS = ("oas", "oas-overlap", "oas-weighted", "oas-soft", "oas-ml", "em", "particle",
              "gibbs", "spectral")


def finite(states, actions, observations, timing="before"):
    """A model of any size, without names."""
    def rows(count, width):
        weights = [[1 + (i + 2 * j) % (width + 1) for j in range(width)] for i in range(count)]
        return [[w / sum(row) for w in row] for row in weights]
    return {"format": "oas-model/1", "timing": timing, "states": states, "actions": actions,
            "observations": observations, "transition": [rows(states, states)] * actions,
            "observation": [rows(states, observations)] * actions}


class InterleavedRuns(CaseWithoutDraws):
    """The numbers of a mixed log are those of the same log sorted by unit, to the bit."""

    def write_both(self, name, header, rows):
        """NAME-mixed.csv as the rows come, NAME-sorted.csv sorted by unit, stably."""
        self.write(f"{name}-mixed.csv", "\n".join([header, *rows]) + "\n")
        ordered = sorted(rows, key=lambda row: row.split(",")[0])
        self.assertNotEqual(rows, ordered)
        self.write(f"{name}-sorted.csv", "\n".join([header, *ordered]) + "\n")

    def same(self, *arguments, output=None):
        """LOG in the arguments stands for the mixed and for the sorted log."""
        results = []
        for order in ("mixed", "sorted"):
            texts = [str(one).replace("LOG", order) for one in arguments]
            printed = self.good(*texts)
            results.append(printed.replace(order, "LOG") if output is None else self.read(output))
        self.assertEqual(*results)
        self.assertGreater(len(results[0]), 50)

    def setUp(self):
        super().setUp()
        self.write("line.json", json.dumps(LINE))
        self.write_model("m.json", finite(2, 2, 2))
        rows, real = [], []
        for t in range(1500):
            unit = "abc"[t * t % 7 % 3]
            o = "" if t % 13 == 5 else (t * t // 3 + t // 5) % 2
            rows.append(f"unit {unit},{t * 5 // 3 % 2},{o},{t // 4 % 2},0.5")
            real.append(f"unit {unit},{t * 5 // 3 % 2},{t * 7 % 19 / 6}")
        self.write_both("log", "run,action,observation,state,propensity", rows)
        self.write_both("real", "run,action,observation", real)

    def test_every_estimator(self):
        for name in ESTIMATORS:
            self.same("estimate", "m.json", "log-LOG.csv", "--estimator", name, "--json")
        for bars in ("block-bootstrap", "parametric-bootstrap"):
            self.same("estimate", "m.json", "log-LOG.csv", "--error-bars", bars, "--json")
        for age in ("run", "log"):
            self.same("estimate", "m.json", "log-LOG.csv", "--half-life", "100", "--age", age,
                      "--json")
        for name in ("oas-overlap", "oas-soft", "oas-ml"):
            self.same("estimate", "line.json", "real-LOG.csv", "--estimator", name, "--json")

    def test_every_other_verb(self):
        for model, log in (("m.json", "log-LOG.csv"), ("line.json", "real-LOG.csv")):
            self.same("filter", model, log, "-o", "b.csv", output="b.csv")
            self.same("score", model, log, "--json")
        self.assertIn(b"\nunit c,0,", self.read("b.csv"))
        self.same("calibrate", "log-LOG.csv", "--timing", "before", "--json")
        self.same("discretise", "line.json", "--log", "real-LOG.csv", "--log-out", "cells.csv",
                  "--cells", "4", output="cells.csv")
        self.assertIn(b"\nunit c,", self.read("cells.csv"))

    def test_from_a_pipe(self):
        mixed = self.read("log-mixed.csv").decode()
        sorted_too = self.good_json("score", "m.json", "log-sorted.csv")
        printed = json.loads(self.good("score", "m.json", "-", "--json", stdin=mixed))
        self.assertEqual(printed, sorted_too)


class Fleets(CaseWithoutDraws):
    """A log of pumps with columns, times and names of its own."""

    COLUMNS = ("--columns", "action=cmd,observation=vib,run=pump,time=ts,state=seen")

    def setUp(self):
        super().setUp()
        self.write_model("m.json", finite(2, 2, 2))
        rows = ["ts,pump,cmd,vib,seen,note"]
        for t in range(300):
            for pump in ("A 1", "B"):
                if pump == "B" and 100 <= t < 103:
                    continue
                day, hour = divmod(t, 24)
                seen = t // 7 % 2 if t % 9 == 0 else ""
                rows.append(f"2026-03-{day + 1:02d} {hour:02d}:00,{pump},{t * t % 5 % 2},"
                            f"{t * 3 // 2 % 2},{seen},x")
        self.rows = rows
        self.write("fleet.csv", "\n".join(rows) + "\n")

    def test_gaps(self):
        read = ("estimate", "m.json", "fleet.csv", *self.COLUMNS, "--estimator", "oas-overlap")
        self.bad(*read, says=["fleet.csv:", "1 h (594 times)", "4 h (once)", "--step"])
        self.bad(*read, "--step", "1h", says=["fleet.csv:206:1:", "a gap of 3 steps", "unit 'B'",
                                              "2026-03-05T03:00:00", "2026-03-05T07:00:00"])
        self.bad(*read, "--step", "1w", says=["step", "'1w'", "unknown unit of time 'w'"])
        self.bad(*read, "--step", "1h", "--gaps", "action=9", says=["no action '9'"])
        rows = {gaps: self.good_json(*read, "--step", "1h", "--gaps", gaps)["rows"]
                for gaps in ("action=0", "repeat", "new-run")}
        self.assertEqual(rows, {"action=0": 600, "repeat": 600, "new-run": 597})

    def test_files_written_otherwise(self):
        """Semicolons, decimal commas and NA give the numbers of the plain file, to the bit."""
        other = "\n".join(row.replace(",", ";").replace(";;x", ";NA;x") for row in self.rows)
        self.write("other.csv", other + "\n")
        read = (*self.COLUMNS, "--step", "1h", "--gaps", "repeat")
        told = {"format": "oas-log-options/1", "separator": ";", "missing": "NA", "step": "1h",
                "columns": self.COLUMNS[1], "gaps": "new-run"}
        self.write("options.json", json.dumps(told))
        self.write("listed.json", json.dumps({**told, "missing": ["NULL", "NA"]}))
        plain = self.good("estimate", "m.json", "fleet.csv", *read, "--estimator", "oas-ml")
        typed = ("--separator", ";", "--missing", "NA")
        self.assertEqual(plain, self.good("estimate", "m.json", "other.csv", *read, *typed,
                                          "--estimator", "oas-ml"))
        told = ("--log-options", "options.json")
        self.assertEqual(plain, self.good("estimate", "m.json", "other.csv", *told, "--gaps",
                                          "repeat", "--estimator", "oas-ml"))  # typed ones count
        for verb in ("filter", "score"):
            name = ("-o", "-") if verb == "filter" else ("--log",)
            files = {log: self.good(verb, "m.json", *name, log, *options).replace(log, "LOG")
                     for log, options in (("fleet.csv", (*self.COLUMNS, "--step", "1h", "--gaps",
                                                         "new-run")), ("other.csv", told))}
            self.assertEqual(*files.values())
        self.assertEqual(*(self.good("score", "m.json", "--log", "other.csv", "--log-options", file)
                           for file in ("options.json", "listed.json")))

    def test_options_are_named_as_typed(self):
        read = ("estimate", "m.json", "fleet.csv", *self.COLUMNS)
        self.bad(*read, "--gaps", "skip", says=["oas: --gaps: 'skip' is not one of"])
        self.bad(*read, "--step", "1w", says=["oas: --step: '1w'"])
        self.bad("estimate", "m.json", "fleet.csv", "--columns", "action=cmd,observation=vib",
                 "--step", "1h", says=["fleet.csv:1: --step: the log has no column 'time'"])
        self.write("options.json", '{"format": "oas-log-options/1", "stepp": "1h"}')
        self.bad(*read, "--log-options", "options.json", says=["options.json: $", "stepp"])
        self.bad(*read, "--log-options", "nowhere.json", says=["nowhere.json"])

    def test_files_over_which_units_go_on(self):
        """The numbers of files by the month are those of the whole log, to the bit."""
        head, *rows = self.rows
        for name, part in (("1.csv", rows[:211]), ("2.csv", rows[211:212]), ("3.csv", rows[212:])):
            self.write(name, "\n".join([head, *part]) + "\n")
        read = (*self.COLUMNS, "--step", "1h", "--gaps", "repeat")
        files = ("1.csv", "2.csv", "3.csv")

        def same(verb, *options, output=None):
            results = []
            for logs in (("fleet.csv",), files):
                printed = self.good(verb, "m.json", *logs, *read, *options)
                shown = printed if output is None else self.read(output).decode()
                results.append(shown.replace("1.csv and 2 more files", "fleet.csv"))
            self.assertEqual(*results)
        for name in ESTIMATORS:
            same("estimate", "--estimator", name, "--json")
        same("estimate", "--known-states", "--json")
        same("diagnose", "--json")
        same("filter", "-o", "b.csv", output="b.csv")
        same("forecast", "--actions", "0", "--reach", "1", "--json")
        same("report", "--title", "Pumps", "-o", "page.html", output="page.html")
        for logs in (("fleet.csv",), files):
            given = [word for log in logs for word in ("--log", log)]
            scored = self.good("score", "m.json", *given, *read, "--json")
            first = self.good("calibrate", *logs, "--timing", "before", *read, "--json")
            if logs == ("fleet.csv",):
                whole = scored, first
        self.assertEqual(whole, (scored, first))
        self.bad("estimate", "m.json", "3.csv", "1.csv", *read, says=["1.csv:2:1:"])
        self.bad("filter", "m.json", "1.csv", "2.csv", "-o", "b.csv", "--columns",
                 "action=cmd,observation=vib,run=pump",
                 says=["2.csv: run 'A 1' was in an earlier file, too"])

    def test_filter_keeps_names_and_steps(self):
        self.good("filter", "m.json", "fleet.csv", *self.COLUMNS, "--step", "1h", "--gaps",
                  "new-run", "-o", "b.csv")
        lines = self.read("b.csv").decode().splitlines()
        self.assertEqual([line.split(",")[:2] for line in lines if line.startswith("B,")][98:103],
                         [["B", "98"], ["B", "99"], ["B", "100"], ["B", "103"], ["B", "104"]])
        after_gap = next(line for line in lines if line.startswith("B,103,"))
        self.assertEqual(after_gap.split(",")[4:6], ["0.5", "0.5"])
        self.assertEqual(sum(line.startswith("A 1,") for line in lines), 301)

    def test_known_states(self):
        read = ("m.json", "fleet.csv", *self.COLUMNS, "--step", "1h", "--gaps", "repeat")
        known = self.good_json("estimate", *read, "--known-states")
        plain = self.good_json("estimate", *read)
        self.assertLess(known["log_likelihood"], plain["log_likelihood"])  # more is to be explained
        drawn = self.good_json("estimate", *read, "--known-states", "--estimator", "gibbs",
                               "--draws", 100)
        self.assertEqual(known["alpha"], plain["alpha"])
        self.assertEqual(drawn["alpha"], plain["alpha"])
        noticed = self.good_json("estimate", *read, "--known-states", "--noticed", 1)
        self.assertNotEqual(known["log_likelihood"], noticed["log_likelihood"])
        self.bad("estimate", *read, "--known-states", "--noticed", "nosuch",
                 says=["noticed", "'nosuch'"])
        self.bad("filter", *read, "--noticed", 1, "-o", "b.csv", says=["noticed", "known states"])
        for name in ("oas-overlap", "oas", "spectral", "particle"):
            self.bad("estimate", *read, "--known-states", "--estimator", name,
                     says=["--known-states", "oas-ml"])
        for more in (("--half-life", "50"), ("--error-bars", "block-bootstrap")):
            self.bad("estimate", *read, "--known-states", *more, says=["known states"])
        self.good("filter", *read, "--known-states", "-o", "b.csv")
        for line in self.read("b.csv").decode().splitlines():
            cells = line.split(",")
            if cells[:2] == ["B", "63"]:  # 63 // 7 is odd
                self.assertEqual(cells[6:], ["0", "1", "1"])
        self.good("score", *read, "--known-states")

    def test_bad_logs_name_line_column_and_value(self):
        def bad(old, new, *says, more=()):
            text = "\n".join(self.rows).replace(old, new, 1)
            self.assertNotEqual(text, "\n".join(self.rows))
            self.write("fleet.csv", text + "\n")
            self.bad("filter", "m.json", "fleet.csv", *self.COLUMNS, "--step", "1h", "--gaps",
                     "repeat", "--known-states", *more, "-o", "-", says=["fleet.csv:", *says])
        first = "2026-03-01 01:00,A 1,1,"
        bad(first, "2026-03-01 00:00,A 1,1,", ":4:1:", "2026-03-01T00:00:00", "twice", "'A 1'")
        bad(first, "2026-02-01 00:00,A 1,1,", ":4:1:", "2026-02-01T00:00:00", "earlier")
        bad(first, "2026-02-30 00:00,A 1,1,", ":4:1:", "'2026-02-30 00:00'")
        bad(first, "2026-03-01 01:00,A 1,,", ":4:3:", "the action is empty")
        bad(first, "2026-03-01 01:00,A 1,7,", ":4:3:", "action '7'")
        bad("00:00,A 1,0,0,0", "00:00,A 1,0,0,3", ":2:5:", "state '3'")
        bad("pump,cmd", "unit,cmd", ":1:", "no column 'pump' for run", "ts, unit, cmd, vib, seen")
        bad("note", "cmd", ":1:", "column 'cmd' for action occurs twice")

    def test_negative_reading_of_a_gamma_sensor(self):
        gamma = [{"kind": "gamma", "shape": k, "scale": 1} for k in (1, 4)]
        self.write("g.json", json.dumps({
            "format": "oas-model/1", "timing": "before", "states": 2, "actions": 1,
            "observations": {"dimension": 1}, "density": [gamma],
            "transition": [[[0.9, 0.1], [0.2, 0.8]]]}))
        self.write("g.csv", "unit,action,pressure\np,0,1.5\np,0,-2.5\n")
        self.bad("filter", "g.json", "g.csv", "--columns", "run=unit,observation=pressure", "-o",
                 "b.csv", says=["g.csv:3:3:", "observation -2.5", "density 0"])

    def test_options_without_a_log(self):
        self.write("line.json", json.dumps(LINE))
        self.bad("discretise", "line.json", "--cells", "4", "-o", "d.json", "--step", "1h",
                 says=["--step", "no log is given"])


class CornerLogs(CaseWithoutDraws):
    """No crash and no NaN: an answer, or an error that names the file."""

    def judge(self, *arguments):
        result = self.oas(*arguments, "--json")
        said = f"{arguments}\n{result.stdout}\n{result.stderr}"
        self.assertIn(result.returncode, (0, 2), said)
        self.assertNotIn("nan", (result.stdout + result.stderr).lower(), said)
        if result.returncode == 2:
            self.assertTrue(result.stderr.startswith("oas: "), said)
            return False
        json.loads(result.stdout, parse_constant=self.fail)
        plain = self.oas(*arguments)
        self.assertNotIn("nan", (plain.stdout + plain.stderr).lower(), said)
        return True

    def logs(self, model):
        """Name to rows, for a finite model."""
        states, actions, observations = (model[k] for k in ("states", "actions", "observations"))
        rows = [(t * 7 % actions, t * 5 % 11 % observations, t * 3 % 13 % states)
                for t in range(300)]
        head = "action,observation,state,propensity"
        text = {"header": [], "one": rows[:1], "two": rows[:2], "many": rows,
                "missing": [(a, "", s) for a, _, s in rows],
                "mostly": [(a, o if t > 297 else "", s) for t, (a, o, s) in enumerate(rows)],
                "same": [(a, o, 0) for a, o, _ in rows],
                "still": [(0, 0, 0)] * 300}
        for name, lines in text.items():
            lines = [f"{a},{o},{s},{1 / actions}" for a, o, s in lines]
            self.write(f"{name}.csv", "\n".join([head, *lines]) + "\n")
        single = [f"{i},{a},{o},{s},{1 / actions}" for i, (a, o, s) in enumerate(rows)]
        self.write("single.csv", "\n".join(["run," + head, *single]) + "\n")
        self.write("empty.csv", "")
        return [*text, "single", "empty"]

    def judge_model(self, model):
        self.write_model("m.json", model)
        for name in self.logs(model):
            log = f"{name}.csv"
            good = []
            for estimator in ESTIMATORS:
                for options in ((), ("--window", 50, "--age", "run"),
                                ("--half-life", 20, "--age", "log")):
                    if options and estimator in ("particle", "gibbs", "spectral"):
                        continue
                    good.append(self.judge("estimate", "m.json", log, "--estimator", estimator,
                                           *options))
            good.append(self.judge("filter", "m.json", log, "-o", "b.csv"))
            good.append(self.judge("score", "m.json", log))
            for options in ((), ("--prior", 0.5), ("--same-for-all-actions", "--prior", 0.5)):
                good.append(self.judge("calibrate", log, "--model", "m.json", *options))
                good.append(self.judge("calibrate", log, "--timing", model["timing"], *options))
            if name in ("header", "empty"):
                self.assertFalse(any(good), name)

    def test_two_of_everything(self):
        self.judge_model(finite(2, 2, 2))

    def test_one_state(self):
        self.judge_model(finite(1, 2, 3, "after"))

    def test_one_action(self):
        self.judge_model(finite(2, 1, 3))

    def test_one_observation(self):
        self.judge_model(finite(2, 2, 1, "after"))

    def test_one_of_everything(self):
        self.judge_model(finite(1, 1, 1))

    def test_real_valued_observations(self):
        self.write("line.json", json.dumps(LINE))
        head = "action,observation\n"
        texts = {"empty": "", "header": head, "one": head + "0,0.5\n", "two": head + "0,1\n1,2\n",
                 "missing": head + "0,\n1,\n" * 50, "same": head + "0,1.5\n" * 100}
        for name, text in texts.items():
            self.write(f"{name}.csv", text)
            for estimator in ("oas-overlap", "oas-soft", "oas-ml"):
                self.judge("estimate", "line.json", f"{name}.csv", "--estimator", estimator)
            self.judge("filter", "line.json", f"{name}.csv", "-o", "b.csv")
            self.judge("score", "line.json", f"{name}.csv")
            self.judge("discretise", "line.json", "--trials", 20, "--log", f"{name}.csv",
                       "--log-out", "cells.csv")


if __name__ == "__main__":
    unittest.main()
