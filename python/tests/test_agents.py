"""Agents of the library in Python: one step at a time."""

import copy
import pickle

import numpy as np
import pytest

import oas

QUICK = {
    "first_episode": 150,
    "resolution": 6,
    "tau1": 60,
    "tau2": 120,
    "particles": 20,
}


def quick(name):
    return {key: value for key, value in QUICK.items() if key in oas.agent_settings(name)}


def model_of(timing):
    model = oas.random_pomdp(3, 2, 4, seed=3, alpha=0.2, timing=timing)
    return model


def play(agent, batch, steps):
    rows = []
    for _ in range(steps):
        probabilities = agent.probabilities()
        action, propensity = agent.act()
        assert probabilities[action] == pytest.approx(propensity)
        batch.step(np.array([action]))
        seen = int(batch.observations[0])
        agent.observe(seen)
        rows.append((action, propensity, seen))
    return rows


@pytest.mark.parametrize("timing", ["before", "after"])
@pytest.mark.parametrize("name", list(oas.agents()))
def test_pickled_agents_go_on_to_the_bit(name, timing):
    model = model_of(timing)
    try:
        agent = oas.Agent(name, model, seed=2, **quick(name))
    except oas.InvalidArgument as error:
        pytest.skip(f"cannot play here: {error}")
    batch = oas._oas.BatchEnvironment(model, 1, seed=5)
    play(agent, batch, 333)
    agent.act()  # in the middle of a step
    others = [pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)]
    batch.step(np.array([0]))
    seen = int(batch.observations[0])
    answers = np.random.default_rng(1).integers(model.num_observations, size=400)
    told = []
    for one in [agent, *others]:
        one.observe(seen)
        rows = []
        for o in answers:
            rows.append((*one.act(), None if one.belief is None else tuple(one.belief)))
            one.observe(int(o))
        told.append(rows)
        assert one.steps == 734
    assert told[0] == told[1] == told[2]


def test_observations_by_name_index_or_none():
    model = oas.problem("machine-maintenance")
    names = model.observations
    agents = [oas.Agent("oas-ucrl-ml", model, seed=1) for _ in range(3)]
    for t in range(20):
        o = t % len(names)
        for agent, told in zip(agents, [names[o], o, np.int32(o)]):
            agent.act()
            agent.observe(told)
    assert len({pickle.dumps(agent) for agent in agents}) == 1
    agents[0].act()
    agents[0].observe(None)
    assert agents[0].steps == 21


def test_first_readings_come_before_the_first_action():
    model = oas.Pomdp(
        observation=[[0.9, 0.1], [0.2, 0.8]],
        transition=[[[0.9, 0.1], [0.3, 0.7]], [[0.5, 0.5], [0.1, 0.9]]],
        reward=[[1, 0], [0, 2]],
        timing="after",
        rows="reading-first",
    )
    agent = oas.Agent("oracle", model, seed=1)
    with pytest.raises(oas.InvalidArgument, match="tell observe"):
        agent.act()
    agent.observe(0)
    expected = model.start * [0.9, 0.2]
    np.testing.assert_allclose(agent.belief, expected / expected.sum())
    action, propensity = agent.act()
    assert action in (0, 1) and propensity == 1.0


def test_calls_out_of_order_and_bad_values_are_named():
    agent = oas.Agent("uniform", "machine-maintenance")
    with pytest.raises(oas.InvalidArgument, match="before act"):
        agent.observe(0)
    agent.act()
    with pytest.raises(oas.InvalidArgument, match="act\\(\\) was called for step 0"):
        agent.act()
    for bad, message in [
        (9, "observation is 9; there are 4"),
        (-1, "observation is -1"),
        ("hum", "hum"),
        (0.5, "a float"),
        (True, "a bool"),
        (2**80, "observation is"),
    ]:
        with pytest.raises(oas.InvalidArgument, match=message):
            agent.observe(bad)
    agent.observe(0)
    assert agent.steps == 1
    with pytest.raises(oas.InvalidArgument, match="nobody"):
        oas.Agent("nobody", "machine-maintenance")
    with pytest.raises(oas.InvalidArgument, match="wings"):
        oas.Agent("uniform", "machine-maintenance", wings=2)
    with pytest.raises(oas.InvalidArgument):
        pickle.loads(pickle.dumps(agent).replace(b'"steps"', b'"stops"'))


@pytest.mark.parametrize("missing", [None, float("nan"), np.float64("nan"), "NA", "NaT"], ids=repr)
def test_what_is_missing_in_rows_is_missing_here(missing):
    if isinstance(missing, str):
        missing = getattr(pytest.importorskip("pandas"), missing)

    def told(actor, observation):
        for seen in (1, observation, 2):
            actor.act()
            actor.observe(seen)
        return actor.belief

    for make in (
        lambda: oas.Agent("oracle", "machine-maintenance", seed=1),
        lambda: oas.plan("machine-maintenance", gap=0.1).policy(seed=1),
    ):
        np.testing.assert_array_equal(told(make(), missing), told(make(), None))


def test_beliefs_and_episodes():
    model = oas.problem("machine-maintenance")
    agent = oas.Agent("oas-ucrl-ml", model, seed=1, first_episode=50)
    assert oas.Agent("uniform", model).belief is None
    batch = oas._oas.BatchEnvironment(model, 1, seed=5)
    play(agent, batch, 200)
    assert agent.belief.shape == (4,) and agent.belief.sum() == pytest.approx(1)
    assert agent.episodes[0]["start"] == 0 and len(agent.episodes) > 1
    assert agent.episodes[-1]["transition"].shape == (3, 4, 4)
    assert repr(agent) == "Agent('oas-ucrl-ml', seed=1, steps=200)"
