"""The mode `official-prompt`: the one in which a category selects the prompt."""

import json
from pathlib import Path
from typing import Any

import pytest

from fsagent.bench.datasets.schema import Question
from fsagent.bench.official_prompt import (
    DATE_HINT,
    NOT_MENTIONED,
    official_answer,
    official_question,
)
from fsagent.bench.options import BenchOptions
from fsagent.bench.runner import run_benchmark


def question(category: int, *, index: int = 0, trap: str | None = "a red kite") -> Question:
    return Question("s", index, "What flew?", category, gold=None, trap=trap)


def test_each_category_is_asked_in_its_own_way() -> None:
    assert official_question(question(4)) == "What flew?"
    assert official_question(question(2)) == f"What flew? {DATE_HINT}"
    choice = official_question(question(5))
    assert NOT_MENTIONED in choice
    assert "a red kite" in choice
    assert official_question(question(5, trap=None)) == "What flew?"


def test_the_order_of_the_choice_hangs_on_the_question_and_on_nothing_else() -> None:
    orders = [
        official_question(question(5, index=i)).index(NOT_MENTIONED)
        < official_question(question(5, index=i)).index("a red kite")
        for i in range(200)
    ]
    assert 70 < sum(orders) < 130
    assert official_question(question(5, index=7)) == official_question(question(5, index=7))


@pytest.mark.parametrize(
    "reply", ["({})", "{}", " {}) ", "({}) whatever it says", "{}.", "Option {}"]
)
def test_a_letter_stands_for_its_choice(reply: str) -> None:
    asked = question(5)
    first = official_question(asked).partition("(a) ")[2].startswith(NOT_MENTIONED)
    expected = {"a": NOT_MENTIONED, "b": "a red kite"}
    if not first:
        expected = {"a": "a red kite", "b": NOT_MENTIONED}
    for letter, text in expected.items():
        assert official_answer(reply.format(letter), asked) == text
        assert official_answer(reply.format(letter.upper()), asked) == text


@pytest.mark.parametrize("reply", ["a red kite", "A kite flew", "Not mentioned", "both", ""])
def test_words_stay_words(reply: str) -> None:
    assert official_answer(reply, question(5)) == reply


def test_letters_of_other_questions_stay_letters() -> None:
    assert official_answer("(a)", question(4)) == "(a)"


def traces(out: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(out.glob("traces/*/*")))


def rows(out: Path) -> list[dict[str, Any]]:
    text = (out / "predictions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("system", ["bm25", "agent"])
def test_only_this_mode_shows_the_answerer_a_trap(
    system: str, demo_file: Path, tmp_path: Path
) -> None:
    for prompt in ("short", "official-prompt"):
        run_benchmark(
            BenchOptions(
                data=demo_file,
                out=tmp_path / prompt,
                system=system,
                answer_prompt=prompt,  # type: ignore[arg-type]
            )
        )
    plain, official = rows(tmp_path / "short"), rows(tmp_path / "official-prompt")
    assert NOT_MENTIONED not in traces(tmp_path / "short")
    assert traces(tmp_path / "official-prompt").count(f"{NOT_MENTIONED}") >= 3
    if system == "bm25":  # what retrieves is asked the question alone in every mode
        assert [row["retrieved"] for row in plain] == [row["retrieved"] for row in official]
    report = (tmp_path / "official-prompt" / "report.md").read_text(encoding="utf-8")
    assert "official-prompt: **the category selects the prompt**" in report
    manifests = [
        json.loads((tmp_path / p / "run.json").read_text()) for p in ("short", "official-prompt")
    ]
    assert manifests[0]["config_sha256"] != manifests[1]["config_sha256"]
