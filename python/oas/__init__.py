"""Learns the hidden dynamics of partially observed systems whose sensors are known.

>>> import oas
>>> model = oas.problem("machine-maintenance")
>>> log = oas.simulate(model, steps=100_000, seed=1)
>>> estimate = oas.estimate(model, log)
>>> plan = oas.plan(estimate)
"""

from __future__ import annotations

import contextlib
import importlib.util

if importlib.util.find_spec("._oas", __name__) is None:
    raise ImportError(
        f"oas in {__path__[0]} is source only: its extension oas._oas is not built for this "
        "Python; build it with scripts/quickstart (then build/venv/bin/python) or `pip install .` "
        "in the source tree, and import it from outside of its folder python"
    )

from . import distributed, study
from ._beliefs import Beliefs, filter, smooth
from ._bench import bench
from ._command import (
    calibrate,
    check,
    compare,
    compare_policies,
    convert,
    diagnose,
    discretise,
    evaluate,
    forecast,
    plan,
    planners,
    policies,
    policy_graph,
    report,
    score,
)
from ._comparison import Comparison, compare_estimators
from ._errors import AgentError, Error, InvalidArgument, IoError, OasWarning, ParseError, Refused
from ._estimation import Evidence, estimate
from ._files import load
from ._functions import (
    agent_settings,
    agents,
    estimator_settings,
    estimators,
    get_threads,
    model_from_json,
    problem,
    problems,
    random_pomdp,
    set_threads,
    simulate,
)
from ._learn import Runs, learn
from ._live import LiveAgent, LiveAnswer, LiveChoice
from ._oas import (
    Agent,
    ContinuousPomdp,
    Estimate,
    Log,
    Plan,
    PlanPolicy,
    Pomdp,
    __version__,
)
from ._result import Result
from ._rows import read_log

__all__ = [
    "Agent",
    "AgentError",
    "Beliefs",
    "Comparison",
    "ContinuousPomdp",
    "Error",
    "Estimate",
    "Evidence",
    "InvalidArgument",
    "IoError",
    "LiveAgent",
    "LiveAnswer",
    "LiveChoice",
    "Log",
    "OasWarning",
    "ParseError",
    "Plan",
    "PlanPolicy",
    "Pomdp",
    "Refused",
    "Result",
    "Runs",
    "__version__",
    "agent_settings",
    "agents",
    "bench",
    "calibrate",
    "check",
    "compare",
    "compare_estimators",
    "compare_policies",
    "convert",
    "diagnose",
    "discretise",
    "distributed",
    "estimate",
    "estimator_settings",
    "estimators",
    "evaluate",
    "filter",
    "forecast",
    "get_threads",
    "learn",
    "load",
    "model_from_json",
    "plan",
    "planners",
    "policies",
    "policy_graph",
    "problem",
    "problems",
    "random_pomdp",
    "read_log",
    "report",
    "score",
    "set_threads",
    "simulate",
    "smooth",
    "study",
]

with contextlib.suppress(ModuleNotFoundError):  # registers its ids, where Gymnasium is installed
    from . import gym as gym
