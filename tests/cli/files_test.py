"""Files that a command line names: nothing is written over what is read, standard output holds what
was asked for alone, and a signal leaves nothing behind."""

import json
import os
import signal
import subprocess
import time
import unittest

from continuous_test import MODEL
from support import OAS, CliCase


class OverInput(CliCase):
    def setUp(self):
        super().setUp()
        self.good("problem", "pest-control", "-o", "m.json")
        self.good("simulate", "m.json", "--steps", 500, "-o", "log.csv")
        os.symlink("log.csv", self.folder / "link.csv")

    def refused(self, *arguments, keeps, says="would be overwritten"):
        before = self.read(keeps)
        self.bad(*arguments, says=[says])
        self.assertEqual(self.read(keeps), before)

    def test_models_survive(self):
        self.refused("simulate", "m.json", "--steps", 5, "-o", "m.json", keeps="m.json")
        self.refused("estimate", "m.json", "log.csv", "-o", "./m.json", keeps="m.json")
        self.refused("plan", "m.json", "-o", "m.json", keeps="m.json")
        self.refused("convert", "m.json", "m.json", keeps="m.json")
        self.refused("calibrate", "log.csv", "--model", "m.json", "-o", "m.json", keeps="m.json")

    def test_the_record_beside_a_run_is_an_output_too(self):
        self.refused("learn", "m.json", "--steps", 2000, "-o", "m.csv", keeps="m.json")
        os.mkdir(self.folder / "runs")
        self.good("problem", "pest-control", "-o", "runs/uniform-0.json")
        self.refused("learn", "runs/uniform-0.json", "--agent", "uniform", "--steps", 2000, "-o",
                     "runs", keeps="runs/uniform-0.json")

    def test_logs_survive_by_any_name(self):
        for name in ("log.csv", "./log.csv", self.folder / "log.csv", "link.csv"):
            self.refused("filter", "m.json", "log.csv", "-o", name, keeps="log.csv")

    def test_plans_and_filters_survive(self):
        self.good("plan", "m.json", "-o", "plan.json")
        self.refused("simulate", "m.json", "--policy", "plan.json", "--steps", 5, "-o", "plan.json",
                     keeps="plan.json")
        self.refused("simulate", "pest-control", "--filter", "m.json", "--steps", 5, "-o", "m.json",
                     keeps="m.json")

    def test_cells(self):
        self.write_model("pump.json", MODEL)
        self.good("simulate", "pump.json", "--steps", 500, "-o", "p.csv")
        self.refused("discretise", "pump.json", "--log", "p.csv", "--log-out", "p.csv",
                     keeps="p.csv")
        self.bad("discretise", "pump.json", "--log", "p.csv", "--log-out", "d.json", "-o",
                 "./d.json", says=["d.json: two outputs would be written to this file"])
        self.good("discretise", "pump.json", "-o", "cells.json")
        self.refused("discretise", "pump.json", "--use", "cells.json", "-o", "cells.json",
                     keeps="cells.json")

    def test_names_that_are_no_files(self):
        self.good("simulate", "pest-control", "--steps", 5, "-o", "pest-control")
        self.good("filter", "m.json", "log.csv", "-o", "/dev/null")
        self.good("estimate", "m.json", "log.csv", "-o", "/dev/null")

    def test_a_log_counts_once(self):
        for verb in ("estimate", "score"):
            self.bad(verb, "m.json", "log.csv", "./log.csv",
                     says=["log.csv and ./log.csv are the same log"])
        self.bad("calibrate", "link.csv", "log.csv", "--timing", "before",
                 says=["link.csv and log.csv are the same log"])


