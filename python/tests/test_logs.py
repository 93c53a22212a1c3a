import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oas

MODEL = oas.problem("machine-maintenance")
LOG = oas.simulate(MODEL, steps=200, runs=3, seed=5)


def frame(log=LOG):
    table = log.to_dataframe()
    table.loc[7, "observation"] = None
    return table


def expected():
    observations = LOG.observations.copy()
    observations[7] = -1
    return observations


def as_structured(table):
    kinds = [("run", "U8"), ("action", "U16"), ("observation", "i4"), ("propensity", ">f8")]
    out = np.empty(len(table), dtype=kinds)
    out["run"] = table["run"]
    out["action"] = table["action"]
    out["observation"] = expected()
    out["propensity"] = table["propensity"]
    return out


def with_codes(table):
    return {
        "run": np.repeat(np.arange(3, dtype=np.uint64) + 2**63, 200),
        "action": np.asfortranarray(LOG.actions.astype(">i2")),
        "observation": np.ma.masked_equal(expected(), -1),
        "propensity": LOG.propensities.astype(np.float32).astype(object),
    }


SOURCES = {
    "pandas": lambda t: t,
    "categories": lambda t: t.astype({"action": "category", "observation": "category"}),
    "nullable": lambda t: t.assign(
        action=LOG.actions, observation=pd.array(expected(), dtype="Int8").astype("Int8")
    ),
    "polars": pl.from_pandas,
    "polars categories": lambda t: pl.from_pandas(t).with_columns(
        pl.col("action").cast(pl.Categorical), pl.col("observation").cast(pl.Categorical)
    ),
    "arrow": lambda t: pa.Table.from_pandas(t, preserve_index=False),
    "arrow in batches": lambda t: pa.Table.from_batches(
        pa.Table.from_pandas(t, preserve_index=False).to_batches(max_chunksize=17)
    ),
    "large strings": lambda t: pa.Table.from_pandas(t, preserve_index=False).set_column(
        1, "action", pa.array(t["action"], type=pa.large_string())
    ),
    "slices": lambda t: pa.concat_tables(
        [pa.Table.from_pandas(t, preserve_index=False).slice(a, 100) for a in range(0, 600, 100)]
    ),
    "dict of lists": lambda t: {n: t[n].tolist() for n in ("run", "action", "observation")},
    "dict of series": lambda t: {n: pl.Series(t[n]) for n in ("run", "action", "observation")},
    "structured": as_structured,
    "codes": with_codes,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_all_tables_are_the_same_rows(kind):
    log = oas.read_log(MODEL, SOURCES[kind](frame()))
    np.testing.assert_array_equal(log.actions, LOG.actions)
    np.testing.assert_array_equal(log.observations, expected())
    np.testing.assert_array_equal(log.runs, LOG.runs)
    assert len(log.run_names) == 3


def test_files_are_the_same_rows(tmp_path):
    table = frame()
    table.to_csv(tmp_path / "log.csv", index=False)
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), tmp_path / "log.parquet")
    for path in (tmp_path / "log.csv", str(tmp_path / "log.parquet")):
        log = oas.read_log(MODEL, path)
        np.testing.assert_array_equal(log.observations, expected())
        np.testing.assert_array_equal(log.propensities, LOG.propensities)
    LOG.save(tmp_path / "again.csv.zst")
    again = oas.read_log(MODEL, tmp_path / "again.csv.zst")
    assert again.run_names == LOG.run_names
    np.testing.assert_array_equal(again.rewards, LOG.rewards)
    np.testing.assert_array_equal(again.states, LOG.states)


def test_a_folder_of_files_without_units(tmp_path):
    """Each file is a run, and a unit of that name."""
    (tmp_path / "pumps").mkdir()
    table = frame().drop(columns="run")
    for number, name in enumerate("cab"):
        rows = table.iloc[200 * number : 200 * (number + 1)]
        rows.to_csv(tmp_path / "pumps" / f"{name}.csv", index=False)
    names = [str(tmp_path / "pumps" / f"{name}.csv") for name in "abc"]
    beliefs = oas.filter(MODEL, tmp_path / "pumps")
    assert beliefs.run_names == names
    assert beliefs == oas.filter(MODEL, names)
    assert oas.estimate(MODEL, tmp_path / "pumps", "oas") == oas.estimate(MODEL, names, "oas")


