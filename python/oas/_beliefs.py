"""Beliefs along a log."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _oas
from ._frames import beliefs_frame
from ._html import beliefs_html
from ._rows import as_files, plain
from ._same import SameFields


@dataclass(frozen=True, eq=False)
class Beliefs(SameFields):
    """What is known about the state in which each row's action was taken."""

    belief: NDArray[np.float64]  #: [row][S]: P(state | rows before)
    smoothed: NDArray[np.float64]  #: [row][S]: P(state | all rows of the run)
    probability: NDArray[np.float64]  #: [row]: of the observation; 1: missing, 0: impossible
    last: NDArray[np.float64]  #: [run][S]: after its last row
    runs: NDArray[np.int64]  #: [row]: the number of its run
    run_names: list[str]
    states: list[str]  #: the names of the S states

    def to_dataframe(self) -> Any:
        """A pandas DataFrame, a line for every row: run, probability, beliefs."""
        return beliefs_frame(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `to_dataframe()` as a CSV file, with all digits."""
        self.to_dataframe().to_csv(path, index=False)

    @property
    def log_likelihood(self) -> float:
        """Of all observations that the model allows."""
        return float(np.log(self.probability[self.probability > 0]).sum())

    def __repr__(self) -> str:
        rows, runs = len(self.runs), len(self.run_names)
        return f"Beliefs({rows} row{'s' * (rows != 1)}, {runs} run{'s' * (runs != 1)})"

    def _repr_html_(self) -> str:
        return beliefs_html(self)


def filter(model: Any, log: Any, **settings: Any) -> Beliefs:
    """Compute beliefs and smoothed states along a log.

    Exact, for whatever `read_log` takes, with its settings.
    """
    settings = plain(settings)
    with as_files(model, log, settings) as paths:
        found = _oas._beliefs(model, paths, settings)
    return Beliefs(**found, states=_oas._any_model(model).states)


def smooth(model: Any, log: Any, **settings: Any) -> Beliefs:
    """The same as `filter`, whose result has both: what the rows so far say, and what all do."""
    return filter(model, log, **settings)
