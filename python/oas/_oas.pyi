from typing import Any

__version__: str

"""The library oas as a Python extension; the package oas is made of it."""

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


def set_threads(threads: int) -> None:
    """Threads that a call may use; 0: all cores. Results never depend on it."""

def get_threads() -> int:
    """What set_threads() said; 0: all cores."""

class Pomdp:
    """
    A partially observed Markov decision process with known sensors and dynamics that may be
    known. Tables have the shapes of model files: transition [A][S][S], observation [A][S][O]
    (or [S][O] where all actions have one sensor), reward [A][S]. Checked once, then immutable.
    """

    def __init__(self, *, observation: object, transition: object | None = None, reward: object | None = None, observation_reward: object | None = None, transition_reward: object | None = None, timing: str = 'before', rows: str = 'action-first', states: object | None = None, actions: object | None = None, observations: object | None = None, start: object | None = None, first_observation: object | None = None, discount: float | None = None) -> None: ...

    @property
    def num_states(self) -> int: ...

    @property
    def num_actions(self) -> int: ...

    @property
    def timing(self) -> str:
        """
        `before`: the state in which the action is taken emits; `after`: the next one.
        """

    @property
    def rows(self) -> str:
        """How rows of logs are written: `action-first` or `reading-first`."""

    @property
    def states(self) -> list[str]:
        """Names, or indices in digits where there are none."""

    @property
    def actions(self) -> list[str]: ...

    @property
    def start(self) -> Any:
        """[S]: the law of the first state."""

    @property
    def transition(self) -> Any:
        """[A][S][S], or None where it is unknown."""

    def with_transition(self, transition: object | None) -> Pomdp:
        """
        The same sensors and rewards with other dynamics, or with none: what a learner may see.
        """

    def with_rows(self, rows: str) -> Pomdp:
        """
        The same model whose rows are written in this way. Raises as the constructor does.
        """

    def save(self, path: object | None) -> None:
        """
        Writes a model file: .json, or .pomdp and .pomdpx where they can say it.
        """

    def to_json(self) -> str:
        """The text of the model file."""

    def __eq__(self, other: object | None) -> bool: ...

    def __copy__(self) -> Pomdp: ...

    def __deepcopy__(self, memo: object) -> Pomdp: ...

    def __getstate__(self) -> str: ...

    def __setstate__(self, state: str) -> None: ...

    __hash__: None  # type: ignore[assignment]

    @property
    def num_observations(self) -> int: ...

    @property
    def observations(self) -> list[str]: ...

    @property
    def observation(self) -> Any:
        """[A][S][O]: P(observation | state, action)."""

    @property
    def first_observation(self) -> Any:
        """
        [S][O]: the sensor of a run's first reading, where rows are reading-first.
        """

    @property
    def reward(self) -> Any:
        """[A][S], or None where the reward is given otherwise."""

    @property
    def observation_reward(self) -> Any:
        """[O], or None."""

    @property
    def transition_reward(self) -> Any:
        """[A][S][S][O], or None."""

    @property
    def _has_reward(self) -> bool: ...

    @property
    def discount(self) -> float | None:
        """Carried along, not used."""

    def expected_reward(self) -> Any:
        """[A][S]: expected rewards under the model's own transition."""

    def without_transition(self) -> Pomdp:
        """What a learner may see."""

    def __repr__(self) -> str: ...

    def _repr_html_(self) -> Any: ...

