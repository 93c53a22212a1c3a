"""The Python that pages show is run, block by block; notebooks run where the site is built."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page for page in ROOT.glob("docs/**/*.md") if re.search(r"^```python$", page.read_text(), re.M)
)


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
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.S | re.M):
        exec(compile(block, str(page), "exec"), names)
