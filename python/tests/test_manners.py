import contextlib
import copy
import fcntl
import inspect
import multiprocessing
import os
import pickle
import pty
import shutil
import signal
import struct
import subprocess
import sys
import termios
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import oas

MODEL = oas.problem("machine-maintenance")

LONG = {
    "simulate": "oas.simulate(model, steps=2 * 10**8, reward=False, state=False)",
    "simulate runs": "oas.simulate(model, steps=10**4, runs=2 * 10**4, reward=False, state=False)",
    "estimate": "oas.estimate(model, oas.simulate(model, steps=3 * 10**6), memory=4000)",
    "plan": "oas.plan(model, steps=10**11)",
    "gibbs": "oas.estimate(model, oas.simulate(model, steps=10**5), 'gibbs', draws=10**6)",
    "particle": "oas.estimate(model, oas.simulate(model, steps=10**5), 'particle', particles=9999)",
    "evaluate": "oas.evaluate(model, plan, steps=10**11)",
    "cells": "oas.discretise(real, trials=10**9, search='random')",
    "agent": "[agent.act() and agent.observe(0) for _ in range(10**6)]",
    "agent's plan": "[oas.Agent('oracle', big) for _ in range(10**6)]",
}
PREPARED = """
plan = oas.plan(model, gap=1)
big = oas.random_pomdp(8, 3, 9, seed=2)
agent = oas.Agent("oas-ucrl-ml", big, first_episode=50, resolution=30)
real = oas.model_from_json('''{"format": "oas-model/1", "timing": "before", "states": 2,
  "actions": 1, "observations": {"dimension": 1}, "transition": [[[0.9, 0.1], [0.2, 0.8]]],
  "density": [[{"kind": "gaussian", "mean": 0, "sd": 1},
               {"kind": "gaussian", "mean": 3, "sd": 1}]]}''')
"""


