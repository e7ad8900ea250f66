"""Judge a run's answers and calibrate the judge; verdicts are kept, so that no one is asked twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from fsagent.bench.answerer import prompt_sha256
from fsagent.bench.calibration import SUBJECTS, probes
from fsagent.bench.datasets.schema import ANSWERABLE
from fsagent.bench.errata import Erratum, view
from fsagent.bench.judges import JUDGE_PROMPTS, Verdict, judge
from fsagent.bench.metrics.statistics import cluster_bootstrap, mean, wider, wilson
from fsagent.bench.progress import ERRORS_IN_A_ROW, RunStopped
from fsagent.bench.rundir import Key, Row, RunDirectory
from fsagent.errors import ConfigError
from fsagent.types import Model, Usage

JUDGEMENTS = "judgements.jsonl"
CALIBRATION_QUESTIONS = 30

Identity = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """One answer to be judged. `subject` is `answer`, or a calibration's kind of probe."""

    row: Row
    judge: str
    subject: str
    answer: str

    def identity(self, model: str) -> Identity:
        """What makes two verdicts the same one."""
        sha256 = prompt_sha256(JUDGE_PROMPTS[self.judge])
        return (
            self.row["sample_id"],
            self.row["qa_index"],
            self.judge,
            model,
            sha256,
            self.subject,
            self.row["gold"],
            self.answer,
        )


def judge_run(
    run: RunDirectory,
    judges: Sequence[str],
    model: Model,
    *,
    calibration: int = CALIBRATION_QUESTIONS,
    errata: Mapping[Key, Erratum] | None = None,
    workers: int = 1,
    on_verdict: Callable[[Verdict, int], None] | None = None,
) -> None:
    """Judge every answer of categories 1-4 with each judge, and the calibration's probes.

    With `errata`, answers whose gold the audit corrects are judged against both. Verdicts that are
    there already stay; errors are asked again. `on_verdict` hears each verdict, and how many are
    asked for. Raises `RunStopped` where the judge is away; a judge that talks nonsense is no outage.
    """
    for name in judges:
        if name not in JUDGE_PROMPTS:
            raise ConfigError(f"no judge {name!r}; there are {', '.join(JUDGE_PROMPTS)}")
    run.mend(JUDGEMENTS)
    done = {_identity(row) for row in run.rows(JUDGEMENTS) if row["error"] is None}
    rows = list(run.predictions().values())
    jobs = {
        job.identity(model.name): job
        for name in judges
        for job in _jobs(rows, name, calibration, errata or {})
    }
    rest = [job for identity, job in jobs.items() if identity not in done]
    pool, away = ThreadPoolExecutor(workers), 0
    try:
        for job, verdict in pool.map(lambda job: _judge(model, job), rest):
            run.append(JUDGEMENTS, _row(job, model.name, verdict))
            if on_verdict is not None:
                on_verdict(verdict, len(rest))
            away = away + 1 if verdict.outage else 0
            if away >= ERRORS_IN_A_ROW:
                raise RunStopped(
                    f"stopped: the judge failed {away} times in a row, the last with: "
                    f"{verdict.error}. The verdicts so far are kept; the same command with "
                    "--evaluate-only goes on when the cause is gone"
                )
    finally:
        # What is queued is not asked any more: an outage and Ctrl-C end after the calls under way.
        pool.shutdown(wait=True, cancel_futures=True)


