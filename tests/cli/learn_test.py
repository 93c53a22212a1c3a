"""oas learn as a user meets it: runs, files, settings, mistakes."""

import csv
import io
import json
import os
import unittest
from unittest import mock

from support import CliCase

QUICK = ("--oracle-gap", "1e-3", "--steps", 3000)


class Learn(CliCase):
    def rows(self, name):
        return list(csv.DictReader(io.StringIO(self.read(name).decode())))

    # What it costs to learn seldom: docs/results/agents.md.
    def test_the_default_agent_learns_often(self):
        episodes = self.good_json("learn", "pest-control", "--steps", 3000)["episodes"]
        self.assertEqual(episodes[1]["start"], 48)  # 12 S A
        for episode in episodes[1:]:
            self.assertLessEqual(episode["length"], max(1, 0.05 * episode["start"] + 1), episode)

    def test_one_run(self):
        text = self.good("learn", "pest-control", "--agent", "oas-ucrl", *QUICK, "-o", "run.csv")
        self.assertIn("oas-ucrl", text)
        rows = self.rows("run.csv")
        self.assertEqual(len(rows), 100)
        self.assertEqual(rows[-1]["step"], "3000")
        record = json.loads(self.read("run.json"))
        self.assertEqual(record["format"], "oas-run/1")
        self.assertEqual(record["agent"], "oas-ucrl")
        self.assertAlmostEqual(record["expected_regret"], float(rows[-1]["expected_regret"]))
        self.assertGreater(record["oracle_gain"], record["oracle_gain_floor"])
        self.assertEqual(record["failures"], 0)

    def test_same_seed_same_bytes_for_any_number_of_threads(self):
        for threads, folder in ((1, "one"), (3, "three")):
            self.good("learn", "pest-control", "--agent", "oas-ucrl-pooled,oas-ucrl-ml,uniform",
                      "--runs", 3, *QUICK, "--threads", threads, "-o", folder)
        names = sorted(path.name for path in (self.folder / "one").iterdir())
        self.assertEqual(len(names), 18)
        for name in names:
            if name.endswith(".csv"):
                self.assertEqual(self.read(f"one/{name}"), self.read(f"three/{name}"), name)

    def test_best_policies_are_kept_and_change_nothing(self):
        learn = ("learn", "pest-control", "--agent", "uniform", *QUICK)
        self.good(*learn, "-o", "planned.csv")
        kept = self.folder / "cache"
        with mock.patch.dict(os.environ, {"OAS_CACHE": str(kept)}):
            self.good(*learn, "--no-cache", "-o", "not-kept.csv")
            self.assertFalse(kept.exists())
            self.good(*learn, "-o", "first.csv")
            entry, = (kept / "oracles").iterdir()
            self.good(*learn, "-o", "second.csv")
            self.assertEqual(self.read("planned.csv"), self.read("second.csv"))
            entry.write_text(entry.read_text()[:1000])
            self.good(*learn, "-o", "third.csv")
            self.good(*learn, "--iota", "0.2", "-o", "other.csv")
            self.assertEqual(len(list((kept / "oracles").iterdir())), 2)
        for name in ("not-kept", "first", "third"):
            self.assertEqual(self.read("planned.csv"), self.read(f"{name}.csv"), name)

    def test_optimism_beyond_six_states(self):
        self.good("problem", "random", "--states", 8, "--actions", 2, "--observations", 9,
                  "--seed", 3, "-o", "eight.json")
        for agent in ("oas-ucrl", "oas-ucrl-ml"):
            record = self.good_json("learn", "eight.json", "--agent", agent, "--oracle-gap", 0.1,
                                    "--steps", 4000, "--set", "resolution=2", "--set",
                                    "radius_scale=0.001",
                                    *(("--set", "exploration=optimism") if agent.endswith("ml")
                                      else ()))
            bold = [each for each in record["episodes"] if each["radius"]]
            self.assertTrue(bold, agent)
            for each in bold:
                self.assertGreaterEqual(each["optimistic_gain"], each["planned_gain"])

    def test_says_what_the_best_gain_leaves_open(self):
        learn = ("learn", "robot-corridor", "--agent", "uniform", "--oracle-gap", 0.1)
        self.assertIn("every regret may be off by", self.good(*learn, "--steps", 50000))
        self.assertNotIn("may be off", self.good(*learn, "--steps", 10))

    def test_learners_beat_uniform(self):
        records = self.good_json("learn", "network-link", "--agent", "oas-ucrl-pooled,uniform",
                                 "--oracle-gap", "1e-3", "--steps", 20000)
        regret = {record["agent"]: record["expected_regret"] for record in records}
        self.assertLess(regret["oas-ucrl-pooled"], 0.3 * regret["uniform"])

    def test_settings(self):
        text = self.good("learn", "pest-control", "--agent", "oas-ucrl", "--settings")
        self.assertIn("first_episode", text)
        self.assertIn("3200", text)
        record = self.good_json("learn", "pest-control", "--agent", "oas-ucrl", *QUICK, "--iota",
                                "0.1", "--set", "first_episode=500", "--set",
                                "radius_scale=1e-6", "--set", "oas-ucrl.delta=0.3")
        self.assertEqual(record["settings"],
                         {"iota": "0.1", "first_episode": "500", "radius_scale": "1e-6",
                          "delta": "0.3"})
        self.assertEqual(record["iota"], 0.1)
        self.assertEqual(record["episodes"][1]["start"], 500)

    def test_failures_name_their_row_and_come_once(self):
        self.good("problem", "random", "--seed", 9002, "--alpha", 0.02, "--spread-peaks", "-o",
                  "m.json")
        result = self.oas("learn", "m.json", "--agent", "oas-ucrl-pooled", "--oracle-gap", 1e-2,
                          "--steps", 100000, "--runs", 2, "-o", "runs")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"^warning: oas-ucrl-pooled, run 0, step \d+: row "
                         r"\(\d, \d\): it is noise, .*; the first of \d+ of this kind\n$")
        record = json.loads(self.read("runs/oas-ucrl-pooled-0.json"))
        failures = [episode["failure"] for episode in record["episodes"] if "failure" in episode]
        self.assertTrue(all(text.startswith("row (") for text in failures), failures)

    def blind_model(self):
        """Sensors that cannot tell the states apart, which the moment agents refuse"""
        model = self.model("network-link")
        rows = len(model["observations"])
        model["observation"] = [[[1 / rows] * rows for _ in action]
                                for action in model["observation"]]
        self.write_model("blind.json", model)

    def test_an_agent_that_cannot_play_is_named_and_left_out(self):
        self.blind_model()
        agents = "oas-ucrl,uniform,sm-ucrl,oas-ucrl-ml"
        learn = ("learn", "blind.json", "--agent", agents, *QUICK, "--runs", 2)
        result = self.oas(*learn, "-o", "runs")
        self.assertEqual(result.returncode, 0, result.stderr)
        warnings = result.stderr.splitlines()
        self.assertEqual(len(warnings), 2, result.stderr)
        for agent, line in zip(("oas-ucrl", "sm-ucrl"), warnings):
            self.assertRegex(line, f"^warning: {agent} cannot play: .*(dependent|rank|tell)")
            self.assertRegex(result.stdout, f"(?m)^  {agent} +left out ")
        names = sorted(path.name for path in (self.folder / "runs").iterdir())
        self.assertEqual(names, [f"{agent}-{run}.{kind}" for agent in ("oas-ucrl-ml", "uniform")
                                 for run in (0, 1) for kind in ("csv", "json")])
        records = json.loads(self.oas(*learn, "--json").stdout)
        self.assertEqual([record["agent"] for record in records],
                         ["uniform", "oas-ucrl-ml"] * 2 + ["oas-ucrl", "sm-ucrl"])
        for record in records:
            self.assertEqual("left_out" in record, "reward" not in record)

    def test_agents_that_play_are_not_changed_by_those_that_do_not(self):
        self.blind_model()
        for agents, folder in (("uniform", "one"), ("oas-ucrl,uniform", "two")):
            self.good("learn", "blind.json", "--agent", agents, *QUICK, "-o", folder)
        self.assertEqual(self.read("one/uniform-0.csv"), self.read("two/uniform-0.csv"))

    def test_when_no_agent_can_play(self):
        self.blind_model()
        self.bad("learn", "blind.json", "--agent", "oas-ucrl,sm-ucrl", *QUICK, "-o", "runs",
                 says=["blind.json", "oas-ucrl cannot play: ", "sm-ucrl cannot play: "])
        self.bad("learn", "pest-control", "--agent", "uniform,oas-ucrl", *QUICK, "--set",
                 "first_episode=few", says=["oas-ucrl: first_episode is 'few'"])
        self.bad("learn", "pest-control", "--agent", "uniform,seeu", *QUICK, "--set",
                 "views=emission-columns", says=["seeu: ", "hidden state"])

    def test_the_model_may_stand_last(self):
        self.good("learn", *QUICK, "--agent", "uniform,myopic", "pest-control")

    def test_mistakes(self):
        learn = ("learn", "pest-control", *QUICK)
        self.bad(*learn, "--agent", "nobody", says=["nobody", "oas-ucrl-pooled"])
        self.bad(*learn, "--agent", "oas-ucrl", "--set", "first_episde=5", says=["first_episde"])
        self.bad(*learn, "--agent", "oas-ucrl", "--set", "seeu.tau1=5", says=["seeu.tau1"])
        self.bad(*learn, "--agent", "oas-ucrl", "--set", "first_episode", says=["name=value"])
        self.bad(*learn, "--agent", "oas-ucrl", "--set", "first_episode=few",
                 says=["first_episode is 'few'", "whole number"])
        self.bad(*learn, "--agent", "oas-ucrl", "--iota", "0", says=["iota is 0"])
        self.bad(*learn, "--iota", "0.7", says=["0.7"])
        for name in ("iota", "oas-ucrl.iota"):
            self.bad(*learn, "--agent", "oas-ucrl", "--set", f"{name}=0.2", says=["use --iota"])
        self.bad(*learn, "--runs", 0, says=["--runs"])
        self.bad("learn", "pest-control", "--steps", 0, "--oracle-gap", "1e-3", says=["--steps: "])
        self.bad(*learn, "--agent", "uniform,myopic", "-o", "run.csv", says=["run.csv", "folder"])
        self.bad(*learn, "--agent", "uniform,uniform", "-o", "runs",
                 says=["uniform is named twice"])
        self.bad(*learn, "--agent", "oas-ucrl", "--set", "delta=2", "-o", "runs",
                 says=["delta is '2'", "above 0 and below 1"])
        for agent, setting in (("oas-ucrl", "delta=0.2"), ("psrl", "kappa0=10"),
                               ("oas-ucrl-ml", "radius_scale=1")):
            name = setting.split("=")[0]
            self.bad(*learn, "--agent", agent, "--set", setting,
                     says=[f"oas: {agent}: {name}: used only "])
        self.bad(*learn, "--agent", "oas-ucrl-pooled", "--set", "prior=1",
                 says=["--set prior=1: none of the agents"])
        self.bad("learn", "pest-control", "--oracle-gap", 0,
                 says=["--oracle-gap: not a number above 0"])
        self.write("file", "")
        self.bad(*learn, "-o", "file", says=["file"])
        model = self.model(transition=None)
        self.write_model("sensors.json", model)
        self.bad("learn", "sensors.json", *QUICK, says=["sensors.json", "no transition model"])


if __name__ == "__main__":
    unittest.main()
