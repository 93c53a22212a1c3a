"""Checks of arguments, with messages that name argument and value."""

from __future__ import annotations

import operator
from typing import Any

from ._errors import InvalidArgument


def whole(name: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    """Whatever Python takes for a whole number, as an int; True is none."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        kind = type(value).__name__
        raise InvalidArgument(f"{name} is {value!r}, a {kind}; it must be a whole number")
    number = operator.index(value)
    if number < least:
        raise InvalidArgument(f"{name} is {number}; it must be at least {least}")
    if number > most:
        raise InvalidArgument(f"{name} is {number}; it must be at most {most}")
    return number


def whole_seed(value: Any) -> int:
    """A seed of random numbers."""
    return whole("seed", value, 0, 2**64 - 1)
