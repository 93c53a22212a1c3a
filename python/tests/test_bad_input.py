"""Wrong arguments: whatever stands in place of any argument of any public call, what comes is an
`oas.InvalidArgument` that names the argument or shows the value, and the process lives on."""

import datetime
import decimal
import functools
import inspect
import os
import re
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oas

pytestmark = pytest.mark.filterwarnings("ignore")

MODEL = oas.problem("pest-control")
LOG = oas.simulate(MODEL, steps=60, runs=2, seed=1)
SENSORS = [[0.9, 0.1], [0.2, 0.8]]
DYNAMICS = [[[0.9, 0.1], [0.2, 0.8]]]
ROWS = {"action": [0, 1, 0, 1], "observation": [0, 1, 2, 0]}
LABELLED = {"state": [0, 1, 0, 1] * 9, "action": [0, 1] * 18, "observation": [0, 1, 2] * 12}
PLAN = oas.plan(MODEL)
ESTIMATE = oas.estimate(MODEL, LOG, "oas-overlap")

JUNK = (
    None,
    object(),
    "wings",
    "",
    b"bytes",
    -1,
    2**70,
    0.5,
    float("nan"),
    -float("inf"),
    1j,
    True,
    [],
    [[1], [2, 3]],
    [None],
    {},
    {"a": "b"},
    {1},
    np.array(5),
    np.zeros((0, 3)),
    np.ones((2, 2, 2, 2)),
    np.array([object()]),
    np.array(["2026-01-01"], "M8[D]"),
    np.ma.masked_all(2),
    datetime.date(2026, 1, 1),
    decimal.Decimal("0.1"),
    int,
    len,
    oas,
    LOG,
    MODEL,
    PLAN,
    ESTIMATE,
)


def evidence(**arguments):
    return oas.Evidence(**arguments).add(LOG)


def acted(observation):
    agent = oas.Agent("uniform", MODEL)
    agent.act()
    agent.observe(observation)


def played(observation):
    policy = PLAN.policy(seed=1)
    policy.act()
    policy.observe(observation)


def made(model):
    return oas.gym.make(model)


def stepped(action):
    env = oas.gym.make(MODEL)
    env.reset(seed=1)
    env.step(action)


def all_stepped(actions):
    envs = oas.gym.make_vec(MODEL, 2)
    envs.reset(seed=1)
    envs.step(actions)


def live(method, **arguments):
    """A call of an agent that has acted once; what is wrong with the agent itself comes first."""
    making = {"model": MODEL, "journal": "journal", "agent": "uniform", "seed": 1}
    making.update((name, arguments.pop(name)) for name in making if name in arguments)
    shutil.rmtree("journal", ignore_errors=True)
    with oas.LiveAgent(**making) as agent:
        agent.act("a", 0)
        getattr(agent, method)(**arguments)


def called(call):
    return functools.partial(live, call)


