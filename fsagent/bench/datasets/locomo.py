"""Read LoCoMo's JSON: conversations and questions, with every irregularity the file has.

Never read into a sample: `query` (the image search term, which leaks answers), `observation`,
`session_summary`, `event_summary`. Categories are those of the file's ids (`CATEGORY_NAMES`);
several published tables permute them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsagent.bench.datasets.schema import (
    CATEGORY_NAMES,
    Dataset,
    Question,
    Sample,
    Session,
    Turn,
)
from fsagent.bench.datasets.shape import field, kind, mapping, moment, read_json, sequence
from fsagent.errors import ConfigError, printable

SHA256 = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
"""The sum of `locomo10.json` as published (2,805,274 bytes)."""

_SESSION_KEY = re.compile(r"session_(\d+)")
# "D8:6; D9:17", "D:11:26" (means D11:26) and "D30:05" all occur; "D" alone is junk.
_EVIDENCE = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")


def load(path: Path) -> Dataset:
    """Read a LoCoMo file. Raises `ConfigError` that names the sample and the key at fault."""
    content, sha256 = read_json(path)
    samples, questions = parse(content)
    return Dataset(
        name="locomo",
        path=str(path),
        sha256=sha256,
        samples=samples,
        questions=questions,
    )


def parse(content: object) -> tuple[tuple[Sample, ...], tuple[Question, ...]]:
    """Return samples and questions of a file's parsed JSON."""
    if not isinstance(content, list) or not content:
        raise ConfigError(
            f"not a LoCoMo file: a list of samples was expected, this is {kind(content)}; "
            "pass locomo10.json as published (fsagent bench fetch locomo)"
        )
    samples: dict[str, Sample] = {}
    questions: list[Question] = []
    for number, entry in enumerate(content):
        sample, asked = _sample(entry, number)
        if sample.sample_id in samples:
            raise ConfigError(f"sample_id {printable(sample.sample_id)} stands twice in the file")
        samples[sample.sample_id] = sample
        questions.extend(asked)
    return tuple(samples.values()), tuple(questions)


def parse_evidence(entries: Iterable[object], existing: Iterable[str]) -> tuple[str, ...]:
    """Return the turns that evidence names: each once, in order, only those in `existing`."""
    known = set(existing)
    return tuple(dia_id for dia_id in name_turns(entries) if dia_id in known)


def name_turns(entries: Iterable[object]) -> tuple[str, ...]:
    """Return the turns that evidence strings name, each once, in order."""
    return tuple(
        dict.fromkeys(
            f"D{int(session)}:{int(turn)}"
            for entry in entries
            for session, turn in _EVIDENCE.findall(str(entry))
        )
    )


def _sample(entry: object, number: int) -> tuple[Sample, list[Question]]:
    where = f"not a LoCoMo file: sample {number}"
    top = mapping(entry, where)
    sample_id = str(field(top, "sample_id", where))
    where = f"not a LoCoMo file: sample {printable(sample_id)}"
    conversation = mapping(field(top, "conversation", where), f"{where}: conversation")
    sessions = read_sessions(conversation, where, LOCOMO)
    speakers = tuple(str(field(conversation, key, where)) for key in ("speaker_a", "speaker_b"))
    sample = Sample(sample_id, speakers, sessions)
    return sample, read_questions(top, sample, where)


@dataclass(frozen=True, slots=True)
class Form:
    """Where a format of LoCoMo's family keeps a turn's words, and how it writes a date."""

    text_key: str
    date_formats: tuple[str, ...]
    date_example: str


LOCOMO = Form("text", ("%I:%M %p on %d %B, %Y",), "1:56 pm on 8 May, 2023")


def read_sessions(conversation: Mapping[str, Any], where: str, form: Form) -> tuple[Session, ...]:
    """Return the sessions `session_1`, `session_2`, ... in the order of their numbers."""
    # Only lists count: conv-26 has dates for sessions 20..35 that do not exist.
    numbers = sorted(
        int(key.group(1))
        for key, value in (
            (_SESSION_KEY.fullmatch(name), value) for name, value in conversation.items()
        )
        if key and isinstance(value, list) and value
    )
    if not numbers:
        raise ConfigError(f"{where}: conversation has no session_1 with turns")
    return tuple(_session(conversation, number, where, form) for number in numbers)


def read_questions(top: Mapping[str, Any], sample: Sample, where: str) -> list[Question]:
    """Return the questions under `qa`."""
    existing = [turn.dia_id for turn in sample.turns]
    rows = sequence(field(top, "qa", where), f"{where}: qa")
    return [
        _question(row, sample.sample_id, index, existing, f"{where}: qa[{index}]")
        for index, row in enumerate(rows)
    ]


def _session(conversation: Mapping[str, Any], number: int, where: str, form: Form) -> Session:
    key = f"session_{number}_date_time"
    raw = field(conversation, key, where)
    when = moment(raw, form.date_formats, f"{where}: {key}", form.date_example)
    rows = conversation[f"session_{number}"]
    turns = tuple(
        _turn(row, number, f"{where}: session_{number}[{place}]", form)
        for place, row in enumerate(rows)
    )
    if len({turn.dia_id for turn in turns}) != len(turns):
        raise ConfigError(f"{where}: session_{number} holds one dia_id twice")
    return Session(number, when, turns)


def _turn(row: object, session: int, where: str, form: Form) -> Turn:
    turn = mapping(row, where)
    dia_id = str(field(turn, "dia_id", where)).strip()
    found = _EVIDENCE.fullmatch(dia_id)
    if found is None or int(found.group(1)) != session:
        raise ConfigError(f"{where}: dia_id is {dia_id!r}, expected like D{session}:1")
    # A caption may stand without `img_url` (316 of them do), so the caption alone decides.
    caption = str(turn.get("blip_caption") or "").strip()
    return Turn(
        dia_id=f"D{session}:{int(found.group(2))}",
        speaker=str(field(turn, "speaker", where)),
        text=str(field(turn, form.text_key, where)),
        caption=caption or None,
    )


def _question(
    row: object, sample_id: str, index: int, existing: Sequence[str], where: str
) -> Question:
    asked = mapping(row, where)
    category = field(asked, "category", where)
    if category not in CATEGORY_NAMES or isinstance(category, bool):
        raise ConfigError(f"{where}: category is {category!r}, expected 1 to 5")
    gold, trap = asked.get("answer"), asked.get("adversarial_answer")
    if gold is None and trap is None:
        raise ConfigError(f"{where}: neither answer nor adversarial_answer")
    evidence = sequence(asked.get("evidence") or [], f"{where}: evidence")
    return Question(
        sample_id=sample_id,
        index=index,
        text=str(field(asked, "question", where)),
        category=category,
        gold=None if gold is None else str(gold),  # six answers are integers
        trap=None if trap is None else str(trap),
        evidence=parse_evidence(evidence, existing),
    )
