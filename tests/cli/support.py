"""What the tests of the `oas` command share: run it in an empty folder, look at what it leaves."""

import json
import os
import pty
import select
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

OAS = os.environ["OAS_BINARY"]
os.environ["OAS_CACHE"] = ""  # what a test shows must not hang on an earlier one


def watch(command, folder, seconds=None, until=None, environment=None):
    """Runs with a terminal as standard error, for so long at most, and until that is shown; returns
    what was shown, the longest silence, and whether the command ended by itself"""
    ours, theirs = pty.openpty()
    shown = b""
    silence = 0.0
    started = last = time.monotonic()
    with subprocess.Popen(command, cwd=folder, stderr=theirs, stdout=subprocess.DEVNULL,
                          env=environment) as process:
        os.close(theirs)
        while seconds is None or time.monotonic() - started < seconds:
            ready, _, _ = select.select([ours], [], [], 0.05)
            silence = max(silence, time.monotonic() - last)
            if not ready:
                continue
            try:
                data = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            shown += data
            last = time.monotonic()
            if until is not None and until in shown.decode(errors="replace"):
                break
        ended = process.poll() is not None or seconds is None
        process.terminate()
    os.close(ours)
    return shown.decode(), silence, ended


class CliCase(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)

    def oas(self, *arguments, stdin=None):
        return subprocess.run([OAS, *map(str, arguments)], cwd=self.folder, input=stdin, text=True,
                              capture_output=True, check=False)

    def good(self, *arguments, stdin=None):
        """Runs and expects success; returns standard output."""
        result = self.oas(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def good_json(self, *arguments):
        return json.loads(self.good(*arguments, "--json"))

    def bad(self, *arguments, says, code=2, stdin=None):
        """Runs and expects failure that says all of `says` and leaves no new file behind."""
        before = sorted(os.listdir(self.folder))
        result = self.oas(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for part in says:
            self.assertIn(part, result.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before, "left something behind")
        return result.stderr

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def read(self, name):
        return (self.folder / name).read_bytes()

    def model(self, name="pest-control", **changes):
        """A named problem as a dictionary with keys replaced, or removed where the value is None"""
        self.good("problem", name, "-o", "base.json")
        document = json.loads(self.read("base.json"))
        (self.folder / "base.json").unlink()
        for key, value in changes.items():
            if value is None:
                document.pop(key)
            else:
                document[key] = value
        return document

    def write_model(self, name, document):
        return self.write(name, json.dumps(document))


class CaseWithoutDraws(CliCase):
    """For tests that are not about the draws of T which estimates carry, and take seconds each."""

    def oas(self, *arguments, stdin=None):
        words = list(map(str, arguments))
        named = words[words.index("--estimator") + 1] if "--estimator" in words else "oas-ml"
        drawn = words[:1] == ["estimate"] and named in ("oas-ml", "em")
        if drawn and "--carried-draws" not in words:
            words += ["--carried-draws", "0"]
        return super().oas(*words, stdin=stdin)
