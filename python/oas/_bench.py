"""The benchmark of the field, with agents of the library, programs, and classes in Python."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from typing import Any

from . import _oas
from ._checks import iterable, path, typed
from ._command import _run
from ._errors import InvalidArgument
from ._options import words_of

__all__ = ["bench"]


def _place_of(label: str, agent: Any) -> str:
    """Where another process finds a class or a function: FILE.py:NAME or module:NAME."""
    name = getattr(agent, "__qualname__", None)
    module = getattr(agent, "__module__", None)
    if name is None or module is None or "<" in name or "." in name:
        raise InvalidArgument(
            f"agents: {label} must be a class or function of a file, which a process of its own "
            "can import"
        )
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        raise InvalidArgument(f"agents: {label} stands in no file; write {name} into one")
    return f"{os.path.abspath(file)}:{name}"


def _words(label: str, agent: Any) -> list[str]:
    if any(character in label for character in '=,\n\r"') or not label.strip():
        raise InvalidArgument(f"agents: {label!r} cannot be the label of an agent")
    if isinstance(agent, str):
        agent = (agent, {})
    if isinstance(agent, tuple):
        if len(agent) != 2 or not isinstance(agent[0], str) or not isinstance(agent[1], Mapping):
            raise InvalidArgument(
                f"agents: {label} is {agent!r}, which is not a pair (name, settings)"
            )
        settings = _oas._setting_words(agent[0], dict(agent[1]))
        return [f"--agent={label}={' '.join([agent[0], *settings])}"]
    path = os.pathsep.join(part for part in sys.path if part)
    serve = [sys.executable, "-m", "oas.serve", _place_of(label, agent)]
    return [f"--agent-process={label}=PYTHONPATH={shlex.quote(path)} {shlex.join(serve)}"]


def bench(agents: Any, output: str | os.PathLike[str], **settings: Any) -> str:
    """Lets agents play the benchmark `oas-bench/1`, as `oas bench run` does; results are in the
    folder `output`, of which `oas.study.report` makes the page.

    `agents` is a name of `oas.agents()`, a list of names, or a dict of labels with names, (name,
    settings), or classes and functions as `oas.learn` takes them. These run in processes of their
    own, which import them again: they must stand in a file. For a program that is no Python give
    `agent_process="LABEL=COMMAND"`.

    Settings are the options of `oas bench run`:

    - `runs` (whole number): runs on each instance
    - `steps` (whole number): steps of each run
    - `band` (text or list): only these bands of instances
    - `shard` (text): I/N, only part I of N
    - `files` (path): folder with `benchmark.toml` and `oas-bench-1.csv`, as `studies` of the
      sources has them (default: `studies` here, or those of the package)
    - `timeout` (number): seconds for an answer of a program
    """
    words = [word for label, agent in _named(agents).items() for word in _words(str(label), agent)]
    return _run(["bench", "run"], [*words, "-o", path("output", output), *words_of(settings)])


def _named(agents: Any) -> dict[Any, Any]:
    """Agents by label; names are labels of their own."""
    if isinstance(agents, Mapping):
        return dict(agents)
    several = [agents] if isinstance(agents, str) or not iterable(agents) else list(agents)
    for one in several:
        if not isinstance(one, str):
            raise InvalidArgument(
                f"agents: {one!r} is {typed(one)}; a list holds names of oas.agents(), "
                "and a dict gives labels to (name, settings), classes and functions"
            )
        if several.count(one) > 1:
            raise InvalidArgument(
                f"agents: {one} is given twice; use a dict to give agents labels of their own"
            )
    return {one: one for one in several}
