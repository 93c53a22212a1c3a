"""Every example in C++ has a twin in Python, which runs as it stands there."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TWINS = sorted(path.stem for path in (ROOT / "examples").glob("*.cpp"))


def test_there_are_examples():
    assert len(TWINS) >= 5


@pytest.mark.parametrize("name", TWINS)
def test_twins_run(name, tmp_path):
    script = ROOT / "examples" / "python" / f"{name}.py"
    for _ in range(2):  # also where files of an earlier run lie about
        done = subprocess.run(
            [sys.executable, script],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout
