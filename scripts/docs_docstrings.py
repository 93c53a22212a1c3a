"""For the site: shapes in docstrings, [A][S][S], are no links of Markdown, and lines that begin
with >>> are code."""

import re

import griffe

_PROMPT = r"(?m)^(?:>>>|\.\.\.) "
_EXAMPLE = re.compile(rf"(?:{_PROMPT[4:]}.*(?:\n|$))+", re.M)
_SHAPE = re.compile(r"`[^`]*`|\[(\w+)\]")


def without_links(text):
    """The same text, brackets around single words escaped, but for code."""
    return _SHAPE.sub(lambda found: f"\\[{found[1]}\\]" if found[1] else found[0], text)


def with_code(text):
    """The same text, examples fenced."""
    return _EXAMPLE.sub(
        lambda found: f"```python\n{re.sub(_PROMPT, '', found[0]).rstrip()}\n```\n", text
    )


class PlainDocstrings(griffe.Extension):
    """Reads docstrings as they were meant."""

    def on_object(self, *, obj, **_):
        """Every class, function and attribute passes here once."""
        self.mend(obj)

    def on_module(self, *, mod, **_):
        """Every module."""
        self.mend(mod)

    def mend(self, what):
        """Changes its docstring."""
        if what.docstring:
            what.docstring.value = without_links(with_code(what.docstring.value))
