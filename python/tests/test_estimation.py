import copy
import pickle
import warnings

import numpy as np
import pytest

import oas

MODEL = oas.problem("machine-maintenance")
LOG = oas.simulate(MODEL, steps=3000, runs=4, seed=2)


@pytest.mark.parametrize("name", ["machine-maintenance", "robot-corridor"])
def test_simulated_rows_are_those_of_the_command(command, tmp_path, name):
    command(
        "simulate",
        name,
        "--steps",
        700,
        "--runs",
        3,
        "--seed",
        9,
        "--iota",
        0.05,
        "--reward",
        "--state",
        "-o",
        tmp_path / "theirs.csv",
    )
    log = oas.simulate(name, steps=700, runs=3, seed=9, iota=0.05)
    log.save(tmp_path / "ours.csv")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()


@pytest.mark.parametrize("estimator", sorted(oas.estimators()))
def test_estimates_are_those_of_the_command(command, tmp_path, estimator):
    log = oas.simulate(MODEL, steps=1500, runs=2, seed=4)
    log.save(tmp_path / "log.csv")
    command(
        "estimate",
        "machine-maintenance",
        tmp_path / "log.csv",
        "--estimator",
        estimator,
        "-o",
        tmp_path / "theirs.json",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oas.OasWarning)
        estimate = oas.estimate(MODEL, log, estimator)
        by_file = oas.estimate(MODEL, tmp_path / "log.csv", estimator)
    estimate.save(tmp_path / "ours.json")
    assert (tmp_path / "ours.json").read_bytes() == (tmp_path / "theirs.json").read_bytes()
    assert by_file == estimate
    assert oas.load(tmp_path / "theirs.json") == estimate


def test_an_estimate_shows_what_it_is():
    estimate = oas.estimate(MODEL, LOG)
    assert estimate.transition.shape == estimate.standard_error.shape == (3, 4, 4)
    np.testing.assert_allclose(estimate.transition.sum(axis=2), 1)
    assert (estimate.lower <= estimate.transition).all()
    assert (estimate.transition <= estimate.upper).all()
    assert estimate.determined.dtype == bool and estimate.determined.shape == (3, 4)
    assert estimate.rows == 12000 and estimate.runs == 4
    np.testing.assert_array_equal(estimate.model.transition, estimate.transition)
    assert pickle.loads(pickle.dumps(estimate)) == estimate == copy.deepcopy(estimate)
    table = estimate.to_dataframe()
    assert len(table) == 48
    assert set(table["action"]) == set(MODEL.actions)
    assert "±" in estimate._repr_html_()
    assert "oas-ml" in repr(estimate)


def test_settings_are_checked_by_name():
    with pytest.raises(oas.InvalidArgument, match=r"has no setting 'colour'; it has confidence"):
        oas.estimate(MODEL, LOG, colour="red")
    with pytest.raises(oas.InvalidArgument, match="confidence"):
        oas.estimate(MODEL, LOG, confidence=1.5)
    with pytest.raises(oas.InvalidArgument, match="particles"):
        oas.estimate(MODEL, LOG, particles=5)
    with pytest.raises(oas.InvalidArgument, match="magic.*oas-ml"):
        oas.estimate(MODEL, LOG, "magic")
    narrow = oas.estimate(MODEL, LOG, "oas-overlap", confidence=0.5)
    wide = oas.estimate(MODEL, LOG, "oas-overlap", confidence=0.99)
    assert (narrow.upper - narrow.lower).sum() < (wide.upper - wide.lower).sum()


def test_warnings_point_at_the_caller():
    short = oas.simulate(MODEL, steps=20, seed=1)
    with pytest.warns(oas.OasWarning) as caught:
        estimate = oas.estimate(MODEL, short)
    assert [str(w.message) for w in caught] == estimate.warnings
    assert all(w.filename == __file__ for w in caught)


def test_rewards_are_learned_where_the_model_has_none():
    bare = oas.Pomdp(observation=MODEL.observation, timing="before")
    estimate = oas.estimate(bare, LOG)
    assert estimate.reward.shape == (3, 4)
    assert np.abs(estimate.reward - MODEL.reward)[:, 0].max() < 0.1


def test_a_log_of_another_model_is_refused():
    with pytest.raises(oas.InvalidArgument, match="the log was read with"):
        oas.estimate(oas.problem("pest-control"), LOG)
    with pytest.raises(oas.InvalidArgument, match="no rows"):
        oas.estimate(MODEL, {"action": [], "observation": []})
    with pytest.raises(oas.InvalidArgument, match="model is an int"):
        oas.estimate(3, LOG)


@pytest.mark.parametrize("estimator", ["oas-overlap", "oas", "oas-ml"])
def test_evidence_is_a_value(estimator):
    whole = oas.Evidence(MODEL, estimator).add(LOG)
    table = LOG.to_dataframe()[["run", "action", "observation", "propensity"]]
    parts = oas.Evidence(MODEL, estimator)
    for _, rows in table.groupby("run", sort=False):
        part = parts.fresh(parts.runs).add(rows)
        parts = pickle.loads(pickle.dumps(parts + copy.copy(part)))
    assert parts.runs == whole.runs == 4
    assert parts.estimate() == whole.estimate()
    np.testing.assert_array_equal(
        whole.estimate().transition, oas.estimate(MODEL, LOG, estimator).transition
    )


