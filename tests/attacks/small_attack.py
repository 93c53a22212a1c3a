"""Small files, each with an idea of its own against a reader: one file of some kind, the verbs that
read it, and what is allowed: an answer or a message, within 1 GB and 10 s. No output has a number
that is none, or a control character.

`python3 small_attack.py --list` names them.
"""

import gzip
import json
import sys
import unittest

from attack import AttackCase
from small_files import (LOG, POMDP, STUDY, csv_attacks, document_attacks, json_attacks, model,
                         packed_attacks, policy_attacks, pomdp_attacks, pomdpx_attacks,
                         toml_attacks)

FULL = False
READERS = {
    "json": [["check"], ["convert", "@", "out.pomdp"], ["estimate", "@", "log.csv"],
             ["plan", "@", "--grid", "4"], ["simulate", "@", "--steps", "30", "-o", "/dev/null"]],
    "pomdp": [["check"], ["convert", "@", "out.json"], ["check", "@", "--lenient"]],
    "pomdpx": [["check"], ["convert", "@", "out.json"], ["check", "@", "--lenient"]],
    "csv": [["estimate", "m.json", "@"], ["filter", "m.json", "@", "-o", "/dev/null"],
            ["score", "m.json", "@"], ["calibrate", "@", "-o", "out.json"],
            ["diagnose", "m.json", "@", "--replicates", "199"]],
    "csv.gz": [["estimate", "m.json", "@"], ["filter", "m.json", "@", "-o", "/dev/null"]],
    "csv.zst": [["estimate", "m.json", "@"], ["filter", "m.json", "@", "-o", "/dev/null"]],
    "estimate": [["compare", "m.json", "@"], ["forecast", "@", "log.csv", "--actions", "run"],
                 ["plan", "@", "--grid", "4"]],
    "plan": [["evaluate", "m.json", "@", "--steps", "64"],
             ["simulate", "m.json", "--policy", "@", "--steps", "20", "-o", "/dev/null"]],
    "alpha": [["evaluate", "m.json", "@", "--steps", "64"]],
    "policy": [["evaluate", "m.json", "@", "--steps", "64"]],
    "pg": [["evaluate", "m.json", "@", "--steps", "64"]],
    "structure": [["estimate", "m.json", "log.csv", "--estimator", "oas-ml", "--structure", "@"]],
    "options": [["filter", "m.json", "log.csv", "--log-options", "@", "-o", "/dev/null"]],
    "toml": [["study", "list"]],
}
ENDINGS = {"estimate": "json", "plan": "json", "structure": "json", "options": "json"}


class Small(AttackCase):
    def setUp(self):
        super().setUp()
        self.write("m.json", model())
        self.write("log.csv", LOG)
        self.good("convert", "m.json", "sound.pomdpx")
        self.good("estimate", "m.json", "log.csv", "--estimator", "oas-ml", "-o", "e.json")
        self.good("plan", "m.json", "--grid", "4", "-o", "p.json")
        (self.folder / "studies").mkdir()
        self.tried = 0

    def attack(self, kind, attacks, verbs=None, code=None):
        name = f"a.{ENDINGS.get(kind, kind)}" if kind != "toml" else "studies/a.toml"
        for what, text in attacks:
            if text is None:
                text = gzip.compress(LOG.encode())
            (self.folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
            for verb in verbs or READERS[kind]:
                words = [name if word == "@" else word for word in verb]
                if "@" not in verb and kind != "toml":
                    words.append(name)
                with self.subTest(kind=kind, attack=what, verb=verb[0]):
                    ended = self.held(*words, code=code, leaves=["out.json", "out.pomdp"])
                    if ended.code == 0 and kind not in ("csv", "toml"):
                        self.assertNotRegex(ended.out, rb"(?i)\bnan\b|\binf\b")
                for out in ("out.json", "out.pomdp"):
                    (self.folder / out).unlink(missing_ok=True)
            self.tried += 1

    def test_sound_files_are_taken(self):
        """A verb that refuses its sound file would only ever show how that is refused."""
        sound = {"json": model(), "pomdp": POMDP, "toml": STUDY,
                 "csv.gz": gzip.compress(LOG.encode()), "pomdpx": self.read("sound.pomdpx"),
                 "estimate": self.read("e.json"), "plan": self.read("p.json"),
                 "options": '{"format": "oas-log-options/1", "missing": "-"}',
                 "structure": '{"format": "oas-structure/1", "tied": [[["run", 0], ["fix", 0]]]}'}
        self.good("plan", "m.json", "--planner", "point", "-o", "point.json")
        for kind in ("alpha", "policy", "pg"):
            self.good("convert", "point.json", f"sound.{kind}")
            sound[kind] = self.read(f"sound.{kind}")
        self.good("simulate", "m.json", "--steps", 60, "--state", "-o", "sound.csv.zst")
        sound["csv.zst"] = self.read("sound.csv.zst")
        self.good("simulate", "m.json", "--steps", 300, "--state", "-o", "sound.csv")
        sound["csv"] = self.read("sound.csv")
        self.assertEqual(set(sound), set(READERS))
        for kind, text in sound.items():
            self.attack(kind, [("none", text)], code=0)

    def test_models(self):
        self.attack("json", json_attacks())
        self.attack("pomdp", pomdp_attacks())
        self.attack("pomdpx", pomdpx_attacks(self.read("sound.pomdpx").decode()))
        self.assertGreater(self.tried, 120)

    def test_logs(self):
        self.attack("csv", csv_attacks())
        for kind, attacks in packed_attacks():
            self.attack(kind, attacks.items())
        times = ["--columns", "run=run,time=time", "--step", "1", "--gaps", "repeat"]
        self.attack("csv", ((what, text) for what, text in csv_attacks()
                            if text and "time" in str(text)[:60]),
                    [["filter", "m.json", "@", "-o", "/dev/null", *times],
                     ["estimate", "m.json", "@", *times]])
        self.assertGreater(self.tried, 90)

    def test_our_own_documents(self):
        documents = {"estimate": json.loads(self.read("e.json")),
                     "plan": json.loads(self.read("p.json")),
                     "options": {"format": "oas-log-options/1", "columns": {"run": "unit"},
                                 "step": "1", "gaps": "repeat", "known_states": True}}
        for kind, document in documents.items():
            every = list(document_attacks(kind, document))
            self.attack(kind, every if FULL else every[::4], READERS[kind][:1])
        self.assertGreater(self.tried, 60)

    def test_policies_and_studies(self):
        for kind, attacks in policy_attacks():
            self.attack(kind, attacks.items())
        self.attack("toml", toml_attacks())
        self.assertGreater(self.tried, 45)

    def test_structures(self):
        self.attack("structure", {
            "nothing": "{}", "a row without any way": json.dumps(
                {"format": "oas-structure/1", "transition": [[[0, 0], [1, 1]], [[1, 1], [1, 1]]]}),
            "other states": json.dumps({"format": "oas-structure/1", "states": ["a", "b"]}),
            "numbers": json.dumps({"format": "oas-structure/1",
                                   "transition": [[[7, -1], [1, 1]], [[1, 1], [1, 1]]]}),
            "itself": model(), "deep": "[" * 100_000}.items())


if __name__ == "__main__":
    if "--list" in sys.argv:
        for name, attacks in (("json", json_attacks()), ("pomdp", pomdp_attacks()),
                              ("csv", csv_attacks()), ("toml", toml_attacks())):
            print(*(f"{name}: {what}" for what, _ in attacks), sep="\n")
        sys.exit()
    if "--full" in sys.argv:
        sys.argv.remove("--full")
        FULL = True
    unittest.main()