class ContinuousPomdp:
    """
    A model whose observations are real numbers or vectors; made by `oas.load`, `oas.calibrate`
    or `oas.model_from_json`.
    """

    @property
    def num_states(self) -> int: ...

    @property
    def num_actions(self) -> int: ...

    @property
    def timing(self) -> str:
        """
        `before`: the state in which the action is taken emits; `after`: the next one.
        """

    @property
    def rows(self) -> str:
        """How rows of logs are written: `action-first` or `reading-first`."""

    @property
    def states(self) -> list[str]:
        """Names, or indices in digits where there are none."""

    @property
    def actions(self) -> list[str]: ...

    @property
    def start(self) -> Any:
        """[S]: the law of the first state."""

    @property
    def transition(self) -> Any:
        """[A][S][S], or None where it is unknown."""

    def with_transition(self, transition: object | None) -> ContinuousPomdp:
        """
        The same sensors and rewards with other dynamics, or with none: what a learner may see.
        """

    def with_rows(self, rows: str) -> ContinuousPomdp:
        """
        The same model whose rows are written in this way. Raises as the constructor does.
        """

    def save(self, path: object | None) -> None:
        """
        Writes a model file: .json, or .pomdp and .pomdpx where they can say it.
        """

    def to_json(self) -> str:
        """The text of the model file."""

    def __eq__(self, other: object | None) -> bool: ...

    def __copy__(self) -> ContinuousPomdp: ...

    def __deepcopy__(self, memo: object) -> ContinuousPomdp: ...

    def __getstate__(self) -> str: ...

    def __setstate__(self, state: str) -> None: ...

    __hash__: None  # type: ignore[assignment]

    @property
    def dimension(self) -> int | None:
        """Components of a reading; None where the log brings likelihoods."""

    def __repr__(self) -> str: ...

    def _repr_html_(self) -> Any: ...

def model_from_json(text: str) -> Pomdp | ContinuousPomdp:
    """A model from the text of a .json model file."""

def _any_model(model: object | None) -> Pomdp | ContinuousPomdp: ...

def problem(name: str) -> Pomdp:
    """The ready-made problem of that name; `oas.problems()` lists them."""

def problems() -> dict[str, Any]:
    """The ready-made problems: name and summary."""

def random_pomdp(states: int = 3, actions: int = 3, observations: int = 3, *, seed: int = 1, epsilon: float | None = None, peak: float = 10.0, alpha: float = 0.001, spread_peaks: bool = False, timing: str = 'before') -> Pomdp:
    """
    A random instance as in the paper, the same as `oas problem random` with this seed.
    """

class _Columns:
    def __init__(self) -> None: ...

    def add_whole(self, part: str, name: str, values: object, missing: object | None) -> None: ...

    def add_real(self, arg0: str, arg1: str, arg2: object, /) -> None: ...

    def add_dates(self, arg0: str, arg1: str, arg2: object, arg3: bool, /) -> None: ...

    def add_objects(self, arg0: str, arg1: str, arg2: list[Any], arg3: object, /) -> None: ...

    def add_arrow(self, arg0: Sequence[str], arg1: Sequence[str], arg2: object, /) -> None: ...

    def has_fractions(self, arg: str, /) -> bool: ...

    def parts(self) -> list[str]: ...

    def names(self) -> list[str]: ...

    def __len__(self) -> int: ...

class _ColumnWriter:
    def __init__(self, path: str, model: object | None) -> None: ...

    def write(self, arg: _Columns, /) -> None: ...

    def commit(self) -> None: ...

def _arrow_names(arg: object, /) -> list[str]: ...