@pytest.mark.parametrize("work", LONG)
def test_ctrl_c_stops_long_calls(work):
    """The call is under way when the signal comes, and ends soon after it."""
    code = f"""
        import oas, signal, warnings
        signal.signal(signal.SIGINT, signal.default_int_handler)
        warnings.simplefilter("ignore")
        model = oas.problem("machine-maintenance")
        exec({PREPARED!r})
        print("ready", flush=True)
        try:
            {LONG[work]}
        except KeyboardInterrupt:
            print("stopped", flush=True)
            oas.estimate(model, oas.simulate(model, steps=1000), "oas")
            print("and goes on", flush=True)
        else:
            print("done", flush=True)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.5)
        child.send_signal(signal.SIGINT)
        try:
            out, _ = child.communicate(timeout=60)
        finally:
            child.kill()
    assert out.split("\n")[:2] == ["stopped", "and goes on"]


def test_sources_without_the_extension_say_how_to_build_it(tmp_path):
    (tmp_path / "oas").mkdir()
    for file in Path(oas.__file__).parent.glob("*.py"):
        shutil.copy(file, tmp_path / "oas")
    run = subprocess.run(
        [sys.executable, "-c", "import oas"], cwd=tmp_path, capture_output=True, text=True
    )
    last = run.stderr.strip().split("\n")[-1]
    assert last.startswith("ImportError: ")
    assert "is not built" in last and "pip install ." in last


def test_other_threads_run_meanwhile():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.perf_counter()
    oas.simulate(MODEL, steps=5_000_000, reward=False, state=False)
    took = time.perf_counter() - begun
    done.set()
    thread.join()
    assert np.diff([t for t in ticks if t >= begun] or [0, took]).max() < max(0.5 * took, 0.2)


def test_threads_get_the_same_results():
    expected = [oas.simulate(MODEL, steps=5000, seed=seed) for seed in range(8)]
    found = [None] * 8

    def work(seed):
        found[seed] = oas.simulate(MODEL, steps=5000, seed=seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_results_do_not_depend_on_the_number_of_threads():
    log = oas.simulate(MODEL, steps=20_000, runs=4, seed=3)
    try:
        oas.set_threads(1)
        one = oas.estimate(MODEL, log)
        oas.set_threads(3)
        assert oas.estimate(MODEL, log) == one
    finally:
        oas.set_threads(0)
    with pytest.raises(oas.InvalidArgument, match="threads is -1"):
        oas.set_threads(-1)


def shared_by_threads(work):
    """Four threads call `work` of their number at the same time; what they raised."""
    raised = []

    def run(number):
        try:
            work(number)
        except Exception as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_threads_may_share_an_agent():
    agent = oas.Agent("oas-ucrl-ml", MODEL, seed=1, first_episode=50)
    refused = []

    def play(_):
        for step in range(500):
            for call in (agent.act, lambda: agent.observe(0)):
                try:
                    call()
                except oas.InvalidArgument as error:  # another thread was first
                    refused.append(str(error))
            if step % 50 == 0:
                assert len(pickle.loads(pickle.dumps(agent)).episodes) == 0
                assert agent.episodes[0]["start"] == 0
                assert agent.belief is None or agent.belief.sum() == pytest.approx(1)

    assert shared_by_threads(play) == []
    assert all("act()" in text for text in refused)
    with contextlib.suppress(oas.InvalidArgument):
        agent.observe(0)  # where the last step is half done
    alone = oas.Agent("oas-ucrl-ml", MODEL, seed=1, first_episode=50)
    for _ in range(agent.steps):
        alone.act()
        alone.observe(0)
    assert pickle.dumps(agent) == pickle.dumps(alone)


def test_threads_may_share_evidence():
    log = oas.simulate(MODEL, steps=500, seed=3)
    evidence = oas.Evidence(MODEL, "oas")

    def add(number):
        for _ in range(40):
            evidence.add(log)
            if number == 0:
                evidence.estimate()
                copy.copy(evidence).estimate()

    assert shared_by_threads(add) == []
    one_by_one = oas.Evidence(MODEL, "oas")
    for _ in range(160):
        one_by_one.add(log)
    assert evidence.estimate() == one_by_one.estimate()


def test_threads_may_share_environments():
    batch = oas._oas.BatchEnvironment(MODEL, 500, seed=1, track_beliefs=True)
    actions = np.zeros(500, np.int64)

    def step(_):
        for _ in range(100):
            batch.act(actions)
            np.testing.assert_allclose(batch.beliefs.sum(axis=1), 1)

    assert shared_by_threads(step) == []
    alone = oas._oas.BatchEnvironment(MODEL, 500, seed=1, track_beliefs=True)
    for _ in range(400):
        alone.act(actions)
    np.testing.assert_array_equal(batch.states, alone.states)
    np.testing.assert_array_equal(batch.beliefs, alone.beliefs)


def test_what_was_interrupted_says_so():
    """Half of the rows, or half of an episode, is no state to go on from."""
    code = """
        import oas, os, signal, threading, time, warnings
        signal.signal(signal.SIGINT, signal.default_int_handler)
        def stop_soon():
            threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        model = oas.problem("machine-maintenance")
        evidence = oas.Evidence(model, "particle", particles=20000)
        big = oas.random_pomdp(8, 3, 9, seed=2)
        agent = oas.Agent("oas-ucrl-ml", big, first_episode=50, resolution=30)
        log = oas.simulate(model, steps=10**5)
        for work in (lambda: evidence.add(log),
                     lambda: [agent.act() and agent.observe(0) for _ in range(10**6)]):
            stop_soon()
            try:
                work()
            except KeyboardInterrupt:
                pass
        for work in (evidence.estimate, agent.act):
            try:
                work()
            except oas.InvalidArgument as error:
                print(error)
        print(evidence.fresh().add(oas.simulate(model, steps=10)).runs)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=100
    )
    rows, planned, fresh = done.stdout.splitlines()
    assert "adding rows to this evidence was interrupted" in rows
    assert "oas-ucrl-ml was interrupted at step 50" in planned
    assert fresh == "1" and done.returncode == 0


