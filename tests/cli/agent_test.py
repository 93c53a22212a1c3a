"""An agent for a real system: lines of JSON in, lines out, and a journal that is a log."""

import json
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from support import OAS, CliCase


def line(call, **keys):
    return json.dumps({"call": call, **keys}) + "\n"


class Agent(CliCase):
    def answers(self, text, *more, model="machine-maintenance"):
        printed = self.good("agent", model, "--journal", "j", *more, stdin=text)
        return [json.loads(each) for each in printed.splitlines()]

    def test_requests_and_answers_in_order(self):
        text = line("act", unit="a", step=0) + "\n  \n" + line("act", unit="b", step=0)
        text += line("step", unit="a", step=0, observation=1) + "nonsense\n" + line("health")
        act, other, step, bad, health = self.answers(text)
        self.assertEqual((act["unit"], other["unit"], step["step"]), ("a", "b", 1))
        self.assertEqual(bad["ok"], False)
        self.assertIn("request:1:", bad["error"])
        self.assertEqual(health["status"], "serving")

    def test_the_next_process_goes_on(self):
        first = self.answers(line("act", unit="a", step=0))[0]
        self.assertEqual(self.answers(line("act", unit="a", step=0))[0], first)
        text = "".join(line("step", unit="a", step=t, observation=t % 2) for t in range(200))
        self.assertTrue(all(each["ok"] for each in self.answers(text, "--synchronous")))
        self.assertTrue(self.answers(line("health"), "--verify")[0]["ok"])
        self.assertGreaterEqual(self.answers(line("status"))[0]["plans"], 1)

    def test_a_long_line_is_refused_and_the_next_is_read(self):
        long, good = self.answers("x" * 10_000_000 + "\n" + line("act", unit="a", step=0))
        self.assertIn("bytes", long["error"])
        self.assertTrue(good["ok"])

    def test_the_journal_is_a_log(self):
        units = ["pump, 1", "2"]
        text = "".join(line("act", unit=unit, step=0) for unit in units)
        seen = {}
        for t in range(300):
            for unit in units:
                seen[unit, t] = (t * 7 + len(unit)) % 3 % 2
                text += line("step", unit=unit, step=t, observation=seen[unit, t])
        text += line("end", unit="2", step=300) + line("act", unit="2", step=0)
        text += line("step", unit="2", step=0, observation=0)
        actions = {(each["unit"], each["run"], each["step"]): each["action"]
                   for each in self.answers(text, "--synchronous") if "action" in each}
        rows = ["# oas-log/1 timing=before", "run,action,observation"]
        runs = [("pump, 1", 1, 300), ("2", 1, 300), ("2", 2, 1)]
        for unit, run, steps in runs:
            name = unit if run == 1 else f"{unit} run {run}"
            for t in range(steps):
                o = 0 if run == 2 else seen[unit, t]
                rows.append(f'"{name}",{actions[unit, run, t]},{o}')
        names = json.loads(self.good("problem", "machine-maintenance", "-o", "-"))["observations"]
        if isinstance(names, list):
            rows[2:] = [f"{row.rsplit(',', 1)[0]},{names[int(row[-1])]}" for row in rows[2:]]
        self.write("rows.csv", "\n".join(rows) + "\n")
        for log, result in (("j", "j.json"), ("rows.csv", "rows.json")):
            self.good("estimate", "machine-maintenance", log, "--estimator", "oas-ml", "-o", result)
        journal, csv = (json.loads(self.read(name)) for name in ("j.json", "rows.json"))
        self.assertEqual(journal["transition"], csv["transition"])
        for verb in (("filter", "machine-maintenance", "j", "-o", "beliefs.csv"),
                     ("score", "machine-maintenance", "j"),
                     ("diagnose", "machine-maintenance", "j", "--replicates", "199")):
            self.good(*verb)

    def test_readings_of_a_real_valued_model(self):
        model = Path(__file__).resolve().parents[2] / "models" / "continuous" / "pump.json"
        text = line("act", unit="a", step=0) + line("step", unit="a", step=0, observation=0)
        text += line("step", unit="a", step=0, reading=2.5)
        text += line("step", unit="a", step=1, observation=None)
        act, finite, step, missing = self.answers(text, model=model)
        self.assertTrue(act["ok"] and step["ok"] and missing["ok"])
        self.assertIn("real numbers", finite["error"])

    def test_warnings_reach_the_log(self):
        text = "".join(line("observe", unit="a", step=t, observation=0, action=0)
                       for t in range(301))
        result = self.oas("agent", "machine-maintenance", "--journal", "j", stdin=text)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count("warning: action inspect was never taken"), 1)
        self.assertTrue(all(json.loads(each)["ok"] for each in result.stdout.splitlines()))
        result = self.oas("agent", "machine-maintenance", "--journal", "j", "--quiet", stdin="")
        self.assertEqual(result.stderr, "")

    def test_kill_9_and_go_on(self):
        step = 0
        request = line("act", unit="a", step=0)
        for _ in range(5):
            with subprocess.Popen([OAS, "agent", "machine-maintenance", "--journal", "j"],
                                  text=True, cwd=self.folder, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as process:
                for _ in range(20):
                    process.stdin.write(request)
                    process.stdin.flush()
                    answer = json.loads(process.stdout.readline())
                    self.assertTrue(answer["ok"], answer)
                    step = answer["step"]
                    request = line("step", unit="a", step=step, observation=step % 2)
                process.stdin.write(request)
                process.stdin.flush()
                time.sleep(0.002)
                os.kill(process.pid, signal.SIGKILL)
        # The first call of each process but the first is one whose answer nobody read.
        self.assertEqual(step, 5 * 20 - 1)
        self.assertTrue(self.answers(line("health"), "--verify")[0]["ok"])

    def test_wrong_use(self):
        self.answers(line("act", unit="a", step=0))
        self.bad("agent", "network-link", "--journal", "j", says=["another model"])
        self.bad("agent", "machine-maintenance", "--journal", "j", "--seed", "2", says=["seed=2"])
        self.bad("agent", "machine-maintenance", "--journal", "new", "--agent", "x", says=["'x'"])
        self.bad("agent", "machine-maintenance", "--journal", "j", "--fsync", "never",
                 "--fsync-seconds", "2", says=["--fsync interval"])
        self.bad("agent", "machine-maintenance", says=["--journal"])
        path = self.folder / "j" / "journal-00000001.oasj"
        bytes_ = bytearray(path.read_bytes())
        bytes_[60] ^= 1
        path.write_bytes(bytes_)
        self.bad("agent", "machine-maintenance", "--journal", "j", says=["byte", "checksum"])
        self.bad("estimate", "machine-maintenance", "j", "-o", "e.json", says=["checksum"])


if __name__ == "__main__":
    unittest.main()
