"""Comparison and diagnosis of runs."""

import dataclasses
import json
from pathlib import Path

import pytest

from fsagent.bench.compare import compare, different, markdown
from fsagent.bench.diagnose import OUTCOMES, diagnose
from fsagent.bench.diagnose import markdown as diagnosis_markdown
from fsagent.bench.options import BenchOptions
from fsagent.bench.runner import run_benchmark
from fsagent.errors import ConfigError


@pytest.fixture
def runs(demo_file: Path, tmp_path: Path) -> tuple[Path, Path]:
    for system in ("no-memory", "oracle"):
        run_benchmark(BenchOptions(data=demo_file, out=tmp_path / system, system=system))
    return tmp_path / "no-memory", tmp_path / "oracle"


def test_the_oracle_finds_what_a_search_misses(runs: tuple[Path, Path], demo_file: Path) -> None:
    other = runs[0].parent / "bm25"
    run_benchmark(BenchOptions(data=demo_file, out=other, system="bm25", retrieval_only=True))
    found = {(one.group, one.metric): one for one in compare(other, runs[1])}
    recall = found["1-4", "recall@10"]
    assert (recall.n, recall.b, recall.test) == (13, 1, None)
    assert 0 < recall.a < 1
    assert recall.interval.low <= recall.difference <= recall.interval.high


def test_the_oracle_beats_no_memory_pair_by_pair(runs: tuple[Path, Path]) -> None:
    found = {(one.group, one.metric): one for one in compare(*runs)}
    assert ("1-4", "recall@10") not in found  # what shows nothing has no rank to compare
    f1 = found["1-4", "f1"]
    assert f1.difference > 0
    assert f1.test is not None
    assert f1.test.only_b > f1.test.only_a == 0
    assert ("5", "refusal_rate") in found
    assert "McNemar" in markdown(list(found.values()), "a", "b")


def test_the_comparison_says_what_the_runs_differ_in(
    runs: tuple[Path, Path], demo_file: Path
) -> None:
    assert different(*runs) == ["system (no-memory / oracle)"]
    assert different(runs[0], runs[0]) == []
    other = runs[0].parent / "budget"
    run_benchmark(BenchOptions(data=demo_file, out=other, system="bm25", budget_tokens=9, epoch=2))
    assert different(runs[1], other) == ["epoch (1 / 2)", "system (oracle / bm25)"]
    wide = runs[0].parent / "wide"
    run_benchmark(BenchOptions(data=demo_file, out=wide, system="grep", epoch=2))
    assert different(wide, other) == ["budget_tokens (1500 / 9)", "system (grep / bm25)"]
    text = markdown(compare(*runs), "a", "b", apart=different(*runs))
    assert "they differ in system (no-memory / oracle)" in text


def test_a_run_against_itself_differs_in_nothing(runs: tuple[Path, Path]) -> None:
    for one in compare(runs[1], runs[1]):
        assert (one.difference, one.interval.low, one.interval.high) == (0, 0, 0)
        assert one.test is None or one.test.p == 1


def test_runs_over_different_questions_are_refused(
    runs: tuple[Path, Path], demo_file: Path
) -> None:
    some = BenchOptions(data=demo_file, out=runs[0].parent / "some", system="bm25", limit=5)
    run_benchmark(some)
    with pytest.raises(ConfigError, match="11 only in the first, 0 only in the second"):
        compare(runs[0], some.out)
    copy = demo_file.read_text(encoding="utf-8").replace("Petrel", "Fulmar")
    other = runs[0].parent / "other.json"
    other.write_text(copy, encoding="utf-8")
    run_benchmark(dataclasses.replace(some, data=other, out=runs[0].parent / "b", limit=None))
    with pytest.raises(ConfigError, match="different data"):
        compare(runs[0], runs[0].parent / "b")


def test_losses_are_told_apart(runs: tuple[Path, Path]) -> None:
    nothing, oracle = diagnose(runs[0]), diagnose(runs[1])
    total = {
        outcome: sum(counts[outcome] for counts in nothing.counts().values())
        for outcome in OUTCOMES
    }
    assert total["never shown, refused"] == 13
    assert set(oracle.outcomes.values()) <= {"right", "shown, refused", "shown, answered wrong"}
    assert "never shown, refused (13)" in diagnosis_markdown(nothing)


def test_a_part_of_the_evidence_is_not_the_whole(runs: tuple[Path, Path]) -> None:
    file = runs[1] / "predictions.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if len(row["evidence"]) > 1:
            row.update({"evidence_shown": row["evidence"][:1], "answer": "wrong"})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert "part shown, wrong" in diagnose(runs[1]).outcomes.values()


def test_a_retrieval_only_run_has_nothing_to_diagnose(demo_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    run_benchmark(BenchOptions(data=demo_file, out=out, system="bm25", retrieval_only=True))
    with pytest.raises(ConfigError, match="no answers"):
        diagnose(out)
