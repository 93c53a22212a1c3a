"""Random damage to the folder of a live agent: its journal and its snapshot are cut, emptied,
flipped, zeroed, doubled or removed. A start then refuses with one message, or goes on to the very
answers of the sound folder, or says what it has lost.

Silent loss is allowed in one case only, that nothing can tell: a journal that ends exactly between
two records, without a snapshot of what came after.

--full does 1,000 of them.
"""

import collections
import json
import random
import shutil
import sys
import unittest

from attack import AttackCase
from small_files import model

TRIES = 60
STEPS = 40


def steps(first, last):
    for step in range(first, last):
        for unit in ("a", "bb"):
            yield {"call": "act", "unit": unit, "step": step}
            yield {"call": "observe", "unit": unit, "step": step,
                   "observation": (7 * step + len(unit) * step * step) % 3 % 2}


def cut(data, chance):
    return data[:chance.randrange(len(data) + 1)]


def longer(data, chance):
    return data + chance.randbytes(chance.randrange(1, 60))


def part(data, chance):
    first = chance.randrange(len(data))
    return first, min(len(data), first + chance.randrange(1, 400))


def zeroed(data, chance):
    first, last = part(data, chance)
    return data[:first] + bytes(last - first) + data[last:]


def cut_out(data, chance):
    first, last = part(data, chance)
    return data[:first] + data[last:]


def doubled(data, chance):
    first, last = part(data, chance)
    return data[:last] + data[first:]


def flipped(data, chance):
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1:]


def emptied(_data, _chance):
    return b""


def all_zeros(data, _chance):
    return bytes(len(data))


DAMAGE = (cut, longer, zeroed, cut_out, doubled, flipped, flipped, emptied, all_zeros, None)


class Journals(AttackCase):
    def setUp(self):
        super().setUp()
        self.write("m.json", model())
        self.requests("begin", steps(0, STEPS))
        self.requests("rest", [*steps(STEPS, STEPS + 8), {"call": "estimate"}, {"call": "plan"}])
        self.assertEqual(self.agent("whole", "begin").code, 0)
        shutil.copytree(self.folder / "whole", self.folder / "base")
        self.right = self.agent("whole", "rest").out.splitlines()
        self.assertTrue(all(json.loads(answer)["ok"] for answer in self.right))
        self.seen = collections.Counter()

    def requests(self, name, calls):
        self.write(name, "".join(json.dumps(call) + "\n" for call in calls))

    def agent(self, folder, requests, *more):
        with open(self.folder / requests, "rb") as stdin:
            return self.run_oas("agent", "m.json", "--journal", folder, "--synchronous",
                                "--set", "first_episode=30", "--snapshot-every", 40, *more,
                                stdin=stdin)

    def damaged(self, chance):
        shutil.rmtree(self.folder / "bad", ignore_errors=True)
        shutil.copytree(self.folder / "base", self.folder / "bad")
        told = []
        for _ in range(chance.choice((1, 1, 1, 2))):
            path = self.folder / "bad" / chance.choice(("journal-00000001.oasj", "snapshot.oass"))
            change = chance.choice(DAMAGE)
            told.append(f"{path.name} {change.__name__ if change else 'removed'}")
            data = path.read_bytes() if path.exists() else b""
            if change is None:
                path.unlink(missing_ok=True)
            elif data:
                path.write_bytes(change(data, chance))
        return told

    def between_records(self):
        """Whether nothing is left that could tell what is lost: no snapshot, a sound beginning."""
        journal = self.folder / "bad/journal-00000001.oasj"
        left = journal.read_bytes() if journal.exists() else b""
        return (not (self.folder / "bad/snapshot.oass").exists() and
                self.read("base/journal-00000001.oasj").startswith(left))

    def test_random_damage(self):
        chance = random.Random(17)
        for number in range(TRIES):
            told = self.damaged(chance)
            silent = self.between_records()
            with self.subTest(number=number, damage=told):
                ended = self.agent("bad", "rest", *chance.choice(([], [], ["--verify"])))
                self.assertIn(ended.code, (0, 1, 2), ended.err)
                if ended.code != 0:
                    self.assertEqual(ended.err.count(b"oas: "), 1, ended.err)
                    self.seen["refused"] += 1
                elif ended.out.splitlines() == self.right:
                    self.seen["the same"] += 1
                else:
                    self.assertTrue(ended.err or silent, "rows are lost, and nothing is said")
                    self.seen["said what is lost"] += 1
        print(f"damaged journals: {dict(self.seen)}", file=sys.stderr)
        self.assertGreater(self.seen["refused"], TRIES // 10)
        self.assertGreater(self.seen["the same"], TRIES // 10)

    def test_a_snapshot_and_no_journal(self):
        for left in (0, 1, 7, 8, 20):
            for more in ([], ["--verify"]):
                shutil.rmtree(self.folder / "bad", ignore_errors=True)
                shutil.copytree(self.folder / "base", self.folder / "bad")
                journal = self.folder / "bad/journal-00000001.oasj"
                journal.write_bytes(journal.read_bytes()[:left])
                ended = self.agent("bad", "rest", *more)
                self.assertEqual(ended.code, 2, ended.err)
                self.assertEqual(len(journal.read_bytes()), left)


if __name__ == "__main__":
    if "--full" in sys.argv:
        sys.argv.remove("--full")
        TRIES = 1000
    unittest.main()
