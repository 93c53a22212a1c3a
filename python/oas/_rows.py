"""Tables and files as rows of a log: what is which column, and who reads it.

Nothing here loops over rows. NumPy arrays and Arrow streams go to C++ as they are; whatever needs
sorting, times or gaps is read by the reader of log files, so that it means the same.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _oas
from ._errors import InvalidArgument, ParseError

_PARTS = ("action", "observation", "run", "time", "propensity", "reward", "state")
# Settings of the reader that a table of finite rows does not need it for.
_HARMLESS = ("columns", "rows", "interleaved")
LOG_SETTINGS = (
    "columns", "step", "step_classes", "gaps", "sparse", "from", "until", "rows", "outliers",
    "interleaved", "known_states", "noticed",
)  # fmt: skip


#: What only matters where rows are text.
TEXT_SETTINGS = ("separator", "missing", "decimal_comma")


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by the names they have elsewhere: `from_` is `from`, a word of Python."""
    return {name.rstrip("_"): value for name, value in settings.items()}


def is_path(value: Any) -> bool:
    """Whether that is a path: str or os.PathLike."""
    return isinstance(value, (str, os.PathLike))


def paths_of(source: Any) -> list[str] | None:
    """The paths that a source is made of; None when it is something else."""
    if is_path(source):
        return [os.fspath(source)]
    if isinstance(source, (list, tuple)) and source and all(is_path(part) for part in source):
        return [os.fspath(part) for part in source]
    return None


def _column_map(columns: Any) -> dict[str, list[str]]:
    """`columns` as a mapping from part to the names of its columns."""
    if columns is None:
        return {}
    if isinstance(columns, str):
        pairs = [pair.partition("=") for pair in columns.split(",") if pair]
        return {part: [name for name in names.split("+") if name] for part, _, names in pairs}
    if not isinstance(columns, Mapping):
        raise InvalidArgument(f"columns is {columns!r}; it must be a mapping or a text")
    return {str(part): _listed(names) for part, names in columns.items()}


def _listed(names: Any) -> list[str]:
    """One name or several; those of pandas may be numbers."""
    several = isinstance(names, (list, tuple, set, frozenset))
    return [str(name) for name in names] if several else [] if names is None else [str(names)]


def columns_text(columns: Any) -> str:
    """`columns` as the reader of files takes it."""
    if columns is None or isinstance(columns, str):
        return columns or ""
    return ",".join(f"{part}={'+'.join(names)}" for part, names in _column_map(columns).items())


def _parts(names: list[str], columns: Any) -> list[tuple[str, str]]:
    """Pairs of part and column, in the order of parts. Throws on what nobody would look at."""
    given = _column_map(columns)
    for part in given:
        if part not in _PARTS and part != "likelihood":
            known = ", ".join((*_PARTS, "likelihood"))
            raise InvalidArgument(f"columns: there is no part '{part}' of a row; there are {known}")
    found: list[tuple[str, str]] = []
    for part in _PARTS:
        if part in given:
            chosen = given[part]
            for number, name in enumerate(chosen, start=1):
                many = part == "observation" and len(chosen) > 1
                found.append((f"{part}_{number}" if many else part, name))
        elif part in names:
            found.append((part, part))
    rest = [n for n in names if n.startswith(("observation_", "likelihood_"))]
    if "observation" not in given and "observation" not in names:
        found += [(name, name) for name in rest]
    else:
        found += [(name, name) for name in rest if name.startswith("likelihood_")]
    used = {name for _, name in found}
    for name in used:
        if name not in names:
            raise InvalidArgument(f"columns: there is no column '{name}'; there are {names}")
        if names.count(name) > 1:
            raise InvalidArgument(
                f"there are {names.count(name)} columns '{name}'; a row's part must be one"
            )
    unknown = [name for name in names if name not in used]
    if unknown and not given:
        raise InvalidArgument(
            f"column '{unknown[0]}' is not a part of a row ({', '.join(_PARTS)}); "
            "name those that are with columns={...}, then others are ignored"
        )
    for part in ("action", "observation"):
        if not any(p == part or p.startswith((part + "_", "likelihood_")) for p, _ in found):
            raise InvalidArgument(f"there is no column '{part}'; there are {names}")
    return found


