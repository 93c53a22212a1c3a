"""Parquet files as log files, batch by batch."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import _oas
from ._columns import parts_of, table_columns
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
            "tell whether they are one run; name the column with columns={'run': …}, or give a "
            "list of files to oas.read_log or oas.estimate, each of which is a run then"
        )


def _names_runs(names: list[str], columns: Any) -> bool:
    return any(part == "run" for part, _ in parts_of(names, columns))


@contextlib.contextmanager
def _parquet_errors(paths: list[str]) -> Iterator[None]:
    """What pyarrow says of files as an error about the argument."""
    import pyarrow

    try:
        yield
    except (OSError, pyarrow.ArrowException) as error:
        if isinstance(error, Error):
            raise
        raise InvalidArgument(f"{', '.join(paths)}: {error}") from error


def parquet_tables(paths: list[str], columns: Any) -> list[tuple[str, Any]]:
    """Datasets of Parquet files and what they are called: one of all files; where they do not say
    what a run is one of each file."""
    try:
        import pyarrow.dataset as arrow
    except ImportError as error:
        raise InvalidArgument(f"{paths[0]}: Parquet files need pyarrow") from error

    def table(of: list[str]) -> Any:
        source = of[0] if len(of) == 1 else of
        return arrow.dataset(source, format="parquet", partitioning="hive")

    with _parquet_errors(paths):
        together = table(paths)
        names = [str(name) for name in together.schema.names]
        _require_same_columns(together)
        if len(paths) == 1 or _names_runs(names, columns):
            require_runs(together.files, names, columns)
            return [(", ".join(paths), together)]
        tables = [(path, table([path])) for path in paths]
    for _, one in tables:
        require_runs(one.files, names, columns)
    return tables


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


def write_parquet(model: Any, path: str, dataset: Any, columns: Any, target: str) -> None:
    """A dataset as a log file, batch by batch in constant memory."""
    import pyarrow

    names = [str(name) for name in dataset.schema.names]
    wanted = [name for _, name in parts_of(names, columns)]
    writer = _oas._ColumnWriter(target, model)
    with _parquet_errors([path]):
        for batch in dataset.to_batches(columns=wanted):
            if batch.num_rows:
                writer.write(table_columns(pyarrow.Table.from_batches([batch]), columns))
    writer.commit()
