"""Random damage to a result store: the right CSV to the byte or a clear error, never anything else.

Bytes of pages are changed, zeroed or moved, the file is cut, cells of any table are changed, rows
are dropped, doubled and swapped, tables vanish. `oas study run`, `report` and `repair` then have to
give the very CSV of the sound store, or to exit with 1 or 2 and a message.

--full does 10,000 of them; a number does so many.
"""

import collections
import contextlib
import random
import shutil
import sqlite3
import sys
import unittest

from support import CliCase

TRIES = 100
STUDY = """format = "oas-study/1"
name = "small"
title = "A small study"
question = "Does it hold?"
answer = "Exponent {error.slope.median}."
seed = 3
replications = 3

[defaults]
candidates = 2
first_pairs = 100
per_decade = 2
pairs = 1000

[[sweep]]
name = "a"
kind = "estimation"
size = ["2x2x2", "3x2x4"]

[[figure]]
name = "error"
title = "Error against samples"
kind = "estimation"
x = "pairs"
y = "error"
series = "size"
"""
UNITS = 6
PAGE = 4096


def tables(database):
    return [row[0] for row in database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]


def some_cell(database, chance):
    table = chance.choice(tables(database))
    columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
    rows = database.execute(f'SELECT * FROM "{table}"').fetchall()
    return table, columns, chance.choice(rows) if rows else None


def where(columns, row):
    return " AND ".join(f'"{name}" IS ?' for name in columns), list(row)


def other_value(value, chance):
    """Near to it: a flipped bit, a letter, a type; or something quite different."""
    choices = [None, "", 0, 1, -1, 7, 1e300, b"\x00\xff", "done", "failed", str(value), 2**62]
    if isinstance(value, str) and value:
        at = chance.randrange(len(value))
        choices += [value[:at] + chr((ord(value[at]) ^ 1) or 65) + value[at + 1:]] * 12
        choices += [value[:-1], value + value[-1]]
    if isinstance(value, int):
        choices += [value + 1, value - 1, value ^ (1 << chance.randrange(60)), float(value)] * 4
    if isinstance(value, float):
        choices += [value * (1 + 2**-50), -value, int(value)] * 4
    return chance.choice([choice for choice in choices
                          if type(choice) is not type(value) or choice != value])


def change_cell(database, chance):
    table, columns, row = some_cell(database, chance)
    if row is None:
        return
    at = chance.randrange(len(columns))
    condition, values = where(columns, row)
    database.execute(f'UPDATE OR REPLACE "{table}" SET "{columns[at]}" = ? WHERE {condition}',
                     [other_value(row[at], chance), *values])


def drop_rows(database, chance):
    table, columns, row = some_cell(database, chance)
    if row is None:
        return
    if chance.random() < 0.3:
        at = chance.randrange(len(columns))
        database.execute(f'DELETE FROM "{table}" WHERE "{columns[at]}" IS ?', [row[at]])
    else:
        condition, values = where(columns, row)
        database.execute(f'DELETE FROM "{table}" WHERE {condition}', values)


def drop_unit(database, chance):
    """Gone without a trace, rows and all."""
    number = chance.randrange(UNITS)
    database.execute("DELETE FROM units WHERE number = ?", [number])
    database.execute("DELETE FROM estimation WHERE unit = ?", [number])


def double_row(database, chance):
    table, columns, row = some_cell(database, chance)
    if row is not None:
        row = list(row)
        row[0] = other_value(row[0], chance)
        database.execute(f'INSERT OR REPLACE INTO "{table}" VALUES({", ".join("?" * len(row))})',
                         row)


def swap_units(database, chance):
    """The rows of two units change places."""
    a, b = chance.sample(range(UNITS), 2)
    for old, new in ((a, -1), (b, a), (-1, b)):
        database.execute("UPDATE estimation SET unit = ? WHERE unit = ?", [new, old])


def swap_keys(database, chance):
    a, b = chance.sample(range(UNITS), 2)
    for old, new in ((a, -1), (b, a), (-1, b)):
        database.execute("UPDATE units SET number = ? WHERE number = ?", [new, old])


def drop_table(database, chance):
    database.execute(f'DROP TABLE "{chance.choice(tables(database))}"')


def change_kind(database, chance):
    """The attack that lost results silently."""
    database.execute("UPDATE units SET kind = 'estimatiom' WHERE number = ?",
                     [chance.randrange(UNITS)])


