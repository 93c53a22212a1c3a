import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import oas

PROBLEMS = sorted(oas.problems())


def tables(model):
    return {
        "observation": model.observation,
        "transition": model.transition,
        "reward": model.reward,
        "observation_reward": model.observation_reward,
        "timing": model.timing,
        "states": model.states,
        "actions": model.actions,
        "observations": model.observations,
        "start": model.start,
    }


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_model_is_what_its_tables_say(name):
    model = oas.problem(name)
    again = oas.Pomdp(**tables(model))
    assert again == model
    a, s, o = model.num_actions, model.num_states, model.num_observations
    assert model.transition.shape == (a, s, s)
    assert model.observation.shape == (a, s, o)
    np.testing.assert_allclose(model.transition.sum(axis=2), 1)
    assert not model.transition.flags.writeable


@pytest.mark.parametrize("name", PROBLEMS)
def test_files_pickles_and_copies_are_equal(name, tmp_path):
    model = oas.problem(name)
    model.save(tmp_path / "model.json")
    assert oas.load(tmp_path / "model.json") == model
    assert oas.load(str(tmp_path / "model.json")) == model
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(model, protocol)) == model
    assert copy.copy(model) == model
    assert copy.deepcopy([model])[0] == model
    assert model != model.without_transition()
    assert model.without_transition().transition is None
    assert "from \\ to" in model._repr_html_()


def test_arrays_outlive_the_model():
    transition = oas.problem("pest-control").transition
    junk = [oas.problem("robot-corridor") for _ in range(50)]
    assert len(junk) == 50
    np.testing.assert_allclose(transition.sum(axis=2), 1)


def test_files_are_those_of_the_command(command, tmp_path):
    command("problem", "network-link", "-o", tmp_path / "theirs.json")
    oas.problem("network-link").save(tmp_path / "ours.json")
    assert (tmp_path / "ours.json").read_bytes() == (tmp_path / "theirs.json").read_bytes()
    command(
        "problem",
        "random",
        "--states",
        4,
        "--observations",
        5,
        "--seed",
        7,
        "-o",
        tmp_path / "random.json",
    )
    assert oas.load(tmp_path / "random.json") == oas.random_pomdp(4, 3, 5, seed=7)


def test_other_formats_are_read_and_written(tmp_path):
    model = oas.problem("robot-corridor")
    model.save(tmp_path / "model.pomdp")
    again = oas.load(tmp_path / "model.pomdp")
    np.testing.assert_allclose(again.transition, model.transition, atol=1e-12)
    with pytest.raises(oas.InvalidArgument, match=r"model\.xyz"):
        model.save(tmp_path / "model.xyz")
    with pytest.raises(oas.InvalidArgument, match=r"nothing\.json"):
        oas.load(tmp_path / "nothing.json")
    (tmp_path / "bad.json").write_text('{"format": "oas-model/1", "timing": 3}')
    with pytest.raises(oas.ParseError, match=r"bad\.json"):
        oas.load(tmp_path / "bad.json")


def test_real_valued_models(tmp_path):
    text = """{"format": "oas-model/1", "timing": "before", "states": ["low", "high"],
      "actions": 1, "observations": {"dimension": 1}, "transition": [[[0.9, 0.1], [0.2, 0.8]]],
      "density": [[{"kind": "gaussian", "mean": 0, "sd": 1},
                   {"kind": "gaussian", "mean": 3, "sd": 1}]]}"""
    (tmp_path / "m.json").write_text(text)
    model = oas.load(tmp_path / "m.json")
    assert isinstance(model, oas.ContinuousPomdp)
    assert model.dimension == 1
    assert pickle.loads(pickle.dumps(model)) == model


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"observation": [[1.0]]}, r"transition has shape \(3, 4, 4\)"),
        ({"transition": np.ones((3, 4, 4))}, r"transition\[0\]\[0\]"),
        ({"transition": np.full((3, 4, 4), np.nan)}, r"transition\[0\]\[0\]"),
        ({"transition": [[["a"]]]}, "transition is not an array of numbers"),
        ({"transition": [[[None]]]}, "transition"),
        ({"reward": np.zeros((4, 3))}, r"reward has shape \(4, 3\).*\[A\]\[S\] = \(3, 4\)"),
        ({"start": [1, 0]}, r"start has shape \(2\)"),
        ({"start": [2, -1, 0, 0]}, r"start"),
        ({"timing": "later"}, "timing is 'later'"),
        ({"rows": "sideways"}, "sideways"),
        ({"states": ["a"]}, "states has 1 names"),
        ({"states": ["a", "a", "b", "c"]}, "a"),
        ({"states": ["1", "2", "3", "4"]}, "1"),
        ({"states": "abcd"}, "list of names"),
        ({"states": [1, 2, 3, 4]}, r"states\[0\] is 1"),
        ({"states": 5}, "states is 5"),
        ({"observation_reward": [0, 0, 0, 0]}, "only one of"),
        ({"observation": np.zeros((0, 4, 4))}, "no size may be 0"),
        ({"start": np.ma.masked_equal([1, 0, 0, 0], 1)}, "start has masked entries"),
        ({"reward": np.zeros((3, 4), complex)}, "reward is complex"),
        ({"observation": 1.0}, r"observation has shape \(\)"),
    ],
)
def test_wrong_parts_are_named(change, message):
    parts = {**tables(oas.problem("machine-maintenance")), **change}
    with pytest.raises(oas.InvalidArgument, match=message):
        oas.Pomdp(**parts)


