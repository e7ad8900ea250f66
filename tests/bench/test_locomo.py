"""The LoCoMo loader: counts pinned, every irregular form read, other shapes refused by name."""

import copy
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from fsagent.bench.datasets import locomo
from fsagent.bench.datasets.schema import CATEGORY_NAMES, count_by_category
from fsagent.errors import ConfigError

THREE_SHA256 = "7d2716874ceadb14a1d2aeb723b2f79220b48f06331d5a154ce99ffcfaf06087"


def sample(**changes: Any) -> dict[str, Any]:
    """Return a small sample in LoCoMo's schema, with top-level keys replaced."""
    entry: dict[str, Any] = {
        "sample_id": "s-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "Hello"},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Hi", "blip_caption": "a red kite"},
            ],
        },
        "qa": [{"question": "Who?", "answer": "Ada", "evidence": ["D1:1"], "category": 4}],
    }
    return {**entry, **changes}


def conversation(**changes: Any) -> dict[str, Any]:
    return {**sample()["conversation"], **changes}


def test_three_conversations_have_their_counts(locomo_file: Path) -> None:
    data = locomo.load(locomo_file)
    if data.sha256 != THREE_SHA256:
        pytest.skip("another LoCoMo file")
    assert len(data.questions) == 497
    assert count_by_category(data.questions) == {1: 74, 2: 90, 3: 21, 4: 200, 5: 112}
    per_sample = {s.sample_id: (len(s.sessions), len(s.turns)) for s in data.samples}
    assert per_sample == {"conv-26": (19, 419), "conv-30": (19, 369), "conv-41": (32, 663)}
    with_evidence = [q for q in data.questions if q.evidence]
    assert (len(with_evidence), sum(q.category != 5 for q in with_evidence)) == (495, 383)
    assert sum(q.gold is None for q in data.questions) == 110
    assert data.sample("conv-26").now == datetime(2023, 10, 22, 9, 55)


def test_whole_file_has_its_counts(locomo_file: Path) -> None:
    data = locomo.load(locomo_file)
    if data.sha256 != locomo.SHA256:
        pytest.skip("not the whole file")
    assert count_by_category(data.questions) == {1: 282, 2: 321, 3: 96, 4: 841, 5: 446}
    assert sum(len(s.sessions) for s in data.samples) == 272
    assert sum(len(s.turns) for s in data.samples) == 5882
    with_evidence = [q for q in data.questions if q.evidence]
    assert (len(with_evidence), sum(q.category != 5 for q in with_evidence)) == (1982, 1536)


def test_category_names_are_those_of_the_file() -> None:
    assert CATEGORY_NAMES == {
        1: "multi-hop",
        2: "temporal",
        3: "open-domain",
        4: "single-hop",
        5: "adversarial",
    }


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param(["D8:6; D9:17"], ("D8:6", "D9:17"), id="semicolon"),
        pytest.param(["D9:1 D4:4 D4:6"], ("D9:1", "D4:4", "D4:6"), id="spaces"),
        pytest.param(["D:11:26"], ("D11:26",), id="stray-colon"),
        pytest.param(["D30:05"], ("D30:5",), id="leading-zero"),
        pytest.param(["D"], (), id="junk"),
        pytest.param([], (), id="empty"),
        pytest.param(["D4:4", "D4:4", "D9:1"], ("D4:4", "D9:1"), id="duplicates"),
        pytest.param(["D4:99"], (), id="beyond-the-session"),
        pytest.param(["D 4 : 4"], ("D4:4",), id="blanks-inside"),
        pytest.param([None, 7], (), id="not-strings"),
    ],
)
def test_evidence_forms(entries: list[object], expected: tuple[str, ...]) -> None:
    existing = ["D8:6", "D9:17", "D9:1", "D4:4", "D4:6", "D11:26", "D30:5"]
    assert locomo.parse_evidence(entries, existing) == expected


def test_sessions_sort_as_numbers_and_orphan_dates_are_left_out() -> None:
    turns = {n: [{"speaker": "Ada", "dia_id": f"D{n}:1", "text": "x"}] for n in (2, 10)}
    talk = conversation(
        session_10=turns[10],
        session_10_date_time="9:00 am on 1 July, 2023",
        session_2=turns[2],
        session_2_date_time="12:05 am on 12 June, 2023",
        session_11_date_time="9:00 am on 1 August, 2030",
        session_12=[],
    )
    (read,), _ = locomo.parse([sample(conversation=talk)])
    assert [s.number for s in read.sessions] == [1, 2, 10]
    assert read.sessions[1].when == datetime(2023, 6, 12, 0, 5)
    assert read.now == datetime(2023, 7, 1, 9, 0)


