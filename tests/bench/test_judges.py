"""Judges: exact parsing, errors that are no verdicts, calibration, views of the key."""

import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest

from fsagent.bench.calibration import move_date, probes
from fsagent.bench.datasets import locomo
from fsagent.bench.errata import load_errata
from fsagent.bench.judges import Verdict, judge, parse_verdict
from fsagent.bench.judging import judge_run
from fsagent.bench.options import BenchOptions
from fsagent.bench.progress import RunStopped
from fsagent.bench.rundir import RunDirectory
from fsagent.bench.runner import finish, run_benchmark
from fsagent.config import Settings
from fsagent.errors import ConfigError, ModelError, ModelUnavailable
from fsagent.models.scripted import Request, Scripted
from fsagent.types import Completion, Message

RIGHT = '{"reason": "same fact", "label": "CORRECT"}'
WRONG = '{"reason": "another fact", "label": "WRONG"}'

MALFORMED = [
    "",
    "CORRECT",
    "WRONG",
    "A",
    "C",
    "The answer is CORRECT.",
    "label: CORRECT",
    '"CORRECT"',
    "true",
    "null",
    "42",
    "[]",
    "{}",
    '["CORRECT"]',
    '{"label": "CORRECT"}',
    '{"reason": "same fact"}',
    '{"label": "correct", "reason": "x"}',
    '{"label": "Correct", "reason": "x"}',
    '{"label": "INCORRECT", "reason": "x"}',
    '{"label": "CORRECT ", "reason": "x"}',
    '{"label": "A", "reason": "x"}',
    '{"label": true, "reason": "x"}',
    '{"label": null, "reason": "x"}',
    '{"label": ["CORRECT"], "reason": "x"}',
    '{"label": "CORRECT", "reason": 1}',
    '{"label": "CORRECT", "reason": "x", "score": 1}',
    '{"label": "WRONG", "label": "CORRECT", "reason": "x"}',
    '{"label": "CORRECT", "reason": "cut he',
    "{'label': 'CORRECT', 'reason': 'x'}",
    '{"label": "CORRECT", "reason": "x",}',
    '{"label": "CORRECT", "reason": "x"} {"label": "WRONG", "reason": "y"}',
    'Sure! {"label": "CORRECT", "reason": "x"}',
    '{"label": "CORRECT", "reason": "x"} Hope that helps.',
    '```json\n{"label": "CORRECT", "reason": "x"}',
    '```json\n{"label": "CORRECT", "reason": "x"}\n```\nand\n```json\n{}\n```',
    "[" * 20000,
    '{"result": {"label": "CORRECT", "reason": "x"}}',
]


@pytest.mark.parametrize("reply", MALFORMED, ids=[reply[:24] for reply in MALFORMED])
def test_a_malformed_reply_is_no_verdict(reply: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_verdict(reply)


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        (RIGHT, "CORRECT"),
        (WRONG, "WRONG"),
        (f"\n {RIGHT} \n", "CORRECT"),
        (f"```json\n{RIGHT}\n```", "CORRECT"),
        ('{"label": "WRONG", "reason": "it says \\"CORRECT\\""}', "WRONG"),
    ],
)
def test_an_exact_reply_is_read(reply: str, label: str) -> None:
    assert parse_verdict(reply)[0] == label


def asked(*replies: Any) -> tuple[Any, Scripted]:
    model = Scripted(list(replies))
    return judge(model, "strict", question="Who?", gold="Bo", answer="Ada"), model


def test_a_reply_that_does_not_parse_is_asked_again() -> None:
    verdict, model = asked("It is CORRECT", WRONG)
    assert (verdict.label, verdict.attempts, len(model.requests)) == ("WRONG", 2, 2)
    assert model.requests[0].messages != model.requests[1].messages


def test_three_bad_replies_are_an_error_and_neither_right_nor_wrong() -> None:
    verdict, _ = asked("CORRECT", "CORRECT", "CORRECT")
    assert (verdict.label, verdict.attempts) == (None, 3)
    assert "ValueError" in verdict.error


def test_an_outage_is_an_error() -> None:
    verdict, _ = asked(*[ModelUnavailable("down", status=500)] * 3)
    assert verdict.label is None
    assert "down" in verdict.error


def test_a_reply_cut_at_its_length_is_not_read() -> None:
    cut = Completion(Message("assistant", RIGHT), finish_reason="length")
    verdict, _ = asked(cut, WRONG)
    assert verdict.label == "WRONG"


