#!/usr/bin/env python3
"""Likelihood of a hidden Markov chain with known sensors: oas against hmmlearn.

One action, so that hmmlearn can do it: its emissions and its start are fixed to the truth, only the
transition matrix is fitted, from the same start, on the same log. Prints a table in Markdown, with
the processor time of one thread.

    python bench/hmmlearn_comparison.py [--rows 100000] [--states 3 5 10]
"""

import argparse
import time
import warnings

import numpy as np
from hmmlearn.hmm import CategoricalHMM

import oas


def drawn(states, rows):
    """A chain that stays where it is four times out of five, seen through a blurred sensor."""
    rng = np.random.default_rng(states)
    transition = 0.8 * np.eye(states) + 0.2 * rng.dirichlet(np.ones(states), size=states)
    sensor = 0.6 * np.eye(states) + 0.4 * rng.dirichlet(np.ones(states), size=states)
    start = np.full(states, 1 / states)
    model = oas.Pomdp(observation=sensor[None], transition=transition[None], start=start)
    return model, oas.simulate(model, "uniform", steps=rows, seed=1)


def with_hmmlearn(model, log, implementation, tolerance):
    """Seconds a pass, passes, and the log-likelihood at the end."""
    states = model.num_states
    hmm = CategoricalHMM(
        n_components=states, n_features=states, params="t", init_params="", n_iter=1000,
        tol=tolerance, implementation=implementation,
    )  # fmt: skip
    hmm.startprob_ = np.array(model.start)
    hmm.emissionprob_ = np.array(model.observation[0])
    hmm.transmat_ = np.full((states, states), 1 / states)
    readings = np.asarray(log.observations).reshape(-1, 1)
    before = time.process_time()
    hmm.fit(readings)
    seconds = time.process_time() - before
    return seconds / hmm.monitor_.iter, hmm.monitor_.iter, hmm.score(readings)


def with_oas(model, log):
    """The same by the estimator `em`, which starts at uniform rows, too: with error bars, without
    draws of the posterior, which hmmlearn does not have."""
    before = time.process_time()
    found = oas.estimate(model, log, estimator="em", carried_draws=0)
    seconds = time.process_time() - before
    return seconds / found.passes, found.passes, found.log_likelihood


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--states", type=int, nargs="+", default=[3, 5, 10])
    parser.add_argument("--tolerance", type=float, default=1e-3)
    given = parser.parse_args()
    oas.set_threads(1)
    warnings.simplefilter("ignore")
    print("| states | rows | program | ms a pass | passes | log-likelihood | times as fast |")
    print("|---:|---:|---|---:|---:|---:|---:|")
    for states in given.states:
        model, log = drawn(states, given.rows)
        ours = with_oas(model, log)
        told = [("oas `em`", ours)]
        for implementation in ("scaling", "log"):
            found = with_hmmlearn(model, log, implementation, given.tolerance)
            told.append((f"hmmlearn `{implementation}`", found))
        for name, (seconds, passes, likelihood) in told:
            ratio = "" if name.startswith("oas") else f"{seconds / ours[0]:.1f}"
            print(
                f"| {states} | {given.rows:,} | {name} | {1e3 * seconds:.2f} | {passes} "
                f"| {likelihood:.4f} | {ratio} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
