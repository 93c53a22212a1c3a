import copy
import json
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import oas

MODEL = oas.problem("machine-maintenance")
LOG = oas.simulate(MODEL, steps=2000, runs=2, seed=3)
CONTINUOUS = """{"format": "oas-model/1", "timing": "before", "states": 2, "actions": 1,
  "observations": {"dimension": 1}, "transition": [[[0.9, 0.1], [0.2, 0.8]]],
  "density": [[{"kind": "gaussian", "mean": 0, "sd": 1},
               {"kind": "gaussian", "mean": 3, "sd": 1}]]}"""


def theirs(command, *words):
    return json.loads(command(*words, "--json").stdout)


def test_check_and_compare_are_those_of_the_command(command, tmp_path):
    assert oas.check(MODEL) == theirs(command, "check", "machine-maintenance")
    estimate = oas.estimate(MODEL, LOG)
    estimate.save(tmp_path / "e.json")
    assert oas.compare(MODEL, estimate) == theirs(
        command, "compare", "machine-maintenance", tmp_path / "e.json"
    )
    assert oas.compare(MODEL, MODEL).frobenius == 0
    with pytest.raises(AttributeError, match="frobenius"):
        oas.compare(MODEL, MODEL).distance  # noqa: B018


def test_tables_of_results_are_arrays():
    belief = oas.forecast(MODEL, LOG, actions="run").units[0]["belief"]
    assert isinstance(belief, np.ndarray) and belief.sum() == pytest.approx(1)
    made = oas.Result.of({"a": [[1, None], [2.5, 3]], "b": [1, 2], "c": ["x"], "d": [[1], [2, 3]]})
    assert made.a.shape == (2, 2) and np.isnan(made.a[0, 1])
    assert made.b.dtype == np.int64 and made.c == ["x"] and len(made.d[1]) == 2
    assert made == {"a": [[1, None], [2.5, 3]], "b": [1, 2], "c": ["x"], "d": [[1], [2, 3]]}
    assert made != {**made, "b": [1, 3]}


def test_settings_may_be_in_memory():
    plan = oas.plan("pest-control", gap=0.05)
    by_plan = oas.evaluate("pest-control", plan, steps=6400)
    assert oas.evaluate("pest-control", plan, filter="pest-control", steps=6400) != {}
    filtered = oas.evaluate("pest-control", plan, filter=oas.problem("pest-control"), steps=6400)
    assert filtered.simulated == by_plan.simulated
    several = oas.evaluate("pest-control", policy=[plan, "uniform"]).to_dataframe()
    assert several["policy"].tolist() == ["policy 0", "uniform"]
    assert several["frequencies_few"].between(0, 1).all()  # fields of fields are columns
    log = oas.simulate("pest-control", steps=50)
    actions = np.array(["wait", "spray"])
    assert oas.forecast("pest-control", log, actions=actions).actions == list(actions)
    assert oas.forecast("pest-control", log, policy=plan, steps=np.int8(3)).steps == 3


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"limit": {"failing": 0.1}}, "limit is {'failing': 0.1}, a dict"),
        ({"gap": 1j}, "gap is 1j, a complex"),
        ({"planner": len}, "planner is .*builtin_function"),
        ({"gap": [0.1, object()]}, "gap is <object"),
        ({"output": "x.json"}, "no setting 'output'"),
        ({"help": True}, "no setting 'help'"),
        ({"gap": "small"}, "gap.*small"),
    ],
)
def test_settings_of_no_use_are_named(setting, message):
    with pytest.raises(oas.InvalidArgument, match=message):
        oas.plan(MODEL, **setting)


def test_forecasts_are_those_of_the_command(command, tmp_path):
    parts = {name: getattr(MODEL, name) for name in ("observation", "transition", "actions")}
    model = oas.Pomdp(**parts, states=["new", 'worn, "old"', "x y", "failing"])
    model.save(tmp_path / "m.json")
    rows = oas.simulate(model, "uniform", steps=30, runs=3, reward=False).to_dataframe()
    rows["run"] = rows["run"].map({"0": "a, b", "1": '"c"', "2": "d"})
    log = oas.read_log(model, rows)
    log.save(tmp_path / "log.csv")
    question = ["--actions", "run", "--steps", "4", "--reach", "failing"]
    command("forecast", tmp_path / "m.json", tmp_path / "log.csv", *question, "-o", tmp_path / "f")
    theirs = pd.read_csv(tmp_path / "f")
    ours = oas.forecast(model, log, actions="run", steps=4, reach="failing").to_dataframe("table")
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)


