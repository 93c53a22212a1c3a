"""Every verb while the n-th call of a kind fails: memory, maps, open, read, write, sync, rename,
stat, threads, locks (fault_shim.cpp). Either the verb does not need that call and gives what it
always gives, or it ends with code 1 (2 where a file cannot be opened), one message, old files as
they were and nothing left behind. A study goes on afterwards to the very results.

n runs through 1, 2, 3, … and then in growing steps to the last call; --full takes steps of a
hundredth. Names of verbs as arguments: those alone, and every single n.
"""

import collections
import contextlib
import json
import os
import re
import shutil
import sqlite3
import struct
import sys
import unittest

from attack import AttackCase
from store_attack import STUDY

SHIM = os.environ["OAS_FAULT_SHIM"]
KINDS = ("memory", "map", "open", "read", "write", "sync", "replace", "look", "thread", "lock")
# A file that cannot be opened or looked at is a wrong argument.
WRONG_ARGUMENT = {"open", "replace", "look"}
FACTOR = 5
# What the libraries below keep to the end.
MOST_BLOCKS = 8
# The JSON library loses the parts of an object for which memory ends while it is made.
PARTS_OF_AN_OBJECT = 32
# The C library ends a process that has no memory for the storage of a new thread.
GLIBC_ENDS = b"Fatal glibc error: failed to register TLS destructor"
# So the list of studies says of a file, and goes on with the others.
UNREADABLE_STUDY = b"cannot be read: "
ONLY = []

MODEL = {"format": "oas-model/1", "timing": "after", "states": 2, "actions": 2, "observations": 2,
         "transition": [[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.3, 0.7]]],
         "observation": [[[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.2], [0.3, 0.7]]],
         "reward": [[0, 1], [1, 0]]}
# With densities for sensors.
REAL = {**{key: MODEL[key] for key in ("format", "timing", "states", "actions", "transition",
                                       "reward")},
        "observations": {"dimension": 1},
        "density": [[{"kind": "gaussian", "mean": mean, "sd": 1} for mean in (0, 2)]] * 2}
POLICY = ["--policy", "uniform"]
SMALL_STUDY = STUDY.replace("replications = 3", "replications = 1")

# Name: arguments and the outputs among them, which lie in out/.
VERBS = {
    "list": ["list"],
    "help": ["--help"],
    "problem": ["problem", "pest-control", "-o", "out/m.json"],
    "check": ["check", "m.json", "--json"],
    "convert-pomdp": ["convert", "m.pomdp", "out/m.json"],
    "convert-pomdpx": ["convert", "m.pomdpx", "out/m.json"],
    "wrong": ["check", "bad.json"],
    "wrong-option": ["plan", "m.json", "--grid", "-7"],
    "wrong-log": ["estimate", "m.json", "bad.csv"],
    "simulate": ["simulate", "m.json", "--steps", "300", *POLICY, "-o", "out/log.csv"],
    "simulate-gzip": ["simulate", "m.json", "--steps", "300", *POLICY, "-o", "out/log.csv.gz"],
    "simulate-zstd": ["simulate", "m.json", "--steps", "300", *POLICY, "-o", "out/log.csv.zst"],
    "calibrate": ["calibrate", "labels.csv", "-o", "out/sensors.json"],
    "estimate": ["estimate", "m.json", "log.csv", "-o", "out/estimate.json"],
    "estimate-ml": ["estimate", "m.json", "log.csv.gz", "--estimator", "oas-ml", "-o",
                    "out/estimate.json"],
    "estimate-zstd": ["estimate", "m.json", "log.csv.zst", "--estimator", "gibbs", "--json"],
    "compare": ["compare", "m.json", "estimate.json", "--json"],
    "convert": ["convert", "m.json", "out/m.pomdpx"],
    "diagnose": ["diagnose", "m.json", "log.csv", "--json"],
    "discretise": ["discretise", "real.json", "--cells", "3", "--trials", "40", "--log", "real.csv",
                   "--log-out", "out/cells.csv", "-o", "out/m.json"],
    "filter": ["filter", "m.json", "log.csv", "-o", "out/beliefs.csv"],
    "filter-units": ["filter", "m.json", "units.csv", "--columns", "run=unit", "-o",
                     "out/beliefs.csv"],
    "forecast": ["forecast", "estimate.json", "log.csv", "--actions", "0", "--json"],
    "report": ["report", "estimate.json", "log.csv", "-o", "out/report.html"],
    "score": ["score", "m.json", "log.csv", "--json"],
    "plan": ["plan", "m.json", "--grid", "6", "--threads", "3", "-o", "out/plan.json"],
    "plan-figure": ["plan", "m.json", "--grid", "6", "--figure", "out/plan.svg"],
    "plan-point": ["plan", "m.json", "--planner", "point", "--json"],
    "evaluate": ["evaluate", "m.json", "plan.json", "--steps", "500", "--json"],
    "plan-draws": ["plan", "estimate.json", "--grid", "4", "--steps", "64", "--json"],
    "what-if": ["evaluate", "estimate.json", "--policy", "constant:0", "--policy", "uniform",
                "--json"],
    "learn": ["learn", "m.json", "--agent", "uniform", "--steps", "60", "--runs", "4",
              "--threads", "3", "--json"],
    "study-run": ["study", "run", "small.toml", "-o", "out/r", "--threads", "2"],
    "study-continue": ["study", "run", "small.toml", "-o", "out/parts"],
    "study-report": ["study", "report", "out/whole"],
    "study-repair": ["study", "repair", "out/hurt"],
    "study-replay": ["study", "replay", "out/whole", "0"],
}
STUDIES = {"study-run": "r", "study-continue": "parts", "study-report": "whole",
           "study-repair": "hurt", "study-replay": "whole"}


