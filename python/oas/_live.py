"""Agents for real systems, in this process: `oas agent` as an object."""

from __future__ import annotations

import json
import math
import operator
import os
import weakref
from types import TracebackType
from typing import Any, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from . import _oas
from ._checks import real, text, typed, whole, whole_seed
from ._errors import InvalidArgument, IoError, Refused, warn_user
from ._result import Result
from ._rows import is_path, plain

_LATER = 503  # the status of what may be asked again later
_NOT_GIVEN: Any = object()  # None is an observation that is missing


class LiveAnswer(Result):
    """What a live agent answered: the fields of `oas agent`."""


class LiveChoice(LiveAnswer):
    """Which action a unit is to take in a step."""

    unit: str  #: its name
    run: int  #: 1 for the unit's first run
    step: int  #: the step in which the action is to be taken
    action: str  #: its name
    propensity: float  #: the probability with which it was chosen
    belief: NDArray[np.float64] | None  #: [S]: P(state) then; None before the first plan
    expected_reward: float | None  #: of the action under the belief


class LiveAgent:
    """An agent for real systems: many units that share their dynamics, each with a belief of its
    own; all teach one evidence and one plan serves all. It answers calls (docs/reference/live.md).

    It loses nothing when its process is killed. Every call that is accepted stands in the folder
    `journal` before it is answered. An agent made again from that folder, here or by the command
    `oas agent`, goes on as if nothing had happened, to the bit. The calls, their answers and the
    journal are those of the command.

    >>> with oas.LiveAgent("machine-maintenance", "pumps") as agent:
    ...     choice = agent.act("pump-7", 0)
    ...     choice = agent.step("pump-7", choice.step, "clean")

    A call that is out of order or wrong raises `oas.Refused`, and nothing has changed. The last
    call of a unit may be asked again, and is answered the same. Calls may come from several
    threads. Plans are made beside the calls; with `synchronous=True` within the call that needs a
    new one: then answers are a function of the calls alone, and Ctrl-C stops the planning. A
    forked process cannot use the agent. What was found at the start and deserves a warning comes
    as `OasWarning`.

    Settings of the agent (`oas.agent_settings(name)`) can be given, too.

    Settings:

    - `fsync` (text, interval): when the journal is forced to the disk (always, interval,
      never)
    - `fsync_seconds` (number, 1): seconds between two syncs, with `fsync` interval (above 0)
    - `synchronous` (True or False): plan within the call that needs a new plan
    - `verify` (True or False): at the start, compute every recorded choice and plan again,
      and compare
    - `snapshot_every` (whole number, 100000): least number of records of the journal between
      two snapshots; 0: no snapshots (1 to 1000000000000)
    - `memory` (whole number, 1024): memory for rows of likelihood in MiB, plans included;
      beyond it, plans read the journal again (at least 0)
    - `max_units` (whole number, 10000): most units at the same time (at least 1)
    - `half_life` (number, 0): rows of all units after which a row counts half; 0: rows always
      count in full (1 to 1e15)
    - `on_change` (text, warn): what to do when the dynamics have changed: warn, or also
      forget the rows before (warn, fresh)
    - `steps_per_false_alarm` (number, 1000000): mean number of steps between two false alarms
      of a change, at least (at least 100)
    """

    def __init__(
        self,
        model: Any,
        journal: str | os.PathLike[str],
        agent: str = "oas-ucrl-ml",
        *,
        seed: int = 1,
        **settings: Any,
    ) -> None:
        """Opens the journal or begins one; model, agent, its settings and seed belong to it."""
        if not is_path(journal):
            raise InvalidArgument(f"journal is {journal!r}; it must be the path of a folder")
        self.journal = str(os.fspath(journal))
        self.agent = text("agent", agent)
        known = _oas._any_model(model)
        self._held = _oas._LiveAgent(known, self.journal, agent, whole_seed(seed), plain(settings))
        self._closing = weakref.finalize(self, self._held._close)
        for note in self._held._notes:
            warn_user(note)

    def act(
        self, unit: str, step: SupportsIndex, *, run: SupportsIndex | None = None
    ) -> LiveChoice:
        """Which action the unit is to take in this step; a new unit begins with step 0, one that
        has ended begins another run. `run`, where it is given, must be the unit's."""
        return LiveChoice(self._ask("act", {"unit": unit, "step": step, "run": run}))

    def observe(
        self,
        unit: str,
        step: SupportsIndex,
        observation: Any = _NOT_GIVEN,
        *,
        reading: Any = None,
        likelihood: Any = None,
        action: Any = None,
        propensity: float | None = None,
        run: SupportsIndex | None = None,
    ) -> LiveAnswer:
        """What was seen in this step: a name, an index, or None where nothing was; in its place the
        `reading` of a real-valued sensor or the `likelihood` of each state, where the agent takes
        them. `action`: what somebody else chose instead, with that `propensity` if it is known.
        Returns the next step."""
        seen = _seen(observation, reading, likelihood, action, propensity)
        return self._ask("observe", {"unit": unit, "step": step, "run": run, **seen})

    def step(
        self,
        unit: str,
        step: SupportsIndex,
        observation: Any = _NOT_GIVEN,
        *,
        reading: Any = None,
        likelihood: Any = None,
        action: Any = None,
        propensity: float | None = None,
        run: SupportsIndex | None = None,
    ) -> LiveChoice:
        """`observe` of this step, then `act` of the next."""
        seen = _seen(observation, reading, likelihood, action, propensity)
        return LiveChoice(self._ask("step", {"unit": unit, "step": step, "run": run, **seen}))

    def end(
        self, unit: str, step: SupportsIndex, *, run: SupportsIndex | None = None
    ) -> LiveAnswer:
        """Ends the unit's run; `step` is the one that would be next."""
        return self._ask("end", {"unit": unit, "step": step, "run": run})

    def status(
        self,
        unit: str | None = None,
        *,
        after: str | None = None,
        limit: SupportsIndex | None = None,
    ) -> LiveAnswer:
        """How one unit stands; or the agent, its warnings, and up to `limit` units whose names come
        after `after`."""
        return self._ask("status", {"unit": unit, "after": after, "limit": limit})

    def estimate(self) -> LiveAnswer:
        """The dynamics as estimated last: `transition` and `standard_error` [A][S][S], …"""
        return self._ask("estimate", {})

    def plan(self) -> LiveAnswer:
        """What is being played, and when the next plan is due."""
        return self._ask("plan", {})

    def forecast(
        self,
        unit: str,
        *,
        steps: SupportsIndex | None = None,
        actions: Any = None,
        reach: Any = None,
    ) -> LiveAnswer:
        """What is to come for a unit: `states` [step][S]. `actions` to come in turn, one or a list;
        `reach`: states whose first time is asked for."""
        keys = {"unit": unit, "steps": steps, "actions": actions, "reach": reach}
        return self._ask("forecast", keys)

    def snapshot(self) -> LiveAnswer:
        """Takes a snapshot, so that the next start need not read the whole journal."""
        return self._ask("snapshot", {})

    def health(self) -> LiveAnswer:
        """Whether it serves, and what it warns of."""
        return self._ask("health", {})

    def call(self, call: str, **keys: Any) -> LiveAnswer:
        """Any call by its name, with the keys of `oas agent`; those that are None are left out, but
        for `observation`."""
        return self._ask(text("call", call), keys)

    def answer(self, line: str) -> str:
        """One request {"call":…} in a line of JSON, one answer.

        As `oas agent` gives it; raises nothing.
        """
        return self._held._answer(text("line", line))

    def metrics(self) -> str:
        """What can be counted, in Prometheus' text format."""
        return self._held._metrics()

    def close(self) -> None:
        """Ends the agent's threads and gives its journal free, once calls under way are done."""
        self._closing()

    def _ask(self, call: str, keys: dict[str, Any]) -> LiveAnswer:
        given = {
            key: _told(key, value)
            for key, value in keys.items()
            if value is not None or key == "observation"
        }
        status, body = self._held._call(call, json.dumps(given))
        answer = json.loads(body)
        if not answer.pop("ok"):
            _refuse(call, status, answer.get("error", body))
        return LiveAnswer.of(answer)

    def __enter__(self) -> LiveAgent:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        closed = "" if self._closing.alive else ", closed"
        return f"LiveAgent('{self.agent}', journal={self.journal!r}{closed})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a live agent cannot be pickled or copied; its journal is what it is: close it, and "
            "open the folder elsewhere"
        )


