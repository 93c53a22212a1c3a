"""Makes pages for the site of a copy of docs/: usage: docs_pages.py FOLDER.

Notebooks are run, so that the site shows their results; links that leave docs/ lead to pages that
are copied, or lose their target; the reference of the Python package gets a page.
"""

import re
import sys
from functools import partial
from pathlib import Path

import nbclient
import nbformat

import oas

ROOT = Path(__file__).parents[1]
COPIED = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
REFERENCE = """# The Python package

::: oas
    options:
      members: [{members}]
      show_root_toc_entry: false

::: oas.study

::: oas.distributed

::: oas.gym

::: oas.plot
"""


def run_notebooks(folder):
    """Fills notebooks with what their cells show."""
    for path in sorted(folder.rglob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
        nbformat.write(notebook, path)


#: Code, which stays as it is, and shapes of tables, [A][S][S], which are no links.
SHAPE = re.compile(r"```.*?```|`[^`]*`|(?:\[\w+\]){2,}(?!\()", re.S)


def without_shapes(text):
    """The same page, the brackets of shapes escaped."""
    return SHAPE.sub(
        lambda found: found[0] if found[0][0] == "`" else re.sub(r"([][])", r"\\\1", found[0]), text
    )


def keep_inside(folder):
    """Links from pages to files outside of the site."""

    def inside(page, match):
        text, target = match.group(1), match.group(2)
        if "://" in target or target.startswith("#"):
            return match.group(0)
        file = (page.parent / target.split("#")[0]).resolve()
        if file.is_relative_to(folder) and file.exists() and not file.is_dir():
            return match.group(0)
        name = Path(target.split("#")[0]).name
        if name in COPIED and name != "README.md":
            up = "../" * (len(page.relative_to(folder).parts) - 1)
            return f"[{text}]({up}project/{name})"
        return text

    for page in sorted(folder.rglob("*.md")):
        changed = re.sub(
            r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", partial(inside, page), page.read_text()
        )
        page.write_text(without_shapes(changed))


def main(folder):
    """Does all of it."""
    (folder / "project").mkdir(exist_ok=True)
    for name in COPIED[1:]:
        (folder / "project" / name).write_text((ROOT / name).read_text())
    members = [name for name in oas.__all__ if name not in ("study", "distributed", "__version__")]
    reference = REFERENCE.format(members=", ".join(members))
    (folder / "reference" / "python.md").write_text(reference)
    keep_inside(folder.resolve())
    run_notebooks(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