def test_the_judge_sees_question_gold_and_answer_only() -> None:
    _, model = asked(RIGHT)
    text = model.requests[0].messages[1].content
    assert text == "Question: Who?\nGold answer: Bo\nGiven answer: Ada"


# A judge that compares texts: passes an answer that holds the gold answer's first word.
def literal(request: Request) -> str:
    lines = dict(line.split(": ", 1) for line in request.messages[1].content.splitlines())
    word = lines["Gold answer"].split()[0].strip(",.;").lower()
    return RIGHT if word in lines["Given answer"].lower() else WRONG


def endless(step: Any) -> Any:
    while True:
        yield step


@pytest.fixture
def run(demo_file: Path, tmp_path: Path) -> RunDirectory:
    run_benchmark(BenchOptions(data=demo_file, out=tmp_path / "run", system="oracle"))
    return RunDirectory.open(tmp_path / "run")


def test_a_judged_run_has_scores_intervals_and_calibration(run: RunDirectory) -> None:
    judge_run(run, ["strict"], Scripted(endless(literal)), calibration=13)
    (judged,) = finish(run).content["judges"].values()
    assert judged["judge"] == "strict"
    assert judged["1-4"]["n"] == 13
    assert judged["errors"] == 0
    assert "5" not in judged
    assert judged["calibration"]["gold"] == {"n": 13, "errors": 0, "passed": 1.0}
    assert judged["calibration"]["specific"]["n"] >= 10
    assert judged["calibration"]["specific"]["passed"] < 0.4
    assert judged["calibration"]["vague"]["n"] == 13
    assert "passes vague wrong" in (run.root / "report.md").read_text(encoding="utf-8")


def test_verdicts_are_kept_and_not_asked_for_twice(run: RunDirectory) -> None:
    judge_run(run, ["strict"], Scripted(endless(literal)), calibration=2)
    judge_run(run, ["strict"], Scripted([]), calibration=2)
    assert all(row["error"] is None for row in run.rows("judgements.jsonl"))


def test_errors_make_the_run_incomplete_and_are_asked_again(run: RunDirectory) -> None:
    judge_run(run, ["strict"], Scripted(endless("CORRECT")), calibration=0)
    summary = finish(run)
    (judged,) = summary.content["judges"].values()
    assert (judged["errors"], "1-4" in judged, summary.complete) == (13, False, False)
    assert "13 verdicts missing" in (run.root / "report.md").read_text(encoding="utf-8")
    judge_run(run, ["strict"], Scripted(endless(literal)), calibration=0)
    assert finish(run).complete


def test_a_probe_without_a_verdict_makes_the_run_incomplete_too(run: RunDirectory) -> None:
    replies = [RIGHT] * 13 + ["CORRECT"] * 9
    judge_run(run, ["strict"], Scripted(replies), calibration=1)
    summary = finish(run)
    (judged,) = summary.content["judges"].values()
    probes = judged["calibration"].values()
    assert (judged["errors"], sum(probe["errors"] for probe in probes)) == (0, 3)
    assert {row["subject"] for row in judged["failed"]} == {"gold", "specific", "vague"}
    assert (summary.content["judge_errors"], summary.complete) == (3, False)
    assert "## Verdicts that failed" in (run.root / "report.md").read_text(encoding="utf-8")
    failed = [row for row in run.rows("judgements.jsonl") if row["error"]]
    assert {row["reply"] for row in failed} == {"CORRECT"}


def test_a_changed_answer_needs_a_new_verdict(run: RunDirectory) -> None:
    judge_run(run, ["generous"], Scripted(endless(RIGHT)), calibration=0)
    rows = run.predictions()
    run.append("predictions.jsonl", {**rows["demo", 0], "answer": "something else"})
    (judged,) = finish(run).content["judges"].values()
    assert (judged["1-4"]["n"], judged["errors"]) == (12, 1)


def test_an_unknown_judge_is_refused(run: RunDirectory) -> None:
    with pytest.raises(ConfigError, match="generous"):
        judge_run(run, ["kind"], Scripted([]))


