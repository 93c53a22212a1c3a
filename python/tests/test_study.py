"""Studies that name functions in Python as estimators."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import oas

STUDY = """
format = "oas-study/1"
name = "guests"
title = "Ours against theirs"
question = "Which is nearer?"
replications = 3
[[sweep]]
name = "sizes"
kind = "estimation"
size = ["2x2x3", "3x2x4"]
estimators = ["oas-overlap", "mine:overlap", "mine:even"]
pairs = 2000
first_pairs = 500
per_decade = 2
[[sweep]]
name = "bound"
kind = "efficiency"
size = "2x2x3"
estimators = ["oas-overlap", "mine:overlap"]
steps = 4096
logs = 2
[[figure]]
name = "error"
title = "Error"
kind = "estimation"
x = "pairs"
y = "error"
series = "estimator"
panel = "size"
"""


def overlap(rows, model):
    assert model.transition is None
    return oas.estimate(model, rows, "oas-overlap", error_bars="asymptotic")


def even(rows):
    states = {2: 2, 3: 3}[int(rows["observation"].max())]
    return np.full((2, states, states), 1 / states)


OURS = {"mine:overlap": overlap, "mine:even": even}
pytestmark = pytest.mark.filterwarnings("ignore::oas.OasWarning")


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "guests.toml"
    path.write_text(STUDY)
    return path


def rows_of(folder, kind="estimation"):
    lines = (folder / f"{kind}.csv").read_text().splitlines()
    names = lines[0].split(",")
    return [dict(zip(names, line.split(","))) for line in lines[1:]]


def test_a_function_stands_in_the_same_table_as_the_librarys(study, tmp_path):
    said = oas.study.run(study, tmp_path / "out", estimators=OURS)
    assert said.endswith("9 tasks finished, 0 were there before, 0 failed, 0 remain\n")
    for kind in ("estimation", "efficiency"):
        found = {}
        for row in rows_of(tmp_path / "out", kind):
            found.setdefault(row["estimator"], []).append(row["error"])
        assert found["oas-overlap"] == found["mine:overlap"] != found.get("mine:even")
    assert "report.html" in oas.study.report(tmp_path / "out")
    assert "mine:overlap" in (tmp_path / "out" / "report.html").read_text()
    assert "0 tasks finished, 9 were there before" in oas.study.run(
        study, tmp_path / "out", estimators=OURS
    )


def test_stopped_failed_and_divided_runs_give_the_same_bytes(study, tmp_path):
    oas.study.run(study, tmp_path / "whole", estimators=OURS)
    calls = []

    def stumbles(rows):
        calls.append(len(rows["action"]))
        if len(calls) > 4:
            raise OverflowError("tired")
        return even(rows)

    with pytest.raises(oas.Error, match="failed; the first: .*mine:even raised Over.*: tired"):
        oas.study.run(study, tmp_path / "parts", estimators={**OURS, "mine:even": stumbles})
    before = len(rows_of(tmp_path / "parts"))
    assert 0 < before < len(rows_of(tmp_path / "whole"))
    oas.study.run(study, tmp_path / "parts", shard="2/2", estimators=OURS)
    oas.set_threads(1)
    try:
        oas.study.run(study, tmp_path / "parts", estimators=OURS)
    finally:
        oas.set_threads(0)
    for name in ("estimation.csv", "efficiency.csv"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_modules_are_imported(study, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        textwrap.dedent(
            """
            import numpy as np, oas
            class overlap:
                def __new__(cls, rows, model): return oas.estimate(model, rows, "oas-overlap")
            def even(rows):
                states = int(rows["observation"].max())
                return np.full((2, states, states), 1 / states)
            """
        )
    )
    monkeypatch.syspath_prepend(tmp_path)
    oas.study.run(study, tmp_path / "out")
    assert {row["estimator"] for row in rows_of(tmp_path / "out")} == {"oas-overlap", *OURS}
    del sys.modules["mine"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "estimator 'mine:even': No module named 'mine'"),
        ({"mine:even": even}, "estimator 'mine:overlap': No module"),
        ({**OURS, "wings": even}, "no task of the study names 'wings'.* mine:even, mine:overlap"),
        ({**OURS, "mine:even": 3}, "mine:even is an int, no function"),
        ([even], "it must be a dict"),
        ({**OURS, "mine:even": lambda rows: None}, "mine:even returned None"),
        ({**OURS, "mine:even": lambda rows: np.ones(3)}, r"mine:even has shape \(3\); .*\[A\]"),
        (
            {**OURS, "mine:even": lambda rows: np.ones((2, 2, 2))},
            r"mine:even\[0\]\[0\] sums to 2|has shape",
        ),
        ({**OURS, "mine:even": lambda: 0}, "mine:even raised TypeError"),
        ({**OURS, "mine:even": lambda rows: rows["wings"]}, "mine:even raised KeyError: 'wings'"),
    ],
)
def test_wrong_functions_are_named(study, tmp_path, given, message):
    with pytest.raises(oas.Error, match=message):
        oas.study.run(study, tmp_path / "out", estimators=given)
    oas.study.run(study, tmp_path / "out", estimators=OURS)  # nothing is locked or spoilt


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "1/2/3", "-1/2", 2])
def test_wrong_parts_are_named(study, tmp_path, shard):
    with pytest.raises(oas.InvalidArgument, match="shard is"):
        oas.study.run(study, tmp_path / "out", shard=shard, estimators=OURS)


def test_the_command_says_who_can_run_it(study, tmp_path, command):
    failed = command("study", "run", study, "-o", tmp_path / "out", check=False)
    assert failed.returncode == 1
    assert "'mine:overlap' is a function of Python; oas.study.run" in failed.stderr
    oas.study.run(study, tmp_path / "out", estimators=OURS)
    command("study", "report", tmp_path / "out")


@pytest.mark.parametrize("name", ["mine:", ":even", "a:b:c", "mi ne:even", "mine:e,ven"])
def test_names_that_are_none_are_refused(tmp_path, name):
    path = tmp_path / "bad.toml"
    path.write_text(STUDY.replace('"mine:even"', json.dumps(name)))
    with pytest.raises(oas.ParseError, match=r"bad\.toml:\d+:\d+: .*list of names"):
        oas.study.run(path, tmp_path / "out", estimators=OURS)


def test_rows_are_what_the_log_has_and_functions_come_one_at_a_time(study, tmp_path):
    inside = []
    lengths = set()

    def watched(rows):
        inside.append(1)
        assert sum(inside) == 1
        assert set(rows) == {"action", "observation", "propensity"}
        assert rows["action"].shape == rows["observation"].shape == rows["propensity"].shape
        assert (rows["propensity"] > 0).all() and rows["action"].max() == 1
        lengths.add(len(rows["action"]))
        np.linalg.svd(np.ones((200, 200)))  # without the GIL
        inside.pop()
        return even(rows)

    oas.study.run(study, tmp_path / "out", estimators={**OURS, "mine:even": watched})
    assert lengths == {int(row["steps"]) for row in rows_of(tmp_path / "out")}


def test_ctrl_c_stops_and_the_same_call_goes_on(study, tmp_path):
    script = f"""
