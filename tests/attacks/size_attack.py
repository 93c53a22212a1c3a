"""Small files that ask for much: every verb stays below 1 GB and 10 s, or a named limit refuses."""

import gzip
import json
import unittest

from attack import AttackCase

MODEL = {"format": "oas-model/1", "timing": "after", "states": 2, "actions": 1, "observations": 2,
         "observation": [[[0.9, 0.1], [0.2, 0.8]]]}

HEADER = b"# oas-log/1 timing=after\naction,observation,state\n"


class SizeCase(AttackCase):
    def setUp(self):
        super().setUp()
        self.write("m.json", json.dumps(dict(MODEL, transition=MODEL["observation"])))

    def packed(self, name, pieces):
        """A gzip file of many pieces; at most 5 MB."""
        path = self.folder / name
        with gzip.open(path, "wb", 9) as file:
            for piece in pieces:
                file.write(piece)
        self.assertLess(path.stat().st_size, 6 << 20)
        return name


class Names(SizeCase):
    def test_long_labels(self):
        log = self.packed("log.csv.gz", [HEADER] + [
            b"0,0,%d" % i + b"x" * 1_000_000 + b"\n" for i in range(1200)])
        self.held("calibrate", log, "-o", "s.json", code=2, says=["log.csv.gz:3", "1000"])

    def test_labels_of_all_columns(self):
        for column in range(3):
            cells = [b"a", b"b", b"c"]
            cells[column] = b"y" * 1001
            log = self.packed("log.csv.gz", [HEADER,
                                             b",".join(cells) + b"\n"])
            self.held("calibrate", log, "-o", "s.json", code=2, says=["1001 bytes", "1000"])

    def test_many_labels(self):
        log = self.packed("log.csv.gz", [HEADER] + [
            b"a,b,%d" % i + b"z" * 900 + b"\n" for i in range(60_000)])
        self.held("calibrate", log, "-o", "s.json", code=2, says=["labels", "limit"])

    def test_long_names_of_runs(self):
        log = self.packed("log.csv.gz", [b"run,action,observation\n"] + [
            b"%d" % i + b"x" * 1_000_000 + b",0,0\n" for i in range(2000)])
        for verb in (["estimate", "m.json", log], ["filter", "m.json", log, "-o", "out.csv"],
                     ["score", "m.json", log], ["diagnose", "m.json", log]):
            self.held(*verb, code=2, says=["name of a run", "1000"])

    def test_many_mixed_units(self):
        names = [b"u%d" % i + b"n" * 900 for i in range(100_000)]
        log = self.packed("log.csv.gz", [b"unit,action,observation\n"] + [
            name + b",0,0\n" for name in names + names])
        self.held("estimate", "m.json", log, "--columns", "run=unit", says=[])

    def test_many_columns(self):
        cells = ",".join(f"c{i}" for i in range(100_000))
        self.write("wide.csv", f"action,observation,{cells}\n" + "0," * 100_001 + "0\n")
        self.held("estimate", "m.json", "wide.csv")