class BeforeWork(CliCase):
    """What cannot be written is said at once, not after the work."""

    def test_folders_that_are_not_there(self):
        self.good("problem", "pest-control", "-o", "m.json")
        self.good("simulate", "m.json", "--steps", 50, "-o", "log.csv")
        for command in (("learn", "m.json", "--steps", 10 ** 9, "-o", "nodir/r.csv"),
                        ("estimate", "m.json", "log.csv", "-o", "nodir/e.json"),
                        ("plan", "m.json", "-o", "o.json", "--figure", "nodir/x.svg"),
                        ("convert", "m.json", "nodir/o.json")):
            message = self.bad(*command, says=["oas: nodir/", "cannot be written"])
            self.assertNotIn("m.json", message)

    def test_endings(self):
        self.bad("plan", "pest-control", "--figure", "x.pdf", says=["x.pdf", ".svg or .png"])
        self.good("simulate", "pest-control", "--steps", 50, "-o", "log.csv")
        self.bad("estimate", "pest-control", "log.csv", "-o", "x.txt", says=["x.txt", ".pomdpx"])

    def test_folders_that_are_no_files(self):
        self.bad("calibrate", ".", "--timing", "before", says=[".: is a folder"])
        self.good("problem", "pest-control", "-o", "m.json")
        self.bad("learn", "m.json", "-o", "-", says=["standard output"])


class StandardOutput(CliCase):
    def same(self, file, *command):
        """The command writes to standard output what it writes to a file, and talks elsewhere."""
        self.good(*command, file)
        expected = self.read(file).decode()
        (self.folder / file).unlink()
        before = sorted(os.listdir(self.folder))
        for output in ("-", "/dev/stdout"):
            for more in ((), ("--json",), ("--quiet",)):
                result = self.oas(*command, output, *more)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(result.stdout, expected)
                if more == ("--json",):
                    json.loads(result.stderr)
                else:
                    self.assertEqual(result.stderr == "", more == ("--quiet",))
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_what_was_asked_for_comes_alone(self):
        self.good("simulate", "pest-control", "--steps", 20000, "-o", "log.csv")
        self.same("a.csv", "simulate", "pest-control", "--steps", 50, "-o")
        self.same("b.csv", "filter", "pest-control", "log.csv", "-o")
        self.same("c.json", "problem", "pest-control", "-o")
        self.same("d.json", "plan", "pest-control", "--steps", 6400, "-o")
        self.same("e.json", "estimate", "pest-control", "log.csv", "-o")

    def test_logs_of_cells(self):
        self.write_model("pump.json", MODEL)
        self.good("simulate", "pump.json", "--steps", 50, "-o", "p.csv")
        self.same("q.csv", "discretise", "pump.json", "--log", "p.csv", "--log-out")
        self.bad("discretise", "pump.json", "--log", "p.csv", "--log-out", "-", "-o", "-",
                 says=["only one output"])

    def test_a_pipe(self):
        text = self.good("simulate", "pest-control", "--steps", 2000, "-o", "-")
        self.good("estimate", "pest-control", "-", stdin=text)

    def test_appending(self):
        with open(self.folder / "all.json", "w") as file:
            file.write("first\n")
        with open(self.folder / "all.json", "a") as file:
            subprocess.run([OAS, "problem", "pest-control", "-o", "-"], stdout=file,
                           stderr=subprocess.DEVNULL, check=True)
        self.assertTrue(self.read("all.json").startswith(b"first\n{"))

    def test_beliefs_are_compressed_by_the_ending(self):
        self.good("simulate", "pest-control", "--steps", 50, "-o", "log.csv")
        self.good("filter", "pest-control", "log.csv", "-o", "b.csv.gz")
        self.assertTrue(self.read("b.csv.gz").startswith(b"\x1f\x8b"))


class Signals(CliCase):
    def test_no_temporary_file_stays(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.write("big.csv", "old")
            process = subprocess.Popen(
                [OAS, "simulate", "network-link", "--steps", "1000000000", "-o", "big.csv"],
                cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            deadline = time.monotonic() + 60
            while not self.growing() and time.monotonic() < deadline:
                time.sleep(0.02)
            self.assertTrue(self.growing())
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, -number)
            self.assertEqual(os.listdir(self.folder), ["big.csv"])
            self.assertEqual(self.read("big.csv"), b"old")

    def growing(self):
        return any(path.name != "big.csv" and path.stat().st_size > 0
                   for path in self.folder.iterdir())


if __name__ == "__main__":
    unittest.main()
