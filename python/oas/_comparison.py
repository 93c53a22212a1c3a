"""Estimators against each other on simulated logs, those of the library and functions in Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _oas
from ._checks import iterable, typed, whole
from ._errors import AgentError, InvalidArgument
from ._estimation import estimate
from ._functions import simulate
from ._guests import asked
from ._html import lines_html
from ._same import SameFields

#: Rows as an estimator in Python gets them: `action`, `observation` and `propensity`, [row].
Rows = dict[str, NDArray[Any]]
EstimatorLike = Union[str, tuple[str, Mapping[str, Any]], Callable[[Rows], Any]]


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(SameFields):
    """Errors ‖T̂ − T‖_F of estimators, [estimator][length][run], on the same simulated logs."""

    estimators: tuple[str, ...]
    rows: NDArray[np.int64]
    error: NDArray[np.float64]
    seed: int

    def to_dataframe(self) -> Any:
        """A pandas DataFrame: estimator, rows, run, error."""
        import pandas as pd

        estimators, lengths, runs = self.error.shape
        return pd.DataFrame(
            {
                "estimator": np.repeat(np.array(self.estimators, dtype=object), lengths * runs),
                "rows": np.tile(np.repeat(self.rows, runs), estimators),
                "run": np.tile(np.arange(runs), estimators * lengths),
                "error": self.error.ravel(),
            }
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `to_dataframe()` as a CSV file."""
        self.to_dataframe().to_csv(path, index=False)

    def plot(self, ax: Any = None) -> Any:
        """Draws the errors by the length of the log; returns the axes."""
        from . import plot

        return plot.comparison(self, ax)

    def __repr__(self) -> str:
        width = max(len(name) for name in self.estimators)
        head = " ".join(f"{rows:>12,}" for rows in self.rows)
        lines = [
            f"Comparison({self.error.shape[2]} runs, median errors)",
            f"  {'':<{width}} {head}",
        ]
        for name, error in zip(self.estimators, self.error):
            values = " ".join(f"{value:12.4g}" for value in np.median(error, axis=1))
            lines.append(f"  {name:<{width}} {values}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return lines_html(self)


def _named(estimators: Any) -> dict[str, Any]:
    if isinstance(estimators, Mapping):
        return {str(label): one for label, one in estimators.items()}
    several = iterable(estimators) and not isinstance(estimators, str)
    if isinstance(estimators, tuple) and any(isinstance(part, Mapping) for part in estimators):
        several = False  # (name, settings)
    many = list(estimators) if several else [estimators]
    named: dict[str, Any] = {}
    for one in many:
        given = one if isinstance(one, str) else one[0] if isinstance(one, tuple) and one else None
        label = str(given or getattr(one, "__name__", type(one).__name__))
        if label in named:
            raise InvalidArgument(
                f"estimators: {label} is given twice; use a dict to give them names of their own"
            )
        named[label] = one
    return named


def _require_estimator(label: str, one: Any) -> None:
    if isinstance(one, tuple):
        known = len(one) == 2 and isinstance(one[0], str) and isinstance(one[1], Mapping)
        if not known:
            raise InvalidArgument(f"estimators: {one!r} is not a pair (name, settings)")
    elif not isinstance(one, str) and not callable(one):
        raise InvalidArgument(f"estimators: {label} is {typed(one)}, no function")


def _transition(label: str, one: Any, model: Any, rows: Rows, run: int) -> Any:
    if isinstance(one, str):
        return estimate(model, rows, estimator=one).transition
    if isinstance(one, tuple):
        return estimate(model, rows, estimator=one[0], **one[1]).transition
    try:
        return asked(label, one)(model, {name: column.copy() for name, column in rows.items()})
    except InvalidArgument:
        raise
    except Exception as error:
        raise AgentError(
            f"{label}: {type(error).__name__} at {len(rows['action'])} rows of run {run}: {error}"
        ) from error


def compare_estimators(
    model: Any,
    estimators: EstimatorLike | Iterable[EstimatorLike] | Mapping[str, EstimatorLike],
    *,
    rows: int | Iterable[int] = (1_000, 10_000, 100_000),
    runs: int = 5,
    seed: int = 1,
    policy: Any = "belief",
    iota: float | None = None,
) -> Comparison:
    """Judges estimators on logs that are simulated in a model, as a study of estimation does.

    `estimators` are names of `oas.estimators()`, (name, settings), or functions that are given the
    rows, a dict of arrays `action`, `observation` and `propensity` (and the model without its
    transition where they have a parameter `model`), and return T, [A][S][S] (or an object with
    `transition`). A dict gives them names of their own. Run r of `oas.simulate`
    with this seed is cut at the lengths `rows`; all estimators see the same logs.
    """
    truth = _oas._as_pomdp(model)
    if truth.transition is None:
        raise InvalidArgument("model has no transition that estimates could be compared with")
    named = _named(estimators)
    for label, one in named.items():
        _require_estimator(label, one)
    several: Any = rows if iterable(rows) else [rows]
    lengths = np.array(sorted({whole("rows", n, 1) for n in several}), np.int64)
    if not lengths.size:
        raise InvalidArgument("rows: the list is empty")
    log = simulate(truth, policy, steps=int(lengths[-1]), runs=runs, seed=seed, iota=iota)
    blind = truth.without_transition()
    error = np.empty((len(named), lengths.size, runs))
    for run, first in enumerate(log.run_starts):
        for column, length in enumerate(lengths):
            part = slice(int(first), int(first) + int(length))
            cut: Rows = {
                "action": np.asarray(log.actions[part]),
                "observation": np.asarray(log.observations[part]),
                "propensity": np.asarray(log.propensities[part]),
            }
            for index, (label, one) in enumerate(named.items()):
                found = _transition(label, one, blind, cut, run)
                error[index, column, run] = _oas._transition_error(truth, found, label)
    return Comparison(tuple(named), lengths, error, seed)