def _is_missing(cell: Any) -> bool:
    return cell is None or cell != cell or type(cell).__name__ in ("NAType", "NaTType")


def _is_missing_safely(cell: Any) -> bool:
    try:
        return bool(_is_missing(cell))
    except TypeError:  # pandas.NA compared with itself
        return True


def _add_array(columns: Any, part: str, name: str, values: Any) -> None:
    """Adds a column that NumPy can show."""
    missing: Any = None
    if isinstance(values, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(values)
        values = values.data
    elif hasattr(values, "isna") and hasattr(values, "to_numpy"):  # pandas
        missing, values = _from_pandas(values)
    array = np.asarray(values)
    if array.dtype.kind in "US" and isinstance(values, (list, tuple)):
        array = np.asarray(values, dtype=object)  # NaN among texts is missing and no text
    if array.ndim != 1:
        raise InvalidArgument(f"column '{name}' has {array.ndim} dimensions; it must have one")
    kind = array.dtype.kind
    if kind == "u" and array.dtype.itemsize == 8 and array.size and array.max() > 2**63 - 1:
        kind, array = "U", array.astype(str)
    if kind in "iub":
        whole = np.ascontiguousarray(array, dtype=np.int64)
        mask = None if missing is None or not missing.any() else _bytes(missing)
        columns.add_whole(part, name, whole, mask)
    elif kind == "f":
        real = np.ascontiguousarray(array, dtype=np.float64)
        if missing is not None and missing.any():
            real = np.where(missing, np.nan, real)
        columns.add_real(part, name, real)
    elif kind == "M":
        columns.add_dates(
            part, name, np.ascontiguousarray(array.astype("M8[ns]").view("i8")), False
        )
    elif kind in "UTSO":
        cells = array.astype(str).tolist() if kind in "US" else array.tolist()
        if missing is not None and missing.any():
            objects = np.array(cells, dtype=object)
            objects[missing] = None
            cells = objects.tolist()
        _add_objects(columns, part, name, cells)
    else:
        raise InvalidArgument(
            f"column '{name}' has the type {array.dtype}; "
            "it must hold whole numbers, real numbers, texts or dates"
        )


def _add_objects(columns: Any, part: str, name: str, cells: list[Any]) -> None:
    """Objects: numbers where all are, else texts."""
    if any(isinstance(cell, (list, tuple, dict, np.ndarray, bytes)) for cell in cells[:1000]):
        bad = next(c for c in cells if isinstance(c, (list, tuple, dict, np.ndarray, bytes)))
        raise InvalidArgument(f"column '{name}' holds {bad!r}, which is neither number nor text")
    columns.add_objects(part, name, cells, _is_missing_safely)


def _bytes(mask: Any) -> Any:
    return np.ascontiguousarray(mask, dtype=np.uint8)


def _from_pandas(series: Any) -> tuple[Any, Any]:
    """Missing values and the others of a pandas.Series."""
    missing = np.asarray(series.isna(), dtype=bool)
    kind = getattr(series.dtype, "kind", "O")
    zone = getattr(series.dtype, "tz", None)
    if zone is not None:
        return missing, series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    if type(series.dtype).__module__.startswith("pandas") and kind in "iubf":
        filled = series.to_numpy(dtype=np.float64 if kind == "f" else np.int64, na_value=0)
        return missing, filled
    return missing, series.to_numpy()


def _labels(table: Any) -> list[Any] | None:
    """What the columns of a table are called; None when it is none."""
    if isinstance(table, np.ndarray):
        return None if table.dtype.names is None else list(table.dtype.names)
    if isinstance(table, Mapping):
        return list(table)
    if hasattr(table, "column_names"):  # pyarrow
        return list(table.column_names)
    if hasattr(table, "columns"):  # pandas, polars, duckdb
        return list(table.columns)
    return None


def part_names(columns: Any) -> set[str]:
    """What columns may be called that are parts of a row."""
    return set(_PARTS).union(*_column_map(columns).values())


def _is_pandas(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] == "pandas"


def _with_index(table: Any, columns: Any) -> Any:
    """A pandas.DataFrame whose index levels are columns, where they are parts of a row."""
    parts = part_names(columns) - {str(name) for name in table.columns}
    levels = [name for name in table.index.names if name is not None and str(name) in parts]
    return table.reset_index(levels) if levels else table


def _collected(table: Any, columns: Any) -> Any:
    """A polars.LazyFrame as a DataFrame of the columns that are parts of a row."""
    names = table.collect_schema().names()
    return table.select([name for _, name in _parts(names, columns)]).collect()


def table_columns(table: Any, columns: Any = None) -> Any:
    """The columns of a table that are parts of a row."""
    if type(table).__name__ == "LazyFrame":
        table = _collected(table, columns)
    elif _is_pandas(table) and hasattr(table, "columns"):
        table = _with_index(table, columns)
    labels = _labels(table)
    stream = None
    if hasattr(table, "__arrow_c_stream__") and not _is_pandas(table):
        stream = table.__arrow_c_stream__()
        labels = _oas._arrow_names(stream) if labels is None else labels
    if labels is None:
        raise InvalidArgument(_what_is_no_table(table))
    names = [str(label) for label in labels]
    parts = _parts(names, columns)
    made = _oas._Columns()
    if stream is not None:
        made.add_arrow([p for p, _ in parts], [n for _, n in parts], stream)
        return made
    for part, name in parts:
        _add_array(made, part, name, table[labels[names.index(name)]])
    return made


def _what_is_no_table(table: Any) -> str:
    if isinstance(table, np.ndarray):
        return (
            f"an array of shape {table.shape} and type {table.dtype} is no table of rows: "
            "give a dict of columns, {'action': …, 'observation': …}, or a structured array"
        )
    return (
        f"a {type(table).__name__} is no log: give a Log, a table with columns (dict of "
        "arrays, structured array, pandas, polars, Arrow) or paths of CSV or Parquet files"
    )


def _is_parquet(path: str) -> bool:
    return path.endswith((".parquet", ".pq")) or (
        os.path.isdir(path) and any(Path(path).rglob("*.parquet"))
    )


def _write_parquet(model: Any, paths: list[str], columns: Any, target: str) -> None:
    """Parquet files as a log file, batch by batch in constant memory."""
    try:
        import pyarrow.dataset as arrow
    except ImportError as error:
        raise InvalidArgument(f"{paths[0]}: Parquet files need pyarrow") from error
    dataset = arrow.dataset(paths[0] if len(paths) == 1 else paths, format="parquet")
    names = [str(name) for name in dataset.schema.names]
    wanted = [name for _, name in _parts(names, columns)]
    writer = _oas._ColumnWriter(target, model)
    import pyarrow

    for batch in dataset.to_batches(columns=wanted):
        if batch.num_rows:
            writer.write(table_columns(pyarrow.Table.from_batches([batch]), columns))
    writer.commit()


def _translated(error: ParseError, path: str, table: str, names: list[str]) -> Exception:
    """An error about a line of a file that nobody knows, as one about a row of the table."""
    message = str(error)
    if error.file != path:
        return error
    place = f"{table}, row {error.line - 3}" if error.line > 2 else table
    if 0 < error.column <= len(names):
        place += f", column '{names[error.column - 1]}'"
    return InvalidArgument(f"{place}: {message.split(': ', 1)[-1]}")


@contextlib.contextmanager
def as_files(model: Any, source: Any, settings: dict[str, Any]) -> Iterator[list[str]]:
    """The source as paths of log files, for work that reads such; `columns` is taken out of
    `settings` where it was used up."""
    paths = paths_of(source)
    if paths is not None and not any(_is_parquet(path) for path in paths):
        if "columns" in settings:
            settings["columns"] = columns_text(settings["columns"])
        yield paths
        return
    if settings.get("rows"):
        model = with_rows(model, settings["rows"])
    columns = settings.pop("columns", None)
    with tempfile.TemporaryDirectory(prefix="oas-") as folder:
        names: list[str] = []
        if paths is not None:
            target = os.path.join(folder, "log.csv.zst")
            _write_parquet(model, paths, columns, target)
            table = ", ".join(paths)
        else:
            target = os.path.join(folder, "log.csv")
            table = "the log"
            if isinstance(source, _oas.Log):
                if model is None:
                    source.save(target)
                else:
                    source._save_for(target, model)
            else:
                made = table_columns(source, columns)
                names = made.names()
                writer = _oas._ColumnWriter(target, model)
                writer.write(made)
                writer.commit()
        try:
            yield [target]
        except ParseError as error:
            raise _translated(error, target, table, names) from None


def with_rows(model: Any, rows: str) -> Any:
    """A model whose rows are written in this way."""
    return _oas._any_model(model).with_rows(rows)


def read_log(model: Any, source: Any, **settings: Any) -> Any:
    """Makes a Log of rows as people have them.

    `source` is a Log, a dict of arrays, a structured NumPy array, a DataFrame of pandas or polars,
    an Arrow table (anything with `__arrow_c_stream__`), or a path or list of paths of CSV (plain,
    gzip, zstd) or Parquet files. Columns: `action`, `observation`, optionally `run`, `time`,
    `propensity`, `reward`, `state`; `columns={"action": "cmd", "observation": ["vib", "temp"]}`
    says where else they stand. Cells are names of the model's elements or indices; an observation
    may be missing (NaN, None, NA, masked, empty, -1).

    Settings:

    - `columns` (text): where the parts of a row stand:
      action=cmd,observation=vib+temp,run=pump,time=ts; other columns are ignored
    - `separator` (text): what separates the cells: ';', tab (default: a comma)
    - `missing` (text): texts that stand for an empty cell, separated by commas: NA,NULL
    - `decimal_comma` (True or False): numbers are written 1,5
    - `step` (text): length of a step where the log has times: 90s, 15m, 1h, 1d, or a number
      for numeric times (default: what lies between all rows)
    - `step_classes` (text): steps of several lengths, each with actions of its own:
      day=20h..28h,week=7d makes wait@day or wait@week of wait, by the time of the next row
    - `gaps` (text): what to make of steps without a row: error (the default), action=NAME,
      repeat (rows without observation), new-run (from an unknown state)
    - `sparse` (True or False): the step is right although rows lie twenty and more of them
      apart throughout
    - `from_` (text): leave out rows before this time, 2026-03-01, 2026-03-01T10:00 or a
      number; units that ran before start in an unknown state
    - `until` (text): leave out rows at this time and later
    - `rows` (text): how rows are written: an action, then what was seen (action-first), or
      what was read, then the action chosen knowing it (reading-first); default: as the model
      says (action-first, reading-first)
    - `outliers` (text): what to make of real-valued readings that no state can give: error
      (the default), missing, or a share, 0.01, of readings that tell nothing
    - `interleaved` (True or False): sort units apart from the first row on, also where they
      begin to mix late
    - `known_states` (True or False): use the column state, empty where it is unknown, as
      evidence
    - `noticed` (text): with known states: those that nobody misses, failed+burst, so that a
      row without state was in none of them
    """
    complete = settings.pop("_complete", False)
    settings = plain(settings)
    log = as_log(model, source, settings)
    if log is not None and not (complete and log.model.rows != "action-first"):
        return log
    with as_files(model, source, settings) as paths:
        return _oas._log_from_files(model, paths, settings, complete)


def as_log(model: Any, source: Any, settings: dict[str, Any]) -> Any:
    """The source as a Log, where the reader of files is not needed for it; else None."""
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
    made = table_columns(source, settings.get("columns"))
    if any(
        part == "time" or part.startswith(("observation_", "likelihood_")) for part in made.parts()
    ):
        return None
    return _oas._log_from_columns(model, made)
