"""`oas agent` on disks that are full or cannot be written, in a mount namespace of its own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from support import OAS, CliCase

NOT_RUN = 77  # what ctest knows as skipped


def namespaces():
    if shutil.which("unshare") is None:
        return False
    probe = "mount -t tmpfs -o size=64k tmpfs /tmp"
    return subprocess.run(["unshare", "-rm", "sh", "-c", probe], capture_output=True,
                          check=False).returncode == 0


class AgentFaults(CliCase):
    def in_namespace(self, script):
        """A shell with mounts of its own, in the folder of the test."""
        return subprocess.Popen(["unshare", "-rm", "sh", "-ec", script, OAS], text=True,
                                cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def ask(self, process, call, **request):
        process.stdin.write(json.dumps({"call": call, **request}) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    def test_a_full_disk_is_refused_said_and_gone_on_from(self):
        (self.folder / "disk").mkdir()
        script = """mount -t tmpfs -o size=256k tmpfs disk
            head -c 190000 /dev/zero > disk/filler
            for run in 1 2; do
              "$0" agent machine-maintenance --journal disk/j --snapshot-every 0 $more || true
              more=--verify
            done"""
        with self.in_namespace(script) as process:
            answer = self.ask(process, "act", unit="m", step=0)
            while answer["ok"]:
                told = answer
                answer = self.ask(process, "step", unit="m", step=told["step"], observation=0)
            self.assertIn("No space left on device", answer["error"])
            self.assertGreater(told["step"], 100)
            health = self.ask(process, "health")
            self.assertEqual((health["ok"], health["status"]), (False, "failing"))
            again = self.ask(process, "step", unit="m", step=told["step"], observation=0)
            self.assertFalse(again["ok"])
            self.assertEqual(self.ask(process, "status")["rows"], told["step"])
            self.wait_for(process, "warning: ", "journal-0000", "No space left")
            # Room is made from outside, as an operator would.
            disk = f"/proc/{self.agent_of(process)}/root{self.folder}/disk"
            os.truncate(f"{disk}/filler", 0)
            self.assertNotEqual(self.ask(process, "health")["status"], "failing")
            answer = self.ask(process, "step", unit="m", step=told["step"], observation=0)
            self.assertTrue(answer["ok"], answer)
            self.wait_for(process, "no longer so", "journal-0000", "No space left")
            self.end(self.agent_of(process))
            # The next one makes all of it again from the journal.
            next_answer = self.ask(process, "step", unit="m", step=told["step"], observation=0)
            self.assertEqual(next_answer, answer)
            process.stdin.close()

    def wait_for(self, process, *texts):
        """The line of the log that holds all of these; the test ends by its limit without it."""
        for line in process.stderr:
            if all(text in line for text in texts):
                return
        self.fail(f"the log ended without {texts}")

    @staticmethod
    def end(agent):
        """Once it is gone it reads no request that is meant for the next one."""
        os.kill(agent, signal.SIGKILL)
        while os.path.exists(f"/proc/{agent}"):
            time.sleep(0.01)

    @staticmethod
    def agent_of(shell):
        with open(f"/proc/{shell.pid}/task/{shell.pid}/children", encoding="ascii") as file:
            return int(file.read().split()[0])

    def test_a_disk_that_can_only_be_read(self):
        (self.folder / "disk").mkdir()
        answer = json.loads(self.good("agent", "machine-maintenance", "--journal", "disk/j",
                                      stdin='{"call":"act","unit":"m","step":0}\n'))
        self.assertTrue(answer["ok"])
        before = {path.name: path.read_bytes() for path in (self.folder / "disk/j").iterdir()}
        for journal in ("disk/j", "disk/new"):
            script = f"""mount --bind disk disk
                mount -o remount,bind,ro disk
                exec "$0" agent machine-maintenance --journal {journal}"""
            with self.in_namespace(script) as process:
                _, errors = process.communicate("")
            self.assertEqual(process.returncode, 1, errors)
            self.assertIn("Read-only file system", errors)
            self.assertIn(journal, errors)
        after = {path.name: path.read_bytes() for path in (self.folder / "disk/j").iterdir()}
        self.assertEqual(after, before)


if __name__ == "__main__":
    if not namespaces():
        print("NOT RUN: no mount namespaces here (unshare -rm)")
        sys.exit(NOT_RUN)
    unittest.main()
