"""A log in a folder: every verb that reads logs takes it, whole, and nothing else that is
there."""

import json
import unittest

from support import CliCase

MODEL = "machine-maintenance"
LINE = {
    "format": "oas-model/1", "timing": "before", "states": 2, "actions": 2,
    "observations": {"dimension": 1},
    "transition": [[[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.4, 0.6]]],
    "density": [[{"kind": "gaussian", "mean": m, "sd": 1} for m in (0, 3)]] * 2,
}


class ShardsCase(CliCase):
    def simulate(self, *arguments, model=MODEL):
        self.good("simulate", model, "--seed", 4, "--policy", "uniform", *arguments)

    def names(self, folder="logs"):
        return sorted(path.name for path in (self.folder / folder).iterdir())


class FoldersAreLogs(ShardsCase):
    """The numbers of a folder and of a pattern are those of the same rows in one file."""

    FORMS = ("whole.csv", "logs", "logs/", "logs/shard-*.csv.zst")

    def setUp(self):
        super().setUp()
        runs = ("--runs", 7, "--steps", 60)
        self.simulate(*runs, "-o", "whole.csv")
        self.simulate(*runs, "--shards", 3, "-o", "logs/")

    def same(self, run):
        """run(log) says or writes the same whichever way the log is named."""
        first, *others = [run(log) for log in self.FORMS]
        for form, other in zip(self.FORMS[1:], others):
            self.assertEqual(other, first, form)

    def written(self, *words, output):
        self.good(*words)
        return self.read(output)

    def test_filter(self):
        self.same(lambda log: self.written("filter", MODEL, log, "-o", "b.csv", output="b.csv"))

    def test_forecast(self):
        self.same(lambda log: self.good("forecast", MODEL, log, "--actions", 0, "--json"))

    def test_report(self):
        def page(log):
            text = self.written("report", MODEL, log, "--title", "t", "--actions", 0, "-o",
                                "page.html", output="page.html")
            return text.replace(b"logs/shard-00000.csv.zst and 2 more files", b"whole.csv")
        self.same(page)

    def test_policies_of_logs(self):
        def shown(words, log):
            return self.good(*words, "--policy", f"log:{log}", "--json").replace(log, "LOG")
        self.same(lambda log: shown(("evaluate", MODEL), log))
        self.same(lambda log: shown(("forecast", MODEL, "whole.csv"), log))

    def test_score_diagnose_and_estimate(self):
        self.same(lambda log: self.good("score", MODEL, "--log", log, "--json"))
        self.same(lambda log: self.good("estimate", MODEL, log, "--estimator", "oas", "--json"))
        for log in self.FORMS:
            self.good("diagnose", MODEL, log)

    def test_discretise(self):
        self.write_model("line.json", LINE)
        runs = ("--runs", 7, "--steps", 60)
        self.simulate(*runs, "-o", "whole.csv", model="line.json")
        self.simulate(*runs, "--shards", 3, "-o", "logs/", model="line.json")
        self.same(lambda log: self.written("discretise", "line.json", "--trials", 10, "--log", log,
                                           "--log-out", "cells.csv", output="cells.csv"))


class OwnFiles(ShardsCase):
    def test_a_file_for_each_unit(self):
        """Units are called as their files where these say no more."""
        (self.folder / "pumps").mkdir()
        for pump in ("a", "b"):
            self.simulate("--steps", 30, "-o", f"pumps/{pump}.csv")
        names = ["pumps/a.csv", "pumps/b.csv"]
        for log in ("pumps", "pumps/*.csv"):
            found = self.good_json("forecast", MODEL, log, "--actions", 0)
            self.assertEqual([unit["unit"] for unit in found["units"]], names)
        self.good("filter", MODEL, *names, "-o", "b.csv")
        rows = self.read("b.csv").decode().splitlines()[1:]
        self.assertEqual(sorted({row.split(",")[0] for row in rows}), names)

    def test_a_unit_in_two_files_without_times(self):
        for name in ("a.csv", "b.csv"):
            self.write(name, "run,action,observation\nx,0,0\n")
        self.bad("forecast", MODEL, "a.csv", "b.csv", "--actions", 0,
                 says=["b.csv: run 'x' was in an earlier file, too", "time"])

    def test_the_first_fault_is_named_with_its_file(self):
        self.write("a.csv", "action,observation\n0,0\n")
        self.write("b.csv", "action,observation\n0,0\n0,nonsense\n")
        self.bad("filter", MODEL, "a.csv", "b.csv", "-o", "out.csv", says=["b.csv:3:2: "])


