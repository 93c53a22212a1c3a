"""Keeps the documents true: included code, tables of names, links, and the commands they show.

usage: check_docs.py SOURCE_DIR OAS_BINARY
"""

import functools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

ALGORITHMS = "docs/background/algorithms.md"
SOURCES = ("src", "apps", "bench", "tests", "examples", "scripts", "studies")


def documents(root):
    return [*root.glob("*.md"), *root.glob("docs/**/*.md")]


def check_includes(text, root, name):
    """A marker '<!-- include: FILE -->' is followed by a code block equal to FILE."""
    for match in re.finditer(r"<!-- include: (\S+) -->\n```\w*\n(.*?)```", text, re.S):
        path = root / match.group(1)
        if path.read_text() != match.group(2):
            yield f"{name}: the code block is not {match.group(1)}"


def without_code(text):
    """The text without fenced blocks, in which '#' does not start a heading."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)


def anchors(path):
    """Anchors that a renderer makes of the headings of a Markdown file."""
    headings = re.findall(r"^#+ (.*)$", without_code(path.read_text()), re.M)
    slugs = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {slug.strip().replace(" ", "-") for slug in slugs}


def check_links(text, path, root):
    name = path.relative_to(root)
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", without_code(text)):
        if "://" in target:
            continue
        file = path.parent / target if target else path
        if not file.exists():
            yield f"{name}: link to {target}, which does not exist"
        elif anchor and anchor not in anchors(file):
            yield f"{name}: link to {target}#{anchor}, a heading that does not exist"


def check_paths_in_sources(root):
    """A comment or message that sends a reader to docs/….md names a file that is there."""
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".cpp", ".hpp", ".py", ".toml"}:
                continue
            for name in re.findall(r"\bdocs/[\w/-]+\.md", path.read_text()):
                if not (root / name).exists():
                    yield f"{path.relative_to(root)}: {name} does not exist"


def check_tables(root, binary):
    """The table of algorithms and `oas list` name the same things."""
    listed = json.loads(subprocess.run([binary, "list", "--json"], check=True,
                                       capture_output=True, text=True).stdout)
    rows = re.findall(r"^\| `([\w-]+)` \| (\w+) \|", (root / ALGORITHMS).read_text(), re.M)
    for kind, key in (("estimator", "estimators"), ("policy", "policies"),
                      ("planner", "planners"), ("agent", "agents")):
        documented = {name for name, row_kind in rows if row_kind == kind}
        known = {row["name"] for row in listed[key]}
        if documented != known:
            yield f"{ALGORITHMS}: {key} differ from oas list: {sorted(documented ^ known)}"


@functools.lru_cache(maxsize=None)
def options_of(binary, verb):
    """The options that `oas VERB --help` shows, or None where there is no such verb."""
    result = subprocess.run([binary, *verb.split(), "--help"], capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        return None
    return set(re.findall(r"(?<![\w-])(--?[a-z][\w-]*)", result.stdout))


def typed_commands(text):
    """Lines of code blocks, fenced or indented, that call oas; joined where they go on."""
    fenced = re.findall(r"^```(?:sh|console)?\n(.*?)^```$", text, re.S | re.M)
    indented = re.findall(r"^    (?:\$ )?oas .*$", without_code(text), re.M)
    block = "\n".join([*fenced, *indented]).replace("\\\n", " ")
    for line in block.splitlines():
        for part in re.split(r"[|;]|&&", re.sub(r"\s#\s.*$", "", line)):
            command = re.match(r"\s*(?:\$ )?oas ([a-z].*)$", part)
            if command:
                yield command.group(1)


def check_commands(text, name, binary):
    """Every command and option in a code block is one that the program knows."""
    for command in typed_commands(text):
        words = shlex.split(command)
        verb = " ".join(words[:2]) if words[0] in ("bench", "study") else words[0]
        known = options_of(binary, verb)
        if known is None:
            yield f"{name}: there is no command 'oas {verb}'"
            continue
        used = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        for option in sorted(used - known):
            yield f"{name}: 'oas {verb}' has no option {option}"


def main():
    root, binary = Path(sys.argv[1]), sys.argv[2]
    faults = [*check_tables(root, binary), *check_paths_in_sources(root)]
    for path in documents(root):
        text, name = path.read_text(), path.relative_to(root)
        faults += check_includes(text, root, name)
        faults += check_links(text, path, root)
        faults += check_commands(text, name, binary)
    print("\n".join(faults) or "documents agree with the program")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