def without_times(text):
    return re.sub(rb'"seconds": [-+.e0-9]+|[.0-9]+ s\n', b"", text)


class Faults(AttackCase):
    def setUp(self):
        super().setUp()
        self.write("m.json", json.dumps(MODEL))
        for name in ("m.pomdp", "m.pomdpx"):
            self.good("convert", "m.json", name)
        self.write("bad.json", json.dumps(MODEL).replace("0.9", "1.9"))
        for name in ("log.csv", "log.csv.gz", "log.csv.zst"):
            self.good("simulate", "m.json", "--steps", 400, *POLICY, "-o", name)
        self.good("simulate", "m.json", "--steps", 400, *POLICY, "--state", "-o", "labels.csv")
        self.write("real.json", json.dumps(REAL))
        self.good("simulate", "real.json", "--steps", 400, *POLICY, "-o", "real.csv")
        self.write("bad.csv", "action,observation\n0,0\n0,7\n")
        self.write("units.csv", "unit,action,observation\n" + "a,0,0\nb,1,1\n" * 50)
        self.good("estimate", "m.json", "log.csv", "-o", "estimate.json")
        self.good("plan", "m.json", "--grid", 6, "-o", "plan.json")
        self.write("small.toml", SMALL_STUDY)
        self.tried = collections.Counter()
        self.counts = self.folder / "counts"
        self.make_stores()

    def make_stores(self):
        """A sound one, one with a task of two, and one with a task that a flipped bit damaged."""
        self.good("study", "run", "small.toml", "-o", "stores/whole")
        self.csv = self.read("stores/whole/estimation.csv")
        shutil.copytree(self.folder / "stores/whole", self.folder / "stores/hurt")
        with self.store("stores/hurt") as database:
            database.execute("UPDATE estimation SET error = error + 1 WHERE unit = 0")
        for number in range(1, 400):
            shutil.rmtree(self.folder / "stores/parts", ignore_errors=True)
            self.run_oas("study", "run", "small.toml", "-o", "stores/parts", "--threads", 1,
                         env=self.faulty(("write", number, "on")))
            if self.stored("stores/parts") == 1:
                return
        self.fail("no number of writes is enough for one task of two")

    @contextlib.contextmanager
    def store(self, folder):
        database = sqlite3.connect(self.folder / folder / "results.sqlite")
        with database:
            yield database
        database.close()

    def stored(self, folder):
        """How many tasks are finished there."""
        try:
            with self.store(folder) as database:
                return database.execute("SELECT count(*) FROM units").fetchone()[0]
        except sqlite3.Error:
            return 0

    def faulty(self, fault=None):
        self.counts.write_bytes(bytes(8 * len(KINDS) + 8))
        environment = {**os.environ, "LD_PRELOAD": SHIM, "OAS_FAULT_COUNTS": str(self.counts)}
        if fault:
            environment["OAS_FAULT"] = " ".join(map(str, fault))
        return environment

    def run_with(self, name, fault=None):
        """Fresh old files, then the verb; how it ended and what lies in out/ now."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        (self.folder / "out").mkdir()
        if name in STUDIES:
            if (self.folder / "stores" / STUDIES[name]).exists():
                shutil.copytree(self.folder / "stores" / STUDIES[name],
                                self.folder / "out" / STUDIES[name])
        for output in self.outputs(name):
            (self.folder / output).write_text("old")
        return self.run_oas(*VERBS[name], env=self.faulty(fault), timeout=60)

    @staticmethod
    def outputs(name):
        return [word for word in VERBS[name] if word.startswith("out/") and name not in STUDIES]

    def files(self):
        return {os.path.relpath(os.path.join(folder, file), self.folder)
                for folder, _, files in os.walk(self.folder / "out") for file in files}

    def calls(self, name):
        """How often the verb calls each kind, and what it gives when nothing fails."""
        ended = self.run_with(name)
        self.assertEqual(ended.code, 2 if name.startswith("wrong") else 0, (name, ended.err))
        return self.counts_now(), ended, {f: self.read(f) for f in self.outputs(name)}

    def counts_now(self):
        numbers = struct.unpack(f"{len(KINDS) + 1}q", self.counts.read_bytes())
        return dict(zip((*KINDS, "blocks"), numbers))

    def judge(self, name, fault, ended, whole, results):
        if fault[0] == "memory" and GLIBC_ENDS in ended.err:
            return
        what = f"{name}, {fault}: {ended.code} {ended.err.decode(errors='replace')[-1500:]}"
        kind = fault[0]
        most = MOST_BLOCKS + (PARTS_OF_AN_OBJECT if kind == "memory" else 0)
        self.assertLessEqual(self.counts_now()["blocks"], most, f"leak: {what}")
        wrong = name.startswith("wrong")
        # SQLite calls a file damaged of which it cannot read the beginning.
        may_be_wrong = kind in WRONG_ARGUMENT or wrong or (kind == "read" and name in STUDIES)
        self.assertIn(ended.code, (0, 1, 2) if may_be_wrong else (0, 1), what)
        if ended.code == whole.code and not wrong:
            # Folders of studies that cannot be looked at are not there for the list.
            if name == "list" and (kind == "look" or UNREADABLE_STUDY in ended.out):
                return
            if name not in STUDIES:
                self.assertEqual(without_times(ended.out), without_times(whole.out), what)
            for output in self.outputs(name):
                self.assertEqual(self.read(output), results[output], what)
            self.assertLessEqual({f for f in self.files() if name not in STUDIES},
                                 set(results), what)
            return
        lines = ended.err.decode().splitlines()
        self.assertEqual(sum(line.startswith("oas: ") for line in lines), 1, what)
        for output in self.outputs(name):
            self.assertIn(self.read(output), (b"old", results[output]), what)
        # Where renaming failed the work is not lost: the message says where it is.
        left = {f for f in self.files() - set(self.outputs(name))
                if f not in ended.err.decode() or kind != "replace"}
        if name not in STUDIES and kind != "replace":
            self.assertEqual(left, set(), what)

    def go_on(self, name, fault):
        """After the fault: a run without gives the very CSV, and no temporary file is there."""
        what = f"{name}, {fault}, then"
        folder = f"out/{STUDIES[name]}"
        ended = self.run_oas("study", "run", "small.toml", "-o", folder)
        if name == "study-repair" and ended.code != 0:
            ended = self.run_oas("study", "repair", folder)
            self.assertEqual(ended.code, 0, f"{what} repair: {ended.err}")
            ended = self.run_oas("study", "run", "small.toml", "-o", folder)
        self.assertEqual(ended.code, 0, f"{what} run: {ended.err}")
        self.assertEqual(self.read(f"{folder}/estimation.csv"), self.csv, what)

    def numbers(self, kind, last):
        """1, 2, 3, … in growing steps, and the last. Every verb begins by the same allocations,
        those of the options; only the first tries those."""
        first = min(self.options, last) if kind == "memory" else 0
        step = 1
        while first + step < last:
            yield first + step
            step = step + 1 if ONLY else max(step + 1, int(step * FACTOR))
        yield last

    def attack(self, name):
        counts, whole, results = self.calls(name)
        for kind in KINDS:
            if counts[kind] == 0:
                continue
            for number in self.numbers(kind, counts[kind]):
                for mode in ("once", "on"):
                    fault = (kind, number, mode)
                    ended = self.run_with(name, fault)
                    with self.subTest(fault=fault, verb=name):
                        self.judge(name, fault, ended, whole, results)
                        if name in STUDIES:
                            self.go_on(name, fault)
                    self.tried[kind] += 1

    def test_every_verb(self):
        options = self.calls("wrong-option")[0]["memory"] - 100
        for name in ONLY or VERBS:
            self.options = 0 if name == "list" else options
            self.attack(name)
        print(f"faults: {dict(self.tried)}", file=sys.stderr)


if __name__ == "__main__":
    if "--full" in sys.argv:
        sys.argv.remove("--full")
        FACTOR = 1.01
    ONLY = [name for name in sys.argv[1:] if name in VERBS]
    sys.argv[1:] = [name for name in sys.argv[1:] if name not in VERBS]
    unittest.main()