def hostile_schema(database, chance):
    """A view in place of a table never ends, a trigger writes what nobody asked for."""
    if chance.random() < 0.5:
        database.execute("ALTER TABLE units RENAME TO others")
        database.execute("CREATE VIEW units AS WITH RECURSIVE n(number) AS (SELECT 0 UNION ALL "
                         "SELECT number + 1 FROM n) SELECT number, '' AS study, '' AS task, '' AS "
                         "kind, 0 AS replication, 0 AS seed, '' AS version, '' AS library, 'done' "
                         "AS status, '' AS message, 0 AS seconds, 0 AS lines, '' AS rows_checksum, "
                         "'' AS checksum FROM n")
    else:
        database.execute("DELETE FROM units WHERE number = 0")
        database.execute("CREATE TRIGGER t AFTER INSERT ON units BEGIN "
                         "UPDATE estimation SET error = 0; END")


BY_SQL = [change_cell] * 8 + [drop_rows] * 3 + [drop_unit, double_row, swap_units, swap_keys,
                                                drop_table, change_kind, hostile_schema]


def flip_bytes(data, chance):
    for _ in range(chance.choice([1, 1, 1, 2, 8])):
        at = chance.randrange(len(data))
        data[at] ^= 1 << chance.randrange(8) if chance.random() < 0.5 else chance.randrange(1, 256)


def zero_page(data, chance):
    at = chance.randrange(len(data) // PAGE) * PAGE
    data[at:at + PAGE] = bytes(PAGE)


def swap_pages(data, chance):
    a, b = (chance.randrange(len(data) // PAGE) * PAGE for _ in range(2))
    data[a:a + PAGE], data[b:b + PAGE] = data[b:b + PAGE], data[a:a + PAGE]


def noise(data, chance):
    at = chance.randrange(len(data))
    size = min(chance.choice([16, 64, 512]), len(data) - at)
    data[at:at + size] = chance.randbytes(size)


def cut(data, chance):
    del data[chance.randrange(len(data)):]


def lengthen(data, chance):
    data += chance.randbytes(chance.choice([1, PAGE, 3 * PAGE]))


BY_BYTES = [flip_bytes] * 8 + [zero_page, swap_pages, noise, noise, cut, lengthen]


class Store(CliCase):
    def setUp(self):
        super().setUp()
        self.write("small.toml", STUDY)
        self.good("study", "run", "small.toml", "-o", "whole")
        self.csv = self.read("whole/estimation.csv")
        self.sound = self.read("whole/results.sqlite")
        self.seen = collections.Counter()

    def damage(self, chance):
        shutil.rmtree(self.folder / "r", ignore_errors=True)
        (self.folder / "r").mkdir()
        path = self.folder / "r/results.sqlite"
        path.write_bytes(self.sound)
        if chance.random() < 0.5:
            attack = chance.choice(BY_SQL)
            database = sqlite3.connect(path)
            with contextlib.suppress(sqlite3.IntegrityError), database:
                attack(database, chance)
            database.close()
        else:
            attack = chance.choice(BY_BYTES)
            data = bytearray(self.sound)
            attack(data, chance)
            path.write_bytes(data)
        return attack.__name__

    def held(self, what, *arguments):
        """Whether the command succeeded; then the CSV is right, else it was clear about it."""
        csv = self.folder / "r/estimation.csv"
        csv.unlink(missing_ok=True)
        result = self.oas(*arguments)
        if result.returncode == 0:
            self.assertTrue(csv.exists() or "nothing is damaged" in result.stdout, what)
            # A repair may say that it leaves tasks to the next run.
            if csv.exists() and "are missing" not in result.stdout:
                self.assertEqual(csv.read_bytes(), self.csv, what)
        else:
            self.assertIn(result.returncode, (1, 2), f"{what}: {result.stderr}")
            self.assertRegex(result.stderr, r"^oas: .*results\.sqlite", what)
        return result.returncode == 0

    def one(self, seed):
        chance = random.Random(seed)
        name = self.damage(chance)
        what = f"seed {seed}, {name}"
        self.held(f"{what}, report", "study", "report", "r")
        ran = self.held(f"{what}, run", "study", "run", "small.toml", "-o", "r")
        if not ran:
            again = ["study", "repair", "r"]
            if not self.held(f"{what}, repair", *again):
                ran = self.held(f"{what}, repair with the study", *again, "--study", "small.toml")
            else:
                ran = True
            if ran:  # what was repaired is sound
                self.assertTrue(self.held(f"{what}, run after repair", "study", "run",
                                          "small.toml", "-o", "r"), what)
            self.seen["repaired" if ran else "lost"] += 1
        else:
            self.seen["harmless"] += 1
        self.seen[name] += 1

    def test_random_damage(self):
        for seed in range(TRIES):
            self.one(seed)
        print(f"{TRIES} stores: {dict(self.seen)}", file=sys.stderr)
        self.assertGreater(self.seen["repaired"], self.seen["lost"])


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        if argument == "--full" or argument.isdigit():
            TRIES = 10_000 if argument == "--full" else int(argument)
            sys.argv.remove(argument)
    unittest.main()
