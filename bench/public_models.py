#!/usr/bin/env python3
"""Bounds of `oas plan` on public model files of ten to hundreds of states.

Runs the command on each file that is there, on one thread, and prints a table in Markdown: both
bounds, how far they are apart in percent of the larger, what the policy of another program earned
on average (SARSOP's, simulated; two or three digits of it are noise), processor time and what ended
the search. Returns 1 where a lower bound is below that policy by more than --noise.
The files are those of pomdp.org and APPL; none of them is part of this repository.

    python bench/public_models.py FOLDER [--oas build/release/bin/oas] [--work 5] [--names 4x4.95]
"""

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

# Average reward of SARSOP's policy. In TagAvoid nothing is earned for ever once the tag is made.
SARSOP = {"4x4.95": 0.1948, "mini-hall2": 0.1519, "4x5x2.95": 0.1184, "milos-aaai97": 7.171,
          "network": 14.706, "query.s3": 5.4943, "tiger-grid": 0.1232, "query.s4": 5.7297,
          "TagAvoid": 0.0, "Hallway2": 0.0363}


def seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def row(oas, path, work, noise):
    """One line of the table, or why there is none, and whether the lower bound is high enough."""
    before = seconds_of_children()
    done = subprocess.run([oas, "plan", str(path), "--planner", "point", "--work", str(work),
                           "--threads", "1", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return f"| {path.stem} | {done.stderr.strip()} | | | | |", False
    plan = json.loads(done.stdout)
    low, high = plan["gain_lower"], plan["gain_upper"]
    scale = max(abs(low), abs(high))
    apart = 100 * (high - low) / scale if scale > 0 else 0.0
    other = SARSOP.get(path.stem)
    line = (f"| {path.stem} | {low:.6g}, {high:.6g} | {apart:.2f} % | "
            f"{'' if other is None else other} | "
            f"{seconds_of_children() - before:.1f} s | {plan['message']} |")
    return line, other is None or low >= other - noise * abs(other)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", nargs="+", default=list(SARSOP))
    parser.add_argument("--oas", default="build/release/bin/oas")
    parser.add_argument("--work", type=float, default=5.0)
    parser.add_argument("--noise", type=float, default=5e-4, help="of SARSOP's figures, relative")
    options = parser.parse_args()
    print("| model | gain in | apart | SARSOP's policy | processor time | |\n"
          "| --- | --- | --- | --- | --- | --- |")
    behind = []
    for name in options.names:
        found = sorted(path for ending in ("pomdp", "POMDP", "pomdpx")
                       for path in options.folder.rglob(f"{name}.{ending}"))
        if found:
            line, high_enough = row(options.oas, found[0], options.work, options.noise)
            behind += [] if high_enough else [name]
            print(line, flush=True)
        else:
            print(f"| {name} | no such file in {options.folder} | | | | |")
    if behind:
        print(f"\nbehind SARSOP's policy: {', '.join(behind)}")
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
