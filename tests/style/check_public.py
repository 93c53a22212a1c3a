"""Checks that every public function with arguments is called with wrong ones.

Usage: check_public.py ROOT. Public is what the headers declare that oas/oas.hpp includes, and those
of the types that they speak of (TYPES). Each name must stand in
tests/jobs/public_*_arguments_test.cpp or among ANYTHING_GOES, with the reason. Prints one line per
fault and exits with 1 if there is any.
"""

import re
import sys
from pathlib import Path

TYPES = [
    "model/belief.hpp", "model/continuous_pomdp.hpp", "model/density.hpp",
    "model/density_sensors.hpp", "model/labels.hpp", "model/observation_counts.hpp",
    "model/observation_model.hpp", "model/pomdp.hpp", "model/reward.hpp", "model/reward_table.hpp",
    "model/row_block.hpp", "model/run_start.hpp", "model/transition_model.hpp",
    "sensors/cells.hpp", "estimation/transition_estimate.hpp", "planning/plan.hpp",
    "planning/look_ahead.hpp", "planning/policies/alpha_policy.hpp",
    "planning/policies/policy_graph.hpp", "planning/evaluation/policy_evaluation.hpp",
    "learning/any_agent.hpp",
]
ANYTHING_GOES = {
    "Holder": "what an agent is kept in",
    "ParseError": "a message",
    "SplitAgent": "a field of a table",
    "act": "takes a stream of random numbers",
    "answer": "every call of a live agent has an answer, wrong ones too",
    "by_runs": "takes blocks that validate() lets through",
    "call": "the same as answer",
    "cells_to_json": "any cells",
    "chain_of": "any model",
    "checksum_of_state": "any document",
    "default_resolution": "any model",
    "default_simulation": "any model",
    "find": "what there is not gives nothing",
    "find_problem": "the same",
    "draws_to_carry": "any number",
    "fits": "says yes or no",
    "flag": "check_fits() is asked by whoever uses the estimate",
    "for_people": "any texts",
    "help": "of the ranks of a team, which backends test",
    "is_foreign_model": "any name",
    "is_foreign_policy": "any name",
    "model_to_json": "any model",
    "numbered_from": "numbers of runs, for who splits files",
    "regrets": "any numbers",
    "release": "the same as help",
    "reward_needs_transition": "says yes or no",
    "row_model": "any name: whether it can be read, the reader says",
    "save_all": "any starts",
    "set_identity": "whoever makes agents",
    "simplest": "any table",
    "split_from": "for tests",
    "by_table": "any table",
    "to_string": "any value",
    "use": "num_threads() says when they are used",
    "visit": "shows fields",
    "with_law": "belief() says",
}
KINDS = re.compile(r"\b(class|struct|union|enum|namespace)\b([^;(]*)$")
NAME = re.compile(r"(~?\w+)\s*\($")


def without_comments(text):
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r'"(\\.|[^"\\])*"', '""', text)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)
    return text.replace("[[", "").replace("]]", "")


def declared(text):
    """Names of functions with parameters, in namespaces and public parts of classes."""
    stack = []  # (kind, public) of the braces that are open
    start = 0
    depth = 0  # of parentheses
    for i, sign in enumerate(text):
        if sign in "()":
            depth += 1 if sign == "(" else -1
        if depth > 0 or sign not in "{};:":
            continue
        piece = text[start:i]
        label = re.search(r"\b(public|private|protected)\s*$", piece)
        if sign == ":":
            if label and stack:
                stack[-1] = (stack[-1][0], label.group(1) == "public")
                start = i + 1
            continue
        if sign == "{":
            if stack and stack[-1][0] == "body":
                stack.append(("body", False))
                continue
            found = KINDS.search(re.sub(r"template\s*<[^{};]*>", "", piece))
            if found and found.group(1) != "enum" and "=" not in found.group(2):
                hidden = found.group(1) == "namespace" and "detail" in found.group(2)
                inside = not stack or stack[-1][1]
                stack.append((found.group(1), inside and not hidden and found.group(1) != "class"))
                start = i + 1
                continue
            yield from name_of(piece, stack)
            stack.append(("body", False))
            continue
        if sign == "}":
            if stack:
                stack.pop()
            start = i + 1
            continue
        if not stack or stack[-1][0] != "body":
            yield from name_of(piece, stack)
            start = i + 1


def name_of(piece, stack):
    if stack and not stack[-1][1]:
        return
    if not any(kind == "namespace" for kind, _ in stack):
        return
    piece = re.sub(r"template\s*<[^;]*?>\s*(?=\w|\[)", "", piece, count=1)
    if re.search(r"\b(using|typedef|friend|operator|static_assert|requires|concept|=\s*delete)\b",
                 piece) or "delete" in piece:
        return
    bracket = piece.find("(")
    if bracket < 0 or "=" in piece[:bracket]:
        return
    found = NAME.search(piece[:bracket + 1])
    inside = piece[bracket + 1:].lstrip()
    if not found or found.group(1).startswith("~") or inside.startswith(")"):
        return
    if re.match(r"(const )?(\w+)(&&|&) \w+\)", inside) and found.group(1) in inside:
        return  # copies and moves
    yield found.group(1)


def faults(root):
    umbrella = (root / "src/oas/oas.hpp").read_text()
    headers = re.findall(r'#include "oas/([^"]+)"', umbrella) + TYPES
    tests = "".join(path.read_text()
                    for path in sorted((root / "tests/jobs").glob("public_*_arguments_test.cpp")))
    words = set(re.findall(r"\w+", tests))
    seen = set()
    for header in headers:
        for name in declared(without_comments((root / "src/oas" / header).read_text())):
            seen.add(name)
            if name not in words and name not in ANYTHING_GOES and not name.startswith("visit_"):
                yield f"{header}: {name} is called with no wrong argument"
    for name in sorted(set(ANYTHING_GOES) - seen):
        yield f"check_public.py: there is no {name} any more"


def main():
    found = list(dict.fromkeys(faults(Path(sys.argv[1]))))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
