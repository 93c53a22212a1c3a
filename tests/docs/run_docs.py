"""Types the commands of the documents and compares what they print.

usage: run_docs.py SOURCE_DIR OAS_BINARY

Every block ```console of the README, the tutorials and the how-to pages is run, page by page, in an
empty folder that has only `models` and `examples`. Lines after '$ ' are commands; the other lines
must be printed by the command before them, in this order, though more may be printed between them.
Seconds are not compared.
"""

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

BLOCK = re.compile(r"^( *)```console\n(.*?)^\1```$", re.S | re.M)
NOT_COMPARED = re.compile(r"^\s*([\d.]+ s|…)?$")


def steps(text):
    """Pairs of command and lines shown."""
    for _, block in BLOCK.findall(text):
        for part in re.split(r"^\$ ", textwrap.dedent(block), flags=re.M)[1:]:
            command, *shown = part.rstrip("\n").split("\n")
            yield command, [line for line in shown if not NOT_COMPARED.match(line)]


def missing_line(shown, printed):
    """The first line shown that is not printed after those before it."""
    printed = iter(printed)
    for line in shown:
        if not any(line.rstrip() == other.rstrip() for other in printed):
            return line
    return None


def run_page(path, root, environment):
    with tempfile.TemporaryDirectory() as folder:
        for given in ("models", "examples"):
            (Path(folder) / given).symlink_to(root / given)
        for command, shown in steps(path.read_text()):
            result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                    capture_output=True, check=False)
            if result.returncode != 0:
                yield f"{path.relative_to(root)}: '{command}' failed: {result.stderr.strip()}"
                return
            line = missing_line(shown, result.stdout.split("\n"))
            if line is not None:
                yield f"{path.relative_to(root)}: '{command}' does not print: {line}"


def main():
    root, binary = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    environment = {**os.environ, "OAS_CACHE": "", "PATH": f"{binary.parent}:{os.environ['PATH']}"}
    pages = [root / "README.md", *sorted(root.glob("docs/tutorials/*.md")),
             *sorted(root.glob("docs/how-to/*.md"))]
    faults = [fault for page in pages for fault in run_page(page, root, environment)]
    print("\n".join(faults) or f"{len(pages)} pages show what the program prints")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
