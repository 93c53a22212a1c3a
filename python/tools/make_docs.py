"""Writes what stands in C++ headers about types and their members as constants for the extension,
so that both languages say the same.

Usage: tools/make_docs.py OUTPUT HEADER…; the build calls it. What stands before a declaration in
lines of `///`, or behind it after `///<`, becomes `docs::TYPE::MEMBER`, and `docs::TYPE::self`
what stands before the type. A name that has no comment is not there, so that using it does not
compile.
"""

import itertools
import re
import sys
import textwrap
from pathlib import Path

TYPE = re.compile(r"^(?:struct|class) (\w+)[^;]*\{$")
#: A function of the namespace up to its arguments.
FUNCTION = re.compile(r"^(?!\s|friend|using|return|struct|class)[\w:<>,&*\[\] ]*?[ &*](\w+)\(")
#: A field, or a function up to its arguments.
MEMBER = re.compile(
    r"^  (?!friend|using|return|template|explicit)[\w:<>,&*\[\] ]*?[ &*](\w+)(?= = |;|\{|\()"
)
BEHIND = re.compile(r"///< ?(.*)$")
WIDTH = 92
#: As Python says it.
WORDS = (
    (r"\btrue\b", "True"), (r"\bfalse\b", "False"), (r"\bnull\b", "None"),
    (r"\bThrows\b", "Raises"), (r"\bthrow(s?)\b", r"raise\1"),
)  # fmt: skip
#: What begins an example in C++, which ends what both languages say.
EXAMPLE = "    "
#: Shapes in letters as Python's documentation has them: [a][s][s'] is [A][S][S].
SHAPE = re.compile(r"(?:\[[asob]'?\])+")


def sentence(lines):
    """A comment up to its example as a docstring: one paragraph that begins with a capital and ends
    with a stop."""
    lines = [line.strip() for line in itertools.takewhile(lambda x: EXAMPLE not in x[:5], lines)]
    text = SHAPE.sub(lambda m: m[0].upper().replace("'", ""), " ".join(lines).strip().rstrip(":"))
    for word, ours in WORDS:
        text = re.sub(word, ours, text)
    as_it_is = not text[:1].isascii() or text[:1] in "[`" or text[1:2].isupper()
    text = text if as_it_is else text[:1].upper() + text[1:]
    return "\n".join(textwrap.wrap(text if text.endswith(".") else text + ".", WIDTH))


def comments(header):
    """Type, member or `self`, and what is said of it, in the order of the header. Functions of the
    namespace are members of ""."""
    found = {}
    owner, before, last = None, [], None
    for line in header.split("\n"):
        kind, member, behind = TYPE.match(line), MEMBER.match(line), BEHIND.search(line)
        if line.strip().startswith("///") and not line.strip().startswith("///<"):
            before.append(line.strip()[3:].rstrip())
            continue
        if line.strip().startswith("///<") and last:  # goes on behind the line before
            found[last].append(behind[1])
            continue
        last = None
        function = FUNCTION.match(line)
        if function and before:
            found.setdefault(("", function[1]), before)
        if kind:
            owner = kind[1]
            found.setdefault((owner, "self"), before)
        elif line.startswith("}"):
            owner = None
        elif owner and member and (before or behind):
            last = (owner, member[1])
            found.setdefault(last, before + ([behind[1]] if behind else []))
        if line.strip():
            before = []
    return {key: sentence(lines) for key, lines in found.items() if any(lines)}


def constants(headers):
    """The text of the C++ header with what all of these say."""
    by_type = {}
    for header in headers:
        for (owner, member), text in comments(header).items():
            if not owner:
                continue
            by_type.setdefault(owner, []).append((member, text))
    parts = ["#pragma once", "", "/// Made by python/tools/make_docs.py of the library's headers."]
    for owner, members in by_type.items():
        parts.append(f"namespace oas::python::docs::{owner} {{")
        for member, text in members:
            parts.append(f'inline constexpr const char* {member} = R"doc({text})doc";')
        parts.append("}")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    output, *sources = (Path(word) for word in sys.argv[1:])
    text = constants(source.read_text("utf-8") for source in sources)
    if not output.exists() or output.read_text("utf-8") != text:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, "utf-8")
