"""Files of all kinds."""

from __future__ import annotations

import os
from typing import Any

from . import _oas


def load(path: str | os.PathLike[str]) -> Any:
    """Reads a model, an estimate or a plan.

    Models: oas-model/1 (.json), .pomdp, .pomdpx. What it is, the file says: a Pomdp, a
    ContinuousPomdp, an Estimate or a Plan.
    """
    return _oas._load(path)
