"""Likelihood estimators and `oas score`, as a user meets them."""

import json
import unittest

from support import CaseWithoutDraws


class Likelihood(CaseWithoutDraws):
    def test_a_row_that_the_start_rules_out_is_named(self):
        """Finite and real-valued, in memory and read again."""
        finite = {"format": "oas-model/1", "timing": "before", "states": ["a", "b"],
                  "actions": ["x"], "observations": ["o", "p"], "start": [1, 0],
                  "observation": [[[1, 0], [0, 1]]]}
        boxes = [{"kind": "table", "edges": [low, low + 1], "probability": [1]} for low in (0, 2)]
        real = dict(finite, observations={"dimension": 1}, density=[boxes])
        del real["observation"]
        self.write("finite.json", json.dumps(finite))
        self.write("real.json", json.dumps(real))
        self.write("finite.csv", "run,action,observation\n1,x,o\n1,x,p\n2,x,p\n")
        self.write("real.csv", "run,action,observation\n1,x,0.5\n1,x,2.5\n2,x,2.5\n")
        for kind in ("finite", "real"):
            for options in (("--estimator", "oas-ml"), ("--estimator", "em", "--memory", 0),
                            ("--estimator", "gibbs")):
                self.bad("estimate", f"{kind}.json", f"{kind}.csv", *options,
                         says=[f"{kind}.csv:4:", "row 3", "the start rules it out"])

    def test_beats_the_moments(self):
        self.good("simulate", "machine-maintenance", "--steps", 200000, "-o", "log.csv")
        errors = {}
        for name in ("oas", "oas-overlap", "oas-ml"):
            self.good("estimate", "machine-maintenance", "log.csv", "--estimator", name, "-o",
                      "e.json")
            errors[name] = self.good_json("compare", "machine-maintenance", "e.json")["frobenius"]
        self.assertLess(errors["oas-ml"], 0.9 * errors["oas-overlap"])
        self.assertLess(errors["oas-overlap"], errors["oas"])

    def test_is_the_default_and_says_what_it_did(self):
        self.good("simulate", "pest-control", "--steps", 20000, "-o", "log.csv")
        out = self.good("estimate", "pest-control", "log.csv", "-o", "a.json")
        self.assertIn("oas-ml: log-likelihood", out)
        self.assertIn("observed information", out)
        self.assertIn("fit of the sensors: p =", out)
        about = json.loads(self.read("a.json"))["estimate"]
        self.assertLess(about["log_likelihood"], 0)
        self.assertGreater(about["fit_p_value"], 1e-4)
        self.assertLess(about["passes"], 50)  # 42

    def test_pipes(self):
        """A pipe is fine as long as its rows fit into the memory allowed."""
        self.good("simulate", "pest-control", "--steps", 5000, "-o", "log.csv")
        text = self.read("log.csv").decode()
        self.good("estimate", "pest-control", "-", "-o", "a.json", stdin=text)
        self.good("estimate", "pest-control", "log.csv", "--memory", 0.001, "-o", "b.json")
        self.bad("estimate", "pest-control", "-", "--memory", 0.001, "-o", "c.json", stdin=text,
                 says=["standard input", "pipe", "more memory"])
        self.bad("estimate", "pest-control", "log.csv", "--memory", -1, says=["-1"])
        self.bad("estimate", "pest-control", "log.csv", "--prior", -1, says=["prior", "-1"])

    def test_a_blind_sensor_is_no_obstacle(self):
        model = self.model()
        model["observation"][1][1] = model["observation"][1][0]
        self.write("blind.json", json.dumps(model))
        self.good("simulate", "blind.json", "--policy", "uniform", "--steps", 100000, "-o",
                  "log.csv")
        self.good("estimate", "blind.json", "log.csv", "-o", "e.json")
        self.assertLess(self.good_json("compare", "blind.json", "e.json")["frobenius"], 0.1)

    def test_wrong_sensors_are_found_out(self):
        self.good("simulate", "pest-control", "--steps", 50000, "-o", "log.csv")
        model = self.model()
        model["observation"][0][0] = model["observation"][0][0][::-1]
        self.write("wrong.json", json.dumps(model))
        result = self.oas("estimate", "wrong.json", "log.csv", "-o", "e.json")
        self.assertEqual(result.returncode, 0)
        self.assertIn("does not fit the sensors", result.stderr)
        self.assertIn("nor in timing after", result.stderr)

    def test_a_wrong_timing_is_named(self):
        self.good("simulate", "machine-maintenance", "--steps", 50000, "-o", "log.csv")
        log = self.read("log.csv").decode()
        self.write("bare.csv", log[log.index("\n") + 1:])
        model = self.model("machine-maintenance")
        right, wrong = model["timing"], "after" if model["timing"] == "before" else "before"
        self.write_model("wrong.json", dict(model, timing=wrong))
        said = self.oas("estimate", "wrong.json", "bare.csv").stderr
        self.assertIn(f"does not fit the sensors of the model in timing {wrong} (p = ", said)
        self.assertIn(f"it does in timing {right} (p = ", said)

    def test_same_bytes_for_any_number_of_threads(self):
        self.good("simulate", "robot-corridor", "--steps", 30000, "--runs", 3, "-o", "log.csv")
        for threads in (1, 2, 4):
            self.good("estimate", "robot-corridor", "log.csv", "--threads", threads,
                      "--carried-draws", 40, "-o", f"{threads}.json")
        self.assertEqual(self.read("1.json"), self.read("2.json"))
        self.assertEqual(self.read("1.json"), self.read("4.json"))


