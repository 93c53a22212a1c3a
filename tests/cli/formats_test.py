"""Models of all formats through the commands: the same model, whatever file it came from."""

import json
import os
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


class Formats(CliCase):
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


@unittest.skipUnless("OAS_PUBLIC_MODELS" in os.environ,
                     "not run: OAS_PUBLIC_MODELS names no folder of public model files")
class PublicFiles(CliCase):
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


if __name__ == "__main__":
    unittest.main()
