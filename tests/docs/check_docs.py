"""Keeps the documents true: included code, tables of names, links between files.

usage: check_docs.py SOURCE_DIR OAS_BINARY
"""

import json
import re
import subprocess
import sys
from pathlib import Path


def check_includes(text, root, name):
    """A marker '<!-- include: FILE -->' is followed by a code block equal to FILE."""
    for match in re.finditer(r"<!-- include: (\S+) -->\n```\w*\n(.*?)```", text, re.S):
        path = root / match.group(1)
        if path.read_text() != match.group(2):
            yield f"{name}: the code block is not {match.group(1)}"


def check_links(text, path, root):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target and not (path.parent / target).exists():
            yield f"{path.relative_to(root)}: link to {target}, which does not exist"


def check_tables(root, binary):
    """docs/algorithms.md and `oas list` name the same estimators, policies, planners and agents."""
    listed = json.loads(subprocess.run([binary, "list", "--json"], check=True,
                                       capture_output=True, text=True).stdout)
    text = (root / "docs/algorithms.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| (\w+) \|", text, re.M)
    for kind, key in (("estimator", "estimators"), ("policy", "policies"),
                      ("planner", "planners"), ("agent", "agents")):
        documented = {name for name, row_kind in rows if row_kind == kind}
        known = {row["name"] for row in listed[key]}
        if documented != known:
            yield f"docs/algorithms.md: {key} differ from oas list: {sorted(documented ^ known)}"


def main():
    root, binary = Path(sys.argv[1]), sys.argv[2]
    faults = list(check_tables(root, binary))
    for path in [*root.glob("*.md"), *root.glob("docs/*.md")]:
        text = path.read_text()
        faults += check_includes(text, root, path.name)
        faults += check_links(text, path, root)
    print("\n".join(faults) or "documents agree with the program")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
