"""Verbs of the command `oas` as functions: the same options, checks and numbers.

Models and logs in memory go through files in a temporary folder, and messages speak of them by the
names of the arguments.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _oas
from ._checks import path
from ._errors import Error, InvalidArgument, ParseError, in_python
from ._options import Files, temporary_files, words_of
from ._result import Result
from ._rows import as_files, is_path, read_log, taken


def _run(verb: list[str], words: list[str]) -> str:
    threads = [f"--threads={_oas.get_threads()}"] if _oas.get_threads() else []
    try:
        return _oas._command([*verb, *words, *threads], " ".join(verb))
    except InvalidArgument as error:
        unknown = re.match(r"The following arguments? .* not expected: ([a-z_]+)", str(error))
        if unknown is None:
            raise
        call = ".".join(verb)
        raise InvalidArgument(
            f"{call} has no setting '{unknown[1]}'; see help(oas.{call})"
        ) from None
    except RuntimeError as error:  # the input was fine; the work failed
        raise error if isinstance(error, Error) else Error(in_python(str(error))) from None


def _run_json(verb: str, words: list[str], files: Files) -> Result:
    text = _run([verb], [*words, "--json"])
    for place, name in files.names.items():
        text = text.replace(json.dumps(place)[1:-1], name)
    return Result.of(json.loads(text))


def check(model: Any, **settings: Any) -> Result:
    """Describe a model: whether it can be learned, and from how much data.

    Settings:

    - `lenient` (True or False): accept common dialects of .pomdp and .pomdpx files, each with
      a warning
    - `target_error` (number, 0.05): target error: Frobenius norm over all actions (above 0)
    - `trial` (whole number): also simulate this many logs of the predicted length and
      estimate from them (2 to 1000000)
    - `iota` (number): smallest action probability (default: 1/(10 A)) (at least 0)
    - `policy` (text, belief): policy that writes the logs
    - `steps` (whole number, 100000): number of steps of each simulated log (128 to
      1000000000)
    - `runs` (whole number, 10): number of simulated logs (1 to 1000000)
    - `seed` (whole number, 1): same seed, same logs
    """
    with temporary_files() as files:
        return _run_json("check", [files.given(model, "model"), *words_of(settings, files)], files)


def compare(model: Any, estimate: Any, **settings: Any) -> Result:
    """Measure how far an estimate is from the true model.

    Settings:

    - `lenient` (True or False): accept common dialects of .pomdp and .pomdpx files, each with
      a warning
    - `worst` (whole number, 5): how many of the worst rows to show (0 to 1000000)
    """
    with temporary_files() as files:
        words = [files.given(model, "model"), files.given(estimate, "estimate")]
        return _run_json("compare", [*words, *words_of(settings, files)], files)


def evaluate(model: Any, plan: Any = None, **settings: Any) -> Result:
    """Compute the gain of a plan or policy in a model.

    `plan` is what `oas.plan` gives, or a path; `policy=…` is one by name.

    Settings:

    - `lenient` (True or False): accept common dialects of .pomdp and .pomdpx files, each with
      a warning
    - `policy` (text): instead of PLAN, one or more policies for a table: uniform,
      constant:run, schedule:run,run,repair, threshold:failed>0.3=repair,else=run,
      log:machines.csv (imitates the policy that made the log), or a file
    - `confidence` (number, 0.95): level of the limits over the draws of an estimate, with
      `policy` (above 0 and below 1)
    - `discount` (number): with `policy`: the discounted sum from the start instead of the
      average (above 0 and below 1)
    - `filter` (text): model used to compute beliefs (default: the plan's own, else MODEL)
    - `start_node` (whole number): first node of a .pg (default: the best one) (at least 0)
    - `grid` (whole number, 0): resolution of the belief grid of the exact evaluation; 0: that
      of the plan (0 to 1000000)
    - `steps` (whole number, 200000): simulated steps; models of more than 1,000 states get
      fewer by default (64 to 1000000000000)
    - `level` (number, 0.999): confidence level (above 0 and below 1)
    - `seed` (whole number, 1): same seed, same bytes
    - `vectors` (text): the .alpha file of a .pg: start in the node whose vector is best for
      the starting belief
    - those about rows: see `oas.read_log`
    """
    with temporary_files() as files:
        words = [files.given(model, "model")]
        if plan is not None:
            words.append(files.given(plan, "plan"))
        return _run_json("evaluate", [*words, *words_of(settings, files)], files)


def score(models: Any, log: Any, **settings: Any) -> Result:
    """Measure how well models predict logs that they were not made from.

    With standard errors; of several models (a list) the differences to the first, too.

    Settings:

    - `lenient` (True or False): accept common dialects of .pomdp and .pomdpx files, each with
      a warning
    - those about rows: see `oas.read_log`
    """
    several = list(models) if isinstance(models, (list, tuple)) else [models]
    if not several:
        raise InvalidArgument("models: the list is empty")
    with temporary_files() as files, as_files(several[0], log, settings) as paths:
        words = [files.given(model, f"model {i}") for i, model in enumerate(several)]
        return _run_json(
            "score", [*words, *words_of({"log": paths}), *words_of(settings, files)], files
        )


def diagnose(model: Any, log: Any, **settings: Any) -> Result:
    """Test whether one model fits all rows of a log.

    Tests for wrong timing, sensors that do not fit or drift, units that differ and dynamics that
    change.

    Settings:

    - `lenient` (True or False): accept common dialects of .pomdp and .pomdpx files, each with
      a warning
    - `level` (number, 0.05): probability of any false alarm, over all tests together (Holm)
      (0.001 to 0.5)
    - `replicates` (whole number, 999): simulated logs behind a p-value, which is at least 1 /
      (replicates + 1) (199 to 99999)
    - `seed` (whole number, 1): seed of the simulations
    - `figure` (text): drawing to write (.svg)
    - those about rows: see `oas.read_log`
    """
    with temporary_files() as files, as_files(model, log, settings) as paths:
        words = [files.given(model, "model"), *paths]
        return _run_json("diagnose", [*words, *words_of(settings, files)], files)


def forecast(model: Any, log: Any, **settings: Any) -> Result:
    """Predict for each unit of a log: its state now, its state ahead, its time to failure.

    Returns `units`, a record for each, and `table`, the probability of every state (`state_…`) and
    of having reached those of `reach` (`reached`) by unit and step; `to_dataframe("table")`.

    Settings:

    - `lenient` (True or False): accept common dialects of .pomdp and .pomdpx files, each with
      a warning
    - `actions` (text): future actions, repeated in this order: run, or run,run,service
    - `policy` (text): instead of `actions`, a policy that will choose them from what it sees:
      a plan, or any policy of oas evaluate `policy`
    - `reach` (text): states whose first visit is predicted: failed
    - `steps` (whole number, 50): how many steps to look ahead (0 to 100000)
    - `confidence` (number, 0.95): level of the limits over draws (above 0 and below 1)
    - those about rows: see `oas.read_log`
    """
    with temporary_files() as files, as_files(_model_of(model), log, settings) as paths:
        table = files.path("forecasts.csv")
        words = [files.given(model, "model"), *paths, "-o", table]
        result = _run_json("forecast", [*words, *words_of(settings, files)], files)
        result["table"] = _columns_of(table, [unit["unit"] for unit in result["units"]])
        return result


def _columns_of(path: str, units: list[str]) -> dict[str, Any]:
    """The columns of a file of forecasts: equally many lines for each of the units."""
    with open(path, encoding="utf-8", newline="") as file:
        names = next(csv.reader(file))
        numbers = np.loadtxt(
            file, delimiter=",", quotechar='"', comments=None, ndmin=2,
            usecols=range(1, len(names)),
        )  # fmt: skip
    columns: dict[str, Any] = dict(zip(names[1:], numbers.T.copy()))
    columns["step"] = columns["step"].astype(np.int64)
    lines = len(numbers) // max(len(units), 1)
    return {"unit": np.repeat(np.array(units, dtype=object), lines), **columns}


def _model_of(model: Any) -> Any:
    return model.model if isinstance(model, _oas.Estimate) else model


#: What calibration needs of rows, besides their states.
_READ = ("observation",)


def calibrate(log: Any, model: Any = None, **settings: Any) -> Any:
    """Estimate the sensors from logs with known states.

    Returns the model with them. States are in the column `state`; `model` says what is known
    besides. Numbers with fractions in a column of a table are readings.

    Settings:

    - `timing` (before, after): which state a row observes, if neither model nor log says so:
      before or after
    - `confidence` (number, 0.95): confidence level of the intervals (above 0 and below 1)
    - `prior` (number, 0): imaginary observations added to every entry (at least 0)
    - `same_for_all_actions` (True or False): estimate one sensor for all actions, from the
      rows of all of them
    - `differ_by_action` (True or False): confirms that sensors differ by action, and that no
      action was chosen from its row's reading
    - `seed` (whole number, 1): same seed, same intervals of alpha
    - `family` (text, auto): treat readings as numbers (default: if the model or the columns
      say so), and fit densities of this family: auto, normal, log-normal, gamma, poisson,
      mixture, kernel, one for each component (normal+gamma), or joint-normal
    - `by_action` (True or False): a density for each action; default: one for all of them
    - `draws` (whole number, 40): number of random densities to keep, for the error bars of
      estimates (20 to 1000)
    - `unread` (text): for readings that are numbers: states without labelled readings because
      nothing is ever read there, dead+sold; they get the density of all readings
    - `figure` (text): draw the labelled readings and the densities: .svg or .png
    - `lenient` (True or False): accept common dialects of .pomdp and .pomdpx files, each with
      a warning
    - those about rows: see `oas.read_log`
    """
    known = _sensors_of(model)
    source = taken(known, log, settings, _READ)
    fractions = isinstance(source, _oas._Columns) and source.has_fractions("observation")
    if model is None and fractions and not settings.get("family"):
        settings["family"] = "auto"  # columns of a table have types: these are readings
    with temporary_files() as files, as_files(known, source, settings, _READ) as paths:
        output = files.path("calibrated.json")
        given = [] if model is None else [f"--model={files.given(model, 'model')}"]
        _run(["calibrate"], [*paths, *given, "-o", output, *words_of(settings, files)])
        return _oas._load(output)


def _sensors_of(model: Any) -> Any:
    """A model that says what is read; None where the file of one leaves that to be found."""
    if model is None or not is_path(model):
        return model
    try:
        return _oas._any_model(model)
    except ParseError:  # what else is wrong with it, the command says
        return None


def discretise(model: Any, log: Any = None, **settings: Any) -> Any:
    """Turn the real-valued observations of a model and of logs into finite ones.

    Returns a finite model, made by cells; with a log (model, log), its readings as cells.

    Settings:

    - `lenient` (True or False): accept common dialects of .pomdp and .pomdpx files, each with
      a warning
    - `cells` (whole number, 0): number of cells (of vectors: per component); 0: twice the
      number of states in all (2 to 1024)
    - `search` (text, refined): how to place split points: for the largest alpha (refined;
      random is the paper's search), or for evenly filled cells (even), which are best for
      plans (random, refined, even)
    - `trials` (whole number, 1000): number of random sets of split points to try (at least 1)
    - `seed` (whole number, 1): same seed, same cells
    - `use` (text): take the split points from this file, which an earlier call wrote
    - those about rows: see `oas.read_log`
    """
    with temporary_files() as files, _maybe_files(model, log, settings) as paths:
        output, cells = files.path("finite.json"), files.path("cells.csv")
        logs = [*words_of({"log": paths}), f"--log-out={cells}"] if paths else []
        words = [files.given(model, "model"), "-o", output, *logs, *words_of(settings, files)]
        _run(["discretise"], words)
        finite: _oas.Pomdp = _oas._load(output)
        return (finite, read_log(finite, cells)) if paths else finite


@contextlib.contextmanager
def _maybe_files(model: Any, log: Any, settings: dict[str, Any]) -> Iterator[list[str]]:
    if log is None:
        yield []
        return
    with as_files(model, log, settings) as paths:
        yield paths


def convert(model: Any, **settings: Any) -> Any:
    """The same model otherwise; where that is not exact, an error says why. Other file formats:
    `model.save("model.pomdp")`.

    Settings:

    - `lenient` (True or False): accept common dialects of .pomdp and .pomdpx files, each with
      a warning
    - `timing` (before, after): timing to convert to (default: after for .pomdp and .pomdpx,
      else unchanged)
    - `expand` (True or False): allow more states where the timing cannot be changed on the
      same states
    - `discount` (number): discount to write (0 to 1)
    """
    with temporary_files() as files:
        output = files.path("converted.json")
        _run(["convert"], [files.given(model, "model"), output, *words_of(settings, files)])
        return _oas._load(output)


def _listed(kind: str) -> dict[str, str]:
    known = json.loads(_run(["list"], ["--json"]))
    return {entry["name"]: entry["summary"] for entry in known[kind]}


def planners() -> dict[str, str]:
    """All planners, in the order in which they are tried; the last one suits every model.

    Name and summary, for `plan(…, planner=…)`.
    """
    return _listed("planners")


def policies() -> dict[str, str]:
    """All logging policies.

    Name and summary, for `simulate` and `evaluate`.
    """
    return _listed("policies")


def policy_graph(model: Any, output: Any, **settings: Any) -> Result:
    """Writes a policy graph (.pg) with a gain that it has in every model of a set, those near the
    draws of an estimate or within `radius`. Settings are those of `plan`; `evaluate` takes the path
    as a plan. Returns what is promised."""
    with temporary_files() as files:
        words = [files.given(model, "model"), "--robust", "-o", path("output", output)]
        return _run_json("plan", [*words, *words_of(settings, files)], files)


def plan(model: Any, **settings: Any) -> _oas.Plan:
    """Find the best policy for the long-run average reward, with bounds.

    Settings:

    - `lenient` (True or False): accept common dialects of .pomdp and .pomdpx files, each with
      a warning
    - `iota` (number, 0): smallest probability of every action, at most 1/A (at least 0)
    - `gap` (number): refine until the bounds are at most this far apart (above 0)
    - `discount` (number): maximise the discounted sum from the start instead of the average
      (above 0 and below 1)
    - `horizon` (whole number): maximise the sum over this many steps from the start instead
      of the average (1 to 10000)
    - `work` (number): limit on the work of refining a plan, in 10^9 products (about a second
      each) (above 0)
    - `limit` (text): STATE=SHARE: at most this share of the steps in a bad state
    - `planner` (text, auto): how to plan (auto, grid, point)
    - `grid` (whole number, 0): resolution of the belief grid; 0: automatic (0 to 1000000)
    - `tolerance` (number, 1e-06): span at which sweeps stop (above 0)
    - `steps` (whole number, 200000): steps of the simulation behind the lower bound (64 to
      1000000000000)
    - `seed` (whole number, 1): same seed, same bytes
    - `radius` (number): plan for the most optimistic model within this total-variation radius
      per row; with `robust` for the worst one (0 to 1)
    - `robust` (True or False): find a policy graph with a gain that it earns in every model
      of a set: those near the draws of an estimate, or within `radius`
    - `cautious` (number): choose the plan with the best mean gain over its worst draws: this
      share of the draws of an estimate (above 0 and at most 1)
    - `confidence` (number, 0.95): level of the limits over the draws, and share of the draws
      in the set of `robust` (above 0 and below 1)
    - `figure` (text): draw the policy (.svg or .png): with 2 or 3 states the action at every
      belief, else the beliefs visited most
    """
    with temporary_files() as files:
        output = files.path("plan.json")
        _run(["plan"], [files.given(model, "model"), "-o", output, *words_of(settings, files)])
        made: _oas.Plan = _oas._load(output)
        return made


def compare_policies(model: Any, **settings: Any) -> Result:
    """What simpler policies earn, the best one, and one that saw the state: bounds on their gains.
    Settings are those of `plan`."""
    with temporary_files() as files:
        words = [files.given(model, "model"), "--all", *words_of(settings, files)]
        return _run_json("plan", words, files)


def report(model: Any, log: Any, output: Any, **settings: Any) -> str:
    """Write one page about a log: dynamics, units, forecasts, plan, fit.

    Of a model or an estimate, its log and its plan (`plan=…`, a Plan or a path), in the file
    `output`. Returns the path.

    Settings:

    - `lenient` (True or False): accept common dialects of .pomdp and .pomdpx files, each with
      a warning
    - `plan` (text): plan to show, as oas plan -o writes it
    - `actions` (text): future actions, repeated in this order: adds forecasts
    - `reach` (text): states whose first visit is predicted: failed
    - `title` (text): heading of the page (default: the log's name)
    - `steps` (whole number, 50): how many steps to look ahead (1 to 100000)
    - `units` (whole number, 6): number of units to draw along time, those at risk first (at
      most 1000)
    - `confidence` (number, 0.95): level of the limits over draws (above 0 and below 1)
    - those about rows: see `oas.read_log`
    """
    with temporary_files() as files, as_files(_model_of(model), log, settings) as paths:
        words = [files.given(model, "model"), *paths, "-o", path("output", output)]
        _run(["report"], [*words, *words_of(settings, files)])
    return str(os.fspath(output))
