"""Live agents in Python: the calls, answers and journals of `oas agent`."""

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import oas

MODEL = "machine-maintenance"
QUICK = {"first_episode": 60, "synchronous": True}


def readings(seed, count=200):
    """Observations of one unit, some missing."""
    drawn = np.random.default_rng(seed).integers(-1, 4, size=count)
    return [None if o < 0 else int(o) for o in drawn]


def requests():
    """What two units tell: readings, missing ones, actions of others, an end, and mistakes."""
    calls = [("act", {"unit": "a", "step": 0}), ("act", {"unit": "b", "step": 0})]
    told = [readings(1), readings(2)]
    for t in range(100):
        calls.append(("step", {"unit": "a", "step": t, "observation": told[0][t]}))
        row = {"unit": "b", "step": t, "observation": told[1][t]}
        if t % 7 == 3:
            row |= {"action": "inspect", "propensity": 0.25}
        calls.append(("observe", row))
        calls.append(("act", {"unit": "b", "step": t + 1}))
        if t % 20 == 9:
            calls.append(("step", {"unit": "a", "step": t + 7, "observation": 0}))
            calls.append(("observe", {"unit": "b", "step": t, "observation": "hum"}))
            calls.append(("act", {"unit": "nobody", "step": 4}))
    calls += [("end", {"unit": "a", "step": 100}), ("act", {"unit": "a", "step": 0, "run": 2})]
    calls += [("status", {}), ("status", {"unit": "b"}), ("estimate", {}), ("plan", {})]
    calls += [("forecast", {"unit": "a", "steps": 5, "actions": ["run"], "reach": "failed"})]
    return [*calls, ("health", {})]


