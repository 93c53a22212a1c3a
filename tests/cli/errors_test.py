"""Bad input: exit code 2 (1 where the work failed), a message that helps, nothing half-written."""

import re
import unittest

from support import CliCase


class Usage(CliCase):
    def test_no_verb(self):
        self.bad(says=["a command is required", "--help"])

    def test_unknown_verb_and_option(self):
        self.bad("chek", "m.json", says=["oas: unknown command 'chek'; see oas --help"])
        self.bad("study", "runn", "x", says=["oas: unknown command 'runn'; see oas study --help"])
        self.bad("study", says=["a command is required; see oas study --help"])
        self.bad("list", "--loud", says=["oas: ", "--loud", "see oas list --help"])
        self.bad("study", "list", "--loud", says=["--loud", "see oas study list --help"])

    def test_help_and_version(self):
        self.assertIn("estimate", self.good("--help"))
        self.assertIn("--estimator", self.good("estimate", "--help"))
        for verb in ("estimate", "filter", "plan"):
            self.assertIn("Exit codes: 0 done", self.good(verb, "--help"))
        self.assertRegex(self.good("--version"), r"^\d+\.\d+\.\d+ \(.+\)\n$")

    def test_names(self):
        self.bad("check", "no-such", says=["no-such", "pest-control"])
        self.bad("problem", "no-such", "-o", "x.json", says=["no-such", "pest-control"])
        self.bad("simulate", "pest-control", "--policy", "magic", "--steps", 5, "-o", "x.csv",
                 says=["magic", "round-robin"])
        self.good("simulate", "pest-control", "--steps", 50, "-o", "log.csv")
        self.bad("estimate", "pest-control", "log.csv", "--estimator", "magic", "-o", "x.json",
                 says=["magic", "oas-overlap"])

    def test_numbers(self):
        for iota in ("0.6", "-0.1", "nan"):
            self.bad("simulate", "pest-control", "--iota", iota, "--steps", 5, "-o", "x.csv",
                     says=["iota", "smallest probability of every action"])
        for target in ("0", "-1", "inf"):
            self.bad("check", "pest-control", "--target-error", target,
                     says=[f"--target-error: not a number above 0: '{target}'"])
        self.bad("check", "pest-control", "--estimator", "particle", says=["particle"])
        self.bad("problem", "random", "--alpha", 2, "-o", "x.json", says=["--alpha", "2"])
        self.bad("problem", "random", "--epsilon", 0.5, "-o", "x.json", says=["--epsilon is 0.5;"])
        self.bad("problem", "random", "--states", 4, "-o", "x.json", says=["--observations is 3,"])
        self.good("problem", "random", "--states", 4, "--spread-peaks", "--alpha", 0, "-o",
                  "few.json")
        for option in ("--tolerance", "--gap"):
            self.bad("plan", "pest-control", option, 0,
                     says=[f"oas: {option}: not a number above 0: '0'; see oas plan --help"])
        self.good("simulate", "pest-control", "--steps", 50, "-o", "log.csv")
        self.bad("estimate", "pest-control", "log.csv", "--confidence", 1.5, says=["1.5"])


    def test_whole_numbers(self):
        self.write("p.json", "")
        m = "pest-control"
        for command in (("check", m, "--steps"), ("check", m, "--runs"), ("check", m, "--trial"),
                        ("check", m, "--seed"), ("check", m, "--threads"),
                        ("plan", m, "--steps"), ("plan", m, "--seed"), ("plan", m, "--grid"),
                        ("plan", m, "--horizon"),
                        ("evaluate", m, "p.json", "--steps"), ("evaluate", m, "p.json", "--seed"),
                        ("evaluate", m, "p.json", "--grid"),
                        ("evaluate", m, "p.json", "--start-node"),
                        ("compare", m, m, "--worst"), ("learn", m, "--runs"),
                        ("learn", m, "--steps"), ("learn", m, "--checkpoints"),
                        ("learn", m, "--seed"), ("problem", "random", "-o", "x.json", "--states"),
                        ("problem", "random", "-o", "x.json", "--seed"),
                        ("simulate", m, "-o", "x.csv", "--steps"),
                        ("estimate", m, "p.json", "--seed"), ("estimate", m, "p.json", "--window"),
                        ("estimate", m, "p.json", "--particles"),
                        ("discretise", m, "--seed"), ("calibrate", "p.json", "--seed")):
            for text in ("-1", "1e5", "1,000", "abc", "", "1.5", "99999999999999999999999"):
                self.bad(*command, text, says=[f"oas: {command[-1]}: not a whole number between",
                                               f": '{text}'; see oas {command[0]} --help"])
        self.bad("estimate", m, "p.json", "--window", 0,
                 says=["--window: not a whole number between 2 and"])
        for text in ("0", "0.5", "-3", "nan", "x"):
            self.bad("estimate", m, "p.json", "--half-life", text, says=["--half-life: "])
        self.bad("agent", m, "--journal", "j", "--half-life", 0.5,
                 says=["--half-life: neither 0 nor a number from 1 to 1e15: '0.5'"])
        self.bad("check", m, "--runs", 0, says=["--runs: not a whole number between 1 and"])
        self.bad("check", m, "--steps", 5, says=["--steps: not a whole number between 128 and"])
        self.bad("evaluate", m, "p.json", "--steps", 0, says=["--steps: ", "between 64 and"])
        largest = str(2 ** 64 - 1)
        self.good("problem", "random", "--seed", largest, "-o", "x.json")
        self.bad("problem", "random", "--seed", str(2 ** 64), "-o", "y.json", says=[largest])

    def test_options_that_would_be_passed_over(self):
        self.bad("problem", "network-link", "--states", 4, "-o", "x.json",
                 says=["--states is for random problems"])
        self.bad("problem", "network-link", "--after", "-o", "x.json", says=["--after"])
        self.bad("plan", "pest-control", "--all", "--radius", 0.1, says=["--all", "--radius"])
        self.good("plan", "pest-control", "--steps", 6400, "-o", "plan.json")
        self.good("convert", "plan.json", "plan.pg")
        message = self.bad("evaluate", "pest-control", "plan.pg", "--grid", 5, says=["--grid"])
        self.assertEqual(message.count("plan.pg"), 1)
        self.bad("evaluate", "pest-control", "plan.pg", "--filter", "pest-control",
                 says=["oas: plan.pg: a policy graph keeps no belief"])

    def test_options_that_the_planner_does_not_look_at(self):
        for option, value in (("--grid", 8), ("--tolerance", 1e-4)):
            self.bad("plan", "pest-control", "--planner", "point", option, value,
                     says=[f"oas: {option}: used only by a planner on a grid"])
        self.good("problem", "random", "--states", 12, "--actions", 4, "--observations", 12, "-o",
                  "large.json")
        self.bad("plan", "large.json", "--tolerance", 1e-4,  # auto chooses point
                 says=["--tolerance: used only by a planner on a grid"])

    def test_options_that_others_switch_off(self):
        # What a model rules out is said by the report: scripts go over models of all kinds.
        self.write_model("sensors.json", self.model(transition=None))
        self.assertIn("only the sensors", self.good("check", "sensors.json", "--steps", 500))
        self.bad("check", "pest-control", "--policy", "uniform", "--iota", 0.1,
                 says=["--iota: the policy uniform does not use it"])
        self.bad("compare", "pest-control", "pest-control", "--json", "--worst", 3,
                 says=["--worst: JSON has all rows"])

    def test_the_plan_is_not_blamed_for_others(self):
        self.good("plan", "pest-control", "--steps", 6400, "-o", "plan.json")
        for more, says in ((("--level", 99), "--level: not a number"),
                           (("--filter", "x"), "x: no such")):
            message = self.bad("evaluate", "pest-control", "plan.json", *more, says=[says])
            self.assertNotIn("plan.json", message)

    def test_settings_as_json(self):
        agent, = self.good_json("learn", "pest-control", "--agent", "oas-ucrl", "--settings")
        self.assertEqual(agent["agent"], "oas-ucrl")
        self.assertIn("first_episode", [setting["name"] for setting in agent["settings"]])

    def test_a_printed_plan_is_no_plan_file(self):
        self.assertNotIn("format", self.good_json("plan", "pest-control", "--steps", 6400))


