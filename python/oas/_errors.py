"""What oas raises and warns with."""

from __future__ import annotations

import contextlib
import contextvars
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping


class Error(Exception):
    """Whatever oas raises on purpose is one of these."""


class InvalidArgument(Error, ValueError):
    """A value that breaks the contract of a function or a file; the message names it."""


class ParseError(InvalidArgument):
    """A text that does not follow its format; `file`, `line` and `column` where they are known."""

    file: str = ""
    line: int = 0
    column: int = 0


class IoError(Error, OSError):
    """The work itself failed although the input was fine: a full disk, an unwritable folder."""


class Refused(InvalidArgument):
    """A call that a live agent did not take: nothing has changed, and the message says why.

    `status` is 400 where the call is wrong, 404 where there is no such unit, 409 where it is out of
    order, 413 where it is too long.
    """

    status: int = 400


class AgentError(Error, RuntimeError):
    """An agent or estimator written in Python raised an exception, the cause of this one."""


class OasWarning(UserWarning):
    """What the library says about a result that can be used, but should be looked at."""


#: Texts in messages, such as paths of temporary files, and what they stand for.
_STANDS_FOR: contextvars.ContextVar[tuple[Mapping[str, str], ...]] = contextvars.ContextVar(
    "oas messages", default=()
)
_OPTION = re.compile(r"""(?<![\w/'"-])--([a-z][a-z-]*)""")  # what is a keyword here


@contextlib.contextmanager
def messages_say(*names: Mapping[str, str]) -> Iterator[None]:
    """While it lasts, errors and warnings of the extension say the values in place of the keys."""
    before = _STANDS_FOR.set((*names, *_STANDS_FOR.get()))
    try:
        yield
    finally:
        _STANDS_FOR.reset(before)


def in_python(text: str) -> str:
    """A message of the library as it is to be read here; the extension calls it."""
    for names in _STANDS_FOR.get():
        for long, short in names.items():
            text = text.replace(long, short)
    return _OPTION.sub(lambda found: found[1].replace("-", "_"), text)


def warn_user(text: str) -> None:
    """Warns about the line outside of this package that asked for the work."""
    package = os.path.dirname(__file__)
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == package:
        frame = frame.f_back
        level += 1
    warnings.warn(in_python(text), OasWarning, stacklevel=level)


for _kind in (Error, InvalidArgument, ParseError, IoError, Refused, AgentError, OasWarning):
    _kind.__module__ = "oas"  # where one imports it from, as tracebacks say
