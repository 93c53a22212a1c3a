"""The live agent while the clock of the day jumps by years at every look at it (clock_shim.cpp).

Nothing that it does goes by that clock: answers are those of any other day, slow clients get the
time that they are promised, the journal is synced, and plans come into force.
"""

import os
import socket
import time
import unittest

from agent_http_test import Served
from support import CliCase

SHIM = os.environ["OAS_CLOCK_SHIM"]
STEPS = 120


class Clock(CliCase):
    def play(self, journal, jumps):
        options = ("--synchronous", "--set", "first_episode=40", "--fsync-seconds", 0.05,
                   "--http-timeout", 1)
        if jumps:
            os.environ["LD_PRELOAD"] = SHIM
        try:
            served = Served(self.folder, *options, journal=journal).__enter__()
        finally:
            os.environ.pop("LD_PRELOAD", None)
        self.addCleanup(served.__exit__)
        return served, served.play("m", STEPS)

    def test_answers_and_timeouts_go_by_no_clock_of_the_day(self):
        agent, expected = self.play("still", jumps=False)
        end = agent.stop()  # with what it warned of: nobody's model made these observations
        self.assertEqual(end[0], 0)
        agent, answers = self.play("jumps", jumps=True)
        self.assertEqual(answers, expected)
        dates = {agent.request("GET", "/v1/health")[1]["Date"][12:16] for _ in range(8)}
        self.assertGreater(len(dates), 1, "the clock does not jump")
        with socket.create_connection(("127.0.0.1", agent.port), timeout=60) as client:
            begin = time.monotonic()
            client.sendall(b"POST /v1/status HTTP/1.1\r\nHost: localhost\r\n")
            self.assertIn(b"HTTP/1.1 408", client.recv(65536))
            self.assertGreater(time.monotonic() - begin, 0.9)
        metrics = agent.request("GET", "/metrics")[2]
        count = next(line for line in metrics.splitlines()
                     if line.startswith("oas_journal_syncs_total"))
        self.assertGreater(int(count.split()[1]), 0)
        self.assertEqual(agent.stop(), end)


if __name__ == "__main__":
    unittest.main()