def test_evidence_of_open_runs():
    table = LOG.to_dataframe()[["run", "action", "observation", "propensity"]]
    runs = [rows for _, rows in table.groupby("run", sort=False)]
    side_by_side = oas.Evidence(MODEL, "oas-overlap")
    for start in range(0, 3000, 500):
        for number, rows in enumerate(runs):
            side_by_side.add(rows[start : start + 500], run=number)
    for number in range(4):
        side_by_side.end_run(number)
    assert side_by_side.estimate() == oas.Evidence(MODEL, "oas-overlap").add(LOG).estimate()
    with pytest.raises(oas.InvalidArgument, match="belong to 4 runs"):
        side_by_side.add(LOG, run=9)


@pytest.mark.parametrize("estimator", ["oas-overlap", "oas", "spectral"])
def test_tables_are_added_in_place_as_logs_are(estimator):
    log = oas.simulate(MODEL, steps=35_000, runs=2, seed=5)
    table = {"run": log.runs, "action": np.repeat(log.actions, 2)[::2]}
    table |= {"observation": log.observations, "propensity": log.propensities}
    by_log, by_table = (oas.Evidence(MODEL, estimator).add(LOG) for _ in range(2))
    by_log.add(log)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oas._estimation.read_log", None)  # nobody makes a log of it
        by_table.add(table)
    assert by_table.runs == by_log.runs == 6
    rest = {name: column[:100] for name, column in table.items()}
    assert by_table.add(rest, run=5).estimate() == by_log.add(rest, run=5).estimate()


@pytest.mark.parametrize("wrong", ["cell", "propensity", "setting"])
def test_evidence_is_as_it_was_when_a_table_is_wrong(wrong):
    log = oas.simulate(MODEL, steps=70_000, seed=5)
    evidence = oas.Evidence(MODEL, "oas-overlap").add(LOG)
    before = evidence.estimate()
    table = {"action": log.actions.copy(), "observation": log.observations}
    table["propensity"] = log.propensities.copy()
    settings = {}
    if wrong == "cell":
        table["action"][69_999] = 7
    elif wrong == "propensity":
        table["propensity"][50_000] = 0.0
    else:
        settings = {"colour": "red"}
    with pytest.raises(oas.InvalidArgument, match="row 69999|row 50000|colour"):
        evidence.add(table, **settings)
    assert evidence.runs == 4 and evidence.estimate() == before
    mixed = {"run": np.arange(70_000) % 2, "action": log.actions, "observation": log.observations}
    assert evidence.add({**mixed, "propensity": log.propensities}).runs == 6  # sorted on the way


@pytest.mark.filterwarnings("ignore::oas.OasWarning")
@pytest.mark.parametrize("name", oas.estimators())
def test_evidence_says_what_an_estimate_says(name):
    """Those that draw, too: they draw the same."""
    drawn = {"gibbs": {"draws": 200, "seed": 5}, "particle": {"particles": 20, "seed": 5}}
    settings = drawn.get(name, {})
    log = oas.simulate(MODEL, steps=400, runs=2, seed=3)
    whole = oas.estimate(MODEL, log, name, **settings)
    told = oas.Evidence(MODEL, name, **settings).add(log).estimate()
    np.testing.assert_array_equal(told.transition, whole.transition)
    np.testing.assert_array_equal(told.standard_error, whole.standard_error)


def test_evidence_of_another_make_is_refused():
    a = oas.Evidence(MODEL, "oas-overlap").add(LOG)
    with pytest.raises(oas.InvalidArgument, match="of oas-overlap and oas cannot be merged"):
        a + oas.Evidence(MODEL, "oas")
    other = oas.random_pomdp(3, 2, 3, seed=77)
    with pytest.raises(oas.InvalidArgument, match="of oas-overlap .* its model or its options"):
        a + oas.Evidence(other, "oas-overlap")
    with pytest.raises(TypeError):
        a + 1
    with pytest.raises(oas.InvalidArgument, match="colour"):
        oas.Evidence(MODEL, "oas-overlap", colour=1)


def test_models_at_the_edge():
    one = oas.Pomdp(observation=[[[1.0]]], transition=[[[1.0]]])
    estimate = oas.estimate(one, {"action": [0] * 50, "observation": [0] * 50})
    assert estimate.transition.tolist() == [[[1.0]]]
    sure = oas.Pomdp(observation=[[[1, 0], [0, 1]]], transition=[[[0, 1], [1, 0]]])
    rows = oas.simulate(sure, "uniform", steps=100, seed=1)
    assert oas.estimate(sure, rows).transition.round(6).tolist() == [[[0, 1], [1, 0]]]
    blind = {"action": [0] * 10, "observation": [None] * 10}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oas.OasWarning)
        assert not oas.estimate(sure, blind).determined.any()


def test_messages_speak_python():
    """Options are keywords there, and temporary files are the log."""
    model = oas.Pomdp(observation=[[0.9, 0.1], [0.2, 0.8]], actions=2, timing="after")
    rows = {"action": [0, 1] * 50, "observation": [0, 1] * 50}
    for table in (rows, {**rows, "run": ["a", "b"] * 50}, {**rows, "time": range(100)}):
        with pytest.raises(oas.InvalidArgument) as raised:
            oas.estimate(model, table, "oas-overlap", interleaved="run" in table)
        message = str(raised.value)
        assert message.startswith("the log: has no column propensity")
        assert "use actions_ignore_observations" in message and "--" not in message
        assert "/" not in message.replace("1/propensity", "")
    with pytest.raises(oas.InvalidArgument, match="'--walk'"):
        oas.read_log(model, {"action": ["--walk"], "observation": [0]})