CALLS = {
    "Pomdp": (
        oas.Pomdp,
        {
            "observation": SENSORS, "transition": DYNAMICS, "reward": [[1, 0]],
            "observation_reward": None, "transition_reward": None, "timing": "after",
            "rows": "action-first", "states": ["a", "b"], "actions": 1, "observations": None,
            "start": [0.5, 0.5], "first_observation": None, "discount": 0.9,
        },
    ),
    "with_transition": (MODEL.with_transition, {"transition": MODEL.transition}),
    "with_rows": (MODEL.with_rows, {"rows": "action-first"}),
    "save": (MODEL.save, {"path": os.devnull + ".json"}),
    "problem": (oas.problem, {"name": "pest-control"}),
    "load": (oas.load, {"path": "nowhere.json"}),
    "model_from_json": (oas.model_from_json, {"text": MODEL.to_json()}),
    "random_pomdp": (
        oas.random_pomdp,
        {
            "states": 2, "actions": 2, "observations": 2, "seed": 1, "epsilon": 0.1, "peak": 5,
            "alpha": 0.01, "timing": "before",
        },
    ),
    "simulate": (
        oas.simulate,
        {
            "model": MODEL, "policy": "belief", "steps": 5, "runs": 1, "seed": 1, "iota": 0.1,
            "filter": None,
        },
    ),
    "read_log": (oas.read_log, {"model": MODEL, "source": ROWS, "columns": None, "gaps": None}),
    "estimate": (
        oas.estimate,
        {"model": MODEL, "log": LOG, "estimator": "oas-overlap", "confidence": 0.9, "seed": 1},
    ),
    "Evidence": (evidence, {"model": MODEL, "estimator": "oas", "first_run": 0, "half_life": 9}),
    "add": (oas.Evidence(MODEL, "oas").add, {"log": LOG}),
    "filter": (oas.filter, {"model": MODEL, "log": LOG, "known_states": False}),
    "score": (oas.score, {"models": [MODEL], "log": LOG}),
    "check": (oas.check, {"model": MODEL, "target_error": 0.5}),
    "compare": (oas.compare, {"model": MODEL, "estimate": ESTIMATE, "worst": 2}),
    "plan": (oas.plan, {"model": MODEL, "gap": 0.1, "planner": "auto", "resolution": 5}),
    "policy": (PLAN.policy, {"seed": 1}),
    "greedy": (PLAN.greedy, {"belief": [0.5, 0.5]}),
    "evaluate": (oas.evaluate, {"model": MODEL, "plan": PLAN, "steps": 200}),
    "Agent": (oas.Agent, {"name": "uniform", "model": MODEL, "seed": 1, "replication": 0}),
    "observe": (acted, {"observation": "none"}),
    "PlanPolicy.observe": (played, {"observation": 0}),
    "agent_settings": (oas.agent_settings, {"name": "psrl"}),
    "estimator_settings": (oas.estimator_settings, {"estimator": "oas"}),
    "learn": (
        oas.learn,
        {
            "model": MODEL, "agents": "uniform", "steps": 10, "runs": 1, "seed": 1, "iota": 0.1,
            "checkpoints": 2, "oracle_gap": 0.1,
        },
    ),
    "compare_estimators": (
        oas.compare_estimators,
        {
            "model": MODEL, "estimators": "oas", "rows": 20, "runs": 1, "seed": 1,
            "policy": "uniform", "iota": None,
        },
    ),
    "set_threads": (oas.set_threads, {"threads": 0}),
    "gym.make": (made, {"model": MODEL}),
    "gym.step": (stepped, {"action": 0}),
    "gym.step of many": (all_stepped, {"actions": np.zeros(2, int)}),
    "study.run": (oas.study.run, {"file": "nowhere.toml", "output": "out", "shard": "1/1"}),
    "study.report": (oas.study.report, {"folder": "nowhere"}),
    "study.repair": (oas.study.repair, {"folder": "nowhere"}),
    "study.replay": (oas.study.replay, {"folder": "nowhere", "task": 0}),
    "study.plot": (oas.study.plot, {"folder": "nowhere"}),
    "bench": (oas.bench, {"agents": "nobody", "output": "out", "runs": 1, "files": "nowhere"}),
    "smooth": (oas.smooth, {"model": MODEL, "log": LOG, "known_states": False}),
    "forecast": (oas.forecast, {"model": MODEL, "log": LOG, "steps": 2}),
    "diagnose": (oas.diagnose, {"model": MODEL, "log": LOG}),
    "report": (oas.report, {"model": ESTIMATE, "log": LOG, "output": "report.html"}),
    "compare_policies": (oas.compare_policies, {"model": MODEL, "steps": 200}),
    "policy_graph": (oas.policy_graph, {"model": MODEL, "output": "x.pg", "radius": 0.01}),
    "convert": (oas.convert, {"model": MODEL, "discount": 0.9}),
    "calibrate": (oas.calibrate, {"log": LABELLED, "model": MODEL, "prior": 0.5}),
    "discretise": (oas.discretise, {"model": MODEL, "log": LOG, "cells": 4}),
    "fresh": (oas.Evidence(MODEL, "oas").fresh, {"first_run": 1}),
    "merge": (oas.Evidence(MODEL, "oas").merge, {"other": oas.Evidence(MODEL, "oas")}),
    "end_run": (oas.Evidence(MODEL, "oas").end_run, {"run": 1}),
    "add to a run": (oas.Evidence(MODEL, "oas").add, {"log": ROWS, "run": 0}),
    "Evidence.estimate": (oas.Evidence(MODEL, "oas").add(LOG).estimate, {"confidence": 0.9}),
    "Estimate.save": (ESTIMATE.save, {"path": "e.json"}),
    "Log.save": (LOG.save, {"path": "l.csv"}),
    "Plan.save": (PLAN.save, {"path": "p.json"}),
    "LiveAgent": (
        called("act"),
        {"unit": "a", "step": 0, "run": 1, "model": MODEL, "journal": "journal",
         "agent": "uniform", "seed": 1},
    ),
    "LiveAgent.observe": (
        called("observe"),
        {"unit": "a", "step": 0, "observation": 0, "action": None, "propensity": None},
    ),
    "LiveAgent.forecast": (called("forecast"), {"unit": "a", "steps": 2, "reach": None}),
    "LiveAgent.status": (called("status"), {"unit": "a", "limit": 3}),
    "LiveAgent.call": (called("call"), {"call": "health", "unit": "a"}),
}  # fmt: skip
if not hasattr(oas, "gym"):  # Gymnasium is not installed
    CALLS = {call: known for call, known in CALLS.items() if not call.startswith("gym.")}
