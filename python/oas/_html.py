"""Models and estimates as notebooks show them: coloured matrices."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

_MOST_STATES = 12


def _cell(value: float, beside: str = "") -> str:
    share = min(max(float(value), 0.0), 1.0)
    return (
        f'<td style="text-align:right;background:rgba(31,119,180,{0.75 * share:.3f});'
        f'padding:2px 8px"><span>{value:.4f}</span>{beside}</td>'
    )


def _bar(error: float) -> str:
    """An error bar: a line as long as two standard errors, and its number."""
    if not np.isfinite(error):
        return '<br><small style="opacity:.7">± ?</small>'
    width = min(100.0, 200.0 * error)
    return (
        f'<br><small style="opacity:.7">± {error:.4f}</small>'
        f'<div style="height:2px;background:currentColor;opacity:.5;margin:auto;'
        f'width:{width:.1f}%"></div>'
    )


def _matrix(title: str, table: Any, states: list[str], errors: Any, known: Any) -> str:
    head = "".join(f"<th>{html.escape(state)}</th>" for state in states)
    lines = [f"<tr><th>from \\ to</th>{head}</tr>"]
    for s, state in enumerate(states):
        faded = ' style="opacity:.4"' if known is not None and not known[s] else ""
        cells = "".join(
            _cell(table[s, n], "" if errors is None else _bar(errors[s, n]))
            for n in range(len(states))
        )
        lines.append(f"<tr{faded}><th>{html.escape(state)}</th>{cells}</tr>")
    body = "".join(lines)
    return (
        '<div style="display:inline-block;margin:0 1em 1em 0;vertical-align:top">'
        f"<b>{html.escape(title)}</b><table>{body}</table></div>"
    )


def _matrices(model: Any, table: Any, errors: Any = None, known: Any = None) -> str:
    if table is None or len(model.states) > _MOST_STATES:
        return ""
    return "".join(
        _matrix(
            action,
            table[a],
            model.states,
            None if errors is None else errors[a],
            None if known is None else known[a],
        )
        for a, action in enumerate(model.actions)
    )


def model_html(model: Any) -> str:
    """A model: its dynamics, one matrix for each action."""
    return f"<p>{html.escape(repr(model))}</p>" + _matrices(model, model.transition)


def estimate_html(estimate: Any) -> str:
    """An estimate: the same with error bars; rows that are not determined are faint."""
    warnings = "".join(f"<li>{html.escape(text)}</li>" for text in estimate.warnings)
    return (
        f"<p>{html.escape(repr(estimate))}</p>"
        + _matrices(
            estimate.model, estimate.transition, estimate.standard_error, estimate.determined
        )
        + (f"<ul>{warnings}</ul>" if warnings else "")
    )


_MOST_LINES = 10


_MOST_NUMBERS = 12


def _text(value: Any) -> str:
    """A value as people read it: nothing where there is none, a number with its limits."""
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray):
        if value.size > _MOST_NUMBERS:
            return f"{' × '.join(map(str, value.shape))} numbers"
        return str([_text(one) for one in value.tolist()]).replace("'", "")
    if isinstance(value, dict):
        return " ".join(
            _text(one) if name in ("value", "limits") else f"{name} {_text(one)}"
            for name, one in value.items()
        )
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_text, value))
    return str(value)


def table(head: list[str], lines: list[list[Any]]) -> str:
    """A table; numbers to the right."""

    def cell(value: Any) -> str:
        number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        side = "right" if number else "left"
        return f'<td style="text-align:{side};padding:2px 8px">{html.escape(_text(value))}</td>'

    top = "".join(f'<th style="padding:2px 8px">{html.escape(str(name))}</th>' for name in head)
    body = "".join(f"<tr>{''.join(cell(value) for value in line)}</tr>" for line in lines)
    return f"<table><tr>{top}</tr>{body}</table>"


def _titled(of: Any, body: str) -> str:
    return f"<p>{html.escape(repr(of))}</p>{body}"


def log_html(log: Any) -> str:
    """A log: its first rows."""
    model, rows = log.model, range(min(len(log), _MOST_LINES))
    runs, names = log.runs, log.run_names
    head = ["run", "action"]
    parts: list[list[Any]] = [
        [names[runs[r]] for r in rows],
        [model.actions[log.actions[r]] for r in rows],
    ]
    if log.observations is not None:
        seen = [int(log.observations[r]) for r in rows]
        head.append("observation")
        parts.append(["" if o < 0 else model.observations[o] for o in seen])
    elif log.readings is not None:
        head.append("observation")
        parts.append([log.readings[r] for r in rows])
    for name, values in (("propensity", log.propensities), ("reward", log.rewards)):
        if values is not None:
            head.append(name)
            parts.append([float(values[r]) for r in rows])
    if log.states is not None:
        head.append("state")
        met = [int(log.states[r]) for r in rows]
        parts.append(["" if s < 0 else model.states[s] for s in met])
    return _titled(log, table(head, [list(line) for line in zip(*parts)]))


def beliefs_html(beliefs: Any) -> str:
    """Beliefs: those after the last row of each run."""
    lines = [
        [name, *map(float, last)]
        for name, last in zip(beliefs.run_names[:_MOST_LINES], beliefs.last)
    ]
    return _titled(beliefs, table(["run", *beliefs.states], lines))


def plan_html(plan: Any) -> str:
    """A plan: what it earns, and with what it was made."""
    lines = [
        ["gain, lower bound", plan.gain_lower],
        ["gain, upper bound", plan.gain_upper],
        ["iota", plan.iota],
        *[["warning", text] for text in plan.warnings],
    ]
    return _titled(plan, table(["", ""], lines))


def result_html(result: dict[str, Any]) -> str:
    """The numbers of a verb; lists of records as tables of their own."""
    plain = [[name, v] for name, v in result.items() if not isinstance(v, (dict, list))]
    tables = [
        f"<p>{html.escape(name)}</p>{_records(v)}" for name, v in result.items() if is_records(v)
    ]
    return table(["", ""], plain) + "".join(tables)


def _records(records: list[dict[str, Any]]) -> str:
    """A line for each; not all have the same fields."""
    head = list(dict.fromkeys(name for one in records for name in one))
    return table(head, [[one.get(name) for name in head] for one in records])


def is_records(value: Any) -> bool:
    """Whether it is a list of mappings."""
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def lines_html(of: Any) -> str:
    """A result as it prints."""
    return f"<pre>{html.escape(repr(of))}</pre>"
