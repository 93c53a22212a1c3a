"""The Python that pages show is run, block by block; notebooks run where the site is built.

Files that pages include are programs with tests of their own.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^(<!-- include: .* -->\n)?```python\n(.*?)^```$", re.S | re.M)


def blocks(page):
    return [text for included, text in BLOCK.findall(page.read_text()) if not included]


PAGES = sorted(page for page in ROOT.glob("docs/**/*.md") if blocks(page))


def test_there_is_something_to_run():
    assert PAGES


@pytest.mark.filterwarnings("ignore::oas.OasWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages(page, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pytest.importorskip("gymnasium")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for block in blocks(page):
        exec(compile(block, str(page), "exec"), names)
