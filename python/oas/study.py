"""Studies: many jobs in a file, run over all cores, stored so that they survive, reported."""

from __future__ import annotations

import json
import os
from typing import Any

from ._command import _run
from ._errors import InvalidArgument
from ._options import words_of
from ._result import Result
from .plot import study as plot

__all__ = ["known", "plot", "repair", "replay", "report", "run"]


def known() -> dict[str, str]:
    """The study files in the folder `studies` here: name and summary."""
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


def run(file: str | os.PathLike[str], output: str | os.PathLike[str], **settings: Any) -> str:
    """Runs a study file, or goes on with one that was stopped; results are in the folder `output`.
    Settings are the options of `oas study run`: `quick`, …. Returns what it has to say."""
    words = [os.fspath(file), "-o", os.fspath(output), *words_of(settings)]
    return _run(["study", "run"], words)


def report(folder: str | os.PathLike[str], **settings: Any) -> str:
    """Writes tables, figures and one page of stored results. Returns what it has to say."""
    return _run(["study", "report"], [os.fspath(folder), *words_of(settings)])


def repair(folder: str | os.PathLike[str], **settings: Any) -> Result:
    """Keeps what is whole of damaged results and computes the rest again; settings are the options
    of `oas study repair`."""
    words = [os.fspath(folder), "--json", *words_of(settings)]
    return Result.of(json.loads(_run(["study", "repair"], words)))


def replay(folder: str | os.PathLike[str], task: int | str) -> str:
    """Runs one task again and compares its rows with those that are stored, to the byte; an
    `oas.Error` where they differ. Returns what it has to say."""
    return _run(["study", "replay"], [os.fspath(folder), str(task)])
