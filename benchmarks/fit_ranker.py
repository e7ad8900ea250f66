"""Fit the weights of the re-ranker and say how well they carry over to a conversation left out.

    python benchmarks/fit_ranker.py DATA [--write]

DATA is a file in LoCoMo's schema. A listwise softmax loss with L2 over all turns of a conversation;
each conversation is ranked with weights fitted on the others. `--write` fits on all and writes
`fsagent/search/weights.py`. Needs the `bench` extra (numpy).
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from fsagent.bench.datasets import locomo
from fsagent.bench.datasets.schema import ADVERSARIAL, Question
from fsagent.bench.ingest import Store, open_store
from fsagent.config import Settings
from fsagent.search.features import FEATURES
from fsagent.search.filters import Filters
from fsagent.search.index import catch_up
from fsagent.search.ranking import candidates, feature_maker, make_plan
from fsagent.search.snapshot import Snapshot, SnapshotSource

L2, ITERATIONS, RATE = 0.02, 400, 0.05
NOW = datetime(2026, 1, 1, tzinfo=UTC)
DEPTHS = (5, 10, 20, 50)
TARGET = Path(__file__).resolve().parent.parent / "fsagent/search/weights.py"


@dataclass(frozen=True)
class Case:
    """A question: its conversation, its category, a row of features a turn, the gold rows.

    `found` tells the turns that the search takes as candidates; the others it never shows.
    """

    sample_id: str
    category: int
    table: np.ndarray
    gold: tuple[int, ...]
    found: np.ndarray


def cases(path: Path) -> list[Case]:
    """Return every question with evidence, its features computed by the code that ships."""
    dataset = locomo.load(path)
    found: list[Case] = []
    for sample in dataset.samples:
        with tempfile.TemporaryDirectory() as folder:
            store = open_store(sample, Path(folder) / "store", Settings())
            tree = store.workspace.tree
            catch_up(tree, "en")
            snapshot = SnapshotSource(tree, "en").take()
            for question in dataset.questions:
                if question.sample_id == sample.sample_id and question.category != ADVERSARIAL:
                    case = make_case(store, snapshot, question)
                    found += [case] if case.gold else []
            store.close()
    return found


def turns_of(store: Store, snapshot: Snapshot) -> list[int]:
    """Return the ordinals of the conversation's turns."""
    return [ordinal for ordinal, dia_id in enumerate(ids_of(store, snapshot)) if dia_id]


def ids_of(store: Store, snapshot: Snapshot) -> list[str | None]:
    """Return the turn that each ordinal is, None for what is none."""
    documents, paths = snapshot.documents, snapshot.paths
    places = [documents.position(ordinal) for ordinal in range(documents.count)]
    return [store.dia_ids.get((paths[number], line)) for number, line in places]


def make_case(store: Store, snapshot: Snapshot, question: Question) -> Case:
    ids, turns = ids_of(store, snapshot), turns_of(store, snapshot)
    rows = {ids[ordinal]: row for row, ordinal in enumerate(turns)}
    plan = make_plan(snapshot, question.text, Settings(), NOW, [])
    features = feature_maker(snapshot, plan)
    table = [features(ordinal) for ordinal in turns]
    pool, _ = candidates(snapshot, plan, Filters("recall"), features, 0)
    taken = np.isin(turns, pool)
    gold = tuple(rows[dia_id] for dia_id in question.evidence if dia_id in rows)
    return Case(question.sample_id, question.category, np.array(table), gold, taken)


def fit(data: list[Case]) -> np.ndarray:
    """Return the weights that give the gold turns the most of each question's softmax (Adam)."""
    rows = np.concatenate([case.table for case in data])
    scale = rows.std(0) + 1e-9
    rows = (rows - rows.mean(0)) / scale
    starts = np.cumsum([0, *(len(case.table) for case in data[:-1])])
    owner = np.repeat(np.arange(len(data)), [len(case.table) for case in data])
    target = np.zeros(len(rows))
    for case, start in zip(data, starts, strict=True):
        target[[start + row for row in case.gold]] = 1 / len(case.gold)
    weights = np.zeros(rows.shape[1])
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, ITERATIONS + 1):
        logits = rows @ weights
        raised = np.exp(logits - np.maximum.reduceat(logits, starts)[owner])
        share = raised / np.add.reduceat(raised, starts)[owner]
        slope = rows.T @ (share - target) / len(data) + L2 * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        weights -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights / scale


def judge(data: list[Case], weights: np.ndarray) -> list[list[float]]:
    """Return recall at each depth and the reciprocal rank, a row a question."""
    rows = []
    for case in data:
        scores = np.where(case.found, case.table @ weights, -np.inf)
        order = np.argsort(-scores, kind="stable")
        place = np.empty(len(order), int)
        place[order] = np.arange(len(order))
        ranks = [place[row] for row in case.gold]
        recalls = [sum(rank < depth for rank in ranks) / len(ranks) for depth in DEPTHS]
        rows.append([*recalls, 1 / (1 + min(ranks))])
    return rows


def main() -> None:
    """Print the cross-validated figures; write the weights where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    data = cases(given.data)
    names = sorted({case.sample_id for case in data})
    pooled: list[list[float]] = []
    print("left out      n   R@5   R@10  R@20  R@50  MRR")
    for name in names:
        held = [case for case in data if case.sample_id == name]
        rows = judge(held, fit([case for case in data if case.sample_id != name]))
        pooled += rows
        print(f"{name:<10} {len(rows):>4}  " + " ".join(f"{mean:.3f}" for mean in np.mean(rows, 0)))
    print(
        f"{'all':<10} {len(pooled):>4}  " + " ".join(f"{mean:.3f}" for mean in np.mean(pooled, 0))
    )
    order = [case.category for name in names for case in data if case.sample_id == name]
    hops = [row for row, category in zip(pooled, order, strict=True) if category == 1]
    print(
        f"{'multi-hop':<10} {len(hops):>4}  " + " ".join(f"{mean:.3f}" for mean in np.mean(hops, 0))
    )
    if given.write:
        write(fit(data))


def write(weights: np.ndarray) -> None:
    """Write the weights as Python."""
    lines = [f'    "{name}": {weight:.4f},' for name, weight in zip(FEATURES, weights, strict=True)]
    head = '"""The weights of the re-ranker, written by `benchmarks/fit_ranker.py`; not edited by hand."""'
    TARGET.write_text(f"{head}\n\nWEIGHTS: dict[str, float] = {{\n" + "\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
