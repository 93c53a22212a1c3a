"""`oas bench`, and agents that are programs: what they do wrong is their failure alone."""

import csv
import html
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from support import OAS, CliCase

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/python/bench_agent.py"

# Reads a request, answers as the function `answer` says.
LOOP = """import json, os, sys, time
def say(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()
for line in sys.stdin:
    call = json.loads(line)
    step = call.get("step", -1) + (call["call"] == "step")
    if call["call"] == "begin":
        first = True
{begin}
        continue
{act}
"""
GOOD = "say('{\"action\":%d}' % (step % 2))"
# What a program does when it is asked for its third action, and the words that tell it.
WRONG = {
    "ends": ("sys.exit(3)", "ended with exit code 3"),
    "raises": ("raise ValueError('lost my way')", "ValueError: lost my way"),
    "is killed": ("os.kill(os.getpid(), 9)", "signal 9"),
    "hangs": ("time.sleep(60)", "gave no answer within 1"),
    "holds back": ("sys.stdout.write('{\"action\":0}'); sys.stdout.flush(); time.sleep(60)",
                   "gave no answer within 1"),
    "closes": ("os.close(1); os.close(0); time.sleep(60)", "closed its output"),
    "garbage": ("say('left')", "not JSON: 'left'"),
    "array": ("say('[1]')", "$"),
    "nothing": ("say('{}')", "action"),
    "no such action": ("say('{\"action\":3}')", "there is no action 3"),
    "negative": ("say('{\"action\":-1}')", "there is no action -1"),
    "half": ("say('{\"action\":0.5}')", "$.action"),
    "unknown name": ("say('{\"action\":\"left\"}')", "there is no action 'left'"),
    "unknown key": ("say('{\"action\":0,\"act\":1}')", "act"),
    "wrong step": ("say('{\"action\":0,\"step\":7}')", "the step to come is 2"),
    "refuses": ("say('{\"ok\":false,\"error\":\"no more\"}')", "refused: no more"),
    "not a number": ("say('{\"action\":NaN}')", "not JSON"),
    "endless": ("sys.stdout.write('x' * 3000000); time.sleep(60)", "bytes in one line"),
    "raw bytes": (r"sys.stdout.buffer.write(b'\xff\x1b[31m\x00<\n'); sys.stdout.flush()",
                  r"not JSON: '\xff\x1b[31m\x00<'"),
    "raw reason": (r"""say('{"ok":false,"error":"a\\u0000\\u001b[2J\\nb"}')""",
                   r"refused: a\x00\x1b[2J\x0ab"),
    "raw name": (r"""say('{"action":"\\u0000\\u001bx"}')""", r"there is no action '\x00\x1bx'"),
    "raw errors": (r"sys.stderr.buffer.write(b'\xc3\x00\x07'); sys.stderr.flush(); sys.exit(3)",
                   r"ends with '\xc3\x00\x07'"),
    "two": ("say('{\"action\":0}\\n{\"action\":0}')", "spoke unasked"),
}


def program(wrong=None, begin="say('{\"ok\":true}')", good=GOOD):
    act = f"    if step == 2: {wrong or good}\n    else: {good}"
    text = LOOP.format(begin=f"        {begin}", act=act)
    return f"exec {shlex.quote(sys.executable)} -c {shlex.quote(text)}"


def study(agents, replications=1, model="corner/listen-or-act"):
    tables = "".join(f"[agents.{json.dumps(label)}]\nprocess = {json.dumps(command)}\ntimeout = 1\n"
                     for label, command in agents.items())
    names = json.dumps([*agents, "uniform"])
    return f"""format = "oas-study/1"
name = "programs"
title = "t"
question = "q"
replications = {replications}
[defaults]
steps = 40
checkpoints = 2
[[sweep]]
name = "a"
kind = "learning"
model = "{model}"
agent = {names}
{tables}"""


