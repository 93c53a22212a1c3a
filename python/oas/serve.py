"""Lets an agent written in Python play for `oas bench`: `python -m oas.serve FILE.py:NAME`.

NAME is a class or a function that makes an agent from a model without transition, as for
`oas.learn`, or such an object; `package.module:NAME` does for what can be imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from typing import Any, TextIO

from . import _oas
from ._learn import _maker


def _found(where: str) -> Any:
    place, _, name = where.rpartition(":")
    if not place.endswith(".py"):
        return getattr(importlib.import_module(place), name)
    spec = importlib.util.spec_from_file_location("oas_served_agent", place)
    if spec is None or spec.loader is None:
        raise ImportError(f"{place} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


class _Player:
    """An agent of one run, as its answers to requests."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._object: Any = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        call = request["call"]
        if call == "begin":
            model = _oas.model_from_json(json.dumps(request["model"]))
            run = int(request["unit"].rpartition("-")[2])
            self._object = _maker(self._agent, model)(run, request["seed"])
            return {"ok": True}
        if call in ("observe", "step"):
            self._object.observe(-1 if request["observation"] is None else request["observation"])
        return {"ok": True} if call == "observe" else self._act()

    def _act(self) -> dict[str, Any]:
        action = self._object.act()
        if isinstance(action, (tuple, list)):
            action = action[0]
        return {"action": action if isinstance(action, str) else int(action)}


def serve(agent: Any, requests: TextIO, answers: TextIO) -> None:
    """Answers requests, line by line, until there are no more."""
    player = _Player(agent)
    for line in requests:
        answers.write(json.dumps(player.answer(json.loads(line))) + "\n")
        answers.flush()


def main() -> None:
    """Serves the agent that the command line names."""
    if len(sys.argv) != 2 or ":" not in sys.argv[1]:
        sys.exit("usage: python -m oas.serve FILE.py:NAME")
    answers, sys.stdout = sys.stdout, sys.stderr  # what the agent prints is no answer
    serve(_found(sys.argv[1]), sys.stdin, answers)


if __name__ == "__main__":
    main()
