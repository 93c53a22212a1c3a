"""Progress bars: only where a terminal or a notebook shows them, only if tqdm is installed."""

from __future__ import annotations

import sys
from typing import Any


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def bar(what: str, total: int) -> Any:
    """A bar with `update(n)` and `close()`; None where nobody would see it."""
    notebook = _in_notebook()
    if not notebook and not (sys.stderr is not None and sys.stderr.isatty()):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total or None, unit=" " + what, unit_scale=True, leave=False)
