"""Rows on a Dask cluster: tables in partitions as logs of whole runs, in their order."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import _oas
from ._checks import typed
from ._cluster import itself, task
from ._columns import part_names, parts_of
from ._errors import InvalidArgument
from ._parquet import is_parquet, require_runs
from ._rows import LOG_SETTINGS, TEXT_SETTINGS, paths_of, read_log

_FEW_ROWS = 1_000_000  # row groups with fewer go together


@dataclass
class Chunk:
    """Consecutive runs: `logs` is one task that makes a Log of all of them, or, of a run that spans
    partitions, one for each of its pieces."""

    logs: list[Any]
    runs: int
    first_run: int = 0


@dataclass
class Rows:
    """All rows, in order."""

    chunks: list[Chunk]
    has_propensities: bool


def rows_of(model: Any, rows: Any, settings: dict[str, Any], client: Any) -> Rows:
    """Takes what is about rows out of `settings`."""
    known = (*LOG_SETTINGS, *TEXT_SETTINGS)
    reading = {name: settings.pop(name) for name in known if name in settings}
    paths = paths_of(rows)
    if paths is not None and not any(is_parquet(path) for path in paths):
        return _rows_of_files(model, paths, reading, client)
    if paths is not None:
        parquet = _parquet(paths)
        require_runs(_parquet_files(paths), parquet.names, reading.get("columns"))
        return _rows_of_partitions(model, parquet, reading, client)
    if hasattr(rows, "to_delayed") and hasattr(rows, "columns"):
        table = _frame(_with_index(rows, reading.get("columns")))
        return _rows_of_partitions(model, table, reading, client)
    raise InvalidArgument(
        f"rows is {typed(rows)}; it must be a dask DataFrame or paths of Parquet or CSV "
        "files (oas.estimate takes tables in memory)"
    )


# ---------------------------------------------------------------------------------------------
# Files of CSV: each starts a run.


def _read_file(model: Any, path: str, reading: dict[str, Any]) -> Any:
    return read_log(model, path, _complete=True, **reading)


def _num_runs(log: Any) -> int:
    return int(log.num_runs)


def _has_propensities(log: Any) -> bool:
    return log.propensities is not None


def _rows_of_files(model: Any, paths: list[str], reading: dict[str, Any], client: Any) -> Rows:
    shared = task(itself, model)
    chunks = [Chunk([task(_read_file, shared, os.path.abspath(p), reading)], 0) for p in paths]
    return _numbered(chunks, client)


def _numbered(chunks: list[Chunk], client: Any) -> Rows:
    """Reads the logs, keeps them, and asks how many runs each has."""
    logs = client.compute([chunk.logs[0] for chunk in chunks])
    counts = client.gather([client.submit(_num_runs, log, pure=False) for log in logs])
    known = client.gather([client.submit(_has_propensities, log, pure=False) for log in logs])
    before = 0
    for chunk, log, runs in zip(chunks, logs, counts):
        chunk.logs, chunk.first_run, chunk.runs = [log], before, runs
        before += runs
    return Rows(_require_rows([c for c in chunks if c.runs > 0]), all(known))


def _require_rows(chunks: list[Chunk]) -> list[Chunk]:
    if not chunks:
        raise InvalidArgument("there are no rows in any partition")
    return chunks


# ---------------------------------------------------------------------------------------------
# Partitions of a table.


@dataclass
class _Table:
    """A table on the cluster."""

    names: list[str]
    partitions: Callable[[list[str]], list[Any]]  #: tasks that make these columns of each


def _with_index(frame: Any, columns: Any) -> Any:
    """The frame with its index as a column, where that is a part of a row."""
    name = frame.index.name
    if name is None or name in frame.columns:
        return frame
    return frame.reset_index() if str(name) in part_names(columns) else frame


def _frame(frame: Any) -> _Table:
    labels = list(frame.columns)
    names = [str(label) for label in labels]
    return _Table(
        names, lambda wanted: list(frame[[labels[names.index(n)] for n in wanted]].to_delayed())
    )


def _load_parquet(path: str, groups: list[int], columns: list[str]) -> Any:
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(path) as file:
        return file.read_row_groups(groups, columns=columns)


def _parquet_files(paths: list[str]) -> list[str]:
    files: list[str] = []
    for path in paths:
        inside = sorted(str(file) for file in Path(path).rglob("*.parquet"))
        if not inside and not os.path.isfile(path):
            raise InvalidArgument(f"{path}: no such file, nor a folder with Parquet files")
        files += inside or [path]
    return [os.path.abspath(file) for file in files]


def _parquet(paths: list[str]) -> _Table:
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise InvalidArgument(f"{paths[0]}: Parquet files need pyarrow") from error
    pieces: list[tuple[str, list[int]]] = []
    names: list[str] = []
    for path in _parquet_files(paths):
        with parquet.ParquetFile(path) as file:
            names = names or file.schema_arrow.names
            pieces += [(path, groups) for groups in _groups(file.metadata)]
    return _Table(
        names, lambda wanted: [task(_load_parquet, path, groups, wanted) for path, groups in pieces]
    )


def _groups(metadata: Any) -> list[list[int]]:
    """Row groups that are read together."""
    together: list[list[int]] = [[]]
    rows = 0
    for group in range(metadata.num_row_groups):
        if rows >= _FEW_ROWS:
            together.append([])
            rows = 0
        together[-1].append(group)
        rows += metadata.row_group(group).num_rows
    return [groups for groups in together if groups]


@dataclass
class _Survey:
    """Where the runs of a partition are: run i is rows bounds[i] … bounds[i + 1] - 1."""

    rows: int
    names: list[str]
    bounds: list[int]


def _column(table: Any, name: str) -> Any:
    """A column as a pandas.Series."""
    if hasattr(table, "column_names"):  # Arrow
        return table.column(name).to_pandas()
    return table[next(label for label in table.columns if str(label) == name)]


def _name(cell: Any) -> str:
    """A run's name, the same where a partition with missing cells made reals of whole numbers."""
    whole = isinstance(cell, (float, np.floating)) and float(cell).is_integer()
    return str(int(cell)) if whole else str(cell)


