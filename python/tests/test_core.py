import subprocess
import sys

import numpy as np
import pytest

import oas


def test_version_is_that_of_the_command(command):
    assert command("--version").stdout.split()[0] == oas.__version__


def test_errors_have_the_parents_people_catch():
    assert issubclass(oas.InvalidArgument, ValueError)
    assert issubclass(oas.ParseError, oas.InvalidArgument)
    assert issubclass(oas.IoError, OSError)
    for kind in (oas.InvalidArgument, oas.ParseError, oas.IoError):
        assert issubclass(kind, oas.Error)


def test_an_unknown_problem_is_named_beside_those_there_are():
    with pytest.raises(oas.InvalidArgument, match=r"no-such-thing.*machine-maintenance"):
        oas.problem("no-such-thing")


OPTIONAL = (
    "pandas", "polars", "pyarrow", "gymnasium", "matplotlib", "tqdm", "dask", "distributed",
)  # fmt: skip


def run_python(code):
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_nothing_leaks_and_importing_needs_nothing_but_numpy():
    hidden = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL}))"  # as if not installed
    assert run_python(f"{hidden}; import oas; print(oas.problem('pest-control').num_states)") == "2"


def test_importing_loads_only_what_registers_environments():
    loaded = "{m.split('.')[0] for m in sys.modules}"
    assert run_python(f"import sys, oas; print(sorted({loaded} & set({OPTIONAL})))") in (
        "['gymnasium']",
        "[]",
    )


PROBLEM = oas.problem("pest-control")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: oas.simulate(PROBLEM, steps=1e3), r"steps is 1000\.0, a float"),
        (lambda: oas.simulate(PROBLEM, steps=0), "steps is 0; it must be at least 1"),
        (lambda: oas.simulate(PROBLEM, steps=2**70), "steps is 1180591620717411303424; .* at most"),
        (lambda: oas.simulate(PROBLEM, steps=10**15), r"10{15} steps take .* GB of memory"),
        (lambda: oas.simulate(PROBLEM, steps=9, runs=True), "runs is True, a bool"),
        (lambda: oas.simulate(PROBLEM, steps=9, seed=-1), "seed is -1"),
        (lambda: oas.simulate(PROBLEM, steps=9, seed="a"), "seed is 'a', a str"),
        (lambda: oas.simulate(None, steps=9), "model is a NoneType"),
        (lambda: oas.check(None), "model is a NoneType"),
        (lambda: oas.estimate(None, {}), "model is a NoneType"),
        (lambda: oas.Evidence(None), "model is a NoneType"),
        (lambda: oas.Evidence(PROBLEM, first_run=-1), "first_run is -1"),
        (lambda: oas.Agent("uniform", None), "model is a NoneType"),
        (lambda: oas.Agent("uniform", PROBLEM, seed=-1), "seed is -1; it must be between"),
        (lambda: oas.Agent("uniform", PROBLEM, seed=1.0), r"seed is 1\.0, a float"),
        (lambda: oas.learn(None), "model is a NoneType"),
        (lambda: oas.learn(PROBLEM, "uniform", steps=10.0), r"steps is 10\.0"),
        (lambda: oas.learn(PROBLEM, "uniform", seed=2**64), "seed is 18446744073709551616"),
        (lambda: oas.compare_estimators(PROBLEM, "oas", rows=0), "rows is 0"),
        (lambda: oas.compare_estimators(PROBLEM, "oas", rows=[]), "rows: the list is empty"),
        (lambda: oas.random_pomdp(0), "states is 0"),
        (lambda: oas.random_pomdp(2.5), r"states is 2\.5"),
        (lambda: oas.set_threads("a"), "threads is 'a'"),
        (lambda: oas.score([], {}), "models: the list is empty"),
        (lambda: oas.plan(PROBLEM, gap=-1), "^gap: not a number above 0"),
    ],
)
def test_wrong_arguments_are_named_with_their_values(call, message):
    with pytest.raises(oas.InvalidArgument, match=message):
        call()


def test_what_counts_as_a_whole_number():
    one = oas.simulate(PROBLEM, steps=5, seed=2**64 - 1)
    assert oas.simulate(PROBLEM, steps=np.int8(5), seed=np.uint64(2**64 - 1)) == one
