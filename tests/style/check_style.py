"""Checks sizes and white space of our source files, and that CMake knows each file of a module.

Usage: check_style.py ROOT. Prints one line per fault and exits with 1 if there is any. Data
(models, logs, golden results) is not looked at.
"""

import re
import sys
from pathlib import Path

FOLDERS = ("src", "apps", "bench", "tests", "examples", "cmake", "scripts",
           "python")
CODE = {".hpp", ".cpp", ".h", ".py", ".cmake", ".in"}
TEXT = {".md", ".toml"}
MAX_LINES = 450
MAX_COLUMNS = 100
MAX_COMMAND_LINES = 150  # apps/cli: a verb parses, calls the library, prints
# One default for all (core/parallel.hpp).
OTHER_PARALLELISM = re.compile(r"\bParallelism(\s+\w+)?\s*=\s*(?!\{\})[^=\s]")


def is_script(path):
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def kind(path):
    """'code', 'text' or None for what is not ours to judge."""
    if path.suffix in CODE or path.name == "CMakeLists.txt":
        return "code"
    if path.suffix in TEXT:
        return "text"
    return "code" if not path.suffix and is_script(path) else None


def code_faults(path, lines):
    most = MAX_COMMAND_LINES if path.match("apps/cli/*.cpp") else MAX_LINES
    if len(lines) > most:
        yield len(lines), f"{len(lines)} lines, more than {most}"
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns, more than {MAX_COLUMNS}"
        if "\t" in line:
            yield number, "tab"
        if path.suffix == ".hpp" and OTHER_PARALLELISM.search(line):
            yield number, "a default of Parallelism other than {}"


def text_faults(text):
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "no newline at the end of the file"
    for number, line in enumerate(text.split("\n"), start=1):
        if line != line.rstrip():
            yield number, "trailing white space"


def file_faults(path):
    """Pairs of line number and fault."""
    which = kind(path)
    if which is None:
        return
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        yield 1, f"not UTF-8 ({error.reason})"
        return
    yield from text_faults(text)
    if which == "code":
        yield from code_faults(path, text.splitlines())


def unlisted_faults(root):
    """A source or header of a module that its CMakeLists.txt forgot (detail/ headers may stay)."""
    for lists in sorted((root / "src" / "oas").glob("*/CMakeLists.txt")):
        known = set(re.findall(r"[\w./-]+", lists.read_text()))
        for path in sorted(lists.parent.rglob("*")):
            name = path.relative_to(lists.parent).as_posix()
            private = path.suffix == ".hpp" and path.parent.name == "detail"
            if path.suffix in (".hpp", ".cpp") and name not in known and not private:
                yield f"{path.relative_to(root)}:1: missing from {lists.relative_to(root)}"


def faults(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                for number, fault in file_faults(path):
                    yield f"{path.relative_to(root)}:{number}: {fault}"
    yield from unlisted_faults(root)


def main():
    found = list(faults(Path(sys.argv[1])))
    print("\n".join(found) if found else "all files keep the style")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
