"""Two runs over the same questions: the paired difference, its interval, and McNemar's test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsagent.bench.judging import JUDGEMENTS
from fsagent.bench.metrics.statistics import (
    Interval,
    McNemar,
    mcnemar,
    mean,
    paired_cluster_bootstrap,
)
from fsagent.bench.report import table
from fsagent.bench.rundir import Key, Row, RunDirectory
from fsagent.bench.summary import GROUPS, Scores, ranks, score_answer, score_retrieval
from fsagent.errors import ConfigError

RIGHT_F1 = 0.5
"""From this F1 on an answer counts as right for McNemar's test where no judge has spoken."""

_RANKED = ("recall@10", "recall@2000tok", "mrr")
_METRICS = ("f1", "em", *_RANKED)


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of two runs on the questions both have: B minus A. `test` is None for retrieval."""

    metric: str
    group: str
    n: int
    a: float
    b: float
    interval: Interval
    test: McNemar | None

    @property
    def difference(self) -> float:
        """B minus A."""
        return self.b - self.a

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {
            "metric": self.metric,
            "group": self.group,
            "n": self.n,
            "a": round(self.a, 4),
            "b": round(self.b, 4),
            "difference": round(self.difference, 4),
            "interval": [round(self.interval.low, 4), round(self.interval.high, 4)],
            "mcnemar": None
            if self.test is None
            else {"only_a": self.test.only_a, "only_b": self.test.only_b, "p": self.test.p},
        }


@dataclass(frozen=True, slots=True)
class _Run:
    sha256: str
    ranks: bool
    rows: Mapping[Key, Row]
    scores: Mapping[Key, Scores]


def compare(a: Path, b: Path) -> list[Difference]:
    """Return the paired differences of two runs by metric and group.

    Raises `ConfigError` where the runs are over different data or different questions. A question
    that failed in either run is left out of both.
    """
    first, second = _read(a), _read(b)
    _check_same_questions(first, second)
    found = []
    judges = sorted(_names(first, "judge:") & _names(second, "judge:"))
    for group, categories in GROUPS.items():
        metrics = (*_METRICS, *judges) if group != "5" else ("refusal_rate", "recall@10")
        if not (first.ranks and second.ranks):
            metrics = tuple(name for name in metrics if name not in _RANKED)
        for metric in metrics:
            keys = [
                key
                for key, row in first.rows.items()
                if row["category"] in categories
                and metric in first.scores[key]
                and metric in second.scores[key]
            ]
            if keys:
                found.append(_difference(first, second, metric, group, keys))
    return found


def different(a: Path, b: Path) -> list[str]:
    """Return what two runs were asked that is not the same: the more, the less a difference says."""
    found = []
    first, second = (_config(path) for path in (a, b))
    for key in sorted(first.keys() & second.keys()):
        before, after = first[key], second[key]
        if before != after:
            found.append(f"{key} ({before if before is not None else '-'} / {after or '-'})")
    return found


def markdown(differences: list[Difference], a: str, b: str, *, apart: Sequence[str] = ()) -> str:
    """Return the comparison as a Markdown table; `apart` is what the runs differ in."""
    rows = [
        [
            one.group,
            one.metric,
            str(one.n),
            f"{100 * one.a:.1f}",
            f"{100 * one.b:.1f}",
            f"{100 * one.difference:+.1f} [{100 * one.interval.low:+.1f}, {100 * one.interval.high:+.1f}]",
            f"{one.test.only_a} / {one.test.only_b}, p {one.test.p:.3g}" if one.test else "-",
        ]
        for one in differences
    ]
    note = (
        f"A is {a}, B is {b}; they differ in {', '.join(apart) or 'nothing'}. "
        "Difference: B minus A in points, with a 95 % interval: the wider of a "
        "bootstrap over questions and one over whole conversations. "
        "McNemar: questions right in A alone / in B alone, exact p; "
        f"right is a judge's verdict, or F1 of {RIGHT_F1} and more."
    )
    head = ["categories", "metric", "n", "A", "B", "difference", "McNemar"]
    return f"# Comparison\n\n{note}\n\n{table(head, rows)}\n"


def _difference(a: _Run, b: _Run, metric: str, group: str, keys: list[Key]) -> Difference:
    clusters_a: dict[str, list[float]] = {}
    clusters_b: dict[str, list[float]] = {}
    for key in keys:
        clusters_a.setdefault(key[0], []).append(a.scores[key][metric])
        clusters_b.setdefault(key[0], []).append(b.scores[key][metric])
    values_a = [a.scores[key][metric] for key in keys]
    values_b = [b.scores[key][metric] for key in keys]
    right = _right(metric)
    test = mcnemar(list(map(right, values_a)), list(map(right, values_b))) if right else None
    return Difference(
        metric=metric,
        group=group,
        n=len(keys),
        a=mean(values_a),
        b=mean(values_b),
        interval=paired_cluster_bootstrap(clusters_a, clusters_b),
        test=test,
    )


def _right(metric: str) -> Callable[[float], bool] | None:
    """Return what makes a score of the metric a right answer, None where nothing does."""
    if metric in ("f1", "em", "refusal_rate") or metric.startswith("judge:"):
        return lambda value: value >= RIGHT_F1
    return None


def _read(path: Path) -> _Run:
    run = RunDirectory.open(path)
    try:
        manifest = run.read_json("run.json")
        rows = run.predictions()
        sessions = manifest["dataset"]["sessions"]
        scores = {key: _score(row, sessions) for key, row in rows.items()}
        for row in run.rows(JUDGEMENTS):
            key = (row["sample_id"], row["qa_index"])
            current = key in rows and row["answer"] == rows[key]["answer"]
            same_key = key in rows and row["gold"] == rows[key]["gold"]
            if row["subject"] == "answer" and row["label"] and current and same_key:
                scores[key][f"judge:{row['judge']} ({row['model']})"] = float(
                    row["label"] == "CORRECT"
                )
        return _Run(manifest["dataset"]["sha256"], ranks(manifest), rows, scores)
    finally:
        run.close()


def _score(row: Row, sessions: Mapping[str, int]) -> Scores:
    if row["error"] is not None:
        return {}
    return {**(score_answer(row) or {}), **(score_retrieval(row, sessions) or {})}


def _check_same_questions(a: _Run, b: _Run) -> None:
    if a.sha256 != b.sha256:
        raise ConfigError("the runs are over different data files; only the same questions compare")
    only_a, only_b = len(a.rows.keys() - b.rows.keys()), len(b.rows.keys() - a.rows.keys())
    if only_a or only_b:
        raise ConfigError(
            f"the runs are over different questions ({only_a} only in the first, {only_b} only in "
            "the second); run both with the same --sample, --categories and --limit"
        )


def _config(path: Path) -> dict[str, Any]:
    """Return a run's configuration, the model's settings and the prompt's name beside the rest."""
    run = RunDirectory.open(path)
    try:
        manifest = run.read_json("run.json")
    finally:
        run.close()
    config = {**manifest["config"], "commit": manifest["commit"]}
    for part in ("model", "search"):
        config.update({f"{part}.{k}": v for k, v in (config.pop(part, None) or {}).items()})
    prompt = config.pop("answer_prompt") or {}
    # What only some systems have says no more than their names.
    for key in ("agent_prompt_sha256", "window_tokens"):
        config.pop(key, None)
    if config["system"] in ("agent", "full-context", "no-memory", "oracle"):
        config.pop("budget_tokens")
    return {**config, "answer_prompt": prompt.get("name")}


def _names(run: _Run, prefix: str) -> set[str]:
    return {name for scores in run.scores.values() for name in scores if name.startswith(prefix)}