class Estimators(CliCase):
    """Every option is looked at by the estimator, or an error that names those that do."""

    OPTIONS = {"confidence": 0.9, "error-bars": "asymptotic", "resamples": 50, "seed": 2,
               "half-life": 100, "window": 100, "age": "log", "actions-ignore-observations": None,
               "cells": 4, "search": "random", "sensors": "exact", "memory": 10, "prior": 0.5,
               "structure": "same-for-all-actions", "particles": 20, "moves": 2, "draws": 100,
               "patience": 1, "concentration": 0.7, "max-passes": 1, "max-seconds": 1e-9,
               "carried-draws": 7}

    def test_no_option_is_passed_over(self):
        """With each estimator it changes what is written, or is refused by name."""
        self.good("simulate", "corner/dense-3-after", "--steps", 400, "-o", "log.csv")
        names = [row["name"] for row in self.good_json("list")["estimators"]]
        # What it is anyway, how it gets there, and where it starts.
        no_change = {"error-bars", "memory", "sensors", "patience", ("spectral", "seed")}
        for name in names:
            base = ("estimate", "corner/dense-3-after", "log.csv", "--estimator", name, "-o")
            self.good(*base, "plain.json")
            for option, value in self.OPTIONS.items():
                given = [f"--{option}"] + ([] if value is None else [value])
                result = self.oas(*base, "other.json", *given)
                if result.returncode == 0:
                    same = self.read("plain.json") == self.read("other.json")
                    self.assertEqual(same, bool({option, (name, option)} & no_change),
                                     (name, option))
                else:
                    self.assertEqual(result.returncode, 2)
                    self.assertRegex(result.stderr, f"^oas: --{option}: ", name)

    def test_all_options_of_the_help_are_known_here(self):
        shown = set(re.findall(r"^  --([a-z-]+)", self.good("estimate", "--help"), re.M))
        other = {"json", "threads", "lenient", "estimator", "simultaneous"}
        other |= {"columns", "step", "gaps", "interleaved", "known-states", "noticed", "separator",
                  "missing", "decimal-comma", "log-options"}
        other |= {"sparse"}  # tests/logs/timed_log_test.cpp
        other |= {"from", "until"}  # tests/logs/time_window_test.cpp
        other |= {"rows"}  # reading_first_test.py
        other |= {"outliers"}  # densities_test.py
        other |= {"step-classes"}  # step_classes_test.py
        self.assertEqual(shown - other, set(self.OPTIONS))

    def test_help_shows_defaults_ranges_and_whose_an_option_is(self):
        text = self.good("estimate", "--help")
        self.assertRegex(text, r"--particles INT=100 +Number of particles "
                               r"\(2 to 1000000\) \[particle\]")
        self.assertRegex(
            text, r"--half-life FLOAT .*\(at least 1\) \[not particle, gibbs, spectral\]")
        self.assertIn("FLOAT=0.95", text)
        self.assertIn("(auto, grid, point)", self.good("plan", "--help"))

    def test_messages(self):
        self.good("simulate", "pest-control", "--steps", 100, "-o", "log.csv")
        for more, says in (
                (("--particles", 5), "--particles: oas-ml does not use it; particle does"),
                (("--prior", 1, "--estimator", "oas"),
                 "--prior: oas does not use it; oas-ml, em do"),
                (("--seed", 1), "--seed: used only by bootstrap error bars"),
                (("--resamples", 50), "--resamples: used only by bootstrap error bars"),
                (("--memory", 5, "--estimator", "oas"), "--memory: moments keep no rows"),
                (("--cells", 5, "--estimator", "oas"), "--cells: only real-valued observations"),
                (("--simultaneous", "row", "--estimator", "spectral"),
                 "--simultaneous: spectral gives no error bars")):
            self.bad("estimate", "pest-control", "log.csv", *more, "-o", "x.json",
                     says=["oas: " + says])


