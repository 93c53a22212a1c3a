"""Tables as columns: what is which part of a row, and its cells as C++ takes them.

Nothing here loops over rows. NumPy arrays and Arrow streams go to C++ as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _oas
from ._checks import typed
from ._errors import InvalidArgument

#: Without these there is nothing to learn dynamics from; sensors need no actions.
NEEDED = ("action", "observation")
PARTS = ("action", "observation", "run", "time", "propensity", "reward", "state")


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


def parts_of(
    names: list[str], columns: Any, needed: tuple[str, ...] = NEEDED
) -> list[tuple[str, str]]:
    """Pairs of part and column, in the order of parts. Throws on what nobody would look at."""
    given = _column_map(columns)
    for part in given:
        if part not in PARTS and part != "likelihood":
            known = ", ".join((*PARTS, "likelihood"))
            raise InvalidArgument(f"columns: there is no part '{part}' of a row; there are {known}")
    found: list[tuple[str, str]] = []
    for part in PARTS:
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
            f"column '{unknown[0]}' is not a part of a row ({', '.join(PARTS)}); "
            "name those that are with columns={...}, then others are ignored"
        )
    for part in needed:
        if not any(p == part or p.startswith((part + "_", "likelihood_")) for p, _ in found):
            raise InvalidArgument(f"there is no column '{part}'; there are {names}")
    return found


def is_missing(cell: Any) -> bool:
    """None, NaN, NA and NaT."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):  # an array of many
        return False


def _add_array(columns: Any, part: str, name: str, values: Any) -> None:
    """Adds a column that NumPy can show."""
    missing: Any = None
    zoned = getattr(getattr(values, "dtype", None), "tz", None) is not None
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
        whole = _in_place(array.view(np.uint8) if kind == "b" else array)
        mask = None if missing is None or not missing.any() else _bytes(missing)
        columns.add_whole(part, name, whole, mask)
    elif kind == "f":
        real = _in_place(array if array.itemsize in (4, 8) else array.astype(np.float64))
        if missing is not None and missing.any():
            real = np.where(missing, np.nan, real)
        columns.add_real(part, name, real)
    elif kind in "Mm":  # durations count from 1970
        dates = array if kind == "M" else array.view(array.dtype.str.replace("m8", "M8"))
        columns.add_dates(part, name, _nanoseconds(name, dates), zoned)
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
            "it must hold whole numbers, real numbers, texts, dates or durations"
        )


def _in_place(array: Any) -> Any:
    """The same array where C++ can look at its cells, whatever their distance; else a copy."""
    near = array.dtype.isnative and array.flags.aligned and array.strides[0] % array.itemsize == 0
    return array if near else np.ascontiguousarray(array, array.dtype.newbyteorder("="))


def _add_objects(columns: Any, part: str, name: str, cells: list[Any]) -> None:
    """Objects: numbers where all are, else texts."""
    columns.add_objects(part, name, cells, is_missing)


def _nanoseconds(name: str, dates: Any) -> Any:
    """Dates as nanoseconds since 1970, as far as these reach."""
    nanoseconds = dates.astype("M8[ns]")
    beyond = (nanoseconds.astype(dates.dtype) != dates) & ~np.isnat(dates)
    if beyond.any():
        row = int(np.argmax(beyond))
        raise InvalidArgument(
            f"column '{name}', row {row}: {dates[row]} is not a time "
            "from 1678 to 2261 in nanoseconds"
        )
    return np.ascontiguousarray(nanoseconds.view("i8"))


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
    return set(PARTS).union(*_column_map(columns).values())


def _is_pandas(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] == "pandas"


def _with_index(table: Any, columns: Any) -> Any:
    """A pandas.DataFrame whose index levels are columns, where they are parts of a row."""
    parts = part_names(columns) - {str(name) for name in table.columns}
    levels = [name for name in table.index.names if name is not None and str(name) in parts]
    return table.reset_index(levels) if levels else table


def _collected(table: Any, columns: Any, needed: tuple[str, ...]) -> Any:
    """A polars.LazyFrame as a DataFrame of the columns that are parts of a row."""
    names = table.collect_schema().names()
    return table.select([name for _, name in parts_of(names, columns, needed)]).collect()


def table_columns(
    table: Any,
    columns: Any = None,
    *,
    vectors: bool = False,
    needed: tuple[str, ...] = NEEDED,
) -> Any:
    """The columns of a table that are parts of a row. With `vectors` an observation may be one: an
    array [row][component]."""
    if type(table).__name__ == "LazyFrame":
        table = _collected(table, columns, needed)
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
    parts = parts_of(names, columns, needed)
    made = _oas._Columns()
    if stream is not None:
        made.add_arrow([p for p, _ in parts], [n for _, n in parts], stream)
        return made
    for part, name in parts:
        values = table[labels[names.index(name)]]
        if vectors and part == "observation" and np.ndim(values) == 2:
            _add_vectors(made, name, np.ma.asanyarray(values))
        else:
            _add_array(made, part, name, values)
    return made


def _add_vectors(columns: Any, name: str, vectors: Any) -> None:
    """Adds a column for each component."""
    many = vectors.shape[1]
    for i in range(many):
        part = f"observation_{i + 1}" if many > 1 else "observation"
        _add_array(columns, part, f"{name}[:, {i}]", vectors[:, i])


def _what_is_no_table(table: Any) -> str:
    if isinstance(table, np.ndarray):
        return (
            f"an array of shape {table.shape} and type {table.dtype} is not a table of rows: "
            "give a dict of columns, {'action': …, 'observation': …}, or a structured array"
        )
    return (
        f"{typed(table)} is not a log: give a Log, a table with columns (dict of "
        "arrays, structured array, pandas, polars, Arrow) or paths of CSV or Parquet files"
    )