def by_command(command_path, journal, calls, *options):
    lines = "".join(json.dumps({"call": call, **keys}) + "\n" for call, keys in calls)
    done = subprocess.run(
        [command_path, "agent", MODEL, "--journal", journal, *options],
        input=lines, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def command_path():
    path = os.environ.get("OAS_COMMAND")
    if path is None:
        pytest.skip("the command is not built")
    return path


def told(answer, ok=True):
    """An answer as the command prints it."""
    return {"ok": ok, **oas._result._lists(answer)}


def files(folder):
    return {path.name: path.read_bytes() for path in folder.glob("journal-*")}


@pytest.mark.parametrize("name", ["oas-ucrl-ml", "oas-ucrl-pooled", "oracle", "uniform"])
def test_answers_and_journal_are_those_of_the_command(command_path, tmp_path, name):
    settings = {"first_episode": 60} if "first_episode" in oas.agent_settings(name) else {}
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    theirs = by_command(
        command_path, tmp_path / "theirs", requests(), "--synchronous", "--agent", name,
        "--seed", "9", *words,
    )  # fmt: skip
    refused = 0
    with oas.LiveAgent(
        MODEL, tmp_path / "ours", name, seed=9, synchronous=True, **settings
    ) as agent:
        for (call, keys), expected in zip(requests(), theirs):
            try:
                answer = told(agent.call(call, **keys))
            except oas.Refused as error:
                refused += 1
                answer = {"ok": False, "error": str(error).removeprefix(f"{call}: ")}
            assert answer == expected
        line = json.dumps({"call": "status"})
        assert json.loads(agent.answer(line))["rows"] > 190
        assert "oas_" in agent.metrics()
    assert refused >= 15
    assert files(tmp_path / "ours") == files(tmp_path / "theirs")
    # Either goes on with what the other wrote.
    for journal in ("ours", "theirs"):
        again = by_command(
            command_path, tmp_path / journal, requests()[-4:-2], "--synchronous", "--agent", name,
            "--seed", "9", "--verify", *words,
        )  # fmt: skip
        assert again == theirs[-4:-2]


def test_methods_are_the_calls(tmp_path):
    with oas.LiveAgent(MODEL, tmp_path / "j", **QUICK) as agent:
        choice = agent.act("pump", 0)
        assert (choice.unit, choice.run, choice.step) == ("pump", 1, 0)
        assert choice.belief is None and 0 < choice.propensity <= 1
        assert agent.act("pump", 0) == choice == copy.deepcopy(choice)
        for o in readings(3, 100):
            choice = agent.step("pump", choice.step, o)
        assert choice.belief.shape == (4,) and choice.belief.sum() == pytest.approx(1)
        assert agent.observe("pump", 100, "clean", action="run", propensity=0.5).step == 101
        assert agent.act("pump", 101, run=1).step == 101
        estimate = agent.estimate()
        assert estimate.transition.shape == estimate.standard_error.shape == (3, 4, 4)
        np.testing.assert_allclose(estimate.transition.sum(axis=2), 1)
        assert estimate.plays.dtype == np.int64
        assert agent.plan().plan["transition"].shape == (3, 4, 4)
        ahead = agent.forecast("pump", steps=3, actions="run", reach=[3])
        assert ahead.states.shape == (4, 4) and len(ahead.survival) == 4
        assert agent.status("pump").rows == 101
        assert agent.status(limit=1).to_dataframe()["unit"].tolist() == ["pump"]
        assert agent.snapshot().records > 101 and agent.health().status == "serving"
        assert agent.end("pump", 101).step == 101
        assert agent.status("pump").ended
        estimate.save(tmp_path / "estimate.json")
        kept = json.loads((tmp_path / "estimate.json").read_text())
        assert kept["transition"] == estimate.transition.tolist()
        assert pickle.loads(pickle.dumps(estimate)) == estimate != agent.plan()
        assert "transition" in estimate._repr_html_()


def test_the_journal_is_a_log(tmp_path):
    with oas.LiveAgent(MODEL, tmp_path / "j", **QUICK) as agent:
        step = agent.act("pump", 0).step
        for o in readings(4, 150):
            step = agent.step("pump", step, o).step
    log = oas.read_log(MODEL, tmp_path / "j")
    assert [None if o < 0 else int(o) for o in log.observations] == readings(4, 150)
    assert oas.estimate(MODEL, tmp_path / "j") == oas.estimate(MODEL, log)


SERVE = """
    import sys, oas
    with oas.LiveAgent("machine-maintenance", "j", first_episode=60) as agent:
        step = agent.act("pump", 0).step if sys.argv[1] == "0" else int(sys.argv[1])
        while True:
            choice = agent.step("pump", step, step * 7 % 5 % 3)
            step = choice.step
            print(step, choice.action, repr(choice.propensity), flush=True)
"""


def test_kill_9_loses_nothing(tmp_path, command_path):
    """The call that was under way is asked again by the next process."""
    said = {}
    step = 0
    for lines in (1, 40, 3, 90, 17):
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SERVE), str(step)],
            stdout=subprocess.PIPE, text=True, cwd=tmp_path,
        ) as child:  # fmt: skip
            for _ in range(lines):
                at, action, propensity = child.stdout.readline().split()
                said[int(at)] = (action, float(propensity))
            child.send_signal(signal.SIGKILL)
            for line in child.stdout.read().splitlines(keepends=True):
                if line.endswith("\n"):
                    at, action, propensity = line.split()
                    said[int(at)] = (action, float(propensity))
        step = max(said)
    assert sorted(said) == list(range(1, step + 1))
    log = oas.read_log(MODEL, tmp_path / "j")
    model = oas.problem(MODEL)
    for at in range(1, step):
        assert said[at] == (model.actions[log.actions[at]], log.propensities[at])
    with oas.LiveAgent(MODEL, tmp_path / "j", first_episode=60, verify=True) as agent:
        ours = agent.step("pump", step, step * 7 % 5 % 3)
    [theirs] = by_command(
        command_path, tmp_path / "j", [("act", {"unit": "pump", "step": step + 1})],
        "--set", "first_episode=60",
    )  # fmt: skip
    assert told(ours) == theirs