def _survey(table: Any, run: str | None) -> _Survey:
    rows = len(table)
    if rows == 0:
        return _Survey(0, [], [0])
    if run is None:
        return _Survey(rows, [""], [0, rows])
    import pandas

    column = _column(table, run)
    codes = pandas.factorize(column)[0]
    starts = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist()]
    return _Survey(rows, [_name(cell) for cell in column.iloc[starts].tolist()], [*starts, rows])


def _slice(table: Any, start: int, stop: int) -> Any:
    if hasattr(table, "column_names"):
        return table.slice(start, stop - start)
    return table.iloc[start:stop]


def _put_together(tables: list[Any]) -> Any:
    if len(tables) == 1:
        return tables[0]
    if hasattr(tables[0], "column_names"):
        import pyarrow

        return pyarrow.concat_tables(tables)
    import pandas

    return pandas.concat(tables, ignore_index=True)


def _read(
    model: Any,
    tables: list[Any],
    bounds: list[tuple[int, int, int]],
    where: str,
    reading: dict[str, Any],
) -> Any:
    """A Log of rows of tables: (first, end, rows that the table had when it was looked at)."""
    slices = []
    for table, (start, stop, rows) in zip(tables, bounds):
        if len(table) != rows:
            raise InvalidArgument(
                f"{where} has {len(table)} rows where it had {rows} before: partitions must come "
                "out the same each time"
            )
        slices.append(_slice(table, start, stop))
    try:
        return read_log(model, _put_together(slices), _complete=True, **reading)
    except InvalidArgument as error:
        raise InvalidArgument(f"{where}, rows from {bounds[0][0]} on: {error}") from None


@dataclass
class _Piece:
    partition: int
    start: int
    stop: int


def _check_runs(surveys: list[_Survey]) -> None:
    """All rows of a run must follow each other."""
    seen: dict[str, int] = {}
    last = None
    for number, survey in enumerate(surveys):
        for i, name in enumerate(survey.names):
            goes_on = i == 0 and name == last
            if name in seen and not goes_on:
                raise InvalidArgument(
                    f"run '{name}' is in partition {seen[name]} and again, after another run, in "
                    f"partition {number}: all rows of a run must follow each other, so sort them "
                    "by run (and time)"
                )
            seen[name] = number
            last = name


def _runs_in_order(surveys: list[_Survey]) -> list[tuple[int, list[_Piece]]]:
    """Number of runs and pieces: the whole runs of each partition, and runs that span several."""
    found: list[tuple[int, list[_Piece]]] = []
    open_name: str | None = None
    filled = [n for n, survey in enumerate(surveys) if survey.rows > 0]
    for at, number in enumerate(filled):
        survey = surveys[number]
        first, last = 0, len(survey.names)
        following = surveys[filled[at + 1]].names[0] if at + 1 < len(filled) else None
        if open_name == survey.names[0]:
            found[-1][1].append(_Piece(number, 0, survey.bounds[1]))
            first = 1
        spans = survey.names[-1] == following
        if spans and first < last:
            last -= 1
        if first < last:
            piece = _Piece(number, survey.bounds[first], survey.bounds[last])
            found.append((last - first, [piece]))
        if spans and last < len(survey.names):
            found.append((1, [_Piece(number, survey.bounds[last], survey.rows)]))
        open_name = survey.names[-1] if spans else None
    return found


def _needs_reader(model: Any, parts: list[tuple[str, str]], reading: dict[str, Any]) -> bool:
    """Whether rows mean something only beside those around them: times, gaps, first readings."""
    asked = [n for n, v in reading.items() if n not in ("columns", "rows") and v]
    of = _oas._any_model(model)
    return bool(
        asked
        or any(part == "time" for part, _ in parts)
        or (reading.get("rows") or of.rows) != "action-first"
        or not isinstance(of, _oas.Pomdp)
    )


def _rows_of_partitions(model: Any, table: _Table, reading: dict[str, Any], client: Any) -> Rows:
    parts = parts_of(table.names, reading.get("columns"))
    run = next((name for part, name in parts if part == "run"), None)
    wanted = [name for _, name in parts]
    looked_at = table.partitions([run] if run is not None else wanted[:1])
    surveys = client.gather(client.compute([task(_survey, p, run) for p in looked_at]))
    _check_runs(surveys)
    partitions = table.partitions(wanted)
    shared = task(itself, model)

    def read(pieces: list[_Piece]) -> Any:
        tables = [partitions[p.partition] for p in pieces]
        bounds = [(p.start, p.stop, surveys[p.partition].rows) for p in pieces]
        return task(_read, shared, tables, bounds, f"partition {pieces[0].partition}", reading)

    in_order = _runs_in_order(surveys)
    if _needs_reader(model, parts, reading):
        return _numbered(_require_rows([Chunk([read(p)], n) for n, p in in_order]), client)
    chunks = [Chunk([read([piece]) for piece in pieces], n) for n, pieces in in_order]
    before = 0
    for chunk in chunks:
        chunk.first_run = before
        before += chunk.runs
    return Rows(_require_rows(chunks), any(part == "propensity" for part, _ in parts))
