"""oas.learn and oas.compare_estimators: agents and estimators of the library and in Python."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import oas

QUICK = dict(steps=300, runs=2, checkpoints=3, oracle_gap=1e-3)


class Uniform:
    """What the library's `uniform` does, in Python."""

    def __init__(self, actions=3):
        self.actions = actions
        self.rng = None
        self.seen = []

    def reset(self, seed):
        self.rng = np.random.default_rng(seed)
        self.seen = []

    def probabilities(self):
        return np.full(self.actions, 1 / self.actions)

    def act(self):
        return int(self.rng.integers(self.actions)), 1 / self.actions

    def observe(self, observation):
        self.seen.append(observation)


class Always:
    """Plays one action and says nothing about probabilities."""

    def __init__(self, action):
        self.action = action

    def act(self):
        return self.action

    def observe(self, observation):
        assert isinstance(observation, int)


class Through:
    """An agent of the library that goes through Python, with the random numbers of its run."""

    name = "through"

    def __init__(self, model, kind="oas-ucrl-ml"):
        self.model, self.kind, self.run = model, kind, 0

    def act(self):
        return self.agent.act()

    def observe(self, observation):
        self.agent.observe(observation)

    def probabilities(self):
        return self.agent.probabilities()


def test_same_bytes_as_the_command(command, tmp_path):
    path = tmp_path / "run.csv"
    command("learn", "machine-maintenance", "--agent", "oas-ucrl-ml", "--steps", 500, "--seed", 3,
            "--checkpoints", 5, "--oracle-gap", "1e-3", "-o", path)  # fmt: skip
    runs = oas.learn("machine-maintenance", "oas-ucrl-ml", steps=500, seed=3, checkpoints=5,
                     oracle_gap=1e-3)  # fmt: skip
    assert runs.to_csv() == path.read_text()
    runs.save(tmp_path / "same.csv")
    assert (tmp_path / "same.csv").read_bytes() == path.read_bytes()


def test_oracles_come_from_the_cache_of_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("OAS_CACHE", str(tmp_path / "cache"))
    told = [oas.learn("machine-maintenance", "uniform", **QUICK).to_csv()]
    (entry,) = (tmp_path / "cache").rglob("*.json")
    written = entry.stat().st_mtime_ns
    told.append(oas.learn("machine-maintenance", "uniform", **QUICK).to_csv())
    entry.write_text("damaged")
    told.append(oas.learn("machine-maintenance", "uniform", no_cache=True, **QUICK).to_csv())
    assert entry.read_text() == "damaged"
    told.append(oas.learn("machine-maintenance", "uniform", **QUICK).to_csv())
    assert entry.read_text() != "damaged" and entry.stat().st_mtime_ns > written
    assert len(set(told)) == 1
    oas.learn("machine-maintenance", "uniform", **{**QUICK, "oracle_gap": 2e-3})
    assert len(list((tmp_path / "cache").rglob("*.json"))) == 2


def test_python_agents_are_judged_as_ours_are():
    """An agent of the library, asked through Python, has the numbers that it has by name."""
    model = oas.problem("machine-maintenance")

    def through(hidden):
        agent = Through(hidden)
        agent.agent = oas.Agent("oas-ucrl-ml", hidden, seed=1, first_episode=50)
        return agent

    runs = oas.learn(
        model,
        {"by name": ("oas-ucrl-ml", {"first_episode": 50}), "through": through},
        steps=300, runs=1, checkpoints=3, oracle_gap=1e-3,
    )  # fmt: skip
    for field in ("reward", "expected_regret", "realised_regret_floor", "oracle_run_regret"):
        values = getattr(runs, field)
        np.testing.assert_array_equal(values[0], values[1])


def test_fields_frames_and_pickles():
    runs = oas.learn("machine-maintenance", ["uniform", Uniform(), Always(1)], **QUICK)
    assert runs.agents == ("uniform", "Uniform", "Always")
    assert runs.reward.shape == runs.expected_regret.shape == (3, 2, 3)
    assert list(runs.steps) == [100, 200, 300]
    # Two agents of one policy lose the same in expectation only; judged by probabilities they are
    # charged alike wherever their beliefs are.
    assert np.isfinite(runs.expected_regret).all()
    assert (runs.reward[2, 0] != runs.reward[2, 1]).any()
    frame = runs.to_dataframe()
    assert list(frame.columns) == oas._oas._RUN_HEADER.strip().split(",")
    assert len(frame) == 18
    again = pickle.loads(pickle.dumps(runs))
    assert again.to_csv() == runs.to_csv()
    assert "uniform" in repr(runs) and runs.records[0]["agent"] == "uniform"
    lone = oas.learn("machine-maintenance", Always(1), **QUICK)
    np.testing.assert_array_equal(lone.reward[0], runs.reward[2])