PAIRS = [(call, argument) for call, (_, known) in CALLS.items() for argument in known]


def test_no_public_function_is_left_out():
    public = {
        name: getattr(module, name)
        for module in (oas.study, oas)
        for name in module.__all__
        if inspect.isroutine(getattr(module, name))
    }
    with_arguments = {name for name, one in public.items() if inspect.signature(one).parameters}
    assert len(with_arguments) > 25
    assert with_arguments - {call.rpartition(".")[2] for call in CALLS} == set()


def outcome(function, arguments):
    try:
        function(**arguments)
    except (oas.InvalidArgument, oas.AgentError) as error:  # int and len are callable
        return str(error)
    return None


@pytest.mark.parametrize(("call", "argument"), PAIRS, ids=lambda name: name)
def test_junk_in_place_of_an_argument_is_named(call, argument, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, known = CALLS[call]
    refused = 0
    for junk in JUNK:
        message = outcome(function, {**known, argument: junk})
        if message is not None:
            refused += 1
            assert "incompatible function arguments" not in message
            assert len(message) > 8, (junk, message)
    assert refused > len(JUNK) / 3
    oas.set_threads(0)


@pytest.mark.parametrize("thing", [MODEL, LOG, PLAN, ESTIMATE], ids=lambda one: type(one).__name__)
def test_whatever_it_is_compared_with_is_equal_or_not(thing):
    for junk in JUNK:
        assert (thing == junk) is (thing is junk)
        assert (thing != junk) is (thing is not junk)


@pytest.mark.parametrize("name", ["--help", "-h", "--json", "-", "--", "-x.json"])
def test_names_that_look_like_options_are_names(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call in (
        lambda: oas.plan(name),
        lambda: oas.check(name),
        lambda: oas.compare(name, MODEL),
        lambda: oas.evaluate(MODEL, name),
        lambda: oas.score(MODEL, name),
        lambda: oas.filter(MODEL, name),
        lambda: oas.estimate(MODEL, [name]),
        lambda: oas.study.report(name),
    ):
        with pytest.raises(oas.InvalidArgument, match=re.escape(name)):
            call()
    MODEL.save(tmp_path / "-x.json")
    LOG.save(tmp_path / "-x.csv")
    assert oas.check("-x.json") == oas.check(MODEL)
    assert oas.estimate("-x.json", "-x.csv", "oas") == oas.estimate(MODEL, LOG, "oas")


@pytest.mark.parametrize("call", ["Pomdp", "Agent", "Evidence"])
def test_misspelt_keywords_are_named(call):
    function, known = CALLS[call]
    with pytest.raises(oas.InvalidArgument, match="wings"):
        function(**known, wings=1)


TABLES = {
    "observation": (2, 3, 4),
    "transition": (2, 3, 3),
    "reward": (2, 3),
    "start": (3,),
    "observation_reward": (4,),
    "transition_reward": (2, 3, 3, 4),
}
NO_NUMBERS = (float("nan"), float("inf"), -float("inf"))


def tables(name):
    """Tables of a model with three states, one of them `name`."""
    given = {"observation": np.full((2, 3, 4), 0.25)}
    if name not in given:
        probabilities = name in ("transition", "start")
        given[name] = np.full(TABLES[name], 1 / 3 if probabilities else 0.5)
    return given


@given(st.data())
def test_a_bad_entry_of_any_table_is_named_with_index_and_value(data):
    name = data.draw(st.sampled_from(sorted(TABLES)))
    index = tuple(data.draw(st.integers(0, size - 1)) for size in TABLES[name])
    negative = () if "reward" in name else (-0.25,)
    value = data.draw(st.sampled_from((*NO_NUMBERS, *negative)))
    layout = data.draw(st.sampled_from(["C", "F", "strided", "big-endian", "list", "object"]))
    known = tables(name)
    known[name][index] = value
    table = known[name]
    known[name] = {
        "C": table,
        "F": np.asfortranarray(table),
        "strided": np.repeat(table, 2, axis=-1)[..., ::2],
        "big-endian": table.astype(">f8"),
        "list": table.tolist(),
        "object": table.astype(object),
    }[layout]
    place = name + "".join(f"[{i}]" for i in index)
    with pytest.raises(oas.InvalidArgument, match=rf"^{re.escape(place)} is {value:g}; "):
        oas.Pomdp(**known)


@given(st.data())
def test_any_other_shape_is_named_with_the_one_that_is_needed(data):
    name = data.draw(st.sampled_from(sorted(set(TABLES) - {"observation"})))
    shape = tuple(data.draw(st.lists(st.integers(0, 5), max_size=5)))
    if shape == TABLES[name]:
        return
    with pytest.raises(oas.InvalidArgument) as caught:
        oas.Pomdp(**{**tables(name), name: np.full(shape, 0.5)})
    there, needed = ("(" + ", ".join(map(str, one)) + ")" for one in (shape, TABLES[name]))
    assert str(caught.value).startswith(f"{name} has shape {there}; it must be [")
    assert str(caught.value).endswith(f"= {needed}")


CELLS = {
    "action": (-1, 2, 0.5, float("nan"), None, "jump", 2**62),
    "observation": (-2, 3, 0.5, "wet", 2**62),
    "propensity": (0, -0.5, 1.5, float("nan"), "half"),
    "reward": (float("inf"), "much"),
    "state": (2, "most", 0.5),
}


@given(st.data())
def test_a_bad_cell_is_named_with_column_row_and_value(data):
    column = data.draw(st.sampled_from(sorted(CELLS)))
    bad = data.draw(st.sampled_from(CELLS[column]))
    length = data.draw(st.integers(1, 40))
    row = data.draw(st.integers(0, length - 1))
    rows = {"action": [0] * length, "observation": [1] * length}
    fine = 0.5 if column == "propensity" else 1 if column in ("reward", "observation") else 0
    cells = [fine] * length
    cells[row] = bad
    rows[column] = cells
    shown = {"nan": "missing", "None": "missing"}.get(repr(bad), str(bad))
    with pytest.raises(oas.InvalidArgument) as caught:
        oas.read_log(MODEL, rows)
    message = str(caught.value)
    assert f"column '{column}', row {row}: " in message and shown in message
