"""The figures of a run, from its predictions alone: each with its n, its intervals and its cost.

Groups are the categories and `1-4`, all but the adversarial one, which is never blended in.
Questions that ended in an error are counted and left out: they are neither right nor wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fsagent.bench.datasets.schema import ADVERSARIAL, ANSWERABLE
from fsagent.bench.errata import VIEWS, Erratum, view
from fsagent.bench.judging import judge_summary
from fsagent.bench.metrics.answers import (
    answer_words,
    bleu1,
    exact_match,
    falls_for,
    is_refusal,
    rouge_l,
)
from fsagent.bench.metrics.official import official_f1, repaired_f1
from fsagent.bench.metrics.retrieval import retrieval_scores
from fsagent.bench.metrics.statistics import (
    Interval,
    cluster_bootstrap,
    mean,
    percentile,
    wider,
    wilson,
)
from fsagent.bench.progress import cost_of
from fsagent.bench.rundir import Key, Row
from fsagent.models.prices import PriceList
from fsagent.types import Usage

HEADLINE = "1-4"
GROUPS: dict[str, tuple[int, ...]] = {
    HEADLINE: ANSWERABLE,
    **{str(category): (category,) for category in (*ANSWERABLE, ADVERSARIAL)},
}
INTERVAL_OF = ("f1", "recall@10", "recall@2000tok", "refusal_rate")

UNRANKED = ("full-context", "no-memory")
"""Systems that show everything or nothing: their recall is no figure of a search."""

Scores = dict[str, float]


@dataclass(frozen=True, slots=True)
class Summary:
    """The content of `summary.json`."""

    content: Mapping[str, Any]

    @property
    def complete(self) -> bool:
        """Whether every question has an answer that could be scored."""
        gaps = ("errors", "missing", "judge_errors")
        return not any(self.content.get(name) for name in gaps)


def ranks(content: Mapping[str, Any]) -> bool:
    """Tell whether a run's retrieval figures are those of something that ranks."""
    return content["system"] not in UNRANKED


def summarize(
    manifest: Mapping[str, Any],
    rows: Sequence[Row],
    *,
    judgements: Sequence[Row] = (),
    ingested: Sequence[Row] = (),
    errata: Mapping[Key, Erratum] | None = None,
    prices: PriceList | None = None,
) -> Summary:
    """Return the figures of a run, with its judges' where there are verdicts.

    With `errata` the same figures stand under `views` for the corrected and the clean key.
    """
    known = prices or PriceList()
    answered = [row for row in rows if row["error"] is None]
    sessions: Mapping[str, int] = manifest["dataset"]["sessions"]
    retrieval = _Scored(answered, lambda row: score_retrieval(row, sessions))
    answers = _Scored(answered, score_answer)
    content: dict[str, Any] = {
        "dataset": {
            **{key: manifest["dataset"][key] for key in ("name", "sha256", "samples", "questions")},
            "duplicates": _duplicates(rows),
        },
        "system": manifest["system"],
        "model": manifest["model"],
        "config_sha256": manifest["config_sha256"],
        "mode": _mode(manifest["config"]),
        "made": {
            **{key: manifest[key] for key in ("started", "commit", "python", "machine")},
            "resumed": manifest.get("resumed", []),
        },
        "documents": _documents(manifest),
        "retrieval": retrieval.means(),
        "answers": answers.means(),
        "adversarial": _adversarial(answers),
        "intervals": {"retrieval": retrieval.intervals(), "answers": answers.intervals()},
        "cost": _cost(manifest["model"], answered, known),
        "ingest": _ingest(ingested),
        "errors": len(rows) - len(answered),
        "failed": [_failure(row) for row in rows if row["error"] is not None],
        "missing": manifest["dataset"]["questions"] - len(rows),
    }
    kinds = {row["kind"] for row in answered if row["kind"]}
    if kinds:
        content["kinds"] = {
            name: {"retrieval": retrieval.kind(name), "answers": answers.kind(name)}
            for name in sorted(kinds)
        }
    if judgements:
        content["judges"] = judge_summary(judgements, answered, GROUPS)
        for one in content["judges"].values():
            one["usd"] = _usd(Usage(**one["usage"]), one["model"], known)
        content["judge_errors"] = sum(
            one["errors"] + sum(probe["errors"] for probe in one["calibration"].values())
            for one in content["judges"].values()
        )
    if errata is not None:
        content["views"] = {
            name: _view(view(answered, errata, name), sessions, judgements) for name in VIEWS
        }
    return Summary(content)


