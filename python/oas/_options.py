"""Keyword arguments as options of the command; what is in memory as files."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._checks import no_option, typed
from ._errors import InvalidArgument, messages_say
from ._rows import is_path, time_text

# What the functions here give a verb themselves, or what has no meaning without a terminal.
_NO_SETTINGS = ("help", "json", "quiet", "output")


def _values(name: str, value: Any) -> list[Any]:
    """One value or several, as an option takes them."""
    if isinstance(value, (list, tuple)):
        return [part for one in value for part in _values(name, one)]
    if isinstance(value, np.ndarray):
        return _values(name, value.tolist())
    value = time_text(value)
    if value is None or is_path(value) or isinstance(value, (bool, int, float)):
        return [value]
    if isinstance(value, np.generic):
        return [value.item()]
    raise InvalidArgument(
        f"{name} is {value!r}, {typed(value)}; it must be a number, a text, True or "
        "False, or a list of them"
    )


def _saved(name: str, value: Any, files: Files) -> Any:
    """The same with paths in place of models, estimates and plans."""
    if isinstance(value, (list, tuple)):
        return [_saved(f"{name} {i}", one, files) for i, one in enumerate(value)]
    return files.given(value, name) if hasattr(value, "save") else value


def words_of(settings: dict[str, Any], files: Files | None = None) -> list[str]:
    """Keyword arguments as options; what is in memory goes into files."""
    words: list[str] = []
    for name, value in settings.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if name in _NO_SETTINGS:
            raise InvalidArgument(f"there is no setting '{name}'")
        for one in _values(name, value if files is None else _saved(name, value, files)):
            if one is True:
                words.append(option)
            elif one is not None and one is not False:
                words.append(f"{option}={one if not is_path(one) else os.fspath(one)}")
    return words


class Files:
    """Arguments as files, and their names in messages."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.names: dict[str, str] = {}

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def given(self, value: Any, name: str) -> str:
        """The path of a model, an estimate or a plan; saves what is in memory."""
        if is_path(value):
            return no_option(str(os.fspath(value)))
        if not hasattr(value, "save"):
            raise InvalidArgument(
                f"{name} is {typed(value)}; it must be a model, an estimate, a plan, "
                "a path or the name of a problem"
            )
        path = self.path(f"{name}.json")
        value.save(path)
        self.names[path] = name
        return path


@contextlib.contextmanager
def temporary_files() -> Iterator[Files]:
    with tempfile.TemporaryDirectory(prefix="oas-") as folder:
        files = Files(folder)
        with messages_say(files.names, {folder + os.sep: ""}):
            yield files
