"""Progress, prices and the names of what failed."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from support import Run

from fsagent.bench.options import BenchOptions
from fsagent.bench.progress import Progress, RunStopped, named
from fsagent.bench.runner import run_benchmark
from fsagent.cli.bench import progress_words
from fsagent.config import Settings
from fsagent.errors import ConfigError
from fsagent.models.prices import Price, load_prices
from fsagent.types import Usage


def priced(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_dollars_add_up_question_by_question(demo_file: Path, tmp_path: Path) -> None:
    prices = priced(
        tmp_path, "date: 2026-11-01\nmodels:\n  offline: {prompt: 10, completion: 20}\n"
    )
    seen: list[Progress] = []
    options = BenchOptions(data=demo_file, out=tmp_path / "run", system="bm25", prices=prices)
    summary = run_benchmark(options, on_progress=seen.append)
    cost = summary.content["cost"]
    usd = (10 * cost["prompt_tokens"] + 20 * cost["completion_tokens"]) / 1e6
    assert usd > 0
    assert cost["usd"] == pytest.approx(usd, abs=1e-6)
    assert cost["prices_of"] == "2026-11-01"
    assert [one.done for one in seen] == list(range(17))
    dollars = [one.usd or 0 for one in seen]
    assert dollars == sorted(dollars)
    assert dollars[-1] == pytest.approx(usd)


def test_without_a_price_of_ones_own_the_dated_table_counts(
    demo_file: Path, tmp_path: Path
) -> None:
    options = BenchOptions(data=demo_file, out=tmp_path / "run", system="bm25")
    cost = run_benchmark(options).content["cost"]
    assert (cost["usd"], cost["prices_of"]) == (0.0, "2026-03-21")


def test_the_words_beside_the_bar() -> None:
    one = Progress(3, 9, 1, Usage(1200, 34), 0.01234)
    assert progress_words(one) == "questions, 1,234 tokens, $0.0123, 1 errors"
    unknown = dataclasses.replace(one, usd=None, errors=0, stage="verdicts")
    assert progress_words(unknown) == "verdicts, 1,234 tokens, price unknown"


@pytest.mark.parametrize(
    "text",
    [
        "models: {m: {prompt: 1, completion: 1}}",
        "date: 2026-11-01",
        "date: 2026-11-01\nmodels: {m: {prompt: 1}}",
        "date: 2026-11-01\nmodels: {m: {prompt: -1, completion: 1}}",
        "date: 2026-11-01\nmodels: {m: 3}",
        "- 3",
        "{",
    ],
)
def test_prices_of_another_shape_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"prices\.yaml"):
        load_prices(priced(tmp_path, text))


def test_cached_tokens_cost_as_much_as_others_where_no_price_is_given(tmp_path: Path) -> None:
    text = "date: 2026-11-01\nmodels: {m: {prompt: 1, completion: 3}, n: {prompt: 1, cached: 0, completion: 3}}"
    prices = load_prices(priced(tmp_path, text)).prices
    assert prices == {"m": Price(1, 1, 3), "n": Price(1, 0, 3)}


def failed(sample_id: str, index: int) -> dict[str, Any]:
    return {"sample_id": sample_id, "qa_index": index, "error": "x"}


def test_questions_are_named_as_a_person_finds_them() -> None:
    rows = [failed("a", 1), failed("a", 7), failed("b", 0)]
    assert named(rows) == "a #1, #7; b #0"
    assert named([failed("a", i) for i in range(20)]).endswith("#11 and 8 more")


def test_a_dead_server_is_told_with_the_questions_that_failed(
    demo_file: Path, tmp_path: Path
) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["Admiral"] * 2), encoding="utf-8")
    options = BenchOptions(
        data=demo_file,
        out=tmp_path / "run",
        system="bm25",
        settings=Settings(model=f"scripted:{script}"),
    )
    with pytest.raises(RunStopped, match=r"\(demo #2, #3, #4, #5, #6, #7, #8, #9\)"):
        run_benchmark(options)


def test_the_command_names_failing_questions_and_the_report_lists_them(
    demo_file: Path, tmp_path: Path, fsagent: Run
) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["Admiral"] * 14), encoding="utf-8")
    done = fsagent(
        *("bench", "locomo", "--data", str(demo_file), "--system", "bm25"),
        *("--model", f"scripted:{script}", "--out", "run"),
    )
    assert done.returncode == 2
    assert "demo #14 failed: " in done.stderr
    assert "2 questions ended in an error (demo #14, #15)" in done.stderr
    report = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    assert "## Questions that failed" in report
    assert "| demo #15 |" in report


def test_ingestion_is_counted_apart(demo_file: Path, tmp_path: Path) -> None:
    options = BenchOptions(data=demo_file, out=tmp_path / "run", system="search")
    ingest = run_benchmark(options).content["ingest"]
    assert (ingest["stores"], ingest["turns"]) == (1, 76)
    assert ingest["bytes"] > 10_000
    assert ingest["seconds"] > 0