def test_policies_are_compared_as_by_the_command(command):
    assert oas.compare_policies("pest-control") == theirs(command, "plan", "pest-control", "--all")


def test_scores_are_those_of_the_command(command, tmp_path):
    LOG.save(tmp_path / "log.csv")
    ours = oas.score(MODEL, LOG)
    other = theirs(command, "score", "machine-maintenance", tmp_path / "log.csv")
    assert ours.models[0]["model"] == "model 0"
    assert ours.models[0]["log_likelihood_per_row"] == other["models"][0]["log_likelihood_per_row"]


def test_beliefs_are_those_of_the_command(command, tmp_path):
    LOG.save(tmp_path / "log.csv")
    command("filter", "machine-maintenance", tmp_path / "log.csv", "-o", tmp_path / "beliefs.csv")
    table = np.genfromtxt(
        tmp_path / "beliefs.csv", delimiter=",", names=True, dtype=None, encoding="utf-8"
    )
    beliefs = oas.filter(MODEL, LOG)
    rows = table["action"] != ""
    for s, state in enumerate(MODEL.states):
        np.testing.assert_allclose(table[f"belief_{state}"][rows], beliefs.belief[:, s], atol=1e-5)
        np.testing.assert_allclose(
            table[f"smoothed_{state}"][rows], beliefs.smoothed[:, s], atol=1e-5
        )
        np.testing.assert_allclose(table[f"belief_{state}"][~rows], beliefs.last[:, s], atol=1e-5)
    np.testing.assert_allclose(beliefs.belief.sum(axis=1), 1)
    assert beliefs.log_likelihood < 0


def test_plans_are_those_of_the_command(command, tmp_path):
    command("plan", "pest-control", "--gap", 0.01, "-o", tmp_path / "theirs.json")
    plan = oas.plan("pest-control", gap=0.01)
    plan.save(tmp_path / "ours.json")
    assert (tmp_path / "ours.json").read_bytes() == (tmp_path / "theirs.json").read_bytes()
    assert plan == oas.load(tmp_path / "ours.json") == pickle.loads(pickle.dumps(plan))
    assert plan.gain_lower <= plan.gain_upper <= plan.gain_lower + 0.01
    assert oas.evaluate("pest-control", plan)["simulated"] > 0
    log = oas.simulate("pest-control", plan, steps=100, seed=3)
    command(
        "simulate",
        "pest-control",
        "--policy",
        tmp_path / "theirs.json",
        "--steps",
        100,
        "--seed",
        3,
        "-o",
        tmp_path / "log.csv",
    )
    np.testing.assert_array_equal(
        log.actions, oas.read_log("pest-control", tmp_path / "log.csv").actions
    )


def test_a_plan_acts():
    plan = oas.plan("pest-control")
    policy = plan.policy(seed=1)
    action, propensity = policy.act()
    assert action in (0, 1) and propensity == 1
    with pytest.raises(oas.InvalidArgument, match="twice"):
        policy.act()
    before = policy.belief
    policy.observe("full")
    assert not np.array_equal(before, policy.belief)
    policy.act()
    policy.observe(None)
    with pytest.raises(oas.InvalidArgument, match="without act"):
        policy.observe(0)
    policy.act()
    with pytest.raises(oas.InvalidArgument, match="no observation 'millions'"):
        policy.observe("millions")
    assert plan.greedy([1, 0]) != plan.greedy([0, 1])
    with pytest.raises(oas.InvalidArgument, match=r"belief has shape \(3\)"):
        plan.greedy([1, 0, 0])
    for bad in ([np.nan, 0.5], [2, 0.5], [-1, 2]):
        with pytest.raises(oas.InvalidArgument, match="belief"):
            plan.greedy(bad)
    with pytest.raises(oas.InvalidArgument, match="seed is -1"):
        plan.policy(seed=-1)
    fork = copy.copy(policy)
    assert "belief=" in repr(fork)
    for one in (policy, fork):
        one.observe("full")
    np.testing.assert_array_equal(policy.belief, fork.belief)