class Forgetting(CaseWithoutDraws):
    def test_recent_rows_count(self):
        """Dynamics that changed half-way: who forgets sees the new ones."""
        old = self.model("pest-control")
        new = json.loads(json.dumps(old))
        for matrix in new["transition"]:
            matrix[0], matrix[1] = matrix[1], matrix[0]
        self.write_model("old.json", old)
        self.write_model("new.json", new)
        self.good("simulate", "old.json", "--policy", "uniform", "--steps", 50000, "-o", "a.csv")
        self.good("simulate", "new.json", "--policy", "uniform", "--steps", 50000, "-o", "b.csv")
        self.good("simulate", "new.json", "--policy", "uniform", "--steps", 50000, "--seed", 2,
                  "-o", "later.csv")
        for estimator in ("oas", "oas-overlap", "oas-weighted", "oas-ml", "em"):
            errors = []
            for options in ((), ("--half-life", 5000), ("--window", 40000)):
                age = ("--age", "log") if options else ()
                out = self.good("estimate", "old.json", "a.csv", "b.csv", "--estimator", estimator,
                                *options, *age, "-o", "e.json")
                self.assertEqual("worth" in out, bool(options))
                errors.append(self.good_json("compare", "new.json", "e.json")["frobenius"])
            self.assertLess(errors[1], 0.5 * errors[0])
            self.assertLess(errors[2], 0.5 * errors[0])
            about = json.loads(self.read("e.json"))["estimate"]
            self.assertAlmostEqual(about["effective_rows"], 40000, delta=1)
        self.good("estimate", "old.json", "a.csv", "b.csv", "-o", "all.json")
        report = self.good_json("score", "all.json", "e.json", "--log", "later.csv")
        self.assertGreater(report["models"][1]["difference"], 0)

    def test_threads_change_nothing(self):
        for seed in (1, 2):
            self.good("simulate", "robot-corridor", "--steps", 15000, "--runs", 2, "--seed", seed,
                      "-o", f"{seed}.csv")
        for estimator, draws in (("oas-overlap", []), ("oas-ml", ["--carried-draws", 40])):
            for age in ("run", "log"):
                for threads in (1, 4):
                    self.good("estimate", "robot-corridor", "1.csv", "2.csv", "--half-life", 3000,
                              "--estimator", estimator, "--actions-ignore-observations", "--age",
                              age, "--threads", threads, *draws, "-o", f"{threads}.json")
                self.assertEqual(self.read("1.json"), self.read("4.json"))

    def test_a_window_is_the_last_rows_of_every_unit(self):
        """Units that were watched side by side and changed: each one's last rows count."""
        old = self.model("pest-control")
        new = json.loads(json.dumps(old))
        for matrix in new["transition"]:
            matrix[0], matrix[1] = matrix[1], matrix[0]
        self.write_model("old.json", old)
        self.write_model("new.json", new)
        head, units, ends = "", [], []
        for unit in range(6):
            rows = []
            for name in ("old", "new"):
                self.good("simulate", f"{name}.json", "--policy", "uniform", "--steps", 8000,
                          "--seed", unit, "-o", "part.csv")
                lines = self.read("part.csv").decode().splitlines()
                head = lines[1]
                rows += lines[2:]
            units.append(rows)
            ends.append(rows[-8000:])
        self.assertNotIn("run", head)
        for name, parts in (("all", units), ("ends", ends)):
            self.write(f"{name}.csv", f"run,{head}\n" + "".join(
                f"{unit},{row}\n" for unit, rows in enumerate(parts) for row in rows))
        for estimator in ("oas-overlap", "oas-ml"):
            run = ("estimate", "old.json", "all.csv", "--estimator", estimator, "-o", "e.json")
            errors = {}
            for age in ("run", "log"):
                self.good(*run, "--window", 8000, "--age", age)
                errors[age] = self.good_json("compare", "new.json", "e.json")["frobenius"]
                about = json.loads(self.read("e.json"))["estimate"]
                self.assertAlmostEqual(about["effective_rows"], 48000 if age == "run" else 8000,
                                       delta=1)
            self.assertLess(errors["run"], errors["log"])
            self.good(*run, "--window", 8000, "--age", "run")
            windowed = json.loads(self.read("e.json"))
            self.good("estimate", "old.json", "ends.csv", "--estimator", estimator, "-o", "e.json")
            plain = json.loads(self.read("e.json"))
            for a, matrix in enumerate(plain["transition"]):
                for s, row in enumerate(matrix):
                    for value, expected in zip(windowed["transition"][a][s], row):
                        self.assertAlmostEqual(value, expected, delta=0.01)
            says = ["6 runs", "--age run", "--age log"]
            (self.folder / "e.json").unlink()
            self.bad(*run, "--window", 8000, says=says)
            self.bad(*run, "--half-life", 8000, says=says)
        self.bad("estimate", "old.json", "ends.csv", "all.csv", "--window", 90, says=["12 runs"])
        self.bad("estimate", "old.json", "all.csv", "--age", "run", says=["half-life"])
        self.bad("estimate", "old.json", "all.csv", "--window", 9, "--age", "unit", says=["unit"])

    def test_faults_are_named(self):
        self.good("simulate", "pest-control", "--steps", 500, "-o", "log.csv")
        estimate = ("estimate", "pest-control", "log.csv", "-o", "e.json")
        self.bad(*estimate, "--half-life", 0.5, says=["half-life", "0.5"])
        self.bad(*estimate, "--half-life", "nan", says=["half-life"])
        self.bad(*estimate, "--window", -3, says=["window", "-3"])
        self.bad(*estimate, "--window", "many", says=["many"])
        for name in ("particle", "spectral"):
            self.bad(*estimate, "--window", 100, "--estimator", name,
                     says=[f"--window: {name} does not use it"])


