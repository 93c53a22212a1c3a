"""Figures with matplotlib; each function draws into axes and returns them.

Results have them as methods, too: `estimate.plot()`, `runs.plot()`, `plan.plot()`.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _oas
from ._checks import path, typed
from ._errors import InvalidArgument
from ._frames import visited_beliefs

#: Colours that can be told apart by everybody (Okabe and Ito), blue first.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#000000")
#: More states than this, and a matrix shows colours only.
MOST_WRITTEN = 8


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install matplotlib") from error
    return matplotlib


def _axes(ax: Any, **settings: Any) -> Any:
    if ax is not None:
        return _checked("ax", ax)
    _matplotlib()
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained", **settings)[1]


def _checked(name: str, ax: Any) -> Any:
    if not hasattr(ax, "plot") or not hasattr(ax, "figure"):
        raise InvalidArgument(f"{name} is {ax!r}, {typed(ax)}; it must be axes of matplotlib")
    return ax


def _plain(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)


def _names(names: list[str], what: str) -> list[str]:
    """Names as they are; indices say what they count."""
    return [f"{what} {name}" if name.isdigit() else name for name in names]


def estimate(est: Any, axes: Any = None) -> NDArray[Any]:
    """The estimated transition matrices, one panel per action, with their standard errors.

    Rows that the log does not determine are hatched. Returns an array of axes.
    """
    transition = np.asarray(est.transition)
    actions, states, _ = transition.shape
    if axes is None:
        size = 1.1 + min(states, 12) * 0.72
        axes = _axes(None, ncols=actions, figsize=(actions * size + 0.6, size + 1.0), squeeze=False)
    panels = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if panels.size != actions:
        raise InvalidArgument(f"axes: {panels.size} for {actions} actions")
    for panel in panels:
        _checked("axes", panel)
    states_named = _names(est.model.states, "state")
    error = None if est.standard_error is None else np.asarray(est.standard_error)
    for action, ax in enumerate(panels):
        image = _matrix(ax, transition[action], None if error is None else error[action])
        ax.set_title(_names(est.model.actions, "action")[action])
        ax.set_xticks(range(states), states_named, rotation=45, ha="right")
        ax.set_yticks(range(states), states_named if action == 0 else [])
        ax.set_xlabel("to")
        _hatch(ax, est, action, states)
    panels[0].set_ylabel("from")
    panels[0].figure.colorbar(image, ax=list(panels), shrink=0.8, label="probability")
    return panels


def _matrix(ax: Any, values: NDArray[Any], error: NDArray[Any] | None) -> Any:
    image = ax.imshow(values, cmap="Blues", vmin=0.0, vmax=1.0)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    states = len(values)
    ax.set_xticks(np.arange(states + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(states + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1.5)
    ax.tick_params(which="minor", length=0)
    if states > MOST_WRITTEN:
        return image
    for (row, column), value in np.ndenumerate(values):
        text = f"{value:.3f}"
        if error is not None and np.isfinite(error[row, column]):
            text += f"\n± {error[row, column]:.3f}"
        colour = "white" if value > 0.55 else "black"
        ax.text(column, row, text, ha="center", va="center", color=colour, fontsize=8)
    return image


def _hatch(ax: Any, est: Any, action: int, states: int) -> None:
    from matplotlib.patches import Rectangle

    determined = getattr(est, "determined", None)
    if determined is None:
        return
    for row in np.flatnonzero(~np.asarray(determined, dtype=bool)[action]):
        mark = Rectangle((-0.5, row - 0.5), states, 1, fill=False, hatch="////", linewidth=0)
        mark.set_edgecolor("#888888")
        ax.add_patch(mark)


def runs(result: Any, what: str = "expected_regret", ax: Any = None) -> Any:
    """What each agent earned or lost over time: the mean of its runs, and their range."""
    from ._learn import COLUMNS

    if what not in COLUMNS:
        raise InvalidArgument(f"what is {what!r}; it can be {', '.join(COLUMNS)}")
    ax = _axes(ax, figsize=(7, 4.2))
    values = getattr(result, what)
    ends = []
    for index, agent in enumerate(result.agents):
        colour = COLOURS[index % len(COLOURS)]
        finished = values[index][~np.isnan(values[index]).any(axis=1)]
        if not len(finished):
            continue
        mean = finished.mean(axis=0)
        style = "-" if index < len(COLOURS) else "--"
        ax.plot(result.steps, mean, style, color=colour, label=agent)
        if len(finished) > 1:
            low, high = finished.min(axis=0), finished.max(axis=0)
            ax.fill_between(result.steps, low, high, color=colour, alpha=0.15, linewidth=0)
        ends.append((mean[-1], agent))
    ax.set_xlabel("step")
    ax.set_ylabel(what.replace("_", " "))
    ax.set_xlim(0, result.steps[-1])
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.margins(y=0.05)
    _plain(ax)
    # In the order of the lines at the end, so that the legend reads as the figure does.
    order = [name for _, name in sorted(ends, reverse=True)]
    handles, labels = ax.get_legend_handles_labels()
    ranked = sorted(zip(handles, labels), key=lambda pair: order.index(pair[1]))
    ax.legend(*zip(*ranked), frameon=False, loc="upper left")
    return ax


def plan(of: Any, ax: Any = None) -> Any:
    """Which action a plan takes at which belief.

    Two states: the value of each action along the line of beliefs, and which is best. Three: the
    triangle of beliefs. More: the beliefs that its policy visits most.
    """
    states = of.model.num_states
    if states == 2:
        return _plan_line(of, ax)
    if states == 3:
        return _plan_triangle(of, ax)
    return _plan_visits(of, ax)


def _action_colours(of: Any) -> list[str]:
    return [COLOURS[a % len(COLOURS)] for a in range(of.model.num_actions)]


def _plan_line(of: Any, ax: Any) -> Any:
    ax = _axes(ax, figsize=(6.4, 3.8))
    second = np.linspace(0, 1, 501)
    values = np.asarray(_oas._action_values(of, np.stack([1 - second, second], axis=1)))
    lost = values - values.max(axis=1, keepdims=True)
    best = values.argmax(axis=1)
    names = _names(of.model.actions, "action")
    colours = _action_colours(of)
    for action, name in enumerate(names):
        ax.plot(second, lost[:, action], color=colours[action], label=name, clip_on=False, zorder=3)
    edges = np.flatnonzero(np.diff(best)) + 1
    bounds = [0, *edges, len(second) - 1]
    for start, stop in zip(bounds, bounds[1:]):
        ax.axvspan(second[start], second[stop], color=colours[best[start]], alpha=0.12, linewidth=0)
    for edge in edges:
        ax.axvline(second[edge], color="#555555", linewidth=0.8, linestyle=":")
        ax.annotate(f"{second[edge]:.3g}", (second[edge], 1.01), ha="center", fontsize=9,
                    xycoords=("data", "axes fraction"))  # fmt: skip
    ax.set_xlim(0, 1)
    ax.set_ylim(top=0)
    ax.set_xlabel(f"P({_names(of.model.states, 'state')[1]})")
    ax.set_ylabel("value below the best action")
    _plain(ax)
    ax.legend(frameon=False)
    return ax


_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


def _plan_triangle(of: Any, ax: Any) -> Any:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch, Polygon

    ax = _axes(ax, figsize=(5.2, 4.6))
    fine = 120
    corners = []
    for i in range(fine):
        for j in range(fine - i):
            corners.append([(i, j), (i + 1, j), (i, j + 1)])
            if i + j < fine - 1:
                corners.append([(i + 1, j), (i + 1, j + 1), (i, j + 1)])
    first_two = np.array(corners, dtype=float) / fine
    beliefs = np.concatenate([first_two, 1 - first_two.sum(axis=2, keepdims=True)], axis=2)
    values = np.asarray(_oas._action_values(of, np.clip(beliefs.mean(axis=1), 0, 1)))
    best = values.argmax(axis=1)
    colours = _action_colours(of)
    # Paler by mixing with white: where neighbours overlap, transparent ones would show a pattern.
    pale = [0.25 + 0.75 * np.array(to_rgb(colour)) for colour in colours]
    faces = [pale[action] for action in best]
    ax.add_collection(
        PolyCollection(beliefs @ _CORNERS, facecolors=faces, edgecolors=faces, linewidths=0.5)
    )
    ax.add_patch(Polygon(_CORNERS, fill=False, edgecolor="black", linewidth=1))
    places = [("right", "top", -4), ("left", "top", -4), ("center", "bottom", 4)]
    for corner, name, (ha, va, up) in zip(_CORNERS, _names(of.model.states, "state"), places):
        ax.annotate(name, corner, (0, up), textcoords="offset points", ha=ha, va=va)
    ax.set_xlim(-0.12, 1.12)
    ax.set_ylim(-0.08, 0.95)
    ax.set_aspect("equal")
    ax.axis("off")
    names = _names(of.model.actions, "action")
    used = sorted(set(best.tolist()))
    handles = [Patch(color=pale[a], label=names[a]) for a in used]
    ax.legend(handles=handles, frameon=False, loc="upper left")
    return ax


def _plan_visits(of: Any, ax: Any, most: int = 16) -> Any:
    from matplotlib.patches import Patch

    beliefs, share = visited_beliefs(of)
    beliefs, share = beliefs[:most], share[:most]
    ax = _axes(ax, figsize=(6.8, 1.2 + 0.3 * len(beliefs)))
    best = np.asarray(_oas._action_values(of, beliefs)).argmax(axis=1)
    colours = _action_colours(of)
    states = of.model.num_states
    ax.set_xlim(-0.5, states - 0.5)
    ax.set_ylim(len(beliefs) - 0.5, -0.5)
    for row, (belief, action) in enumerate(zip(beliefs, best)):
        heights = 0.86 * belief
        ax.bar(range(states), -heights, bottom=row + 0.45, color=colours[action], width=0.9,
               alpha=0.9)  # fmt: skip
        ax.axhline(row + 0.47, color="#dddddd", linewidth=0.6, zorder=0)
        ax.annotate(f"{100 * share[row]:.1f} %", (1.01, row), xycoords=("axes fraction", "data"),
                    va="center", fontsize=8)  # fmt: skip
    names = _names(of.model.states, "state")
    if states <= 12:
        ax.set_xticks(range(states), names, rotation=30, ha="right")
    else:
        ax.set_xlabel("state")
    ax.set_yticks([])
    ax.set_ylabel("most visited beliefs (heights: P(state))", fontsize=9)
    ax.annotate("visited", (1.01, -0.62), xycoords=("axes fraction", "data"), fontsize=8)
    ax.spines[:].set_visible(False)
    actions = _names(of.model.actions, "action")
    used = sorted(set(best.tolist()))
    handles = [Patch(color=colours[a], label=actions[a]) for a in used]
    ax.legend(handles=handles, frameon=False, ncols=len(used), loc="lower right",
              bbox_to_anchor=(1, 1))  # fmt: skip
    return ax


def comparison(result: Any, ax: Any = None) -> Any:
    """The error of estimators by the length of the log: the median of the runs, and quartiles."""
    ax = _axes(ax, figsize=(7, 4.2))
    for index, name in enumerate(result.estimators):
        colour = COLOURS[index % len(COLOURS)]
        low, middle, high = np.nanquantile(result.error[index], [0.25, 0.5, 0.75], axis=1)
        ax.plot(result.rows, middle, "o-", color=colour, label=name, markersize=4)
        ax.fill_between(result.rows, low, high, color=colour, alpha=0.15, linewidth=0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("rows of the log")
    ax.set_ylabel("error of the dynamics (Frobenius)")
    _plain(ax)
    ax.legend(frameon=False)
    return ax


_STUDY_AXES = {  # file of a study: who is compared, along what, by what
    "learning": ("agent", "step", "expected_regret"),
    "estimation": ("estimator", "steps", "error"),
}


def study(folder: Any, axes: Any = None) -> NDArray[Any]:
    """What the results of a study in `folder` say, one panel per sweep and size.

    Studies of learning show the mean expected regret over time, those of estimation the mean error
    by the length of the log. Returns an array of axes. `oas.study.report` draws more.
    """
    kind, rows = _study_rows(Path(path("folder", folder)))
    who, along, by = _STUDY_AXES[kind]
    panels = list(dict.fromkeys((row["sweep"], row["size"]) for row in rows))
    if axes is None:
        size = (4.6 * len(panels) + 0.4, 3.8)
        axes = _axes(None, ncols=len(panels), figsize=size, squeeze=False)
    all_axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if all_axes.size != len(panels):
        raise InvalidArgument(f"axes: {all_axes.size} for {len(panels)} sweeps and sizes")
    for ax, panel in zip(all_axes, panels):
        inside = [row for row in rows if (row["sweep"], row["size"]) == panel]
        for index, name in enumerate(dict.fromkeys(row[who] for row in inside)):
            points: dict[float, list[float]] = {}
            for row in inside:
                if row[who] == name and row[by]:
                    points.setdefault(float(row[along]), []).append(float(row[by]))
            x = sorted(points)
            mean = [float(np.mean(points[at])) for at in x]
            style = "-" if index < len(COLOURS) else "--"
            colour = COLOURS[index % len(COLOURS)]
            ax.plot(x, mean, style, marker="." if len(x) < 20 else "", color=colour, label=name)
        if kind == "estimation":
            ax.set_xscale("log")
            ax.set_yscale("log")
        ax.set_title(" ".join(panel), fontsize=10)
        ax.set_xlabel(along)
        _plain(ax)
        ax.legend(frameon=False, fontsize=8)
    all_axes[0].set_ylabel(by.replace("_", " "))
    return all_axes


def _study_rows(folder: Path) -> tuple[str, list[dict[str, str]]]:
    for kind in _STUDY_AXES:
        file = folder / f"{kind}.csv"
        if not file.is_file():
            continue
        with file.open(newline="", encoding="utf-8") as text:
            rows = list(csv.DictReader(text))
        if rows:
            return kind, rows
    raise InvalidArgument(f"{folder}: no results of a study of learning or estimation")


def frame(
    model: Any, belief: NDArray[Any], state: int, last: tuple[int, int, float] | None
) -> NDArray[np.uint8]:
    """A belief as bars, the hidden state marked, as an RGB array."""
    _matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 3.2), dpi=100, layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    states = len(belief)
    colours = [COLOURS[1] if s == state else COLOURS[0] for s in range(states)]
    ax.bar(range(states), belief, color=colours, width=0.8 if states <= 40 else 1.0)
    ax.set_ylim(0, 1)
    ax.set_ylabel("belief")
    if states <= MOST_WRITTEN:
        ax.set_xticks(range(states), _names(model.states, "state"))
    else:
        ax.set_xlabel("state")
    for tick in ax.get_xticklabels():
        tick.set_rotation(20 if states > 4 else 0)
    said = "start"
    if last is not None:
        action, observation, reward = last
        said = (
            f"{_names(model.actions, 'action')[action]} → "
            f"{_names(model.observations, 'observation')[observation]}, reward {reward:.3g}"
        )
    ax.set_title(said, fontsize=10, loc="left")
    ax.text(1, 1.02, "true state", color=COLOURS[1], ha="right", transform=ax.transAxes, fontsize=9)
    _plain(ax)
    canvas.draw()
    return np.array(np.asarray(canvas.buffer_rgba())[..., :3], dtype=np.uint8)