def test_threads_do_not_matter():
    before = oas.get_threads()
    try:
        told = []
        for threads in (1, 3):
            oas.set_threads(threads)
            runs = oas.learn("machine-maintenance", ["oas-ucrl", "myopic", Uniform()], **QUICK)
            told.append(runs.to_csv())
        assert told[0] == told[1]
    finally:
        oas.set_threads(before)


def test_first_readings_are_told_before_the_first_action():
    model = oas.Pomdp(
        observation=[[0.9, 0.1], [0.2, 0.8]],
        transition=[[[0.9, 0.1], [0.3, 0.7]], [[0.5, 0.5], [0.1, 0.9]]],
        reward=[[1, 0], [0, 2]],
        timing="after",
        rows="reading-first",
    )
    kept = []

    def make(hidden):
        assert hidden.transition is None
        kept.append(Uniform(2))
        return kept[-1]

    oas.learn(model, make, steps=10, runs=2, checkpoints=1, oracle_gap=1e-2)
    assert [len(agent.seen) for agent in kept] == [11, 11]


class Raises(Always):
    def act(self):
        raise KeyError("lost")


class Returns:
    def __init__(self, value, probabilities=None):
        self.value = value
        if probabilities is not None:
            self.probabilities = lambda: probabilities

    def act(self):
        return self.value

    def observe(self, observation):
        pass


BAD = [
    (Raises(0), oas.AgentError, r"Raises: act\(\) at step 0 of run 0: KeyError: 'lost'"),
    (Returns(9), oas.InvalidArgument, r"Returns: act\(\) at step 0 of run 0 is 9; there are 3"),
    (Returns("fly"), oas.InvalidArgument, "fly"),
    (Returns(None), oas.InvalidArgument, "is None, a NoneType"),
    (Returns(1.5), oas.InvalidArgument, "is 1.5, a float"),
    (Returns((0, float("nan"))), oas.InvalidArgument, "propensity nan"),
    (Returns((0, 0.0)), oas.InvalidArgument, "propensity 0.0"),
    (Returns((0, 1.5)), oas.InvalidArgument, "propensity 1.5"),
    (Returns((0, "p")), oas.InvalidArgument, "propensity 'p'"),
    (Returns((0, 1, 2)), oas.InvalidArgument, r"\(0, 1, 2\)"),
    (Returns(0, [0.5, 0.5]), oas.InvalidArgument, r"probabilities\(\).*shape \(2\)"),
    (Returns(0, [0.5, float("nan"), 0.5]), oas.InvalidArgument, "nan"),
    (Returns(0, [0.5, 0.1, 0.1]), oas.InvalidArgument, "0.7"),
]


@pytest.mark.parametrize("agent, error, message", BAD)
def test_what_goes_wrong_in_an_agent_is_named(agent, error, message):
    with pytest.raises(error, match=message) as caught:
        oas.learn("machine-maintenance", ["uniform", agent], **QUICK)
    if error is oas.AgentError:
        assert caught.value.__cause__ is not None
    # Nothing is left behind: the next call works.
    oas.learn("machine-maintenance", Always(0), steps=5, checkpoints=1, oracle_gap=1e-2)


@pytest.mark.parametrize("method", ["act", "observe"])
def test_what_cannot_play_is_named(method):
    half = type("Half", (), {"__init__": lambda self, model: None, method: None})
    with pytest.raises(oas.AgentError, match=r"a Half has no method act\(\)"):
        oas.learn("machine-maintenance", half, **QUICK)


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_is_no_fault_of_the_agent(end):
    class Ends(Always):
        def act(self):
            raise end

    with pytest.raises(end):
        oas.learn("machine-maintenance", Ends(0), **QUICK)