class Programs(CliCase):
    def rows(self, name):
        return list(csv.DictReader(self.read(f"r/{name}.csv").decode().splitlines()))

    def play(self, agents, **more):
        """Runs a study of these programs and `uniform`; returns the run, its rows, and the page."""
        shutil.rmtree(self.folder / "r", ignore_errors=True)
        self.write("s.toml", study(agents, **more))
        result = self.oas("study", "run", "s.toml", "-o", "r", "--threads", 4)
        self.good("study", "report", "r")
        return result, self.rows("learning"), html.unescape(self.read("r/report.html").decode())

    def test_what_a_program_does_wrong_is_told_and_is_its_failure_alone(self):
        result, rows, page = self.play({name.replace(" ", "-"): program(what)
                                        for name, (what, _) in WRONG.items()})
        self.assertEqual(result.returncode, 1)
        self.assertEqual({row["agent"] for row in rows}, {"uniform"})
        self.assertIn(f"{len(WRONG)} tasks failed", result.stderr)
        self.assertEqual({row["agent"] for row in rows}, {"uniform"})
        for name, (_, words) in WRONG.items():
            label = name.replace(" ", "-")
            told = [line for line in page.splitlines() if f"/agent={label}," in line]
            self.assertEqual(len(told), 1, name)
            self.assertIn(words, told[0], name)
            self.assertIn(f"{label}: ", told[0], name)
        for row in self.rows("standings"):
            place = ("1", "0") if row["agent"] == "uniform" else ("0", "1")
            self.assertEqual((row["instances"], row["failed_runs"]), place)

    def test_a_program_that_does_not_begin(self):
        for begin, words in (("sys.exit(0)", "ended with exit code 0"),
                             ("say('{\"ok\":false}')", "refused"),
                             ("pass", "gave no answer")):
            result, rows, _ = self.play({"p": program(begin=begin)})
            self.assertIn(f"p: begin: it {words}", result.stderr)
            self.assertEqual({row["agent"] for row in rows}, {"uniform"})
        result, _, _ = self.play({"p": "no-such-program --x"})
        self.assertIn("exit code 127", result.stderr)

    # Where there is one action all agents are one.
    def test_a_good_program_is_an_agent_like_any_other(self):
        one = program(good="say('{\"action\":0}')")
        result, rows, _ = self.play({"p": one}, model="corner/one-action")
        self.assertEqual(result.returncode, 0, result.stderr)
        mine, others = ([{k: v for k, v in row.items() if k not in ("agent", "task", "episodes")}
                         for row in rows if (row["agent"] == "p") == is_mine]
                        for is_mine in (True, False))
        self.assertEqual(len(mine), 2)
        self.assertEqual(mine, others)
        self.good("study", "replay", "r", 0)

    # A program that does one thing and says another is judged by what it does.
    def test_what_a_program_says_of_itself_is_not_judged(self):
        answers = {"p": "probabilities", "q": "belief"}
        result, rows, _ = self.play({
            label: program(good=f"say('{{\"action\":0,\"{key}\":[0.01,0.01,0.98]}}')")
            for label, key in answers.items()})
        self.assertEqual(result.returncode, 0, result.stderr)
        mine, others = ([{k: v for k, v in row.items() if k not in ("agent", "task", "episodes")}
                         for row in rows if row["agent"] == agent] for agent in answers)
        self.assertEqual(mine, others)

    def test_a_hanging_program_is_not_waited_for_in_every_run(self):
        start = time.monotonic()
        hangs = program("time.sleep(60)")
        result, _, page = self.play({"p": hangs}, replications=20)
        self.assertIn("20 tasks failed", result.stderr)
        self.assertIn("not started, since 3 runs of it have failed", page)
        self.assertLess(time.monotonic() - start, 60)
        left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
        self.assertNotIn(hangs.split(" -c ")[1][1:60], left.stdout)

    # In sessions of their own, two deep, and with parents that are gone.
    def test_programs_that_leave_their_session_do_not_outlive_a_run(self):
        mark = f"7654.{os.getpid()}"
        leave = (f"setsid sleep {mark}1 >/dev/null 2>&1 & "
                 f"(setsid sh -c 'sleep {mark}2 & sleep {mark}3' >/dev/null 2>&1 &) ; ")
        text = study({"p": leave + program(), "q": leave + program("sys.exit(3)")})
        self.write("s.toml", text.replace("timeout = 1", "timeout = 60"))
        result = self.oas("study", "run", "s.toml", "-o", "r")
        self.assertIn("exit code 3", result.stderr)
        self.assertEqual({row["agent"] for row in self.rows("learning")}, {"p", "uniform"})
        left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
        self.assertEqual([line for line in left.stdout.splitlines() if mark in line], [])

    def stopped(self, *more):
        """What study run of s.toml says when it is interrupted at its work."""
        with subprocess.Popen([OAS, "study", "run", "s.toml", "-o", "r", *more], cwd=self.folder,
                              stderr=subprocess.PIPE, text=True) as run:
            while not (self.folder / "r" / "results.sqlite").exists():
                time.sleep(0.05)
            time.sleep(1)
            run.send_signal(signal.SIGINT)
            return run.communicate(timeout=60)[1]

    # All tasks would take a quarter of an hour.
    def test_a_slow_program_can_be_stopped(self):
        slow = program(good="time.sleep(0.5); " + GOOD)
        self.write("s.toml", study({"p": slow}, replications=40))
        self.assertIn("the same command goes on", self.stopped())

    # Of another part nothing is known here.
    def test_a_stopped_part_counts_its_own_tasks(self):
        slow = program(good="time.sleep(0.5); " + GOOD)
        self.write("s.toml", study({"p": slow}, replications=40))
        self.assertIn("0 of 1 tasks of this part are stored", self.stopped("--shard", "1/80"))

    def test_a_silent_program_can_be_stopped_and_has_not_failed(self):
        silent = program(good="time.sleep(900)")
        self.write("s.toml", study({"p": silent}).replace("timeout = 1", "timeout = 900"))
        told = self.stopped()
        self.assertIn("the same command goes on", told)
        self.assertNotIn("failed", told)

    def test_bad_tables_are_errors_of_the_file(self):
        for line, words in (('process = ""', "process is empty"),
                            ('process = "x"\ntimeout = 0', "timeout is 0"),
                            ('process = "x"\ngrowth = 2', "no setting 'growth'"),
                            ("process = 3", "process is 3")):
            self.write("s.toml", study({"p": "x"}).split("[agents")[0] + "[agents.p]\n" + line)
            self.bad("study", "run", "s.toml", "-o", "r", says=[words])


