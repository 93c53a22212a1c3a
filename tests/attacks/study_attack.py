"""Studies with models of their own and agents that are programs, each with an idea of its own: an
answer or a message within 1 GB and 10 s, wherever the file is read; and no program outlives a run.

`python3 study_attack.py --list` names them.
"""

import json
import sqlite3
import sys
import unittest

from attack import AttackCase

HEAD = ('format = "oas-study/1"\nname = "s"\ntitle = "T"\nquestion = "Q"\nanswer = "A"\n'
        'replications = 1\n')
MODEL = ('format = "oas-model/1"\ntiming = "after"\nstates = ["up", "down"]\nactions = 1\n'
         'observations = 2\ntransition = [[[0.9, 0.1], [0.2, 0.8]]]\n'
         'observation = [[[0.9, 0.1], [0.2, 0.8]]]\nreward = [[0, 1]]\n')
COVERAGE = 'kind = "coverage"\nmodel = "m"\nlogs = 1\nrows = 50\npolicy = "uniform"\n'
LEARNING = 'kind = "learning"\nmodel = "m"\nagent = "uniform"\nsteps = 20\ncheckpoints = 2\n'


def study(model=MODEL, sweep=COVERAGE, name="m"):
    return f'{HEAD}[models.{name}]\n{model}[[sweep]]\nname = "a"\n{sweep}'


def changed(old, new, sweep=COVERAGE):
    assert old in MODEL, old
    return study(MODEL.replace(old, new, 1), sweep)


def ring(states):
    """A model as a list, of many states in few bytes."""
    moves = ", ".join(f"[{(i + 1) % states}, 1.0]" for i in range(states))
    return ('format = "oas-model/1"\ntiming = "after"\n'
            f'states = {states}\nactions = 1\nobservations = 2\ntransition_list = [[{moves}]]\n'
            f'observation = [[{", ".join(["[0.5, 0.5]"] * states)}]]\n'
            f'reward = [[{", ".join(["0"] * states)}]]\n')


def dense(states):
    rows = ", ".join(["[1.0" + ", 0" * (states - 1) + "]"] * states)
    return ('format = "oas-model/1"\ntiming = "after"\n'
            f'states = {states}\nactions = 1\nobservations = 2\ntransition = [[{rows}]]\n'
            f'observation = [[{", ".join(["[0.5, 0.5]"] * states)}]]\n')


def many(count):
    return [100 + i for i in range(count)]


MODELS = {
    "infinite": changed("0.9", "inf"), "none": changed("0.9", "nan"),
    "a date": changed("0.9", "2026-01-01"), "hexadecimal": changed("0.9", "0x1"),
    "underscores": changed("0.9", "0.9_0"), "a text": changed("0.9", '"0.9"'),
    "byte 0": changed('"up"', '"u\\u0000p"'), "escape": changed('"up"', '"\\u001b[31m"'),
    "quotes": changed('"up"', '"u,\\"p"'), "newline": changed('"up"', '"u\\np"'),
    "script": changed('"up"', '"</td><script>alert(1)</script>"'),
    "twice the state": changed('"down"', '"up"'), "a named problem": study(name="pest-control"),
    "a path": study(name='".."'), "a name with a slash": study(name='"a/b"'),
    "no name": study(name='""'), "a long name": study(name="a" * 65),
    "not used": study().replace('model = "m"', 'model = "corner/minimal"'),
    "nothing": study(""), "a number": HEAD + 'models = 3\n[[sweep]]\nname = "a"\n' + COVERAGE,
    "a list of tables": study().replace("[models.m]", "[[models.m]]"),
    "deep lists": study(MODEL + "x = " + "[" * 250 + "]" * 250 + "\n"),
    "deeper lists": study(MODEL + "x = " + "[" * 200_000 + "\n"),
    "deep tables": study(MODEL + ".".join(["x"] * 250) + " = 1\n"),
    "deeper tables": study(MODEL + ".".join(["x"] * 60_000) + " = 1\n"),
    "no dynamics": study(MODEL.replace("transition = [[[0.9, 0.1], [0.2, 0.8]]]\n", "")),
    "no rewards": study(MODEL.replace("reward = [[0, 1]]\n", ""), LEARNING),
    "rewards of 1e308": changed("[[0, 1]]", "[[1e308, -1e308]]", LEARNING),
    "rewards of 5e-324": changed("[[0, 1]]", "[[5e-324, 0]]", LEARNING),
    "rewards of 1e99": changed("[[0, 1]]", "[[1e99, -1e99]]", LEARNING),
    "absorbing": changed("[0.2, 0.8]", "[0.0, 1.0]", LEARNING),
    "denormal": changed("[0.9, 0.1]", "[1.0, 5e-324]"),
    "densities": study('format = "oas-model/1"\ntiming = "after"\nstates = 2\nactions = 1\n'
                       'observations = {dimension = 1}\ntransition = [[[0.9, 0.1], [0.2, 0.8]]]\n'
                       'density = [[{kind = "gaussian", mean = 0, sd = 1}, '
                       '{kind = "gaussian", mean = 3, sd = 1}]]\n'),
    "500 states": study(ring(500)), "30,000 states": study(ring(30_000)),
    "30,000 states, oas": study(ring(30_000), COVERAGE + 'estimator = "oas"\n'),
    "30,000 states, learned": study(ring(30_000), LEARNING),
    "3,000 states, planned": study(ring(3000), LEARNING.replace("uniform", "oas-ucrl-ml")),
    "3,000 states, optimistic": study(ring(3000), LEARNING.replace("uniform", "omle")),
    "60 states in 10,000 tasks": study(dense(60), f'kind = "coverage"\nmodel = "m"\n'
                                       f'rows = {many(100)}\nlogs = {many(100)}\n'),
    "4,000 models": HEAD + "".join(f"[models.m{i}]\n{MODEL}" for i in range(4000)) +
                    '[[sweep]]\nname = "a"\n' + COVERAGE.replace('"m"', '["m0", "m1"]'),
    "990 models in use": HEAD + "".join(f"[models.m{i}]\n{MODEL}" for i in range(990)) +
                         '[[sweep]]\nname = "a"\n' + COVERAGE.replace(
                             '"m"', json.dumps([f"m{i}" for i in range(990)])),
    "10,000 tasks": study(sweep=f'kind = "coverage"\nmodel = "m"\nrows = {many(100)}\n'
                                f'logs = {many(100)}\n'),
}

