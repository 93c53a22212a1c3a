"""Odd doors: pipes, names of files, broken files in ./studies, hostile stores, processes killed."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
import unittest

from attack import OAS, AttackCase
from store_attack import STUDY

KILLS = 25


class Doors(AttackCase):
    def test_models_from_pipes(self):
        self.good("problem", "machine-maintenance", "-o", "m.json")
        self.good("simulate", "m.json", "--steps", 200, "-o", "log.csv")
        os.mkfifo(self.folder / "pipe.json")
        for verb in (["check", "pipe.json"], ["estimate", "pipe.json", "log.csv"],
                     ["filter", "pipe.json", "log.csv", "-o", "/dev/null"], ["plan", "pipe.json"]):
            writer = subprocess.Popen(["sh", "-c", "cat m.json > pipe.json"], cwd=self.folder)
            ended = self.run_oas(*verb, timeout=60)
            writer.kill()
            writer.wait()
            self.assertIn(ended.code, (0, 2), ended.err)
            if ended.code == 2:
                self.assertIn(b"pipe.json", ended.err)

    def test_things_that_are_no_files(self):
        (self.folder / "folder").mkdir()
        (self.folder / "loop").symlink_to("loop")
        for name in ("folder", "loop", "nothing", "", "/dev/null", "/proc/self/mem", "/dev/full",
                     "a" * 300, "folder/../folder", "/etc/passwd/x"):
            code = 2 if name != "/proc/self/mem" else None  # there reading fails, which is 1
            self.held("check", name, code=code)
            self.held("estimate", "machine-maintenance", name, code=code)
            self.held("study", "run", name, "-o", "r", code=code)
            self.held("study", "report", name, code=2)

    def test_names_that_are_no_text(self):
        name = b"\xff\xfe\x1b[31m.json"
        self.good("problem", "machine-maintenance", "-o", "m.json")
        shutil.copy(self.folder / "m.json", os.path.join(os.fsencode(self.folder), name))
        for verb in ([b"check", name], [b"check", name, b"--json"], [b"plan", name, b"--json"],
                     [b"check", b"\xff.nothing"]):
            ended = self.held(*verb)
            if b"--json" in verb and ended.code == 0:
                json.loads(ended.out.decode())

    def test_broken_studies_do_not_stop_the_list(self):
        (self.folder / "studies").mkdir()
        self.write("studies/good.toml", STUDY)
        for i, text in enumerate(("[" + ".".join("a" * 60_000) + "]", "", "\0", "name = '..'",
                                  STUDY.replace("small", "../../x"), "[[" * 10_000)):
            self.write(f"studies/bad{i}.toml", text)
        os.mkfifo(self.folder / "studies/pipe.txt")
        for verb in (["list"], ["study", "list"], ["list", "--json"]):
            self.assertIn(b"small", self.held(*verb, code=0).out)

    def test_studies_write_in_their_folder_only(self):
        for name in ("..", "../x", "/tmp/x", "a/b", ".", "", "x\\0y", "\\u001b[31m"):
            self.write("s.toml", STUDY.replace('name = "small"', f'name = "{name}"'))
            self.held("study", "run", "s.toml", code=2)

    def test_nothing_but_arguments(self):
        for arguments in ([], ["--"], ["-"], ["\x1b[31m"], ["check"], ["check", "--"], ["--json"],
                          ["study"], ["check", "x", "y", "z"], ["plan", "--seed", "-1", "x"],
                          ["simulate", "pest-control", "--steps", "1e5"],
                          ["simulate", "pest-control", "--steps", "9" * 40],
                          ["learn", "pest-control", "--threads", "-1"],
                          ["learn", "pest-control", "--threads", "99999999999"]):
            self.held(*arguments, code=2)


class Stores(AttackCase):
    def setUp(self):
        super().setUp()
        self.write("small.toml", STUDY)
        self.good("study", "run", "small.toml", "-o", "r")

    def test_replayed_numbers(self):
        for task in ("999999999999999999999", "-1", "6", "abc", "0x1", "a/size=2x2x2#abc", "#", "",
                     "a/size=2x2x2#99999999999999999999"):
            self.held("study", "replay", "r", task, code=2)

    def test_texts_in_a_store(self):
        """Whatever a stranger puts there, with or without the checksum that belongs to it."""
        for text in ("[" + ".".join("a" * 60_000) + "]", "", "\0", "<script>", "x" * 5_000_000):
            with sqlite3.connect(self.folder / "r/results.sqlite") as file:
                file.execute("UPDATE study SET value = ? WHERE key = 'source'", [text])
            file.close()
            self.held("study", "report", "r", code=2)
            self.held("study", "run", "small.toml", "-o", "r", code=2)

    def test_killed_and_continued(self):
        self.write("long.toml", STUDY.replace("pairs = 1000", "pairs = 100000"))
        self.good("study", "run", "long.toml", "-o", "whole")
        chance = random.Random(7)
        done = 0
        for kill in range(KILLS):
            process = subprocess.Popen([OAS, "study", "run", "long.toml", "-o", "parts"],
                                       cwd=self.folder, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0.0, 0.08))
            process.kill()
            process.wait()
            now = self.stored("parts")
            self.assertGreaterEqual(now, done, f"lost by kill {kill}")
            done = now
            if done == 6:
                done = 0
                self.finish()
        self.finish()

    def stored(self, folder):
        try:
            with sqlite3.connect(self.folder / folder / "results.sqlite") as file:
                return file.execute("SELECT count(*) FROM units").fetchone()[0]
        except sqlite3.OperationalError:
            return 0

    def finish(self):
        self.good("study", "run", "long.toml", "-o", "parts")
        self.assertEqual(self.read("parts/estimation.csv"), self.read("whole/estimation.csv"))
        shutil.rmtree(self.folder / "parts")


if __name__ == "__main__":
    if "--full" in sys.argv:
        sys.argv.remove("--full")
        KILLS = 1000
    unittest.main()
