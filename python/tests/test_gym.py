"""Models as Gymnasium environments."""

import pickle
import warnings

import numpy as np
import pytest

import oas

gymnasium = pytest.importorskip("gymnasium")
import oas.gym  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

IDS = sorted(oas.gym.ids())


def reading_first():
    return oas.Pomdp(
        observation=[[0.9, 0.1], [0.2, 0.8]],
        transition=[[[0.9, 0.1], [0.3, 0.7]], [[0.5, 0.5], [0.1, 0.9]]],
        reward=[[1, 0], [0, 2]],
        timing="after",
        rows="reading-first",
    )


ODD = {
    "one state": dict(observation=[[[0.5, 0.5]]], transition=[[[1.0]]], reward=[[1.0]]),
    "one of all": dict(observation=[[[1.0]]], transition=[[[1.0]]], reward=[[0.0]]),
    "absorbing": dict(
        observation=np.eye(2), transition=[[[0, 1], [0, 1]]], reward=[[1, 0]], start=[1, 0]
    ),
    "forty": dict(
        observation=np.eye(40)[None],
        transition=np.roll(np.eye(40), 1, axis=1)[None],
        reward=np.arange(40.0)[None],
    ),
}


@pytest.mark.parametrize("name", IDS)
def test_check_env_has_nothing_to_say(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(name)
        check_env(env.unwrapped)
        env.close()


@pytest.mark.parametrize("rows", ["before", "after", "reading-first"])
@pytest.mark.parametrize("name", sorted(oas.problems()))
def test_check_env_has_nothing_to_say_in_any_timing(name, rows):
    model = oas.problem(name)
    tables = ("observation", "transition", "reward", "observation_reward", "start")
    known = {table: getattr(model, table) for table in tables}
    if rows == "reading-first":
        known.update(rows=rows, first_observation=model.observation[0])
    made = oas.Pomdp(**known, timing="before" if rows == "before" else "after")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(oas.gym.make(made).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", ODD)
def test_odd_models_pass_check_env(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = oas.gym.make(oas.Pomdp(timing="after", **ODD[name]))
        check_env(env.unwrapped, skip_render_check=True)
        check_env(oas.gym.make(reading_first()).unwrapped, skip_render_check=True)


def test_every_problem_has_an_id():
    assert set(oas.gym.ids().values()) == set(oas.problems())
    assert "oas/MachineMaintenance-v0" in IDS
    assert gymnasium.make("oas/MachineMaintenance-v0").unwrapped.model == oas.problem(
        "machine-maintenance"
    )


def test_the_environment_is_the_one_of_simulate():
    """The same seed, the same rows: actions of a log give its observations and rewards again."""
    model = oas.problem("machine-maintenance")
    log = oas.simulate(model, "uniform", steps=200, runs=3, seed=7)
    envs = oas.gym.make_vec(model, 3)
    envs.reset(seed=7)
    actions = np.asarray(log.actions).reshape(3, 200).T
    observations = np.asarray(log.observations).reshape(3, 200).T
    rewards = np.asarray(log.rewards).reshape(3, 200).T
    env = gymnasium.make("oas/MachineMaintenance-v0")
    env.reset(seed=7)
    for t in range(200):
        seen, paid, terminated, truncated, _ = envs.step(actions[t].astype(np.int64))
        np.testing.assert_array_equal(seen, observations[t])
        np.testing.assert_array_equal(paid, rewards[t])
        assert not terminated.any() and not truncated.any()
        one, reward, *_ = env.step(int(actions[t, 0]))
        assert (one, reward) == (observations[t, 0], rewards[t, 0])


@pytest.mark.parametrize("model", ["machine-maintenance", reading_first()], ids=["named", "first"])
def test_beliefs_are_those_of_bayes(model):
    env = oas.gym.BeliefObservation(oas.gym.make(model))
    belief, _ = env.reset(seed=3)
    of = env.unwrapped.model
    np.testing.assert_allclose(belief.sum(), 1, atol=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(50):
        action = int(rng.integers(of.num_actions))
        before = belief
        belief, *_ = env.step(action)
        seen = env.unwrapped._last[1]
        if of.timing == "before":
            expected = (before * of.observation[action][:, seen]) @ of.transition[action]
        else:
            expected = (before @ of.transition[action]) * of.observation[action][:, seen]
        np.testing.assert_allclose(belief, expected / expected.sum(), atol=1e-12)
        assert env.observation_space.contains(belief)


def test_vector_beliefs_are_those_of_single_copies():
    envs = gymnasium.make_vec(
        "oas/MachineMaintenance-v0", num_envs=5, vectorization_mode="vector_entry_point"
    )
    envs = oas.gym.BeliefVectorObservation(envs)
    beliefs, _ = envs.reset(seed=4)
    single = oas.gym.BeliefObservation(gymnasium.make("oas/MachineMaintenance-v0"))
    belief, _ = single.reset(seed=4)
    for t in range(30):
        assert beliefs.shape == (5, 4) and envs.observation_space.contains(beliefs)
        np.testing.assert_array_equal(beliefs[0], belief)
        beliefs, *_ = envs.step(np.full(5, t % 3))
        belief, *_ = single.step(t % 3)
    assert len({tuple(b) for b in beliefs}) > 1


def test_episodes_are_cut_and_begin_in_the_next_step():
    envs = gymnasium.make_vec("oas/PestControl-v0", num_envs=4, max_episode_steps=3)
    nothing = envs.unwrapped.model.num_observations
    seen, _ = envs.reset(seed=1)
    assert (seen == nothing).all()
    for t in range(12):
        seen, reward, terminated, truncated, _ = envs.step(np.zeros(4, np.int64))
        assert not terminated.any()
        assert truncated.all() == (t % 4 == 2) and truncated.any() == (t % 4 == 2)
        assert (seen == nothing).all() == (t % 4 == 3)
        assert not reward.any() or t % 4 != 3
    envs.reset(options={"reset_mask": np.array([True, False, False, True])})
    seen, _, _, truncated, _ = envs.step(np.ones(4, np.int64))
    assert not truncated.any()
    assert gymnasium.make("oas/PestControl-v0", max_episode_steps=5).spec.max_episode_steps == 5


def test_masks_restart_some_copies_only():
    envs = oas.gym.make_vec("machine-maintenance", 4)
    envs.reset(seed=2)
    envs.step(np.ones(4, np.int64))
    before = envs.states
    seen, _ = envs.reset(options={"reset_mask": np.array([False, True, False, False])})
    assert list(np.flatnonzero(seen == 4)) == [1]
    np.testing.assert_array_equal(np.delete(envs.states, 1), np.delete(before, 1))
    with pytest.raises(oas.InvalidArgument, match="reset_mask is int64"):
        envs.reset(options={"reset_mask": np.ones(4, np.int64)})


def test_render_draws_the_belief():
    pytest.importorskip("matplotlib")
    env = gymnasium.make("oas/MachineMaintenance-v0", render_mode="rgb_array")
    env.reset(seed=1)
    first = env.render()
    env.step(0)
    second = env.render()
    assert first.shape == second.shape and first.dtype == np.uint8 and first.shape[2] == 3
    assert (first != second).any()


BAD_STEPS = [
    (np.array([0, 1, 5]), "the action of copy 2 is 5; there are 3 actions"),
    (np.array([0, -1, 0]), "the action of copy 1 is -1"),
    (np.array([0, 2**40, 0]), "the action of copy 1 is 1099511627776"),
    (np.array([0.0, 1.0, 0.0]), "actions are float64"),
    (np.zeros(4, np.int64), r"shape \(4,\)"),
    (np.zeros((3, 1), np.int64), r"shape \(3, 1\)"),
]


@pytest.mark.parametrize("actions, message", BAD_STEPS)
def test_bad_actions_are_named_and_change_nothing(actions, message):
    envs = oas.gym.make_vec("machine-maintenance", 3)
    envs.reset(seed=1)
    states = envs.states
    with pytest.raises(oas.InvalidArgument, match=message):
        envs.step(actions)
    np.testing.assert_array_equal(envs.states, states)


def test_other_bad_input_is_named():
    with pytest.raises(oas.InvalidArgument, match="num_envs is 0"):
        oas.gym.make_vec("machine-maintenance", 0)
    with pytest.raises(oas.InvalidArgument, match="max_episode_steps is 0"):
        oas.gym.make_vec("machine-maintenance", 1, max_episode_steps=0)
    with pytest.raises(oas.InvalidArgument, match="model has no transition"):
        oas.gym.make(oas.problem("machine-maintenance").without_transition())
    with pytest.raises(oas.InvalidArgument, match="no-such-problem"):
        oas.gym.make("no-such-problem")
    env = oas.gym.make("machine-maintenance").unwrapped
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    with pytest.raises(oas.InvalidArgument, match="seed is -1"):
        env.reset(seed=-1)
    env.reset(seed=1)
    with pytest.raises(oas.InvalidArgument, match="action is 3"):
        env.step(3)
    with pytest.raises(oas.InvalidArgument, match="belief was not kept"):
        _ = env.belief
    with pytest.raises(oas.InvalidArgument, match="CartPole"):
        oas.gym.BeliefObservation(gymnasium.make("CartPole-v1"))


def newest(name):
    """The id of the newest version of an environment, whatever Gymnasium is installed."""
    versions = [spec.version for spec in gymnasium.registry.values() if spec.name == name]
    return f"{name}-v{max(versions)}"


@pytest.mark.parametrize("name", ["FrozenLake", "CliffWalking", "Taxi"])
def test_tabular_environments_become_models(name):
    env = gymnasium.make(newest(name))
    model = oas.gym.from_tabular(env)
    table = env.unwrapped.P
    assert model.num_states == env.observation_space.n
    assert model.num_actions == env.action_space.n
    assert model.rows == "reading-first"
    for state in range(0, model.num_states, 7):
        for action, outcomes in table[state].items():
            expected = np.zeros(model.num_states)
            for p, following, _, terminated in outcomes:
                expected += p * (model.start if terminated else np.eye(len(expected))[following])
            np.testing.assert_allclose(model.transition[action, state], expected, atol=1e-12)
            paid = sum(p * reward for p, _, reward, _ in outcomes)
            assert model.reward[action, state] == pytest.approx(paid)
    # Where nothing is left to chance, both environments say the same until an episode ends.
    ours = oas.gym.make(model)
    first, _ = ours.reset(seed=1)
    assert model.start[first] > 0


def test_sensors_hide_the_states_of_a_table():
    env = gymnasium.make("FrozenLake-v1")
    blurred = np.zeros((16, 4))
    blurred[np.arange(16), np.arange(16) // 4] = 1
    model = oas.gym.from_tabular(env, observation=blurred)
    assert model.num_observations == 4
    with pytest.raises(oas.InvalidArgument, match="shows no table P"):
        oas.gym.from_tabular(gymnasium.make("CartPole-v1"))
    for shape in [(3, 2), (16,), (), (4, 3, 2)]:
        with pytest.raises(oas.InvalidArgument, match=r"^observation has shape .* has 16 states"):
            oas.gym.from_tabular(env, observation=np.full(shape, 0.5))


def test_batches_of_learners_can_be_pickled_by_their_spec():
    env = oas.gym.make("machine-maintenance")
    again = pickle.loads(pickle.dumps(env.spec)).make()
    assert again.unwrapped.model == env.unwrapped.model
