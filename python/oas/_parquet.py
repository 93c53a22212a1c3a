"""Parquet files as log files, batch by batch."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from . import _oas
from ._columns import NEEDED, parts_of, table_columns
from ._errors import Error, InvalidArgument


def is_parquet(path: str) -> bool:
    return path.endswith((".parquet", ".pq")) or (
        os.path.isdir(path) and any(Path(path).rglob("*.parquet"))
    )


def require_runs(files: list[str], names: list[str], columns: Any) -> None:
    """Throws where several files might be one run or several, and nothing says which."""
    if len(files) > 1 and not _names_runs(names, columns):
        raise InvalidArgument(
            f"{files[0]} and {len(files) - 1} more files: there is no column 'run', so nobody can "
            "tell whether they are one run; name the column with columns={'run': …}, or use "
            "oas.estimate, for which each file is a run then"
        )


def _names_runs(names: list[str], columns: Any, needed: tuple[str, ...] = NEEDED) -> bool:
    return any(part == "run" for part, _ in parts_of(names, columns, needed))


@contextlib.contextmanager
def _parquet_errors(paths: list[str]) -> Iterator[None]:
    """What pyarrow says of files as an error about the argument."""
    import pyarrow

    try:
        yield
    except FileNotFoundError as error:  # says the path, and nothing of what is wrong
        raise InvalidArgument(f"{', '.join(paths)}: No such file or directory") from error
    except (OSError, pyarrow.ArrowException) as error:
        if isinstance(error, Error):
            raise
        raise InvalidArgument(f"{', '.join(paths)}: {error}") from error


def parquet_tables(
    paths: list[str], columns: Any, needed: tuple[str, ...] = NEEDED
) -> list[tuple[str, Any, str | None]]:
    """Datasets of Parquet files, what they are called, and the run that they are: one dataset of
    all files; where these do not say what a run is, one of each file."""
    try:
        import pyarrow.dataset as arrow
    except ImportError as error:
        raise InvalidArgument(f"{paths[0]}: Parquet files need pyarrow") from error

    def table(source: Any) -> Any:
        return arrow.dataset(source, format="parquet", partitioning="hive")

    with _parquet_errors(paths):
        files = [str(file) for path in paths for file in table(path).files]
        together = table(files)
        _require_same_columns(together)
        names = [str(name) for name in together.schema.names]
        if len(files) == 1 or _names_runs(names, columns, needed):
            return [(", ".join(paths), together, None)]
        return [(file, table(file), file) for file in files]


def _require_same_columns(dataset: Any) -> None:
    """The first file says which columns there are; what others have besides would be lost."""
    known = set()
    for number, fragment in enumerate(dataset.get_fragments()):
        names = set(fragment.physical_schema.names)
        if number == 0:
            known, first = names, fragment.path
        elif names != known:
            odd = sorted(names ^ known)[0]
            raise InvalidArgument(
                f"{fragment.path}: the files do not have the same columns: only one of it and "
                f"{first} has '{odd}'"
            )


def write_parquet(
    model: Any,
    dataset: Any,
    run: str | None,
    columns: Any,
    target: str,
    needed: tuple[str, ...] = NEEDED,
) -> None:
    """A dataset as a log file, batch by batch in constant memory; `run`: all of it is that run."""
    import pyarrow

    names = [str(name) for name in dataset.schema.names]
    wanted = [name for _, name in parts_of(names, columns, needed)]
    writer = _oas._ColumnWriter(target, model)
    with _parquet_errors(dataset.files):
        for batch in dataset.to_batches(columns=wanted):
            if not batch.num_rows:
                continue
            table = pyarrow.Table.from_batches([batch])
            if run is not None:
                codes = np.zeros(batch.num_rows, np.int32)
                table = table.append_column(
                    "run", pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array([run]))
                )
            writer.write(table_columns(table, columns, needed=needed))
    writer.commit()
