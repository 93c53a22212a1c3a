"""What every estimator and every agent of the library promises, asked for through Python."""

import pickle
import warnings

import numpy as np
import pytest

import oas

ESTIMATORS = sorted(oas.estimators())
AGENTS = sorted(oas.agents())
QUICK = {
    "draws": 80, "patience": 1, "particles": 10, "first_episode": 60, "resolution": 5,
    "tau1": 40, "tau2": 80,
}  # fmt: skip


def quick(known):
    return {name: value for name, value in QUICK.items() if name in known}


def model_of(timing):
    return oas.random_pomdp(3, 2, 4, seed=3, alpha=0.2, timing=timing)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oas.OasWarning)
        yield


def columns(log, start, stop):
    return {
        "action": log.actions[start:stop],
        "observation": log.observations[start:stop],
        "propensity": log.propensities[start:stop],
    }


@pytest.mark.parametrize("timing", ["before", "after"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_do_not_care_how_rows_come(name, timing):
    model = model_of(timing)
    log = oas.simulate(model, steps=150, runs=4, seed=5, iota=0.1)
    empty = oas.Evidence(model, name, **quick(oas.estimator_settings(name)))
    whole = empty.fresh().add(log).estimate()
    assert whole.transition.shape == (2, 3, 3)
    np.testing.assert_allclose(whole.transition.sum(axis=2), 1)

    cuts = np.sort(np.random.default_rng(1).choice(np.arange(1, 150), 5, replace=False))
    blocks = empty.fresh()
    for run, first in enumerate(log.run_starts):
        for start, stop in zip([0, *cuts], [*cuts, 150]):
            blocks.add(columns(log, first + start, first + stop), run=run)
            blocks = pickle.loads(pickle.dumps(blocks))  # in the middle of a run
        blocks.end_run(run)
    assert blocks.estimate() == whole

    parts = [empty.fresh(k).add(columns(log, 150 * k, 150 * (k + 1))) for k in range(4)]
    try:
        merged = parts[0] + parts[1] + (parts[2] + parts[3])
    except oas.InvalidArgument as error:
        assert name == "particle" and "in their order" in str(error)
    else:
        assert merged.estimate() == whole
        with pytest.raises(oas.InvalidArgument):
            parts[0] + oas.Evidence(oas.problem("pest-control"), name)


def agent_of(name, model, **settings):
    try:
        return oas.Agent(name, model, **{**quick(oas.agent_settings(name)), **settings})
    except oas.InvalidArgument as error:
        pytest.skip(f"cannot play here: {error}")


def played(agent, answers):
    rows = []
    for answer in answers:
        rows.append(agent.act())
        agent.observe(int(answer))
    return rows


@pytest.mark.parametrize("timing", ["before", "after"])
@pytest.mark.parametrize("name", AGENTS)
def test_agents_keep_to_their_seed_and_floor_and_do_not_peek(name, timing):
    model = model_of(timing)
    answers = np.random.default_rng(2).integers(4, size=250)
    one = agent_of(name, model, seed=4)
    first = played(one, answers)
    assert played(agent_of(name, model, seed=4), answers) == first
    assert all(0 < propensity <= 1 for _, propensity in first)
    for _ in range(5):
        probabilities = one.probabilities()
        assert probabilities.sum() == pytest.approx(1) and (probabilities >= 0).all()
        action, propensity = one.act()
        assert propensity == pytest.approx(probabilities[action])
        one.observe(0)
    if name not in ("oracle", "oracle-floor", "myopic"):
        learner = agent_of(name, model.without_transition(), seed=4)
        assert played(learner, answers) == first
    if "iota" in oas.agent_settings(name):
        floored = played(agent_of(name, model, seed=4, iota=0.2), answers)
        assert min(propensity for _, propensity in floored) >= 0.2 - 1e-12
    with pytest.raises(oas.InvalidArgument, match="wings"):
        oas.Agent(name, model, wings=2)


@pytest.mark.parametrize("name", AGENTS)
def test_propensities_are_frequencies(name):
    """Four hundred first actions; a chi-square beyond its quantile of 1 - 1e-6 is a fault."""
    model = model_of("before")
    agent_of(name, model)
    count = np.zeros(2)
    for seed in range(400):
        agent = agent_of(name, model, seed=seed)
        probabilities = agent.probabilities()
        count[agent.act()[0]] += 1
    expected = 400 * probabilities
    sure = expected == 0
    assert (count[sure] == 0).all()
    distance = ((count - expected)[~sure] ** 2 / expected[~sure]).sum()
    assert distance < 24