class Tables(SizeCase):
    def test_a_column_of_measurements_taken_for_names(self):
        rows = "".join(f"0,{i},{i}\n" for i in range(60_000))
        self.write("log.csv", "# oas-log/1 timing=after\naction,observation,state\n" + rows)
        self.held("calibrate", "log.csv", "-o", "s.json", code=2, says=["more than the limit"])
        self.write("log.csv", "# oas-log/1 timing=after\naction,observation,state\n" +
                   "".join(f"0,{i}.5,s{i}\n" for i in range(60_000)))
        self.held("calibrate", "log.csv", "-o", "s.json", code=2, says=["limit"])

    def test_sizes_alone(self):
        for sizes in ((9000, 1, 9000), (2_000_000_000, 1, 1), (1, 2_000_000_000, 1),
                      (10**18, 1, 1), (1 << 31, 1 << 31, 1 << 31), (100_000, 1, 2)):
            document = dict(zip(("states", "actions", "observations"), sizes))
            self.write("big.json", json.dumps({"format": "oas-model/1", "timing": "after",
                                               **document}))
            self.write("log.csv", "action,observation,state\n0,0,0\n0,0,0\n")
            self.held("calibrate", "log.csv", "--model", "big.json", "-o", "s.json", code=2)
            for verb in (["check", "big.json"], ["plan", "big.json"], ["simulate", "big.json"]):
                self.held(*verb, code=2)

    def test_many_states_with_one_observation(self):
        for states in (14_000, 60_000):
            document = dict(MODEL, states=states, observations=1, observation=[[[1]] * states])
            self.write("big.json", json.dumps(document))
            self.write("log.csv", "action,observation\n" + "0,0\n" * 100)
            for verb in (["check", "big.json"], ["estimate", "big.json", "log.csv"],
                         ["filter", "big.json", "log.csv"], ["plan", "big.json"]):
                self.held(*verb)

    def test_pomdp_files(self):
        for text in ("discount: 0.9\nvalues: reward\nstates: 14000\nactions: 1\n"
                     "observations: 14000\nT: * uniform\nO: * uniform\n",
                     "discount: 0.9\nvalues: reward\nstates: 1000000\nactions: 1000\n"
                     "observations: 1\nT: * identity\nO: * uniform\n",
                     "discount: 0.9\nvalues: reward\nstates: 99999999999999\nactions: 1\n",
                     "discount: 0.9\nvalues: reward\nstates: 3000\nactions: 3000\n"
                     "observations: 3000\nT: * identity\nO: * uniform\nR: * : * : * : * 1\n"):
            self.write("big.pomdp", text)
            for verb in (["check", "big.pomdp"], ["convert", "big.pomdp", "out.json"],
                         ["plan", "big.pomdp"]):
                self.held(*verb, leaves=["out.json"])
                (self.folder / "out.json").unlink(missing_ok=True)


class Bombs(SizeCase):
    def test_much_of_anything(self):
        for piece in (b"\0" * (1 << 20), b"\n" * (1 << 20), b"0,0\n" * (1 << 18),
                      b"," * (1 << 20), b'"' * (1 << 20), b"#" * (1 << 20), b"# x\n" * (1 << 18)):
            log = self.packed("log.csv.gz", [b"action,observation\n"] + [piece] * 8)
            self.held("filter", "m.json", log, "-o", "/dev/null")

    def test_deep_and_wide_json(self):
        for text in ("[" * 900_000, "{\"a\":" * 150_000, "[" * 400_000 + "]" * 400_000,
                     '{"observations": {"dimension": 1}, "density": ' + "[" * 800_000,
                     "{" + ",".join(f'"k{i}": 1' for i in range(80_000)) + "}",
                     '"' + "x" * 900_000, "1" * 900_000, "1e" + "9" * 900_000,
                     '{"format": "oas-model/1", "states": [' + '"a",' * 200_000 + '"a"]}'):
            self.write("big.json", text)
            self.write("log.csv", "action,observation\n0,0\n")
            for verb in (["check", "big.json"], ["estimate", "big.json", "log.csv"],
                         ["compare", "big.json", "m.json"], ["calibrate", "log.csv", "--model",
                                                             "big.json", "-o", "s.json"],
                         ["evaluate", "m.json", "--policy", "big.json"],
                         ["estimate", "m.json", "log.csv", "--structure", "big.json"]):
                self.held(*verb, code=2)

    def test_deep_toml(self):
        for text in ("[" + ".".join("a" * 60_000) + "]\n", "a = " + "[" * 200_000,
                     "a = " + "{a=" * 100_000, "[[" + ".".join(["a"] * 50_000) + "]]",
                     "".join(f"[t{i}]\n" for i in range(80_000)), 'a = """' + "\n" * 500_000):
            self.write("big.toml", text)
            self.held("study", "run", "big.toml", "-o", "r", code=2)

    def test_deep_pomdpx(self):
        for text in ("<a>" * 250_000, "<pomdpx>" + "<!-- " * 100_000, "<!DOCTYPE a [" + "".join(
                f'<!ENTITY e{i} "&e{i - 1};&e{i - 1};">' for i in range(1, 60)) + "]><a>&e59;</a>",
                     "<pomdpx " + " ".join(f'a{i}="1"' for i in range(60_000)) + "/>"):
            self.write("big.pomdpx", text)
            self.held("check", "big.pomdpx", code=2)


if __name__ == "__main__":
    unittest.main()
