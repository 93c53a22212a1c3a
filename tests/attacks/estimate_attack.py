"""An estimate that carries draws of dynamics and rewards, wrong at one key of any depth: the first
and the last of each list. Whoever reads it refuses it, or gives numbers.

--full takes every key and value, not one in sixty.
"""

import copy
import json
import re
import sys
import unittest

from attack import AttackCase
from small_files import model

STEP = 60
ODD = (None, "x", [], {}, 1e308, -1e308, 5e-324, -0.0, -1, 0, 1, 2, 2**63, 0.5, [[]], [0.5, 0.5],
       [1e308, 1e308], True, json.loads("[" * 40 + "]" * 40))
VERBS = (["forecast", "a.json", "log.csv", "--actions", "0", "--steps", "3", "--json"],
         ["plan", "a.json", "--grid", "3", "--steps", "64", "--json"],
         ["plan", "a.json", "--grid", "3", "--robust", "--json"],
         ["plan", "a.json", "--horizon", "2", "--json"],
         ["evaluate", "a.json", "--policy", "constant:0", "--json"],
         ["compare", "m.json", "a.json", "--json"],
         ["report", "a.json", "log.csv", "-o", "page.html"])
NO_NUMBER = rb"(?i)(?<![a-z])-?(nan|inf)(?![a-z])"


def paths(value, above=()):
    keys = ()
    if value and isinstance(value, dict):
        keys = value
    elif value and isinstance(value, list):
        keys = sorted({0, len(value) - 1})
    for key in keys:
        yield (*above, key)
        yield from paths(value[key], (*above, key))


def changes(document):
    """Path, what is done there, and with which value."""
    for path in paths(document):
        for value in ODD:
            yield path, "set", value
        for what in ("remove", "double", "thousand"):
            yield path, what, None


def changed(document, path, what, value):
    """None where that cannot be done there."""
    document = copy.deepcopy(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    if what == "set":
        place[path[-1]] = value
    elif what == "remove":
        del place[path[-1]]
    elif isinstance(place[path[-1]], list):
        place[path[-1]] *= 2 if what == "double" else 1000
    else:
        return None
    return json.dumps(document)


class Estimates(AttackCase):
    def setUp(self):
        super().setUp()
        self.write("m.json", model())
        options = ["--policy", "uniform", "--reward"]
        self.good("simulate", "m.json", "--steps", 300, "--state", *options, "-o", "labels.csv")
        self.good("calibrate", "labels.csv", "-o", "sensors.json")
        self.good("simulate", "m.json", "--steps", 200, *options, "-o", "log.csv")
        self.good("estimate", "sensors.json", "log.csv", "--carried-draws", 12, "-o", "e.json")
        self.sound = json.loads(self.read("e.json"))
        self.assertIn("reward_draws", self.sound["estimate"])

    def test_the_sound_one_is_taken(self):
        self.write("a.json", json.dumps(self.sound))
        for verb in VERBS:
            self.held(*verb, code=0, leaves=["page.html"])

    def test_every_key(self):
        tried = 0
        for path, what, value in list(changes(self.sound))[::STEP]:
            text = changed(self.sound, path, what, value)
            if text is None:
                continue
            self.write("a.json", text)
            for verb in VERBS:
                with self.subTest(key=path, what=what, value=repr(value)[:40], verb=verb[0]):
                    ended = self.held(*verb, leaves=["page.html"])
                    self.assertIn(ended.code, (0, 2), ended.err)
                    page = b""
                    if verb[0] == "report" and ended.code == 0:
                        page = re.sub(rb'base64,[^"]*', b"", self.read("page.html"))
                    if ended.code == 0:
                        self.assertNotRegex(ended.out + page, NO_NUMBER)
            tried += 1
        print(f"estimates: {tried}", file=sys.stderr)
        self.assertGreater(tried, 80)


if __name__ == "__main__":
    if "--full" in sys.argv:
        sys.argv.remove("--full")
        STEP = 1
    unittest.main()
