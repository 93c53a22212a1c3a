"""The Python that documents show is run: pages block by block, notebooks cell by cell."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page for page in ROOT.glob("docs/**/*.md") if re.search(r"^```python$", page.read_text(), re.M)
)
NOTEBOOKS = sorted(ROOT.glob("docs/**/*.ipynb"))


def test_there_is_something_to_run():
    assert PAGES and NOTEBOOKS


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


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebooks(notebook, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    cells = nbformat.read(notebook, as_version=4)
    nbclient.NotebookClient(
        cells, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
