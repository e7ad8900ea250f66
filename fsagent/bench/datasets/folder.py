"""Read a folder of one's own conversations with a YAML file of questions.

    my-data/
      ada-and-bo.yaml     a conversation; its sample's id is the file's name
      questions.yaml      the questions

A conversation:

    sessions:
      - date: 2024-03-03 18:40
        turns:
          - Ada: The boat is mine now.
          - Bo: No way!
            image: a blue boat          # optional: what a picture shows

Questions, a list:

    - conversation: ada-and-bo
      question: Who bought a boat?
      answer: Ada
      evidence: [D1:1]                  # optional: session 1, turn 1
      category: single-hop              # multi-hop, temporal, open-domain, single-hop, adversarial

A question that nothing answers has `category: adversarial`, no `answer`, and may have a `trap`:
the wrong answer it tempts to.

Every value is text as it stands there: `Bo: No` is the word, not a truth value, and 12:30 no number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from fsagent.bench.datasets.locomo import parse_evidence
from fsagent.bench.datasets.schema import (
    ADVERSARIAL,
    CATEGORY_NAMES,
    Dataset,
    Question,
    Sample,
    Session,
    Turn,
)
from fsagent.bench.datasets.shape import field, kind, mapping, sequence
from fsagent.errors import ConfigError

QUESTIONS = "questions.yaml"
_EXAMPLE = "2024-03-03 18:40"
_IDS = {name: number for number, name in CATEGORY_NAMES.items()}
_SUFFIXES = (".yaml", ".yml")
_NOTHING = ("", "~", "null")


def load(path: Path) -> Dataset:
    """Read the folder. Raises `ConfigError` that names the file and the key at fault."""
    if not (path / QUESTIONS).is_file():
        raise ConfigError(
            f"{path} holds no {QUESTIONS}; --data names the folder that holds it, with a NAME.yaml for "
            "each conversation beside it (benchmarks/README.md shows both)"
        )
    digest = hashlib.sha256()
    files = sorted(
        file for file in path.iterdir() if file.suffix in _SUFFIXES and file.name != QUESTIONS
    )
    if not files:
        raise ConfigError(f"{path} holds no conversation (NAME.yaml) beside {QUESTIONS}")
    samples = {file.stem: _sample(file, _read_yaml(file, digest)) for file in files}
    rows = _read_yaml(path / QUESTIONS, digest)
    if not isinstance(rows, list) or not rows:
        raise ConfigError(f"{path / QUESTIONS} holds no list of questions (- question: ...)")
    places: dict[str, int] = {}
    questions = []
    for number, row in enumerate(rows):
        where = f"{QUESTIONS}[{number}]"
        asked = mapping(row, where)
        name = str(field(asked, "conversation", where))
        if name not in samples:
            raise ConfigError(
                f"{where}: there is no conversation {name}.yaml; there are {', '.join(samples)}"
            )
        index = places[name] = places.get(name, -1) + 1
        questions.append(_question(asked, samples[name], index, where))
    return Dataset(
        "folder", str(path), digest.hexdigest(), tuple(samples.values()), tuple(questions)
    )


def _sample(file: Path, content: object) -> Sample:
    where = file.name
    rows = sequence(field(mapping(content, where), "sessions", where), f"{where}: sessions")
    sessions = tuple(
        _session(row, number, f"{where}: sessions[{number - 1}]")
        for number, row in enumerate(rows, 1)
    )
    if not sessions:
        raise ConfigError(f"{where}: sessions is empty")
    names = dict.fromkeys(turn.speaker for session in sessions for turn in session.turns)
    return Sample(file.stem, tuple(names), sessions)


def _session(row: object, number: int, where: str) -> Session:
    session = mapping(row, where)
    turns = sequence(field(session, "turns", where), f"{where}: turns")
    return Session(
        number,
        _moment(field(session, "date", where), f"{where}: date"),
        tuple(
            _turn(turn, f"D{number}:{place}", f"{where}: turns[{place - 1}]")
            for place, turn in enumerate(turns, 1)
        ),
    )


def _turn(row: object, dia_id: str, where: str) -> Turn:
    turn = dict(row) if isinstance(row, dict) else {}
    caption = _text(turn.pop("image", None), f"{where}: image")
    if len(turn) != 1:
        found = sorted(map(str, turn)) or repr(row)
        raise ConfigError(f"{where} is {found}; write one speaker: text, e.g. - Ada: Hello")
    ((speaker, text),) = turn.items()
    if not isinstance(text, str):
        raise ConfigError(f"{where}: what {speaker} says is {kind(text)}; put the text in quotes")
    return Turn(dia_id, str(speaker), text, caption)


def _question(asked: Mapping[str, Any], sample: Sample, index: int, where: str) -> Question:
    name = str(field(asked, "category", where))
    category = _IDS.get(name.lower(), int(name) if name.isdecimal() else 0)
    if category not in CATEGORY_NAMES:
        raise ConfigError(f"{where}: category is {name!r}, expected one of {', '.join(_IDS)}")
    gold, trap = (_text(asked.get(key), f"{where}: {key}") for key in ("answer", "trap"))
    if gold is None and category != ADVERSARIAL:
        raise ConfigError(f"{where} has no 'answer'; only adversarial questions have none")
    named = asked.get("evidence") or []
    evidence = [named] if isinstance(named, str) else sequence(named, f"{where}: evidence")
    found = parse_evidence(evidence, [turn.dia_id for turn in sample.turns])
    if len(found) < len(evidence):
        raise ConfigError(
            f"{where}: evidence {evidence!r} names a turn that is not there; "
            "write D<session>:<turn>, each once, e.g. [D1:2]"
        )
    return Question(
        sample_id=sample.sample_id,
        index=index,
        text=str(field(asked, "question", where)),
        category=category,
        gold=gold,
        trap=trap,
        evidence=found,
    )


def _moment(value: object, where: str) -> datetime:
    try:
        return datetime.fromisoformat(str(value)).replace(tzinfo=None)
    except ValueError as err:
        raise ConfigError(f"{where} is {value!r}, expected like {_EXAMPLE!r}") from err


def _text(value: object, where: str) -> str | None:
    """Return a text that may be left out."""
    if value is None or value in _NOTHING:
        return None
    if not isinstance(value, str):
        raise ConfigError(f"{where} is {kind(value)}, a text was expected")
    return value


def _read_yaml(file: Path, digest: Any) -> Any:
    import yaml

    try:
        raw = file.read_bytes()
        digest.update(file.name.encode("utf-8") + b"\0" + raw)
        # BaseLoader makes text of everything and constructs nothing else.
        return yaml.load(raw.decode("utf-8-sig"), Loader=yaml.BaseLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as err:
        raise ConfigError(f"{file} is not valid YAML: {err}") from err
