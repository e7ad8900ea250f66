"""Charts of runs as inline SVG: no script, no file beside it, colours from the page's style sheet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from fsagent.bench.datasets.schema import ANSWERABLE, CATEGORY_NAMES
from fsagent.bench.metrics.retrieval import TOKEN_BUDGETS
from fsagent.bench.summary import HEADLINE, ranks

WIDTH = 460
LEFT, RIGHT, TOP, BOTTOM = 116, 26, 10, 34
_ROW = 15
_COLOURS = 9


@dataclass(frozen=True, slots=True)
class Series:
    """One run in a chart: its name, its summary, and the number of its colour."""

    name: str
    content: Mapping[str, Any]
    place: int

    @property
    def colour(self) -> str:
        """The style sheet's class of the run's colour."""
        return f"s{self.place % _COLOURS}"


def legend(series: Sequence[Series]) -> str:
    """Return the names of the runs beside their colours, once for all charts."""
    marks = "".join(
        f'<li><svg viewBox="0 0 12 12" aria-hidden="true"><circle class="dot {one.colour}" '
        f'cx="6" cy="6" r="5"/></svg>{escape(one.name)}</li>'
        for one in series
    )
    return f'<ul class="legend">{marks}</ul>'


def score_by_category(series: Sequence[Series], part: str, name: str) -> str:
    """Return a score of each category, a dot a run, with its 95 % interval."""
    groups = [HEADLINE, *map(str, ANSWERABLE)]
    shown = [
        one
        for one in series
        if any(name in one.content[part].get(g, {}) for g in groups)
        and (part == "answers" or ranks(one.content))
    ]
    if not shown:
        return ""
    band = _ROW * len(shown) + 10
    height = TOP + band * len(groups) + BOTTOM
    scale = _linear(0, 1)
    parts = [_grid(scale, (0, 0.25, 0.5, 0.75, 1), height, _percent)]
    for row, group in enumerate(groups):
        top = TOP + row * band
        label = "1-4 together" if group == HEADLINE else CATEGORY_NAMES[int(group)]
        parts.append(_label(label, top + band / 2))
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{top}" y2="{top}"/>')
        for place, one in enumerate(shown):
            y = top + 5 + _ROW * (place + 0.5)
            parts.append(_whisker(one, part, group, name, scale=scale, y=y))
    return _svg(height, parts, f"{name} by category")


def recall_by_tokens(series: Sequence[Series]) -> str:
    """Return recall against the tokens shown, a line a run: the fair axis for lines and windows."""
    shown = [one for one in series if HEADLINE in one.content["retrieval"] and ranks(one.content)]
    if not shown:
        return ""
    height = 250
    x = _logarithmic(TOKEN_BUDGETS[0], TOKEN_BUDGETS[-1])
    y = _upward(height)
    parts = [_rows(y, (0, 0.25, 0.5, 0.75, 1), _percent)]
    parts += [_tick(x(b), height, f"{b:,}") for b in TOKEN_BUDGETS]
    for one in shown:
        scores = one.content["retrieval"][HEADLINE]
        points = [(b, scores[f"recall@{b}tok"]) for b in TOKEN_BUDGETS]
        path = " ".join(f"{x(b):.1f},{y(value):.1f}" for b, value in points)
        parts.append(f'<polyline class="line {one.colour}" points="{path}"/>')
        parts += [
            _dot(one, x(b), y(value), f"{one.name}: {_percent(value)} within {b:,} tokens")
            for b, value in points
        ]
    parts.append(_axis_name("tokens shown", height))
    return _svg(height, parts, "recall against tokens shown")


def score_by_cost(series: Sequence[Series]) -> str:
    """Return F1 against the context tokens of a question, a dot a run."""
    shown = [one for one in series if HEADLINE in one.content["answers"]]
    if not shown:
        return ""
    height = 250
    costs = [max(1.0, one.content["cost"]["context_tokens"]) for one in shown]
    x = _logarithmic(min(10.0, *costs), max(1000.0, *costs))
    best = max(one.content["answers"][HEADLINE]["f1"] for one in shown)
    top = 0.2 * max(1, math.ceil(best / 0.19))
    y = _upward(height, top)
    parts = [_rows(y, [top * i / 4 for i in range(5)], _percent)]
    parts += [_tick(x(10.0**e), height, f"{10**e:,}") for e in range(0, 6) if _within(x(10.0**e))]
    for one, cost in zip(shown, costs, strict=True):
        f1 = one.content["answers"][HEADLINE]["f1"]
        parts.append(
            _dot(one, x(cost), y(f1), f"{one.name}: F1 {_percent(f1)}, {cost:,.0f} tokens")
        )
    parts.append(_axis_name("context tokens a question", height))
    return _svg(height, parts, "F1 against context tokens")


def latency(series: Sequence[Series]) -> str:
    """Return the seconds a question takes, a bar a run from the median to p95."""
    if not series:
        return ""
    height = TOP + 24 * len(series) + BOTTOM
    values = [one.content["cost"]["latency_s"] for one in series]
    low = max(1e-4, min(value["p50"] for value in values))
    high = max(low * 10, *(value["p95"] for value in values))
    x = _logarithmic(low, high)
    parts = []
    for e in range(-4, 4):
        if _within(x(10.0**e)):
            parts.append(_column(x(10.0**e), height))
            parts.append(_tick(x(10.0**e), height, f"{10.0**e:g} s"))
    for place, (one, value) in enumerate(zip(series, values, strict=True)):
        y = TOP + 24 * (place + 0.5)
        a, b = x(max(low, value["p50"])), x(max(low, value["p95"]))
        title = f"{one.name}: median {value['p50']:.3f} s, p95 {value['p95']:.3f} s"
        parts.append(_label(one.name, y))
        parts.append(
            f'<line class="bar {one.colour}" x1="{a:.1f}" x2="{b:.1f}" y1="{y}" y2="{y}"/>'
        )
        parts.append(_dot(one, a, y, title))
    return _svg(height, parts, "latency")


def _whisker(
    one: Series, part: str, group: str, name: str, *, scale: Callable[[float], float], y: float
) -> str:
    scores = one.content[part].get(group)
    if not scores or name not in scores:
        return ""
    low, high = one.content["intervals"][part].get(group, {}).get(name, (None, None))
    text = f"{one.name}: {_percent(scores[name])}, n {scores['n']}"
    line = ""
    if low is not None:
        text += f", 95 % {_percent(low)} to {_percent(high)}"
        line = (
            f'<line class="whisker {one.colour}" x1="{scale(low):.1f}" x2="{scale(high):.1f}" '
            f'y1="{y}" y2="{y}"/>'
        )
    return line + _dot(one, scale(scores[name]), y, text)


def _dot(one: Series, x: float, y: float, title: str) -> str:
    return (
        f'<circle class="dot {one.colour}" cx="{x:.1f}" cy="{y:.1f}" r="4">'
        f"<title>{escape(title)}</title></circle>"
    )


def _grid(
    scale: Callable[[float], float],
    values: Iterable[float],
    height: float,
    say: Callable[[float], str],
) -> str:
    return "".join(
        _column(scale(value), height) + _tick(scale(value), height, say(value)) for value in values
    )


def _column(x: float, height: float) -> str:
    return f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - BOTTOM}"/>'


def _rows(
    scale: Callable[[float], float], values: Iterable[float], say: Callable[[float], str]
) -> str:
    return "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{scale(v):.1f}" y2="{scale(v):.1f}"/>'
        + _label(say(v), scale(v))
        for v in values
    )


def _tick(x: float, height: float, text: str) -> str:
    return f'<text class="tick" x="{x:.1f}" y="{height - BOTTOM + 14}">{escape(text)}</text>'


def _label(text: str, y: float) -> str:
    shown = text if len(text) <= 16 else f"{text[:15]}…"
    return f'<text class="label" x="{LEFT - 8}" y="{y + 4:.1f}">{escape(shown)}</text>'


def _axis_name(text: str, height: float) -> str:
    middle = (LEFT + WIDTH - RIGHT) / 2
    return f'<text class="tick" x="{middle}" y="{height - 4}">{escape(text)}</text>'


def _svg(height: float, parts: Iterable[str], name: str) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'aria-label="{escape(name)}">{"".join(parts)}</svg>'
    )


def _linear(low: float, high: float) -> Callable[[float], float]:
    span = WIDTH - LEFT - RIGHT
    return lambda value: LEFT + span * (value - low) / (high - low)


def _logarithmic(low: float, high: float) -> Callable[[float], float]:
    inner = _linear(math.log10(low), math.log10(high) if high > low else math.log10(low) + 1)
    return lambda value: inner(math.log10(value))


def _upward(height: float, top: float = 1.0) -> Callable[[float], float]:
    span = height - TOP - BOTTOM
    return lambda value: height - BOTTOM - span * value / top


def _within(x: float) -> bool:
    return LEFT - 1 <= x <= WIDTH - RIGHT + 1


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"
