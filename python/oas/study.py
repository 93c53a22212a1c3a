"""Studies: many jobs in a file, run over all cores, stored so that they survive, reported."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from . import _oas
from ._checks import path
from ._command import _run
from ._errors import Error, InvalidArgument
from ._guests import guests
from ._options import words_of
from ._result import Result
from .plot import study as plot

__all__ = ["known", "plot", "repair", "replay", "report", "run"]


def known() -> dict[str, str]:
    """The study files in the folder `studies` here, or those of the package: name and summary."""
    return {entry["name"]: entry["summary"] for entry in _entries()}


def _entries() -> list[dict[str, str]]:
    entries: list[dict[str, str]] = json.loads(_run(["study", "list"], ["--json"]))
    return entries


def _file_of(study: str) -> str:
    """The file itself, or that of the study of that name."""
    if os.path.exists(study):
        return study
    for entry in _entries():
        if entry["name"] == study:
            return entry["file"]
    raise InvalidArgument(
        f"{study}: no such file, and no study of that name (see oas.study.known())"
    )


def run(
    file: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    quick: bool = False,
    shard: str | None = None,
    estimators: Mapping[str, Any] | None = None,
) -> str:
    """Runs a study file, or goes on with one that was stopped; results are in the folder `output`.

    `quick`: the small version. `shard="2/8"`: only the second of eight parts. Names with a colon in
    a list `estimators` of the file are functions in Python: "module:function" is imported, unless
    `estimators` has a function of that name. It is given the rows so far, a dict of arrays
    `action`, `observation` and `propensity`, and the model without its transition where it has a
    parameter `model`, and returns T, [A][S][S]. Functions are called one at a time; what one
    raises makes its task fail, and the others go on. Returns what it has to say.
    """
    part, parts = _shard(shard)
    folder = path("output", output)
    farm = _oas._StudyFarm(_file_of(path("file", file)), bool(quick), folder)
    try:
        functions = guests(farm._guests, estimators)
        finished, before, failed, remain, failure = farm._run(functions, part, parts)
    finally:
        farm._close()
    if failed:
        raise Error(f"{failed} tasks failed; the first: {failure}")
    if remain:
        raise Error(
            f"stopped; {before + finished} of {before + finished + remain} tasks are stored in "
            f"{folder}, and the same call goes on from there"
        )
    return (
        f"{folder}: {finished} tasks finished, {before} were there before, {failed} failed, "
        f"{remain} remain\n"
    )


def _shard(shard: str | None) -> tuple[int, int]:
    if shard is None:
        return 1, 1
    found = re.fullmatch(r"(\d{1,7})/(\d{1,7})", str(shard))
    if found is None or not 1 <= int(found[1]) <= int(found[2]) <= 1_000_000:
        raise InvalidArgument(f"shard is {shard!r}; it is written 'I/N', 1 <= I <= N: part I of N")
    return int(found[1]), int(found[2])


def report(folder: str | os.PathLike[str], **settings: Any) -> str:
    """Writes tables, figures and one page of stored results. Returns what it has to say."""
    return _run(["study", "report"], [path("folder", folder), *words_of(settings)])


def repair(folder: str | os.PathLike[str], **settings: Any) -> Result:
    """Keeps what is whole of damaged results and computes the rest again; settings are the options
    of `oas study repair`."""
    words = [path("folder", folder), "--json", *words_of(settings)]
    return Result.of(json.loads(_run(["study", "repair"], words)))


def replay(folder: str | os.PathLike[str], task: int | str) -> str:
    """Runs one task again and compares its rows with those that are stored, to the byte; an
    `oas.Error` where they differ. Returns what it has to say."""
    return _run(["study", "replay"], [path("folder", folder), str(task)])