class Rewards(CliCase):
    """Where every policy earns 0 there is nothing to plan, learn or judge."""

    def test_json_without_rewards(self):
        self.good("plan", "pest-control", "--steps", 6400, "-o", "plan.json")
        self.write_model("none.json", self.model(reward=None))
        for command in (("plan", "none.json"), ("learn", "none.json"),
                        ("evaluate", "none.json", "plan.json"),
                        ("simulate", "none.json", "--steps", 5, "-o", "x.csv")):
            self.bad(*command, says=["reward"])
        self.good("check", "none.json")

    def test_other_formats_mean_zero(self):
        self.write_model("none.json", self.model("robot-corridor", observation_reward=None))
        self.good("convert", "none.json", "none.pomdp")
        result = self.oas("plan", "none.pomdp", "--steps", 6400)
        self.assertEqual(result.returncode, 0)
        self.assertIn("none.pomdp: every reward is 0", result.stderr)


class Conversions(CliCase):
    def test_models_and_policies_are_not_confused(self):
        self.good("convert", "robot-corridor", "m.pomdp")
        self.good("convert", "robot-corridor", "m.json")
        for model in ("m.pomdp", "robot-corridor"):
            self.bad("convert", model, "y.alpha",
                     says=[f"{model}: this is a model", f"oas plan {model} -o plan.json"])
        self.bad("convert", "m.json", "y.alpha",
                 says=["m.json: $.format: this is a model", "oas plan"])
        self.good("plan", "pest-control", "-o", "plan.json")
        self.bad("convert", "plan.json", "x.pomdp",
                 says=["plan.json: $.format: this is a plan", "oas evaluate", ".policy or .pg"])

    def test_every_message_names_the_file_once(self):
        self.write_model("none.json", self.model("robot-corridor", transition=None))
        for output in ("o.pomdp", "o.pomdpx"):
            self.bad("convert", "none.json", output,
                     says=["oas: none.json: a ", "transition model"])
        self.write("large.json", '{"format": "oas-model/1",\n "reward": [[1e999, 2]]}')
        message = self.bad("convert", "large.json", "o.pomdp",
                           says=["oas: large.json:2:14: the number 1e999 is too large"])
        self.assertNotIn("json.exception", message)
        self.write("v.alpha", "0\n1 2\n")
        message = self.bad("convert", "v.alpha", "o.pg", says=["v.alpha: alpha-vectors do not say"])
        self.assertEqual(message.count("v.alpha"), 1)

    def test_vectors_of_timing_before_have_a_way_out(self):
        self.good("plan", "machine-maintenance", "--steps", 6400, "-o", "plan.json")
        self.bad("convert", "plan.json", "x.alpha", says=["(.pg)", "--timing after --expand"])
        self.good("convert", "machine-maintenance", "after.json", "--timing", "after", "--expand")
        self.good("plan", "after.json", "--steps", 6400, "-o", "after-plan.json")
        self.good("convert", "after-plan.json", "x.alpha")


