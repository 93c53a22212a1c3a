"""The benchmark of the field, with agents of the library, programs, and classes in Python."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from typing import Any

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
    if isinstance(agent, str):
        return [f"--agent={label}={agent}" if label != agent else f"--agent={agent}"]
    if isinstance(agent, tuple) and len(agent) == 2 and isinstance(agent[1], Mapping):
        settings = "".join(f" {name}={value}" for name, value in agent[1].items())
        return [f"--agent={label}={agent[0]}{settings}"]
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
      sources has them (default: `studies` here)
    - `timeout` (number): seconds for an answer of a program
    """
    named = (
        agents
        if isinstance(agents, Mapping)
        else dict.fromkeys([agents] if isinstance(agents, str) else agents)
    )
    words = [
        word
        for label, agent in named.items()
        for word in _words(str(label), label if agent is None else agent)
    ]
    return _run(["bench", "run"], [*words, "-o", os.fspath(output), *words_of(settings)])