class Weighted(CaseWithoutDraws):
    def test_a_blind_sensor_does_not_stop_the_others(self):
        model = self.model("machine-maintenance")
        model["observation"][0] = [[0.25] * 4] * 4
        self.write_model("blind.json", model)
        self.good("simulate", "blind.json", "--steps", 200000, "-o", "log.csv")
        weighted = ("estimate", "blind.json", "log.csv", "--estimator", "oas-weighted")
        self.good(*weighted, "-o", "e.json")
        about = json.loads(self.read("e.json"))
        self.assertEqual({row["action"] for row in about["estimate"]["flagged_rows"]}, {"run"})
        for estimated, true in zip(about["transition"][2], model["transition"][2]):
            for value, truth in zip(estimated, true):
                self.assertAlmostEqual(value, truth, delta=0.15)
        self.bad("estimate", "blind.json", "log.csv", "--estimator", "oas-overlap", says=["run"])
        rows = self.read("log.csv").decode().splitlines()[1:]
        bare = [",".join(row.split(",")[:2]) for row in rows]
        self.write("bare.csv", "\n".join(bare) + "\n")
        self.bad("estimate", "blind.json", "bare.csv", "--estimator", "oas-weighted",
                 says=["'run'", "propensity", "oas-ml"])
        self.bad("estimate", "blind.json", "-", "--estimator", "oas-weighted", stdin="x",
                 says=["standard input", "twice"])

    def test_threads_and_files(self):
        self.good("simulate", "robot-corridor", "--steps", 20000, "-o", "a.csv")
        self.good("simulate", "robot-corridor", "--steps", 20000, "--seed", 2, "-o", "b.csv")
        for threads in (1, 4):
            self.good("estimate", "robot-corridor", "a.csv", "b.csv", "--estimator", "oas-weighted",
                      "--threads", threads, "-o", f"{threads}.json")
        self.assertEqual(self.read("1.json"), self.read("4.json"))