class Bench(CliCase):
    def test_studies_of_ones_own_do_not_hide_the_benchmark(self):
        (self.folder / "studies").mkdir()
        self.write("studies/mine.toml", study({}))
        self.good("bench", "list")

    SMALL = ("--band", "classic", "--runs", 1, "--steps", 20)

    def test_shards_of_agents_of_all_kinds_make_the_whole(self):
        agents = ("--agent", "uniform", "--agent", "fast=oas-ucrl-ml first_episode=4 growth=2",
                  "--agent-process", f"q={shlex.quote(sys.executable)} {shlex.quote(str(EXAMPLE))}")
        self.good("bench", "run", *agents, *self.SMALL, "-o", "whole")
        for part in (1, 2):
            self.good("bench", "run", *agents, *self.SMALL, "--shard", f"{part}/2", "-o",
                      f"p{part}")
        again = self.good_json("bench", "run", *agents, *self.SMALL, "-o", "whole")
        self.assertEqual((again["finished"], again["skipped"]), (0, 36))
        self.good("bench", "merge", "p1", "p2", "-o", "merged")
        self.assertEqual(self.read("whole/learning.csv"), self.read("merged/learning.csv"))
        self.good("bench", "report", "merged")
        page = self.read("merged/report.html").decode()
        for label in ("uniform", "fast", "q"):
            self.assertIn(f">{label}</td>", page)
        standings = list(csv.DictReader(self.read("merged/standings.csv").decode().splitlines()))
        self.assertEqual({row["instances"] for row in standings}, {"12"})

    def test_bad_entries_are_refused(self):
        for words, told in ((("--agent", "nobody"), "nobody"),
                            (("--agent", "x="), "--agent 'x='"),
                            (("--agent", "x=psrl particles"), "particles"),
                            (("--agent", "x=psrl growth=3"), "growth"),
                            (("--agent", "a b"), "a b"),
                            (("--agent", "psrl", "--agent", "psrl"), "two agents"),
                            (("--agent-process", "python3"), "LABEL=COMMAND"),
                            (("--agent", "psrl", "--timeout", 3), "--timeout"),
                            (("--agent-process", "p=x", "--timeout", 0), "--timeout is 0"),
                            (("--agent-process", "p=x", "--timeout", "nan"), "--timeout is nan"),
                            (("--agent-process", "p=x", "--timeout", 4000), "timeout is 4000"),
                            (("--band", "nowhere"), "nowhere"),
                            (("--steps", 3), "checkpoints"),
                            (("--shard", "3/2"), "--shard")):
            self.bad("bench", "run", *words, "-o", "r", says=[told])

    def test_instances_that_are_not_those_of_the_list_are_refused(self):
        (self.folder / "studies").mkdir()
        for name in ("benchmark.toml", "oas-bench-1.csv"):
            text = (ROOT / "studies" / name).read_text()
            self.write(f"studies/{name}", text.replace("seed = 11", "seed = 12"))
        self.bad("bench", "run", *self.SMALL, "-o", "r",
                 says=["is another model than that of oas-bench/1"])

    def test_junk_in_the_list_is_an_error_of_the_file(self):
        (self.folder / "f").mkdir()
        shutil.copy(ROOT / "studies/benchmark.toml", self.folder / "f")
        lines = (ROOT / "studies/oas-bench-1.csv").read_text().splitlines()
        cells = lines[2].split(",")
        cells[7] = "junk"
        for text, told in (("\n".join([*lines[:2], ",".join(cells), *lines[3:]]),
                            ["oas-bench-1.csv:3:", "alpha is 'junk'"]),
                           ("", ["oas-bench-1.csv:1:1", "empty"]),
                           (lines[0] + "\n", ["oas-bench-1.csv", "has 0 instances"])):
            self.write("f/oas-bench-1.csv", text)
            self.bad("bench", "list", "--files", "f", says=told)

    def test_the_list_tells_what_can_be_earned(self):
        listed = self.good_json("bench", "list")
        self.assertEqual(listed["version"], "oas-bench/1")
        self.assertGreaterEqual(len(listed["instances"]), 60)
        for row in listed["instances"]:
            best, floor, memoryless, uniform = (float(row[key]) for key in (
                "gain_upper", "floor_upper", "memoryless", "uniform"))
            for lower in (float(row["floor_lower"]), memoryless, uniform):
                self.assertGreaterEqual(best, lower - 1e-9, row["instance"])
            self.assertLessEqual(float(row["gain_lower"]), best)
            self.assertLessEqual(float(row["floor_lower"]), floor)
        self.bad("bench", "list", "--gap", 0.1, says=["--again"])


if __name__ == "__main__":
    unittest.main()