def test_the_other_verbs(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oas.OasWarning)
        calibrated = oas.calibrate(LOG, MODEL, differ_by_action=True)
        assert np.abs(calibrated.observation - MODEL.observation).mean() < 0.05
        assert len(oas.diagnose(MODEL, LOG, replicates=199).answers) == 6
        assert oas.forecast(MODEL, LOG, reach="failing", actions="run")["units"]
        page = oas.report(oas.estimate(MODEL, LOG), LOG, tmp_path / "page.html")
    assert "<html" in Path(page).read_text(encoding="utf-8")


def test_columns_of_real_numbers_calibrate_densities():
    """A table says by its type what a file of text cannot: numbers with fractions are readings."""
    rng = np.random.default_rng(1)
    state = rng.integers(0, 2, 400)
    rows = {"state": np.array(["cold", "hot"])[state], "action": ["wait"] * 400}
    readings = {**rows, "observation": rng.normal(4.0 * state, 1.0).astype("f4")}
    found = oas.calibrate(readings, timing="after", draws=20)
    assert isinstance(found, oas.ContinuousPomdp) and found.dimension == 1
    assert found == oas.calibrate(readings, timing="after", draws=20, family="auto")
    labels = {**rows, "observation": state.astype(float)}
    assert isinstance(oas.calibrate(labels, timing="after"), oas.Pomdp)


def test_wrong_options_are_named():
    with pytest.raises(oas.InvalidArgument, match="(?<!-)colour"):
        oas.plan(MODEL, colour="red")
    with pytest.raises(oas.InvalidArgument, match="model: has no transition"):
        oas.plan(MODEL.without_transition())
    with pytest.raises(oas.InvalidArgument, match="model is an int"):
        oas.check(3)


def test_a_study_runs_and_reports(root, tmp_path):
    file = tmp_path / "tiny.toml"
    source = sorted((root / "studies").glob("*.toml"))[0]
    file.write_bytes(source.read_bytes())
    with pytest.raises(oas.InvalidArgument):
        oas.study.report(tmp_path / "nothing")
    with pytest.raises(oas.InvalidArgument, match=r"none\.toml"):
        oas.study.run(tmp_path / "none.toml", tmp_path / "out")


def test_pages_show_records_of_any_fields():
    """A cell stands below its name, a number beside its limits, and long arrays are not spelt."""
    records = [{"unit": "a", "mean": {"value": 1 / 3, "limits": np.array([0.25, 0.5])}},
               {"unit": "b", "late": None, "mean": {"value": 2.0}, "more": True}]  # fmt: skip
    found = oas.Result.of({"units": records, "many": list(range(100)), "few": [1.5, 2.0]})
    page = found._repr_html_()
    lines = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in page.split("<tr>")]
    assert ["unit", "mean", "late", "more"] in lines
    assert ["a", "0.333333 [0.25, 0.5]", "", ""] in lines
    assert ["b", "2", "", "True"] in lines
    assert ["many", "100 numbers"] in lines and ["few", "[1.5, 2]"] in lines


def results():
    estimate = oas.estimate(MODEL, LOG, "oas-overlap")
    plan = oas.plan(estimate, gap=0.05)
    return {
        "log": LOG,
        "estimate": estimate,
        "plan": plan,
        "beliefs": oas.filter(MODEL, LOG),
        "check": oas.check(MODEL),
        "score": oas.score([MODEL, estimate], LOG),
        "runs": oas.learn(MODEL, "uniform", steps=50, checkpoints=2, oracle_gap=1e-2),
        "comparison": oas.compare_estimators(MODEL, "oas", rows=[500], runs=2),
    }