def test_a_caption_stands_without_a_picture_and_the_query_is_never_read() -> None:
    talk = copy.deepcopy(conversation())
    talk["session_1"][1].update({"query": "SECRET", "re-download": True})
    entry = sample(conversation=talk, observation={"x": "SECRET"}, event_summary={"x": "SECRET"})
    (read,), _ = locomo.parse([entry])
    assert read.turns[1].caption == "a red kite"
    assert "SECRET" not in repr(read)


def test_a_sample_holds_nothing_of_its_questions() -> None:
    qa = [{"question": "QQQ", "answer": "GGG", "evidence": ["D1:1"], "category": 4}]
    (read,), (question,) = locomo.parse([sample(qa=qa)])
    assert question.evidence == ("D1:1",)
    assert not {"QQQ", "GGG"} & set(repr(read).split("'"))


def test_integer_and_missing_answers() -> None:
    qa = [
        {"question": "How many?", "answer": 3, "evidence": ["D1:1"], "category": 1},
        {"question": "Trap?", "adversarial_answer": "Yes", "evidence": [], "category": 5},
        {"question": "Both?", "adversarial_answer": "Yes", "answer": "No", "category": 5},
    ]
    _, questions = locomo.parse([sample(qa=qa)])
    assert [(q.gold, q.trap) for q in questions] == [("3", None), (None, "Yes"), ("No", "Yes")]
    assert [q.index for q in questions] == [0, 1, 2]


def broken(**changes: Any) -> list[dict[str, Any]]:
    return [sample(**changes)]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param({"data": []}, ["list of samples", "an object"], id="object-on-top"),
        pytest.param([], ["empty list"], id="empty"),
        pytest.param(["x"], ["sample 0", "a string"], id="sample-is-a-string"),
        pytest.param([{"qa": []}], ["sample 0", "sample_id"], id="no-id"),
        pytest.param(broken(conversation=[]), ["'s-1'", "conversation"], id="conversation-list"),
        pytest.param(broken(conversation={"speaker_a": "A"}), ["session_1"], id="no-session"),
        pytest.param(broken(qa={}), ["qa", "an object"], id="qa-object"),
        pytest.param(
            broken(conversation=conversation(session_1_date_time="8.5.2023")),
            ["session_1_date_time", "8.5.2023"],
            id="date",
        ),
        pytest.param(
            broken(conversation=conversation(session_1=[{"speaker": "A", "dia_id": "D1:1"}])),
            ["session_1[0]", "text"],
            id="turn-without-text",
        ),
        pytest.param(
            broken(
                conversation=conversation(
                    session_1=[{"speaker": "A", "dia_id": "D2:1", "text": ""}]
                )
            ),
            ["D2:1", "D1:1"],
            id="turn-of-another-session",
        ),
        pytest.param(
            broken(qa=[{"question": "?", "answer": "a", "category": 6}]),
            ["qa[0]", "6"],
            id="category",
        ),
        pytest.param(
            broken(qa=[{"question": "?", "category": 4}]), ["qa[0]", "answer"], id="no-answer"
        ),
        pytest.param([sample(), sample()], ["'s-1'", "twice"], id="sample-twice"),
    ],
)
def test_another_shape_is_refused_by_name(content: object, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        locomo.parse(content)
    assert [word for word in words if word not in str(caught.value)] == []


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.json"
    text.write_text("dear diary", encoding="utf-8")
    for path in (text, tmp_path / "missing.json", tmp_path):
        with pytest.raises(ConfigError, match=path.name):
            locomo.load(path)


def test_the_demo_conversation_reads_and_covers_every_category(demo_file: Path) -> None:
    data = locomo.load(demo_file)
    assert (len(data.samples), len(data.samples[0].sessions), len(data.samples[0].turns)) == (
        1,
        6,
        76,
    )
    assert count_by_category(data.questions) == {1: 3, 2: 3, 3: 2, 4: 5, 5: 3}
    rows = json.loads(demo_file.read_text(encoding="utf-8"))[0]["qa"]
    assert all(q.evidence or not rows[q.index]["evidence"] for q in data.questions)