class Structure(CaseWithoutDraws):
    def test_known_zeros_and_equal_rows_help(self):
        model = self.model("network-link")
        for matrix in model["transition"]:
            matrix[0] = [0.9, 0.1] + [0.0] * (len(matrix[0]) - 2)
        self.write_model("m.json", model)
        self.good("simulate", "m.json", "--steps", 20000, "-o", "log.csv")
        self.good("estimate", "m.json", "log.csv", "-o", "free.json")
        self.write("s.json", '{"format": "oas-structure/1", "tied": [[["*", 0]]]}')
        out = self.good("estimate", "m.json", "log.csv", "--structure", "zeros-of-model",
                        "--structure", "s.json", "-o", "known.json")
        self.assertIn("known zeros", out)
        about = json.loads(self.read("known.json"))
        self.assertIn("rows equal to others", about["estimate"]["structure"])
        self.assertEqual(about["transition"][0][0], about["transition"][1][0])
        self.assertEqual(about["transition"][0][0][2:], model["transition"][0][0][2:])
        self.assertEqual(about["estimate"]["standard_error"][0][0][2], 0)
        errors = [self.good_json("compare", "m.json", name)["frobenius"]
                  for name in ("free.json", "known.json")]
        self.assertLess(errors[1], errors[0])
        self.good("estimate", "m.json", "log.csv", "--structure", "same-for-all-actions",
                  "--estimator", "em")

    def test_faults_are_named(self):
        self.good("simulate", "pest-control", "--steps", 500, "-o", "log.csv")
        estimate = ("estimate", "pest-control", "log.csv", "-o", "e.json")
        self.bad(*estimate, "--structure", "none.json", says=["none.json", "zeros-of-model"])
        for name in ("oas", "oas-overlap", "particle", "spectral"):
            self.bad(*estimate, "--structure", "zeros-of-model", "--estimator", name,
                     says=[f"--structure: {name} does not use it; oas-ml, em, gibbs do"])
        self.bad(*estimate, "--structure", "zeros-of-model", "--error-bars", "block-bootstrap",
                 says=["--structure: bootstraps do not support it"])
        self.write("cut.json", '{"format": "oas-struc')
        self.bad(*estimate, "--structure", "cut.json", says=["cut.json:1"])
        self.write("old.json", '{"format": "oas-structure/0"}')
        self.bad(*estimate, "--structure", "old.json", says=["$.format", "oas-structure/0"])
        self.write("big.json", '{"format": "oas-structure/1", "entries": [[0, 0, 0, 2]]}')
        self.bad(*estimate, "--structure", "big.json", says=["big.json", "$.entries[0][3]", "2"])
        self.write("a.json", '{"format": "oas-structure/1", "entries": [[0, 0, 0, 0.5]]}')
        self.write("b.json", '{"format": "oas-structure/1", "entries": [[0, 0, 0, 0.4]]}')
        self.bad(*estimate, "--structure", "a.json", "--structure", "b.json", says=["0.5", "0.4"])
        self.write("hidden.json", json.dumps(self.model(transition=None)))
        self.bad("estimate", "hidden.json", "log.csv", "--structure", "zeros-of-model",
                 says=["no transition"])

    def test_a_log_that_the_zeros_rule_out(self):
        model = self.model()
        states = len(model["states"])
        for action in range(len(model["actions"])):
            model["observation"][action] = [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]
        model["observations"] = 3
        model.pop("observation_reward", None)
        self.assertEqual(states, 2)
        self.write_model("m.json", model)
        self.write("never.json", json.dumps(
            {"format": "oas-structure/1", "entries": [["*", 1, 0, 0]]}))
        self.write("log.csv", "action,observation\n" + "0,0\n" * 3 + "0,1\n" * 4 + "1,0\n" * 2)
        for estimator in ("oas-ml", "gibbs"):
            self.bad("estimate", "m.json", "log.csv", "--structure", "never.json", "-o", "e.json",
                     "--estimator", estimator, says=["log.csv:9:", "row 8", "structure"])


