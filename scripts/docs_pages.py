"""Makes pages for the site of a copy of docs/: usage: docs_pages.py FOLDER.

Notebooks are run and become pages that show their results; every example becomes a page with its
C++ and its Python; links that leave docs/ lead to such pages, or lose their target; the reference
of the Python package gets a page.
"""

import base64
import os
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


def fenced(text, language=""):
    """Text as it is, whatever stands in it."""
    longest = max((len(ticks) for ticks in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def shown(output, image):
    """What a cell gave as Markdown; pictures become files of the name that `image()` gives."""
    if output.output_type == "stream":
        return fenced(output.text, "text")
    data = output.data
    if "image/png" in data:
        path = image()
        path.write_bytes(base64.b64decode(data["image/png"]))
        return f"![]({path.name})\n"
    if "text/html" in data:
        lines = (line for line in data["text/html"].split("\n") if line.strip())
        return "<div>\n" + "\n".join(lines) + "\n</div>\n"  # a blank line would end it
    return fenced(data["text/plain"], "text")


def page_of(notebook, path):
    """A notebook that has been run, as the page beside it."""
    pictures = 0

    def image():
        nonlocal pictures
        pictures += 1
        return path.with_name(f"{path.stem}-{pictures}.png")

    parts = []
    for cell in notebook.cells:
        code = cell.cell_type == "code"
        parts.append(fenced(cell.source, "python") if code else cell.source + "\n")
        parts += [shown(output, image) for output in (cell.outputs if code else [])]
    parts.insert(
        1, f"This page is [a notebook]({path.name}); its results are those of this version.\n"
    )
    return "\n".join(parts)


def run_notebooks(folder):
    """Fills notebooks with what their cells show, and writes each as a page, too."""
    for path in sorted(folder.rglob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
        nbformat.write(notebook, path)
        path.with_suffix(".md").write_text(page_of(notebook, path))


def title_of(source):
    """What stands first in a C++ example, up to a colon or the end of the sentence."""
    comment = re.match(r"(?://[^\n]*\n)+", source)[0].replace("//", " ")
    return re.split(r"[.:](?:\s|$)|(?<=\?)\s", " ".join(comment.split()))[0]


def example_pages(folder):
    """One page for every example, in both languages."""
    (folder / "examples").mkdir(exist_ok=True)
    index = ["# Examples, in C++ and in Python\n"]
    for path in sorted((ROOT / "examples").glob("*.cpp")):
        title = title_of(path.read_text())
        index.append(f"* [{title}]({path.stem}.md)")
        parts = [f"# {title}\n"]
        for name, file, language in (
            ("C++", path, "cpp"),
            ("Python", path.parent / "python" / f"{path.stem}.py", "python"),
        ):
            block = fenced(file.read_text(), language)
            parts.append(f'=== "{name}"\n\n' + re.sub(r"(?m)^(?=.)", "    ", block))
        (folder / "examples" / f"{path.stem}.md").write_text("\n".join(parts))
    (folder / "examples" / "README.md").write_text("\n".join(index) + "\n")


#: Code, which stays as it is, and shapes of tables, [A][S][S], which are no links.
SHAPE = re.compile(r"```.*?```|`[^`]*`|(?:\[\w+\]){2,}(?!\()", re.S)


def without_shapes(text):
    """The same page, the brackets of shapes escaped."""
    return SHAPE.sub(
        lambda found: found[0] if found[0][0] == "`" else re.sub(r"([][])", r"\\\1", found[0]), text
    )


def page_for(file, folder):
    """The page of the site that shows a file of the tree; None: there is none."""
    if file.is_relative_to(ROOT / "docs"):
        page = folder / file.relative_to(ROOT / "docs")
        page = page.with_suffix(".md") if file.suffix == ".ipynb" else page
    elif file.parent == ROOT and file.name in COPIED:
        page = folder / "project" / file.name
    elif file.is_relative_to(ROOT / "examples"):
        page = folder / "examples" / ("README.md" if file.is_dir() else f"{file.stem}.md")
    else:
        return None
    return page if page.is_file() else None


def keep_inside(folder):
    """Links from pages to other files of the tree lead to their pages, or lose their target."""

    def inside(page, source, match):
        link, text, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match.group(0)
        path, mark, anchor = target.partition("#")
        found = page_for((source.parent / path).resolve(), folder)
        return f"{link}({os.path.relpath(found, page.parent)}{mark}{anchor})" if found else text

    for page in sorted(folder.rglob("*.md")):
        place = page.relative_to(folder)
        source = ROOT / place.name if place.parts[0] == "project" else ROOT / "docs" / place
        if source.exists():
            changed = re.sub(
                r"(!?\[([^\]]*)\])\(([^)\s]+)\)", partial(inside, page, source), page.read_text()
            )
            page.write_text(without_shapes(changed))


def main(folder):
    """Does all of it."""
    (folder / "project").mkdir(exist_ok=True)
    for name in COPIED:
        (folder / "project" / name).write_text((ROOT / name).read_text())
    members = [name for name in oas.__all__ if name not in ("study", "distributed", "__version__")]
    reference = REFERENCE.format(members=", ".join(members))
    (folder / "reference" / "python.md").write_text(reference)
    example_pages(folder)
    run_notebooks(folder)
    keep_inside(folder.resolve())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
