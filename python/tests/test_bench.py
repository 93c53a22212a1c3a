"""`oas.bench`: agents written in Python play in processes of their own."""

import csv
import importlib.util
import subprocess
import sys

import pytest

import oas

AGENT = """
class Turns:
    \"\"\"Plays its actions in turn, and says so.\"\"\"

    def __init__(self, model):
        self.actions = model.num_actions
        self.step = 0

    def reset(self, seed):
        print("no answer, though printed")

    def act(self):
        return self.step % self.actions

    def observe(self, observation):
        self.step += 1


class Wrong(Turns):
    def act(self):
        raise RuntimeError("I do not know")


class Outer:
    class Inner(Turns):
        pass
"""
STUDY = """format = "oas-study/1"
name = "benchmark"
title = "t"
question = "q"
seed = 11
replications = 2
[defaults]
checkpoints = 2
steps = 60
[[sweep]]
name = "one"
kind = "learning"
model = "corner/listen-or-act"
agent = "uniform"
"""


@pytest.fixture
def agents(tmp_path):
    path = tmp_path / "agents_of_mine.py"
    path.write_text(AGENT)
    spec = importlib.util.spec_from_file_location("agents_of_mine", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["agents_of_mine"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["agents_of_mine"]


@pytest.fixture
def files(tmp_path, command):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "benchmark.toml").write_text(STUDY)
    command(
        "bench",
        "list",
        "--again",
        "--files",
        folder,
        "--gap",
        0.1,
        "-o",
        folder / "oas-bench-1.csv",
    )
    return folder


def rows(folder):
    with open(folder / "learning.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_class_plays_as_in_learn(agents, files, tmp_path):
    entries = {"mine": agents.Turns, "uniform": "uniform", "fast": ("oas-ucrl-ml", {"growth": 2})}
    oas.bench(entries, tmp_path / "r", files=files)
    found = rows(tmp_path / "r")
    assert {row["agent"] for row in found} == set(entries)
    runs = oas.learn("corner/listen-or-act", {"mine": agents.Turns}, steps=60, runs=2, seed=11,
                     checkpoints=2)  # fmt: skip
    mine = [float(row["reward"]) for row in found if row["agent"] == "mine"]
    assert mine == runs.reward[0].ravel().tolist()


def test_what_a_class_raises_is_told(agents, files, tmp_path):
    with pytest.raises(oas.Error, match="RuntimeError: I do not know"):
        oas.bench({"bad": agents.Wrong, "uniform": "uniform"}, tmp_path / "r", files=files)
    assert {row["agent"] for row in rows(tmp_path / "r")} == {"uniform"}


def test_what_no_other_process_finds_is_refused(agents, tmp_path):
    class Local:
        pass

    for agent in (
        Local,
        lambda model: None,
        agents.Outer.Inner,
        agents.Turns(oas.problem("pest-control")),
    ):
        with pytest.raises(oas.InvalidArgument, match="mine"):
            oas.bench({"mine": agent}, tmp_path / "r")


def test_served_by_its_name(agents, tmp_path):
    wrong = subprocess.run(
        [sys.executable, "-m", "oas.serve"], capture_output=True, text=True, check=False
    )
    assert wrong.returncode != 0 and "usage" in wrong.stderr


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "agents: 3 is an int"),
        (["psrl", 3], "agents: 3 is an int"),
        (["psrl", "uniform", "psrl"], "psrl is given twice"),
        ({"a=b": "psrl"}, "'a=b' cannot be the label"),
        ({"a,b": "psrl"}, "'a,b' cannot be the label"),
        ({"": "psrl"}, "'' cannot be the label"),
        ({"mine": ("psrl", 3)}, r"mine is \('psrl', 3\), which is no"),
        ({"mine": ("psrl", {"particles": "30 iota=9"})}, "psrl: particles is '30 iota=9'"),
        ({"mine": ("psrl", {"particles=30 iota": 9})}, "psrl has no setting 'particles=30 iota'"),
        ({"mine": ("psrl", {"particles": 0})}, "psrl: particles is '0'; it must be "),
        ({"mine": ("psrl iota=9", {})}, "psrl iota=9"),
        ({"mine": "psrl iota=9"}, "psrl iota=9"),
        ({"mine": "nobody"}, "nobody"),
    ],
)
def test_wrong_agents_are_named(given, message, files, tmp_path):
    with pytest.raises(oas.InvalidArgument, match=message):
        oas.bench(given, tmp_path / "r", files=files)
    assert not (tmp_path / "r").exists()


def test_settings_are_those_of_python(files, tmp_path):
    several = {"slow": ("oas-ucrl-ml", {"growth": 2, "first_episode": None})}
    oas.bench(several, tmp_path / "r", files=files)
    runs = oas.learn("corner/listen-or-act", {"slow": ("oas-ucrl-ml", {"growth": 2})},
                     steps=60, runs=2, seed=11, checkpoints=2)  # fmt: skip
    found = [float(row["reward"]) for row in rows(tmp_path / "r")]
    assert found == runs.reward[0].ravel().tolist()