class Models(CliCase):
    def check(self, says, **changes):
        self.write_model("bad.json", self.model(**changes))
        self.bad("check", "bad.json", says=["bad.json", *says])

    def test_files(self):
        self.bad("check", ".", says=["folder"])
        self.write("empty.json", "")
        self.bad("check", "empty.json", says=["empty.json:1:1"])
        self.write("cut.json", '{"format": "oas-model/1",\n "timing": "bef')
        self.bad("check", "cut.json", says=["cut.json:2"])
        self.write("twice.json", '{"format": "oas-model/1", "format": "oas-model/1"}')
        self.bad("check", "twice.json", says=['"format" is given twice'])

    def test_a_log_is_no_model(self):
        self.good("simulate", "pest-control", "--steps", 5, "-o", "log.csv")
        for verb in (("check",), ("plan",), ("filter", "log.csv", "-o", "x.csv")):
            self.bad(verb[0], "log.csv", *verb[1:], says=["log.csv: this is a log"])

    def test_keys(self):
        self.check(["unknown key \"colour\""], colour="red")
        self.check(["\"timing\" is missing"], timing=None)
        self.check(["$.timing", "during"], timing="during")
        self.check(["$.format", "oas-model/7"], format="oas-model/7")

    def test_sizes(self):
        self.check(["$.transition", "1 entries where 2 are needed"], transition=[[[1.0]]])
        self.check(["$.start", "3 entries where 2"], start=[0.2, 0.3, 0.5])
        self.check(["$.states", "0"], states=0)
        self.check(["'7' is all digits"], states=["7", "many"])

    def test_numbers(self):
        good = self.model()
        for value, says in ((-0.1, "[0][1][0] is -0.1"), (0.7, "[0][1] sums to"),
                            ("x", "[0][1][0]: expected a number, found \"x\"")):
            transition = [[list(row) for row in matrix] for matrix in good["transition"]]
            transition[0][1][0] = value
            self.check(["$.transition" + says], transition=transition)
        self.write("nan.json", '{"format": "oas-model/1", "start": [NaN]}')
        self.bad("check", "nan.json", says=["nan.json:1:"])

    def test_blind_sensor_is_named(self):
        model = self.model()
        model["observation"][1][1] = model["observation"][1][0]
        self.write_model("blind.json", model)
        self.good("simulate", "blind.json", "--steps", 100, "-o", "log.csv")
        self.bad("estimate", "blind.json", "log.csv", "--estimator", "oas", "-o", "x.json",
                 says=["'spray'", "rank 1", "singular values"])
        self.assertIn("cannot identify", self.good("check", "blind.json"))

    def test_unknown_transition(self):
        self.write_model("hidden.json", self.model(transition=None))
        self.bad("simulate", "hidden.json", "--steps", 5, "-o", "x.csv",
                 says=["hidden.json", "no transition"])
        self.assertIn("only the sensors", self.good("check", "hidden.json"))
        self.good("simulate", "pest-control", "--steps", 5, "-o", "log.csv")
        self.bad("filter", "hidden.json", "log.csv", "-o", "x.csv", says=["no transition"])
        self.bad("compare", "pest-control", "hidden.json", says=["\"transition\" is missing"])


