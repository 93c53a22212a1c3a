"""Estimates from rows."""

from __future__ import annotations

from typing import Any

from . import _oas
from ._checks import text, typed, whole
from ._errors import InvalidArgument
from ._rows import LOG_SETTINGS, as_files, in_memory, plain, read_log, require_known, taken


def estimate(model: Any, log: Any, estimator: str = "oas-ml", **settings: Any) -> _oas.Estimate:
    """Estimate the transition model from logs and known sensors.

    `model` gives the sensors; its own transition, if any, is not used. `log` is whatever `read_log`
    takes. `oas.estimators()` lists the estimators, `oas.estimator_settings(name)` what each can be
    told; settings about rows (`columns`, `gaps`, `known_states`, …) go here too. The same numbers
    as `oas estimate` gives for the same rows. Warnings come as `OasWarning`.

    Settings:

    - `confidence` (number, 0.95): confidence level of intervals and regions (above 0 and
      below 1) [not spectral]
    - `error_bars` (text, asymptotic): how error bars are computed (asymptotic, block-
      bootstrap, parametric-bootstrap) [not oas-weighted, particle, gibbs, spectral]
    - `resamples` (whole number, 200): number of bootstrap resamples (20 to 1000000) [not oas-
      weighted, particle, gibbs, spectral]
    - `seed` (whole number, 1): same seed, same bytes [not oas-weighted]
    - `half_life` (number): halve the weight of a row every so many rows, for dynamics that
      change slowly (at least 1) [not particle, gibbs, spectral]
    - `window` (whole number): use only the last rows, this many of them; see `age` (at least
      2) [not particle, gibbs, spectral]
    - `age` (text): count the age of rows from the end of their run (run: units watched side
      by side) or of all logs (log: runs one after the other); required with several runs
      (log, run) [not particle, gibbs, spectral]
    - `actions_ignore_observations` (True or False): confirms that logged actions were chosen
      without looking at observations [not em, particle, gibbs, spectral]
    - `cells` (whole number, 0): number of cells (of vectors: per component); 0: twice the
      number of states in all (2 to 1024) [not oas-soft, oas-ml, em, gibbs]
    - `search` (text, refined): how to place split points: for the largest alpha (refined;
      random is the paper's search), or for evenly filled cells (even), which are best for
      plans (random, refined, even) [not oas-soft, oas-ml, em, gibbs]
    - `sensors` (text): treat calibrated sensors as uncertain (default where possible) or
      exact (exact, uncertain)
    - `memory` (number, 256): MB of rows kept in memory; longer logs are read again (0 to 1e9)
      [not oas-weighted, particle, spectral]
    - `prior` (number, 0): imaginary transitions added to every entry (at least 0) [oas-ml,
      em]
    - `max_passes` (whole number): passes over the rows after which each maximisation stops
      (default: 1000, em: 20000) (1 to 1000000) [oas-ml, em]
    - `max_seconds` (number): seconds after which each maximisation stops; results then depend
      on the machine (above 0) [oas-ml, em]
    - `carried_draws` (whole number): number of transition models, drawn from the posterior,
      that the estimate carries, so that forecasts and plans have limits (default: 200, fewer
      for large models; 0: none) (0 to 10000) [oas-ml, em, gibbs]
    - `structure` (text): what is known about T: a file (docs/reference/formats.md), zeros-of-
      model or same-for-all-actions; can be repeated [oas-ml, em, gibbs]
    - `particles` (whole number, 100): number of particles (2 to 1000000) [particle]
    - `moves` (whole number, 4): metropolis steps for each action whenever the particles are
      moved: more steps explore the posterior better, and take proportionally longer (1 to
      1000) [particle]
    - `draws` (whole number, 4000): number of draws from the posterior to keep (80 to 1000000)
      [gibbs]
    - `patience` (whole number, 16): keep drawing until the chains agree, at most this many
      times `draws` (1 to 1000) [gibbs]
    - `concentration` (number): prior of every row of T: imaginary transitions to each state
      (default: 1 in all) (0.001 to 1000) [gibbs]
    - those about rows: see `oas.read_log`
    """
    name = text("estimator", estimator)
    wanted = plain(settings)
    model = _oas._any_model(model)
    source = taken(model, log, wanted)
    rows = in_memory(model, source, wanted)
    if rows is not None and _goes_directly(model, rows):
        direct = {key: value for key, value in wanted.items() if key not in LOG_SETTINGS}
        if isinstance(rows, _oas.Log):
            return _oas._estimate_log(model, rows, name, direct)
        found = _oas._estimate_table(model, rows, name, direct)
        if found is not None:  # else they must be sorted
            return found
    with as_files(model, source, wanted) as paths:
        return _oas._estimate_files(model, paths, name, wanted)


