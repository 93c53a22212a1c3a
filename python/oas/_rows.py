"""Tables and files as rows of a log: who reads them.

Whatever needs sorting, times or gaps is read by the reader of log files, so that it means the same.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import _oas
from ._checks import path as checked_path
from ._checks import typed
from ._columns import NEEDED, columns_text, table_columns
from ._errors import InvalidArgument, ParseError, messages_say
from ._parquet import is_parquet, parquet_tables, write_parquet

# Settings of the reader that a table of finite rows does not need it for.
_HARMLESS = ("columns", "rows", "interleaved")
LOG_SETTINGS = (
    "columns", "step", "step_classes", "gaps", "sparse", "from", "until", "rows", "outliers",
    "interleaved", "known_states", "noticed",
)  # fmt: skip


_SIMPLE = (bool, int, float, np.generic, Mapping)

#: What only matters where rows are text.
TEXT_SETTINGS = ("separator", "missing", "decimal_comma")


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by the names they have elsewhere: `from_` is `from`, a word of Python."""
    settings = {name: time_text(value) for name, value in settings.items()}
    for name, value in settings.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if not (one is None or is_path(one) or isinstance(one, _SIMPLE)):
                raise InvalidArgument(
                    f"{name} is {value!r}, {typed(value)}; it must be a number, a text, "
                    "True or False, or a list of them"
                )
    return {name.rstrip("_"): value for name, value in settings.items()}


def time_text(value: Any) -> Any:
    """A date or a duration as the reader of files takes it; anything else as it is. A date with a
    zone is one of UTC, as those of logs are."""
    if isinstance(value, np.timedelta64):
        seconds = float(value / np.timedelta64(1, "s"))
    elif isinstance(value, datetime.timedelta):
        seconds = value / datetime.timedelta(seconds=1)
    elif isinstance(value, np.datetime64):
        return str(max(value, value.astype("M8[s]"), key=lambda date: len(str(date))))
    elif isinstance(value, datetime.datetime):
        zoned = value.utcoffset() is not None
        return (value.astimezone(datetime.timezone.utc) if zoned else value).isoformat()
    elif isinstance(value, datetime.date):
        return value.isoformat()
    else:
        return value
    return f"{seconds:.15g}s"


def is_path(value: Any) -> bool:
    """Whether that is a path: str or os.PathLike."""
    return isinstance(value, (str, os.PathLike))


def paths_of(source: Any) -> list[str] | None:
    """The paths that a source is made of; None when it is something else."""
    several = source if isinstance(source, (list, tuple)) else [source]
    if not several or not all(is_path(part) for part in several):
        return None
    return [checked_path("log", part) for part in several]


def _translated(error: ParseError, tables: dict[str, str], names: list[str]) -> Exception:
    """An error about a line of a file that nobody knows, as one about a row of a table."""
    message = str(error)
    if error.file not in tables:
        return error
    table = tables[error.file]
    place = f"{table}, row {error.line - 3}" if error.line > 2 else table
    if 0 < error.column <= len(names):
        place += f", column '{names[error.column - 1]}'"
    return InvalidArgument(f"{place}: {message.split(': ', 1)[-1]}")


@contextlib.contextmanager
def as_files(
    model: Any,
    source: Any,
    settings: dict[str, Any],
    needed: tuple[str, ...] = NEEDED,
) -> Iterator[list[str]]:
    """The source as paths of log files, for work that reads such; `columns` is taken out of
    `settings` where it was used up."""
    paths = paths_of(source)
    if paths is not None and not any(is_parquet(path) for path in paths):
        if "columns" in settings:
            settings["columns"] = columns_text(settings["columns"])
        yield paths
        return
    _require_no_text_settings(settings)
    if paths is not None:
        _require_parquet(paths)
    if settings.get("rows"):
        model = with_rows(model, settings["rows"])
    columns = settings.pop("columns", None)
    with tempfile.TemporaryDirectory(prefix="oas-") as folder:
        names: list[str] = []
        tables: dict[str, str] = {}
        if paths is not None:
            for number, (path, dataset, run) in enumerate(parquet_tables(paths, columns, needed)):
                target = os.path.join(folder, f"log-{number}.csv.zst")
                write_parquet(model, dataset, run, columns, target, needed)
                tables[target] = path
        else:
            target = os.path.join(folder, "log.csv")
            tables[target] = "the log"
            names = _write_table(model, source, columns, target)
        with messages_say(tables):
            try:
                yield list(tables)
            except ParseError as error:
                raise _translated(error, tables, names) from None


def _write_table(model: Any, source: Any, columns: Any, target: str) -> list[str]:
    """Rows in memory as a log file; the names of its columns, where its owner knows others."""
    if isinstance(source, _oas.Log):
        if model is None:
            source.save(target)
        else:
            source._save_for(target, model)
        return []
    made = taken(model, source, {"columns": columns})
    writer = _oas._ColumnWriter(target, model)
    writer.write(made)
    writer.commit()
    return list(made.names())


def _require_parquet(paths: list[str]) -> None:
    for path in paths:
        if not is_parquet(path):
            raise InvalidArgument(
                f"{path} is no Parquet file, and others are: give logs of one kind in one call"
            )


