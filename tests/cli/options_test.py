"""An option that is given does something or is refused: for every verb and every option.

A call is what is asked of a verb. Every option of the verb is added to every call of it; then the
call must write something else than without, or end with code 2 and say why. In some call of the
verb it must do something. An option that is new fails until it has a value here.
"""

import json
import re
import unittest

from support import CliCase

# Say how or where to, not what.
NEUTRAL = {"json", "quiet", "threads", "lenient", "help", "output", "no-cache"}
# How rows stand in a file. The reader of logs looks at all of them: where there is one, values that
# cannot be are refused, and those without are left to the tests of the reader.
ROWS = {"columns": "place=note", "separator": "ab", "missing": "0", "decimal-comma": None,
        "step": "1w", "step-classes": "day", "gaps": "skip", "sparse": None, "from": "3",
        "until": "9", "rows": "reading-first", "outliers": "some", "interleaved": None,
        "known-states": None, "noticed": "nobody", "log-options": "rows.json"}
MAY_FIT = {"missing", "decimal-comma", "rows", "interleaved", "known-states", "log-options"}
# A value of each option that is not its default; None: a switch.
VALUES = {
    "check": {"target-error": 0.2, "estimator": "oas-ml", "trial": 2, "policy": "round-robin",
              "iota": 0.3, "steps": 900, "runs": 3, "seed": 5},
    "problem": {"hide-transition": None, "states": 2, "actions": 4, "observations": 6,
                "epsilon": 0.01, "peak": 3, "alpha": 0.8, "spread-peaks": None, "after": None,
                "seed": 2},
    "compare": {"worst": 1},
    "convert": {"timing": "after", "expand": None, "rows": "reading-first", "discount": 0.5},
    "discretise": {"cells": 3, "search": "random", "trials": 3, "seed": 7, "use": "cells.json",
                   "log": "real.csv", "log-out": "c.csv"},
    "filter": {},
    "score": {"log": "other.csv"},
    "calibrate": {"model": "pest-control", "timing": "after", "prior": 2,
                  "same-for-all-actions": None, "differ-by-action": None, "family": "normal",
                  "unread": "many", "by-action": None, "draws": 25, "figure": "f.svg",
                  "confidence": 0.5, "seed": 9},
    "forecast": {"actions": "spray", "policy": "constant:spray", "reach": "many", "steps": 7,
                 "confidence": 0.5},
    "report": {"plan": "plan.json", "title": "Pests", "actions": "spray", "reach": "many",
               "steps": 7, "units": 1, "confidence": 0.5},
    "learn": {"agent": "uniform", "steps": 700, "runs": 2, "seed": 4, "iota": 0.2,
              "set": "growth=2", "settings": None, "checkpoints": 3, "oracle-gap": 0.05},
    "simulate": {"policy": "round-robin", "filter": "other.json", "iota": 0.3, "runs": 2,
                 "steps": 3, "seed": 3, "rows": "reading-first", "reward": None, "state": None,
                 "shards": 2},
    "plan": {"iota": 0.1, "gap": 1e-5, "discount": 0.5, "horizon": 5, "work": 0.001,
             "limit": "many=0.4", "planner": "point", "grid": 10, "tolerance": 0.3,
             "steps": 9000, "seed": 3, "radius": 0.05, "robust": None, "cautious": 0.3,
             "confidence": 0.5, "all": None, "figure": "f.svg"},
    "evaluate": {"policy": "uniform", "confidence": 0.5, "discount": 0.9, "filter": "other.json",
                 "start-node": 0, "vectors": "after.alpha", "grid": 7, "steps": 9000, "level": 0.5,
                 "seed": 3},
    "diagnose": {"level": 0.01, "replicates": 299, "seed": 3, "figure": "f.svg"},
}
PLAN = ["pest-control", "--steps", 6400]
CALLS = {
    "check": {"finite": ["pest-control", "--steps", 800, "--runs", 2],
              "no transition": ["blind.json"], "real-valued": ["real.json"],
              "no reward": ["unpaid.json", "--steps", 800, "--runs", 2]},
    "problem": {"named": ["pest-control", "-o", "p.json"], "random": ["random", "-o", "p.json"]},
    "compare": {"": ["pest-control", "e.json"]},
    "convert": {"as it is": ["pest-control", "c.json"],
                "timing": ["machine-maintenance", "c.json", "--timing", "after", "--expand"],
                "policy": ["after-plan.json", "c.alpha"], "after": ["after.json", "c.json"]},
    "discretise": {"model": ["real.json", "-o", "m.json"],
                   "log": ["real.json", "--log", "real.csv", "--log-out", "d.csv", "--use",
                           "cells.json"],
                   "random": ["real.json", "--search", "random", "--cells", 4, "-o", "m.json"],
                   "even": ["real.json", "--search", "even", "-o", "m.json"]},
    "filter": {"": ["pest-control", "log.csv", "-o", "b.csv"]},
    "score": {"": ["pest-control", "e.json", "--log", "log.csv"]},
    "calibrate": {"finite": ["labels.csv", "-o", "c.json"],
                  "with names": ["labels.csv", "--model", "pest-control", "-o", "c.json"],
                  "real-valued": ["labels-real.csv", "--model", "real.json", "-o", "c.json"],
                  "one state": ["labels-few.csv", "--model", "real.json", "--unread", "many", "-o",
                                "c.json"],
                  "timing": ["labels-plain.csv", "--timing", "before", "-o", "c.json"],
                  "shown": ["labels.csv"]},
    "forecast": {"exact": ["pest-control", "log.csv", "--actions", "wait"],
                 "drawn": ["g.json", "log.csv", "--actions", "wait", "--reach", "many"],
                 "policy": ["pest-control", "log.csv", "--policy", "plan.json"]},
    "report": {"plain": ["pest-control", "log.csv"],
               "exact": ["pest-control", "log.csv", "--actions", "wait"],
               "drawn": ["g.json", "log.csv", "--actions", "wait", "--reach", "many"]},
    "learn": {"shown": ["pest-control", "--steps", 500, "--agent", "oas-ucrl-ml"],
              "written": ["pest-control", "--steps", 500, "--agent", "psrl", "-o", "r.csv"],
              "settings": ["pest-control", "--settings"]},
    "simulate": {name: ["pest-control", "--policy", name, "--steps", 4, "--runs", 9, "-o", "s.csv"]
                 for name in ("belief", "memoryless", "uniform", "round-robin", "plan.json",
                              "horizon.json")}
    | {"shards": ["pest-control", "--steps", 40, "--runs", 4, "-o", "folder/"],
       "after": ["after.json", "--steps", 40, "-o", "s.csv"]},
    "plan": {"average": PLAN, "written": [*PLAN, "-o", "p.json"], "all": [*PLAN, "--all"],
             "all, drawn": [*PLAN, "--all", "--figure", "a.svg"],
             "radius": [*PLAN, "--radius", 0.02],
             "robust": ["pest-control", "--robust", "--radius", 0.02],
             "robust over draws": ["g.json", "--robust"], "draws": ["g.json", "--steps", 6400],
             "cautious": ["g.json", "--cautious", 0.2, "--steps", 6400, "-o", "p.json"],
             "horizon": ["pest-control", "--horizon", 3],
             "horizon over draws": ["g.json", "--horizon", 3],
             "discount": [*PLAN, "--discount", 0.9], "limit": [*PLAN, "--limit", "many=0.3"],
             "points": [*PLAN, "--planner", "point"], "gap": [*PLAN, "--gap", 0.01]},
    "evaluate": {"plan": ["pest-control", "plan.json"],
                 "horizon": ["pest-control", "horizon.json"],
                 "vectors": ["after.json", "after.alpha"],
                 "graph": ["after.json", "after.pg"],
                 "table": ["pest-control", "--policy", "constant:wait"],
                 "table of beliefs": ["pest-control", "--policy",
                                      "threshold:many>0.3=spray,else=wait"],
                 "table over draws": ["g.json", "--policy", "constant:wait"],
                 "log": ["pest-control", "--policy", "log:log.csv"]},
    "diagnose": {"": ["pest-control", "log.csv"]},
}
# What may be the same, and why.
SAME = {
    ("evaluate", "graph", "start-node"): "the best node is node 0",
    ("evaluate", "graph", "vectors"): "the best node is that of the best vector",
    ("plan", "gap", "work"): "the gap is reached before",
    ("plan", "horizon", "work"): "so few steps need no more",
    ("plan", "horizon", "planner"): "the only one for a horizon",
    ("plan", "horizon over draws", "work"): "so few steps need no more",
    ("plan", "horizon over draws", "planner"): "the only one for a horizon",
    ("plan", "robust", "gap"): "the same graph",
    ("plan", "robust", "planner"): "the same graph",
    ("plan", "robust over draws", "gap"): "the same graph",
    ("calibrate", "finite", "differ-by-action"): "the default",
    ("calibrate", "with names", "differ-by-action"): "the default",
    ("calibrate", "shown", "differ-by-action"): "the default",
    ("calibrate", "timing", "differ-by-action"): "the default",
    ("convert", "after", "timing"): "that is its timing",
    ("discretise", "model", "trials"): "refined, all end in the same cells",
    ("discretise", "model", "seed"): "refined, all end in the same cells",
}