def _view(
    rows: Sequence[Row], sessions: Mapping[str, int], judgements: Sequence[Row]
) -> dict[str, Any]:
    retrieval = _Scored(rows, lambda row: score_retrieval(row, sessions))
    found: dict[str, Any] = {
        "retrieval": retrieval.means(),
        "answers": _Scored(rows, score_answer).means(),
    }
    if judgements:
        found["judges"] = judge_summary(judgements, rows, GROUPS)
    return found


def score_retrieval(row: Row, sessions: Mapping[str, int]) -> Scores | None:
    """Return a prediction's retrieval scores, None where the key names no evidence."""
    if not row["evidence"]:
        return None
    return retrieval_scores(
        row["retrieved"],
        row["retrieved_tokens"],
        row["evidence"],
        sessions=sessions[row["sample_id"]],
        ranked_sessions=row["retrieved_sessions"],
    )


def score_answer(row: Row) -> Scores | None:
    """Return a prediction's answer scores, None where nothing was answered."""
    text, gold, category = row["answer"], row["gold"], row["category"]
    if text is None:
        return None
    refused = is_refusal(text)
    if category == ADVERSARIAL:
        return {
            "f1": official_f1(text, gold, category),
            "refusal_rate": float(refused),
            "trap_rate": float(falls_for(text, row["trap"])),
            "words": answer_words(text),
        }
    return {
        "f1": official_f1(text, gold, category),
        "f1_repaired": repaired_f1(text, gold, category),
        "em": exact_match(text, gold),
        "bleu1": bleu1(text, gold),
        "rougeL": rouge_l(text, gold),
        "words": answer_words(text),
        "false_refusal_rate": float(refused),
    }


class _Scored:
    """Scores of questions, to be averaged by group."""

    def __init__(self, rows: Sequence[Row], score: Callable[[Row], Scores | None]) -> None:
        scored = [(row, score(row)) for row in rows]
        self._scored = [(row, scores) for row, scores in scored if scores is not None]

    def means(self) -> dict[str, Scores]:
        """Return the mean of each score by group, with n. Groups without questions are left out."""
        return {
            group: {
                "n": len(found),
                **{name: _round(mean(self.values(group, name))) for name in names},
            }
            for group in GROUPS
            if (found := self._of(group)) and (names := _common(scores for _, scores in found))
        }

    def kind(self, name: str) -> Scores:
        """Return the means of the questions of one of the data set's own kinds."""
        found = [scores for row, scores in self._scored if row["kind"] == name]
        names = _common(found) if found else []
        return {"n": len(found), **{one: _round(mean([s[one] for s in found])) for one in names}}

    def intervals(self) -> dict[str, dict[str, list[float]]]:
        """Return 95 % intervals: Wilson's; for 1-4 the wider of it and the clustered bootstrap."""
        found: dict[str, dict[str, list[float]]] = {}
        for group in GROUPS:
            for name in INTERVAL_OF:
                values = self.values(group, name)
                if values:
                    bounds = wilson(sum(values), len(values))
                    entry = found.setdefault(group, {})
                    if group == HEADLINE:
                        clustered = cluster_bootstrap(self.clusters(group, name))
                        entry[f"{name}_wilson"] = _pair(bounds)
                        entry[f"{name}_clustered"] = _pair(clustered)
                        bounds = wider(bounds, clustered)
                    entry[name] = _pair(bounds)
        return found

    def values(self, group: str, name: str) -> list[float]:
        """Return a score of every question of a group that has it."""
        return [scores[name] for _, scores in self._of(group) if name in scores]

    def clusters(self, group: str, name: str) -> dict[str, list[float]]:
        """Return a score of a group's questions by conversation."""
        found: dict[str, list[float]] = {}
        for row, scores in self._of(group):
            if name in scores:
                found.setdefault(row["sample_id"], []).append(scores[name])
        return found

    def _of(self, group: str) -> list[tuple[Row, Scores]]:
        return [pair for pair in self._scored if pair[0]["category"] in GROUPS[group]]


