"""What attacks share: run the command with a limit on memory and time, judge how it ends."""

import os
import resource
import subprocess
import tempfile
import time

from support import OAS, CliCase

MEGABYTE = 1 << 20
# What a file of at most 1 MB may cost. Time is that of the processor: the machine may be busy.
MOST_MEMORY = 1000 * MEGABYTE
MOST_SECONDS = 10.0
# Under a sanitizer everything is larger and slower.
SANITIZED = os.environ.get("OAS_SANITIZED") == "1"


class Ended:
    """How a command ended: code, output, messages, peak memory in bytes, processor seconds."""

    def __init__(self, code, out, err, usage):
        self.code, self.out, self.err = code, out, err
        self.memory = usage.ru_maxrss * 1024
        self.seconds = usage.ru_utime + usage.ru_stime


class AttackCase(CliCase):
    def run_oas(self, *arguments, stdin=subprocess.DEVNULL, stdout=None, stderr=None, before=None,
                timeout=120, **options):
        """Runs with files for the outputs, so that nothing blocks; never with more than 6 GB."""
        def limit():
            if not SANITIZED:
                resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
            if before:
                before()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen([OAS, *map(os.fspath, map(_text, arguments))],
                                       cwd=self.folder, stdin=stdin, stdout=stdout or out,
                                       stderr=stderr or err, preexec_fn=limit, **options)
            end = time.monotonic() + timeout
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() > end:
                    process.kill()
                    pid, status, usage = os.wait4(process.pid, 0)
                    self.fail(f"hangs: oas {' '.join(map(str, arguments))}")
                time.sleep(0.005)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            return Ended(process.returncode, out.read(), err.read(), usage)

    def held(self, *arguments, code=None, says=(), leaves=(), **options):
        """Ends with 0, 1 or 2 (or `code`), says what it should, is cheap, and leaves no files."""
        before = set(os.listdir(self.folder))
        ended = self.run_oas(*arguments, **options)
        what = f"oas {' '.join(map(str, arguments))}: {ended.code} {ended.err[-2000:]}"
        self.assertIn(ended.code, (0, 1, 2) if code is None else (code,), what)
        if not SANITIZED:
            self.assertLess(ended.memory, MOST_MEMORY, what)
            self.assertLess(ended.seconds, MOST_SECONDS, what)
        if ended.code != 0 and options.get("stderr") is None:
            self.assertTrue(ended.err.startswith(b"oas: "), what)
        for text in says:
            self.assertIn(text.encode(), ended.err, what)
        self.assert_no_control_characters(ended, what)
        left = {name for name in set(os.listdir(self.folder)) - before if name not in leaves}
        if ended.code != 0:
            self.assertEqual(left, set(), f"{what}: left something behind")
        return ended

    def assert_no_control_characters(self, ended, what):
        for text in (ended.out, ended.err):
            strange = {byte for byte in text if byte < 32 and byte not in b"\n\t\r"} | (
                {127} if 127 in text else set())
            self.assertEqual(strange, set(), what)


def _text(argument):
    return argument if isinstance(argument, (str, bytes, os.PathLike)) else str(argument)
