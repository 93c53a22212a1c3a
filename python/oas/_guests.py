"""Estimators written in Python: functions of rows that return T."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._checks import typed
from ._errors import InvalidArgument

#: What the extension calls: the model without its transition, and the rows; returns T.
Asked = Callable[[Any, Any], Any]


def asked(label: str, function: Callable[..., Any]) -> Asked:
    """A function as the extension calls it. One with a parameter `model` is given the model."""
    try:
        wants_model = "model" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some functions of extensions do not say
        wants_model = False

    def ask(model: Any, rows: Any) -> Any:
        answer = function(rows, model=model) if wants_model else function(rows)
        if answer is None:
            raise InvalidArgument(f"{label} returned None; it must return T, [A][S][S]")
        return getattr(answer, "transition", answer)

    return ask


def _imported(name: str) -> Any:
    """The function that "module:function" names."""
    module, _, function = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise InvalidArgument(f"estimator {name!r}: {error}") from error
    for part in function.split("."):
        if not hasattr(found, part):
            raise InvalidArgument(f"estimator {name!r}: {module} has no {function}")
        found = getattr(found, part)
    return found


def guests(names: Iterable[str], given: Mapping[str, Any] | None) -> dict[str, Asked]:
    """The functions that a study names: those that are given, the others imported."""
    known = list(names)
    if given is not None and not isinstance(given, Mapping):
        raise InvalidArgument(f"estimators is {given!r}; it must be a dict: name, function")
    functions = dict(given or {})
    for name in functions:
        if name not in known:
            raise InvalidArgument(
                f"estimators: no task of the study names {name!r}; the functions that it names, "
                f"with a colon as in 'module:function', are: {', '.join(known) or 'none'}"
            )
    for name in known:
        if name not in functions:
            functions[name] = _imported(name)
        if not callable(functions[name]):
            raise InvalidArgument(f"estimators: {name} is {typed(functions[name])}, no function")
    return {name: asked(name, function) for name, function in functions.items()}
