"""Agents against each other: runs of the library's agents and of objects written in Python."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _oas
from ._checks import iterable, real_or_none, typed, whole, whole_seed
from ._errors import AgentError, InvalidArgument
from ._html import lines_html
from ._same import SameFields

#: The columns of a run's file that are numbers of a checkpoint.
COLUMNS = (
    "reward",
    "realised_regret",
    "expected_regret",
    "realised_regret_floor",
    "expected_regret_floor",
    "oracle_run_regret",
)

#: An agent by name, (name, settings), an object with `act` and `observe`, or what makes one.
AgentLike = Union[str, tuple[str, Mapping[str, Any]], Callable[[Any], Any], Any]


@dataclass(frozen=True, repr=False, eq=False)
class Runs(SameFields):
    """What agents earned and lost, at the checkpoints of all runs.

    Numbers are cumulative, of shape [agent][run][checkpoint]; `nan` where a run broke off.
    Regrets are those of `oas learn`: realised, T·ρ* minus the rewards; expected, the advantages
    lost along the path, the same without the noise; each against the best policy, and (`…_floor`)
    against the best that keeps the floor `iota`; `oracle_run_regret` against the oracle under the
    same random numbers.
    """

    agents: tuple[str, ...]
    steps: NDArray[np.int64]
    reward: NDArray[np.float64]
    realised_regret: NDArray[np.float64]
    expected_regret: NDArray[np.float64]
    realised_regret_floor: NDArray[np.float64]
    expected_regret_floor: NDArray[np.float64]
    oracle_run_regret: NDArray[np.float64]
    oracle_gain: float
    oracle_gain_error: float
    oracle_gain_floor: float
    oracle_gain_floor_error: float
    iota: float
    seed: int
    #: One record per finished run, as `oas learn --json` has it.
    records: list[dict[str, Any]] = field(default_factory=list)
    #: Runs that broke off: (agent, run, reason).
    broken: list[tuple[str, int, str]] = field(default_factory=list)
    _rows: str = ""

    def to_csv(self) -> str:
        """The rows that `oas learn` writes, to the byte."""
        return str(_oas._RUN_HEADER) + self._rows

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `to_csv()` as a file."""
        Path(path).write_text(self.to_csv(), encoding="utf-8")

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with the columns of the file, one row per run and checkpoint."""
        import pandas as pd

        agents, runs, points = self.reward.shape
        data: dict[str, Any] = {
            "agent": np.repeat(np.array(self.agents, dtype=object), runs * points),
            "seed": self.seed,
            "replication": np.tile(np.repeat(np.arange(runs), points), agents),
            "step": np.tile(self.steps, agents * runs),
        }
        data.update({name: getattr(self, name).ravel() for name in COLUMNS})
        return pd.DataFrame(data).dropna(ignore_index=True)

    def plot(self, what: str = "expected_regret", ax: Any = None) -> Any:
        """Draws the mean of each agent with the range of its runs; returns the axes."""
        from . import plot

        return plot.runs(self, what, ax)

    def __repr__(self) -> str:
        runs = self.reward.shape[1]
        lines = [
            f"Runs({len(self.agents)} agents, {runs} runs of {self.steps[-1]:,} steps; "
            f"best gain {self.oracle_gain:.6g} ± {self.oracle_gain_error:.2g})"
        ]
        width = max(len(agent) for agent in self.agents)
        for index, agent in enumerate(self.agents):
            lost = self.expected_regret[index, :, -1]
            rest = lost[~np.isnan(lost)]
            mean = f"{rest.mean():.4g}" if rest.size else "no run ended"
            spread = f" ± {rest.std(ddof=1) / np.sqrt(rest.size):.2g}" if rest.size > 1 else ""
            lines.append(f"  {agent:<{width}}  expected regret {mean}{spread}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return lines_html(self)


def _is_player(agent: Any) -> bool:
    return hasattr(agent, "act") and hasattr(agent, "observe")


def _maker(agent: Any, model: Any) -> Callable[[int, int], Any]:
    """What makes the object of one run: a copy of `agent`, or what it returns for the model."""
    factory = isinstance(agent, type) or not _is_player(agent)
    hidden = model.without_transition()

    def make(run: int, seed: int) -> Any:
        player = agent(hidden) if factory else copy.deepcopy(agent)
        for method in ("act", "observe"):
            if not callable(getattr(player, method, None)):
                raise InvalidArgument(f"{typed(player)} has no method {method}()")
        reset = getattr(player, "reset", None)
        if reset is not None:
            reset(seed)
        return player

    return make


def _label(agent: Any) -> str:
    if isinstance(agent, str):
        return agent
    if isinstance(agent, tuple) and agent and isinstance(agent[0], str):
        return agent[0]
    given = getattr(agent, "name", None)
    if isinstance(given, str):
        return given
    return getattr(agent, "__name__", type(agent).__name__)


def _player(label: str, agent: Any, model: Any) -> tuple[str, str, dict[str, Any], Any]:
    if any(character in label for character in ',\n\r"'):
        raise InvalidArgument(f"agents: the name {label!r} cannot stand in a CSV file")
    if isinstance(agent, str):
        return label, agent, {}, None
    if isinstance(agent, tuple):
        if len(agent) == 2 and isinstance(agent[0], str) and isinstance(agent[1], Mapping):
            return label, agent[0], dict(agent[1]), None
        raise InvalidArgument(f"agents: {agent!r} is not a pair (name, settings)")
    if not _is_player(agent) and not callable(agent):
        raise InvalidArgument(
            f"agents: {agent!r} is {typed(agent)}; an agent is a name, (name, settings), "
            "an object with act() and observe(), or what makes one for a model"
        )
    return label, "", {}, _maker(agent, model)


def _players(agents: Any, model: Any) -> list[tuple[str, str, dict[str, Any], Any]]:
    if isinstance(agents, Mapping):
        pairs = [(str(label), agent) for label, agent in agents.items()]
    else:
        alone = isinstance(agents, str) or _is_player(agents) or not iterable(agents)
        pair = isinstance(agents, tuple) and len(agents) == 2 and isinstance(agents[1], Mapping)
        many = [agents] if alone or pair else list(agents)
        pairs = [(_label(agent), agent) for agent in many]
    if not pairs:
        raise InvalidArgument("agents: the list is empty")
    labels = [label for label, _ in pairs]
    for label in labels:
        if labels.count(label) > 1:
            raise InvalidArgument(
                f"agents: {label} is given twice; use a dict to give agents names of their own"
            )
    return [_player(label, agent, model) for label, agent in pairs]


def learn(
    model: Any,
    agents: Any = "oas-ucrl-ml",
    *,
    steps: int = 100_000,
    runs: int = 1,
    seed: int = 1,
    iota: float | None = None,
    checkpoints: int = 100,
    oracle_gap: float | None = None,
    no_cache: bool = False,
) -> Runs:
    """Let agents learn in a model and measure their regret.

    `agents` is one or a list of: a name of `oas.agents()`; (name, settings); an object with
    `act()`, which returns an action or (action, propensity), and `observe(o)`; a class or function
    that makes such an object from the model (without its transition) for each run. A dict gives
    them names of their own. Objects are copied for each run; `reset(seed)` is called before it
    where they have that. `probabilities()`, [A], says from what `act()` will draw; without it an
    agent is judged by what it does. The best gain is known to within `oracle_gap`, by default
    1/steps of the range of rewards (at least of 1); the policy that earns it is kept in the cache
    that `oas learn` uses, and planned anew with `no_cache=True`. Where rows are reading-first,
    `observe` is called once before the first `act`.

    All agents meet the same random numbers. Agents of the library run on all threads
    (`oas.set_threads`), those in Python one after the other. What an object raises ends the call
    with `oas.AgentError`.
    """
    known = _oas._as_pomdp(model)
    players = _players(agents, known)
    result = _oas._learn(
        known,
        players,
        whole("steps", steps, 1),
        whole("runs", runs, 1, 2**32 - 1),
        whole_seed(seed),
        real_or_none("iota", iota),
        whole("checkpoints", checkpoints, 1, 2**31 - 1),
        real_or_none("oracle_gap", oracle_gap),
        bool(no_cache),
    )
    if result["failure"] is not None:
        where, raised = result["failure"]
        if not isinstance(raised, Exception):  # KeyboardInterrupt, SystemExit: not about the agent
            raise raised
        raise AgentError(f"{where}: {type(raised).__name__}: {raised}") from raised
    return _runs(result, [player[0] for player in players], runs, seed)


def _runs(result: dict[str, Any], labels: list[str], runs: int, seed: int) -> Runs:
    finished = sorted(result["runs"], key=lambda run: (run["run"], labels.index(run["agent"])))
    if not finished:
        agent, run, reason = result["broken"][0]
        raise AgentError(f"no run was completed; {agent}, run {run}: {reason}")
    steps = finished[0]["steps"]
    values = np.full((len(labels), runs, len(steps), len(COLUMNS)), np.nan)
    for run in finished:
        values[labels.index(run["agent"]), run["run"]] = run["values"]
    columns: dict[str, Any] = {
        name: np.ascontiguousarray(values[..., i]) for i, name in enumerate(COLUMNS)
    }
    gains = {name: result[name] for name in result if name.startswith("oracle_") or name == "iota"}
    return Runs(
        agents=tuple(labels),
        steps=steps,
        seed=seed,
        records=[json.loads(run["json"]) for run in finished],
        broken=list(result["broken"]),
        _rows="".join(run["csv"] for run in finished),
        **columns,
        **gains,
    )