import os, signal, threading, time, oas, numpy as np
def even(rows):
    states = int(rows["observation"].max())
    return np.full((2, states, states), 1 / states)
def slow(rows, model):
    time.sleep(0.3)
    return oas.estimate(model, rows, "oas-overlap")
threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    oas.study.run({str(study)!r}, {str(tmp_path / "out")!r},
                  estimators={{"mine:even": even, "mine:overlap": slow}})
except KeyboardInterrupt:
    print("stopped")
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout == "stopped\n", done.stderr
    oas.study.run(study, tmp_path / "out", estimators=OURS)
    oas.study.run(study, tmp_path / "whole", estimators=OURS)
    one, other = (tmp_path / name / "estimation.csv" for name in ("out", "whole"))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_is_no_failed_task(study, tmp_path, end):
    calls = []

    def ends(rows):
        calls.append(1)
        if len(calls) == 3:
            raise end("now")
        return even(rows)

    with pytest.raises(end, match="now"):
        oas.study.run(study, tmp_path / "out", estimators={**OURS, "mine:even": ends})
    assert len(calls) == 3  # nobody is asked after that
    said = oas.study.run(study, tmp_path / "out", estimators={**OURS, "mine:even": ends})
    assert " 0 failed, 0 remain" in said
    oas.study.run(study, tmp_path / "whole", estimators=OURS)
    one, other = (tmp_path / name / "estimation.csv" for name in ("out", "whole"))
    assert one.read_bytes() == other.read_bytes()


def test_studies_of_the_package_are_known_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert {"benchmark", "coverage", "tuning"} <= set(oas.study.known())
