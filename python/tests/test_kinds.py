"""Kinds of cells and settings that people have: durations, dates, dictionaries, bytes; readings of
which only some components were read; labelled rows without actions."""

import datetime
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from test_logs import real_valued

import oas

MODEL = oas.problem("machine-maintenance")
ROWS = {"action": [0, 1, 2, 0], "observation": [0, 1, 2, 3]}


def partly_read():
    """Runs with names whose readings of two components are there, half there, or not at all."""
    model = real_valued(2)
    log = oas.simulate(model, "uniform", steps=300, runs=2, seed=4)
    readings = np.array(log.readings)
    readings[::7, 0] = np.nan
    readings[::5, 1] = np.nan
    names = np.array(["P7", "P9"])[log.runs]
    return model, {"action": np.zeros(600, int), "observation": readings, "run": names}


VERBS = {
    "estimate": lambda model, rows: oas.estimate(model, rows, "oas-soft"),
    "filter": oas.filter,
    "score": oas.score,
    "forecast": lambda model, rows: oas.forecast(model, rows, actions="0", reach="1", steps=3),
    "diagnose": lambda model, rows: oas.diagnose(model, rows, replicates=199),
    "discretise": lambda model, rows: oas.discretise(model, rows, cells=4)[1],
    "evidence": lambda model, rows: oas.Evidence(model, "oas-soft").add(rows).estimate(),
}


@pytest.mark.filterwarnings("ignore::oas.OasWarning")
@pytest.mark.parametrize("verb", sorted(VERBS))
def test_a_log_is_taken_as_the_rows_that_it_was_made_of(verb):
    model, rows = partly_read()
    log = oas.read_log(model, rows)
    assert np.isnan(log.readings).any(axis=1).sum() > np.isnan(log.readings).all(axis=1).sum() > 0
    expected = VERBS[verb](model, rows)
    assert VERBS[verb](model, log) == expected
    if verb == "filter":
        assert expected.run_names == ["P7", "P9"]


def test_logs_with_what_is_not_known_are_equal(tmp_path):
    model, rows = partly_read()
    log = oas.read_log(model, rows)
    assert log == oas.read_log(model, rows) == pickle.loads(pickle.dumps(log))
    log.save(tmp_path / "log.csv")
    assert oas.read_log(model, tmp_path / "log.csv") == log
    changed = np.nan_to_num(rows["observation"], nan=1.0)
    assert log != oas.read_log(model, {**rows, "observation": changed})
    paid = {**ROWS, "reward": [1.0, np.nan, 0.0, np.nan]}
    assert oas.read_log(MODEL, paid) == oas.read_log(MODEL, paid)
    assert oas.read_log(MODEL, paid) != oas.read_log(MODEL, {**paid, "reward": [np.nan, 1, 0, 1]})


def hours(count=6):
    """Rows an hour apart, one missing; the same times as numbers, dates and durations."""
    elapsed = np.delete(np.arange(count), 2).astype("m8[h]")
    return elapsed, {"action": ["run"] * (count - 1), "observation": ["clean"] * (count - 1)}


STEPS = ["1h", pd.Timedelta("1h"), datetime.timedelta(hours=1), np.timedelta64(60, "m")]


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_steps_are_durations(step):
    elapsed, rows = hours()
    dates = np.datetime64("2026-03-01T00") + elapsed
    for source in (pd.DataFrame({**rows, "time": dates}), {**rows, "time": dates}):
        log = oas.read_log(MODEL, source, step=step, gaps="repeat")
        np.testing.assert_array_equal(log.observations, [0, 0, -1, 0, 0, 0])


@pytest.mark.parametrize(
    "start",
    [
        "2026-03-01T03:00",
        pd.Timestamp("2026-03-01 03:00"),
        datetime.datetime(2026, 3, 1, 3),
        np.datetime64("2026-03-01T03"),
        np.datetime64("2026-03-01T03:00:00.001"),
    ],
    ids=str,
)
def test_windows_begin_at_dates(start):
    elapsed, rows = hours()
    table = {**rows, "time": np.datetime64("2026-03-01T00") + elapsed}
    log = oas.read_log(MODEL, table, step="1h", gaps="repeat", from_=start)
    assert len(log) == (2 if "001" in str(start)[-4:] else 3)