def test_evaluate_only_scores_and_judges_without_asking_the_answers_again(
    run: RunDirectory, tmp_path: Path
) -> None:
    before = (run.root / "predictions.jsonl").read_bytes()
    script = tmp_path / "judge.json"
    script.write_text(json.dumps([RIGHT] * 13), encoding="utf-8")
    options = BenchOptions(
        data=tmp_path / "gone.json",
        out=run.root,
        evaluate_only=True,
        judges=("strict",),
        calibration=0,
        settings=Settings(judge_model=f"scripted:{script}"),
    )
    (judged,) = run_benchmark(options).content["judges"].values()
    assert judged["1-4"]["score"] == 1
    assert (run.root / "predictions.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("gold", "moved"),
    [
        ("7 May 2023", "7 May 2021"),
        ("the 7th of May", None),
        ("3", "15"),
        ("five", None),
        ("30 January", "14 January"),
    ],
)
def test_a_moved_date_is_another_date(gold: str, moved: str | None) -> None:
    assert move_date(gold) == moved


def test_probes_are_the_same_for_every_run_and_wrong_where_they_should_be(demo_file: Path) -> None:
    rows = [
        {"sample_id": q.sample_id, "qa_index": q.index, "category": q.category, "gold": q.gold}
        for q in locomo.load(demo_file).questions
    ]
    first, second = probes(rows, 10), probes(rows, 10)
    assert first == second
    for probe in first:
        assert (probe.answer == probe.row["gold"]) == (probe.subject == "gold")


def errata_file(tmp_path: Path) -> Path:
    path = tmp_path / "errata.json"
    record = {
        "sample_id": "demo",
        "qa_index": 3,
        "error_type": "HALLUCINATION",
        "scoring": True,
        "suggested": "Commodore",
        "suggested_evidence": ["D2:8"],
    }
    citation = {**record, "qa_index": 4, "scoring": False, "suggested_evidence": ["D3:8"]}
    path.write_text(json.dumps([record, citation]), encoding="utf-8")
    return path


def test_errata_give_three_views_of_the_key(run: RunDirectory, tmp_path: Path) -> None:
    errata = load_errata(errata_file(tmp_path))
    judge_run(run, ["strict"], Scripted(endless(literal)), calibration=0, errata=errata)
    views = finish(run, errata=errata).content["views"]
    assert list(views) == ["raw", "corrected", "clean"]
    assert [views[name]["answers"]["4"]["n"] for name in views] == [5, 5, 3]
    (raw,), (corrected,) = (views[name]["judges"].values() for name in ("raw", "corrected"))
    assert (raw["4"]["n"], corrected["4"]["n"]) == (5, 5)
    assert corrected["4"]["score"] < raw["4"]["score"]
    assert views["corrected"]["retrieval"]["4"]["recall@5"] < 1


@pytest.mark.parametrize("content", ["{", "{}", '[{"sample_id": "x"}]', "[3]"])
def test_errata_of_another_shape_are_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"bad\.json"):
        load_errata(path)


def test_the_audits_file_is_read(locomo_file: Path) -> None:
    path = locomo_file.with_name("known_errors3.json")
    if not path.exists():
        pytest.skip("no errata at hand")
    errata = load_errata(path)
    assert (len(errata), sum(one.scoring for one in errata.values())) == (46, 24)


def test_a_judge_that_is_away_stops_the_judging_and_keeps_what_there_is(run: RunDirectory) -> None:
    down = endless(ModelUnavailable("no connection"))
    steps = itertools.chain([literal] * 3, down)

    with pytest.raises(
        RunStopped, match=r"failed 8 times in a row, the last with: ModelUnav.*no conn"
    ):
        judge_run(run, ["strict"], Scripted(steps), calibration=0)
    rows = run.rows("judgements.jsonl")
    assert [row["error"] is None for row in rows] == [True] * 3 + [False] * 8
    judge_run(run, ["strict"], Scripted(endless(literal)), calibration=0)
    assert finish(run).complete


def test_ctrl_c_ends_the_judging_after_the_calls_under_way(run: RunDirectory) -> None:
    asked: list[str] = []

    def counted(request: Request) -> Any:
        asked.append(request.messages[1].content)
        time.sleep(0.05)  # a judge takes its time; the queue must not be worked off meanwhile
        return literal(request)

    def interrupt(verdict: Verdict, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge_run(run, ["strict"], Scripted(endless(counted)), calibration=0, on_verdict=interrupt)
    assert len(asked) < 13
    assert len(run.rows("judgements.jsonl")) == 1


def test_a_failure_of_the_model_is_listed_with_its_text(run: RunDirectory) -> None:
    judge_run(run, ["strict"], Scripted(endless(ModelError("no such model"))), calibration=0)
    assert {row["error"] for row in run.rows("judgements.jsonl")} == {"ModelError: no such model"}
