"""What the tests share: where the tree and its command are."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("OAS_SOURCE_DIR", Path(__file__).parents[2]))


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def command():
    """Runs the command `oas`; the tests that compare with it are skipped where it is not built."""
    path = os.environ.get("OAS_COMMAND")
    if path is None:
        pytest.skip("the command is not built (OAS_COMMAND says where it is)")

    def run(*arguments, check=True):
        return subprocess.run(
            [path, *map(str, arguments)], check=check, capture_output=True, text=True
        )

    return run
