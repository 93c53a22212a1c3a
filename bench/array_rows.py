#!/usr/bin/env python3
"""What rows of NumPy cost: `oas.estimate` on a dict of arrays against the same call on a Log, whose
rows lie in memory as C++ has them, so that it is the C++ call and nothing else.

Both are called in turn in this process, and the least processor time of each counts.

Usage: array_rows.py [--rows 10000000] [--times 7] [--estimator oas-overlap]
"""

import argparse
import resource

import numpy as np

import oas


def seconds(call):
    """User time of a call, all threads."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    call()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def tables(log):
    """The same rows as people have them."""
    actions, observations = np.array(log.actions), np.array(log.observations)

    def of(kind):
        return {"action": actions.astype(kind), "observation": observations.astype(kind)}

    for kind in ("int32", "int64", "uint8", "float64"):
        yield kind, of(kind)
    both = np.stack([actions, observations], axis=1).astype("int64")
    yield "int64, columns of one matrix", {"action": both[:, 0], "observation": both[:, 1]}
    yield "int64, propensities", {**of("int64"), "propensity": np.array(log.propensities)}


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--estimator", default="oas-overlap")
    given = parser.parse_args()
    model = oas.random_pomdp(3, 2, 5, seed=3, alpha=0.2)
    log = oas.simulate(model, steps=given.rows, seed=1, reward=False, state=False)
    oas.set_threads(1)
    print("| rows | seconds | against C++ |\n| --- | ---: | ---: |")
    without = {"action": np.array(log.actions), "observation": np.array(log.observations)}
    logs = {False: oas.read_log(model, without), True: log}  # without propensities and with
    least = {}
    for name, table in tables(log):
        theirs = logs["propensity" in table]
        told = []
        for _ in range(given.times):
            told.append(
                [
                    seconds(lambda r=rows: oas.estimate(model, r, given.estimator))
                    for rows in (theirs, table)
                ]
            )
        plain, ours = np.min(told, axis=0)
        least.setdefault("propensity" in table, []).append(plain)
        print(f"| {name} | {ours:.3f} | {ours / plain:.2f} |")
    for key, label in ((False, "C++"), (True, "C++, propensities")):
        print(f"| {label} | {min(least[key]):.3f} | 1 |")


if __name__ == "__main__":
    main()
