"""Studies on a Dask cluster: the units are dealt out, the results are stored here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _oas
from . import study as _study
from ._checks import path
from ._cluster import cluster
from ._errors import Error
from ._guests import guests


def study(
    file: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    client: Any = None,
    quick: bool = False,
    estimators: Mapping[str, Any] | None = None,
) -> str:
    """Runs a study file, or goes on with one that was stopped, on a Dask cluster.

    Results are in the folder `output` of this machine, one transaction for each finished task: a
    run that is killed goes on where it was, here or by `oas study run`. Rows are those of
    `oas.study.run`, to the byte; `estimators` are as there. What a worker that dies had not
    finished is run again by another. Returns what it has to say.
    """
    client = cluster(client)
    place, folder = _study._file_of(path("file", file)), path("output", output)
    farm = _oas._StudyFarm(place, bool(quick), folder)
    try:
        functions = guests(farm._guests, estimators)
        pending = farm._pending()
        total = farm._total
        failures = _run(farm, pending, place, bool(quick), functions, client)
        farm._write()
    finally:
        farm._close()
    if failures:
        raise Error(f"{len(failures)} tasks failed; the first: {failures[min(failures)]}")
    before = total - len(pending)
    return f"{folder}: {len(pending)} tasks finished, {before} were there before\n"


def _unit(text: str, file: str, quick: bool, number: int, functions: dict[str, Any]) -> Any:
    return _oas._study_unit(text, file, quick, number, functions)


def _run(
    farm: Any, units: list[int], file: str, quick: bool, functions: dict[str, Any], client: Any
) -> dict[int, str]:
    """Stores units as they are finished; returns why some failed."""
    import distributed

    cores = client.nthreads()
    machine = f"Dask, {len(cores)} workers"
    futures = {
        client.submit(
            _unit, farm._text, file, quick, unit, functions, pure=False, priority=-rank
        ): unit
        for rank, unit in enumerate(units)
    }
    failures: dict[int, str] = {}
    for future in distributed.as_completed(list(futures)):
        unit = futures.pop(future)
        failure = farm._record(future.result(), machine, sum(cores.values()))
        if failure:
            failures[unit] = failure
    return failures