# `check` says what it leaves out for models of a kind; scripts go over models of all kinds.
SAYS_WHAT_IS_LEFT_OUT = {("check", "no transition"), ("check", "real-valued"),
                         ("check", "no reward")}
# Does something for files of other programs: tests/cli/formats_test.py.
ELSEWHERE = {"vectors"}


class EveryOption(CliCase):
    def setUp(self):
        super().setUp()
        self.prepare_models()
        self.prepare_logs()
        self.good("estimate", "pest-control", "log.csv", "-o", "e.json")
        self.good("estimate", "pest-control", "log.csv", "--estimator", "gibbs", "--draws", 80,
                  "-o", "g.json")
        self.good("plan", "pest-control", "--steps", 6400, "-o", "plan.json")
        self.good("plan", "pest-control", "--horizon", 4, "-o", "horizon.json")
        self.good("plan", "after.json", "--steps", 6400, "-o", "after-plan.json")
        for ending in ("pg", "alpha"):
            self.good("convert", "after-plan.json", f"after.{ending}")
        self.good("discretise", "real.json", "--cells", 5, "-o", "cells.json")

    def prepare_models(self):
        self.write_model("blind.json", self.model(transition=None))
        self.write_model("unpaid.json", self.model(reward=None))
        other = self.model()
        other["transition"] = [[row[::-1] for row in matrix] for matrix in other["transition"]]
        self.write_model("other.json", other)
        after = self.model(timing="after")
        after["observation"] = [after["observation"][0]] * len(after["observation"])
        self.write_model("after.json", after)
        real = self.model(observation=None, observations={"dimension": 1})
        real["density"] = [[{"kind": "gaussian", "mean": mean, "sd": 1} for mean in (0, 2)]] * 2
        self.write_model("real.json", real)

    def prepare_logs(self):
        for name, model, seed in (("log.csv", "pest-control", 1), ("other.csv", "pest-control", 2),
                                  ("real.csv", "real.json", 3)):
            self.good("simulate", model, "--steps", 300, "--runs", 4, "--seed", seed, "-o", name)
        self.good("simulate", "pest-control", "--steps", 300, "--state", "-o", "labels.csv")
        self.good("simulate", "real.json", "--steps", 300, "--state", "-o", "labels-real.csv")
        lines = self.read("labels.csv").decode().splitlines()
        self.write("labels-plain.csv", "\n".join(lines[1:]) + "\n")
        lines = self.read("labels-real.csv").decode().splitlines()
        few = [line for line in lines if not line.endswith(",many")]
        self.write("labels-few.csv", "\n".join(few) + "\n")
        self.write("rows.json", json.dumps({"format": "oas-log-options/1", "missing": "0"}))

    def outcome(self, *arguments):
        """Exit code, what was printed without times, and all files that were written."""
        before = {path: path.stat().st_mtime_ns for path in self.folder.rglob("*")}
        result = self.oas(*arguments)
        written = {}
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and before.get(path) != path.stat().st_mtime_ns:
                text = path.read_text(errors="replace")
                written[str(path.relative_to(self.folder))] = re.sub(r'"seconds": .*', "", text)
                if path not in before:
                    path.unlink()
        printed = re.sub(r"\d+\.\d+( s)?\n", "\n", result.stdout)
        return result.returncode, printed, written, result.stderr

    def options_of(self, verb):
        shown = re.findall(r"^ +(?:-\w,)?--([a-z-]+)", self.good(verb, "--help"), re.M)
        return [option for option in dict.fromkeys(shown) if option not in NEUTRAL]

    def check_verb(self, verb):
        shown = self.options_of(verb)
        reads = set(ROWS) & set(shown) - set(VALUES[verb])
        self.assertEqual(set(shown) - reads, set(VALUES[verb]), "options without a value here")
        effective = set()
        for name, call in CALLS[verb].items():
            plain = self.outcome(verb, *call)
            self.assertEqual(plain[0], 0, plain[3])
            for option in shown:
                if f"--{option}" in call:
                    continue
                value = (VALUES[verb] if option in VALUES[verb] else ROWS)[option]
                asked = [f"--{option}"] if value is None else [f"--{option}", value]
                found = self.outcome(verb, *call, *asked)
                with self.subTest(verb=verb, call=name, option=option):
                    if found[0] == 0:
                        same = (verb, name, option) in SAME or (verb, name) in SAYS_WHAT_IS_LEFT_OUT
                        same = same or (option in MAY_FIT & reads and self.reads_log(call))
                        self.assertTrue(same or found[1:3] != plain[1:3],
                                        "given, and nothing came of it")
                        effective.add(option)
                    else:
                        self.assertEqual(found[0], 2, found[3])
                        if option in reads and not self.reads_log(call):
                            self.assertRegex(found[3], "^oas: --")
        never = set(VALUES[verb]) - effective - self.given_in_calls(verb) - ELSEWHERE
        self.assertEqual(never, set(), "refused in every call")

    @staticmethod
    def reads_log(call):
        return any(str(word).endswith(".csv") and word not in ("d.csv", "b.csv") for word in call)

    @staticmethod
    def given_in_calls(verb):
        return {str(word)[2:] for call in CALLS[verb].values() for word in call
                if str(word).startswith("--")}


for _verb in VALUES:
    setattr(EveryOption, f"test_{_verb}", lambda self, verb=_verb: self.check_verb(verb))


class Coverage(CliCase):
    def test_every_verb_is_here(self):
        verbs = set(re.findall(r"^  ([a-z]+) ", self.good("--help").split("ommands:")[-1], re.M))
        others = {"list", "study", "bench", "agent", "estimate"}  # errors_test.py: estimate
        self.assertEqual(verbs - others, set(VALUES))


if __name__ == "__main__":
    unittest.main()
