"""`oas study run` as it lives: killed at random moments, interrupted, out of space, run twice."""

import os
import random
import resource
import signal
import sqlite3
import subprocess
import time
import unittest

from support import OAS, CliCase

STUDY = """format = "oas-study/1"
name = "small"
title = "A small study"
question = "Does it survive?"
answer = "Exponent {error.slope.median}."
seed = 3
replications = 6

[defaults]
candidates = 3
first_pairs = 100
per_decade = 2
pairs = 60000

[[sweep]]
name = "a"
kind = "estimation"
size = ["2x2x2", "3x2x4"]
iota = ["1/(10A)", 0.25]

[[figure]]
name = "error"
title = "Error against samples"
kind = "estimation"
x = "pairs"
y = "error"
series = "size"
panel = "iota_rule"
"""
UNITS = 24


class StudyCase(CliCase):
    def setUp(self):
        super().setUp()
        self.study = self.write("small.toml", STUDY)

    def run_study(self, folder, *more):
        return self.good_json("study", "run", self.study, "-o", folder, *more)

    def csv(self, folder):
        return self.read(f"{folder}/estimation.csv")

    def start(self, folder, *more, **options):
        return subprocess.Popen([OAS, "study", "run", self.study, "-o", folder, *more],
                                cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, **options)

    def stored(self, folder):
        path = self.folder / folder / "results.sqlite"
        if not path.exists():
            return 0
        with sqlite3.connect(path, timeout=10) as file:
            try:
                return file.execute("SELECT count(*) FROM units").fetchone()[0]
            except sqlite3.OperationalError:
                return 0


