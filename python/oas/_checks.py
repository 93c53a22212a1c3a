"""Checks of arguments, with messages that name argument and value."""

from __future__ import annotations

import operator
import os
from typing import Any

from ._errors import InvalidArgument


def typed(value: Any) -> str:
    """The type of a value with its article: "a list", "an int"."""
    kind = type(value).__name__
    return f"an {kind}" if kind[:1].lower() in "aeiou" else f"a {kind}"


def whole(name: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    """Whatever Python takes for a whole number, as an int; True is none."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidArgument(f"{name} is {value!r}, {typed(value)}; it must be a whole number")
    try:
        number = operator.index(value)
    except TypeError:  # an array of many
        raise InvalidArgument(f"{name} is {value!r}; it must be a whole number") from None
    if number < least:
        raise InvalidArgument(f"{name} is {number}; it must be at least {least}")
    if number > most:
        raise InvalidArgument(f"{name} is {number}; it must be at most {most}")
    return number


def text(name: str, value: Any) -> str:
    """A str; bytes are none."""
    if not isinstance(value, str):
        raise InvalidArgument(f"{name} is {value!r}, {typed(value)}; it must be a text")
    return value


def no_option(path: str) -> str:
    """The same path as one that the command cannot take for an option."""
    return os.path.join(os.curdir, path) if path.startswith("-") else path


def path(name: str, value: Any) -> str:
    """A path as text; one of bytes is none."""
    if isinstance(value, (str, os.PathLike)):
        found = os.fspath(value)
        if isinstance(found, str) and found:
            return no_option(found)
    raise InvalidArgument(
        f"{name} is {value!r}, {typed(value)}; it must be a path: text or os.PathLike"
    )


def real(name: str, value: Any) -> float:
    """Whatever Python takes for a number, as a float; True and texts are none."""
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
        raise InvalidArgument(f"{name} is {value!r}, {typed(value)}; it must be a number")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):  # an array of many, 10**400
        raise InvalidArgument(f"{name} is {value!r}; it must be a number") from None


def real_or_none(name: str, value: Any) -> float | None:
    """The same, where nothing can be said."""
    return None if value is None else real(name, value)


def iterable(value: Any) -> bool:
    """Whether one can go over it; an array without dimensions only looks so."""
    try:
        iter(value)
    except TypeError:
        return False
    return True


def whole_seed(value: Any) -> int:
    """A seed of random numbers."""
    return whole("seed", value, 0, 2**64 - 1)