class FadingRows(CaseWithoutDraws):
    def test_fading_rows_still_determine_a_model(self):
        self.good("simulate", "machine-maintenance", "--steps", 60000, "-o", "log.csv")
        for weights in (("--half-life", 10000), ("--half-life", 10000000), ("--window", 20000)):
            result = self.oas("estimate", "machine-maintenance", "log.csv", *weights, "-o",
                              "e.json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("not determined", result.stderr)
            errors = json.loads(self.read("e.json"))["estimate"]["standard_error"]
            self.assertTrue(all(0 < e < 0.5 for a in errors for row in a for e in row), weights)

    def test_where_nothing_is_determined_no_region_is_shown(self):
        self.good("simulate", "machine-maintenance", "--steps", 5000, "-o", "log.csv")
        out = self.good("estimate", "machine-maintenance", "log.csv", "--half-life", 2,
                        "--window", 2)
        self.assertNotIn("regions", out)


class ErrorBars(CaseWithoutDraws):
    def test_regions_are_written_and_shown(self):
        self.good("simulate", "pest-control", "--steps", 20000, "-o", "log.csv")
        for name in ("oas", "oas-ml", "particle"):
            out = self.good("estimate", "pest-control", "log.csv", "--estimator", name,
                            "--simultaneous", "all", "-o", "e.json")
            self.assertIn("holds all rows at once with 95 %", out)
            regions = json.loads(self.read("e.json"))["estimate"]["simultaneous"]
            self.assertGreater(regions["all"]["factor"][0][0], regions["row"]["factor"][0][0])
            self.assertGreater(regions["all"]["l1"][1][1], regions["row"]["l1"][1][1])
        self.assertIn("--simultaneous row|all",
                      self.good("estimate", "pest-control", "log.csv", "--estimator", "oas"))
        self.good("compare", "pest-control", "e.json")

    def test_bootstraps(self):
        self.good("simulate", "pest-control", "--policy", "uniform", "--steps", 5000, "--runs", 2,
                  "-o", "log.csv")
        for name in ("oas-overlap", "oas-ml"):
            for kind in ("block-bootstrap", "parametric-bootstrap"):
                for threads in (1, 3):
                    out = self.good("estimate", "pest-control", "log.csv", "--estimator", name,
                                    "--error-bars", kind, "--resamples", 50, "--seed", 3,
                                    "--threads", threads, "-o", f"{threads}.json")
                    self.assertIn(f"{kind}, 50 resamples", out)
                self.assertEqual(self.read("1.json"), self.read("3.json"))
                about = json.loads(self.read("1.json"))["estimate"]
                self.assertEqual((about["error_bars"], about["resamples"]), (kind, 50))

    def test_reacting_policies_are_warned_of(self):
        for policy, warned in (("belief", True), ("uniform", False)):
            self.good("simulate", "pest-control", "--policy", policy, "--steps", 5000, "-o",
                      "log.csv")
            result = self.oas("estimate", "pest-control", "log.csv", "--error-bars",
                              "parametric-bootstrap", "--resamples", 20)
            self.assertEqual("depend on observations" in result.stderr, warned)

    def test_faults_are_named(self):
        self.good("simulate", "pest-control", "--steps", 5000, "-o", "log.csv")
        text = self.read("log.csv").decode()
        for arguments, says in (
                (["--error-bars", "magic"], ["'magic'", "block-bootstrap"]),
                (["--error-bars", "block-bootstrap", "--resamples", 3],
                 ["--resamples: not a whole number between 20 and"]),
                (["--error-bars", "block-bootstrap", "--estimator", "particle"], ["particle"]),
                (["--error-bars", "block-bootstrap", "--memory", 0.001], ["memory"]),
                (["--error-bars", "parametric-bootstrap", "--estimator", "oas", "--memory", 0.001],
                 ["memory"]),
                (["--simultaneous", "some"], ["some"])):
            self.bad("estimate", "pest-control", "log.csv", *arguments, "-o", "x.json", says=says)
        self.bad("estimate", "pest-control", "-", "--estimator", "oas", "--error-bars",
                 "parametric-bootstrap", "-o", "x.json", stdin=text, says=["pipe"])


class Score(CaseWithoutDraws):
    def test_the_better_model_scores_better(self):
        self.good("simulate", "network-link", "--steps", 3000, "--seed", 1, "-o", "old.csv")
        self.good("simulate", "network-link", "--steps", 100000, "--seed", 2, "-o", "new.csv")
        self.good("estimate", "network-link", "old.csv", "-o", "few.json")
        report = self.good_json("score", "network-link", "few.json", "--log", "new.csv")
        truth, few = report["models"]
        self.assertLess(few["difference"], -3 * few["difference_standard_error"])
        self.assertAlmostEqual(few["log_likelihood_per_row"] - truth["log_likelihood_per_row"],
                               few["difference"])
        alone = self.good_json("score", "few.json", "new.csv")
        self.assertEqual(alone["models"][0]["log_likelihood_per_row"],
                         few["log_likelihood_per_row"])
        self.assertIn("difference to the first", self.good("score", "few.json", "new.csv"))

    def test_faults_are_named(self):
        self.good("simulate", "pest-control", "--steps", 100, "-o", "log.csv")
        self.bad("score", "pest-control", says=["oas score MODEL LOG"])
        self.bad("score", "pest-control", "none.csv", says=["none.csv"])
        self.bad("score", "pest-control", "network-link", "--log", "log.csv", says=["differ"])
        self.write("hidden.json", json.dumps(self.model(transition=None)))
        self.bad("score", "hidden.json", "log.csv", says=["hidden.json", "no transition"])

    def test_an_impossible_log(self):
        model = self.model()
        for table in model["observation"]:
            for row in table:
                row[:] = [row[0] + row[-1]] + row[1:-1] + [0.0]
        self.write("m.json", json.dumps(model))
        self.good("simulate", "pest-control", "--steps", 1000, "-o", "log.csv")
        report = self.good_json("score", "m.json", "log.csv")["models"][0]
        self.assertGreater(report["impossible_rows"], 0)
        self.assertIsNone(report["log_likelihood_per_row"])
        self.bad("estimate", "m.json", "log.csv", "-o", "x.json",
                 says=["log.csv:", "probability 0 in every state"])


if __name__ == "__main__":
    unittest.main()