class Parts(StudyCase):
    def test_parts_make_the_whole(self):
        self.run_study("whole")
        for part in (1, 2, 3):
            done = self.run_study(f"part-{part}", "--shard", f"{part}/3")
            self.assertEqual((done["finished"], done["remaining"]), (UNITS // 3, 0))
        parts = ["part-3", "part-1", "part-2"]
        merged = self.good_json("study", "merge", *parts[:2], "-o", "merged")
        self.assertEqual(merged["missing"], UNITS // 3)
        merged = self.good_json("study", "merge", *parts, "-o", "merged")
        self.assertEqual((merged["added"], merged["there"], merged["missing"]),
                         (UNITS // 3, 2 * UNITS // 3, 0))
        self.assertEqual(self.csv("merged"), self.csv("whole"))
        self.good("study", "report", "merged")

    def test_what_is_no_part(self):
        for shard in ("0/3", "4/3", "1", "1/", "/3", "1/0", "-1/3", "1/3/5", "1.5/3", "a/b",
                      "1/99999999999999999999"):
            self.bad("study", "run", self.study, "-o", "r", f"--shard={shard}", says=shard)
        self.bad("study", "merge", "nowhere", "-o", "merged", says="nowhere")
        self.assertFalse((self.folder / "r").exists() or (self.folder / "merged").exists())


class Survive(StudyCase):
    def test_killed_at_random_moments(self):
        begin = time.monotonic()
        self.run_study("whole")
        whole = time.monotonic() - begin  # a try gets at most a quarter of it
        chance = random.Random(5)
        kills = 0
        while kills < 200:
            before = self.stored("parts")
            process = self.start("parts", "--threads", "2")
            if kills < 2:  # whatever else the machine does
                while self.stored("parts") == before and process.poll() is None:
                    time.sleep(0.001)
            else:
                time.sleep(chance.uniform(0.0, whole / 4))
            process.kill()
            process.communicate()
            if process.returncode == 0:
                break
            kills += 1
            self.assertGreaterEqual(self.stored("parts"), before, "something was lost")
        self.assertGreater(kills, 1)
        self.assertEqual(self.run_study("parts")["remaining"], 0)
        self.assertEqual(self.csv("parts"), self.csv("whole"))
        with sqlite3.connect(self.folder / "parts/results.sqlite") as file:
            self.assertEqual(file.execute("SELECT count(*), count(DISTINCT number) FROM units")
                             .fetchone(), (UNITS, UNITS))
            self.assertEqual(file.execute("PRAGMA integrity_check").fetchone(), ("ok",))

    def test_interrupted(self):
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            folder = f"r{sign.value}"
            process = self.start(folder, "--threads", "1")
            while self.stored(folder) == 0 and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(sign)
            _, message = process.communicate()
            self.assertEqual(process.returncode, 1)
            self.assertIn("the same command goes on", message)
            self.assertEqual(self.run_study(folder)["skipped"], self.stored(folder) -
                             self.run_study_counts(folder))
            self.assertEqual(self.stored(folder), UNITS)

    def run_study_counts(self, folder):
        """Units of the last session."""
        with sqlite3.connect(self.folder / folder / "results.sqlite") as file:
            return file.execute("SELECT units FROM sessions ORDER BY rowid DESC").fetchone()[0]

    def test_a_killed_session_is_remembered(self):
        process = self.start("r", "--threads", "1")
        while self.stored("r") < 2 and process.poll() is None:
            time.sleep(0.005)
        process.kill()
        process.communicate()
        self.run_study("r")
        with sqlite3.connect(self.folder / "r/results.sqlite") as file:
            sessions = [row[0] for row in file.execute("SELECT units FROM sessions")]
        self.assertEqual(len(sessions), 2)
        self.assertIn(sum(sessions), (UNITS - 1, UNITS))  # killed between unit and session

    def test_threads_do_not_matter(self):
        for threads in (1, 2, 4):
            self.run_study(f"t{threads}", "--threads", threads)
        self.assertEqual(self.csv("t1"), self.csv("t2"))
        self.assertEqual(self.csv("t1"), self.csv("t4"))

    def test_a_second_run_has_nothing_to_do(self):
        self.assertEqual(self.run_study("r")["finished"], UNITS)
        before = self.csv("r")
        again = self.run_study("r")
        self.assertEqual((again["finished"], again["skipped"]), (0, UNITS))
        self.assertEqual(self.csv("r"), before)

    def test_replay(self):
        self.run_study("r")
        self.assertTrue(self.good_json("study", "replay", "r", 5)["equal"])
        self.assertIn("equal", self.good("study", "replay", "r", "a/size=3x2x4/iota=0.25#2"))
        self.bad("study", "replay", "r", "nobody", says=["no task 'nobody'"])
        self.bad("study", "replay", "r", UNITS,
                 says=[f"there is no task {UNITS}: small has tasks 0 to {UNITS - 1}"])


class Trouble(StudyCase):
    def test_full_disk(self):
        """The file may not grow beyond what the first units need."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (45_000, 45_000))
        # Python ignores SIGXFSZ, and so does then the child: writes fail, as on a full disk.
        process = self.start("r", "--threads", "1", preexec_fn=limit, restore_signals=False)
        _, message = process.communicate()
        self.assertEqual(process.returncode, 1, message)
        self.assertIn("results.sqlite", message)
        self.assertIn("intact", message)
        there = self.stored("r")
        self.assertLess(there, UNITS)
        self.assertGreater(there, 0)
        self.run_study("whole")
        self.assertEqual(self.run_study("r")["skipped"], there)
        self.assertEqual(self.csv("r"), self.csv("whole"))

    def test_foreign_and_broken_files(self):
        (self.folder / "r").mkdir()
        path = self.folder / "r/results.sqlite"
        path.write_text("no database " * 100)
        self.bad("study", "run", self.study, "-o", "r", says=["r/results.sqlite", "nothing was"])
        path.unlink()
        with sqlite3.connect(path) as file:
            file.execute("CREATE TABLE mine(x)")
        before = path.read_bytes()
        self.bad("study", "run", self.study, "-o", "r", says=["not one with results of oas"])
        self.assertEqual(path.read_bytes(), before)

    def test_a_changed_study(self):
        self.run_study("r")
        self.write("small.toml", STUDY.replace("pairs = 60000", "pairs = 50000"))
        self.bad("study", "run", self.study, "-o", "r", says=["pairs = 60000", "pairs = 50000",
                                                              "choose another folder"])

    def test_folders(self):
        self.bad("study", "run", self.study, "-o", "small.toml/r", says=["cannot be made"])
        self.bad("study", "run", self.study, "-o", "/proc/none/r", says=["/proc/none/r"])
        self.bad("study", "report", "nowhere", says=["nowhere", "run the study first"])

    def test_bad_studies(self):
        self.bad("study", "run", "nothing", says=["no such file", "oas study list"])
        self.write("bad.toml", STUDY.replace("per_decade", "per_decad"))
        self.bad("study", "run", "bad.toml", says=["bad.toml:12:1", "per_decad"])
        self.bad("study", "run", self.study, "--quick", says=["no quick version"])

    def test_a_failed_task(self):
        self.write("small.toml", STUDY.replace("candidates = 3", "candidates = 3\nalpha = 1.0"))
        result = self.oas("study", "run", self.study, "-o", "r")
        self.assertEqual(result.returncode, 1)
        self.assertIn("24 tasks failed", result.stderr)
        self.assertIn("alpha is 1", result.stderr)

    def test_two_at_once(self):
        first = self.start("r", "--threads", "1")
        while self.stored("r") == 0 and first.poll() is None:
            time.sleep(0.005)
        result = self.oas("study", "run", self.study, "-o", "r")
        first.communicate()
        self.assertEqual(first.returncode, 0)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("another process", result.stderr)


if __name__ == "__main__":
    unittest.main()
