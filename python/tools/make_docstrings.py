"""Writes into docstrings what C++ says of the same thing: of verbs what `oas VERB --help` does, of
types and functions that Python wraps the comments in the headers.

Usage: tools/make_docstrings.py, with the built package on PYTHONPATH. The first paragraph is
replaced, and what stands behind a line "Settings:"; between these a docstring says what is so in
Python only. Types that C++ defines have their comments from `make_docs.py`, at build time. All
else that is public must be in `OWN_WORDS`, with the reason.
"""

import ast
import importlib.util
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
#: File, class, header, and the members that mean the same here; `self` is the class.
WRAPPED = (
    ("_estimation.py", "Evidence", "estimation/evidence.hpp",
     ("self", "start_run", "merge", "fresh", "runs", "estimate")),
    ("_live.py", "LiveAgent", "live/live_agent.hpp", ("self", "answer", "metrics")),
)  # fmt: skip
#: File, function, verb, the first line of whose help is said of it, too.
VERBS = (
    *(("_command.py", verb, verb) for verb in AS_COMMANDS if verb != "convert"),
    ("_beliefs.py", "filter", "filter"),
    ("_estimation.py", "estimate", "estimate"),
    ("_learn.py", "learn", "learn"),
)
#: File, function, header, function there, whose first sentence is said of it, too: arguments and
#: what comes back are others here.
PLAIN = (
    ("_command.py", "planners", "planning/planners.hpp", "planners"),
    ("_command.py", "policies", "simulation/closed_loop.hpp", "policies"),
    ("_functions.py", "agents", "learning/agents.hpp", "agents"),
    ("_functions.py", "problem", "problems/named.hpp", "make_problem"),
    ("_functions.py", "problems", "problems/named.hpp", "problems"),
    ("_functions.py", "random_pomdp", "problems/random_pomdp.hpp", "random_pomdp"),
    ("_functions.py", "simulate", "jobs/log_simulation.hpp", "simulate_rows"),
)
#: Types that the extension defines, with the type whose comment they begin with.
FROM_C = {"Agent": "AnyAgent", "Log": "Trajectory", "Plan": "Plan"}
#: What is public and has no twin in C++, or one of another meaning: why.
OWN_WORDS = {
    "a verb or option that Python has split in several, or joined":
        ("bench", "compare_policies", "convert", "policy_graph", "smooth"),
    "reads whatever Python has rows and models in": ("load", "model_from_json", "read_log"),
    "a field of a struct in C++, a function here":
        ("agent_settings", "estimator_settings", "estimators", "get_threads", "set_threads"),
    "results as Python has them, of several C++ types or of a file":
        ("Beliefs", "Comparison", "Estimate", "LiveAnswer", "LiveChoice", "PlanPolicy", "Result",
         "Runs"),
    "the constructor takes arrays, whose shapes it tells": ("ContinuousPomdp", "Pomdp"),
    "functions in Python as estimators": ("compare_estimators",),
    "exceptions of Python":
        ("AgentError", "Error", "InvalidArgument", "IoError", "OasWarning", "ParseError",
         "Refused"),
    "modules": ("distributed", "study"),
}  # fmt: skip
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


def summary(verb):
    """What the help of a verb begins with, as a sentence."""
    return oas._oas._command([*verb.split(), "--help"], verb).partition("\n")[0] + "."


def comments(header):
    """What a header says, by type and member."""
    place = Path(__file__).with_name("make_docs.py")
    spec = importlib.util.spec_from_file_location("make_docs", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.comments((PACKAGE.parents[1] / "src" / "oas" / header).read_text("utf-8"))


def named(nodes, name):
    """The one of that name among definitions."""
    return next(node for node in nodes if getattr(node, "name", "") == name)


def commented(text, name, member, comment):
    """The source of a file with the docstring of a function or class (member `self`), or of a
    member, beginning with that comment."""
    owner = named(ast.parse(text).body, name)
    node = owner if member == "self" else named(owner.body, member)
    place = node.body[0].value
    indent = " " * place.col_offset
    rest = place.value.partition("\n\n")[2]
    lines = textwrap.wrap(
        f'"""{" ".join(comment.split())}', 100, initial_indent=indent, subsequent_indent=indent
    )
    if rest:
        lines += ["", *rest.rstrip().split("\n"), f'{indent}"""']
    elif len(lines[-1]) > 97:
        lines += [f'{indent}"""']
    else:
        lines[-1] += '"""'
    all_lines = text.split("\n")
    all_lines[place.lineno - 1 : place.end_lineno] = lines
    return "\n".join(all_lines)


def beginnings():
    """File, class or function, member, and what its docstring begins with."""
    for file, name, header, members in WRAPPED:
        said = comments(header)
        for member in members:
            yield file, name, member, said[name, member]
    for file, function, verb in VERBS:
        yield file, function, "self", summary(verb)
    for file, function, header, theirs in PLAIN:
        said = " ".join(comments(header)["", theirs].split())
        yield file, function, "self", said.partition(". ")[0].rstrip(".") + "."


def files():
    """What the files should be, by path."""
    texts = {}
    for file, name, member, said in beginnings():
        path = PACKAGE / file
        text = texts.get(path) or path.read_text("utf-8")
        texts[path] = commented(text, name, member, said)
    for file, function, verb in FUNCTIONS:
        path = PACKAGE / file
        texts[path] = rewritten(texts.get(path) or path.read_text("utf-8"), function, verb)
    return texts


if __name__ == "__main__":
    for place, source in files().items():
        place.write_text(source, "utf-8")
