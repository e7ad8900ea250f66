"""Read LoCoMo's JSON: conversations and questions, with every irregularity the file has.

Never read into a sample: `query` (the image search term, which leaks answers), `observation`,
`session_summary`, `event_summary`. Categories are those of the file's ids (`CATEGORY_NAMES`);
several published tables permute them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
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
from fsagent.errors import ConfigError, printable

SHA256 = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
"""The sum of `locomo10.json` as published (2,805,274 bytes)."""

DATE_FORMAT = "%I:%M %p on %d %B, %Y"
_SESSION_KEY = re.compile(r"session_(\d+)")
# "D8:6; D9:17", "D:11:26" (means D11:26) and "D30:05" all occur; "D" alone is junk.
_EVIDENCE = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")


def load(path: Path) -> Dataset:
    """Read a LoCoMo file. Raises `ConfigError` that names the sample and the key at fault."""
    try:
        raw = path.read_bytes()
    except OSError as err:
        raise ConfigError(f"cannot read {path}: {err.strerror or err}") from err
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except ValueError as err:
        raise ConfigError(f"{path} is not JSON in UTF-8: {err}") from err
    samples, questions = parse(content)
    return Dataset(
        name="locomo",
        path=str(path),
        sha256=hashlib.sha256(raw).hexdigest(),
        samples=samples,
        questions=questions,
    )


def parse(content: object) -> tuple[tuple[Sample, ...], tuple[Question, ...]]:
    """Return samples and questions of a file's parsed JSON."""
    if not isinstance(content, list) or not content:
        raise ConfigError(
            f"not a LoCoMo file: a list of samples was expected, this is {_kind(content)}; "
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
    where = f"sample {number}"
    mapping = _mapping(entry, where)
    sample_id = str(_field(mapping, "sample_id", where))
    where = f"sample {printable(sample_id)}"
    conversation = _mapping(_field(mapping, "conversation", where), f"{where}: conversation")
    sessions = _sessions(conversation, where)
    speakers = tuple(str(_field(conversation, key, where)) for key in ("speaker_a", "speaker_b"))
    sample = Sample(sample_id, speakers, sessions)
    existing = [turn.dia_id for turn in sample.turns]
    qa = _list(_field(mapping, "qa", where), f"{where}: qa")
    return sample, [_question(row, sample_id, i, existing) for i, row in enumerate(qa)]


def _sessions(conversation: Mapping[str, Any], where: str) -> tuple[Session, ...]:
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
    return tuple(_session(conversation, number, where) for number in numbers)


def _session(conversation: Mapping[str, Any], number: int, where: str) -> Session:
    key = f"session_{number}_date_time"
    raw = str(_field(conversation, key, where)).strip()
    try:
        when = datetime.strptime(raw, DATE_FORMAT)
    except ValueError as err:
        raise ConfigError(
            f"{where}: {key} is {raw!r}, expected like '1:56 pm on 8 May, 2023'"
        ) from err
    rows = conversation[f"session_{number}"]
    turns = tuple(_turn(row, number, place, where) for place, row in enumerate(rows, 1))
    if len({turn.dia_id for turn in turns}) != len(turns):
        raise ConfigError(f"{where}: session_{number} holds one dia_id twice")
    return Session(number, when, turns)


def _turn(row: object, session: int, place: int, where: str) -> Turn:
    here = f"{where}: session_{session}[{place - 1}]"
    mapping = _mapping(row, here)
    dia_id = str(_field(mapping, "dia_id", here)).strip()
    found = _EVIDENCE.fullmatch(dia_id)
    if found is None or int(found.group(1)) != session:
        raise ConfigError(f"{here}: dia_id is {dia_id!r}, expected D{session}:{place}")
    # A caption may stand without `img_url` (316 of them do), so the caption alone decides.
    caption = str(mapping.get("blip_caption") or "").strip()
    return Turn(
        dia_id=f"D{session}:{int(found.group(2))}",
        speaker=str(_field(mapping, "speaker", here)),
        text=str(_field(mapping, "text", here)),
        caption=caption or None,
    )


def _question(row: object, sample_id: str, index: int, existing: Sequence[str]) -> Question:
    where = f"sample {printable(sample_id)}: qa[{index}]"
    mapping = _mapping(row, where)
    category = _field(mapping, "category", where)
    if category not in CATEGORY_NAMES or isinstance(category, bool):
        raise ConfigError(f"{where}: category is {category!r}, expected 1 to 5")
    gold, trap = mapping.get("answer"), mapping.get("adversarial_answer")
    if gold is None and trap is None:
        raise ConfigError(f"{where}: neither answer nor adversarial_answer")
    return Question(
        sample_id=sample_id,
        index=index,
        text=str(_field(mapping, "question", where)),
        category=category,
        gold=None if gold is None else str(gold),  # six answers are integers
        trap=None if trap is None else str(trap),
        evidence=parse_evidence(
            _list(mapping.get("evidence") or [], f"{where}: evidence"), existing
        ),
    )


def _field(mapping: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in mapping or mapping[key] is None:
        raise ConfigError(f"not a LoCoMo file: {where} has no {key!r}")
    return mapping[key]


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"not a LoCoMo file: {where} is {_kind(value)}, an object was expected")
    return value


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ConfigError(f"not a LoCoMo file: {where} is {_kind(value)}, a list was expected")
    return value


def _kind(value: object) -> str:
    names = {dict: "an object", list: "an empty list", str: "a string", bool: "a boolean"}
    return names.get(type(value), "null" if value is None else "a number")
