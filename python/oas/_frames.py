"""Results as pandas.DataFrame."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _oas
from ._errors import InvalidArgument


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise InvalidArgument("to_dataframe() needs pandas") from error
    return pandas


def _named(names: list[str], codes: Any) -> Any:
    """Names for indices, None for -1."""
    table = np.array([*names, None], dtype=object)
    return table[codes]


def log_frame(log: Any) -> Any:
    """A line for every row."""
    model = log.model
    columns: dict[str, Any] = {"run": np.array(log.run_names, dtype=object)[log.runs]}
    if log.times is not None:
        columns["time"] = log.times
    columns["action"] = _named(model.actions, log.actions)
    if log.observations is not None:
        columns["observation"] = _named(model.observations, log.observations)
    elif log.readings is not None:
        readings = log.readings.reshape(len(log), -1)
        for i in range(readings.shape[1]):
            name = "observation" if readings.shape[1] == 1 else f"observation_{i + 1}"
            columns[name] = readings[:, i]
    for name in ("propensities", "rewards"):
        if getattr(log, name) is not None:
            columns[{"propensities": "propensity", "rewards": "reward"}[name]] = getattr(log, name)
    if log.states is not None:
        columns["state"] = _named(model.states, log.states)
    return _pandas().DataFrame(columns)


def estimate_frame(estimate: Any) -> Any:
    """A line for every entry of the transition probabilities."""
    model = estimate.model
    _, states, _ = estimate.transition.shape
    a, s, n = np.indices(estimate.transition.shape).reshape(3, -1)
    columns: dict[str, Any] = {
        "action": _named(model.actions, a),
        "state": _named(model.states, s),
        "next_state": _named(model.states, n),
        "probability": estimate.transition.ravel(),
    }
    for name in ("standard_error", "lower", "upper"):
        table = getattr(estimate, name)
        if table is not None:
            columns[name] = table.ravel()
    columns["determined"] = np.repeat(estimate.determined.ravel(), states)
    return _pandas().DataFrame(columns)


def beliefs_frame(beliefs: Any) -> Any:
    """A line for every row of the log."""
    columns: dict[str, Any] = {
        "run": np.array(beliefs.run_names, dtype=object)[beliefs.runs],
        "probability": beliefs.probability,
    }
    for kind in ("belief", "smoothed"):
        for s, state in enumerate(beliefs.states):
            columns[f"{kind}_{state}"] = getattr(beliefs, kind)[:, s]
    return _pandas().DataFrame(columns)


def visited_beliefs(of: Any, copies: int = 64, steps: int = 200) -> tuple[Any, Any]:
    """Beliefs, to the nearest twentieth, that a plan visits, and how often, that first."""
    batch = _oas.BatchEnvironment(of.model, copies, seed=1, track_beliefs=True)
    seen = []
    for step in range(steps):
        beliefs = np.asarray(batch.beliefs)
        if step >= steps // 10:
            seen.append(np.round(beliefs * 20).astype(np.int64))
        values = np.asarray(_oas._action_values(of, beliefs / beliefs.sum(axis=1, keepdims=True)))
        batch.step(values.argmax(axis=1).astype(np.int64))
    kinds, counts = np.unique(np.concatenate(seen), axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    beliefs = kinds[order].astype(float)
    return beliefs / beliefs.sum(axis=1, keepdims=True), counts[order] / counts.sum()


def plan_frame(plan: Any) -> Any:
    """A line for every belief that the plan visits: how often, what is best there, all values."""
    model = plan.model
    beliefs, share = visited_beliefs(plan)
    values = np.asarray(_oas._action_values(plan, beliefs))
    columns: dict[str, Any] = {f"belief_{s}": beliefs[:, i] for i, s in enumerate(model.states)}
    columns["visited"] = share
    columns["action"] = _named(model.actions, values.argmax(axis=1))
    lost = values - values.max(axis=1, keepdims=True)
    for a, action in enumerate(model.actions):
        columns[f"value_{action}"] = lost[:, a]
    return _pandas().DataFrame(columns)


def _flat(record: Any, before: str = "") -> dict[str, Any]:
    """Fields of fields as fields: {"a": {"value": 1, "lower": 0}} has "a" and "a_lower"."""
    flat: dict[str, Any] = {}
    for name, value in record.items():
        path = before if before and name == "value" else f"{before}_{name}" if before else name
        flat.update(_flat(value, path) if isinstance(value, dict) else {path: value})
    return flat


def records_frame(records: Any) -> Any:
    """A line for every record."""
    return _pandas().DataFrame([_flat(record) for record in records])


def table_frame(columns: Any) -> Any:
    """The columns themselves."""
    return _pandas().DataFrame(columns)
