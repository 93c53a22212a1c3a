"""Simulate a machine that wears out unseen, then learn its dynamics from what was seen."""

import numpy as np

import oas

machine = oas.problem("machine-maintenance")

# One run of a policy that is greedy on its belief and explores a little.
log = oas.simulate(machine, "belief", steps=1_000_000, seed=1)

# Show it to an estimator. Only the sensors of `machine` are used from here on.
evidence = oas.Evidence(machine, "oas-ml")
evidence.add(log)
learned = evidence.estimate()

print(learned)
for state, p, error in zip(machine.states, learned.transition[0, 0], learned.standard_error[0, 0]):
    print(f"P({state:8} | new, run) = {p:.4f} ± {error:.4f}")
distance = np.linalg.norm(learned.transition - machine.transition)
print(f"Frobenius error {distance:.4f}")
assert distance < 0.1
