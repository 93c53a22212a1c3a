"""Writes the settings of verbs into docstrings: what `oas VERB --help` says, the text that stands
beside each option in the C++ headers.

Usage: tools/make_docstrings.py, with the built package on PYTHONPATH. In the docstrings of the
functions below, everything behind a line "Settings:" is replaced.
"""

import re
import textwrap
from pathlib import Path

import oas._oas

PACKAGE = Path(__file__).parents[1] / "oas"
#: Verbs that are called as such.
AS_COMMANDS = ("calibrate", "check", "compare", "convert", "diagnose", "discretise", "evaluate",
               "forecast", "plan", "report", "score")  # fmt: skip
#: File, function, verb.
FUNCTIONS = (
    *(("_command.py", verb, verb) for verb in AS_COMMANDS),
    ("_estimation.py", "estimate", "estimate"),
    ("_rows.py", "read_log", "filter"),
    ("_live.py", "LiveAgent", "agent"),
)
#: Options that are arguments here, or have no meaning here.
ELSEWHERE = {
    "help", "json", "quiet", "threads", "output", "log", "log-out", "model", "simultaneous",
    "estimator", "log-options", "open",
}  # fmt: skip
#: The same of single verbs: patterns of names.
ELSEWHERE_OF = {"plan": "all", "agent": "agent|journal|set|seed|token-file|http.*"}
#: Name, type and meaning, which begins in column 30 of the line or of the next one.
OPTION = re.compile(
    r"^  (?:-\w,)?--([a-z][a-z-]*)(?: ([^\n]*?))? *\n? *(?<=\n.{29} )(\S[^\n]*)$", re.M
)
TYPES = {"INT": "whole number", "UINT": "whole number", "FLOAT": "number", "TEXT": "text"}


def kind(words):
    """ "number, 0.95" of "FLOAT=0.95"."""
    if not words or words.startswith("Excludes"):
        return "True or False"
    name, _, default = words.partition("=")
    name, _, choices = name.replace(" ...", "").partition(":")
    name = (
        choices.strip("{}").replace(",", ", ") if "{" in choices else TYPES.get(name, name.lower())
    )
    return ", ".join(part for part in (name, default) if part)


def options(verb):
    """Option, type and meaning of all that a verb takes."""
    printed = oas._oas._command([verb, "--help"], verb)
    elsewhere = ELSEWHERE | (set() if verb in AS_COMMANDS else {"lenient"})
    besides = re.compile(ELSEWHERE_OF.get(verb, "$"))
    return [
        found
        for found in OPTION.findall(printed)
        if found[0] not in elsewhere and not besides.fullmatch(found[0])
    ]


def settings(verb):
    """The lines of a docstring about the options of a verb; those about rows stand in one place."""
    about_rows = {option for option, _, _ in options("filter")}
    lines = []
    for option, words, meaning in options(verb):
        if verb == "filter" or option not in about_rows:
            name = option.replace("-", "_") + ("_" if option == "from" else "")
            meaning = re.sub(r"--([a-z][a-z-]*)", lambda m: f"`{m[1].replace('-', '_')}`", meaning)
            if not meaning.startswith("I ") and not meaning[1:2].isupper():
                meaning = meaning[0].lower() + meaning[1:]
            text = f"`{name}` ({kind(words)}): {meaning}"
            lines += textwrap.wrap(
                text.replace("\\", "/"), 94, initial_indent="    - ", subsequent_indent="      "
            )
    if verb != "filter" and any(option == "columns" for option, _, _ in options(verb)):
        lines.append("    - those about rows: see `oas.read_log`")
    return lines


def rewritten(text, function, verb):
    """The source of a file with that function's docstring up to date."""
    pattern = re.compile(
        rf'(^(?:def|class) {function}\b.*?\n    """.*?\n)    Settings:\n.*?    """', re.M | re.S
    )
    lines = "\n".join(settings(verb))
    made, count = pattern.subn(lambda m: f'{m[1]}    Settings:\n\n{lines}\n    """', text, count=1)
    if count != 1:
        raise SystemExit(f"{function} has no line 'Settings:' in its docstring")
    return made


def files():
    """What the files should be, by path."""
    texts = {}
    for file, function, verb in FUNCTIONS:
        path = PACKAGE / file
        texts[path] = rewritten(texts.get(path) or path.read_text("utf-8"), function, verb)
    return texts


if __name__ == "__main__":
    for place, source in files().items():
        place.write_text(source, "utf-8")
