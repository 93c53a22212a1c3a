"""Logs and studies beyond one machine, on a Dask cluster.

    client = distributed.Client(…)
    estimate = oas.distributed.estimate(model, dask_frame, client=client)
    oas.distributed.study("study.toml", "results", client=client)

Workers need this package. Answers do not depend on the number of workers, nor on which of them die:
what a dead one held is computed again from the rows, and sums are taken in the order of the rows.
"""

from __future__ import annotations

from typing import Any

from . import _oas
from ._checks import text
from ._cluster import cluster, itself, task
from ._distributed_rows import Rows, rows_of
from ._distributed_study import study
from ._errors import InvalidArgument
from ._estimation import Evidence
from ._rows import plain

__all__ = ["estimate", "study"]

_BY_PASSES = ("em", "oas-ml")
_AT_ONCE = 8  # results that one task adds up
_MOST_PARTS = 1024  # that passes go over


def estimate(
    model: Any, rows: Any, estimator: str = "oas-ml", *, client: Any = None, **settings: Any
) -> _oas.Estimate:
    """Learns the transition probabilities of `model` from more rows than one machine takes.

    `rows` is a Dask DataFrame, or paths of Parquet files (one table, cut between row groups) or of
    CSV files (each starts a run). Partitions do not start runs: a run may go on from one to the
    next, and all rows of a run must follow each other; where they do not, the error names the run.
    Columns and settings are those of `oas.estimate`.

    Estimators of moments fold each partition once and merge in a fixed order: to the bit the
    estimate of `oas.Evidence` that was fed all rows. `oas-ml` and `em` keep the rows in the memory
    of the workers, 1 to 4 bytes each, whole runs together, and go over them pass by pass; sums are
    rounded otherwise than in one process, by the partitions. Evidence of `oas-weighted` and `gibbs`
    holds the rows, which are gathered here; `particle` and weights by age take rows in their order
    and are refused. The test of the sensors' fit and rewards that the model lacks are left to
    `oas.estimate`.
    """
    model = _oas._any_model(model)
    client = cluster(client)
    settings = plain(settings)
    estimator = text("estimator", estimator)
    found = rows_of(model, rows, settings, client)
    if estimator in _BY_PASSES:
        return _climb(model, found, estimator, settings, client)
    empty = Evidence(model, estimator, **_evidence_settings(estimator, settings))
    _require_merge(empty)
    whole = _merged(client.gather(client.compute(_folded(found, empty))))
    return whole.estimate(**_estimate_settings(settings))


def _estimate_settings(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: settings[name] for name in ("confidence", "prior") if name in settings}


def _evidence_settings(estimator: str, settings: dict[str, Any]) -> dict[str, Any]:
    known = _oas.estimator_settings(estimator)
    for name in settings:
        if name not in known:
            raise InvalidArgument(
                f"estimator '{estimator}' has no setting '{name}' here; it has {', '.join(known)}"
            )
    asked = _estimate_settings(settings)
    return {name: value for name, value in settings.items() if name not in asked}


def _require_merge(empty: Evidence) -> None:
    try:
        empty.fresh(0).merge(empty.fresh(0))
    except InvalidArgument as error:
        raise InvalidArgument(
            f"{error}; oas.estimate takes such rows, on one machine, or another estimator here"
        ) from None


def _fold(empty: Evidence, first_run: int, log: Any, more_to_come: bool) -> Evidence:
    return empty.fresh(first_run).add(log, run=0 if more_to_come else None)


def _grow(evidence: Evidence, log: Any) -> Evidence:
    """One more piece of the run that `evidence` is about; tasks leave what they were given as it
    was."""
    return evidence.__copy__().add(log, run=0)


def _merged(parts: list[Evidence]) -> Evidence:
    whole = parts[0].__copy__()
    for part in parts[1:]:
        whole.merge(part)
    return whole


def _tree(parts: list[Any], add: Any, submit: Any) -> list[Any]:
    """At most a handful of sums, in the order of the parts."""
    while len(parts) > _AT_ONCE:
        parts = [submit(add, parts[i : i + _AT_ONCE]) for i in range(0, len(parts), _AT_ONCE)]
    return parts


def _folded(found: Rows, empty: Evidence) -> list[Any]:
    """Evidence of all rows in a handful of parts, which follow each other."""
    shared = task(itself, empty)
    parts: list[Any] = []
    for chunk in found.chunks:
        evidence = task(_fold, shared, chunk.first_run, chunk.logs[0], len(chunk.logs) > 1)
        for log in chunk.logs[1:]:
            evidence = task(_grow, evidence, log)
        parts.append(evidence)
    return _tree(parts, _merged, task)


def _packed(model: Any, logs: list[list[Any]]) -> Any:
    """The rows of several chunks, each a list of logs of which all but the first go on with its
    run."""
    part = _oas._LikelihoodPart(model)
    for chunk in logs:
        for number, log in enumerate(chunk):
            part._take(log, number > 0)
    return part


def _facts(part: _oas._LikelihoodPart) -> Any:
    return part._facts()


def _pass(part: _oas._LikelihoodPart, request: bytes, threads: int) -> Any:
    return part._pass(request, threads)


def _sum(passes: list[bytes]) -> Any:
    return _oas._sum_passes(passes)


def _grouped(chunks: list[Any]) -> list[list[Any]]:
    """So many neighbours together that there are not too many parts."""
    together = -(-len(chunks) // _MOST_PARTS)
    return [chunks[i : i + together] for i in range(0, len(chunks), together)]


def _start(model: Any, found: Rows, ignoring: bool) -> list[Any]:
    """Evidence of where to start; none where sensors are blind."""
    settings = {"actions_ignore_observations": True} if ignoring else {}
    try:
        return _folded(found, Evidence(model, "oas-overlap", **settings))
    except InvalidArgument:
        return []


def _started(moments: list[Evidence]) -> Any:
    try:
        return _merged(moments).estimate() if moments else None
    except InvalidArgument:  # propensities that are all 1
        return None


def _climb(model: Any, found: Rows, estimator: str, settings: Any, client: Any) -> _oas.Estimate:
    if not isinstance(model, _oas.Pomdp):
        raise InvalidArgument(
            f"estimator '{estimator}' takes finite observations here; oas-soft takes real-valued "
            "ones, and oas.discretise makes cells of them"
        )
    rest = dict(settings)
    ignoring = bool(rest.pop("actions_ignore_observations", False)) or not found.has_propensities
    shared = task(itself, model)
    packed = [task(_packed, shared, [c.logs for c in group]) for group in _grouped(found.chunks)]
    moments = _start(model, found, ignoring) if estimator == "oas-ml" else []
    futures = client.compute([*packed, *moments])  # rows are read once for both
    parts = futures[: len(packed)]
    start = _started(client.gather(futures[len(packed) :]))
    facts = client.gather([client.submit(_facts, part, pure=False) for part in parts])
    threads = max(1, sum(client.nthreads().values()) // len(parts))

    def submit(function: Any, *arguments: Any) -> Any:
        return client.submit(function, *arguments, pure=False)

    def one_pass(request: bytes) -> Any:
        passes = [submit(_pass, part, request, threads) for part in parts]
        return _sum(client.gather(_tree(passes, _sum, submit)))

    sums = [sum(fact[i] for fact in facts) for i in range(3)]
    transitions = [sum(of) for of in zip(*(fact[3] for fact in facts))]
    return _oas._estimate_by_passes(model, estimator, start, (*sums, transitions), rest, one_pass)
