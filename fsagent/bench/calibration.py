"""What a judge is worth: gold answers it should pass, and wrong ones it should fail.

Wrong answers come in two kinds. `specific`: another question's gold answer of the same category
and conversation, so right in kind and wrong in fact; a date is moved. `vague`: true to the topic
and empty of fact. The judge most used in print accepts 10.6 % of the first and 62.8 % of the second.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fsagent.bench.metrics.official import token_f1
from fsagent.bench.rundir import Row

Subject = Literal["gold", "specific", "vague"]
SUBJECTS: tuple[Subject, ...] = ("gold", "specific", "vague")
SEED = 20240517

_DAY = re.compile(r"\b([1-9]|[12]\d|3[01])\b(?!\d)")
_YEAR = re.compile(r"\b(19|20)(\d\d)\b")
_VAGUE = (
    "It came up in one of their conversations, as something that mattered to them.",
    "They talked about this at some point and went into it a little.",
    "Something related to that, as they mentioned when they spoke about it.",
)


@dataclass(frozen=True, slots=True)
class Probe:
    """An answer whose verdict is known beforehand."""

    row: Row
    subject: Subject
    answer: str


def probes(rows: Sequence[Row], count: int) -> list[Probe]:
    """Return `count` questions' gold, specific wrong and vague answers, the same for every run.

    A question for which no wrong answer of the kind is at hand gets none.
    """
    able = [row for row in rows if row["gold"]]
    draw = random.Random(SEED)
    chosen = draw.sample(able, min(count, len(able)))
    found: list[Probe] = []
    for place, row in enumerate(chosen):
        found.append(Probe(row, "gold", row["gold"]))
        wrong = specific_wrong(row, able, draw)
        if wrong is not None:
            found.append(Probe(row, "specific", wrong))
        found.append(Probe(row, "vague", _VAGUE[place % len(_VAGUE)]))
    return found


def specific_wrong(row: Row, rows: Sequence[Row], draw: random.Random) -> str | None:
    """Return a wrong answer of the right kind: a moved date, else another question's gold."""
    moved = move_date(row["gold"])
    if moved is not None:
        return moved
    others = [
        other["gold"]
        for other in rows
        if other["category"] == row["category"]
        and other["sample_id"] == row["sample_id"]
        and token_f1(other["gold"], row["gold"]) == 0
    ]
    return draw.choice(others) if others else None


def move_date(text: str) -> str | None:
    """Return `text` with its year, else its day or number, changed; None where it has neither."""
    if found := _YEAR.search(text):
        year = int(found.group()) - 2
        return f"{text[: found.start()]}{year}{text[found.end() :]}"
    if found := _DAY.search(text):
        day = (int(found.group()) + 11) % 28 + 1
        return f"{text[: found.start()]}{day}{text[found.end() :]}"
    return None