def _goes_directly(model: Any, rows: Any) -> bool:
    """Whether rows in memory can be told to the estimator as they are."""
    if not isinstance(model, _oas.Pomdp) or model.rows != "action-first":
        return False
    without_reward = (
        model.reward is None and model.observation_reward is None and not model._has_reward
    )
    if isinstance(rows, _oas._Columns):
        return not (without_reward and "reward" in rows.parts())
    if (model.num_actions, model.num_observations) != _sizes(rows.model):
        raise InvalidArgument(f"the log was read with {rows.model!r}, the model is {model!r}")
    return not (without_reward and rows.rewards is not None)


def _sizes(model: Any) -> tuple[int, int]:
    return model.num_actions, getattr(model, "num_observations", 0)


class Evidence:
    """An estimator and all that it knows of the rows it was shown: a value that can be copied,
    merged and saved. It is told rows, block by block, and can be asked at any time what it makes of
    them.

    How rows are cut into blocks does not change a bit of the estimate. Parts that shall be merged
    must know how many runs come before them: `evidence.fresh(first_run)` or `first_run=`.

    >>> evidence = oas.Evidence(model, "oas-overlap")
    >>> evidence.add(log)
    >>> evidence.estimate().transition
    """

    def __init__(
        self, model: Any, estimator: str = "oas-ml", *, first_run: int = 0, **settings: Any
    ) -> None:
        before = whole("first_run", first_run, 0)
        self._held = _oas._Evidence(
            _oas._any_model(model), text("estimator", estimator), before, settings
        )

    @property
    def estimator(self) -> str:
        """Its name."""
        return self._held._estimator

    @property
    def model(self) -> _oas.Pomdp | _oas.ContinuousPomdp:
        """The model whose sensors it knows."""
        return self._held._model

    @property
    def runs(self) -> int:
        """Runs so far, those before the first one included."""
        return self._held._runs

    def start_run(self) -> None:
        """The rows to come belong to another run, which starts so; those that are open end."""
        self._held._start_run()

    def end_run(self, run: int) -> None:
        """No more rows of an open run will come."""
        self._held._end_run(whole("run", run, 0))

    def add(self, log: Any, *, run: int | None = None, **settings: Any) -> Evidence:
        """Adds rows, whatever `read_log` takes; every run of them is a new one. With `run` they go
        on with the open run of that number."""
        wanted = plain(settings)
        source = taken(self.model, log, wanted)
        if run is None and self._added_in_place(source, wanted):
            return self
        rows = read_log(self.model, source, _complete=True, **wanted)
        if run is None:
            self._held._add(rows)
        else:
            self._held._add_to_run(whole("run", run, 0), rows)
        return self

    def _added_in_place(self, source: Any, settings: dict[str, Any]) -> bool:
        """Whether the rows of a table could be added without a copy of it."""
        rows = in_memory(self.model, source, settings)
        if not isinstance(rows, _oas._Columns) or self.model.rows != "action-first":
            return False
        require_known(settings)
        return bool(self._held._add_table(rows))

    def merge(self, other: Evidence) -> Evidence:
        """Takes in the runs of `other` as if they followed: to the bit, error bars included. Raises
        InvalidArgument when it was made otherwise or for another first run than runs(), where the
        estimator reads in order, and with weights by age."""
        if not isinstance(other, Evidence):
            raise InvalidArgument(f"other is {typed(other)}; it must be Evidence")
        self._held._merge(other._held)
        return self

    def fresh(self, first_run: int = 0) -> Evidence:
        """An estimator of the same make that has seen nothing. To be merged it must know how many
        runs there are before its first one."""
        return self._wrap(self._held._fresh(whole("first_run", first_run, 0)))

    def estimate(self, **settings: Any) -> _oas.Estimate:
        """From all rows so far; more may follow.

        Settings: `confidence`, `prior`.
        """
        return self._held._estimate(settings)

    def __add__(self, other: Evidence) -> Evidence:
        """Both, `other` after this one."""
        if not isinstance(other, Evidence):
            return NotImplemented
        return self.__copy__().merge(other)

    def __radd__(self, other: Any) -> Evidence:
        """So that `sum(parts)` adds them up, which begins with 0."""
        return self.__copy__() if isinstance(other, int) and other == 0 else NotImplemented

    @classmethod
    def _wrap(cls, held: Any) -> Evidence:
        made = cls.__new__(cls)
        made._held = held
        return made

    def __copy__(self) -> Evidence:
        return self._wrap(self._held._copy())

    def __deepcopy__(self, memo: Any) -> Evidence:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return _evidence_from_state, (self._held._state(),)

    def __repr__(self) -> str:
        return f"Evidence({self.estimator}, {self.runs} run{'' if self.runs == 1 else 's'})"


def _evidence_from_state(state: Any) -> Evidence:
    return Evidence._wrap(_oas._Evidence._from_state(state))
