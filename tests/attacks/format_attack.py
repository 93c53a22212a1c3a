"""Files that are not quite what they say: bytes behind the end, zeros, damage at every place."""

import json
import random
import unittest

from attack import AttackCase

TRIES = 5
TAILS = (b"\0", b"\0garbage", b"garbage", b"{}", b"<a/>", b"\x1a", b" \n\0 \n", b"]", b"//c", b"&",
         b"text", b"\xff\xfe", b"\x1b[31m")


class FormatCase(AttackCase):
    def setUp(self):
        super().setUp()
        for name in ("m.json", "m.pomdp", "m.pomdpx"):
            self.good("problem", "robot-corridor", "-o", name, "--quiet")
        self.good("plan", "m.json", "-o", "plan.json")
        self.good("simulate", "m.json", "--steps", 300, "--policy", "uniform", "-o", "log.csv")
        self.good("estimate", "m.json", "log.csv", "-o", "estimate.json")
        for policy in ("plan.alpha", "plan.policy"):
            self.oas("convert", "plan.json", policy)
        self.readers = {
            "m.json": ["check"], "m.pomdp": ["check"], "m.pomdpx": ["check"],
            "plan.json": ["evaluate", "m.json"], "plan.policy": ["evaluate", "m.json"],
            "estimate.json": ["compare", "--quiet"], "log.csv": ["filter", "m.json"]}
        self.readers = {name: verb for name, verb in self.readers.items()
                        if (self.folder / name).exists()}

    def read_file(self, name, verb, **options):
        after = {"compare": ["m.json"], "filter": ["-o", "/dev/null"]}.get(verb[0], [])
        return self.held(*verb, name, *after, **options)


class Ends(FormatCase):
    def test_bytes_behind_the_end(self):
        for name, verb in self.readers.items():
            if name == "log.csv":
                continue
            whole = self.read(name)
            self.assertEqual(self.read_file(name, verb).code, 0, name)
            for tail in TAILS:
                (self.folder / f"bad_{name}").write_bytes(whole + tail)
                if name.endswith(".pomdp") and not tail.strip(b" \n"):
                    continue
                self.read_file(f"bad_{name}", verb, code=2)

    def test_text_between_elements(self):
        whole = self.read("m.pomdpx")
        for place in (b"</pomdpx>", b"<Variable>", b"<StateTransitionFunction>"):
            at = whole.index(place)
            for text in (b"text", b"<![CDATA[text]]>", b"\0"):
                (self.folder / "bad.pomdpx").write_bytes(whole[:at] + text + whole[at:])
                self.held("check", "bad.pomdpx", code=2, says=["bad.pomdpx:"])
            for text in (b"<!-- fine -->", b"\n\n"):
                (self.folder / "bad.pomdpx").write_bytes(whole[:at] + text + whole[at:])
                self.held("check", "bad.pomdpx", code=0)

    def test_cut_files(self):
        for name, verb in self.readers.items():
            whole = self.read(name)
            for part in range(1, 12, 2):
                (self.folder / f"bad_{name}").write_bytes(whole[:len(whole) * part // 12])
                self.read_file(f"bad_{name}", verb)

    def test_random_damage(self):
        for name, verb in self.readers.items():
            whole = self.read(name)
            for seed in range(TRIES):
                chance = random.Random(f"{name} {seed}")
                data = bytearray(whole)
                for _ in range(chance.choice([1, 1, 2, 5])):
                    at = chance.randrange(len(data))
                    data[at:at + chance.choice([0, 1, 1, 3])] = chance.choice(
                        [bytes([chance.randrange(256)]), b"1e999", b"-", b"nan", b"{", b"<", b",",
                         b"\n", b"9" * 30, b"\0", b'"', b"*"])
                (self.folder / f"bad_{name}").write_bytes(data)
                ended = self.read_file(f"bad_{name}", verb)
                self.assertNotRegex(ended.out, rb"(?i)\b-?nan\b|\binf\b")


class Numbers(FormatCase):
    def test_propensities(self):
        lines = self.read("log.csv").decode().splitlines()
        column = lines[1].split(",").index("propensity")
        for value in ("5e-324", "1e-320", "1e-100", "0", "-0", "-1", "2", "1.0000001", "nan", "inf",
                      "1e-30"):
            cells = lines[100].split(",")
            cells[column] = value
            self.write("odd.csv", "\n".join([*lines[:100], ",".join(cells), *lines[101:], ""]))
            for estimator in ("oas", "oas-overlap", "oas-weighted", "oas-ml", "em"):
                ended = self.held("estimate", "m.json", "odd.csv", "--estimator", estimator,
                                  "--json")
                if value != "1e-30":
                    self.assertEqual(ended.code, 2)
                    self.assertIn(b"odd.csv:101:", ended.err)
                else:
                    self.assertNotRegex(ended.out + ended.err, rb"\bnan\b")
                    if b"null" in ended.out:  # rows without error bars
                        self.assertEqual(json.loads(ended.out)["status"], "flagged")

    def test_rewards(self):
        document = json.loads(self.read("m.json"))
        key = next(key for key in document if "reward" in key)
        for value in (1e300, 1.7e308, -1e308, 5e-324):
            def scaled(cell, factor=value):
                return [scaled(c) for c in cell] if isinstance(cell, list) else factor
            self.write("big.json", json.dumps({**document, key: scaled(document[key])}))
            for verb in (["plan"], ["evaluate", "--policy", "constant:0"], ["check"],
                         ["simulate", "--steps", "50", "-o", "/dev/null"],
                         ["learn", "--agent", "uniform", "--steps", "50", "--runs", "2"]):
                ended = self.held(verb[0], "big.json", *verb[1:])
                self.assertNotRegex(ended.out + ended.err, rb"(?i)\b-?nan\b|\binf\b", (verb, value))

    def test_control_characters_and_paths_in_names(self):
        names = ["\x1b[31mred", "a\nb", "a\0b", "</title><script>", "..", "a/b", "\u202e",
                 "x" * 999]
        for name in names:
            document = json.loads(self.read("m.json"))
            document["states"] = [name, *[f"s{i}" for i in range(1, len(document["states"]))]]
            self.write("odd.json", json.dumps(document))
            for verb in (["check", "odd.json"], ["plan", "odd.json"],
                         ["convert", "odd.json", "out.pomdpx"]):
                self.held(*verb, leaves=["out.pomdpx"])
            self.write("odd.toml", f'format = "oas-study/1"\nname = {json.dumps(name)}\n')
            self.held("study", "run", "odd.toml", code=2)


if __name__ == "__main__":
    unittest.main()
