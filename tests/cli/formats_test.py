"""Models of all formats through the commands: the same model, whatever file it came from."""

import json
import os
import resource
import unittest
from pathlib import Path

from support import CliCase

# Two doors, a reward behind one of them; listening tells which, opening starts again.
DOORS = """
discount: 0.95
values: reward
states: left right
actions: listen open-left open-right
observations: hear-left hear-right
T: listen identity
T: open-left uniform
T: open-right uniform
O: listen
0.8 0.2
0.2 0.8
O: open-left uniform
O: open-right uniform
R: listen : * : * : * -1
R: open-left : left : * : * 10
R: open-left : right : * : * -40
R: open-right : left : * : * -40
R: open-right : right : * : * 10
"""

# A ferry between two docks; docking can fail, and the reward is for the state that is reached.
FERRY = """
discount: 0.95 values: reward
states: dock-a sea-a sea-b dock-b
actions: forward back
observations: quay water
start: dock-a
T: forward : dock-a : sea-a 1
T: forward : sea-a : sea-b 0.9 T: forward : sea-a : sea-a 0.1
T: forward : sea-b : dock-b 0.7 T: forward : sea-b : sea-b 0.3
T: forward : dock-b : dock-b 1
T: back : dock-b : sea-b 1
T: back : sea-b : sea-a 0.9 T: back : sea-b : sea-b 0.1
T: back : sea-a : dock-a 0.7 T: back : sea-a : sea-a 0.3
T: back : dock-a : dock-a 1
O: * : dock-a 0.9 0.1 O: * : dock-b 0.9 0.1 O: * : sea-a 0.2 0.8 O: * : sea-b 0.2 0.8
R: forward : sea-b : dock-b : * 10
R: back : sea-a : dock-a : * 10
R: forward : dock-b : * : * -3 R: back : dock-a : * : * -3
"""

# Parts with a flaw: paint, inspect, ship or reject; given as costs.
PARTS = """
discount: 0.95 values: cost
states: flawed-bare flawed-painted sound-bare sound-painted
actions: paint inspect ship reject
observations: flaw fine
start: 0.5 0 0.5 0
T: paint : flawed-bare 0.1 0.9 0 0
T: paint : flawed-painted 0 1 0 0
T: paint : sound-bare 0 0 0.1 0.9
T: paint : sound-painted 0 0 0 1
T: inspect identity
T: ship : * reset
T: reject : * reset
O: * : * : fine 1
O: inspect
0.75 0.25
0.6 0.4
0.25 0.75
0.4 0.6
R: ship : * : * : * 1
R: ship : sound-painted : * : * -1
R: reject : sound-bare : * : * 1
R: reject : sound-painted : * : * 1
R: reject : flawed-bare : * : * -1
R: reject : flawed-painted : * : * -1
"""


def long_line(states):
    """A line of stops, too many for a table of all pairs, told apart by nothing but the ends."""
    last = states - 1
    return f"""
discount: 0.95 values: reward
states: {states} actions: stay go observations: middle end
start include: 0
T: stay identity
T: go identity
O: * : * : middle 1
O: * : {last} 0 1
R: go : {last - 1} : * : * 1
""" + "".join(f"T: go : {s} : {s} 0.5 T: go : {s} : {s + 1} 0.5\n" for s in range(last))


class PolicyCase(CliCase):
    def policies_keep_their_gain(self, source):
        """Import, plan, export, import, convert, import again: the same policy earns the same."""
        self.good("convert", source, "b.pomdpx")
        self.good("plan", "b.pomdpx", "--planner", "point", "--steps", 6400, "-o", "plan.json")
        made = self.good_json("convert", "plan.json", "1.policy")
        self.assertTrue(made["exact_where_reached"])
        self.assertEqual(made["agreement"], 1.0)
        self.good("convert", "1.policy", "2.alpha")
        self.good("convert", "2.alpha", "3.policy")
        self.assertEqual(self.read("1.policy"), self.read("3.policy"))
        plan = self.good_json("evaluate", source, "plan.json", "--steps", 20000)
        for model, policy in ((source, "1.policy"), ("b.pomdpx", "2.alpha"),
                              (source, "3.policy")):
            found = self.good_json("evaluate", model, policy, "--steps", 20000)
            self.assertAlmostEqual(found["simulated"], plan["simulated"],
                                   delta=1e-9 + plan["half_width"] + found["half_width"])
            if policy == "1.policy":
                first = found["simulated"]
            self.assertAlmostEqual(found["simulated"], first, delta=1e-9)
        graph = self.good_json("convert", "plan.json", "1.pg")
        self.good("convert", "1.pg", "2.pg")
        self.assertEqual(self.read("1.pg"), self.read("2.pg"))
        self.good("convert", "b.pomdpx", "c.json")
        for model in (source, "b.pomdpx", "c.json"):
            found = self.good_json("evaluate", model, "2.pg", "--start-node", 0)
            self.assertAlmostEqual(found["exact"], graph["gain"], delta=1e-9)
            self.assertAlmostEqual(found["simulated"], found["exact"],
                                   delta=found["half_width"] + 1e-9)
        # What sharing nodes may cost: nothing in the doors, little in the others.
        self.assertAlmostEqual(graph["gain"], plan["simulated"],
                               delta=1e-9 if graph["exact"] else 0.02)


