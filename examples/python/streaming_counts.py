"""Rows that come in parts, on several threads or machines: each part keeps its own evidence, and
evidence can be added up."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import oas

link = oas.problem("network-link")
WORKERS = 4


def counted(worker):
    """The evidence of one part; here a part is a simulated run, the worker-th of all."""
    log = oas.simulate(link, "uniform", steps=250_000, seed=2 + worker)
    return oas.Evidence(link, "oas", first_run=worker).add(log)


with ThreadPoolExecutor(WORKERS) as pool:
    parts = list(pool.map(counted, range(WORKERS)))

total = parts[0]
for part in parts[1:]:
    total = total + part
learned = total.estimate()
distance = np.linalg.norm(learned.transition - link.transition)
print(f"{learned.pairs.sum()} pairs, Frobenius error {distance:.4f}")
assert distance < 0.1
