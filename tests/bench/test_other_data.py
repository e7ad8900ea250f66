"""LongMemEval, REALTALK and a folder of one's own, on small data written here."""

import copy
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from fsagent.bench.datasets import folder, longmemeval, realtalk
from fsagent.bench.datasets.read import read_dataset
from fsagent.bench.options import BenchOptions
from fsagent.bench.runner import run_benchmark
from fsagent.errors import ConfigError

INSTANCE: dict[str, Any] = {
    "question_id": "q_kite",
    "question_type": "temporal-reasoning",
    "question": "When did I buy the red kite?",
    "answer": "2 May 2023",
    "question_date": "2023/06/01 (Thu) 10:00",
    "haystack_session_ids": ["answer_77_1", "plain_3"],
    "haystack_dates": ["2023/05/02 (Tue) 23:40", "2023/04/30 (Sun) 08:15"],
    "haystack_sessions": [
        [
            {"role": "user", "content": "I bought the red kite today.", "has_answer": True},
            {"role": "assistant", "content": "Enjoy it!", "has_answer": False},
        ],
        [{"role": "user", "content": "Where do people fly kites?"}],
    ],
    "answer_session_ids": ["answer_77_1"],
}

CHAT: dict[str, Any] = {
    "name": {"speaker_1": "Emi", "speaker_2": "Ravi"},
    "session_1_date_time": "29.12.2023, 18:41:48",
    "session_1": [
        {
            "clean_text": "I adopted a parrot.",
            "speaker": "Emi",
            "date_time": "29.12.2023, 18:41:48",
            "dia_id": "D1:1",
        },
        {"clean_text": "Lovely!", "speaker": "Ravi", "dia_id": "D1:2", "blip_caption": "a parrot"},
    ],
    "events_session_1": {"agent_a": "SECRET"},
    "qa": [{"question": "Who has a parrot?", "answer": "Emi", "evidence": ["D1:1"], "category": 1}],
}

TALK = """\
sessions:
  - date: 2024-03-03 18:40
    turns:
      - Ada: The boat is mine now.
      - Bo: "No way!"
        image: a blue boat
  - date: "2024-03-05"
    turns:
      - Ada: I sold it again.
"""

ASKED = """\
- conversation: ada-and-bo
  question: Who bought a boat?
  answer: Ada
  evidence: [D1:1]
  category: single-hop
- conversation: ada-and-bo
  question: Why did Bo buy a car?
  trap: He was bored
  category: adversarial
"""


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def own_folder(tmp_path: Path, talk: str = TALK, asked: str = ASKED) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    (data / "ada-and-bo.yaml").write_text(talk, encoding="utf-8")
    (data / "questions.yaml").write_text(asked, encoding="utf-8")
    return data


def test_longmemeval_sorts_sessions_by_date_and_strips_the_leaks(tmp_path: Path) -> None:
    data = longmemeval.load(written(tmp_path / "l.json", [INSTANCE]))
    (sample,), (question,) = data.samples, data.questions
    assert [s.when for s in sample.sessions] == [
        datetime(2023, 4, 30, 8, 15),
        datetime(2023, 5, 2, 23, 40),
    ]
    assert sample.now == datetime(2023, 6, 1, 10, 0)
    assert (question.evidence, question.category) == (("D2:1",), 2)
    assert (question.gold, question.kind) == ("2 May 2023", "temporal-reasoning")
    assert "answer" not in repr(sample)


def test_longmemeval_abstention_is_adversarial_and_its_store_does_not_know(tmp_path: Path) -> None:
    entry = {**INSTANCE, "question_id": "q_kite_abs"}
    data = longmemeval.load(written(tmp_path / "l.json", [INSTANCE, entry]))
    question = data.questions[1]
    assert (question.category, question.gold, question.kind) == (5, None, "abstention")
    assert question.evidence == ()
    assert not re.search("abs", repr(data.samples[1]))
    assert len({sample.sample_id for sample in data.samples}) == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"question_type": "riddle"}, "riddle"),
        ({"haystack_dates": ["2023/05/02"]}, "1 haystack_dates"),
        ({"haystack_dates": ["soon", "later"]}, "soon"),
        ({"haystack_sessions": [[], []]}, "no turns"),
        ({"question_date": None}, "question_date"),
    ],
)
def test_longmemeval_of_another_shape_is_refused(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        longmemeval.load(written(tmp_path / "l.json", [{**INSTANCE, **change}]))


def test_realtalk_reads_its_own_names_and_dates(tmp_path: Path) -> None:
    written(tmp_path / "Chat_1.json", CHAT)
    written(tmp_path / "Chat_2.json", CHAT)
    data = realtalk.load(tmp_path)
    assert [sample.sample_id for sample in data.samples] == ["Chat_1", "Chat_2"]
    sample = realtalk.load(tmp_path / "Chat_1.json").samples[0]
    assert sample.speakers == ("Emi", "Ravi")
    assert sample.now == datetime(2023, 12, 29, 18, 41, 48)
    assert (sample.turns[0].text, sample.turns[1].caption) == ("I adopted a parrot.", "a parrot")
    assert "SECRET" not in repr(data)
    assert data.questions[0].evidence == ("D1:1",)


def test_realtalk_of_another_shape_is_refused(tmp_path: Path) -> None:
    broken = copy.deepcopy(CHAT)
    del broken["session_1"][0]["clean_text"]
    with pytest.raises(ConfigError, match=r"session_1\[0\] has no 'clean_text'"):
        realtalk.load(written(tmp_path / "c.json", broken))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="no chat"):
        realtalk.load(tmp_path / "empty")