def test_bad_arguments_are_named():
    learn = oas.learn
    for arguments, message in [
        (dict(agents=[]), "the list is empty"),
        (dict(agents=["uniform", "uniform"]), "uniform is given twice"),
        (dict(agents="nobody"), "nobody"),
        (dict(agents=[3]), "is an int"),
        (dict(agents=("uniform", {"wings": 1})), "uniform: .*wings"),
        (dict(agents=("oas-ucrl", {"iota": 0.01})), "iota is an argument of learn"),
        (dict(agents={"a,b": "uniform"}), "cannot stand in a CSV"),
        (dict(steps=0), "steps is 0"),
        (dict(runs=0), "runs is 0"),
        (dict(checkpoints=0), "checkpoints is 0"),
        (dict(iota=0.9), "0.9"),
        (dict(oracle_gap=0.0), "oracle_gap is 0"),
    ]:
        with pytest.raises(oas.InvalidArgument, match=message):
            learn("machine-maintenance", **{"agents": "uniform", "steps": 10, **arguments})
    with pytest.raises(oas.InvalidArgument, match="no transition"):
        learn(oas.problem("machine-maintenance").without_transition(), "uniform", steps=10)


def test_learning_from_another_thread():
    found = []
    worker = threading.Thread(
        target=lambda: found.append(
            oas.learn("machine-maintenance", ["uniform", Always(1)], **QUICK).to_csv()
        )
    )
    worker.start()
    worker.join()
    assert found[0] == oas.learn("machine-maintenance", ["uniform", Always(1)], **QUICK).to_csv()


@pytest.mark.parametrize("agent", ['"oas-ucrl-ml"', "Slow()"])
def test_ctrl_c_stops_it(agent):
    script = textwrap.dedent(f"""
        import oas, time
        class Slow:
            def act(self):
                time.sleep(0.01)
                return 0
            def observe(self, observation):
                pass
        print("begins", flush=True)
        try:
            oas.learn("machine-maintenance", {agent}, steps=10**9, oracle_gap=1e-2)
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """)
    program = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ))  # fmt: skip
    assert program.stdout.readline() == "begins\n"
    timer = threading.Timer(3.0, program.send_signal, [signal.SIGINT])
    timer.start()
    out, _ = program.communicate(timeout=90)
    assert out == "stopped\n"
    assert program.returncode == 0


def test_estimators_in_python_beside_ours():
    model = oas.random_pomdp(3, 2, 4, seed=2, alpha=0.2)

    def again(rows):
        return oas.estimate(model, rows, estimator="oas-overlap").transition

    def flat(rows):
        assert set(rows) == {"action", "observation", "propensity"}
        return np.full((2, 3, 3), 1 / 3)

    found = oas.compare_estimators(
        model, ["oas-overlap", again, flat], rows=[500, 5000], runs=3, seed=4
    )
    assert found.estimators == ("oas-overlap", "again", "flat")
    assert found.error.shape == (3, 2, 3)
    np.testing.assert_array_equal(found.error[0], found.error[1])
    expected = np.linalg.norm(model.transition - 1 / 3)
    np.testing.assert_allclose(found.error[2], expected, rtol=1e-12)
    assert np.median(found.error[0, 1]) < np.median(found.error[0, 0])
    assert len(found.to_dataframe()) == 18
    assert "flat" in repr(found)


@pytest.mark.parametrize("kind", [list, tuple, iter, dict.fromkeys])
def test_estimators_may_be_any_collection(kind):
    names = ["oas", "oas-overlap"]
    given = {name: name for name in names} if kind == dict.fromkeys else kind(names)
    found = oas.compare_estimators("pest-control", given, rows=[500], runs=1)
    assert found.estimators == tuple(names)


def test_bad_estimators_are_named():
    for bad, error, message in [
        (lambda rows: np.ones((1, 2)), oas.InvalidArgument, "shape"),
        (lambda rows: np.ones((3, 4, 4)), oas.InvalidArgument, "lambda"),
        (lambda rows: 1 / 0, oas.AgentError, "ZeroDivisionError at 100 rows of run 0"),
        (3, oas.InvalidArgument, "no function"),
        (lambda rows: None, oas.InvalidArgument, "lambda.* returned None"),
        (("oas", "settings", {}), oas.InvalidArgument, r"not a pair \(name, settings\)"),
        ([("oas", 3)], oas.InvalidArgument, r"\('oas', 3\) is not a pair \(name, settings\)"),
        (("oas", {"colour": 1}), oas.InvalidArgument, "colour"),
    ]:
        with pytest.raises(error, match=message):
            oas.compare_estimators("machine-maintenance", bad, rows=[100], runs=1)
