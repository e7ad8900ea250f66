"""Choose the weight of sentence vectors beside the ranker, and say what it is worth left out.

    python benchmarks/fit_fusion.py DATA

DATA is a file in LoCoMo's schema. Each conversation is ranked with the ranker's weights and the
fusion's weight chosen on the others (by the mean of all five figures), by the code that ships. Needs
the extras `bench` and `vectors`.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import fit_ranker
import numpy as np
from fit_ranker import DEPTHS, Case

from fsagent.bench.datasets import locomo
from fsagent.bench.datasets.schema import ADVERSARIAL
from fsagent.bench.ingest import open_store
from fsagent.config import Settings
from fsagent.search.fusion import MOST_ALIKE, WEIGHT
from fsagent.search.index import catch_up
from fsagent.search.minilm import MiniLM
from fsagent.search.snapshot import SnapshotSource
from fsagent.search.vectors import Vectors

MULTI_HOP = 1
WEIGHTS = tuple(round(0.1 * step, 1) for step in range(11))


@dataclass
class Conversation:
    """A conversation's questions and, for each, how like it every turn is."""

    name: str
    cases: list[Case] = field(default_factory=list)
    alike: list[np.ndarray] = field(default_factory=list)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    given = parser.parse_args()
    talks = conversations(given.data)
    weights = {talk.name: ranker_weights(talks, talk.name) for talk in talks}
    tables = {w: {t.name: judged(t, weights[t.name], w) for t in talks} for w in WEIGHTS}
    print(f"{datetime.now(UTC):%Y-%m-%d}, {MiniLM.name}, shipped weight {WEIGHT}\n")
    print("                n   R@5   R@10  R@20  R@50  MRR")
    for weight in WEIGHTS:
        show(f"weight {weight}", talks, tables[weight])
    chosen = {}
    for talk in talks:
        others = [other.name for other in talks if other is not talk]
        best = max(WEIGHTS, key=lambda w: sum(np.mean(tables[w][o]) for o in others))
        chosen[talk.name] = tables[best][talk.name]
        print(f"left out {talk.name}: weight {best}")
    show("left out", talks, chosen)
    show(
        "cosine alone", talks, {talk.name: judged(talk, weights[talk.name], None) for talk in talks}
    )


def conversations(path: Path) -> list[Conversation]:
    """Return the conversations, features and likeness computed by the code that ships."""
    dataset, encoder = locomo.load(path), MiniLM()
    found = []
    for sample in dataset.samples:
        with tempfile.TemporaryDirectory() as folder:
            store = open_store(sample, Path(folder) / "store", Settings())
            tree = store.workspace.tree
            catch_up(tree, "en")
            snapshot = SnapshotSource(tree, "en").take()
            vectors = Vectors(tree, encoder)
            vectors.catch_up(snapshot)
            talk = Conversation(sample.sample_id)
            for question in dataset.questions:
                if question.sample_id != sample.sample_id or question.category == ADVERSARIAL:
                    continue
                case = fit_ranker.make_case(store, snapshot, question)
                if case.gold:
                    turns = fit_ranker.turns_of(store, snapshot)
                    talk.cases.append(case)
                    talk.alike.append(vectors.likeness(snapshot, question.text).values[turns])
            found.append(talk)
            store.close()
    return found


def ranker_weights(talks: list[Conversation], left_out: str) -> np.ndarray:
    """Return the ranker's weights fitted on the other conversations."""
    return fit_ranker.fit([case for talk in talks if talk.name != left_out for case in talk.cases])


def judged(talk: Conversation, weights: np.ndarray, weight: float | None) -> np.ndarray:
    """Return recall at each depth and the reciprocal rank, a row a question; None: cosine alone."""
    rows = []
    for case, alike in zip(talk.cases, talk.alike, strict=True):
        scores = alike if weight is None else fused(case, alike, weights, weight)
        place = np.empty(len(scores), int)
        place[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
        ranks = [place[row] for row in case.gold]
        recalls = [sum(rank < depth for rank in ranks) / len(ranks) for depth in DEPTHS]
        rows.append([*recalls, 1 / (1 + min(ranks))])
    return np.array(rows)


def fused(case: Case, alike: np.ndarray, weights: np.ndarray, weight: float) -> np.ndarray:
    """Return the fused scores; what is no candidate comes last."""
    pool = case.found.copy()
    pool[np.argsort(-alike)[:MOST_ALIKE]] |= weight > 0
    scores = np.full(len(alike), -np.inf)
    if not pool.any():
        return scores
    linear, like = (case.table @ weights)[pool], alike[pool]
    scores[pool] = _z(linear) + weight * _z(like)
    return scores


def show(name: str, talks: list[Conversation], tables: dict[str, np.ndarray]) -> None:
    """Print the means over all questions, and of the multi-hop ones at 20."""
    rows = np.concatenate([tables[talk.name] for talk in talks])
    hops = np.array([case.category == MULTI_HOP for talk in talks for case in talk.cases])
    means = " ".join(f"{mean:.3f}" for mean in rows.mean(0))
    print(f"{name:<13} {len(rows):>4}  {means}  multi-hop R@20 {rows[hops].mean(0)[2]:.3f}")


def _z(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / (values.std() or 1.0)


if __name__ == "__main__":
    main()
