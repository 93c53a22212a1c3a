"""Figures: that they show what they say. How they look is for eyes."""

import numpy as np
import pytest

import oas

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def estimate():
    model = oas.problem("machine-maintenance")
    return oas.estimate(model, oas.simulate(model, steps=2000, seed=1), estimator="oas-overlap")


@pytest.mark.filterwarnings("ignore::oas.OasWarning")
def test_estimates_show_every_number(estimate):
    panels = estimate.plot()
    assert [ax.get_title() for ax in panels] == ["run", "inspect", "repair"]
    for action, ax in enumerate(panels):
        np.testing.assert_array_equal(ax.images[0].get_array(), estimate.transition[action])
        assert len(ax.texts) == 16
        first = f"{estimate.transition[action, 0, 0]:.3f}\n± "
        assert ax.texts[0].get_text().startswith(first)
    assert (~estimate.determined).sum() == sum(len(ax.patches) for ax in panels)
    with pytest.raises(oas.InvalidArgument, match="axes: 1 for 3"):
        estimate.plot(plt.subplots()[1])
    own = list(plt.subplots(ncols=3)[1])
    assert list(estimate.plot(ax=own)) == list(estimate.plot(own)) == own


@pytest.mark.filterwarnings("ignore::oas.OasWarning")
def test_what_are_no_axes_is_named(estimate):
    alone = oas.Pomdp(observation=[[1.0]], transition=[[[1.0]]])
    one = oas.estimate(alone, {"action": [0] * 9, "observation": [0] * 9})
    own = plt.subplots()[1]
    assert list(one.plot(ax=own)) == [own]
    for draw in (lambda: one.plot(ax=5), lambda: oas.plan("pest-control", gap=0.1).plot(ax=5)):
        with pytest.raises(oas.InvalidArgument, match=r"^ax(es)? is 5, an int; .* axes"):
            draw()


@pytest.mark.parametrize("problem", ["pest-control", "network-link", "robot-corridor"])
def test_plans_of_two_three_and_more_states(problem):
    plan = oas.plan(problem, gap=0.1)
    ax = plan.plot()
    names = {text.get_text() for text in ax.get_legend().get_texts()}
    assert names and names <= set(plan.model.actions)
    own = plt.subplots()[1]
    assert plan.plot(own) is own
    ax.figure.canvas.draw()


def test_the_line_changes_colour_where_the_action_does():
    plan = oas.plan("pest-control", gap=0.1)
    ax = plan.plot()
    (edge,) = [float(text.get_text()) for text in ax.texts]
    assert plan.greedy([1 - edge + 0.01, edge - 0.01]) != plan.greedy(
        [1 - edge - 0.01, edge + 0.01]
    )


def test_runs_show_means_and_say_what_they_can_show():
    runs = oas.learn("pest-control", ["uniform", "myopic"], steps=100, runs=3, checkpoints=4,
                     oracle_gap=1e-2)  # fmt: skip
    ax = runs.plot("reward")
    np.testing.assert_allclose(ax.lines[0].get_ydata(), runs.reward[0].mean(axis=0))
    assert ax.get_ylabel() == "reward"
    with pytest.raises(oas.InvalidArgument, match="what is 'beauty'"):
        runs.plot("beauty")


@pytest.mark.filterwarnings("ignore::oas.OasWarning")
def test_comparisons_show_medians():
    found = oas.compare_estimators("pest-control", ["oas", "oas-overlap"], rows=[100, 300], runs=3)
    ax = found.plot()
    np.testing.assert_allclose(ax.lines[1].get_ydata(), np.median(found.error[1], axis=1))


def test_studies_show_the_means_of_their_rows(tmp_path):
    head = "task,sweep,replication,size,agent,step,expected_regret\n"
    rows = ["0,a,0,3x3,x,10,1", "0,a,0,3x3,x,20,2", "1,a,1,3x3,x,10,3", "1,a,1,3x3,x,20,5"]
    (tmp_path / "learning.csv").write_text(head + "\n".join([*rows, "2,b,0,3x3,y,10,7"]) + "\n")
    panels = oas.study.plot(tmp_path)
    assert [ax.get_title() for ax in panels] == ["a 3x3", "b 3x3"]
    np.testing.assert_allclose(panels[0].lines[0].get_ydata(), [2, 3.5])
    with pytest.raises(oas.InvalidArgument, match="no results"):
        oas.study.plot(tmp_path / "nowhere")
