"""Damaged result stores: what is found, what `oas study repair` keeps; stores of earlier oas."""

import sqlite3
import unittest

from run_cli_test import UNITS, StudyCase
from stores import changed, fnv


class StoreCase(StudyCase):
    def setUp(self):
        super().setUp()
        self.run_study("r")
        self.whole = self.csv("r")
        (self.folder / "r/estimation.csv").unlink()

    def sql(self, *statements):
        with sqlite3.connect(self.folder / "r/results.sqlite") as file:
            for statement in statements:
                file.execute(*([statement] if isinstance(statement, str) else statement))
        file.close()

    def assert_repaired(self, again):
        result = self.good_json("study", "repair", "r")
        self.assertEqual((result["kept"], result["again"]), (UNITS - again, again))
        self.assertEqual(self.csv("r"), self.whole)
        self.assertEqual(self.run_study("r")["skipped"], UNITS)
        self.assertTrue((self.folder / result["set_aside"]).exists())


class Damage(StoreCase):
    def assert_found(self, *says):
        self.bad("study", "run", self.study, "-o", "r",
                 says=["is damaged", "study repair r", *says])
        self.assertFalse((self.folder / "r/estimation.csv").exists())
        self.bad("study", "report", "r", says=["is damaged", *says])

    def test_every_column_of_a_unit(self):
        columns = ["study", "task", "kind", "replication", "seed", "version", "library", "status",
                   "message", "seconds", "lines", "rows_checksum", "checksum"]
        for column in columns:
            self.sql(f"UPDATE units SET {column} = 'other' WHERE number = 1")
            self.assert_found("task 1")
            self.assert_repaired(1)
            (self.folder / "r/estimation.csv").unlink()

    def test_a_lost_unit(self):
        self.sql("DELETE FROM units WHERE number = 3")
        self.assert_found(f"{UNITS - 1} tasks")
        self.assert_repaired(1)

    def test_a_unit_lost_without_a_trace(self):
        self.sql("DELETE FROM units WHERE number = 3", "DELETE FROM estimation WHERE unit = 3")
        self.assert_found(f"{UNITS - 1} tasks")
        self.assert_repaired(1)

    def test_rows(self):
        self.sql("UPDATE estimation SET error = error * 1.0000001 WHERE unit = 2 AND line = 0",
                 "UPDATE estimation SET pairs = '100' WHERE unit = 5 AND line = 0",
                 "DELETE FROM estimation WHERE unit = 7 AND line = 1")
        self.bad("study", "run", self.study, "-o", "r", says=["the rows of task 2 were changed"])
        self.assert_repaired(3)

    def test_nothing_is_damaged(self):
        before = self.read("r/results.sqlite")
        self.assertIn("nothing is damaged", self.good("study", "repair", "r"))
        self.assertEqual(self.read("r/results.sqlite"), before)

    def test_the_study_itself(self):
        self.sql("UPDATE study SET value = replace(value, 'seed = 3', 'seed = 4')")
        self.assert_found("what it says of its study")
        self.bad("study", "repair", "r", says=["--study FILE"])
        self.bad("study", "repair", "r", "--quick", says=["--quick goes with --study"])
        result = self.good_json("study", "repair", "r", "--study", self.study)
        self.assertEqual((result["kept"], result["again"]), (UNITS, 0))
        self.assertEqual(self.csv("r"), self.whole)

    def test_of_another_study(self):
        self.write("other.toml", self.read(self.study).decode().replace("seed = 3", "seed = 4"))
        self.bad("study", "repair", "r", "--study", "other.toml", says=["another study"])

    def test_an_unfinished_study(self):
        """Only what was there is computed again."""
        with changed(self.folder / "r/results.sqlite") as file:
            file.execute("DELETE FROM units WHERE number >= 10")
            file.execute("DELETE FROM estimation WHERE unit >= 10")
        self.sql("UPDATE units SET status = 'failed' WHERE number = 2")
        result = self.good_json("study", "repair", "r")
        self.assertEqual((result["kept"], result["again"], result["missing"]), (9, 1, UNITS - 10))
        self.assertEqual(self.run_study("r")["finished"], UNITS - 10)
        self.assertEqual(self.csv("r"), self.whole)

    def test_another_maths_library(self):
        """Its results must not be mixed with ours; reading them is another matter."""
        with changed(self.folder / "r/results.sqlite") as file:
            file.execute("UPDATE study SET value = '0123456789abcdef' WHERE key = 'library'")
            file.execute("UPDATE units SET library = '0123456789abcdef'")
        self.good("study", "report", "r")
        self.assertEqual(self.csv("r"), self.whole)
        for verb in (["run", self.study, "-o"], ["repair"]):
            self.bad("study", *verb, "r", says=["another library of mathematical functions",
                                                "0123456789abcdef", "another folder"])


