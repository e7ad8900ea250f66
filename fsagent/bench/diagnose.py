"""Where a run loses: the evidence was shown and the answer is wrong, or it was never shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fsagent.bench.compare import RIGHT_F1
from fsagent.bench.datasets.schema import ANSWERABLE, CATEGORY_NAMES
from fsagent.bench.judging import JUDGEMENTS
from fsagent.bench.metrics.answers import is_refusal
from fsagent.bench.metrics.official import official_f1
from fsagent.bench.report import table
from fsagent.bench.rundir import Key, Row, RunDirectory
from fsagent.errors import ConfigError

Outcome = Literal[
    "right",
    "shown, refused",
    "shown, answered wrong",
    "part shown, wrong",
    "never shown, refused",
    "never shown, answered wrong",
    "no evidence in the key, wrong",
    "error",
]
OUTCOMES: tuple[Outcome, ...] = (
    "right",
    "shown, refused",
    "shown, answered wrong",
    "part shown, wrong",
    "never shown, refused",
    "never shown, answered wrong",
    "no evidence in the key, wrong",
    "error",
)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Each answerable question's outcome. `judged_by` says what counts as right."""

    outcomes: Mapping[Key, Outcome]
    rows: Mapping[Key, Row]
    judged_by: str

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many questions of each category ended how."""
        found: dict[str, dict[str, int]] = {
            str(category): dict.fromkeys(map(str, OUTCOMES), 0) for category in ANSWERABLE
        }
        for key, outcome in self.outcomes.items():
            found[str(self.rows[key]["category"])][outcome] += 1
        return {group: counts for group, counts in found.items() if any(counts.values())}


def diagnose(run_dir: Path) -> Diagnosis:
    """Sort a run's answerable questions by where they were lost.

    Right is the strict judge's verdict where the run was judged so, else an F1 of 0.5 and more.
    Raises `ConfigError` for a run without answers.
    """
    run = RunDirectory.open(run_dir)
    try:
        rows = {k: row for k, row in run.predictions().items() if row["category"] in ANSWERABLE}
        verdicts = {
            (row["sample_id"], row["qa_index"], row["gold"], row["answer"]): row["label"]
            == "CORRECT"
            for row in run.rows(JUDGEMENTS)
            if row["judge"] == "strict" and row["subject"] == "answer" and row["label"]
        }
    finally:
        run.close()
    if all(row["answer"] is None for row in rows.values()):
        raise ConfigError(f"{run_dir} has no answers to diagnose (a retrieval-only run?)")
    outcomes = {key: outcome_of(row, verdicts) for key, row in rows.items()}
    return Diagnosis(outcomes, rows, "strict judge" if verdicts else f"F1 >= {RIGHT_F1}")


def outcome_of(row: Row, verdicts: Mapping[tuple[str, int, str, str], bool]) -> Outcome:
    """Return how one question ended."""
    if row["answer"] is None:
        return "error"
    verdict = verdicts.get((row["sample_id"], row["qa_index"], row["gold"], row["answer"]))
    if verdict is None:
        verdict = official_f1(row["answer"], row["gold"], row["category"]) >= RIGHT_F1
    if verdict:
        return "right"
    if not row["evidence"]:
        return "no evidence in the key, wrong"
    refused = is_refusal(row["answer"])
    if not row["evidence_shown"]:
        return "never shown, refused" if refused else "never shown, answered wrong"
    if len(row["evidence_shown"]) < len(row["evidence"]):
        return "part shown, wrong"
    return "shown, refused" if refused else "shown, answered wrong"


def markdown(diagnosis: Diagnosis, *, examples: int = 3) -> str:
    """Return the diagnosis as Markdown: counts by category, then examples of each loss."""
    counts = diagnosis.counts()
    head = ["outcome", *(f"{c} {CATEGORY_NAMES[int(c)]}" for c in counts), "all"]
    rows = [
        [
            outcome,
            *(str(counts[group][outcome]) for group in counts),
            str(sum(counts[group][outcome] for group in counts)),
        ]
        for outcome in OUTCOMES
    ]
    parts = ["# Where the losses are", f"Right: {diagnosis.judged_by}.", table(head, rows)]
    for outcome in OUTCOMES[1:]:
        found = [diagnosis.rows[key] for key, one in diagnosis.outcomes.items() if one == outcome]
        if found and examples:
            parts += [f"## {outcome} ({len(found)})", _examples(found[:examples])]
    return "\n\n".join(parts) + "\n"


def _examples(rows: Sequence[Row]) -> str:
    return "\n".join(
        f"- {row['sample_id']} #{row['qa_index']} ({CATEGORY_NAMES[row['category']]}): "
        f"{row['question']} gold: {row['gold']!r}; answer: {row['answer'] or row['error']!r}; "
        f"evidence {', '.join(row['evidence']) or 'none'}, "
        f"shown {', '.join(row['evidence_shown']) or 'none'}"
        for row in rows
    )
