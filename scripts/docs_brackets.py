"""For the site: shapes in docstrings, [A][S][S], are no links of Markdown."""

import re

import griffe

_SHAPE = re.compile(r"`[^`]*`|\[(\w+)\]")


def without_links(text):
    """The same text, brackets around single words escaped, but for code."""
    return _SHAPE.sub(lambda found: f"\\[{found[1]}\\]" if found[1] else found[0], text)


class PlainBrackets(griffe.Extension):
    """Reads docstrings as they were meant."""

    def on_object(self, *, obj, **_):
        """Every module, class, function and attribute passes here once."""
        if obj.docstring:
            obj.docstring.value = without_links(obj.docstring.value)
