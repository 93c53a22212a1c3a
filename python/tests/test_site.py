"""The documentation as a site: notebooks run, no link leads nowhere, examples have their twins."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"


class Page(HTMLParser):
    """What a page leads to, and what one can lead to in it."""

    def __init__(self, path):
        super().__init__()
        self.links = []
        self.places = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.links += [given[name] for name in ("href", "src") if given.get(name)]
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}


@pytest.fixture(scope="module")
def pages():
    for module in ("mkdocs", "material", "mkdocstrings", "nbclient", "nbformat"):
        pytest.importorskip(module)
    if not Path(sys.prefix).samefile(ROOT / "build" / "venv"):
        pytest.skip("the script takes build/venv")
    done = subprocess.run([ROOT / "scripts" / "docs"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.resolve(): Page(path) for path in SITE.rglob("*.html")}


def broken(pages, page, link):
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    start = SITE if parts.path.startswith("/") else page.parent
    target = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else page
    target = target / "index.html" if target.is_dir() else target
    if not target.exists():
        return True
    anchor = unquote(parts.fragment)
    return bool(anchor) and target in pages and anchor not in pages[target].places


def test_all_links_lead_somewhere(pages):
    assert len(pages) > 60
    found = [
        (str(path.relative_to(SITE)), link)
        for path, page in pages.items()
        for link in page.links
        if broken(pages, path, link)
    ]
    assert not found


def test_notebooks_show_their_results(pages):
    notebooks = list((ROOT / "docs").rglob("*.ipynb"))
    assert notebooks
    for path in notebooks:
        text = (SITE / path.relative_to(ROOT / "docs").with_suffix("") / "index.html").read_text()
        assert f"{path.stem}-1.png" in text and "language-text" in text


def test_examples_stand_there_in_both_languages(pages):
    for path in (ROOT / "examples").glob("*.cpp"):
        text = (SITE / "examples" / path.stem / "index.html").read_text("utf-8")
        assert "language-cpp" in text and "language-python" in text, path


def test_docstrings_are_read_as_they_were_meant(pages):
    text = (SITE / "reference" / "python" / "index.html").read_text("utf-8")
    assert "<blockquote>" not in text and "&gt;&gt;&gt;" not in text
    for name in ("oas.Pomdp", "oas.estimate", "oas.study.run", "oas.gym.make", "oas.plot"):
        assert f'id="{name}"' in text, name