def test_one_table_of_sensors_for_all_actions():
    sensor = [[0.9, 0.1], [0.2, 0.8]]
    model = oas.Pomdp(observation=sensor, actions=["left", "right"])
    assert model.observation.shape == (2, 2, 2)
    assert model.transition is None
    assert model.states == ["0", "1"]
    with pytest.raises(oas.InvalidArgument, match="how many"):
        oas.Pomdp(observation=sensor)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), states=st.integers(1, 30))
def test_single_precision_is_precise_enough(seed, states):
    """Rows sum to 1 within single precision only; the model's do exactly."""
    rng = np.random.default_rng(seed)

    def rows(*shape):
        table = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
        return (table.astype(np.float32) / table.astype(np.float32).sum(-1, keepdims=True)).astype(
            np.float32
        )

    parts = {
        "observation": rows(2, states, 5),
        "transition": rows(2, states, states),
        "start": rows(1, states)[0],
    }
    model = oas.Pomdp(**parts)
    for name, table in parts.items():
        np.testing.assert_allclose(getattr(model, name), table, rtol=1e-5)
        np.testing.assert_allclose(getattr(model, name).sum(axis=-1), 1, rtol=1e-14)
    assert model.with_transition(parts["transition"]) == model
    wrong = parts["observation"] * np.float32(1.001)
    with pytest.raises(oas.InvalidArgument, match="observation.* sums to"):
        oas.Pomdp(observation=wrong)


@pytest.mark.parametrize("bad", [{"transition": 1.0}, {"reward": 2}, {"actions": -1}])
def test_what_says_how_many_actions_there_are_is_checked(bad):
    with pytest.raises(oas.InvalidArgument, match=next(iter(bad))):
        oas.Pomdp(observation=[[0.9, 0.1], [0.2, 0.8]], **bad)


def test_a_model_of_one_state():
    model = oas.Pomdp(observation=[[[1.0]]], transition=[[[1.0]]])
    assert model.num_states == model.num_actions == model.num_observations == 1


def test_names_of_any_language(tmp_path):
    names = ["grün", "größer", "ねこ", "a,b"]
    parts = {**tables(oas.problem("machine-maintenance")), "states": names}
    model = oas.Pomdp(**parts)
    assert model.states == names
    model.save(tmp_path / "Prüfung.json")
    assert oas.load(tmp_path / "Prüfung.json") == model


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(),
    order=st.sampled_from("CF"),
    endian=st.sampled_from("<>"),
    dtype=st.sampled_from(["f8", "f4", "i8", "i2", "u1"]),
)
def test_any_layout_means_the_same(data, order, endian, dtype):
    shape = data.draw(st.tuples(*[st.integers(1, 4)] * 3))
    actions, states, observations = shape
    peaks = data.draw(hnp.arrays(np.int64, (actions, states), elements=st.integers(0, 3)))
    table = np.zeros(shape)
    np.put_along_axis(table, (peaks % observations)[..., None], 1, axis=2)
    given_table = np.array(table, dtype=endian + dtype, order=order)
    if data.draw(st.booleans()):
        wide = np.zeros((*shape[:2], 2 * observations), dtype=given_table.dtype)
        wide[..., ::2] = given_table
        given_table = wide[..., ::2]
    if data.draw(st.booleans()):
        given_table = given_table.astype(object)
    if data.draw(st.booleans()):
        given_table.setflags(write=False)
    np.testing.assert_array_equal(oas.Pomdp(observation=given_table).observation, table)
