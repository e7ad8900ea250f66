"""Read LongMemEval's JSON: each question with a history of its own, between a user and an assistant.

Leaks are stripped: `has_answer` becomes evidence and nothing else, and sessions lose their ids,
which begin with `answer_` where they hold the answer. A question whose id ends in `_abs` cannot be
answered from its history: it counts as adversarial. Sessions are numbered by date.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from fsagent.bench.datasets.schema import Dataset, Question, Sample, Session, Turn
from fsagent.bench.datasets.shape import field, kind, mapping, moment, read_json, sequence
from fsagent.errors import ConfigError

ABSTENTION = "_abs"
SINGLE_HOP, TEMPORAL, ADVERSARIAL = 4, 2, 5
_RULES = {
    "single-session-user": SINGLE_HOP,
    "single-session-assistant": SINGLE_HOP,
    "single-session-preference": SINGLE_HOP,
    "multi-session": SINGLE_HOP,
    "knowledge-update": SINGLE_HOP,
    "temporal-reasoning": TEMPORAL,
}
"""By which of LoCoMo's rules an answer is scored; all of these are plain F1."""

_DATES = ("%Y/%m/%d (%a) %H:%M", "%Y/%m/%d %H:%M", "%Y/%m/%d")
_EXAMPLE = "2023/05/30 (Tue) 23:40"


def load(path: Path) -> Dataset:
    """Read a LongMemEval file: a sample and a question for each instance."""
    content, sha256 = read_json(path)
    if not isinstance(content, list) or not content:
        raise ConfigError(
            f"not a LongMemEval file: a list of questions was expected, this is {kind(content)}"
        )
    samples: dict[str, Sample] = {}
    questions: list[Question] = []
    for number, entry in enumerate(content):
        sample, question = _instance(entry, number)
        samples[sample.sample_id] = sample
        questions.append(question)
    return Dataset("longmemeval", str(path), sha256, tuple(samples.values()), tuple(questions))


def _instance(entry: object, number: int) -> tuple[Sample, Question]:
    where = f"not a LongMemEval file: entry {number}"
    top = mapping(entry, where)
    question_id = str(field(top, "question_id", where))
    kind_name = str(field(top, "question_type", where))
    if kind_name not in _RULES:
        raise ConfigError(f"{where}: question_type {kind_name!r} is none of {', '.join(_RULES)}")
    sessions, evidence = _sessions(top, where)
    asked = moment(field(top, "question_date", where), _DATES, f"{where}: question_date", _EXAMPLE)
    abstains = question_id.endswith(ABSTENTION)
    # The id as given would tell a store that there is nothing to find.
    sample_id = f"{number:04d}-{question_id.removesuffix(ABSTENTION)}"
    sample = Sample(sample_id, ("user", "assistant"), sessions, asked=asked)
    question = Question(
        sample_id=sample_id,
        index=0,
        text=str(field(top, "question", where)),
        category=ADVERSARIAL if abstains else _RULES[kind_name],
        gold=None if abstains else str(field(top, "answer", where)),
        evidence=() if abstains else evidence,
        kind="abstention" if abstains else kind_name,
    )
    return sample, question


def _sessions(top: Mapping[str, Any], where: str) -> tuple[tuple[Session, ...], tuple[str, ...]]:
    """Return the sessions by date, and the turns that hold the answer."""
    talks = sequence(field(top, "haystack_sessions", where), f"{where}: haystack_sessions")
    dates = sequence(field(top, "haystack_dates", where), f"{where}: haystack_dates")
    if len(talks) != len(dates):
        raise ConfigError(f"{where}: {len(talks)} haystack_sessions, {len(dates)} haystack_dates")
    dated = [
        (moment(date, _DATES, f"{where}: haystack_dates[{place}]", _EXAMPLE), place)
        for place, date in enumerate(dates)
        if talks[place]
    ]
    if not dated:
        raise ConfigError(f"{where}: haystack_sessions has no turns")
    sessions: list[Session] = []
    evidence: list[str] = []
    for number, (when, place) in enumerate(sorted(dated), 1):
        here = f"{where}: haystack_sessions[{place}]"
        session, answers = _session(talks[place], number, when, here)
        sessions.append(session)
        evidence += answers
    return tuple(sessions), tuple(evidence)


def _session(talk: object, number: int, when: datetime, where: str) -> tuple[Session, list[str]]:
    turns: list[Turn] = []
    evidence: list[str] = []
    for place, row in enumerate(sequence(talk, where), 1):
        turn = mapping(row, f"{where}[{place - 1}]")
        dia_id = f"D{number}:{place}"
        role, text = (str(field(turn, key, f"{where}[{place - 1}]")) for key in ("role", "content"))
        turns.append(Turn(dia_id, role, text))
        if turn.get("has_answer") is True:
            evidence.append(dia_id)
    return Session(number, when, tuple(turns)), evidence
