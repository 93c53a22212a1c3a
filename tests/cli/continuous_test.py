"""Real-valued observations, as a user meets them."""

import csv
import json
import math
import os
import pty
import resource
import select
import subprocess
import unittest

from support import OAS, CaseWithoutDraws


def gaussian(mean, sd=1.0):
    return {"kind": "gaussian", "mean": mean, "sd": sd}


MODEL = {
    "format": "oas-model/1",
    "timing": "before",
    "states": ["low", "mid", "high"],
    "actions": ["look", "act"],
    "observations": {"dimension": 1},
    "transition": [[[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.15, 0.6]],
                   [[0.3, 0.4, 0.3], [0.5, 0.2, 0.3], [0.1, 0.5, 0.4]]],
    "density": [[gaussian(0), gaussian(2), gaussian(4)],
                [{"kind": "gamma", "shape": 2, "scale": 1}, gaussian(-2, 0.5), gaussian(4)]],
    "reward": [[1, 0, 0.5], [0, 1, 0.2]],
}

PLANE = dict(MODEL, observations={"dimension": 2}, density=[
    [[gaussian(m), {"kind": "poisson", "mean": 2 + m}] for m in (0, 3, 6)],
    [[gaussian(m), {"kind": "poisson", "mean": 1 + 4 * m}] for m in (0, 1, 2)]])

DEPENDENT = dict(PLANE, density=[
    [{"kind": "gaussian", "mean": [m, -m], "covariance": [[1, 0.5], [0.5, 1]]} for m in means]
    for means in ((0, 2, 4), (3, 0, 1.5))])