# What a program answers when it is asked for an action, and whether that is an answer.
ANSWERS = {
    "an index": (b'{"action":0}', True), "minus zero": (b'{"action":-0}', True),
    "a carriage return": (b'{"action":0}\r', True),
    "a belief of 800 kB": (b'{"action":0,"belief":[' + b"0," * 400_000 + b"0]}", True),
    "a fraction": (b'{"action":0.0}', False), "1e308": (b'{"action":1e308}', False),
    "none": (b'{"action":NaN}', False), "byte 0 at the end": (b'{"action":0}\0', False),
    "depth": (b'{"action":' + b"[" * 900_000 + b"}", False),
    "no text": (b'{"action":"\xff\xfe"}', False), "an escape": (b'{"action":"\x1b[31m"}', False),
    "two lines": (b'{"action":0}\n{"action":0}', False),
    "50,000 keys": (b'{"action":0' + b"".join(b',"k%d":1' % i for i in range(50_000)) + b"}",
                    False),
    "3 MB": (b"x" * 3_000_000, False), "the key twice": (b'{"action":0,"action":1}', False),
    "a step of 2^64": (b'{"action":0,"step":18446744073709551616}', False),
    "a reason of controls": (b'{"ok":false,"error":"\\u0000\\u001b"}', False),
}
PROGRAM = """import json, sys
answer = open(sys.argv[1], "rb").read()
for line in sys.stdin.buffer:
    begin = json.loads(line)["call"] == "begin"
    sys.stdout.buffer.write((b'{"ok":true}' if begin else answer) + b"\\n")
    sys.stdout.buffer.flush()
"""


class Models(AttackCase):
    def test_every_file_is_read_or_refused(self):
        (self.folder / "studies").mkdir()
        self.write("studies/z.toml", study().replace('name = "s"', 'name = "sound"'))
        for what, text in MODELS.items():
            self.write("studies/a.toml", text)
            with self.subTest(attack=what):
                self.assertIn(b"sound", self.held("study", "list", code=0).out)
                ended = self.held("study", "run", "studies/a.toml", "-o", "r", "--shard", "1/4000",
                                  leaves=["r"])
                self.assertNotRegex(ended.err, rb"bad_alloc")
                self.forget("r")

    def forget(self, folder):
        for path in (self.folder / folder).glob("*"):
            path.unlink()

    def test_the_sound_one_is_run(self):
        self.write("s.toml", study())
        self.held("study", "run", "s.toml", "-o", "r", code=0)


class Programs(AttackCase):
    def test_whatever_they_answer(self):
        self.write("program.py", PROGRAM)
        for what, (answer, good) in ANSWERS.items():
            (self.folder / "answer").write_bytes(answer)
            self.write("s.toml", study(sweep=LEARNING.replace('"uniform"', '"p"')) +
                       f'[agents.p]\nprocess = "exec {sys.executable} program.py answer"\n')
            with self.subTest(attack=what):
                self.held("study", "run", "s.toml", "-o", f"r {what}", code=0 if good else 1,
                          leaves=[f"r {what}"])
                with sqlite3.connect(self.folder / f"r {what}/results.sqlite") as file:
                    status = file.execute("SELECT status FROM units").fetchone()[0]
                file.close()
                self.assertEqual(status, "done" if good else "failed")


if __name__ == "__main__":
    if "--list" in sys.argv:
        print(*(f"model: {what}" for what in MODELS), *(f"program: {what}" for what in ANSWERS),
              sep="\n")
        sys.exit()
    unittest.main()