class StaleShards(ShardsCase):
    ESTIMATE = ("estimate", MODEL, "--estimator", "oas", "--json")

    def test_fewer_shards_leave_no_old_ones(self):
        self.simulate("--runs", 6, "--steps", 50, "--shards", 6, "-o", "logs/")
        self.simulate("--runs", 4, "--steps", 50, "--shards", 2, "-o", "logs/")
        self.assertEqual(self.names(), ["oas-shards.json", "shard-00000.csv.zst",
                                        "shard-00001.csv.zst"])
        self.simulate("--runs", 4, "--steps", 50, "-o", "whole.csv")
        whole = self.good(*self.ESTIMATE, "whole.csv")
        self.assertEqual(self.good(*self.ESTIMATE, "logs/*.zst"), whole)

    def test_what_was_left_over_is_an_error_with_its_name(self):
        self.simulate("--runs", 4, "--steps", 50, "--shards", 4, "-o", "logs/")
        old = self.read("logs/shard-00003.csv.zst")
        self.simulate("--runs", 3, "--steps", 50, "--shards", 3, "-o", "logs/")
        (self.folder / "logs/shard-00003.csv.zst").write_bytes(old)
        every = [f"logs/{name}" for name in self.names() if name.endswith(".zst")]
        for logs in (["logs/*.zst"], every):
            self.bad(*self.ESTIMATE, *logs,
                     says=["logs/shard-00003.csv.zst: is not in the oas-shards.json beside it"])
        self.good(*self.ESTIMATE, "logs")

    def test_a_shard_that_is_missing_is_missed_by_a_pattern_too(self):
        self.simulate("--runs", 3, "--steps", 50, "--shards", 3, "-o", "logs/")
        (self.folder / "logs/shard-00001.csv.zst").unlink()
        for log in ("logs", "logs/*.zst", "l*s/*"):
            self.bad(*self.ESTIMATE, log, says=["logs/shard-00001.csv.zst: is listed"])

    def test_a_folder_of_somebody_else_is_not_written_over(self):
        self.simulate("--runs", 3, "--steps", 50, "--shards", 3, "-o", "logs/")
        listed = self.folder / "logs/oas-shards.json"
        listed.write_text(listed.read_text().replace("shard-00001.csv.zst", "mine.csv.zst"))
        before = self.names()
        result = self.oas("simulate", MODEL, "--runs", 2, "--steps", 50, "-o", "logs/")
        self.assertEqual(result.returncode, 2)
        self.assertIn("lists mine.csv.zst, which no simulation has written", result.stderr)
        self.assertEqual(self.names(), before)

    def test_changed_bytes_are_found_by_every_verb(self):
        self.simulate("--runs", 3, "--steps", 50, "--shards", 3, "-o", "logs/")
        listed = self.folder / "logs/oas-shards.json"
        document = json.loads(listed.read_text())
        document["shards"][2]["checksum"] = "0000000000000001"
        listed.write_text(json.dumps(document))
        for verb in (("estimate", MODEL, "--estimator", "oas", "logs"),
                     ("filter", MODEL, "logs", "-o", "out.csv"),
                     ("forecast", MODEL, "logs", "--actions", 0),
                     ("report", MODEL, "logs", "-o", "page.html"),
                     ("score", MODEL, "--log", "logs"),
                     ("diagnose", MODEL, "logs"),
                     ("evaluate", MODEL, "--policy", "log:logs")):
            self.bad(*verb, says=["shard-00002.csv.zst: these are not the bytes"])


if __name__ == "__main__":
    unittest.main()