class Continuous(CaseWithoutDraws):
    def setUp(self):
        super().setUp()
        self.write("m.json", json.dumps(MODEL))

    def changed(self, name, **changes):
        document = {k: v for k, v in dict(MODEL, **changes).items() if v is not None}
        return self.write(name, json.dumps(document))

    def error_of(self, model, estimate):
        return self.good_json("compare", model, estimate)["frobenius"]

    def test_the_whole_way(self):
        out = self.good("check", "m.json")
        self.assertIn("1 real number (gamma, gaussian)", out)
        self.assertIn("soft features", out)
        # What a model rules out is no error: scripts go over models of all kinds.
        self.assertEqual(self.good("check", "m.json", "--steps", 500), out)
        self.assertIn("no logs are simulated", out)
        self.good("simulate", "m.json", "--steps", 60000, "--seed", 3, "-o", "log.csv")
        self.good("simulate", "m.json", "--steps", 60000, "--seed", 3, "-o", "again.csv")
        self.assertEqual(self.read("log.csv"), self.read("again.csv"))
        errors = {}
        for name in ("oas", "oas-overlap", "oas-soft", "oas-ml"):
            self.good("estimate", "m.json", "log.csv", "--estimator", name, "-o", "e.json")
            errors[name] = self.error_of("m.json", "e.json")
            about = json.loads(self.read("e.json"))
            self.assertEqual(about["density"], MODEL["density"])
            self.assertGreater(about["estimate"]["alpha"][0], 0.1)
        self.assertLess(errors["oas-ml"], errors["oas-soft"])
        self.assertLess(errors["oas-soft"], 0.15)
        self.assertLess(errors["oas"], 0.5)
        self.assertIn("log-likelihood per row", self.good("score", "e.json", "log.csv"))
        self.good("filter", "e.json", "log.csv", "-o", "beliefs.csv")
        self.assertEqual(self.read("beliefs.csv").splitlines()[0].decode(),
                         "run,step,action,observation,belief_low,belief_mid,belief_high,"
                         "smoothed_low,smoothed_mid,smoothed_high,likeliest")

    def test_cells_for_those_who_need_finite_observations(self):
        self.good("simulate", "m.json", "--steps", 20000, "--runs", 2, "-o", "log.csv")
        found = {}
        for search in ("random", "refined", "even"):
            found[search] = self.good_json("discretise", "m.json", "--cells", 5, "--search", search,
                                           "-o", f"{search}.json")
        self.assertGreater(found["refined"]["alpha"], found["random"]["alpha"])
        out = self.good("discretise", "m.json", "--use", "refined.json", "--log", "log.csv",
                        "--log-out", "cells.csv")
        self.assertIn("split points:", out)
        splits = json.loads(self.read("refined.json"))["cells"]["splits"][0]
        self.assertEqual(splits, found["refined"]["splits"][0])
        rows = [line for line in self.read("log.csv").decode().splitlines() if line[0] != "#"]
        cells = [line for line in self.read("cells.csv").decode().splitlines() if line[0] != "#"]
        self.assertEqual(len(rows), len(cells))
        for row, cell in zip(csv.DictReader(rows), csv.DictReader(cells)):
            self.assertEqual(sum(float(row["observation"]) > c for c in splits),
                             int(cell["observation"]))
            self.assertEqual(row["run"], cell["run"])
        self.good("estimate", "refined.json", "cells.csv", "-o", "e.json")
        self.assertLess(self.error_of("refined.json", "e.json"), 0.3)
        self.good("plan", "refined.json", "-o", "plan.json")
        self.good("learn", "refined.json", "--agent", "uniform", "--steps", 100, "-o", "run.csv")

    def test_cells_of_rows_whose_start_is_unknown_are_refused(self):
        """A log of cells could not say that a unit ran before."""
        rows = "".join(f"{t},look,{t % 5}\n" for t in range(9))
        self.write("timed.csv", "time,action,observation\n" + rows)
        self.good("discretise", "m.json", "-o", "f.json")
        cells = ("discretise", "m.json", "--use", "f.json", "--log", "timed.csv", "--log-out",
                 "cells.csv")
        self.good(*cells)
        self.good(*cells, "--until", 5)
        self.good(*cells, "--from", 0)
        os.remove(self.folder / "cells.csv")
        self.bad(*cells, "--from", 3, says=["--from", "unknown state"])

    def test_a_report_names_the_kind_of_readings(self):
        self.write("p.json", json.dumps(PLANE))
        self.good("simulate", "p.json", "--steps", 60, "-o", "log.csv")
        self.good("report", "p.json", "log.csv", "-o", "r.html")
        page = self.read("r.html").decode()
        self.assertNotIn("1 observation", page)
        self.assertIn("observations: 2 real numbers", page)

    def test_a_policy_is_forecast_where_readings_are_real(self):
        self.good("simulate", "m.json", "--steps", 60, "--runs", 4, "-o", "log.csv")
        self.good("discretise", "m.json", "--cells", 12, "--search", "even", "-o", "f.json",
                  "--log", "log.csv", "--log-out", "cells.csv")
        self.good("plan", "f.json", "--steps", 6400, "-o", "plan.json")
        ahead = ("--reach", "high", "--steps", 9)
        constant = self.good_json("forecast", "m.json", "log.csv", "--policy", "constant:act",
                                  *ahead)["units"]
        scheduled = self.good_json("forecast", "m.json", "log.csv", "--actions", "act",
                                   *ahead)["units"]
        for one, other in zip(constant, scheduled):
            for key in ("reached_within_steps", "mean_steps"):
                self.assertAlmostEqual(one[key]["value"], other[key]["value"], places=6)
        rule = "threshold:high>0.4=act,else=look"
        for policy in ("plan.json", rule):
            real, finite = (self.good_json("forecast", model, log, "--policy", policy,
                                           *ahead)["units"]
                            for model, log in (("m.json", "log.csv"), ("f.json", "cells.csv")))
            for one, other in zip(real, finite):
                self.assertAlmostEqual(one["reached_within_steps"]["value"],
                                       other["reached_within_steps"]["value"], delta=0.08)
        self.bad("forecast", "m.json", "log.csv", "--policy", "log:cells.csv", *ahead,
                 says=["policy log:cells.csv", "real-valued"])

    def test_what_an_estimate_knows_goes_along(self):
        """An action that is hardly ever taken: its flags and error bars stay with T."""
        rows = ["action,observation"] + [f"look,{0.1 * (t * t % 50)}" for t in range(3000)]
        self.write("log.csv", "\n".join(rows) + "\nact,1\nlook,2\n")
        self.good("estimate", "m.json", "log.csv", "-o", "e.json")
        about = json.loads(self.read("e.json"))["estimate"]
        self.assertTrue(about["flagged_rows"])
        self.good("discretise", "e.json", "--cells", 4, "--trials", 20, "-o", "f.json")
        self.assertEqual(json.loads(self.read("f.json"))["estimate"], about)
        self.assertTrue(self.good_json("compare", "f.json", "f.json"))
        self.good("discretise", "m.json", "--cells", 4, "--trials", 20, "-o", "f.json")
        self.assertNotIn("estimate", json.loads(self.read("f.json")))

    def test_many_cells_in_the_plane_take_seconds(self):
        for name, model in (("dependent", DEPENDENT), ("plane", PLANE)):
            self.write("p.json", json.dumps(model))
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            found = self.good_json("discretise", "p.json", "--cells", 16, "-o", "f.json")
            seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            self.assertLess(seconds, 60, name)  # a few; it was minutes
            self.assertEqual(found["cells"], 256)

    def test_work_is_shown_on_a_terminal(self):
        """Never silent for longer than two seconds."""
        self.write("p.json", json.dumps(DEPENDENT))
        leader, follower = pty.openpty()
        process = subprocess.Popen(  # pylint: disable=consider-using-with
            [OAS, "discretise", "p.json", "--cells", "16", "--trials", "40000", "-o", "f.json"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=follower)
        os.close(follower)
        try:
            self.assertTrue(select.select([leader], [], [], 30)[0])
            self.assertIn(b"split points", os.read(leader, 200))
        finally:
            process.kill()
            process.wait()
            os.close(leader)

    def test_vectors(self):
        for model in (DEPENDENT, PLANE):
            self.write("p.json", json.dumps(model))
            self.good("simulate", "p.json", "--steps", 30000, "-o", "log.csv.gz")
            for name in ("oas-soft", "oas-ml"):
                self.good("estimate", "p.json", "log.csv.gz", "--estimator", name, "-o", "e.json")
                self.assertLess(self.error_of("p.json", "e.json"), 0.3, name)
        self.good("discretise", "p.json", "--cells", 3, "--trials", 50, "-o", "f.json", "--log",
                  "log.csv.gz", "--log-out", "f.csv")
        self.good("filter", "p.json", "log.csv.gz", "-o", "b.csv")
        self.assertIn(b"observation_1,observation_2,belief_low", self.read("b.csv"))

    def likelihood_log(self, model, log):
        """The same log as somebody else's network would write it."""
        rows = [line for line in self.read(log).decode().splitlines() if line[0] != "#"]
        lines = ["action,likelihood_low,likelihood_mid,likelihood_high"]
        for row in csv.DictReader(rows):
            x = float(row["observation"])
            values = []
            for d in model["density"][model["actions"].index(row["action"])]:
                if d["kind"] == "gamma":
                    values.append(x * math.exp(-x) if x > 0 else 0.0)
                else:
                    values.append(math.exp(-0.5 * ((x - d["mean"]) / d["sd"]) ** 2)
                                  / d["sd"] / math.sqrt(2 * math.pi))
            lines.append(f"{row['action']},{values[0]!r},{values[1]!r},{values[2]!r}")
        return self.write("likelihoods.csv", "\n".join(lines) + "\n")

    def test_somebody_elses_sensor(self):
        self.good("simulate", "m.json", "--steps", 40000, "-o", "log.csv")
        self.likelihood_log(MODEL, "log.csv")
        self.changed("bare.json", observations=None, density=None)
        self.assertIn("logs must contain likelihoods", self.good("check", "bare.json"))
        self.good("estimate", "m.json", "log.csv", "-o", "a.json")
        self.good("estimate", "bare.json", "likelihoods.csv", "-o", "b.json")
        a = json.loads(self.read("a.json"))["transition"]
        b = json.loads(self.read("b.json"))["transition"]
        self.assertAlmostEqual(a[0][0][0], b[0][0][0], delta=2e-3)
        self.good("estimate", "bare.json", "likelihoods.csv", "--estimator", "oas-soft", "-o",
                  "c.json")
        self.assertLess(self.error_of("m.json", "c.json"), 0.2)
        # A model with finite sensors takes likelihoods too, and keeps its sensors.
        self.good("discretise", "m.json", "-o", "finite.json")
        self.good("estimate", "finite.json", "likelihoods.csv", "-o", "d.json")
        d = json.loads(self.read("d.json"))
        self.assertAlmostEqual(d["transition"][0][0][0], b[0][0][0], delta=1e-9)
        self.assertIn("observation", d)
        self.good("score", "b.json", "likelihoods.csv")
        self.bad("simulate", "bare.json", "--steps", 5, "-o", "x.csv", says=["neither"])
        self.bad("discretise", "bare.json", "-o", "x.json", says=["no densities"])
        self.bad("estimate", "bare.json", "likelihoods.csv", "--estimator", "oas",
                 says=["needs the densities", "oas-soft"])

    def test_after_needs_propensities_for_moments(self):
        self.changed("after.json", timing="after")
        self.good("simulate", "after.json", "--steps", 60000, "-o", "log.csv")
        self.good("estimate", "after.json", "log.csv", "--estimator", "oas-soft", "-o", "e.json")
        self.assertLess(self.error_of("after.json", "e.json"), 0.4)
        self.write("bare.csv", "action,observation\nlook,1\nact,2\nlook,1\n")
        for name in ("oas-soft", "oas-overlap"):
            self.bad("estimate", "after.json", "bare.csv", "--estimator", name,
                     says=["bare.csv", "propensity", "--actions-ignore-observations"])

    def test_bad_logs(self):
        def bad(text, *says, model="m.json"):
            self.write("log.csv", text)
            self.bad("estimate", model, "log.csv", "-o", "e.json", says=["log.csv", *says])

        self.changed("table.json", density=[[{"kind": "table", "edges": [0, 1],
                                              "probability": [1]}] * 3] * 2)
        bad("action,observation\nlook,0.5\nlook,1.5\n", ":3:", "1.5", "density 0 in every state",
            model="table.json")
        bad("action,observation\nlook,much\n", ":2:2:", "'much' is not a number")
        bad("action,observation\nlook,nan\n", ":2:2:", "not finite")
        bad("action,observation\nlook\n", ":2:", "1 field")
        bad("action,observation_1\nlook,1\nwait,1\n", ":3:1:", "'wait'")
        bad("action,observation_2\n", ":1:", "observation_2")
        bad("action,likelihood_low\n", ":1:", "1 likelihood columns for 3 states")
        names = "action,likelihood_1,likelihood_2,likelihood_3\n"
        bad(names + "look,0,0,0\n", ":2:", "0 in every state")
        bad(names + "look,1,1,1\nlook,1,-1,1\n", ":3:3:", "negative")
        bad(names + "look,1,one,1\n", ":2:3:", "not a number")
        bad(names + "look,1,1\n", ":2:", "3 fields where the header has 4")

    def test_bad_models(self):
        def bad(density, *says):
            self.changed("bad.json", density=[[density, gaussian(1), gaussian(2)]] * 2)
            self.bad("check", "bad.json", says=["bad.json: $.density[0]", *says])

        bad(gaussian(0, -1), "sd is -1")
        bad({"kind": "normal"}, "found \"normal\"")
        bad({"kind": "poisson", "mean": 1}, "is poisson", "count")
        bad(dict(gaussian(0), more=1), "more")
        self.changed("bad.json", observations=4)
        self.bad("check", "bad.json", says=["$.observations", "dimension"])
        self.changed("bad.json", observation_reward=[1])
        self.bad("check", "bad.json", says=["observation_reward"])
        self.changed("bad.json", density=[[gaussian(0)] * 3])
        self.bad("check", "bad.json", says=["$.density", "2 entries, one for each action"])

    def test_bad_usage(self):
        self.good("simulate", "m.json", "--steps", 100, "-o", "log.csv")
        for verb in (("plan", "m.json"), ("learn", "m.json", "--steps", 10),
                     ("convert", "m.json", "x.pomdp")):
            self.bad(*verb, *(() if verb[0] == "convert" else ("-o", "x")),
                     says=["m.json", "finite", "oas discretise"])
        self.bad("estimate", "m.json", "log.csv", "--estimator", "spectral",
                 says=["spectral", "oas discretise"])
        self.bad("estimate", "m.json", "log.csv", "-o", "x.pomdp", says=["only .json"])
        self.bad("estimate", "m.json", "log.csv", "--estimator", "oas", "--cells", 2,
                 says=["2 cells cannot tell 3 states apart"])
        self.bad("estimate", "m.json", "log.csv", "--estimator", "oas", "--search", "best",
                 says=["'best'", "refined"])
        self.bad("discretise", "m.json", says=["nothing to write"])
        self.bad("discretise", "m.json", "--log", "log.csv", says=["--log-out"])
        self.bad("discretise", "m.json", "-o", "x.pomdp", says=["x.pomdp", ".json"])
        self.bad("discretise", "pest-control", "-o", "x.json", says=["finite already"])
        self.bad("discretise", "m.json", "--use", "m.json", "--trials", 9, "-o", "x.json",
                 says=["--trials: nothing is searched for, m.json has the split points"])
        self.bad("estimate", "m.json", "log.csv", "--cells", 5,
                 says=["--cells: oas-ml does not use it; oas, oas-overlap, "])
        self.bad("estimate", "m.json", "log.csv", "--sensors", "exact", says=["--sensors: only"])
        self.bad("discretise", "m.json", "--use", "m.json", "-o", "x.json",
                 says=["m.json", "\"cells\" is missing"])


if __name__ == "__main__":
    unittest.main()
