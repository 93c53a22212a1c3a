"""The live agent while the n-th call of a kind fails (fault_shim.cpp), once and for ever after.

What was answered with "ok" stands in the journal: the next process, without faults, knows of every
step that was answered and goes on to the answers of a run in which nothing failed. A call that
failed says so, or the process ends with code 1 and one message.
"""

import collections
import json
import os
import shutil
import struct
import sys
import unittest

from attack import AttackCase
from fault_attack import KINDS, MODEL, SHIM, WRONG_ARGUMENT

STEPS = 3
UNITS = ("a", "b")
FACTOR = 4
OBSERVATIONS = (0, 1, None)


def requests():
    for step in range(STEPS):
        for unit in UNITS:
            yield {"call": "act", "unit": unit, "step": step}
            yield {"call": "observe", "unit": unit, "step": step,
                   "observation": OBSERVATIONS[step % 3]}


class Agent(AttackCase):
    def setUp(self):
        super().setUp()
        self.write("m.json", json.dumps(MODEL))
        self.write("requests", "".join(json.dumps(one) + "\n" for one in requests()))
        self.write("status", "".join(json.dumps({"call": "status", "unit": unit}) + "\n"
                                     for unit in UNITS))
        self.counts = self.folder / "counts"
        self.tried = collections.Counter()

    def agent(self, requests_file, fault=None):
        environment = dict(os.environ)
        if fault is not None:
            self.counts.write_bytes(bytes(8 * len(KINDS) + 8))
            environment |= {"LD_PRELOAD": SHIM, "OAS_FAULT_COUNTS": str(self.counts)}
            if fault:
                environment["OAS_FAULT"] = " ".join(map(str, fault))
        with open(self.folder / requests_file, "rb") as stdin:
            ended = self.run_oas("agent", "m.json", "--agent", "uniform", "--journal", "j",
                                 "--fsync", "always", "--snapshot-every", 4, stdin=stdin,
                                 env=environment, timeout=60)
        return ended, [self.parsed(line) for line in ended.out.splitlines()]

    @staticmethod
    def parsed(line):
        """None for a line that the fault has cut off: nobody was answered by that."""
        try:
            return json.loads(line)
        except ValueError:
            return None

    def judge(self, fault, whole):
        shutil.rmtree(self.folder / "j", ignore_errors=True)
        ended, answers = self.agent("requests", fault)
        what = f"{fault}: {ended.code} {ended.err.decode(errors='replace')[-800:]}"
        self.assertIn(ended.code, (0, 1, 2) if fault[0] in WRONG_ARGUMENT else (0, 1), what)
        if ended.code != 0:
            self.assertEqual(ended.err.count(b"oas: "), 1, what)
        known = dict.fromkeys(UNITS, 0)
        for answer, expected, asked in zip(answers, whole, requests()):
            if answer is None or not answer["ok"]:
                continue
            self.assertEqual(answer, expected, what)
            if asked["call"] == "observe":
                known[asked["unit"]] = answer["step"]
        after, told = self.agent("status")
        self.assertEqual(after.code, 0, f"{what}, then {after.err}")
        for unit, status in zip(UNITS, told):
            self.assertGreaterEqual(status.get("step", 0), known[unit], f"{what}: {unit} lost")
        # Calls that are past are conflicts, all others are answered as if nothing had failed.
        after, answers = self.agent("requests")
        self.assertEqual(after.code, 0, f"{what}, then {after.err}")
        for answer, expected in zip(answers, whole):
            if answer["ok"]:
                self.assertEqual(answer, expected, what)
        self.assertEqual([status["step"] for status in self.agent("status")[1]], [STEPS, STEPS],
                         what)

    @staticmethod
    def numbers(last):
        number = 1
        while number < last:
            yield number
            number = max(number + 1, int(number * FACTOR))
        yield last

    def test_faults(self):
        ended, whole = self.agent("requests", ())
        self.assertEqual(ended.code, 0, ended.err)
        self.assertTrue(all(answer["ok"] for answer in whole))
        counts = dict(zip(KINDS, struct.unpack(f"{len(KINDS) + 1}q", self.counts.read_bytes())))
        for kind in KINDS:
            for number in self.numbers(counts[kind]) if counts[kind] else ():
                for mode in ("once", "on"):
                    with self.subTest(fault=(kind, number, mode)):
                        self.judge((kind, number, mode), whole)
                    self.tried[kind] += 1
        print(f"faults of an agent: {dict(self.tried)}", file=sys.stderr)
        self.assertGreater(self.tried["write"], 0)
        self.assertGreater(self.tried["sync"], 0)


if __name__ == "__main__":
    if "--full" in sys.argv:
        sys.argv.remove("--full")
        FACTOR = 1.05
    unittest.main()