def test_zones_are_zones():
    elapsed, rows = hours()
    utc = pd.DatetimeIndex(np.datetime64("2026-03-01T00") + elapsed, tz="UTC")
    local = pd.DataFrame({**rows, "time": utc.tz_convert("Asia/Kathmandu")})
    start = pd.Timestamp("2026-03-01 03:00", tz="UTC").tz_convert("America/New_York")
    for source in (local, pl.from_pandas(local), pa.Table.from_pandas(local)):
        assert len(oas.read_log(MODEL, source, step="1h", gaps="repeat", from_=start)) == 3
        with pytest.raises(oas.InvalidArgument, match="2026-03-01T01:00:00Z and 2026-03-01T03"):
            oas.read_log(MODEL, source, step="1h")
    plain = {**rows, "time": np.datetime64("2026-03-01T00") + elapsed}
    with pytest.raises(oas.InvalidArgument, match="has a zone, but the times of the log"):
        oas.read_log(MODEL, plain, step="1h", gaps="repeat", from_=start)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_are_times(unit):
    elapsed, rows = hours()
    table = {**rows, "time": elapsed.astype(f"m8[{unit}]")}
    for source in (table, pd.DataFrame(table), pa.table(table)):
        log = oas.read_log(MODEL, source, step="1h", gaps="repeat")
        np.testing.assert_array_equal(log.observations, [0, 0, -1, 0, 0, 0])
        np.testing.assert_array_equal(log.times, np.arange(6) * 3600.0)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(ROWS["action"]).dictionary_encode(),
        pa.array([0.0, 1.0, 2.0, 0.0], pa.float32()).dictionary_encode(),
        pa.array(np.array(ROWS["action"], np.float16)),
        pa.array(["run", "inspect", "repair", "run"], pa.large_string()).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_kinds_of_arrow(column):
    log = oas.read_log(MODEL, pa.table({**ROWS, "action": column}))
    np.testing.assert_array_equal(log.actions, ROWS["action"])


def test_halves_of_arrow_are_those_of_numpy():
    values = np.arange(2**16, dtype=np.uint16).view(np.float16)
    values = values[np.isfinite(values)]
    nothing = np.zeros(len(values), int)
    log = oas.read_log(
        MODEL, pa.table({"action": nothing, "observation": nothing, "reward": values})
    )
    assert log.rewards.tobytes() == values.astype(float).tobytes()


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([[0]] * 4), "'action' holds lists"),
        (pa.array([0] * 4, pa.decimal128(5)), "'action' holds decimal numbers"),
        (pa.RunEndEncodedArray.from_arrays(pa.array([4], pa.int32()), pa.array([0])), "by runs"),
        (pa.array([datetime.time(1)] * 4), "times of the day"),
        (pa.array([datetime.datetime(2026, 1, 1)] * 4).dictionary_encode(), "dictionary of dates"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value.type),
)
def test_what_arrow_cannot_say_here_is_said_in_words(column, words):
    with pytest.raises(oas.InvalidArgument, match=words):
        oas.read_log(MODEL, pa.table({**ROWS, "action": column}))


@pytest.mark.parametrize("bad", [[1], (1, 2), {}, np.zeros(2)], ids=repr)
def test_objects_that_are_no_cells_are_named_wherever_they_are(bad):
    cells = np.array(["run"] * 3000, dtype=object)
    cells[2500] = bad
    table = {"action": cells, "observation": np.zeros(3000, int)}
    with pytest.raises(oas.InvalidArgument, match="'action', row 2500: .* neither number nor text"):
        oas.read_log(MODEL, table)


def test_bytes_are_texts():
    named = {"action": np.array([b"run", "inspect", 2, b"run"], dtype=object)}
    log = oas.read_log(MODEL, {**ROWS, **named})
    np.testing.assert_array_equal(log.actions, ROWS["action"])


def test_logs_of_two_kinds_are_refused(tmp_path):
    pd.DataFrame(ROWS).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame(ROWS).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(oas.InvalidArgument, match=r"a\.csv is no Parquet file"):
        oas.read_log(MODEL, [tmp_path / "a.csv", tmp_path / "b.parquet"])


def labelled():
    rng = np.random.default_rng(1)
    readings = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(6, 1, (60, 2))])
    states = ["low"] * 60 + ["high"] * 60
    return pd.DataFrame({"state": states, "a": readings[:, 0], "b": readings[:, 1]})


def test_sensors_need_neither_actions_nor_a_model_with_sensors(tmp_path):
    known = tmp_path / "known.json"
    known.write_text(
        '{"format": "oas-model/1", "timing": "before", "states": ["low", "high"], '
        '"actions": ["run", "service"], "observations": {"dimension": 2}}'
    )
    table = labelled()
    table.to_csv(tmp_path / "rows.csv", index=False)
    table.to_parquet(tmp_path / "rows.parquet")
    columns = {"observation": ["a", "b"]}
    arrays = {"state": table["state"].to_numpy(), "observation": table[["a", "b"]].to_numpy()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oas.OasWarning)
        expected = oas.calibrate(tmp_path / "rows.csv", model=known, columns=columns)
        assert expected.actions == ["run", "service"]
        for source in (table, pl.from_pandas(table), pa.Table.from_pandas(table),
                       pl.from_pandas(table).lazy(), tmp_path / "rows.parquet"):  # fmt: skip
            assert oas.calibrate(source, model=known, columns=columns) == expected
        assert oas.calibrate(arrays, model=known) == expected
    known.write_text("{")
    with pytest.raises(oas.ParseError, match=r"known\.json:1"):
        oas.calibrate(table, model=known, columns=columns)
