"""Runs: checkpoints, resume, Ctrl-C, outages, the canary, workers, the summary's shape."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from fsagent.bench.options import BenchOptions
from fsagent.bench.progress import Progress, RunStopped
from fsagent.bench.rundir import RunDirectory
from fsagent.bench.runner import run_benchmark
from fsagent.config import Settings
from fsagent.errors import ConfigError


@pytest.fixture
def options(demo_file: Path, tmp_path: Path) -> BenchOptions:
    return BenchOptions(data=demo_file, out=tmp_path / "run", system="bm25")


def with_model(options: BenchOptions, model: str, **changes: Any) -> BenchOptions:
    return dataclasses.replace(options, settings=Settings(model=model), **changes)


def script(tmp_path: Path, replies: list[str]) -> str:
    """Write a script of replies; a request beyond its end is a failure of the model's side."""
    path = tmp_path / f"script-{len(replies)}.json"
    path.write_text(json.dumps(replies), encoding="utf-8")
    return f"scripted:{path}"


def predictions(run: Path) -> list[dict[str, Any]]:
    """Return a run's predictions without what no two runs share."""
    text = (run / "predictions.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [{key: value for key, value in row.items() if key != "latency_s"} for row in rows]


def test_a_run_leaves_its_whole_directory(options: BenchOptions) -> None:
    summary = run_benchmark(options)
    names = {path.name for path in options.out.iterdir() if not path.name.startswith(".")}
    assert names == {
        "run.json",
        "ingest.jsonl",
        "predictions.jsonl",
        "traces",
        "summary.json",
        "report.md",
        "report.html",
    }
    assert summary.complete
    assert json.loads((options.out / "summary.json").read_text(encoding="utf-8")) == summary.content
    assert [row["qa_index"] for row in predictions(options.out)] == list(range(16))
    assert len(list((options.out / "traces" / "demo").iterdir())) == 16


def test_the_summary_has_the_documented_keys(options: BenchOptions) -> None:
    content = run_benchmark(options).content
    assert content["dataset"]["samples"] == ["demo"]
    assert {"n", "recall@1", "recall@5", "recall@10", "recall@20", "recall@50"} <= set(
        content["retrieval"]["1-4"]
    )
    assert {"any@10", "all@10", "mrr", "ndcg@10"} <= set(content["retrieval"]["1-4"])
    assert {"n", "f1", "f1_repaired", "em", "bleu1", "rougeL", "words"} <= set(
        content["answers"]["1-4"]
    )
    assert {"n", "refusal_rate", "trap_rate"} <= set(content["answers"]["5"])
    assert list(content["answers"]) == ["1-4", "1", "2", "3", "4", "5"]
    assert content["answers"]["1-4"]["n"] == 13
    assert content["retrieval"]["5"]["n"] == 2  # one adversarial question has no evidence
    assert {"p50", "p95"} <= set(content["cost"]["latency_s"])


def test_a_session_k_is_left_out_where_a_sample_has_no_more_sessions(options: BenchOptions) -> None:
    retrieval = run_benchmark(options).content["retrieval"]["1-4"]
    assert "session_recall@5" in retrieval  # of 6 sessions
    assert "session_recall@10" not in retrieval


def test_a_second_run_into_the_same_directory_is_refused(options: BenchOptions) -> None:
    run_benchmark(options)
    with pytest.raises(ConfigError, match="--resume"):
        run_benchmark(options)


def test_resume_refuses_another_configuration_and_names_it(options: BenchOptions) -> None:
    run_benchmark(options)
    before = (options.out / "predictions.jsonl").read_bytes()
    other = dataclasses.replace(options, resume=True, budget_tokens=99)
    with pytest.raises(ConfigError, match="budget_tokens"):
        run_benchmark(other)
    assert (options.out / "predictions.jsonl").read_bytes() == before


def test_resume_refuses_another_search(demo_file: Path, tmp_path: Path) -> None:
    options = BenchOptions(data=demo_file, out=tmp_path / "run", system="search", limit=1)
    run_benchmark(options)
    other = Settings().with_values("flag", embeddings="minilm")
    with pytest.raises(ConfigError, match="search"):
        run_benchmark(dataclasses.replace(options, resume=True, settings=other))


def test_ctrl_c_leaves_a_run_that_resumes_to_the_same_predictions(
    options: BenchOptions, tmp_path: Path
) -> None:
    clean = dataclasses.replace(options, out=tmp_path / "clean")
    run_benchmark(clean)

    def interrupt(progress: Progress) -> None:
        if progress.done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_benchmark(options, on_progress=interrupt)
    assert len(predictions(options.out)) == 5
    seen: list[int] = []
    resumed = dataclasses.replace(options, resume=True)
    run_benchmark(resumed, on_progress=lambda progress: seen.append(progress.done))
    assert seen == list(range(5, 17))
    assert predictions(options.out) == predictions(clean.out)


def test_any_cut_of_the_predictions_resumes_to_the_same(options: BenchOptions) -> None:
    run_benchmark(options)
    file = options.out / "predictions.jsonl"
    whole, data = predictions(options.out), file.read_bytes()
    for size in (0, 1, len(data) // 2, data.index(b"\n"), data.index(b"\n") + 1, len(data) - 1):
        file.write_bytes(data[:size])
        run_benchmark(dataclasses.replace(options, resume=True))
        assert predictions(options.out) == whole


def test_an_outage_is_no_score_and_is_asked_again(options: BenchOptions, tmp_path: Path) -> None:
    short = with_model(options, script(tmp_path, ["Admiral"] * 12))
    summary = run_benchmark(short)
    assert (summary.content["errors"], summary.complete) == (4, False)
    assert (summary.content["answers"]["1-4"]["n"], "5" in summary.content["answers"]) == (
        12,
        False,
    )
    failed = [row for row in predictions(short.out) if row["error"]]
    assert [row["answer"] for row in failed] == [None] * 4
    assert "incomplete" in (short.out / "report.md").read_text(encoding="utf-8")
    (tmp_path / "script-12.json").write_text(json.dumps(["Petrel"] * 4), encoding="utf-8")
    again = run_benchmark(dataclasses.replace(short, resume=True))
    assert again.complete
    assert [row["answer"] for row in predictions(short.out)].count("Petrel") == 4


def test_failures_in_a_row_stop_the_run(options: BenchOptions, tmp_path: Path) -> None:
    down = with_model(options, script(tmp_path, []))
    with pytest.raises(RunStopped, match="8 questions in a row"):
        run_benchmark(down)
    assert len(predictions(down.out)) == 8


def test_the_canary_stops_a_run_whose_context_stays_empty(tmp_path: Path) -> None:
    rows = [
        {"question": f"Who painted kite {i}?", "answer": "Bo", "category": 4} for i in range(20)
    ]
    talk = {
        "speaker_a": "Ada",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ada", "dia_id": "D1:1", "text": "Hello"}],
    }
    data = tmp_path / "empty.json"
    sample = {"sample_id": "s", "conversation": talk, "qa": rows}
    data.write_text(json.dumps([sample]), encoding="utf-8")
    with pytest.raises(RunStopped, match="context was empty for 4 of 4"):
        run_benchmark(BenchOptions(data=data, out=tmp_path / "run", system="bm25"))
    run_benchmark(BenchOptions(data=data, out=tmp_path / "none", system="no-memory"))


def test_two_workers_give_the_same_predictions_as_one(
    options: BenchOptions, tmp_path: Path
) -> None:
    run_benchmark(options)
    two = dataclasses.replace(options, out=tmp_path / "two", workers=2)
    run_benchmark(two)
    assert predictions(two.out) == predictions(options.out)


def test_retrieval_only_asks_no_model(options: BenchOptions) -> None:
    nowhere = with_model(options, "gpt-of-nobody", retrieval_only=True)
    summary = run_benchmark(nowhere)
    assert summary.content["answers"] == {}
    assert (summary.content["model"], summary.content["retrieval"]["1-4"]["n"]) == (None, 13)


def test_a_model_without_an_endpoint_stops_the_run_as_a_sentence(options: BenchOptions) -> None:
    with pytest.raises(ConfigError, match="endpoint"):
        run_benchmark(with_model(options, "gpt-of-nobody"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"samples": ("conv-99",)}, "conv-99.*demo"),
        ({"limit": 0}, "limit is 0"),
        ({"system": "magic"}, "bm25"),
        ({"format": "csv"}, "locomo"),
    ],
)
def test_options_that_fit_nothing_are_refused(
    options: BenchOptions, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        run_benchmark(dataclasses.replace(options, **changes))


def test_limit_and_categories_select_and_change_the_configuration(
    options: BenchOptions, tmp_path: Path
) -> None:
    run_benchmark(dataclasses.replace(options, categories=(2, 5), limit=4))
    assert [row["category"] for row in predictions(options.out)] == [2, 2, 2, 5]
    with pytest.raises(ConfigError, match=r"categories, limit"):
        run_benchmark(dataclasses.replace(options, resume=True))


def test_a_stranger_folder_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"run\.json"):
        RunDirectory.open(tmp_path)
