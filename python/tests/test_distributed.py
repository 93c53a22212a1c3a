"""Estimates and studies on a Dask cluster of processes here, some of which are killed."""

import os
import signal

import numpy as np
import pandas as pd
import pytest

import oas

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

MODEL = oas.problem("pest-control")
LOG = oas.simulate(MODEL, steps=400, runs=6, seed=3)
COLUMNS = ["run", "action", "observation", "propensity"]


@pytest.fixture(scope="module")
def client():
    with (
        # Who was killed comes back; the cluster is not to give it up meanwhile.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "300s"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


def rows():
    return LOG.to_dataframe()[COLUMNS]


def in_parts(table, cuts):
    """A Dask DataFrame whose partitions end where `cuts` says."""
    ends = [0, *cuts, len(table)]
    parts = [dask.delayed(table.iloc[a:b]) for a, b in zip(ends, ends[1:])]
    return dd.from_delayed(parts, meta=table.iloc[:0], verify_meta=False)


CUTS = {
    "one": [],
    "within runs": [100, 101, 390, 1000, 1900],
    "at runs": [400, 800, 1200],
    "empty ones": [0, 0, 500, 500, 500, 2400],
}


@pytest.mark.parametrize("cuts", CUTS)
def test_moments_are_those_of_one_process(client, cuts):
    table = rows()
    whole = oas.Evidence(MODEL, "oas-overlap").add(LOG).estimate()
    assert oas.distributed.estimate(MODEL, in_parts(table, CUTS[cuts]), "oas-overlap") == whole


def test_runs_in_the_index_and_extra_columns(client):
    table = rows().rename(columns={"run": "unit"}).assign(note="x").set_index("unit")
    columns = {"run": "unit", "action": "action", "observation": "observation"}
    found = oas.distributed.estimate(
        MODEL, in_parts(table, CUTS["within runs"]), "oas-overlap", columns=columns
    )
    assert found == oas.Evidence(MODEL, "oas-overlap").add(LOG).estimate()


def test_one_run_over_all_partitions(client):
    table = rows().drop(columns="run")
    whole = oas.Evidence(MODEL, "oas").add(table).estimate()
    found = oas.distributed.estimate(MODEL, in_parts(table, [7, 300, 1100]), "oas", client=client)
    assert found == whole and found.runs == 1


def test_likelihood_is_that_of_one_process_but_for_rounding(client):
    whole = oas.estimate(MODEL, LOG)
    many = in_parts(rows(), list(range(0, 2400, 170)))
    found = oas.distributed.estimate(MODEL, many, confidence=0.95)
    np.testing.assert_allclose(found.transition, whole.transition, atol=1e-9)
    np.testing.assert_allclose(found.standard_error, whole.standard_error, rtol=1e-6)
    assert (found.rows, found.runs, found.missing) == (whole.rows, whole.runs, whole.missing)
    assert found.estimator == "oas-ml" and list(found.pairs) == list(whole.pairs)


def test_files(client, tmp_path):
    table = rows()
    whole = oas.Evidence(MODEL, "oas-overlap").add(LOG).estimate()
    (tmp_path / "parts").mkdir()
    for number, (a, b) in enumerate([(0, 700), (700, 1500), (1500, 2400)]):
        table.iloc[a:b].to_parquet(tmp_path / "parts" / f"{number}.parquet", row_group_size=150)
    assert oas.distributed.estimate(MODEL, tmp_path / "parts", "oas-overlap") == whole
    files = []
    for number, (a, b) in enumerate([(0, 800), (800, 2400)]):
        files.append(tmp_path / f"{number}.csv")
        table.iloc[a:b].to_csv(files[-1], index=False)
    assert oas.distributed.estimate(MODEL, files, "oas-overlap") == whole


def test_times_and_gaps_across_partitions(client):
    table = rows().assign(
        time=np.tile(pd.date_range("2026-01-01", periods=400, freq="h"), 6),
    )
    table = table.drop(index=[99, 100, 401, 1203])
    settings = dict(gaps="repeat", step="1h")
    # A row that is put into a gap was acted as the one before, with a propensity nobody knows.
    whole = oas.Evidence(MODEL, "oas-overlap").add(table, **settings).estimate()
    parts = in_parts(table, [98, 99, 100, 400, 900, 1300])
    assert oas.distributed.estimate(MODEL, parts, "oas-overlap", **settings) == whole


def kill_a_worker(client):
    """One that holds rows and results, from one moment to the next."""
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)


@pytest.fixture
def revived(client):
    """Whoever comes next finds all workers."""
    yield
    client.wait_for_workers(2, timeout=60)