class Log:
    """
    Consecutive steps of one run, column by column. Row t holds a_t, the observation that came
    with it (whose state emits it is the model's Timing), and optionally the propensity π(a_t |
    history), the reward and the hidden state s_t in which a_t was taken. Optional columns are
    empty or as long as the others.

    Of one run after the other, in memory; labels are indices, and a column that is empty is
    None. `oas.read_log` makes one of tables and files, `oas.simulate` of a model.
    """

    @property
    def actions(self) -> Any:
        """[row], int32."""

    @property
    def observations(self) -> Any:
        """
        [row], int32, -1 where one is missing; None where observations are real-valued.
        """

    @property
    def states(self) -> Any:
        """[row], the hidden states, -1 where unknown, or None."""

    @property
    def propensities(self) -> Any:
        """[row], the probability with which the action was chosen, or None."""

    @property
    def rewards(self) -> Any:
        """[row], or None."""

    @property
    def readings(self) -> Any:
        """
        [row] or [row][component], NaN where one is missing, where observations are
        real-valued, or None.
        """

    @property
    def likelihoods(self) -> Any:
        """[row][state], up to a factor per row, or None."""

    @property
    def times(self) -> Any:
        """
        [row], or None.
        Of a log with a column `time`: each row's, dates in seconds since 1970.
        """

    @property
    def runs(self) -> Any:
        """[row], int64: the number of the row's run, from 0."""

    @property
    def run_starts(self) -> Any:
        """[run]: its first row."""

    @property
    def run_names(self) -> list[str]:
        """[run]: its name, where the rows gave one, else its number."""

    @property
    def num_runs(self) -> int: ...

    @property
    def model(self) -> Pomdp | ContinuousPomdp:
        """The model whose labels these are."""

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

    def save(self, path: object | None) -> None:
        """Writes a log file: CSV; .gz and .zst are compressed."""

    def _save_for(self, arg0: str, arg1: object, /) -> None: ...

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame with the names of actions, observations and states."""

    def _repr_html_(self) -> Any: ...

    def __eq__(self, other: object | None) -> bool: ...

    def __copy__(self) -> Log: ...

    def __deepcopy__(self, memo: object) -> Log: ...

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, state: bytes) -> None: ...

    __hash__: None  # type: ignore[assignment]

def _log_from_columns(arg0: object, arg1: _Columns, /) -> Log | None: ...

def _log_from_files(arg0: object, arg1: Sequence[str], arg2: dict[str, Any], arg3: bool, /) -> Log: ...

def simulate(model: object | None, policy: object | None = 'belief', *, steps: int, runs: int = 1, seed: int = 1, iota: float | None = None, filter: object | None = None, reward: bool = True, state: bool = True) -> Log:
    """
    Lets a policy act in a model: `runs` runs of `steps` steps. `policy` is a name (belief,
    uniform, round-robin, …), a Plan or the path of one; `iota` the smallest probability of
    every action (default 1/(10 A)); `filter` a model whose dynamics the policy believes in.
    The same rows as `oas simulate` with this seed.
    """

class BatchEnvironment:
    """
    Many copies of one model, stepped together in C++: one call is one step of each. Copy k
    draws from the random numbers of (seed, first_replication + k), as run k of `oas.simulate`
    does. `oas.gym` is made of it.
    """

    def __init__(self, model: object | None, copies: int = 1, *, seed: object = 1, first_replication: int = 0, track_beliefs: bool = False) -> None: ...

    def __len__(self) -> int: ...

    def reset(self, seed: object, first_replication: int = 0) -> None:
        """All copies at their start, on other random numbers."""

    def step(self, actions: Annotated[NDArray[numpy.int64], dict[str, Any](shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        One step of every copy, int64 [copy]. The action -1 starts a copy anew.
        """

    def act(self, actions: Annotated[NDArray[numpy.int64], dict[str, Any](shape=(None,), order='C', device='cpu', writable=False)], begins: Annotated[NDArray[numpy.bool_], dict[str, Any](shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        The same with actions only; copies where `begins`, bool [copy], is set start anew.
        """

    def restart(self, begins: Annotated[NDArray[numpy.bool_], dict[str, Any](shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Starts the copies where `begins`, bool [copy], is set anew; the others stay.
        """

    @property
    def observations(self) -> Any:
        """
        int64 [copy]: what each showed last; the number of observations where a run
        has just begun and nothing was read yet.
        """

    @property
    def rewards(self) -> Any:
        """float64 [copy]: what each paid last."""

    @property
    def states(self) -> Any:
        """
        int64 [copy]: the hidden states in which the next actions will be taken.
        """

    @property
    def beliefs(self) -> Any:
        """
        float64 [copy][S]: P(state | what was read), where `track_beliefs` is set.
        """

class Estimate:
    """
    Transition probabilities learned from rows, with error bars and warnings.
    Can be used wherever a model can. Tables are [A][S][S], [A][S] or [A]; what was not computed
    is None.
    """

    @property
    def transition(self) -> Any:
        """[A][S][S]"""

    @property
    def standard_error(self) -> Any:
        """NaN where unknown; empty: too few data for error bars."""

    @property
    def lower(self) -> Any:
        """Lower confidence limits, inside [0,1]."""

    @property
    def upper(self) -> Any:
        """Upper confidence limits, inside [0,1]."""

    @property
    def draws(self) -> Any:
        """
        [draw][A][S][S]: transition models drawn from the posterior, so that what is computed from T
        can have error bars, too. Empty: the estimator has none.
        """

    @property
    def visits(self) -> Any:
        """[A][S]: estimated number of pairs that started in (a,s)."""

    @property
    def clipped(self) -> Any:
        """[A][S]: negative mass set to 0, as a share of |mass|."""

    @property
    def reward(self) -> Any:
        """
        [A][S]: mean rewards, where the model had none and the log brought some, with standard
        errors (NaN: the log does not tell). Empty: not estimated.
        """

    @property
    def reward_standard_error(self) -> Any:
        """[A][S]."""

    @property
    def alpha(self) -> Any:
        """[A]: σ_S(Z_a), how well the sensor tells the states apart."""

    @property
    def pairs(self) -> Any:
        """[A]: pairs of rows that showed a transition of a."""

    @property
    def determined(self) -> Any:
        """[A][S], bool: the log determines the row."""

    @property
    def flagged(self) -> list[Any]:
        """(action, state, reason) of rows that it does not."""

    @property
    def row_region(self) -> Any:
        """Limits that hold for all entries of any one row."""

    @property
    def joint_region(self) -> Any:
        """Limits that hold for all determined rows at once."""

    @property
    def model(self) -> Pomdp | ContinuousPomdp:
        """The model with the estimated dynamics."""

    @property
    def estimator(self) -> str:
        """Name of the estimator."""

    @property
    def confidence(self) -> float:
        """Level of each single interval."""

    @property
    def error_bars(self) -> str:
        """Asymptotic, block- or parametric-bootstrap."""

    @property
    def warnings(self) -> list[str]:
        """Warnings about the estimate."""

    @property
    def rows(self) -> int:
        """Rows of the log that were read."""

    @property
    def runs(self) -> int:
        """Runs of the log."""

    @property
    def missing(self) -> int:
        """Rows without observation."""

    @property
    def log_likelihood(self) -> float | None:
        """Log-likelihood of all rows; likelihood estimators only."""

    @property
    def fit_p_value(self) -> float | None:
        """P-value of the test whether the log fits the sensors."""

    @property
    def effective_rows(self) -> float | None:
        """Rows of equal weight that the weights by age amount to."""

    @property
    def labelled_rows(self) -> float | None:
        """Labelled rows behind uncertain sensors."""

    @property
    def structure(self) -> str:
        """What was known about T beforehand; empty: nothing."""

    @property
    def passes(self) -> int:
        """Passes over the rows, those for error bars included."""

    def save(self, path: object | None) -> None:
        """Writes a model file with the estimate in it, as `oas estimate` does."""

    def to_json(self) -> str:
        """The text of that file."""

    def plot(self, axes: object | None = None, ax: object | None = None) -> Any:
        """
        Draws the matrices with their errors, one in each of `axes` (or `ax`, where there is one action); returns axes.
        """

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame with a line for every entry."""

    def __repr__(self) -> str: ...

    def _repr_html_(self) -> Any: ...

    def __eq__(self, other: object | None) -> bool: ...

    def __copy__(self) -> Estimate: ...

    def __deepcopy__(self, memo: object) -> Estimate: ...

    def __getstate__(self) -> str: ...

    def __setstate__(self, state: str) -> None: ...

    __hash__: None  # type: ignore[assignment]

def _estimate_files(arg0: object, arg1: Sequence[str], arg2: str, arg3: dict[str, Any], /) -> Estimate: ...

def _estimate_log(arg0: object, arg1: Log, arg2: str, arg3: dict[str, Any], /) -> Estimate: ...

def _estimate_table(arg0: object, arg1: _Columns, arg2: str, arg3: dict[str, Any], /) -> Estimate | None: ...

def _parse_estimate(arg0: str, arg1: str, /) -> Estimate: ...

def estimators() -> dict[str, Any]:
    """The estimators: name and summary."""

def estimator_settings(estimator: str) -> dict[str, Any]:
    """What an estimator can be told: name and meaning."""

class _Evidence:
    """
    What an estimator keeps of rows: a value that can be fed, merged, saved and asked.
    """

    def __init__(self, arg0: object, arg1: str, arg2: int, arg3: dict[str, Any], /) -> None: ...

    def _add(self, arg: Log, /) -> None: ...

    def _add_table(self, arg: _Columns, /) -> bool: ...

    def _add_to_run(self, arg0: int, arg1: Log, /) -> None: ...

    def _start_run(self) -> None: ...

    def _end_run(self, arg: int, /) -> None: ...

    def _merge(self, arg: _Evidence, /) -> None: ...

    def _fresh(self, arg: int, /) -> _Evidence: ...

    def _estimate(self, arg: dict[str, Any], /) -> Estimate: ...

    def _copy(self) -> _Evidence: ...

    @property
    def _model(self) -> Pomdp | ContinuousPomdp: ...

    @property
    def _estimator(self) -> str: ...

    @property
    def _runs(self) -> int: ...

    def _state(self) -> Any: ...

    @staticmethod
    def _from_state(arg: tuple[Any, ...], /) -> _Evidence: ...

def _beliefs(model: object | None, paths: Sequence[str], settings: dict[str, Any]) -> dict[str, Any]: ...

class Plan:
    """
    A policy with all that is needed to act: the model, the floor ι and a bias v over beliefs.
    The policy: filter the belief exactly; the action that maximises g(b,a) + Σ_o P(o|b,a)
    v(b'_o) gets probability 1-(A-1)ι, the others ι. A plan for a horizon is another: a
    HorizonPolicy, without belief and floor. A value: copies, compares, serialises ("oas-
    plan/1", docs/reference/planning.md).
    """

    @property
    def model(self) -> Pomdp:
        """The model that the plan was made for, with a transition model."""

    @property
    def gain_lower(self) -> float:
        """The policy earns at least this a step, see Certificate."""

    @property
    def gain_upper(self) -> float:
        """No policy earns more a step: proved, see RviResult, point_based.hpp."""

    @property
    def iota(self) -> float:
        """Smallest probability of every action."""

    @property
    def iterations(self) -> int:
        """Iterations of the solver."""

    @property
    def message(self) -> str:
        """How the solver ended."""

    @property
    def warnings(self) -> list[str]:
        """Warnings about the model that the plan was made for."""

    @property
    def grid_resolution(self) -> int:
        """Resolution of the grid under the bias; 0: there is no grid."""

    @property
    def alpha(self) -> Any:
        """[K][S]: vectors of a point-based plan, or None."""

    @property
    def bias(self) -> Any:
        """Values at the points of the belief grid, or None."""

    def greedy(self, belief: object | None) -> int:
        """The best action at a belief."""

    def policy(self, seed: object | None = 1) -> PlanPolicy:
        """The plan as an agent with `act` and `observe`."""

    def save(self, path: object | None) -> None:
        """Writes a plan file (.json)."""

    def plot(self, ax: object | None = None) -> Any:
        """Draws which action is best at which belief; returns the axes."""

    def to_dataframe(self) -> Any:
        """
        A pandas.DataFrame: what the plan does in beliefs that it met in a simulation.
        """

    def _repr_html_(self) -> Any: ...

    def to_json(self) -> str: ...

    def __repr__(self) -> str: ...

    def __eq__(self, other: object | None) -> bool: ...

    def __copy__(self) -> Plan: ...

    def __deepcopy__(self, memo: object) -> Plan: ...

    def __getstate__(self) -> str: ...

    def __setstate__(self, state: str) -> None: ...

    __hash__: None  # type: ignore[assignment]

class PlanPolicy:
    """A plan that acts; made by `Plan.policy`."""

    def act(self) -> tuple[Any, ...]:
        """(action, propensity): what to do now, and how likely it was."""

    def observe(self, observation: object | None) -> None:
        """
        What came of it: a name, an index, or None (or NaN) where nothing was seen.
        """

    def restart(self, first: object | None = None) -> None:
        """
        Back to the start of a run; `first` is its first reading where rows are reading-first.
        """

    def __repr__(self) -> str: ...

    def __copy__(self) -> PlanPolicy: ...

    def __deepcopy__(self, memo: object) -> PlanPolicy: ...

    @property
    def belief(self) -> Any:
        """[S]"""

def _load(path: object | None) -> Any: ...

def agents() -> dict[str, Any]:
    """The agents of the library: name and summary."""

def _setting_words(arg0: str, arg1: dict[str, Any], /) -> list[str]: ...

def agent_settings(name: str) -> dict[str, Any]:
    """The settings of an agent: name, and its default and meaning as text."""

class Agent:
    """
    An agent of a kind chosen at run time: act() chooses, observe() is told what came of it.

    Where rows are reading-first, `observe()` comes first. Learners get the model without
    its transition. Same seed, same actions; pickled in the middle of a run it goes on to the
    bit (`episodes` begin anew).
    """

    def __init__(self, name: str, model: object, seed: int = 1, replication: int = 0, **settings: object) -> None: ...

    def act(self) -> tuple[Any, ...]:
        """Action and propensity."""

    def observe(self, observation: object | None) -> None:
        """What was read: a name, an index, or None where nothing was."""

    def probabilities(self) -> Any:
        """
        [A].
        With which probabilities the next action will be drawn. A question: it changes nothing.
        Where a plan is due it costs as much as that plan.
        """

    @property
    def belief(self) -> Any:
        """
        [S], or None.
        The belief under the dynamics that the agent plays by. There is none before it has any, and
        for agents that keep no belief.
        """

    @property
    def episodes(self) -> list[Any]:
        """
        A dict for each.
        What happened at the start of one episode of a learning agent, so that a run can be
        understood afterwards.
        """

    @property
    def model(self) -> Pomdp: ...

    @property
    def name(self) -> str: ...

    @property
    def seed(self) -> int: ...

    @property
    def steps(self) -> int:
        """Steps so far."""

    def __repr__(self) -> str: ...

    def __copy__(self) -> Agent: ...

    def __deepcopy__(self, memo: object) -> Agent: ...

    def __getstate__(self) -> tuple[Any, ...]: ...

    def __setstate__(self, state: tuple[Any, ...]) -> None: ...

class _LiveAgent:
    def __init__(self, arg0: object, arg1: str, arg2: str, arg3: object, arg4: dict[str, Any], /) -> None: ...

    def _call(self, arg0: str, arg1: str, /) -> tuple[Any, ...]: ...

    def _answer(self, arg: str, /) -> str: ...

    def _metrics(self) -> str: ...

    def _close(self) -> None: ...

    @property
    def _notes(self) -> list[str]: ...

def _learn(model: object, players: list[Any], steps: int, runs: int, seed: int, iota: float | None, checkpoints: int, oracle_gap: float | None, no_cache: bool) -> dict[str, Any]:
    """Runs of players, each (label, name, settings, make); see oas.learn."""

def _as_pomdp(model: object | None) -> Pomdp:
    """
    The model that a model, an estimate, a path or the name of a problem stands for.
    """

def _transition_error(truth: Pomdp, found: object, whose: str) -> float: ...

def _action_values(plan: Plan, beliefs: object) -> Any:
    """[belief][A]: the one-step look-ahead of a plan, Q(b, a)."""

_RUN_HEADER: str = ...

def _command(arg0: Sequence[str], arg1: str, /) -> str: ...

def _study_unit(arg0: str, arg1: str, arg2: bool, arg3: int, arg4: dict[str, Any], /) -> bytes: ...

class _StudyFarm:
    def __init__(self, arg0: str, arg1: bool, arg2: str, /) -> None: ...

    @property
    def _name(self) -> str: ...

    @property
    def _text(self) -> str: ...

    @property
    def _total(self) -> int: ...

    @property
    def _guests(self) -> list[str]: ...

    def _run(self, arg0: dict[str, Any], arg1: int, arg2: int, /) -> tuple[Any, ...]: ...

    def _close(self) -> None: ...

    def _pending(self) -> list[int]: ...

    def _record(self, arg0: bytes, arg1: str, arg2: int, /) -> str: ...

    def _write(self) -> list[str]: ...

class _LikelihoodPart:
    def __init__(self, arg: object, /) -> None: ...

    def _take(self, arg0: Log, arg1: bool, /) -> None: ...

    def _append(self, arg: _LikelihoodPart, /) -> None: ...

    def _pass(self, arg0: bytes, arg1: int, /) -> bytes: ...

    def _facts(self) -> tuple[Any, ...]: ...

    def __getstate__(self) -> tuple[Any, ...]: ...

    def __setstate__(self, arg: tuple[Any, ...], /) -> None: ...

def _sum_passes(arg: Sequence[bytes], /) -> bytes: ...

def _estimate_by_passes(model: object, estimator: str, start: Estimate | None, facts: tuple[Any, ...], keywords: dict[str, Any], pass_: Callable[..., Any]) -> Estimate: ...