def test_all_results_have_the_same_manners(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oas.OasWarning)
        made = results()
    for name, result in made.items():
        assert pickle.loads(pickle.dumps(result)) == result, name
        assert copy.copy(result) == result == copy.deepcopy(result), name
        assert len(result.to_dataframe()) > 0, name
        assert "<" in result._repr_html_() and repr(result), name
        result.save(tmp_path / (f"{name}.json" if name in ("estimate", "plan", "check") else name))
    assert made["beliefs"] != oas.filter(MODEL, LOG.to_dataframe().iloc[:100])
    frame = made["plan"].to_dataframe()
    assert frame["visited"].sum() == pytest.approx(1)
    assert set(frame["action"]) <= set(MODEL.actions)
    saved = json.loads((tmp_path / "check.json").read_text())
    assert saved == made["check"]
    assert list(made["score"].to_dataframe("models")["model"]) == ["model 0", "model 1"]
    with pytest.raises(oas.InvalidArgument, match="field is 'colour'; .* tables are models"):
        made["score"].to_dataframe("colour")


def test_conversions_lists_and_cells(root, tmp_path, monkeypatch):
    after = oas.convert("pest-control", timing="after", expand=True)
    assert after.timing == "after" and after.num_states > 2
    with pytest.raises(oas.InvalidArgument, match="expand"):
        oas.convert("pest-control", timing="after")
    assert "grid" in oas.planners() and "belief" in oas.policies()
    monkeypatch.chdir(root)
    assert "estimation_error" in oas.study.known()
    model = oas.model_from_json(CONTINUOUS)
    rows = {"action": [0] * 5, "observation": [0.1, 2.9, np.nan, 3.5, -1.0]}
    finite, log = oas.discretise(model, rows, cells=4)
    assert finite.num_observations == 4 and log.observations[2] == -1
    assert log.observations[4] <= log.observations[0] < log.observations[3]
    assert oas.discretise(model, cells=4) == finite


def test_policy_graphs(tmp_path):
    told = oas.policy_graph("pest-control", tmp_path / "robust.pg", radius=0.1)
    assert (tmp_path / "robust.pg").exists() and isinstance(told, oas.Result)
    found = oas.evaluate("pest-control", tmp_path / "robust.pg", start_node=0, steps=6400)
    assert 0 < found["simulated"] < 1
    with pytest.raises(oas.InvalidArgument, match="robust is about a policy graph"):
        oas.plan("pest-control", robust=True, radius=0.1)


def test_sensors_are_calibrated_from_tables_alone():
    rows = LOG.to_dataframe()[["run", "action", "observation", "state"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oas.OasWarning)
        found = oas.calibrate(rows, timing="before")
        assert found.states == sorted(set(rows["state"]), key=found.states.index)
        rng = np.random.default_rng(1)
        readings = np.concatenate([rng.normal(0, 1, 50), rng.normal(6, 1, 50)])
        states = ["low"] * 50 + ["high"] * 50
        real = {"action": [0] * 100, "observation": readings, "state": states}
        assert oas.calibrate(real, timing="after", family="auto").dimension == 1
    model = oas.model_from_json(CONTINUOUS)
    whole = oas.read_log(model, {"action": [0, 0], "observation": [-1, 2]})
    np.testing.assert_array_equal(whole.readings, [-1, 2])  # a reading, not a missing one


def test_from_is_a_word_of_python():
    rows = {
        "time": np.arange("2026-01-01", "2026-01-11", dtype="M8[D]"),
        "action": [0] * 10,
        "observation": [0] * 10,
    }
    assert len(oas.read_log(MODEL, rows, from_="2026-01-04", until="2026-01-08")) == 4
    assert len(oas.filter(MODEL, rows, from_="2026-01-04").runs) == 7
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oas.OasWarning)
        assert oas.estimate(MODEL, rows, from_="2026-01-04").rows == 7


def test_studies_are_replayed_and_repaired(tmp_path):
    (tmp_path / "tiny.toml").write_text(
        'format = "oas-study/1"\nname = "tiny"\ntitle = "Tiny"\nquestion = "?"\n'
        'replications = 2\n[[sweep]]\nname = "a"\nkind = "estimation"\nsize = ["2x2x3"]\n'
        'estimators = ["oas"]\npairs = 1000\n'
    )
    assert "2 tasks finished" in oas.study.run(tmp_path / "tiny.toml", tmp_path / "out")
    assert "0" in oas.study.replay(tmp_path / "out", 0)
    assert oas.study.repair(tmp_path / "out")["damaged"] is False
    with pytest.raises(oas.InvalidArgument, match="9"):
        oas.study.replay(tmp_path / "out", 9)