def _seen(
    observation: Any, reading: Any, likelihood: Any, action: Any, propensity: Any
) -> dict[str, Any]:
    """What was seen and done, as far as it was given; the agent says how much of it is to be."""
    seen = {
        "reading": reading,
        "likelihood": likelihood,
        "action": action,
        "propensity": propensity,
    }
    return seen if observation is _NOT_GIVEN else {"observation": observation, **seen}


def _number(key: str, value: Any) -> float | None:
    """A number; of a reading None or NaN where a component was not read."""
    if key == "reading" and (value is None or value != value):
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise InvalidArgument(f"{key} is {value!r}, {typed(value)}; it must be a number")
    number = real(key, value)
    if not math.isfinite(number):
        raise InvalidArgument(f"{key} is {value!r}; it must be finite")
    return number


def _told(key: str, value: Any) -> Any:
    """A value as JSON has it; numbers of any kind, also those of NumPy."""
    if key in ("step", "run", "steps", "limit", "from", "to"):
        return whole(key, value, -1)
    if key in ("unit", "after") and not isinstance(value, str):
        raise InvalidArgument(f"{key} is {value!r}, {typed(value)}; it must be a text")
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0):
        return [_told(key, one) for one in value]
    if key in ("propensity", "reading", "likelihood"):
        return _number(key, value)
    if value is None or isinstance(value, str):
        return value
    try:
        if not isinstance(value, (bool, np.bool_)):
            return operator.index(value)
    except TypeError:
        pass
    raise InvalidArgument(f"{key} is {value!r}, {typed(value)}; it must be a name or an index")


def _refuse(call: str, status: int, reason: str) -> NoReturn:
    if status == _LATER:
        raise IoError(f"{call}: {reason}")
    error = Refused(f"{call}: {reason}")
    error.status = status
    raise error
