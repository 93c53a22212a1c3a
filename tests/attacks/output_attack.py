"""Outputs that cannot be written, limits on memory, time and file sizes, signals: nothing is lost,
nothing is left behind, and the reason is said."""

import json
import os
import resource
import signal
import subprocess
import time
import unittest

from attack import OAS, SANITIZED, AttackCase


class Replaced(AttackCase):
    def simulate(self, output, **options):
        return self.run_oas("simulate", "machine-maintenance", "--steps", 50, "-o", output,
                            **options)

    def test_permissions_stay(self):
        for mode in (0o600, 0o640, 0o444):
            path = self.folder / "log.csv"
            path.write_text("old")
            path.chmod(mode)
            self.assertEqual(self.simulate("log.csv").code, 0)
            self.assertEqual(path.stat().st_mode & 0o777, mode)
            path.unlink()

    def test_a_mount_of_its_own(self):
        """A container often mounts single files; rename over them fails after all the work."""
        (self.folder / "out.csv").write_text("old")
        (self.folder / "real.csv").write_text("mounted")
        command = ("mount --bind real.csv out.csv && exec \"$0\" simulate machine-maintenance "
                   "--steps 50 -o out.csv")
        result = subprocess.run(["unshare", "-m", "sh", "-c", command, OAS], cwd=self.folder,
                                capture_output=True, text=True, check=False)
        if "unshare" in result.stderr or "mount:" in result.stderr:
            self.skipTest("no mounts here")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("mount of its own", result.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["out.csv", "real.csv"])

    def test_what_is_open_is_appended_to(self):
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"):
            with open(self.folder / "all.txt", "ab") as file:
                file.write(b"before\n")
                file.flush()
                ended = self.run_oas("problem", "machine-maintenance", "-o", name, stdout=file)
            self.assertEqual(ended.code, 0, ended.err)
            text = (self.folder / "all.txt").read_bytes()
            self.assertTrue(text.startswith(b"before\n"), name)
            self.assertTrue(json.loads(text.removeprefix(b"before\n")))
            (self.folder / "all.txt").unlink()

    def test_an_open_file_that_is_not_there(self):
        self.held("problem", "machine-maintenance", "-o", "/dev/fd/77", code=2, says=["/dev/fd/77"])

    def test_full_devices(self):
        for arguments in (["problem", "machine-maintenance", "-o", "/dev/full"],
                          ["simulate", "machine-maintenance", "--steps", 500, "-o", "/dev/full"]):
            self.held(*arguments, code=1, says=["/dev/full"])
        with open("/dev/full", "wb") as full:
            for arguments in (["--help"], ["list"], ["check", "machine-maintenance"], ["--version"],
                              ["list", "--json"]):
                self.assertEqual(self.run_oas(*arguments, stdout=full).code, 1)
            for arguments in (["nothing"], ["check", "nothing"]):
                self.assertEqual(self.run_oas(*arguments, stderr=full).code, 2)

    def test_closed_doors(self):
        for descriptor in (1, 2):
            for arguments in (["list"], ["check", "nothing"]):
                ended = self.run_oas(*arguments, before=lambda: os.close(descriptor))
                self.assertIn(ended.code, (0, 1, 2))

    def test_two_at_once(self):
        """The same figure and the same log by two processes: one of them, and whole."""
        for output in (["--figure", "plan.png"], ["--figure", "plan.svg"], ["-o", "plan.json"]):
            several = [subprocess.Popen([OAS, "plan", "pest-control", *output], cwd=self.folder,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                       for _ in range(4)]
            for process in several:
                _, error = process.communicate()
                if b"rsvg-convert" not in error:
                    self.assertEqual(process.returncode, 0, error)
            self.assertLessEqual(set(os.listdir(self.folder)),
                                 {"plan.png", "plan.svg", "plan.json"})


class Limits(AttackCase):
    @unittest.skipIf(SANITIZED, "a sanitizer needs more")
    def test_many_threads_in_little_memory(self):
        for kilobytes in (80_000, 200_000, 600_000):
            def limit(size=kilobytes << 10):
                resource.setrlimit(resource.RLIMIT_AS, (size, size))
            for arguments in (["learn", "pest-control", "--agent", "uniform", "--steps", 200,
                               "--runs", 300], ["plan", "pest-control"]):
                ended = self.run_oas(*arguments, "--threads", 1024, before=limit)
                self.assertIn(ended.code, (0, 1), ended.err)
                if ended.code == 1:
                    self.assertIn(b"oas: there is not enough memory", ended.err)

    def test_no_more_processes(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        ended = self.run_oas("learn", "pest-control", "--agent", "uniform", "--steps", 100,
                             "--runs", 20, "--threads", 16, before=limit)
        self.assertEqual(ended.code, 0, ended.err)

    def test_files_that_may_not_grow(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        ended = self.run_oas("simulate", "machine-maintenance", "--steps", 50_000, "-o", "log.csv",
                             before=limit)
        self.assertEqual(ended.code, 1, ended.err)
        self.assertIn(b"log.csv: write failed", ended.err)
        self.assertEqual(os.listdir(self.folder), [])

    def test_signals_leave_nothing(self):
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM,
                     signal.SIGXCPU, signal.SIGUSR1, signal.SIGPIPE):
            process = subprocess.Popen([OAS, "simulate", "machine-maintenance", "--steps",
                                        "1000000000", "-o", "log.csv"], cwd=self.folder,
                                       stderr=subprocess.DEVNULL, restore_signals=True)
            while not any(name.startswith("log.csv.") for name in os.listdir(self.folder)):
                self.assertIsNone(process.poll())
                time.sleep(0.002)
            process.send_signal(sign)
            process.wait()
            self.assertEqual(process.returncode, -sign)
            self.assertEqual(os.listdir(self.folder), [], sign)


if __name__ == "__main__":
    unittest.main()
