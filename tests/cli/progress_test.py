"""What a person at a terminal sees while `oas` works: never more than two seconds of nothing."""

import unittest

from support import OAS, CliCase, watch

LONGEST = 2.0  # seconds of silence
WATCHED = 5.0  # seconds; the work takes longer on any machine, and is then ended


class Progress(CliCase):
    def watch(self, *arguments, seconds=None):
        return watch([OAS, *map(str, arguments)], self.folder, seconds)

    def assert_lively(self, what, *arguments):
        shown, silence, ended = self.watch(*arguments, seconds=WATCHED)
        self.assertFalse(ended, f"too short to be a test: {shown}")
        self.assertIn(what, shown)
        self.assertLess(silence, LONGEST)

    def test_evaluate(self):
        self.good("plan", "robot-corridor", "--grid", 8, "--steps", 6400, "-o", "plan.json")
        self.assert_lively("evaluating plan.json, ", "evaluate", "robot-corridor", "plan.json",
                           "--steps", 1_000_000_000)

    def test_plan(self):
        self.assert_lively("planning, ", "plan", "robot-corridor", "--grid", 8, "--steps",
                           1_000_000_000)
        self.assert_lively("planning, ", "plan", "robot-corridor", "--all", "--steps",
                           1_000_000_000)

    def test_learn_before_its_first_checkpoint(self):
        self.good("problem", "random", "--states", 8, "--actions", 6, "--observations", 8, "-o",
                  "large.json")
        self.assert_lively("finding the best policies, ", "learn", "large.json", "--agent",
                           "uniform", "--steps", 1000, "--oracle-gap", 1e-9)
        self.assert_lively("learning [", "learn", "pest-control", "--agent", "uniform", "--steps",
                           1_000_000_000, "--checkpoints", 1, "--oracle-gap", 1e-2, "-o",
                           "run.csv")

    def test_the_line_is_cleared_and_quiet_work_shows_nothing(self):
        self.good("plan", "pest-control", "--steps", 6400, "-o", "plan.json")
        evaluate = ("evaluate", "pest-control", "plan.json", "--steps", 3_000_000)
        shown = self.watch(*evaluate)[0]
        self.assertTrue(shown == "" or shown.endswith("\r\x1b[K"), shown[-80:])
        self.assertEqual(self.watch(*evaluate, "-q")[0], "")


if __name__ == "__main__":
    unittest.main()
