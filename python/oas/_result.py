"""Documents of the command as results: fields as attributes, tables of numbers as arrays."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from ._errors import InvalidArgument
from ._frames import records_frame, table_frame
from ._html import is_records, result_html

AnyResult = TypeVar("AnyResult", bound="Result")


class Result(dict[str, Any]):
    """The numbers of a verb, `oas VERB --json`; fields can be asked for as attributes. Tables of
    numbers are NumPy arrays, NaN where a number is not known."""

    @classmethod
    def of(cls: type[AnyResult], document: Mapping[str, Any]) -> AnyResult:
        """A document of JSON, its lists of numbers as arrays."""
        return cls({name: _arrays(value) for name, value in document.items()})

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no '{name}'; there are {', '.join(self)}") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict) and _lists(self) == _lists(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def to_dataframe(self, field: str | None = None) -> Any:
        """A pandas DataFrame of a field that is a list of records or a table, the first one unless
        named; of a result that has none its numbers, one line."""
        known = [name for name, v in self.items() if is_records(v) or _is_table(v)]
        if field is None and not known:
            return records_frame([self])
        if field is not None and field not in known:
            raise InvalidArgument(
                f"field is {field!r}; lists of records and tables are {', '.join(known) or 'none'}"
            )
        chosen = self[known[0] if field is None else field]
        return table_frame(chosen) if isinstance(chosen, dict) else records_frame(chosen)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the document that `oas VERB --json` prints."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(_lists(self), file, indent=2)
            file.write("\n")

    def _repr_html_(self) -> str:
        return result_html(self)


def _is_table(value: Any) -> bool:
    """Columns by name."""
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(column, np.ndarray) for column in value.values())
    )


def _is_number(value: Any) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and -(2**63) <= value < 2**63
    return isinstance(value, float)


def _arrays(value: Any) -> Any:
    """Lists of numbers, however deep, as arrays; null becomes NaN."""
    if isinstance(value, dict):
        return {key: _arrays(one) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    cells = list(np.array(value, dtype=object).flat)
    known = [one for one in cells if one is not None]
    if not known or not all(_is_number(one) for one in known):
        return [_arrays(one) for one in value]
    counts = all(isinstance(one, int) for one in cells)
    return np.array(value, dtype=np.int64 if counts else np.float64)


def _lists(value: Any) -> Any:
    """The document of JSON again."""
    if isinstance(value, np.ndarray):
        return _lists(value.tolist())
    if isinstance(value, dict):
        return {key: _lists(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_lists(one) for one in value]
    return None if isinstance(value, float) and np.isnan(value) else value