class Logs(CliCase):
    def check(self, text, says, name="pest-control"):
        self.write("bad.csv", text)
        self.bad("estimate", name, "bad.csv", "--estimator", "oas-overlap", "-o", "x.json",
                 says=says)

    def test_files(self):
        self.bad("estimate", "pest-control", "none.csv", "-o", "x.json", says=["none.csv"])
        self.check("", ["bad.csv"])
        self.check("action,observation\n", ["bad.csv", "row"])
        self.check("action,observation\nwait,none\n", ["no pair of consecutive observed rows"])

    def test_rows(self):
        head = "action,observation\n"
        self.check(head + "wait,none\njump,none\n", ["bad.csv:3", "jump"])
        self.check(head + "0,0\n0,99\n", ["bad.csv:3", "99"])
        self.check(head + "0,0\n0,-1\n", ["bad.csv:3", "-1"])
        self.check(head + "wait,none\n0,none\n", ["bad.csv:3", "0"])
        self.check(head + "wait\n", ["bad.csv:2"])
        self.check("action,colour\nwait,red\n", ["colour"])
        self.check("action,observation,propensity\nwait,none,0\n", ["bad.csv:2", "propensity"])
        self.check("action,observation,propensity\nwait,none,1.5\n", ["bad.csv:2", "1.5"])

    def test_timing_must_agree(self):
        self.check("# oas-log/1 timing=after\naction,observation\nwait,none\n", ["after", "before"])

    def test_after_timing_wants_propensities(self):
        self.check("action,observation\n" + "0,0\n" * 50,
                   ["no column propensity", "--actions-ignore-observations"], "robot-corridor")
        self.check("action,observation,propensity\n" + "0,0,1\n" * 50,
                   ["all 50 propensities are 1"], "robot-corridor")


class Outputs(CliCase):
    def test_unwritable(self):
        self.bad("simulate", "pest-control", "--steps", 5, "-o", "no/such/folder/x.csv",
                 says=["no/such/folder/x.csv"])
        self.bad("problem", "pest-control", "-o", ".", says=["folder"])

    def test_full_disk_is_a_failure_of_the_work(self):
        self.bad("simulate", "pest-control", "--steps", 100000, "-o", "/dev/full",
                 says=["/dev/full"], code=1)
        self.bad("problem", "pest-control", "-o", "/dev/full", says=["/dev/full"], code=1)

    def test_old_output_survives_an_error(self):
        self.write("keep.json", "precious")
        self.write("bad.csv", "action,observation\nwait,oops\n")
        self.bad("estimate", "pest-control", "bad.csv", "-o", "keep.json", says=["oops"])
        self.assertEqual(self.read("keep.json"), b"precious")


if __name__ == "__main__":
    unittest.main()