def test_units_of_many_threads(tmp_path):
    def work(agent, unit):
        step = agent.act(unit, 0).step
        for o in readings(int(unit), 150):
            step = agent.step(unit, step, o).step

    with oas.LiveAgent(MODEL, tmp_path / "j", first_episode=60) as agent:
        threads = [threading.Thread(target=work, args=(agent, str(i))) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert agent.status().rows == 900
    with oas.LiveAgent(MODEL, tmp_path / "j", first_episode=60, verify=True) as agent:
        assert agent.status().rows == 900 and not agent.status().warnings


def test_closing(tmp_path):
    agent = oas.LiveAgent(MODEL, tmp_path / "j")
    agent.act("a", 0)
    with pytest.raises(oas.InvalidArgument, match="has this journal open"):
        oas.LiveAgent(MODEL, tmp_path / "j")
    assert "closed" not in repr(agent)
    agent.close()
    agent.close()
    assert "closed" in repr(agent)
    with pytest.raises(oas.InvalidArgument, match="was closed"):
        agent.act("a", 0)
    with oas.LiveAgent(MODEL, tmp_path / "j") as again:
        assert again.status().active_units == 1
        for impossible in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be pickled"):
                impossible(again)
    del again
    oas.LiveAgent(MODEL, tmp_path / "j").act("a", 0)  # dropped, so that the journal is free
    oas.LiveAgent(MODEL, tmp_path / "j").close()


def test_a_program_may_end_without_closing(tmp_path):
    code = """
        import oas
        agent = oas.LiveAgent("machine-maintenance", "j", first_episode=5)
        step = agent.act("a", 0).step
        for _ in range(40):
            step = agent.step("a", step, 0).step
        agent.itself = agent
        print(step)
    """
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", textwrap.dedent(code)],
        capture_output=True, text=True, check=True, cwd=tmp_path, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("40\n", "")


def test_forked_processes_leave_it_alone(tmp_path):
    agent = oas.LiveAgent(MODEL, tmp_path / "j", first_episode=5)
    step = agent.act("a", 0).step
    wait, go = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            agent.act("a", 0)
        except oas.InvalidArgument as error:
            code = 0 if "forked" in str(error) else 2
        agent.close()
        del agent
        os.close(go)
        os.read(wait, 1)  # lives on while its parent closes and opens
        os._exit(code)
    os.close(wait)
    for _ in range(20):
        step = agent.step("a", step, 0).step
    agent.close()
    with oas.LiveAgent(MODEL, tmp_path / "j", first_episode=5, verify=True) as again:
        assert again.status("a").step == step
    os.close(go)
    assert os.waitpid(child, 0)[1] == 0


def test_ctrl_c_stops_a_plan_and_loses_nothing(tmp_path):
    code = """
        import signal, oas
        signal.signal(signal.SIGINT, signal.default_int_handler)
        model = oas.random_pomdp(7, 3, 9, seed=2)
        agent = oas.LiveAgent(model, "j", first_episode=40, resolution=24, synchronous=True)
        step = agent.act("a", 0).step
        for _ in range(39):
            step = agent.step("a", step, step % 9).step
        print("ready", flush=True)
        for _ in range(2):  # asked again it plans again, and nothing was told twice
            try:
                agent.step("a", step, 1)
                print("done", flush=True)
            except KeyboardInterrupt:
                print("stopped", agent.status("a").rows, agent.health().status, flush=True)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE, text=True, cwd=tmp_path,
    ) as child:  # fmt: skip
        assert child.stdout.readline() == "ready\n"
        try:
            for _ in range(2):
                time.sleep(1)
                child.send_signal(signal.SIGINT)
                assert child.stdout.readline() == "stopped 40 serving\n"
            child.communicate(timeout=60)
        finally:
            child.kill()
    assert child.returncode == 0


@pytest.mark.parametrize(
    ("call", "message", "status"),
    [
        (lambda a: a.act("a", 5), "expected observe or step of step 0", 409),
        (lambda a: a.step("a", 1, 0), "expected observe or step of step 0", 409),
        (lambda a: a.step("b", 1, 0), "no unit 'b'", 404),
        (lambda a: a.status("b"), "no unit 'b'", 404),
        (lambda a: a.observe("a", 0, "hum"), "'hum'", 400),
        (lambda a: a.observe("a", 0, 9), "no observation 9; there are 4", 400),
        (lambda a: a.observe("a", 0, -1), "no observation -1", 400),
        (lambda a: a.observe("a", 0, 0, action="walk"), "'walk'", 400),
        (lambda a: a.observe("a", 0, 0, propensity=0.5), "propensity", 400),
        (lambda a: a.observe("a", 0, 0, action=0, propensity=1.5), "propensity", 400),
        (lambda a: a.act("a", 0, run=2), "run 1, not 2", 409),
        (lambda a: a.act("", 0), "unit", 400),
        (lambda a: a.act("a" * 2_000_000, 0), "bytes", 413),
        (lambda a: a.call("fly"), "no call 'fly'; known are act", 400),
        (lambda a: a.call("act", wings=2), "wings", 400),
        (lambda a: a.forecast("a", steps=10**6), "forecast", 400),
        (lambda a: a.observe("a", 0), "; there is none", 400),
        (lambda a: a.observe("a", 0, 0, reading=1.5), "; there are 2", 400),
        (lambda a: a.observe("a", 0, reading=[1, None, np.nan]), "reading", 400),
        (lambda a: a.observe("a", 0, reading="loud"), "reading is 'loud', a str", None),
        (lambda a: a.observe("a", 0, likelihood=[0.1, np.inf]), "likelihood is .*inf", None),
        (lambda a: a.act(7, 0), "unit is 7, an int", None),
        (lambda a: a.act("a", 0.0), "step is 0.0, a float", None),
        (lambda a: a.act("a", True), "step is True", None),
        (lambda a: a.act("a", 2**70), "step is", None),
        (lambda a: a.observe("a", 0, 0.5), "observation is 0.5, a float", None),
        (lambda a: a.observe("a", 0, True), "observation is True", None),
        (lambda a: a.observe("a", 0, b"clean"), "observation is b'clean'", None),
        (lambda a: a.observe("a", 0, 0, action=0, propensity=np.nan), "propensity is nan", None),
    ],
)
def test_wrong_calls_are_named_and_change_nothing(tmp_path, call, message, status):
    with oas.LiveAgent(MODEL, tmp_path / "j") as agent:
        agent.act("a", 0)
        before = files(tmp_path / "j")
        with pytest.raises(oas.InvalidArgument, match=message) as caught:
            call(agent)
        assert getattr(caught.value, "status", None) == status
        assert files(tmp_path / "j") == before
        assert agent.step("a", np.int32(0), np.int8(2)).step == 1


@pytest.mark.parametrize(
    ("words", "settings", "message"),
    [
        (("machine-maintenance", "j", "nobody"), {}, "nobody"),
        (("machine-maintenance", 3), {}, "journal is 3"),
        ((3, "j"), {}, "model is an int"),
        (("machine-maintenance", "j"), {"seed": -1}, "seed is -1"),
        (("machine-maintenance", "j"), {"wings": 2}, "'wings'.*first_episode.*fsync"),
        (("machine-maintenance", "j"), {"fsync": "often"}, "fsync.*often"),
        (("machine-maintenance", "j"), {"max_units": 0}, "max_units"),
        (("machine-maintenance", "j"), {"fsync": "never", "fsync_seconds": 2}, "fsync interval"),
    ],
)
def test_wrong_settings_are_named(tmp_path, monkeypatch, words, settings, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(oas.InvalidArgument, match=message):
        oas.LiveAgent(*words, **settings)


def test_too_many_units_may_be_tried_later(tmp_path):
    with oas.LiveAgent(MODEL, tmp_path / "j", max_units=1) as agent:
        agent.act("a", 0)
        with pytest.raises(oas.IoError, match="as many as are taken"):
            agent.act("b", 0)


def test_a_torn_journal_is_a_warning(tmp_path):
    with oas.LiveAgent(MODEL, tmp_path / "j") as agent:
        agent.act("a", 0)
    [journal] = (tmp_path / "j").glob("journal-*")
    journal.write_bytes(journal.read_bytes() + b"\x20\0\0\0torn")
    with pytest.warns(oas.OasWarning, match="cut off") as caught:
        oas.LiveAgent(MODEL, tmp_path / "j").close()
    assert all(warning.filename == __file__ for warning in caught)