class EarlierFormat(StoreCase):
    """Format 1: checksums of the rows' text only, no tally."""

    def setUp(self):
        super().setUp()
        lines = {}
        for line in self.whole.decode().splitlines()[1:]:
            task, _, _, _, rest = line.split(",", 4)
            lines[int(task)] = lines.get(int(task), "") + rest + "\n"
        self.sql(
            "CREATE TABLE old(number INTEGER PRIMARY KEY, study TEXT, task TEXT, kind TEXT, "
            "replication INTEGER, seed INTEGER, version TEXT, status TEXT, message TEXT, "
            "seconds REAL, checksum TEXT, UNIQUE(task, replication))",
            "INSERT INTO old SELECT number, study, task, kind, replication, seed, version, status, "
            "message, seconds, '' FROM units", "DROP TABLE units", "DROP TABLE tally",
            "ALTER TABLE old RENAME TO units",
            "DELETE FROM study WHERE key IN ('library', 'library_name', 'checksum')",
            "CREATE TABLE old(started TEXT, seconds REAL, threads INTEGER, machine TEXT, "
            "version TEXT, units INTEGER)",
            "INSERT INTO old SELECT started, seconds, threads, machine, version, units "
            "FROM sessions", "DROP TABLE sessions", "ALTER TABLE old RENAME TO sessions",
            "PRAGMA user_version = 1",
            *(("UPDATE units SET checksum = ? WHERE number = ?", (fnv(text.encode()), number))
              for number, text in lines.items()))

    def test_is_read(self):
        self.assertEqual(self.good_json("study", "report", "r")["missing"], 0)
        self.assertEqual(self.csv("r"), self.whole)
        self.assertTrue(self.good_json("study", "replay", "r", 5)["equal"])

    def test_is_not_continued(self):
        for verb in (["run", self.study, "-o"], ["repair"]):
            self.bad("study", *verb, "r", says=["made by an earlier oas", "another folder"])

    def test_what_can_be_found_is_found(self):
        self.sql("UPDATE units SET kind = 'estimatiom' WHERE number = 1")
        self.bad("study", "report", "r", says=["the record of task 1 was changed"])


class Replay(StoreCase):
    def test_numbers_that_do_not_exist_or_parse(self):
        for task in ("999999999999999999999", UNITS, "9223372036854775807"):
            self.bad("study", "replay", "r", task, says=["there is no task"])
        name = "a/size=3x2x4/iota=0.25"
        for replication in ("abc", "", "6", "-1", "+1", "1x", "1.0", " 1", "99999999999999999999"):
            self.bad("study", "replay", "r", f"{name}#{replication}",
                     says=[f"'{replication}' is not a replication"])
        for task in (name, "", "1x", "+1", "0x1", "1.0", "#1", "nobody#1"):
            self.bad("study", "replay", "r", task, says=["no task"])
        self.assertIn("equal", self.good("study", "replay", "r", f"{name}#05"))


if __name__ == "__main__":
    unittest.main()