def test_a_folder_of_likelihoods(tmp_path):
    table = frame().drop(columns=["run", "observation"])
    for state in range(MODEL.num_states):
        table[f"likelihood_{state + 1}"] = 1.0 + state
    (tmp_path / "parts").mkdir()
    table.to_csv(tmp_path / "parts" / "a.csv", index=False)
    one = oas.filter(MODEL, tmp_path / "parts" / "a.csv")
    assert (one.belief == oas.filter(MODEL, tmp_path / "parts").belief).all()


def test_interleaved_runs_are_sorted_apart():
    table = frame().assign(step=np.tile(np.arange(200), 3)).sort_values(["step", "run"])
    columns = {part: part for part in ("run", "action", "observation")}
    log = oas.read_log(MODEL, table, columns=columns)
    np.testing.assert_array_equal(log.actions, LOG.actions)
    assert log.run_names == ["0", "1", "2"]


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_times_and_gaps_mean_what_they_mean_in_files(zone):
    start = pd.date_range("2026-03-01", periods=5, freq="h", tz=zone)
    table = pd.DataFrame({"time": start, "action": ["run"] * 5, "observation": ["clean"] * 5}).drop(
        index=2
    )
    for source in (table, pl.from_pandas(table), pa.Table.from_pandas(table)):
        with pytest.raises(oas.InvalidArgument, match="row"):
            oas.read_log(MODEL, source, columns="time=time")
        log = oas.read_log(MODEL, source, gaps="repeat", step="1h", columns="time=time")
        np.testing.assert_array_equal(log.observations, [0, 0, -1, 0, 0])


def test_columns_by_other_names():
    table = frame().rename(columns={"action": "cmd", "observation": "seen", "run": "Gerät"})
    with pytest.raises(oas.InvalidArgument, match="'Gerät' is not a part"):
        oas.read_log(MODEL, table)
    for columns in (
        {"action": "cmd", "observation": "seen", "run": "Gerät"},
        "action=cmd,observation=seen,run=Gerät",
    ):
        log = oas.read_log(MODEL, table, columns=columns)
        np.testing.assert_array_equal(log.observations, expected())
    with pytest.raises(oas.InvalidArgument, match="no column 'command'"):
        oas.read_log(MODEL, table, columns={"action": "command"})
    with pytest.raises(oas.InvalidArgument, match="no part 'verb'"):
        oas.read_log(MODEL, table, columns={"verb": "cmd"})


ROW = {"action": [0, 1, 2], "observation": [0, 1, 2]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"action": [0, 1, 7]}, "'action', row 2: there is no action 7; there are run, inspect"),
        ({"action": [0, -2, 1]}, "'action', row 1: there is no action -2"),
        ({"action": [0, None, 1]}, "'action', row 1"),
        ({"action": np.ma.masked_equal([0, 9, 1], 9)}, "'action', row 1: .* is not an action"),
        ({"action": [0, np.nan, 1]}, "'action', row 1: a missing value is not an action"),
        ({"observation": [0, 0.5, 1]}, "'observation', row 1: there is no observation 0.5"),
        ({"observation": [0, np.inf, 1]}, "'observation', row 1"),
        ({"observation": ["clean", "klar", "clean"]}, "'observation', row 1: .*'klar'"),
        ({"observation": [0, 1]}, "'observation' has 2 rows"),
        ({"observation": np.zeros((3, 2))}, "'observation' has 2 dimensions"),
        ({"observation": [[1], [2], [3]]}, "'observation'"),
        ({"observation": np.zeros(3, complex)}, "'observation' has the type complex"),
        ({"observation": np.array([b"x", [1], {}], dtype=object)}, "neither number nor text"),
        ({"propensity": [0.5, 0, 0.5]}, r"'propensity', row 1: 0 is not in \(0, 1\]"),
        ({"propensity": [0.5, 1.5, 0.5]}, "'propensity', row 1"),
        ({"propensity": ["a", "b", "c"]}, "'propensity', row 0: 'a' is not a number"),
        ({"reward": [0, np.inf, 0]}, "'reward', row 1"),
        ({"run": ["a", None, "b"]}, "'run', row 1"),
        ({"state": ["new", "old", "new"]}, "'state', row 1: .*'old'"),
        ({"date": [1, 2, 3]}, "'date' is not a part"),
    ],
)
def test_wrong_cells_are_named(change, message):
    with pytest.raises(oas.InvalidArgument, match=message):
        oas.read_log(MODEL, {**ROW, **change})