def forked(seed):
    return oas.estimate(MODEL, oas.simulate(MODEL, steps=20_000, runs=4, seed=seed)).transition


def test_forked_workers_have_threads_of_their_own():
    expected = [forked(seed) for seed in range(3)]  # the parent's pool is at work already
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(forked, range(3)).get(timeout=120)
    np.testing.assert_array_equal(found, expected)


def test_a_forked_process_ends():
    forked(1)
    child = os.fork()
    if child == 0:
        forked(2)
        os._exit(0)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.1)
    assert done == child and status == 0


def test_no_progress_bar_without_a_terminal(capfd):
    oas.simulate(MODEL, steps=3_000_000)
    assert capfd.readouterr().err == ""


ENDLESS = """
    import oas, os, signal, threading, time
    from tqdm.auto import tqdm
    model = oas.problem("pest-control")
    log = oas.simulate(model, steps=20_000)
    def stop():
        while not any(getattr(bar, "n", 0) for bar in list(tqdm._instances)):
            time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=stop).start()
    try:
        oas.estimate(model, log, "gibbs", draws=1_000_000)
    except KeyboardInterrupt:
        print("stopped")
"""


def test_a_terminal_sees_a_progress_bar():
    pytest.importorskip("tqdm")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))  # rows, columns
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(ENDLESS)], stdout=theirs, stderr=theirs
    ) as child:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the end of a terminal whose other end is closed
            while part := os.read(ours, 1000):
                shown += part
        os.close(ours)
        assert child.wait(timeout=60) == 0
    assert b" rows" in shown
    assert shown.rstrip().endswith(b"stopped")


def test_a_notebook_sees_a_progress_bar():
    pytest.importorskip("tqdm")
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(ENDLESS))])
    nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3").execute()
    said = "".join(str(output) for output in notebook.cells[0].outputs)
    assert " rows" in said and "stopped" in said


def test_memory_does_not_grow():
    code = """
        import oas, resource, pickle
        model = oas.problem("machine-maintenance")
        def work():
            log = oas.simulate(model, steps=50_000)
            estimate = oas.estimate(model, {"action": log.actions, "observation": log.observations},
                                    "oas")
            pickle.loads(pickle.dumps((log, estimate)))
            try:
                oas.read_log(model, {"action": [9], "observation": [0]})
            except oas.Error:
                pass
        for _ in range(20):
            work()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(60):
            work()
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "ignore::UserWarning", "-c", textwrap.dedent(code)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(done.stdout) < 20_000  # kilobytes; 60 logs would be 100 MB
    assert done.stderr == ""


STUDY = """
format = "oas-study/1"
name = "long"
title = "Long"
question = "Can it be stopped?"
replications = 500

[[sweep]]
name = "a"
kind = "estimation"
size = ["4x3x5"]
estimators = ["oas-overlap"]
pairs = 1_000_000
"""


def test_ctrl_c_stops_a_study_and_stays_python_s(tmp_path):
    """The command's own handlers of signals have no business in a Python process."""
    (tmp_path / "long.toml").write_text(STUDY)
    code = f"""
        import oas, signal, time, os
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("ready", flush=True)
        try:
            oas.study.run({str(tmp_path / "long.toml")!r}, {str(tmp_path / "out")!r})
        except KeyboardInterrupt:
            print("stopped", flush=True)
        for _ in range(2):
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1)
            except KeyboardInterrupt:
                print("stopped", flush=True)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.5)
        child.send_signal(signal.SIGINT)
        try:
            out, _ = child.communicate(timeout=60)
        finally:
            child.kill()
    assert out == "stopped\n" * 3 and child.returncode == 0


def test_functions_can_be_sent_to_other_processes():
    for name in oas.__all__:
        thing = getattr(oas, name)
        if inspect.isfunction(thing):
            assert pickle.loads(pickle.dumps(thing)) is thing
        assert not callable(thing) or isinstance(thing, type) or inspect.signature(thing)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(oas.problem, ("pest-control",)) == oas.problem("pest-control")