def _require_no_text_settings(settings: Mapping[str, Any]) -> None:
    for name in TEXT_SETTINGS:
        if settings.get(name):
            raise InvalidArgument(
                f"{name} is about files of text; in a table missing cells are None, and numbers "
                "are numbers"
            )


def with_rows(model: Any, rows: str) -> Any:
    """A model whose rows are written in this way."""
    return _oas._any_model(model).with_rows(rows)


def read_log(model: Any, source: Any, **settings: Any) -> Any:
    """Makes a Log of rows as people have them.

    `source` is a Log, a dict of arrays, a structured NumPy array, a DataFrame of pandas or polars,
    an Arrow table (anything with `__arrow_c_stream__`), or a path or list of paths of CSV (plain,
    gzip, zstd) or Parquet files. Each CSV file starts a run; Parquet files are one table, and where
    that has no column `run` each file is a run. Columns: `action`, `observation`,
    optionally `run`, `time`, `propensity`, `reward`, `state`; `columns={"action": "cmd",
    "observation": ["vib", "temp"]}` says where else they stand. Cells are names of the model's
    elements or indices; vectors of readings may be one array [row][component]; a time is a date or
    a number, a reward NaN where it is not known, and an observation may be missing (NaN, None, NA,
    masked, empty, -1).

    Settings:

    - `columns` (text): which column holds which part of a row:
      action=cmd,observation=vib+temp,run=pump,time=ts; other columns are ignored
    - `separator` (text): separator of the cells: ';' or tab (default: a comma)
    - `missing` (text): texts that mean an empty cell, separated by commas: NA,NULL
    - `decimal_comma` (True or False): numbers have a decimal comma: 1,5
    - `step` (text): length of a step, if the log has times: 90s, 15m, 1h, 1d, or a number if
      times are numbers (default: the distance between rows, if it is always the same)
    - `step_classes` (text): steps of several lengths, each with its own actions:
      day=20h..28h,week=7d turns wait into wait@day or wait@week, depending on the time of the
      next row
    - `gaps` (text): what to do about steps without a row: error (refuse them; the default),
      action=NAME or repeat (fill them with rows without observation), new-run (start another
      run after them, in an unknown state)
    - `sparse` (True or False): accept a log whose rows are all twenty or more steps apart,
      which usually means that `step` is wrong
    - `from_` (text): leave out rows before this time: 2026-03-01, 2026-03-01T10:00 or a
      number; units that ran before it start in an unknown state
    - `until` (text): leave out rows at or after this time
    - `rows` (text): order within a row: an action, then what was seen (action-first), or a
      reading, then the action chosen because of it (reading-first); default: as the model
      says (action-first, reading-first)
    - `outliers` (text): what to do about real-valued readings that no state can give: error
      (the default), missing (treat them as missing), or a number such as 0.01 (the share of
      all readings that mean nothing)
    - `interleaved` (True or False): the rows of several units are mixed, even if only far
      down in the file
    - `known_states` (True or False): use the column state as evidence; it is empty where the
      state is unknown
    - `noticed` (text): with `known_states`: states that are always recorded, such as
      failed+burst, so that a row without a state was in none of them
    """
    complete = settings.pop("_complete", False)
    settings = plain(settings)
    source = taken(model, source, settings)
    log = in_memory(model, source, settings)
    if isinstance(log, _oas._Columns):
        log = _oas._log_from_columns(model, log)  # None: they must be sorted
    if log is not None and not (complete and log.model.rows != "action-first"):
        require_known(settings)
        return log
    with as_files(model, source, settings) as paths:
        return _oas._log_from_files(model, paths, settings, complete)


def require_known(settings: Mapping[str, Any]) -> None:
    """Raises on a setting that no reader of rows looks at."""
    known = (*LOG_SETTINGS, *TEXT_SETTINGS)
    for name in settings:
        if name not in known:
            raise InvalidArgument(f"there is no setting '{name}'; there are {', '.join(known)}")


def taken(
    model: Any,
    source: Any,
    settings: dict[str, Any],
    needed: tuple[str, ...] = NEEDED,
) -> Any:
    """Paths and a Log as they are; of a table its columns, which some tables hand out only once."""
    if isinstance(source, (_oas.Log, _oas._Columns)) or paths_of(source) is not None:
        return source
    _require_no_text_settings(settings)
    vectors = model is None or isinstance(_oas._any_model(model), _oas.ContinuousPomdp)
    columns = settings.pop("columns", None)
    return table_columns(source, columns, vectors=vectors, needed=needed)


def in_memory(model: Any, source: Any, settings: dict[str, Any]) -> Any:
    """What was taken() as a Log or columns, where the reader of files is not needed for it; else
    None."""
    needed = [
        name
        for name, value in settings.items()
        if name in LOG_SETTINGS and name not in _HARMLESS and value not in (None, False, "")
    ]
    if needed or paths_of(source) is not None:
        return None
    if isinstance(source, _oas.Log):
        return None if settings.get("rows") not in (None, "", source.model.rows) else source
    rows = settings.get("rows") or _oas._any_model(model).rows
    if rows != "action-first" or not isinstance(_oas._any_model(model), _oas.Pomdp):
        return None
    beyond = ("observation_", "likelihood_")
    if any(part == "time" or part.startswith(beyond) for part in source.parts()):
        return None
    return source