def judge_summary(
    judgements: Sequence[Row], predictions: Sequence[Row], groups: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    """Return the figures of every judge that has judged the run, with its calibration.

    An answer without a verdict, or with an error, is neither right nor wrong; it is counted.
    """
    latest = {_identity(row): row for row in judgements}
    by_judge: dict[tuple[str, str, str], list[Row]] = {}
    for row in latest.values():
        who = (row["judge"], row["model"], row["prompt_sha256"])
        by_judge.setdefault(who, []).append(row)
    return {
        f"{name} / {model}": {
            "judge": name,
            "model": model,
            "prompt_sha256": sha256,
            **_scores(rows, predictions, groups),
            "calibration": _calibration(rows),
            "failed": _failed(rows),
            "usage": sum((Usage(**row["usage"]) for row in rows), Usage()).as_dict(),
        }
        for (name, model, sha256), rows in sorted(by_judge.items())
    }


def _jobs(
    rows: Sequence[Row], name: str, calibration: int, errata: Mapping[Key, Erratum]
) -> Iterator[Job]:
    able = [row for row in rows if row["category"] in ANSWERABLE and row["answer"] is not None]
    for row in [*able, *view(able, errata, "corrected")]:
        yield Job(row, name, "answer", row["answer"])
    for probe in probes(able, calibration):
        yield Job(probe.row, name, probe.subject, probe.answer)


def _judge(model: Model, job: Job) -> tuple[Job, Verdict]:
    return job, judge(
        model,
        job.judge,
        question=job.row["question"],
        gold=job.row["gold"],
        answer=job.answer,
    )


def _row(job: Job, model: str, verdict: Verdict) -> Row:
    return {
        "sample_id": job.row["sample_id"],
        "qa_index": job.row["qa_index"],
        "category": job.row["category"],
        "judge": job.judge,
        "model": model,
        "prompt_sha256": prompt_sha256(JUDGE_PROMPTS[job.judge]),
        "subject": job.subject,
        "gold": job.row["gold"],
        "answer": job.answer,
        "label": verdict.label,
        "reason": verdict.reason,
        "error": verdict.error,
        "reply": verdict.reply,
        "attempts": verdict.attempts,
        "usage": verdict.usage.as_dict(),
    }


def _identity(row: Row) -> Identity:
    keys = ("sample_id", "qa_index", "judge", "model", "prompt_sha256", "subject", "gold", "answer")
    return tuple(row[key] for key in keys)


def _scores(
    rows: Sequence[Row], predictions: Sequence[Row], groups: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    verdicts = {
        (row["sample_id"], row["qa_index"], row["gold"], row["answer"]): row
        for row in rows
        if row["subject"] == "answer"
    }
    found: dict[str, Any] = {}
    errors = 0
    for group, categories in groups.items():
        clusters: dict[str, list[float]] = {}
        for row in predictions:
            if row["category"] not in categories or row["answer"] is None:
                continue
            key = (row["sample_id"], row["qa_index"], row["gold"], row["answer"])
            verdict = verdicts.get(key)
            if verdict is not None and verdict["label"] is not None:
                clusters.setdefault(row["sample_id"], []).append(verdict["label"] == "CORRECT")
            elif len(categories) == 1 and categories[0] in ANSWERABLE:
                errors += 1
        values = [value for cluster in clusters.values() for value in cluster]
        if values:
            bounds = wilson(sum(values), len(values))
            if len(categories) > 1:
                bounds = wider(bounds, cluster_bootstrap(clusters))
            found[group] = {
                "n": len(values),
                "score": round(mean(values), 4),
                "interval": [round(bounds.low, 4), round(bounds.high, 4)],
            }
    return {**found, "errors": errors}


def _failed(rows: Sequence[Row]) -> list[Row]:
    """Return what could not be judged: which answer or probe, and why."""
    return [
        {
            "sample_id": row["sample_id"],
            "qa_index": row["qa_index"],
            "subject": row["subject"],
            "error": row["error"],
        }
        for row in rows
        if row["error"] is not None
    ]


def _calibration(rows: Sequence[Row]) -> dict[str, Any]:
    """Return how many probes of each kind the judge passed: gold should, the others should not."""
    found: dict[str, Any] = {}
    for subject in SUBJECTS:
        labels = [row["label"] for row in rows if row["subject"] == subject and row["label"]]
        passed = sum(label == "CORRECT" for label in labels)
        found[subject] = {
            "n": len(labels),
            "errors": sum(row["subject"] == subject and row["label"] is None for row in rows),
            "passed": round(passed / len(labels), 4) if labels else None,
        }
    return found
