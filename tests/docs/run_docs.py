"""Types the commands of the documents and compares what they print.

usage: run_docs.py SOURCE_DIR OAS_BINARY

Every block ```console of the README, the tutorials and the how-to pages is run, page by page, in an
empty folder that has only `models` and `examples`. Lines after '$ ' are commands; the other lines
must be printed by the command before them, in this order, though more may be printed between them.
Seconds are not compared. Where the system allows it, this runs in a network of its own, so that
ports that the pages name are free; what a page leaves running (*.pid) is ended.
"""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

BLOCK = re.compile(r"^( *)```console\n(.*?)^\1```$", re.S | re.M)
MARK = "OAS_DOCS_IN_OWN_NETWORK"
SET_FLAGS, IS_UP = 0x8914, 1  # SIOCSIFFLAGS, IFF_UP
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


def enter_own_network():
    """Begins again in a network namespace that has a loopback and nothing else."""
    if MARK in os.environ:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            fcntl.ioctl(probe, SET_FLAGS, struct.pack("16sh", b"lo", IS_UP))
        return
    if shutil.which("unshare") is None or \
            subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode:
        return
    os.environ[MARK] = "1"
    os.execvp("unshare", ["unshare", "-rn", sys.executable, "-B", *sys.argv])


def end_leftovers(folder):
    for file in Path(folder).glob("*.pid"):
        with contextlib.suppress(ValueError, ProcessLookupError):
            os.kill(int(file.read_text()), signal.SIGKILL)


def run_page(path, root, environment):
    with tempfile.TemporaryDirectory() as folder:
        for given in ("models", "examples"):
            (Path(folder) / given).symlink_to(root / given)
        for command, shown in steps(path.read_text()):
            result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                    capture_output=True, check=False)
            if result.returncode != 0:
                yield f"{path.relative_to(root)}: '{command}' failed: {result.stderr.strip()}"
                break
            line = missing_line(shown, result.stdout.split("\n"))
            if line is not None:
                yield (f"{path.relative_to(root)}: '{command}' does not print: {line}; "
                       f"{result.stderr.strip()}")
        end_leftovers(folder)


def main():
    enter_own_network()
    root, binary = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    environment = {**os.environ, "OAS_CACHE": "", "PATH": f"{binary.parent}:{os.environ['PATH']}"}
    pages = [root / "README.md", *sorted(root.glob("docs/tutorials/*.md")),
             *sorted(root.glob("docs/how-to/*.md"))]
    faults = [fault for page in pages for fault in run_page(page, root, environment)]
    print("\n".join(faults) or f"{len(pages)} pages show what the program prints")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
