#!/usr/bin/env python3
"""Bounds of `oas plan` on public model files of ten to hundreds of states.

Runs the command on each file that is there, on one thread, and prints a table in Markdown: both
bounds, how far they are apart in percent of the larger, processor time and what ended the search.
The files are those of pomdp.org and APPL; none of them is part of this repository.

    python bench/public_models.py FOLDER [--oas build/release/bin/oas] [--work 5] [--names 4x4.95]
"""

import argparse
import json
import resource
import subprocess
from pathlib import Path

NAMES = ["4x4.95", "mini-hall2", "4x5x2.95", "milos-aaai97", "network", "query.s3", "tiger-grid",
         "query.s4", "TagAvoid", "Hallway2"]


def seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def row(oas, path, work):
    """One line of the table, or why there is none."""
    before = seconds_of_children()
    done = subprocess.run([oas, "plan", str(path), "--planner", "point", "--work", str(work),
                           "--threads", "1", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return f"| {path.stem} | {done.stderr.strip()} | | | |"
    plan = json.loads(done.stdout)
    low, high = plan["gain_lower"], plan["gain_upper"]
    scale = max(abs(low), abs(high))
    apart = 100 * (high - low) / scale if scale > 0 else 0.0
    return (f"| {path.stem} | {low:.6g}, {high:.6g} | {apart:.2f} % | "
            f"{seconds_of_children() - before:.1f} s | {plan['message']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", nargs="+", default=NAMES)
    parser.add_argument("--oas", default="build/release/bin/oas")
    parser.add_argument("--work", type=float, default=5.0)
    options = parser.parse_args()
    print("| model | gain in | apart | processor time | |\n| --- | --- | --- | --- | --- |")
    for name in options.names:
        found = sorted(path for ending in ("pomdp", "POMDP", "pomdpx")
                       for path in options.folder.rglob(f"{name}.{ending}"))
        if found:
            print(row(options.oas, found[0], options.work), flush=True)
        else:
            print(f"| {name} | no such file in {options.folder} | | | |")


if __name__ == "__main__":
    main()
