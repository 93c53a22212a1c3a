"""The Python of the documents runs as it stands there, page by page."""

import re

import pytest

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)
PAGES = ("README.md", "docs/how-to/use-from-python.md")


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run(page, root, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((root / page).read_text(encoding="utf-8"))
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
        printed = capsys.readouterr().out
        for promised in re.findall(r"print\(error\)  # (.*)", block):
            assert promised in printed
