#!/usr/bin/env python3
"""Processor time of `oas plan` with two binaries on models of up to ten states.

Runs both in turn on every file, so that a busy machine slows them alike, and prints a table in
Markdown with the least processor time of each, their ratio and whether the bounds are the same to
six digits. Names of ready-made problems may stand among the files.

    python bench/plan_times.py OLD NEW MODEL... [--repeats 3]
"""

import argparse
import json
import math
import resource
import subprocess
from pathlib import Path


def seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def plan(oas, model):
    """Processor time and both bounds; none where the model is refused."""
    before = seconds_of_children()
    done = subprocess.run([oas, "plan", model, "--threads", "1", "--json"], capture_output=True,
                          text=True)
    if done.returncode != 0:
        return seconds_of_children() - before, None
    found = json.loads(done.stdout)
    return seconds_of_children() - before, (found["gain_lower"], found["gain_upper"])


def row(options, model):
    """One line of the table, and the ratio of both times."""
    times = {options.old: math.inf, options.new: math.inf}
    bounds = {}
    for _ in range(options.repeats):
        for oas in times:
            seconds, bounds[oas] = plan(oas, model)
            times[oas] = min(times[oas], seconds)
    old, new = bounds[options.old], bounds[options.new]
    if old is None or new is None:
        return f"| {Path(model).stem} | refused | | | |", None
    same = all(math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-9) for x, y in zip(old, new))
    says = "same" if same else f"{old[0]:.6g}, {old[1]:.6g} -> {new[0]:.6g}, {new[1]:.6g}"
    ratio = times[options.new] / times[options.old]
    return (f"| {Path(model).stem} | {times[options.old]:.3f} s | {times[options.new]:.3f} s | "
            f"{ratio:.2f} | {says} |"), ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print("| model | old | new | new / old | bounds |\n| --- | --- | --- | --- | --- |")
    ratios = []
    for model in options.models:
        line, ratio = row(options, model)
        ratios += [] if ratio is None else [ratio]
        print(line, flush=True)
    if ratios:
        mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
        print(f"\ngeometric mean of {len(ratios)} ratios: {mean:.2f}, largest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