class Formats(PolicyCase):
    def gain(self, model):
        plan = self.good_json("plan", model, "--seed", 1, "-o", "plan.json")
        return plan["gain_upper"]

    def test_gain_survives_every_format(self):
        for text in (DOORS, FERRY, PARTS):
            self.write("a.pomdp", text)
            self.good("convert", "a.pomdp", "b.json")
            self.good("convert", "b.json", "c.pomdpx")
            self.good("convert", "c.pomdpx", "d.pomdp")
            gains = [self.gain(name) for name in ("a.pomdp", "b.json", "c.pomdpx", "d.pomdp")]
            self.assertGreater(gains[0], 0)
            for gain in gains[1:]:
                self.assertAlmostEqual(gain, gains[0], delta=1e-9)

    def test_gain_of_policies_survives_every_format(self):
        for text in (DOORS, FERRY, PARTS):
            self.policies_keep_their_gain(self.write("a.pomdp", text))

    def test_policies_of_other_solvers(self):
        self.write("doors.pomdp", DOORS)
        self.write("doors.alpha", "0\n0 0\n\n1\n9 -41\n\n2\n-41 9\n")
        self.write("doors.pg", "0 0  1 2\n1 0  3 0\n2 0  0 4\n3 1  0 0\n4 2  0 0\n")
        alpha = self.good_json("evaluate", "doors.pomdp", "doors.alpha")
        graph = self.good_json("evaluate", "doors.pomdp", "doors.pg")
        self.assertEqual((graph["start_node"], graph["closed_classes"]), (0, 1))
        self.assertAlmostEqual(alpha["simulated"], graph["exact"], delta=alpha["half_width"] + 1e-9)
        self.write("start.alpha", "0\n0 0\n\n0\n5 0\n\n0\n0 6\n\n1\n0 0\n\n2\n0 0\n")
        started = self.good_json("evaluate", "doors.pomdp", "doors.pg", "--vectors", "start.alpha")
        self.assertEqual(started["start_node"], 2)
        self.assertIn("exact", self.good("evaluate", "doors.pomdp", "doors.pg"))
        # A graph keeps no belief: it can be judged where vectors cannot.
        self.write("pest.pg", "0 0  0 0 1\n1 1  0 0 0\n")
        self.good("evaluate", "pest-control", "pest.pg")
        self.good("convert", "pest-control", "pest.pomdp", "--expand", "--discount", 0.9)
        both = [self.good_json("evaluate", model, "pest.pg")["exact"]
                for model in ("pest-control", "pest.pomdp")]
        self.assertAlmostEqual(both[0], both[1], delta=1e-9)

    def test_errors_of_policies(self):
        self.write("doors.pomdp", DOORS)
        self.write("bad.alpha", "0\n1 2\n\n1\n3\n")
        self.bad("evaluate", "doors.pomdp", "bad.alpha",
                 says=["bad.alpha:5: a vector of 1 numbers"])
        self.write("long.alpha", "0\n1 2 3\n")
        self.bad("evaluate", "doors.pomdp", "long.alpha",
                 says=["long.alpha: the policy's vectors have 3 numbers, but the model has 2"])
        self.write("two.alpha", "0\n1 2\n")
        self.bad("evaluate", "pest-control", "two.alpha",
                 says=["two.alpha", "timing before", "sensed differently"])
        self.bad("evaluate", "doors.pomdp", "two.alpha", "--start-node", 0,
                 says=["for policy graphs"])
        self.write("stops.pg", "0 0  X X\n")
        self.bad("evaluate", "doors.pomdp", "stops.pg",
                 says=["stops.pg", "node 0 has no next node for observation"])
        self.bad("convert", "two.alpha", "x.json", says=["x.json", ".alpha, .policy or .pg"])
        self.bad("convert", "two.alpha", "x.pg", says=["two.alpha", "a plan"])
        self.bad("convert", "stops.pg", "x.alpha", says=["stops.pg", "no vectors"])
        self.bad("convert", "doors.pomdp", "x.alpha", says=["doors.pomdp: this is a model"])
        self.good("plan", "pest-control", "--steps", 6400, "--iota", 0.05, "-o", "plan.json")
        self.bad("convert", "plan.json", "x.policy", says=["plan.json", "timing before"])
        self.bad("convert", "plan.json", "x.pg", "--expand", says=["for models"])
        result = self.oas("convert", "plan.json", "x.pg")
        self.assertEqual(result.returncode, 0)
        self.assertIn("floor of 0.05 is left out", result.stderr)

    def test_rewards_of_the_next_state_survive(self):
        self.write("a.pomdp", FERRY)
        self.good("convert", "a.pomdp", "b.pomdpx")
        self.good("convert", "b.pomdpx", "c.json")
        self.assertIn("transition_reward", json.loads(self.read("c.json")))
        logs = []
        for name in ("a.pomdp", "b.pomdpx", "c.json"):
            self.good("simulate", name, "--steps", 2000, "--reward", "-o", "log.csv")
            logs.append(self.read("log.csv"))
        self.assertEqual(logs[0], logs[1])
        self.assertEqual(logs[0], logs[2])

    def test_timing(self):
        self.write("doors.pomdp", DOORS)
        self.good("convert", "doors.pomdp", "before.json", "--timing", "before")
        before = json.loads(self.read("before.json"))
        self.assertEqual((before["timing"], len(before["states"])), ("before", 2))
        self.assertAlmostEqual(self.gain("before.json"), self.gain("doors.pomdp"), delta=1e-9)
        self.bad("convert", "pest-control", "x.pomdp",
                 says=["pest-control", "sensed differently", "--expand"])
        report = self.good_json("convert", "pest-control", "pest.pomdp", "--expand",
                                "--discount", 0.9)
        self.assertTrue(report["expanded"])
        self.bad("convert", "doors.pomdp", "x.pomdp", "--timing", "before", says=["only .json"])

    def test_lenient(self):
        dialect = DOORS.replace("values: reward", "values: rewards")
        self.write("dialect.pomdp", dialect)
        self.bad("check", "dialect.pomdp", says=["dialect.pomdp:3:9", "'rewards'"])
        result = self.oas("check", "dialect.pomdp", "--lenient")
        self.assertEqual(result.returncode, 0)
        self.assertIn("warning: dialect.pomdp:3: 'values: rewards'", result.stderr)
        self.assertEqual(self.oas("check", "dialect.pomdp", "--lenient", "--quiet").stderr, "")

    def test_errors(self):
        self.write("bad.pomdp", DOORS + "T: jump uniform\nR: listen : up : * : * 1\n")
        self.bad("convert", "bad.pomdp", "x.json",
                 says=["bad.pomdp:20:4: found 'jump'", "bad.pomdp:21:13: found 'up'"])
        self.write("doors.pomdp", DOORS)
        self.bad("convert", "doors.pomdp", "x.txt", says=["x.txt", ".json, .pomdp and .pomdpx"])
        self.good("problem", "pest-control", "--hide-transition", "-o", "hidden.json")
        self.bad("convert", "hidden.json", "x.pomdp", says=["no transition model"])

    def test_every_verb_that_writes_a_model_goes_by_the_ending(self):
        self.good("problem", "random", "--after", "--states", 3, "-o", "x.json")
        for name in ("x.pomdp", "x.POMDPX"):
            result = self.oas("problem", "random", "--after", "--states", 3, "-o", name)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("no discount; 1 is written", result.stderr)
            self.assertAlmostEqual(self.gain(name), self.gain("x.json"), delta=1e-9)
        self.assertTrue(self.read("x.pomdp").startswith(b"discount: 1"))
        self.bad("problem", "pest-control", "-o", "y.pomdp", says=["y.pomdp", "before", "--expand"])
        self.bad("problem", "pest-control", "-o", "y.txt", says=["y.txt", ".pomdp and .pomdpx"])
        self.bad("problem", "random", "--after", "--hide-transition", "-o", "y.pomdp",
                 says=["y.pomdp", "needs a transition model"])
        self.good("simulate", "x.json", "--steps", 5000, "-o", "x.csv")
        result = self.oas("estimate", "x.json", "x.csv", "-o", "learned.pomdp")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("error bars need a .json file", result.stderr)
        self.good("check", "learned.pomdp")
        self.bad("estimate", "x.json", "x.csv", "-o", "learned", says=["learned: the ending"])
        self.bad("plan", "x.json", "-o", "x.pg", says=["x.pg", "oas convert"])

    def test_estimates_of_every_format_are_compared(self):
        self.good("simulate", "robot-corridor", "--steps", 20000, "-o", "log.csv")
        errors = []
        for name in ("e.json", "e.pomdp", "e.pomdpx"):
            self.good("estimate", "robot-corridor", "log.csv", "-o", name)
            errors.append(self.good_json("compare", "robot-corridor", name)["frobenius"])
        self.assertAlmostEqual(errors[0], errors[1], places=6)
        self.assertAlmostEqual(errors[0], errors[2], places=6)
        self.assertEqual(self.good_json("compare", "e.json", "robot-corridor")["frobenius"],
                         errors[0])
        self.bad("compare", "robot-corridor", "no-such", says=["no-such: no such file"])
        self.bad("compare", "robot-corridor", "pest-control", says=["5 states"])

    def test_check_speaks_of_classic_files(self):
        self.write("doors.pomdp", DOORS)
        text = self.good("check", "doors.pomdp")
        for part in ("discount 0.95", "not used", "reward of action and state", "open-left"):
            self.assertIn(part, text)
        self.write("end.pomdp", "discount: 1 values: reward states: run lost done actions: 12 "
                                "observations: 1 start: run\nT: * identity T: * : run 0.5 0 0.5\n"
                                "O: * uniform")
        text = self.good("check", "end.pomdp")
        self.assertIn("unreachable from the start: lost", text)
        self.assertIn("absorbing (terminal): lost, done", text)
        self.assertIn("1 observations cannot tell 3 states apart", text)
        self.assertIn("it is never visited", text)

    def test_check_has_limits(self):
        """What convert handles in a moment must not keep check busy for hours"""
        head = "discount: 0.9 values: reward actions: 1 "
        self.write("classes.pomdp",
                   head + "states: 200000 observations: 1 T: * identity O: * uniform")
        self.assertIn("200000 of them closed", self.good("check", "classes.pomdp"))
        self.write("dense.pomdp", head + "states: 2500 observations: 1 T: * uniform O: * uniform")
        self.assertIn("Dobrushin unknown; too large for eigenvalues",
                      self.good("check", "dense.pomdp"))
        dynamics = self.good_json("check", "dense.pomdp", "-q")["dynamics"]
        self.assertIsNone(dynamics["second_eigenvalue"])
        self.assertIsNone(dynamics["dobrushin"])
        self.write("tall.pomdp",
                   head + "states: 1000 observations: 31000 T: * identity O: * uniform")
        report = self.good("check", "tall.pomdp")
        self.assertIn("31000 observations of 1000 states: too large for singular values", report)
        self.assertIn("verdict: too large to say", report)
        report = self.good_json("check", "tall.pomdp", "-q")
        self.assertEqual([report[key] for key in ("sensors", "alpha", "learnable")], [None] * 3)

    def test_check_of_one_state_has_nothing_to_learn(self):
        self.write("one.pomdp", "discount: 0.9 values: reward states: 1 actions: 2 observations: 1 "
                                "T: * identity O: * uniform R: 0 : 0 : 0 : 0 5")
        report = self.good("check", "one.pomdp", "--steps", 1000)
        self.assertIn("nothing to learn", report)
        self.assertNotIn("nan", report)

    def test_check_says_which_rows_logs_determine(self):
        self.write("doors.pomdp", DOORS)
        report = self.good_json("check", "doors.pomdp", "--steps", 20000)
        self.assertEqual((report["by_moments"], report["by_likelihood"]), (False, True))
        rows = report["identifiability"]["rows"]
        self.assertTrue(all(row["by_likelihood"] for row in rows))
        self.assertIn("does not tell", rows[0]["moments_reason"])
        oas, ml = report["data"]["estimators"][0], report["data"]["estimators"][2]
        self.assertIsNone(oas["steps"])
        self.assertIn("open-left", oas["reason"])
        self.assertGreater(ml["steps"], 1000)
        self.assertIn("likelihood of whole logs can", self.good("check", "doors.pomdp"))


