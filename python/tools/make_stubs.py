"""Writes python/oas/_oas.pyi: what nanobind's stubgen says, with types that it leaves open.

Usage: tools/make_stubs.py FILE, with the built package on PYTHONPATH.
"""

import re
import sys
from pathlib import Path

import oas._oas
from nanobind.stubgen import StubGen

REPLACEMENTS = (
    (r"__hash__: None = None", "__hash__: None  # type: ignore[assignment]"),
    (r"-> object:", "-> Any:"),
    (r"\*\*settings\b(?!:)", "**settings: Any"),
    (r"\bdict\b(?!\[)", "dict[str, Any]"),
    (r"\blist\b(?!\[)", "list[Any]"),
    (r"\btuple\b(?!\[)", "tuple[Any, ...]"),
    (r"\bCallable\b(?![\[,])", "Callable[..., Any]"),
)


def stub() -> str:
    """The text of the stub file."""
    generator = StubGen(oas._oas, include_private=True)
    generator.put(oas._oas)
    text = generator.get()
    for pattern, replacement in REPLACEMENTS:
        text = "\n".join(
            re.sub(pattern, replacement, line) if _is_code(line) else line
            for line in text.split("\n")
        )
    return "from typing import Any\n\n__version__: str\n\n" + text.rstrip("\n") + "\n"


def _is_code(line: str) -> bool:
    """Whether a line is a definition and no part of a docstring."""
    return re.match(r"\s*(def |class |__hash__|[A-Za-z_]+: )", line) is not None


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(stub(), encoding="utf-8")
