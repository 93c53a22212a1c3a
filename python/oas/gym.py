"""Models as Gymnasium environments, single or thousands at a time.

    env = gymnasium.make("oas/MachineMaintenance-v0")
    envs = gymnasium.make_vec("oas/MachineMaintenance-v0", num_envs=4096)
    env = oas.gym.make(model)

`import oas` registers one id for every problem of `oas.problems()` where Gymnasium is installed.

Problems go on for ever: nothing terminates, and episodes are cut only by `max_episode_steps`.
Observations and actions are indices. Where a model has no first reading (rows that are not
reading-first), nothing is read before the first action: `reset` then returns the index O, one more
than any reading has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorObservationWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from . import _oas
from ._checks import typed, whole
from ._errors import InvalidArgument

__all__ = [
    "BeliefObservation",
    "BeliefVectorObservation",
    "PomdpEnv",
    "PomdpVectorEnv",
    "from_tabular",
    "ids",
    "make",
    "make_vec",
]

_RESTART = -1


def _reading_space(model: Any) -> spaces.Discrete:
    """Indices of readings, and one more for "nothing read yet" where runs begin with none."""
    nothing = 0 if model.rows == "reading-first" else 1
    return spaces.Discrete(model.num_observations + nothing)


def _belief_space(model: Any) -> spaces.Box:
    return spaces.Box(0.0, 1.0, (model.num_states,), np.float64)


def _checked_seed(seed: Any) -> int:
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)):
        raise InvalidArgument(f"seed is {seed!r}; it must be a whole number")
    if not 0 <= int(seed) < 2**64:
        raise InvalidArgument(f"seed is {seed}; it must be between 0 and 2**64 - 1")
    return int(seed)


class _Copies:
    """What single and vector environments share: copies of a model that live in C++."""

    def __init__(self, model: Any, copies: int) -> None:
        self.model = _oas._as_pomdp(model)
        if self.model.transition is None:
            raise InvalidArgument("model has no transition, so nothing can happen in it")
        self.copies = copies
        self.beliefs_kept = False
        self.batch: Any = None

    def keep_beliefs(self) -> None:
        """Keeps beliefs from the next reset on."""
        if not self.beliefs_kept:
            self.beliefs_kept = True
            self.batch = None

    def reset(self, seed: int | None, draw: Callable[[], int]) -> None:
        """All copies at their start: on new random numbers, or on those that come next."""
        if seed is None and self.batch is not None:
            self.batch.step(np.full(self.copies, _RESTART, np.int64))
            return
        seed = draw() if seed is None else seed
        if self.batch is None:
            self.batch = _oas.BatchEnvironment(
                self.model, self.copies, seed=seed, track_beliefs=self.beliefs_kept
            )
        else:
            self.batch.reset(seed)

    @property
    def running(self) -> Any:
        if self.batch is None:
            raise gymnasium.error.ResetNeeded("reset() comes before anything else")
        return self.batch


class PomdpEnv(gymnasium.Env[np.int64, np.int64]):
    """A model as an environment: actions and observations are indices, nothing terminates.

    `reset(seed=s)` draws from the random numbers of (s, run 0), as `oas.simulate` does with that
    seed; `reset()` without a seed goes on with them. `model` is whatever `oas.load` or
    `oas.problem` returns, an estimate, a path or the name of a problem.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(self, model: Any, render_mode: str | None = None) -> None:
        """Makes it; `render_mode="rgb_array"` draws the belief."""
        if render_mode not in (None, "rgb_array"):
            raise InvalidArgument(f"render_mode is {render_mode!r}; it can be 'rgb_array' or None")
        self._copies = _Copies(model, 1)
        self.render_mode = render_mode
        self.observation_space = _reading_space(self.model)
        self.action_space = spaces.Discrete(self.model.num_actions)
        self._last: tuple[int, int, float] | None = None
        self._step = np.empty(1, np.int64)
        if render_mode is not None:
            self.keep_beliefs()

    @property
    def model(self) -> Any:
        """The model, an `oas.Pomdp`."""
        return self._copies.model

    @property
    def state(self) -> int:
        """The hidden state in which the next action will be taken."""
        return int(self._copies.running.states[0])

    @property
    def belief(self) -> NDArray[np.float64]:
        """[S]: P(state | what was read since the reset); kept after `keep_beliefs()`."""
        beliefs = self._copies.running.beliefs
        if beliefs is None:
            raise InvalidArgument("the belief was not kept: call keep_beliefs() before reset()")
        return np.asarray(beliefs[0])

    def keep_beliefs(self) -> None:
        """Keeps the exact belief from the next reset on."""
        self._copies.keep_beliefs()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """Starts a new run."""
        checked = None if seed is None else _checked_seed(seed)
        super().reset(seed=seed)
        self._copies.reset(checked, lambda: int(self.np_random.integers(2**63)))
        self._last = None
        return np.int64(self._copies.batch.observations[0]), {}

    def step(self, action: Any) -> tuple[np.int64, SupportsFloat, bool, bool, dict[str, Any]]:
        """One step of the model."""
        if not self.action_space.contains(action):
            raise InvalidArgument(
                f"action is {action!r}; it must be a whole number below {self.model.num_actions}"
            )
        batch = self._copies.running
        self._step[0] = action
        batch.step(self._step)
        observation, reward = np.int64(batch.observations[0]), float(batch.rewards[0])
        self._last = (int(action), int(observation), reward)
        return observation, reward, False, False, {}

    def render(self) -> Any:
        """The belief as bars, with the hidden state marked: an RGB array."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() draws where render_mode='rgb_array' was asked for")
            return None
        from . import plot

        return plot.frame(self.model, self.belief, self.state, self._last)


class PomdpVectorEnv(VectorEnv[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]):
    """Thousands of copies of a model, stepped by one call into C++.

    Copy k after `reset(seed=s)` draws from the random numbers of (s, run k), as run k of
    `oas.simulate` does: copy 0 is the single environment. With `max_episode_steps` all copies are
    cut at once, and start anew in the step after that (`AutoresetMode.NEXT_STEP`);
    `reset(options={"reset_mask": …})` starts some of them.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as Gymnasium declares it)
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        model: Any,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Makes `num_envs` copies; they are drawn by nobody."""
        if render_mode is not None:
            raise InvalidArgument(f"render_mode is {render_mode!r}; many copies are not drawn")
        if max_episode_steps is not None:
            max_episode_steps = whole("max_episode_steps", max_episode_steps, 1)
        num_envs = whole("num_envs", num_envs, 1)
        self._copies = _Copies(model, num_envs)
        self.num_envs = num_envs
        self.max_episode_steps = max_episode_steps
        self.single_observation_space = _reading_space(self.model)
        self.single_action_space = spaces.Discrete(self.model.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._never = np.zeros(num_envs, np.bool_)
        self._age = np.zeros(num_envs, np.int64)

    @property
    def model(self) -> Any:
        """The model, an `oas.Pomdp`."""
        return self._copies.model

    @property
    def states(self) -> NDArray[np.int64]:
        """[copy]: the hidden states in which the next actions will be taken."""
        return np.asarray(self._copies.running.states)

    @property
    def beliefs(self) -> NDArray[np.float64]:
        """[copy][S]: P(state | what was read since the start); kept after `keep_beliefs()`."""
        beliefs = self._copies.running.beliefs
        if beliefs is None:
            raise InvalidArgument("beliefs were not kept: call keep_beliefs() before reset()")
        return np.asarray(beliefs)

    def keep_beliefs(self) -> None:
        """Keeps the exact belief of every copy from the next reset on."""
        self._copies.keep_beliefs()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int64], dict[str, Any]]:
        """Starts all copies anew, or those of `options["reset_mask"]`."""
        checked = None if seed is None else _checked_seed(seed)
        super().reset(seed=seed)
        mask = None if options is None else options.get("reset_mask")
        if mask is None or self._copies.batch is None:
            self._copies.reset(checked, lambda: int(self.np_random.integers(2**63)))
            self._age[:] = 0
        else:
            self._restart(np.asarray(mask), checked)
        return self._copies.batch.observations, {}

    def _restart(self, mask: NDArray[Any], seed: int | None) -> None:
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise InvalidArgument(
                f"reset_mask is {mask.dtype} of shape {mask.shape}; it must be bool of "
                f"({self.num_envs},)"
            )
        if seed is not None:
            raise InvalidArgument("reset_mask and seed cannot be given together")
        self._copies.running.restart(mask)
        self._age[mask] = 0

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """One step of every copy."""
        batch = self._copies.running
        try:
            given = np.ascontiguousarray(actions)
        except ValueError as error:
            raise InvalidArgument(f"actions are not an array: {error}") from None
        if given.dtype != np.int64:
            if given.dtype.kind not in "iu":
                raise InvalidArgument(f"actions are {given.dtype}; they must be whole numbers")
            given = given.astype(np.int64)
        if given.shape != (self.num_envs,):
            raise InvalidArgument(
                f"actions have shape {given.shape}; it must be ({self.num_envs},)"
            )
        if self.max_episode_steps is None:
            batch.act(given)
            return batch.observations, batch.rewards, self._never.copy(), self._never.copy(), {}
        begins = self._age >= self.max_episode_steps
        batch.act(given, begins)
        self._age = np.where(begins, 0, self._age + 1)
        cut = self._age >= self.max_episode_steps
        return batch.observations, batch.rewards, self._never.copy(), cut, {}


class BeliefObservation(
    gymnasium.ObservationWrapper[NDArray[np.float64], np.int64, np.int64], RecordConstructorArgs
):
    """Gives the exact belief, [S], as observation, so that any learner for MDPs can be used."""

    def __init__(self, env: gymnasium.Env[np.int64, np.int64]) -> None:
        """Wraps an environment of this module, with or without wrappers around it."""
        RecordConstructorArgs.__init__(self)
        gymnasium.ObservationWrapper.__init__(self, env)
        self._model_env = _unwrapped(env, PomdpEnv)
        self._model_env.keep_beliefs()
        self.observation_space: spaces.Space[Any] = _belief_space(self._model_env.model)

    def observation(self, observation: np.int64) -> NDArray[np.float64]:
        """The belief in place of the reading."""
        return np.asarray(self._model_env.belief)


class BeliefVectorObservation(VectorObservationWrapper):
    """Gives the exact beliefs of all copies, [copy][S], as observations."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        """Wraps a vector environment of this module, with or without wrappers around it."""
        super().__init__(env)
        self._model_env = _unwrapped(env, PomdpVectorEnv)
        self._model_env.keep_beliefs()
        self.single_observation_space = _belief_space(self._model_env.model)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def observations(self, observations: Any) -> NDArray[np.float64]:
        """The beliefs in place of the readings."""
        return np.asarray(self._model_env.beliefs)


def _unwrapped(env: Any, kind: type) -> Any:
    inner = env.unwrapped
    if not isinstance(inner, kind):
        raise InvalidArgument(f"env is {typed(inner)}; beliefs are kept by a {kind.__name__} only")
    return inner


def make(
    model: Any, *, render_mode: str | None = None, max_episode_steps: int | None = None
) -> gymnasium.Env[np.int64, np.int64]:
    """A model as an environment; episodes are cut after `max_episode_steps` where that is given."""
    spec = gymnasium.envs.registration.EnvSpec(
        "oas/Model-v0",
        entry_point="oas.gym:PomdpEnv",
        vector_entry_point="oas.gym:PomdpVectorEnv",
        max_episode_steps=max_episode_steps,
        kwargs={"model": _oas._as_pomdp(model)},
    )
    return gymnasium.make(spec, render_mode=render_mode)


def make_vec(
    model: Any, num_envs: int = 1, *, max_episode_steps: int | None = None
) -> PomdpVectorEnv:
    """Copies of a model as a vector environment."""
    return PomdpVectorEnv(model, num_envs, max_episode_steps)


def from_tabular(env: Any, *, observation: ArrayLike | None = None) -> Any:
    """A model of an environment that shows its table `P`, as those of Gymnasium's toy text do.

    `P[state][action]` lists (probability, next state, reward, terminated). Episodes become one run
    that goes on for ever: what ends an episode leads to a state drawn from
    `initial_state_distrib` instead, so states that only end an episode are never seen. Rewards are
    the expected ones of (action, state). `observation`, [S][O], hides the state behind a sensor;
    without it the state itself is read. Rows are reading-first, as `reset` shows the first state.
    """
    inner = getattr(env, "unwrapped", env)
    table = getattr(inner, "P", None)
    if not isinstance(table, dict):
        raise InvalidArgument(f"env: {typed(inner)} shows no table P of its transitions")
    states = len(table)
    actions = len(table[0])
    start = _start_of(inner, states)
    transition = np.zeros((actions, states, states))
    reward = np.zeros((actions, states))
    for state, rows in table.items():
        for action, outcomes in rows.items():
            for probability, following, paid, terminated in outcomes:
                reward[action, state] += probability * paid
                if terminated:
                    transition[action, state] += probability * start
                else:
                    transition[action, state, following] += probability
    sums = transition.sum(axis=2)
    for action, state in np.argwhere(np.abs(sums - 1.0) > 1e-8):
        raise InvalidArgument(
            f"env: P[{state}][{action}] has probabilities that sum to {sums[action, state]}"
        )
    transition /= sums[:, :, None]
    sensor = np.eye(states) if observation is None else np.asarray(observation, np.float64)
    if sensor.ndim not in (2, 3) or sensor.shape[-2] != states:
        raise InvalidArgument(
            f"observation has shape {sensor.shape}; it must be [S][O], and env has {states} states"
        )
    return _oas.Pomdp(
        observation=sensor,
        transition=transition,
        reward=reward,
        timing="after",
        rows="reading-first",
        start=start,
    )


def _start_of(env: Any, states: int) -> NDArray[np.float64]:
    given = getattr(env, "initial_state_distrib", None)
    if given is None:
        first = getattr(env, "start_state_index", None)
        if first is None:
            raise InvalidArgument(f"env: {typed(env)} has no initial_state_distrib")
        given = np.eye(states)[int(first)]
    start = np.asarray(given, np.float64)
    return np.asarray(start / start.sum())


def _id(problem: str) -> str:
    return f"oas/{''.join(word.capitalize() for word in problem.split('-'))}-v0"


def ids() -> dict[str, str]:
    """The ids of the ready-made problems, and which problem each is."""
    return {_id(name): name for name in _oas.problems()}


def _register() -> None:
    for name, problem in ids().items():
        if name in gymnasium.registry:
            continue
        gymnasium.register(
            id=name,
            entry_point="oas.gym:PomdpEnv",
            vector_entry_point="oas.gym:PomdpVectorEnv",
            kwargs={"model": problem},
        )


_register()