def rows_or_death(number, marker):
    """Rows of a partition. Whoever is the first to make the sixth dies of it."""
    if number == 5:
        try:
            marker.touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            pass
    return rows().iloc[number * 200 : (number + 1) * 200]


def test_a_worker_that_dies_changes_no_bit_of_moments(client, revived, tmp_path):
    whole = oas.Evidence(MODEL, "oas-overlap").add(LOG).estimate()
    marker = tmp_path / "somebody has died"
    parts = dd.from_map(rows_or_death, range(12), marker=marker, meta=rows().iloc[:0])
    found = oas.distributed.estimate(MODEL, parts, "oas-overlap")
    assert marker.exists() and found == whole


def test_a_worker_that_dies_changes_no_bit_of_a_likelihood(client, revived, monkeypatch):
    parts = in_parts(rows(), CUTS["within runs"])
    undisturbed = oas.distributed.estimate(MODEL, parts)
    climb = oas._oas._estimate_by_passes
    passes = 0

    def climb_with_a_death(*arguments):
        *given, one_pass = arguments

        def counted(request):
            nonlocal passes
            passes += 1
            if passes == 3:  # rows that it holds are needed again
                kill_a_worker(client)
            return one_pass(request)

        return climb(*given, counted)

    monkeypatch.setattr(oas._oas, "_estimate_by_passes", climb_with_a_death)
    found = oas.distributed.estimate(MODEL, parts)
    assert passes > 3 and found == undisturbed


STUDY = """
format = "oas-study/1"
name = "tiny"
title = "Tiny"
question = "Does it run?"
seed = 5
replications = 3

[[sweep]]
name = "a"
kind = "estimation"
size = ["2x2x3", "3x2x4"]
estimators = ["oas-overlap", "ours:even"]
pairs = 1000
"""


def test_studies_store_the_same_rows(client, revived, tmp_path, monkeypatch):
    file = tmp_path / "tiny.toml"
    file.write_text(STUDY)

    def even(rows, model):
        return np.full((2, model.num_states, model.num_states), 1 / model.num_states)

    ours = {"ours:even": even}
    oas.study.run(file, tmp_path / "here", estimators=ours)
    in_order = distributed.as_completed

    def after_a_death(futures):
        for number, future in enumerate(in_order(futures)):
            if number == 1:
                kill_a_worker(client)
            yield future

    monkeypatch.setattr(distributed, "as_completed", after_a_death)
    told = oas.distributed.study(file, tmp_path / "there", client=client, estimators=ours)
    assert "6 tasks finished, 0 were there before" in told
    for name in ("estimation.csv",):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    again = oas.distributed.study(file, tmp_path / "there", estimators=ours)
    assert "0 tasks finished, 6 were there before" in again


def test_what_is_wrong_is_named(client):
    table = rows()
    estimate = oas.distributed.estimate
    mixed = pd.concat([table.iloc[:500], table.iloc[900:1000], table.iloc[500:900]])
    with pytest.raises(oas.InvalidArgument, match=r"run '1' is in partition 1 and again.*sort"):
        estimate(MODEL, in_parts(mixed, [300, 550]), "oas")
    wrong = table.assign(action=table["action"].astype(object))
    wrong.iloc[1201, 1] = "walk"
    with pytest.raises(oas.InvalidArgument, match="partition 2, rows from .*'action', row .*walk"):
        estimate(MODEL, in_parts(wrong, [400, 900]), "oas")
    with pytest.raises(oas.InvalidArgument, match="'colour'"):
        estimate(MODEL, in_parts(table, []), "oas", colour=1)
    with pytest.raises(oas.InvalidArgument, match="'colour'"):
        estimate(MODEL, in_parts(table, []), colour=1)
    with pytest.raises(oas.InvalidArgument, match="takes rows in their order"):
        estimate(MODEL, in_parts(table, []), "particle")
    with pytest.raises(oas.InvalidArgument, match="rows is a DataFrame"):
        estimate(MODEL, table)
    with pytest.raises(oas.InvalidArgument, match="no rows"):
        estimate(MODEL, in_parts(table.iloc[:0], []), "oas")
    with pytest.raises(oas.InvalidArgument, match="client is an int"):
        estimate(MODEL, in_parts(table, []), client=3)
    with pytest.raises(oas.InvalidArgument, match="nothing"):
        estimate(MODEL, "nothing.parquet", "oas")
    with pytest.raises(oas.InvalidArgument, match="no study of that name"):
        oas.distributed.study("nothing", "out")
