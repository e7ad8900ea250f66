"""Fit the offline reader's weights on LoCoMo conversations, and say what they are worth elsewhere.

    python benchmarks/fit_offline_reader.py locomo3.json            # leave one conversation out
    python benchmarks/fit_offline_reader.py locomo3.json --write    # fit on all, write weights.py

The lines of a conversation are ranked by the reader itself (`reader.ranked`), so that no search
stands between the data and the weights. Sentences and phrases are softmax models whose expected
score is raised by gradient ascent (Adam): for a sentence the best official F1 a phrase of it
reaches where it is evidence, for a phrase its official F1. Adversarial questions take no part.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from fsagent.bench.datasets.read import read_dataset
from fsagent.bench.datasets.schema import Dataset, Question, Sample
from fsagent.bench.ingest import rendered_turns
from fsagent.bench.metrics.official import official_f1
from fsagent.models.offline import weights
from fsagent.models.offline.answer import POOL, answer
from fsagent.models.offline.evidence import Evidence, read_context
from fsagent.models.offline.phrase import features
from fsagent.models.offline.question import Question as Asked
from fsagent.models.offline.question import analyse
from fsagent.models.offline.reader import Scored, ranked, score_sentences
from fsagent.models.offline.spans import candidates

SENTENCE_L2, PHRASE_L2 = 3e-4, 2e-4
STEPS, RATE = 150, 0.08
EVIDENCE_SHARE = 0.25  # what an evidence sentence is worth even where no phrase of it fits
TABLES = ("SENTENCE", "SPAN_SENTENCE", "SPAN")
NO_PHRASE = ("when", "yes/no", "would", "choice")
_HEADS = {
    "SENTENCE": "# Which sentence answers (`reader.py`).",
    "SPAN_SENTENCE": "# What a phrase gains from its sentence, by the same features.",
    "SPAN": "# Which phrase of a sentence answers (`phrase.py`).",
}

Features = Mapping[str, float]
Tables = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Case:
    """A question with the evidence the reader sees, and the places of the gold lines in it."""

    question: Question
    asked: Asked
    evidence: Evidence
    gold: frozenset[int]


def main() -> None:
    """Fit and print; with `--write`, replace the table in the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    cases = list(read_cases(read_dataset(options.data)))
    if options.write:
        Path(weights.__file__).write_text(as_module(fit(cases)), encoding="utf-8")
        return
    folds = sorted({case.question.sample_id for case in cases})
    held_out: list[tuple[Case, str]] = []
    for fold in folds:
        use(fit([case for case in cases if case.question.sample_id != fold]))
        rest = [case for case in cases if case.question.sample_id == fold]
        held_out += [(case, answer(case.asked, case.evidence).text) for case in rest]
        print(fold, summary(held_out[-len(rest) :]), flush=True)
    print("left out", summary(held_out))


def read_cases(dataset: Dataset) -> Iterator[Case]:
    """Yield every question with its evidence."""
    samples = {sample.sample_id: sample for sample in dataset.samples}
    contexts: dict[str, tuple[list[str], Evidence]] = {}
    for question in dataset.questions:
        if question.sample_id not in contexts:
            contexts[question.sample_id] = context_of(samples[question.sample_id])
        dia_ids, lines = contexts[question.sample_id]
        asked = analyse(question.text)
        gold = frozenset(dia_ids.index(dia_id) + 1 for dia_id in question.evidence)
        yield Case(question, asked, ranked(asked, lines), gold)


def context_of(sample: Sample) -> tuple[list[str], Evidence]:
    """Return the ids of a sample's turns, and the turns as lines numbered in the same order."""
    rendered = rendered_turns(sample)
    return list(rendered), read_context("\n".join(rendered.values()))


def fit(cases: Sequence[Case]) -> Tables:
    """Return the three tables fitted on `cases`."""
    cases = [case for case in cases if case.question.category != 5]
    lists = [sentence_list(case) for case in cases]
    sentence = climb(lists, SENTENCE_L2, {"own": 4.0})
    use({"SENTENCE": sentence, "SPAN_SENTENCE": {}, "SPAN": {}})
    phrases = [phrase_list(case) for case in cases if case.asked.kind not in NO_PHRASE]
    start = {"s own": 4.0, "s rank": 2.0, "s above asks": 2.0, "s question": -1.0}
    both = climb(phrases, PHRASE_L2, start)
    return {
        "SENTENCE": sentence,
        "SPAN_SENTENCE": {name[2:]: value for name, value in both.items() if name[:2] == "s "},
        "SPAN": {name[2:]: value for name, value in both.items() if name[:2] == "p "},
    }


def sentence_list(case: Case) -> tuple[list[Features], list[float]]:
    """Return each sentence's features and what it is worth."""
    scored = score_sentences(case.asked, case.evidence)
    worth = [sentence_worth(case, one) if one.line.number in case.gold else 0.0 for one in scored]
    return [one.features for one in scored], worth


