"""What scripts/python-memory runs under valgrind: every way in and out of the extension, once."""

import pickle
import tempfile
import warnings

import numpy as np
import pyarrow as pa

import oas

warnings.simplefilter("ignore")
MODEL = oas.problem("pest-control")
LOG = oas.simulate(MODEL, steps=300, runs=2, seed=1)
ROWS = {
    "run": [name for name in "ab" for _ in range(300)],
    "action": LOG.actions,
    "observation": LOG.observations.astype(np.int64),
    "propensity": LOG.propensities,
}


def main():
    """Calls one thing after the other."""
    estimates = [oas.estimate(MODEL, ROWS, name) for name in ("oas", "oas-ml")]
    assert oas.read_log(MODEL, pa.table(ROWS)) == oas.read_log(MODEL, ROWS)
    pickle.loads(pickle.dumps((estimates, LOG, MODEL)))
    for kind in ("i1", "u2", "i4", "i8", "f4", "f8"):
        rows = {
            "action": np.repeat(LOG.actions.astype(kind), 2)[::2],
            "observation": LOG.observations.astype(kind)[::-1],
        }
        assert oas.estimate(MODEL, rows, "oas").rows == len(LOG)
        assert len(oas.read_log(MODEL, {**rows, "state": LOG.states, "run": LOG.runs})) == len(LOG)
    for bad in ({"action": [9], "observation": [0]}, {"action": ["x"], "observation": [[]]}):
        try:
            oas.read_log(MODEL, bad)
        except oas.Error as error:
            print(error)
    evidence = oas.Evidence(MODEL, "oas-overlap").add(LOG)
    (evidence + pickle.loads(pickle.dumps(evidence.fresh(2).add(LOG)))).estimate()
    agent = oas.Agent("oas-ucrl-ml", MODEL, seed=1)
    for _ in range(50):
        agent.act()
        agent.observe(0)
    pickle.loads(pickle.dumps(agent)).act()
    oas.filter(MODEL, LOG)
    policy = oas.plan(MODEL, gap=0.1, steps=1000).policy(seed=1)
    policy.act()
    policy.observe(None)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):  # a new journal, and one that is read
            with oas.LiveAgent(MODEL, folder, first_episode=20, synchronous=True) as live:
                step = live.act("a", 0).step if not live.status().units else live.status("a").step
                for _ in range(40):
                    step = live.step("a", step, 0).step
                live.estimate()
                live.snapshot()
    batch = oas._oas.BatchEnvironment(MODEL, 7, track_beliefs=True)
    batch.act(np.zeros(7, np.int64))
    print(batch.beliefs.sum(axis=1))


if __name__ == "__main__":
    main()