@pytest.mark.parametrize("source", [3, None, np.zeros(3), [1, 2], "no-such.csv", {"action": [0]}])
def test_what_is_no_log_is_refused(source):
    with pytest.raises(oas.InvalidArgument):
        oas.read_log(MODEL, source)


def test_pickles_are_equal():
    assert pickle.loads(pickle.dumps(LOG)) == LOG
    assert "600 rows, 3 runs" in repr(LOG)


def test_logs_without_rows_are_logs():
    none = oas.read_log(MODEL, {"action": [], "observation": []})
    assert len(none) == none.num_runs == 0
    assert none.actions.shape == none.observations.shape == (0,)
    assert len(none.to_dataframe()) == 0 and "0 rows" in none._repr_html_()
    assert pickle.loads(pickle.dumps(none)) == none


def test_arrays_outlive_the_log():
    actions = oas.simulate(MODEL, steps=1000, seed=3).actions
    other = [oas.simulate(MODEL, steps=1000, seed=4) for _ in range(20)]
    assert len(other) == 20
    np.testing.assert_array_equal(actions, oas.simulate(MODEL, steps=1000, seed=3).actions)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_dtype_and_layout_of_labels(data):
    rows = data.draw(st.integers(1, 50))
    codes = data.draw(st.lists(st.integers(-1, 3), min_size=rows, max_size=rows))
    missing = -1 in codes
    kind = data.draw(
        st.sampled_from(
            ["i1", "i2", "i4", "i8", "f4", "f8"] + ([] if missing else ["u1", "u2", "u4", "u8"])
        )
    )
    array = np.array(codes, dtype=data.draw(st.sampled_from("<>")) + kind)
    wide = np.zeros((rows, 3), dtype=array.dtype)
    wide[:, 1] = array
    strided = wide[:, 1] if data.draw(st.booleans()) else array
    strided.setflags(write=False)
    log = oas.read_log(MODEL, {"action": np.zeros(rows, bool), "observation": strided})
    np.testing.assert_array_equal(log.observations, codes)


def test_labels_of_pandas_that_are_no_plain_names():
    table = frame()
    for level in ("run", "observation"):
        log = oas.read_log(MODEL, table.set_index(level, append=True))
        np.testing.assert_array_equal(log.runs, LOG.runs)
        np.testing.assert_array_equal(log.observations, expected())
    indexed = table.set_index("run").rename_axis("machine")
    log = oas.read_log(MODEL, indexed, columns={"run": "machine", "action": "action"})
    np.testing.assert_array_equal(log.runs, LOG.runs)
    numbered = pd.DataFrame([[0, 1], [1, 2]])
    log = oas.read_log(MODEL, numbered, columns={"action": 0, "observation": 1})
    np.testing.assert_array_equal(log.observations, [1, 2])


def test_two_columns_of_one_name_are_refused():
    names = ["action", "observation", "action"]
    for source in (
        pd.DataFrame([[0, 1, 2]], columns=names),
        pa.Table.from_arrays([pa.array([0])] * 3, names=names),
    ):
        with pytest.raises(oas.InvalidArgument, match="there are 2 columns 'action'"):
            oas.read_log(MODEL, source)
    beside = pd.DataFrame([[0, 1, 2, 3]], columns=["action", "observation", "x", "x"])
    assert len(oas.read_log(MODEL, beside, columns={"action": "action"})) == 1


@pytest.mark.filterwarnings("error")
def test_lazy_frames_and_streams():
    table = frame()
    reader = pa.Table.from_pandas(table, preserve_index=False).to_reader(max_chunksize=50)

    class Stream:  # that and nothing else is the protocol
        def __arrow_c_stream__(self, schema=None):
            return pa.Table.from_pandas(table, preserve_index=False).__arrow_c_stream__(schema)

    lazy = pl.from_pandas(table.assign(more=1)).lazy().drop("more")
    for source in (lazy, reader, Stream()):
        log = oas.read_log(MODEL, source)
        np.testing.assert_array_equal(log.observations, expected())
        np.testing.assert_array_equal(log.runs, LOG.runs)


