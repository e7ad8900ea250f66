"""Several end-to-end runs of one configuration: what a headline figure stands on."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fsagent.bench.metrics.statistics import mean
from fsagent.bench.options import BenchOptions
from fsagent.bench.progress import OnProgress
from fsagent.bench.report import table
from fsagent.bench.runner import run_benchmark
from fsagent.bench.summary import GROUPS, HEADLINE, Summary

HEADLINE_RUNS = 3
"""From so many end-to-end runs on a figure may stand as a headline."""

_ANSWERS = ("f1", "f1_repaired", "em", "refusal_rate", "trap_rate")
_RETRIEVAL = ("recall@10", "mrr")


def run_epochs(
    options: BenchOptions, runs: int, *, on_progress: OnProgress | None = None
) -> list[Summary]:
    """Run the same configuration several times, into `out/run-1`, `out/run-2`, ...

    Nothing is shared between the runs; kept replies are per run. What they agree on stands in
    `out/headline.json`.
    """
    summaries = [
        run_benchmark(
            dataclasses.replace(options, epoch=epoch, out=options.out / f"run-{epoch}"),
            on_progress=on_progress,
        )
        for epoch in range(1, runs + 1)
    ]
    text = json.dumps(spread(summaries), ensure_ascii=False, indent=1)
    (options.out / "headline.json").write_text(text + "\n", encoding="utf-8", newline="\n")
    return summaries


def spread(summaries: Sequence[Summary]) -> dict[str, Any]:
    """Return the mean of each figure over the runs, its lowest and highest, and its deviation."""
    contents = [summary.content for summary in summaries]
    found: dict[str, Any] = {"runs": len(contents), "complete": _complete(summaries)}
    for group in GROUPS:
        scores = {
            name: _spread(values)
            for name, values in _figures(contents, group)
            if len(values) == len(contents)
        }
        if scores:
            found[group] = scores
    return found


def markdown(summaries: Sequence[Summary]) -> str:
    """Return the headline over several runs as Markdown."""
    found = spread(summaries)
    rows = [
        [
            group,
            name,
            f"{100 * one['mean']:.1f}",
            f"{100 * one['low']:.1f} to {100 * one['high']:.1f}",
            f"{100 * one['sd']:.2f}",
        ]
        for group in GROUPS
        for name, one in found.get(group, {}).items()
    ]
    few = "" if found["runs"] >= HEADLINE_RUNS else f"; a headline wants {HEADLINE_RUNS}"
    note = (
        f"{found['runs']} end-to-end runs{few}. The spread is that of the runs alone; how far the "
        "questions can be trusted say the intervals of each run."
    )
    head = ["categories", "metric", "mean", "lowest to highest", "standard deviation"]
    return f"## Headline\n\n{note}\n\n{table(head, rows)}\n"


def _figures(
    contents: Sequence[Mapping[str, Any]], group: str
) -> Iterator[tuple[str, list[float]]]:
    for part, names in (("answers", _ANSWERS), ("retrieval", _RETRIEVAL)):
        for name in names:
            scores = [one[part].get(group, {}) for one in contents]
            yield name, [score[name] for score in scores if name in score]
    for judge in contents[0].get("judges", {}) if group == HEADLINE else ():
        verdicts = [one.get("judges", {}).get(judge, {}).get(group, {}) for one in contents]
        yield f"judge {judge}", [one["score"] for one in verdicts if "score" in one]


def _spread(values: Sequence[float]) -> dict[str, float]:
    centre = mean(values)
    squares = sum((value - centre) ** 2 for value in values)
    deviation = math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else 0.0
    figures = {"mean": centre, "low": min(values), "high": max(values), "sd": deviation}
    return {name: round(value, 4) for name, value in figures.items()}


def _complete(summaries: Sequence[Summary]) -> bool:
    return all(summary.complete for summary in summaries)
