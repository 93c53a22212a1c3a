"""What every verb that reads logs must stand: runs that are mixed up, and logs with hardly
anything in them."""

import json
import unittest

from support import CliCase

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


class InterleavedRuns(CliCase):
    def test_every_verb_names_the_line(self):
        self.write("line.json", json.dumps(LINE))
        rows = "".join(f"{t % 2},{t % 2},{t % 2}.5\n" for t in range(40))
        self.write("real.csv", "run,action,observation\n" + rows)
        model = finite(2, 2, 2)
        self.write_model("m.json", model)
        self.write("log.csv", "run,action,observation,state,propensity\n" + "".join(
            f"unit {'ab'[t % 2]},{t % 2},{t // 2 % 2},{t % 2},0.5\n" for t in range(40)))
        says = ["log.csv:4:1:", "run 'unit a' comes back after run 'unit b'", "Sort the log by run"]
        for name in ESTIMATORS:
            self.bad("estimate", "m.json", "log.csv", "--estimator", name, "-o", "e.json",
                     says=says)
        for bars in ("block-bootstrap", "parametric-bootstrap"):
            self.bad("estimate", "m.json", "log.csv", "--error-bars", bars, says=says)
        self.bad("filter", "m.json", "log.csv", "-o", "b.csv", says=says)
        self.bad("score", "m.json", "log.csv", says=says)
        self.bad("calibrate", "log.csv", "--timing", "before", "-o", "c.json", says=says)
        self.bad("calibrate", "log.csv", "--model", "m.json", says=says)
        says = ["real.csv:4:1:", "run '0' comes back"]
        self.bad("discretise", "line.json", "--log", "real.csv", "--log-out", "cells.csv",
                 says=says)
        for name in ("oas-overlap", "oas-soft", "oas-ml"):
            self.bad("estimate", "line.json", "real.csv", "--estimator", name, says=says)
        self.bad("filter", "line.json", "real.csv", "-o", "b.csv", says=says)
        self.bad("score", "line.json", "real.csv", says=says)

    def test_sorted_as_the_message_says_it_is_read(self):
        self.write_model("m.json", finite(2, 2, 2))
        lines = [f"{'ab'[t % 2]},{t % 2},{t // 2 % 2}" for t in range(40)]
        self.write("log.csv", "run,action,observation\n" + "\n".join(sorted(
            lines, key=lambda line: line.split(",")[0])) + "\n")
        self.assertEqual(self.good_json("score", "m.json", "log.csv")["runs"], 2)


class CornerLogs(CliCase):
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
