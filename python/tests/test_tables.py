"""Rows of tables go to estimators from where they are: whatever type, distance and order of bytes
columns have, and wherever blocks and runs end, estimates are those of a log of the same rows."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oas

pytestmark = pytest.mark.filterwarnings("ignore")

MODEL = oas.random_pomdp(3, 2, 5, seed=3, alpha=0.2)
BLOCK = 1 << 15  # rows that are read at a time
LOG = oas.simulate(MODEL, steps=BLOCK + 777, runs=3, seed=5)
ROWS = {"action": LOG.actions, "observation": LOG.observations, "propensity": LOG.propensities,
        "run": LOG.runs}  # fmt: skip

WHOLE = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">i8", "<u4", ">u8")
REAL = ("f2", "f4", "f8", ">f4", ">f8", "longdouble")


def structured(values):
    table = np.zeros(len(values), [("pad", "u1"), ("cells", values.dtype), ("more", "i4")])
    table["cells"] = values
    return table["cells"]  # neither aligned nor at a distance of whole cells


LAYOUTS = {
    "as it is": lambda values: values,
    "strided": lambda values: np.repeat(values, 3)[1::3],
    "backwards": lambda values: values[::-1].copy()[::-1],
    "column": lambda values: np.stack([values, values], axis=1)[:, 1],
    "structured": structured,
    "read-only": lambda values: np.frombuffer(values.tobytes(), values.dtype),
    "masked": lambda values: np.ma.MaskedArray(values, np.zeros(len(values), bool)),
    "object": lambda values: values.astype(object),
}


def fields(estimate):
    return (estimate.transition.tobytes(), repr(estimate.standard_error), estimate.rows,
            estimate.runs, estimate.missing)  # fmt: skip


@given(st.data())
def test_any_type_and_layout_gives_the_same_bytes(data):
    first = data.draw(st.integers(0, 3 * BLOCK))
    count = data.draw(st.integers(2, 2 * BLOCK))
    cut = {name: column[first : first + count] for name, column in ROWS.items()}
    table = {
        name: LAYOUTS[data.draw(st.sampled_from(sorted(LAYOUTS)))](
            column.astype(data.draw(st.sampled_from(WHOLE + (REAL if name != "run" else ()))))
        )
        for name, column in cut.items()
        if name != "propensity"
    }
    if data.draw(st.booleans()):
        table["propensity"] = LAYOUTS[data.draw(st.sampled_from(sorted(LAYOUTS)))](
            np.ascontiguousarray(cut["propensity"])
        )
    plain = {name: cut[name].tolist() for name in table}
    log = oas.read_log(MODEL, plain)
    assert fields(oas.estimate(MODEL, table, "oas-overlap")) == fields(
        oas.estimate(MODEL, log, "oas-overlap")
    )
    assert oas.read_log(MODEL, table) == log


@pytest.mark.parametrize("estimator", sorted(oas.estimators()))
def test_every_estimator_reads_tables_as_it_reads_logs(estimator):
    rows = {name: column[: BLOCK + 900] for name, column in ROWS.items()}
    settings = {
        "gibbs": dict(draws=80, patience=1),
        "particle": dict(particles=50),
        "oas-weighted": dict(half_life=500.0, age="run"),
    }.get(estimator, {})
    log = oas.read_log(MODEL, rows)
    table = oas.estimate(MODEL, rows, estimator, **settings)
    assert fields_or_draws(table) == fields_or_draws(
        oas.estimate(MODEL, log, estimator, **settings)
    )


def fields_or_draws(estimate):
    return estimate.transition.tobytes(), estimate.rows, estimate.runs, estimate.warnings


@pytest.mark.parametrize("missing", [-1, np.nan, None, "masked", "NA"])
def test_missing_readings_in_any_block(missing):
    gaps = np.zeros(len(LOG), bool)
    gaps[[0, 7, BLOCK - 1, BLOCK, 2 * BLOCK + 3, len(LOG) - 1]] = True
    if missing == "masked":
        seen = np.ma.MaskedArray(LOG.observations, gaps)
    elif missing == "NA":
        pandas = pytest.importorskip("pandas")
        seen = pandas.Series(LOG.observations, dtype="Int8").mask(gaps)
    elif missing is None:
        seen = LOG.observations.astype(object)
        seen[gaps] = None
    else:
        seen = LOG.observations.astype(float if missing != -1 else "i2")
        seen[gaps] = missing
    rows = {"action": LOG.actions, "observation": seen, "run": LOG.runs}
    expected = LOG.observations.copy()
    expected[gaps] = -1
    estimate = oas.estimate(MODEL, rows, "oas-overlap")
    assert estimate.missing == gaps.sum()
    assert fields(estimate) == fields(
        oas.estimate(MODEL, oas.read_log(MODEL, {**rows, "observation": expected}), "oas-overlap")
    )


@pytest.mark.parametrize("row", [0, BLOCK - 1, BLOCK, 2 * BLOCK + 5])
@pytest.mark.parametrize(
    ("column", "kind", "bad", "shown"),
    [
        ("action", "i8", -1, "-1 is not an action"),
        ("action", "i8", 2, "there is no action 2; there are 0 to 1"),
        ("action", "i8", 2**32, "there is no action 4294967296"),
        ("action", "i8", -(2**63), "there is no action -9223372036854775808"),
        ("action", "u4", 2**32 - 1, "there is no action 4294967295"),
        ("action", "u1", 255, "there is no action 255"),
        ("action", "f8", -1.0, "-1 is not an action"),
        ("action", "f8", 2.0, "there is no action 2"),
        ("action", "f8", -0.5, "there is no action -0.5"),
        ("observation", "f8", -0.5, "there is no observation -0.5"),
        ("observation", "f8", 1e300, "there is no observation 1e"),
        ("observation", "f4", -np.inf, "there is no observation -inf"),
        ("action", "f4", 0.5, "there is no action 0.5"),
        ("action", "f8", np.nan, "a missing value is not an action"),
        ("observation", "i1", -2, "there is no observation -2"),
        ("observation", "i8", 2**32 - 1, "there is no observation 4294967295"),
        ("observation", "u8", 2**63 - 1, "there is no observation 9223372036854775807"),
        ("observation", "u2", 65535, "there is no observation 65535"),
        ("propensity", "f8", 0.0, "0 is not in"),
        ("propensity", "f4", 1.5, "1.5 is not in"),
        ("propensity", "i1", 2, "2 is not in"),
        ("reward", "f8", np.inf, "inf is not a finite number"),
        ("state", "i4", 3, "there is no state 3"),
    ],
)
def test_a_wrong_cell_in_any_block_is_named(row, column, kind, bad, shown):
    rows = {"action": LOG.actions, "observation": LOG.observations, column: np.ones(len(LOG), kind)}
    rows[column][row] = bad
    message = rf"^column '{column}', row {row}: {shown}"
    with pytest.raises(oas.InvalidArgument, match=message):
        oas.estimate(MODEL, rows, "oas-overlap")
    with pytest.raises(oas.InvalidArgument, match=message):
        oas.read_log(MODEL, rows)


def test_runs_end_where_they_end():
    starts = [0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, len(LOG) - 1]
    runs = np.zeros(len(LOG), np.int16)
    runs[starts[1:]] = 1
    runs = np.cumsum(runs)
    rows = {**ROWS, "run": runs}
    estimate = oas.estimate(MODEL, rows, "oas-overlap")
    assert estimate.runs == len(starts)
    assert fields(estimate) == fields(oas.estimate(MODEL, oas.read_log(MODEL, rows), "oas-overlap"))


KEYS = {
    "up": np.array([3, 5, 9, 2**40]),
    "down": np.array([9, 5, -1, -(2**63)]),
    "neither": np.array([7, 2, 9, 5], np.uint8),
    "real": np.array([0.5, 1.0, -2.0, 1e300]),
    "text": np.array(["b", "a", "c", "aa"]),
    "dates": np.array(["2026-03-01", "2026-01-01", "2027-01-01", "1969-12-31"], "M8[D]"),
}


@pytest.mark.parametrize("kind", KEYS)
def test_runs_are_told_apart_by_whatever_they_are_called(kind):
    lengths = np.array([1, 40, 2, 57])
    rows = {name: LOG.actions[:100] * 0 for name in ("action", "observation")}
    run = np.repeat(KEYS[kind], lengths)
    log = oas.read_log(MODEL, {**rows, "run": run})
    assert log.run_starts.tolist() == [0, 1, 41, 43]
    assert len(set(log.run_names)) == 4
    assert oas.estimate(MODEL, {**rows, "run": run}, "oas-overlap").runs == 4
    back = np.repeat(KEYS[kind][[0, 1, 0, 3]], lengths)
    sorted_log = oas.read_log(MODEL, {**rows, "run": back})
    assert sorted_log.run_starts.tolist() == [0, 3, 43]
    assert oas.estimate(MODEL, {**rows, "run": back}, "oas-overlap").runs == 3


@pytest.mark.parametrize(
    "run", [["a", None], ["a", ""], [1.5, np.nan], np.ma.array([1, 2], mask=[0, 1])]
)
def test_a_run_without_a_name_is_named(run):
    with pytest.raises(
        oas.InvalidArgument, match=r"column 'run', row 1: a missing value is not a name of a run"
    ):
        oas.estimate(MODEL, {"action": [0, 0], "observation": [0, 0], "run": run}, "oas-overlap")


def test_interleaved_runs_are_sorted():
    mixed = np.arange(len(LOG)) % 2
    rows = {"action": LOG.actions, "observation": LOG.observations, "run": mixed}
    order = np.argsort(mixed, kind="stable")
    parted = {name: np.asarray(column)[order] for name, column in rows.items()}
    estimate = oas.estimate(MODEL, rows, "oas-overlap", interleaved=True)
    assert fields(estimate) == fields(oas.estimate(MODEL, parted, "oas-overlap"))


def test_tables_that_can_be_read_once_are_read_once():
    pyarrow = pytest.importorskip("pyarrow")
    rows = {"action": LOG.actions, "observation": LOG.observations, "run": LOG.runs % 2}
    table = pyarrow.table({name: np.asarray(column) for name, column in rows.items()})
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(1000))
    estimate = oas.estimate(MODEL, reader, "oas-overlap", interleaved=True)
    assert fields(estimate) == fields(oas.estimate(MODEL, rows, "oas-overlap", interleaved=True))


def test_writing_to_an_array_meanwhile_is_no_fault_of_memory():
    """Numbers are then anything; cells are checked as they are read."""
    actions = np.array(LOG.actions)
    rows = {"action": actions, "observation": LOG.observations}
    ended = threading.Event()

    def spoil():
        while not ended.is_set():
            actions[::7] = 10**6
            actions[::7] = 0

    spoiler = threading.Thread(target=spoil)
    spoiler.start()
    try:
        for _ in range(50):
            try:
                oas.estimate(MODEL, rows, "oas-overlap")
            except oas.InvalidArgument as error:
                assert "column 'action'" in str(error)
    finally:
        ended.set()
        spoiler.join()