def test_a_folder_of_ones_own_is_read(tmp_path: Path) -> None:
    data = folder.load(own_folder(tmp_path))
    (sample,) = data.samples
    assert (sample.sample_id, sample.speakers) == ("ada-and-bo", ("Ada", "Bo"))
    assert [s.when for s in sample.sessions] == [
        datetime(2024, 3, 3, 18, 40),
        datetime(2024, 3, 5),
    ]
    assert sample.turns[1].caption == "a blue boat"
    first, second = data.questions
    assert (first.category, first.gold, first.evidence) == (4, "Ada", ("D1:1",))
    assert (second.category, second.gold, second.trap) == (5, None, "He was bored")
    assert [q.index for q in data.questions] == [0, 1]


def test_words_that_yaml_takes_for_values_stay_words(tmp_path: Path) -> None:
    talk = TALK.replace('Bo: "No way!"', "Bo: No").replace("I sold it again.", "12:30")
    asked = ASKED.replace("answer: Ada", "answer: no").replace("[D1:1]", "D1:1")
    asked = asked.replace("single-hop", "Single-Hop")
    data = folder.load(own_folder(tmp_path, talk, asked))
    assert [turn.text for turn in data.samples[0].turns[1:]] == ["No", "12:30"]
    first = data.questions[0]
    assert (first.gold, first.evidence, first.category) == ("no", ("D1:1",), 4)


def test_a_conversation_may_end_in_yml_and_an_answer_be_null(tmp_path: Path) -> None:
    path = own_folder(tmp_path, TALK, ASKED.replace("  trap: He", "  answer: null\n  trap: He"))
    (path / "ada-and-bo.yaml").rename(path / "ada-and-bo.yml")
    data = folder.load(path)
    assert (data.samples[0].sample_id, data.questions[1].gold) == ("ada-and-bo", None)


def test_the_sum_of_a_folder_follows_its_content(tmp_path: Path) -> None:
    data = own_folder(tmp_path)
    before = folder.load(data).sha256
    (data / "ada-and-bo.yaml").write_text(TALK.replace("sold", "lent"), encoding="utf-8")
    assert folder.load(data).sha256 != before


@pytest.mark.parametrize(
    ("talk", "asked", "words"),
    [
        (TALK, ASKED.replace("D1:1", "D9:9"), "D9:9"),
        (TALK, ASKED.replace("ada-and-bo", "nobody"), "nobody.yaml"),
        (TALK, ASKED.replace("single-hop", "hard"), "hard"),
        (TALK, ASKED.replace("  answer: Ada\n", ""), "answer"),
        (TALK.replace("Ada: The", "Ada: x\n        Cy: The"), ASKED, "one speaker"),
        (TALK.replace("2024-03-03 18:40", "some day"), ASKED, "some day"),
        ("sessions: 3", ASKED, "a list was expected"),
        (TALK, "", "holds no list of questions"),
        (TALK, "[]", "holds no list of questions"),
        (TALK.replace("Ada: The boat is mine now.", "The boat"), ASKED, "e.g. - Ada: Hello"),
        (TALK.replace("The boat is", "[The boat] is: x"), ASKED, "YAML"),
        (TALK.replace("The boat is mine now.", "{a: b}"), ASKED, "in quotes"),
        (TALK, ASKED.replace("answer: Ada", "answer: [Ada, Bo]"), "a text was expected"),
        ("a: [", ASKED, "YAML"),
    ],
)
def test_a_folder_of_another_shape_is_refused_by_file_and_key(
    tmp_path: Path, talk: str, asked: str, words: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        folder.load(own_folder(tmp_path, talk, asked))


def test_data_is_known_by_its_looks(tmp_path: Path, demo_file: Path) -> None:
    (tmp_path / "chats").mkdir()
    chat = written(tmp_path / "chats" / "Chat_1.json", CHAT)
    looks = {
        demo_file: "locomo",
        chat: "realtalk",
        chat.parent: "realtalk",
        written(tmp_path / "l.json", [INSTANCE]): "longmemeval",
        own_folder(tmp_path): "folder",
    }
    assert {path: read_dataset(path).name for path in looks} == looks


def test_what_is_missing_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="fsagent bench fetch locomo"):
        read_dataset(tmp_path / "locomo10.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"holds no questions\.yaml; --data names the folder"):
        read_dataset(tmp_path / "empty")


def test_the_same_harness_runs_over_each(tmp_path: Path) -> None:
    files = {
        "longmemeval": written(tmp_path / "l.json", [INSTANCE]),
        "realtalk": written(tmp_path / "Chat_1.json", CHAT),
        "folder": own_folder(tmp_path),
    }
    for format, data in files.items():
        options = BenchOptions(
            data=data, out=tmp_path / f"run-{format}", system="bm25", format=format
        )
        content = run_benchmark(options).content
        assert content["dataset"]["name"] == format
        assert content["retrieval"]["1-4"]["recall@1"] == 1
        assert ("kinds" in content) == (format == "longmemeval")
