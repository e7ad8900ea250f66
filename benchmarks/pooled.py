"""All conversations in one workspace: how well a question finds its turns among everybody's.

    python benchmarks/pooled.py DATA

DATA is a file in LoCoMo's schema. The ranker's weights are fitted on the other conversations, each in
a workspace of its own, so that none ranks what it was fitted on; `shipped` uses the weights that ship.
BM25 and, with the extra `vectors`, MiniLM stand beside, over the same turns. Needs `bench` (numpy).
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import fit_ranker
import numpy as np
from fit_fusion import fused
from fit_ranker import DEPTHS, Case

from fsagent.bench.datasets import locomo
from fsagent.bench.datasets.schema import ADVERSARIAL, Dataset
from fsagent.bench.ingest import Store, ingest
from fsagent.bench.systems.bm25 import BM25, terms
from fsagent.config import Settings
from fsagent.memory.workspace import Workspace
from fsagent.search import minilm
from fsagent.search.features import FEATURES
from fsagent.search.fusion import WEIGHT
from fsagent.search.index import catch_up
from fsagent.search.snapshot import Snapshot, SnapshotSource
from fsagent.search.vectors import Vectors
from fsagent.search.weights import WEIGHTS

Scores = dict[str, list[np.ndarray]]


def main() -> None:
    """Print a row a system."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    given = parser.parse_args()
    dataset = locomo.load(given.data)
    apart = fit_ranker.cases(given.data)
    names = sorted({case.sample_id for case in apart})
    weights = {
        name: fit_ranker.fit([case for case in apart if case.sample_id != name]) for name in names
    }
    with tempfile.TemporaryDirectory() as folder:
        cases, scores = pooled(dataset, Path(folder) / "memory", weights)
    turns = len(cases[0].table)
    print(f"{datetime.now(UTC):%Y-%m-%d}, {len(cases)} questions, {turns} turns in one workspace\n")
    print("                          R@5   R@10  R@20  R@50  MRR")
    for name, found in scores.items():
        rows = [judged(case, one) for case, one in zip(cases, found, strict=True)]
        print(f"{name:<24}  " + " ".join(f"{mean:.3f}" for mean in np.mean(rows, 0)))


def pooled(
    dataset: Dataset, root: Path, weights: dict[str, np.ndarray]
) -> tuple[list[Case], Scores]:
    """Return the questions asked of one workspace, and each system's score of every turn."""
    shipped = np.array([WEIGHTS.get(name, 0.0) for name in FEATURES])
    with Workspace.init(root, settings=Settings(timezone="UTC")) as workspace:
        store = Store(workspace, lay(dataset, workspace))
        catch_up(workspace.tree, "en")
        snapshot = SnapshotSource(workspace.tree, "en").take()
        turns = fit_ranker.turns_of(store, snapshot)
        texts = texts_of(dataset, store, snapshot, turns)
        index = BM25({str(row): terms(text) for row, text in enumerate(texts)})
        vectors = Vectors(workspace.tree, minilm.MiniLM()) if minilm.is_installed() else None
        if vectors is not None:
            vectors.catch_up(snapshot)
        cases: list[Case] = []
        scores: Scores = {}
        for question in dataset.questions:
            if question.category == ADVERSARIAL:
                continue
            evidence = tuple(f"{question.sample_id}/{dia_id}" for dia_id in question.evidence)
            case = fit_ranker.make_case(store, snapshot, replace(question, evidence=evidence))
            if not case.gold:
                continue
            cases.append(case)
            own = weights[case.sample_id]
            found = {
                "search, left out": np.where(case.found, case.table @ own, -np.inf),
                "search, shipped": np.where(case.found, case.table @ shipped, -np.inf),
                "bm25": ranks(index.rank(terms(question.text)), len(turns)),
            }
            if vectors is not None:
                alike = vectors.likeness(snapshot, question.text).values[turns]
                found["search + MiniLM, left out"] = fused(case, alike, own, WEIGHT)
                found["MiniLM alone"] = alike
            for name, values in found.items():
                scores.setdefault(name, []).append(values)
    return cases, scores


def lay(dataset: Dataset, workspace: Workspace) -> dict[tuple[str, int], str]:
    """Put every sample into one workspace; return `sample/turn` by path and line."""
    return {
        place: f"{sample.sample_id}/{dia_id}"
        for sample in dataset.samples
        for place, dia_id in ingest(sample, workspace).items()
    }


def texts_of(dataset: Dataset, store: Store, snapshot: Snapshot, turns: list[int]) -> list[str]:
    """Return what BM25 reads of each turn: speaker, text and caption."""
    said = {
        f"{sample.sample_id}/{turn.dia_id}": f"{turn.speaker} {turn.text} {turn.caption or ''}"
        for sample in dataset.samples
        for turn in sample.turns
    }
    ids = fit_ranker.ids_of(store, snapshot)
    return [said[ids[ordinal] or ""] for ordinal in turns]


def ranks(order: list[str], count: int) -> np.ndarray:
    """Return scores that give an order; what is not in it comes last."""
    scores = np.full(count, -np.inf)
    for place, row in enumerate(order):
        scores[int(row)] = -place
    return scores


def judged(case: Case, scores: np.ndarray) -> list[float]:
    """Return recall at each depth and the reciprocal rank."""
    place = np.empty(len(scores), int)
    place[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    found = [place[row] for row in case.gold]
    return [*(sum(rank < d for rank in found) / len(found) for d in DEPTHS), 1 / (1 + min(found))]


if __name__ == "__main__":
    main()
