"""When results are equal."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return bool(one == other)


class SameFields:
    """Equal when all fields of a dataclass are, arrays element by element, NaN to NaN."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields)

    __hash__ = None  # type: ignore[assignment]