def written(folder, tables):
    """A Parquet file for each table; their paths."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"part-{number}.parquet" for number in range(len(tables))]
    for path, table in zip(paths, tables):
        pq.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
    return paths


def one_by_one():
    return [rows.drop(columns="run") for _, rows in frame().groupby("run", sort=False)]


def test_parquet_files_without_runs_are_runs_as_csv_files_are(tmp_path):
    """Pairs never cross runs: a unit in each file, and nothing that names it."""
    paths = written(tmp_path / "units", one_by_one())
    log = oas.read_log(MODEL, paths)
    np.testing.assert_array_equal(log.runs, LOG.runs)
    np.testing.assert_array_equal(log.observations, expected())
    csv = [tmp_path / f"{path.stem}.csv" for path in paths]
    for path, table in zip(csv, one_by_one()):
        table.to_csv(path, index=False)
    assert oas.estimate(MODEL, paths, "oas") == oas.estimate(MODEL, csv, "oas")
    beliefs = oas.filter(MODEL, paths)
    np.testing.assert_array_equal(beliefs.belief, oas.filter(MODEL, csv).belief)
    folder = oas.read_log(MODEL, tmp_path / "units")
    assert folder.run_names == log.run_names == [str(path) for path in paths]
    np.testing.assert_array_equal(folder.actions, log.actions)
    one = oas.read_log(MODEL, paths[1])
    assert one.num_runs == 1 and len(one) == 200


def test_parquet_folders_with_names_of_runs(tmp_path):
    parts = [frame().iloc[:250], frame().iloc[250:]]  # the second run spans both
    paths = written(tmp_path / "parts", parts)
    for source in (tmp_path / "parts", paths):
        log = oas.read_log(MODEL, source)
        np.testing.assert_array_equal(log.runs, LOG.runs)
        np.testing.assert_array_equal(log.actions, LOG.actions)
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    pq.write_to_dataset(table, tmp_path / "hive", partition_cols=["run"])
    log = oas.read_log(MODEL, tmp_path / "hive")
    assert log.run_names == ["0", "1", "2"]
    np.testing.assert_array_equal(log.observations, expected())


def test_parquet_files_that_are_none_or_differ_are_named(tmp_path):
    (tmp_path / "bad.parquet").write_text("no")
    paths = written(tmp_path / "two", [frame(), frame().drop(columns="propensity")])
    LOG.save(tmp_path / "log.csv")
    for source, message in (
        (tmp_path / "bad.parquet", r"bad\.parquet"),
        (tmp_path / "none.parquet", r"none\.parquet"),
        ([tmp_path / "log.csv", paths[0]], r"log\.csv"),
        (paths, r"part-1.parquet: .* same columns.*'propensity'"),
    ):
        with pytest.raises(oas.InvalidArgument, match=message):
            oas.read_log(MODEL, source)
    [path] = written(tmp_path / "cell", [frame().assign(action=["run"] * 599 + ["fly"])])
    with pytest.raises(oas.InvalidArgument, match=r"cell.*, row 599: .*'fly'"):
        oas.read_log(MODEL, path)


@pytest.mark.parametrize("unit", ["D", "ms", "us"])
def test_dates_keep_their_century(unit):
    """Nanoseconds since 1970 reach from 1677 to 2262; beyond they would wrap around."""
    good = np.array(["1700-01-01", "NaT", "2261-12-31"], f"M8[{unit}]")
    for source in (lambda t: t, pd.DataFrame, pl.DataFrame, pa.table):
        for year in ("1600", "9999"):
            far = np.array([f"{year}-12-31"], f"M8[{unit}]")
            rows = {"time": far, "action": [0], "observation": [0]}
            with pytest.raises(oas.InvalidArgument, match="'time', row 0.*1678 to 2261"):
                oas.read_log(MODEL, source(rows))
        rows = {"time": good[[0, 2]], "action": [0, 0], "observation": [0, 0]}
        times = oas.read_log(MODEL, source(rows), gaps="new-run", step="1d").times
        np.testing.assert_array_equal(times, good[[0, 2]].astype("M8[s]").astype(float))


def test_rewards_that_are_not_known():
    """The same in memory and in files."""
    rows = {"action": [0, 1, 0], "observation": [0, 1, 2], "reward": [2.5, np.nan, 1]}
    for source in (rows, pd.DataFrame(rows), pl.DataFrame(rows), pa.table(rows)):
        np.testing.assert_array_equal(oas.read_log(MODEL, source).rewards, rows["reward"])
    missing = {**rows, "reward": [2.5, None, 1]}
    for source in (missing, pl.DataFrame(missing), pa.table(missing)):
        np.testing.assert_array_equal(oas.read_log(MODEL, source).rewards, rows["reward"])


@pytest.mark.parametrize(
    "setting", [{"missing": "NA"}, {"separator": ";"}, {"decimal_comma": True}]
)
def test_settings_about_text_are_refused_for_tables(setting):
    with pytest.raises(oas.InvalidArgument, match=f"{next(iter(setting))} is about files of text"):
        oas.read_log(MODEL, ROW, **setting)
    with pytest.raises(oas.InvalidArgument, match=f"{next(iter(setting))} is about files of text"):
        oas.estimate(MODEL, ROW, **setting)


def test_texts_that_are_no_unicode_are_named():
    with pytest.raises(oas.InvalidArgument, match="'action', row 1"):
        oas.read_log(MODEL, {**ROW, "action": ["run", "\ud800", "run"]})


def real_valued(dimension):
    """Two states, whose readings are normal around 0 and 3 in every component."""

    def normal(mean):
        if dimension == 1:
            return {"kind": "gaussian", "mean": mean, "sd": 1}
        covariance = np.eye(dimension).tolist()
        return {"kind": "gaussian", "mean": [mean] * dimension, "covariance": covariance}

    return oas.model_from_json(
        json.dumps(
            {
                "format": "oas-model/1",
                "timing": "before",
                "states": 2,
                "actions": 1,
                "observations": {"dimension": dimension},
                "transition": [[[0.9, 0.1], [0.2, 0.8]]],
                "density": [[normal(0), normal(3)]],
            }
        )
    )


@pytest.mark.parametrize("dimension", [1, 2])
def test_missing_readings_stay_missing(dimension):
    """0 is a reading; wherever a log is shown or written a row without one has none."""
    model = real_valued(dimension)
    readings = np.array(oas.simulate(model, "uniform", steps=50, seed=1).readings)
    readings[3] = readings[17] = np.nan
    readings[5] = 0
    rows = {"action": np.zeros(50, int), "observation": readings}
    log = oas.read_log(model, rows)
    np.testing.assert_array_equal(log.readings, readings)
    for again in (
        log.to_dataframe(),
        {"action": log.actions, "observation": log.readings},
        {"action": log.actions, "observation": np.ma.masked_invalid(readings)},
        pickle.loads(pickle.dumps(log)),
    ):
        np.testing.assert_array_equal(oas.read_log(model, again).readings, readings)
        assert oas.estimate(model, again).missing == 2
    assert "nan" in log._repr_html_()
    filled = oas.read_log(model, {**rows, "observation": np.nan_to_num(readings)})
    assert filled.readings.base is not None or not filled.readings.flags.owndata  # a view
    assert filled != log


def test_vectors_are_for_models_that_read_them():
    with pytest.raises(oas.InvalidArgument, match="2 dimensions"):
        oas.read_log(MODEL, {"action": [0, 0], "observation": np.zeros((2, 2))})
    with pytest.raises(oas.InvalidArgument, match="observation_3"):
        oas.read_log(real_valued(2), {"action": [0, 0], "observation": np.zeros((2, 3))})
    with pytest.raises(oas.InvalidArgument, match="3 dimensions"):
        oas.read_log(real_valued(2), {"action": [0, 0], "observation": np.zeros((2, 3, 1))})


def test_settings_that_nobody_knows_are_named():
    for source in (ROW, LOG):
        with pytest.raises(oas.InvalidArgument, match="no setting 'gapps'; there are columns"):
            oas.read_log(MODEL, source, gapps="repeat")
    with pytest.raises(oas.InvalidArgument, match="'gapps'"):
        oas.Evidence(MODEL, "oas").add(LOG, gapps="repeat")
