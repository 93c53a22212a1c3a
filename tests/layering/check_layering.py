"""Checks that the modules of src/oas include each other only as cmake/layers.txt allows.

Usage: check_layering.py ROOT. Prints one line per fault and exits with 1 if there is any.
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
SUFFIXES = {".hpp", ".h", ".cpp", ".inl", ".cu"}


def read_layers(path):
    """The table as {module: set of modules it may include}, in the order of the file."""
    layers = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, colon, below = line.partition(":")
        if not colon or name in layers:
            raise SystemExit(f"{path}:{number}: expected '<module>: <modules>', each module once")
        layers[name] = set(below.split())
    return layers


def table_faults(layers):
    """Unknown names and cycles in the table itself."""
    for name, below in layers.items():
        for other in sorted(below - layers.keys()):
            yield f"layers.txt: {name} may include {other}, which has no line of its own"
    left = {name: below & layers.keys() for name, below in layers.items()}
    while free := [name for name, below in left.items() if not below & left.keys()]:
        for name in free:
            del left[name]
    if left:
        yield f"layers.txt: cycle among {', '.join(left)}"


def includes(path):
    """Pairs of line number and included path."""
    text = path.read_text(errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        if match := INCLUDE.match(line):
            yield number, match.group(1)


def include_fault(module, allowed, directory, target):
    """What is wrong with an include of `target` in a file of `module`, or None."""
    parts = target.split("/")
    if parts[0] != "oas":
        if parts[0] in ("..", ".") or (directory / target).exists():
            return "write the whole path, oas/<module>/<file>"
        return None
    if len(parts) == 2:
        return "oas/oas.hpp is for users of the library"
    if parts[1] == module:
        return None
    if parts[1] not in allowed:
        return f"{module} may not include {parts[1]} (cmake/layers.txt)"
    if "detail" in parts[2:]:
        return f"detail/ is private to {parts[1]}"
    return None


def module_faults(root, layers):
    library = root / "src" / "oas"
    for directory in sorted(path for path in library.glob("*") if path.is_dir()):
        files = sorted(path for path in directory.rglob("*") if path.suffix in SUFFIXES)
        if files and directory.name not in layers:
            yield f"{directory.relative_to(root)}: not in cmake/layers.txt"
            continue
        for path in files:
            for number, target in includes(path):
                allowed = layers[directory.name]
                if fault := include_fault(directory.name, allowed, path.parent, target):
                    yield f"{path.relative_to(root)}:{number}: {target}: {fault}"


def user_faults(root):
    """Commands and examples use public headers only; tests and benchmarks may look inside."""
    for folder in ("apps", "examples"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            for number, target in includes(path):
                parts = target.split("/")
                if parts[0] == "oas" and "detail" in parts:
                    where = path.relative_to(root)
                    yield f"{where}:{number}: {target}: detail/ is private to {parts[1]}"


def faults(root):
    layers = read_layers(root / "cmake" / "layers.txt")
    yield from table_faults(layers)
    yield from module_faults(root, layers)
    yield from user_faults(root)


def main():
    found = list(faults(Path(sys.argv[1])))
    print("\n".join(found) if found else "includes follow cmake/layers.txt")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
