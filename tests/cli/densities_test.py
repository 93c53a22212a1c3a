"""`oas calibrate` on real-valued readings, and what becomes of its uncertainty."""

import json
import random
import unittest

from support import CliCase

STATES = ("good", "worn")


def model(**changes):
    gaussian = [{"kind": "gaussian", "mean": 2.0 * s, "sd": 1} for s in range(2)]
    document = {"format": "oas-model/1", "timing": "before", "states": list(STATES),
                "actions": ["run", "stop"], "observations": {"dimension": 1}, "start": [0.5, 0.5],
                "transition": [[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.5, 0.5]]],
                "density": [gaussian, gaussian]}
    document.update(changes)
    return document


class Densities(CliCase):
    def labelled(self, name, rows=120, kind=random.gauss, seed=1, timing="before"):
        """Labelled rows of two states whose reading is kind(2 s, 1)."""
        random.seed(seed)
        lines = [f"# oas-log/1 timing={timing}", "action,vib,state"]
        for t in range(rows):
            state = t % 2
            lines.append(f"{random.choice(['run', 'stop'])},{kind(2 * state, 1)},{STATES[state]}")
        return self.write(name, "\n".join(lines) + "\n")

    def setUp(self):
        super().setUp()
        self.columns = ("--columns", "observation=vib")

    def test_from_labels_to_error_bars(self):
        """The whole road; error bars grow by what the labels leave open."""
        self.write_model("truth.json", model())
        self.labelled("labels.csv")
        out = self.good("calibrate", "labels.csv", "--model", "truth.json", *self.columns,
                        "-o", "m.json", "--figure", "m.svg")
        self.assertIn("120 labelled rows, normal densities", out)
        found = json.loads(self.read("m.json"))
        self.assertEqual(found["density"][0], found["density"][1])
        self.assertEqual(len(found["density_draws"]["draws"]), 40)
        self.assertEqual(len(found["density_draws"]["draws"][0]), 1)
        self.assertEqual(found["density_draws"]["labelled_rows"], 120)
        self.assertEqual(found["transition"], model()["transition"])
        for s in range(2):
            self.assertAlmostEqual(found["density"][0][s]["mean"], 2 * s, delta=0.7)
        self.assertIn(b"</svg>", self.read("m.svg"))
        self.good("simulate", "truth.json", "--policy", "uniform", "--steps", 800, "--seed", 4,
                  "-o", "log.csv")
        for estimator in ("oas-ml", "gibbs", "oas-soft"):
            with self.subTest(estimator):
                how = ("--estimator", estimator)
                out = self.good("estimate", "m.json", "log.csv", *how, "-o", "e.json")
                self.assertIn("sensors are uncertain: calibrated from 120 labelled rows", out)
                self.good("estimate", "m.json", "log.csv", *how, "--sensors", "exact",
                          "-o", "x.json")
                wide = json.loads(self.read("e.json"))
                narrow = json.loads(self.read("x.json"))
                self.assertEqual(wide["transition"], narrow["transition"])
                self.assertIn("density_draws", wide)
                self.assertEqual(wide["estimate"]["labelled_rows"], 120)
                self.assertNotIn("labelled_rows", narrow["estimate"])
                for a in range(2):
                    for s in range(2):
                        self.assertGreater(wide["estimate"]["standard_error"][a][s][0],
                                           narrow["estimate"]["standard_error"][a][s][0])
                # Same bytes on any number of threads.
                self.good("estimate", "m.json", "log.csv", *how, "--threads", 3, "-o", "f.json")
                self.assertEqual(self.read("e.json"), self.read("f.json"))
        # The estimate can be used as a model, and estimated with again.
        self.good("filter", "e.json", "log.csv", "-o", "b.csv")
        self.good("compare", "truth.json", "e.json")
        with open(self.folder / "log.csv") as log:
            result = self.oas("estimate", "m.json", "-", stdin=log.read())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("taken as exact", result.stderr)

    def test_names_come_from_the_log(self):
        self.labelled("labels.csv")
        self.good("calibrate", "labels.csv", "--family", "auto", *self.columns, "-o", "m.json")
        found = json.loads(self.read("m.json"))
        self.assertEqual(found["states"], ["good", "worn"])
        self.assertEqual(found["actions"], ["run", "stop"])
        self.assertEqual(found["timing"], "before")
        self.assertEqual(found["calibration"]["columns"], ["vib"])
        both = self.good_json("calibrate", "labels.csv", "--family", "kernel", "--by-action",
                              *self.columns)
        self.assertEqual(both["families"], ["kernel"])
        self.assertFalse(both["same_for_all_actions"])
        after = self.labelled("after.csv", timing="after")
        self.assertEqual(self.good_json("calibrate", after, "--family", "normal",
                                        *self.columns)["unused_rows"], 1)

    def test_vectors_with_empty_cells(self):
        random.seed(3)
        lines = ["action,observation_1,observation_2,state"]
        for t in range(200):
            s = t % 2
            cells = [f"{random.gauss(3 * s, 1):.3f}", f"{random.lognormvariate(s, 0.5):.3f}"]
            if t % 5 == 0:
                cells[t % 2] = ""
            lines.append(f"0,{cells[0]},{cells[1]},{s}")
        self.write("labels.csv", "\n".join(lines) + "\n")
        about = self.good_json("calibrate", "labels.csv", "--timing", "before")
        self.assertEqual(about["families"], ["normal", "log-normal"])
        self.assertEqual(len(about["scores"]), 3)
        self.good("calibrate", "labels.csv", "--timing", "before", "--family", "normal+log-normal",
                  "-o", "m.json")
        self.good("estimate", "m.json", "labels.csv", "--columns", "state=")
        self.good("estimate", "m.json", "labels.csv", "--known-states")

    def test_outliers(self):
        self.write_model("m.json", model(density=[[{"kind": "gamma", "shape": 2 + 3 * s, "scale": 1}
                                                   for s in range(2)]] * 2))
        random.seed(5)
        lines = ["action,observation"]
        lines += [f"run,{random.gammavariate(2 + 3 * (t // 10 % 2), 1)}" for t in range(300)]
        self.write("log.csv", "\n".join(lines + ["run,-1"]) + "\n")
        place = "log.csv:302:2"
        for verb in (("estimate", "m.json", "log.csv"), ("score", "m.json", "--log", "log.csv"),
                     ("filter", "m.json", "log.csv", "-o", "out.csv")):
            self.bad(*verb, says=[place, "-1", "density 0"])
            for policy in ("missing", "0.02"):
                self.good(*verb, "--outliers", policy)
            (self.folder / "out.csv").unlink(missing_ok=True)
            self.bad(*verb, "--outliers", "often", says=["outliers", "'often'"])
        self.bad("estimate", "m.json", "log.csv", "--estimator", "oas-soft", "--outliers", 0.1,
                 says=["outliers", "oas-soft"])
        self.good("simulate", "pest-control", "--steps", 100, "-o", "finite.csv")
        self.bad("estimate", "pest-control", "finite.csv", "--outliers", "missing",
                 says=["finite.csv", "outliers"])

    def test_bad_labels(self):
        calibrate = ("calibrate", "l.csv", "--timing", "before", "-o", "m.json", "--family")

        def bad(rows, *says, family="auto"):
            self.write("l.csv", "action,observation,state\n" + "\n".join(rows) + "\n")
            self.bad(*calibrate, family, says=["l.csv", *says])

        def rows(readings, state):
            return [f"0,{x},{state}" for x in readings]

        good = rows(range(1, 21), "a") + rows(range(3, 23), "b")
        bad(good + ["0,-2.5,a"], ":42:2", "column 'observation'", "state 'a'", "-2.5",
            "not positive", family="gamma")
        bad(good + ["0,0,a"], ":42:2", "not positive", family="log-normal")
        bad(rows([7] * 20, "a") + rows(range(20), "b"), ":2:2", "state 'a'",
            "all 20 readings are 7")
        bad(rows([7] * 20, "a") + rows(range(20), "b"), "all 20 readings are 7", family="normal")
        bad(good + rows([1, 2], "c"), "state 'c'", "2 labelled readings")
        bad(rows(range(20), "a"), "one state, 'a'")
        bad(good + ["0,nan,a"], ":42:2", "'nan' is not finite")
        bad(good + ["0,-inf,a"], ":42:2", "'-inf' is not finite")
        bad(good + ["0,high,a"], ":42:2", "'high' is not a number")
        bad(["0,1,", "0,2,"], "state is empty throughout")
        self.write_model("names.json", {k: v for k, v in model().items()
                                        if k not in ("density", "observations")})
        self.write("l.csv", "action,observation,state\nrun,1,good\nrun,2,broken\n")
        self.bad("calibrate", "l.csv", "--model", "names.json", says=["l.csv:3:3", "'broken'"])
        self.write("l.csv", "action,observation,state\nrun,1,\nrun,2,\n")
        self.bad("calibrate", "l.csv", "--model", "names.json",
                 says=["l.csv", "no row to calibrate from"])
        self.write("l.csv", "action,observation\nrun,1\n")
        self.bad("calibrate", "l.csv", "--model", "names.json", says=["l.csv", "is missing"])
        self.bad("calibrate", "l.csv", "--family", "normal", "--timing", "before",
                 says=["'state' is missing"])

    def test_bad_usage(self):
        self.labelled("l.csv")
        calibrate = ("calibrate", "l.csv", *self.columns)
        self.bad(*calibrate, "--family", "weibull", says=["'weibull'", "log-normal"])
        self.bad(*calibrate, "--family", "normal+gamma", says=["names 2 components"])
        self.bad(*calibrate, "--family", "joint-normal", says=["single numbers"])
        self.bad(*calibrate, "--family", "normal", "--prior", 1, says=["--prior"])
        self.bad(*calibrate, "--family", "normal", "--differ-by-action", says=["--by-action"])
        self.bad(*calibrate, "--family", "normal", "--draws", 3, says=["--draws", "20"])
        self.bad(*calibrate, "--family", "normal", "--figure", "x.pdf", says=["x.pdf", ".svg"])
        self.bad(*calibrate, "--family", "normal", "-o", "x.pomdp", says=["x.pomdp", ".json"])
        self.bad(*calibrate, "--by-action", says=["--by-action"])
        self.assertIn("--family auto", self.oas(*calibrate, "--prior", 1).stderr)
        self.bad("calibrate", "-", "--family", "normal", "--timing", "before", stdin="x",
                 says=["pipe"])
        self.write_model("two.json", model(observations={"dimension": 2}, density=None))
        self.bad(*calibrate, "--model", "two.json", says=["two.json", "dimension 2"])
        self.good("calibrate", "l.csv", *self.columns, "--family", "normal", "-o", "m.json")
        self.write("log.csv", "action,observation\nrun,1\n")
        self.write_model("plain.json", model())
        self.bad("estimate", "plain.json", "log.csv", "--sensors", "uncertain",
                 says=["--sensors: only", "calibrated"])
        broken = json.loads(self.read("m.json"))
        broken["density_draws"]["draws"][3][0].pop()
        self.write_model("broken.json", broken)
        self.bad("check", "broken.json", says=["$.density_draws.draws[3][0]", "2 entries"])


if __name__ == "__main__":
    unittest.main()