def sentence_worth(case: Case, one: Scored) -> float:
    if case.asked.kind == "when":
        alone = Evidence((one.line,))
        return f1(case, answer(case.asked, alone).text)
    best = max((f1(case, span.text) for span in candidates(case.asked, [one])), default=0.0)
    return EVIDENCE_SHARE + (1 - EVIDENCE_SHARE) * best


def phrase_list(case: Case) -> tuple[list[Features], list[float]]:
    """Return each phrase's features, its sentence's among them, and what it is worth."""
    best = [one for one in score_sentences(case.asked, case.evidence) if not one.asks][:POOL]
    rows: list[Features] = []
    worth = []
    for span in candidates(case.asked, best):
        own = {f"p {name}": value for name, value in features(case.asked, span).items()}
        rows.append(own | {f"s {name}": value for name, value in span.scored.features.items()})
        known = 1.0 if span.scored.line.number in case.gold else 0.85
        worth.append(known * f1(case, span.text))
    return rows, worth


def f1(case: Case, text: str) -> float:
    # A comma would part a multi-hop answer in two, and each part be scored for itself.
    return official_f1(text.replace(",", " "), case.question.gold, case.question.category)


def climb(
    lists: Sequence[tuple[list[Features], list[float]]], l2: float, start: Features
) -> dict[str, float]:
    """Raise the expected worth of a softmax over each list; return the weights by name."""
    lists = [(rows, worth) for rows, worth in lists if worth and max(worth) > 0]
    seen = Counter(name for rows, _ in lists for name in {n for row in rows for n in row})
    names = sorted(name for name, count in seen.items() if count >= 8)
    column = {name: place for place, name in enumerate(names)}
    table = np.zeros((sum(len(rows) for rows, _ in lists), len(names)), dtype=np.float32)
    for place, row in enumerate(row for rows, _ in lists for row in rows):
        for name, value in row.items():
            if name in column:
                table[place, column[name]] = value
    counts = np.array([len(rows) for rows, _ in lists])
    worth = np.concatenate([worth for _, worth in lists]).astype(np.float32)
    begin = np.array([start.get(name, 0.0) for name in names], dtype=np.float32)
    return dict(
        zip(names, map(float, adam(begin, gradient_of(table, counts, worth, l2))), strict=True)
    )


def gradient_of(table: Any, counts: Any, worth: Any, l2: float) -> Callable[[Any], Any]:
    """Return the gradient of the expected worth, less the penalty."""
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])

    def gradient(w: Any) -> Any:
        z = table @ w
        p = np.exp(z - np.repeat(np.maximum.reduceat(z, starts), counts))
        p /= np.repeat(np.add.reduceat(p, starts), counts)
        expected = np.repeat(np.add.reduceat(p * worth, starts), counts)
        return table.T @ (p * (worth - expected)) / len(counts) - l2 * w

    return gradient


def adam(w: Any, gradient: Callable[[Any], Any]) -> Any:
    m, v = np.zeros_like(w), np.zeros_like(w)
    for step in range(1, STEPS + 1):
        g = gradient(w)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w = w + RATE * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return w


def use(tables: Tables) -> None:
    """Put tables in the place of the package's own, in this process."""
    for name, table in tables.items():
        own = cast(MutableMapping[str, float], getattr(weights, name))
        own.clear()
        own.update(table)


def summary(answered: Sequence[tuple[Case, str]]) -> str:
    """Return official F1 by category, and how often a question was refused."""
    scores: dict[str, list[float]] = defaultdict(list)
    refused: dict[str, list[float]] = defaultdict(list)
    for case, text in answered:
        category = case.question.category
        value = official_f1(text, case.question.gold, category)
        for key in [str(category), *(["1-4"] if category != 5 else [])]:
            scores[key].append(value)
            refused[key].append(float(text.startswith("No information")))
    return " ".join(
        f"{key}: {np.mean(scores[key]):.3f} (n={len(scores[key])}, refused {np.mean(refused[key]):.3f})"
        for key in sorted(scores)
    )


def as_module(tables: Tables) -> str:
    """Return the text of weights.py."""
    parts = [
        '"""The reader\'s weights, written by benchmarks/fit_offline_reader.py.\n\n'
        "Features are general ones of English text; none is a word of any data.\n"
        '"""\n\nfrom __future__ import annotations\n\nfrom collections.abc import Mapping\n'
    ]
    for name in TABLES:
        rows = [
            f'    "{key}": {value:.2f},'
            for key, value in sorted(tables[name].items())
            if abs(value) >= 0.05
        ]
        parts.append("\n".join([_HEADS[name], f"{name}: Mapping[str, float] = {{", *rows, "}\n"]))
    return "\n".join(parts)


if __name__ == "__main__":
    main()