def _common(all_scores: Any) -> list[str]:
    """Return the names that every question has: a k that some sample refuses has no mean."""
    rows = [list(scores) for scores in all_scores]
    return [name for name in rows[0] if all(name in row for row in rows)]


def _adversarial(answers: _Scored) -> dict[str, float]:
    refused = answers.values(str(ADVERSARIAL), "refusal_rate")
    falsely = answers.values(HEADLINE, "false_refusal_rate")
    if not refused or not falsely:
        return {}
    return {
        "refusal_rate": _round(mean(refused)),
        "false_refusal_rate": _round(mean(falsely)),
        "trap_rate": _round(mean(answers.values(str(ADVERSARIAL), "trap_rate"))),
        "balanced_accuracy": _round((mean(refused) + 1 - mean(falsely)) / 2),
    }


def _documents(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many turns and sessions the samples have: what a k is to be read against."""
    samples = manifest["dataset"]["samples"]
    return {
        kind: [
            min(manifest["dataset"][kind][s] for s in samples),
            max(manifest["dataset"][kind][s] for s in samples),
        ]
        for kind in ("turns", "sessions")
    }


def _duplicates(rows: Sequence[Row]) -> int:
    """Return how many questions say what an earlier one of the same conversation says."""
    return len(rows) - len({(row["sample_id"], row["question"]) for row in rows})


def _mode(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a reader of the figures must know of how the run was asked."""
    prompt = config["answer_prompt"]
    return {
        "answer_prompt": None if prompt is None else prompt["name"],
        "smoke": config.get("smoke", False),
        "draw": config.get("draw"),
        "epoch": config["epoch"],
    }


def _ingest(rows: Sequence[Row]) -> dict[str, Any]:
    """Return what laying the stores cost, apart from the questions; a resume lays some again."""
    return {
        "stores": len(rows),
        "turns": sum(row["turns"] for row in rows),
        "bytes": sum(row["bytes"] for row in rows),
        "seconds": _round(sum(row["seconds"] for row in rows)),
    }


def _failure(row: Row) -> Row:
    return {key: row[key] for key in ("sample_id", "qa_index", "error")}


def _usd(usage: Usage, model: str | None, prices: PriceList) -> float | None:
    usd = cost_of(usage, model, prices)
    return None if usd is None else round(usd, 6)


def _cost(model: str | None, rows: Sequence[Row], prices: PriceList) -> dict[str, Any]:
    usage = sum((Usage(**row["usage"]) for row in rows), Usage())
    latency = sorted(row["latency_s"] for row in rows)
    return {
        **{name: count or 0 for name, count in usage.as_dict().items()},
        "tool_calls": _round(mean([row["tool_calls"] for row in rows])),
        "context_tokens": _round(mean([row["shown_tokens"] for row in rows])),
        "shown_turns": _round(mean([row["shown_turns"] for row in rows])),
        "latency_s": {f"p{q}": _round(percentile(latency, q)) for q in (50, 95, 99)},
        "usd": _usd(usage, model, prices),
        "prices_of": prices.of,
    }


def _pair(interval: Interval) -> list[float]:
    return [_round(interval.low), _round(interval.high)]


def _round(value: float) -> float:
    return round(value, 4)