@unittest.skipUnless("OAS_PUBLIC_MODELS" in os.environ,
                     "not run: OAS_PUBLIC_MODELS names no folder of public model files")
class PublicFiles(PolicyCase):
    def test_policies_of_classic_problems_keep_their_gain(self):
        folder = Path(os.environ["OAS_PUBLIC_MODELS"]) / "pomdp-solve"
        for name in ("tiger.95.POMDP", "shuttle.95.POMDP"):
            self.policies_keep_their_gain(folder / name)

    def test_check_and_convert_work_on_every_file(self):
        count = 0
        for path in sorted(Path(os.environ["OAS_PUBLIC_MODELS"]).rglob("*")):
            if path.suffix.lower() not in (".pomdp", ".pomdpx"):
                continue
            result = self.oas("convert", path, "x.pomdp", "--lenient", "--discount", 0.9)
            self.assertIn(result.returncode, (0, 2), path)
            if result.returncode == 0:
                self.assertIn("verdict", self.good("check", "x.pomdp", "--steps", 2000), path)
                count += 1
            else:
                self.assertIn(path.name, result.stderr)
        self.assertGreater(count, 50)


class LargeModels(CliCase):
    """A model whose transitions are held as a list: what works, and what says why not."""

    def test_check_convert_simulate_filter(self):
        self.write("line.pomdp", long_line(6000))
        self.assertIn("6000 states, 2 actions", self.good("check", "line.pomdp"))
        self.good("convert", "line.pomdp", "again.pomdp")
        self.good("convert", "again.pomdp", "twice.pomdp")
        self.assertEqual(self.read("again.pomdp"), self.read("twice.pomdp"))
        self.good("simulate", "line.pomdp", "--policy", "uniform", "--steps", 100, "-o",
                  "log.csv")
        self.good("filter", "line.pomdp", "log.csv", "-o", "beliefs.csv")

    def test_what_needs_every_number_is_refused(self):
        self.write("line.pomdp", long_line(6000))
        self.write("log.csv", "action,observation\n" + "stay,middle\n" * 4)
        self.bad("estimate", "line.pomdp", "log.csv", "-o", "estimate.json",
                 says=["72000000 entries, more than the limit of 33554432"])
        self.bad("forecast", "line.pomdp", "log.csv", "--actions", "stay", "--reach", 5,
                 says=["needs a table of 72000000 numbers"])
        self.bad("report", "line.pomdp", "log.csv", "-o", "page.html",
                 says=["6000 states are more than the limit of 300"])

    def test_ten_thousand_states(self):
        """Model, log, beliefs and plan are written, read and played in at most 1 GB."""
        self.write("line.pomdp", long_line(10_000))
        self.measured("convert", "line.pomdp", "line.json")
        self.measured("convert", "line.json", "again.pomdp")
        self.measured("convert", "line.pomdp", "direct.pomdp")
        self.assertEqual(self.read("again.pomdp"), self.read("direct.pomdp"))
        self.measured("simulate", "line.json", "--policy", "uniform", "--steps", 60, "--seed", 3,
                      "-o", "log.csv")
        self.measured("filter", "line.json", "log.csv", "-o", "beliefs.csv")
        beliefs = self.read("beliefs.csv").splitlines()
        self.assertEqual(len(beliefs), 62)  # with the last row's next state
        self.measured("forecast", "line.json", "log.csv", "--actions", "stay", "--steps", 5)
        self.measured("plan", "line.json", "--steps", 256, "--work", 0.5, "-o", "plan.json")
        self.measured("evaluate", "line.json", "plan.json", "--steps", 256)
        self.measured("simulate", "line.json", "--policy", "plan.json", "--steps", 60, "-o",
                      "played.csv")
        self.measured("filter", "line.json", "played.csv", "-o", "beliefs.csv")

    def measured(self, *arguments):
        """Ends with 0; its memory counts among that of all children."""
        self.good(*arguments)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        self.assertLess(peak, 10**9, arguments)


if __name__ == "__main__":
    unittest.main()
