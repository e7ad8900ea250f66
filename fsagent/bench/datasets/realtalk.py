"""Read REALTALK's JSON: real chats of pairs of people over weeks, one file a pair.

The schema is LoCoMo's with other names: `name`, `clean_text`, dates like `29.12.2023, 18:41:48`.
Never read: the events annotated for each session. Questions: 1 multi-hop, 2 temporal, 3 open-domain.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from fsagent.bench.datasets.locomo import Form, read_questions, read_sessions
from fsagent.bench.datasets.schema import Dataset, Question, Sample
from fsagent.bench.datasets.shape import field, mapping, read_json
from fsagent.errors import ConfigError

REALTALK = Form("clean_text", ("%d.%m.%Y, %H:%M:%S", "%d.%m.%Y, %H:%M"), "29.12.2023, 18:41:48")


def load(path: Path) -> Dataset:
    """Read one chat, or all chats (`*.json`) of a folder; the sample's id is the file's name."""
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise ConfigError(f"{path} holds no chat (*.json)")
    samples: list[Sample] = []
    questions: list[Question] = []
    digest = hashlib.sha256()
    for file in files:
        content, sha256 = read_json(file)
        digest.update(sha256.encode("ascii"))
        where = f"not a REALTALK file: {file.name}"
        chat = mapping(content, where)
        names = mapping(field(chat, "name", where), f"{where}: name")
        speakers = tuple(str(field(names, key, where)) for key in ("speaker_1", "speaker_2"))
        sample = Sample(file.stem, speakers, read_sessions(chat, where, REALTALK))
        samples.append(sample)
        if "qa" in chat:
            questions.extend(read_questions(chat, sample, where))
    return Dataset("realtalk", str(path), digest.hexdigest(), tuple(samples), tuple(questions))
