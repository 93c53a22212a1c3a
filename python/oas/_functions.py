"""Functions of the extension as Python has functions: with a signature, and picklable by name, so
that they can be sent to other processes."""

from __future__ import annotations

from typing import Any

from . import _checks, _oas
from ._checks import real, real_or_none, text, whole, whole_seed


def problem(name: str) -> _oas.Pomdp:
    """The problem or corner model of that name.

    `oas.problems()` lists them.
    """
    return _oas.problem(text("name", name))


def problems() -> dict[str, str]:
    """All named problems.

    Name and summary.
    """
    return _oas.problems()


def random_pomdp(
    states: int = 3,
    actions: int = 3,
    observations: int = 3,
    *,
    seed: int = 1,
    epsilon: float | None = None,
    peak: float = 10.0,
    alpha: float = 0.001,
    spread_peaks: bool = False,
    timing: str = "before",
) -> _oas.Pomdp:
    """Draws a random instance as in the paper.

    The same as `oas problem random` with this seed.
    """
    return _oas.random_pomdp(
        whole("states", states, 1, 2**31 - 1),
        whole("actions", actions, 1, 2**31 - 1),
        whole("observations", observations, 1, 2**31 - 1),
        seed=whole_seed(seed),
        epsilon=real_or_none("epsilon", epsilon),
        peak=real("peak", peak),
        alpha=real("alpha", alpha),
        spread_peaks=bool(spread_peaks),
        timing=text("timing", timing),
    )


def model_from_json(text: str) -> _oas.Pomdp | _oas.ContinuousPomdp:
    """A model from the text of a .json model file."""
    return _oas.model_from_json(_checks.text("text", text))


def simulate(
    model: Any,
    policy: Any = "belief",
    *,
    steps: int,
    runs: int = 1,
    seed: int = 1,
    iota: float | None = None,
    filter: Any = None,
    reward: bool = True,
    state: bool = True,
) -> _oas.Log:
    """Lets a policy or a plan play and hands out its rows, run after run.

    `policy` is a name of `oas.policies()` (belief, uniform, round-robin, …), a Plan or the path of
    one; `iota` the smallest probability of every action (default 1/(10 A)); `filter` a model whose
    dynamics the policy believes in. The same rows as `oas simulate` with this seed.
    """
    return _oas.simulate(
        model,
        policy,
        steps=whole("steps", steps, 1),
        runs=whole("runs", runs, 1),
        seed=whole_seed(seed),
        iota=real_or_none("iota", iota),
        filter=filter,
        reward=bool(reward),
        state=bool(state),
    )


def agents() -> dict[str, str]:
    """All agents.

    Name and summary.
    """
    return _oas.agents()


def agent_settings(name: str) -> dict[str, tuple[str, str]]:
    """The settings of an agent: name, and its default and meaning as text."""
    return _oas.agent_settings(text("name", name))


def estimators() -> dict[str, str]:
    """The estimators: name and summary."""
    return _oas.estimators()


def estimator_settings(estimator: str) -> dict[str, str]:
    """What an estimator can be told: name and meaning."""
    return _oas.estimator_settings(text("estimator", estimator))


def set_threads(threads: int) -> None:
    """Threads that a call may use; 0: all cores. Results never depend on it."""
    _oas.set_threads(whole("threads", threads, 0, 1024))


def get_threads() -> int:
    """What set_threads() said; 0: all cores."""
    return _oas.get_threads()
