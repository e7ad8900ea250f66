"""Answer a request of sleep by rules: what people said of themselves, as edits of core memory.

A newer statement takes the place of the older line about the same attribute; what memory says
already is not proposed; what was taken back ("just kidding") never happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from fsagent.attributes import (
    Stated,
    contradict,
    plain_value,
    read_fact,
    same_subject,
    same_value,
)
from fsagent.models.offline.saying import Clause, retracts
from fsagent.models.offline.statements import Statement, statements

TOOL = "memory_patch"
DEFAULT_BLOCK = "human"
UNNAMED = "user"
"""How a person is called who gave no name: core is about them."""

MOST_EDITS = 60
CORRECTED_WITHIN = 3
"""How many messages later a person may still correct a statement without repeating it."""

_BLOCK = re.compile(
    r"^<block label=(?P<q>['\"])(?P<label>.+?)(?P=q) .*characters(?P<closed>, read-only)?['\"]>$"
)
_SAID = re.compile(
    r"^\[(?P<cite>[^\]\s]+:\d+)\] (?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d) \w+ user (?P<name>[^:]{1,80}): (?P<text>.*)$"
)
_HEAD = "# Said since the last sleep"
_CITED = re.compile(r"\s*\[[^\[\]]*:\d+(?:-\d+)?\]")
_MEANT = re.compile(
    r"(?:(?:it|that|this) (?:is|was|should be)|make (?:it|that)|it should be|I meant)?\s*(?P<value>.+?)"
    r"(?:,? (?:with|spelled|and not|instead|rather|not) .*)?$",
    re.IGNORECASE,
)


def edits_of(request: str) -> list[dict[str, Any]]:
    """Return the edits that a request of sleep gives reason for."""
    head, _, said = request.rpartition(f"\n{_HEAD}\n")
    if not head:
        return []
    block = _Blocks(head)
    for statement in _earnest(said.splitlines()):
        block.take(statement)
    return block.edits()[:MOST_EDITS]


@dataclass(frozen=True, slots=True)
class _Told:
    """A statement with its speaker, its message's place among the speaker's, and its citation."""

    statement: Statement
    speaker: str
    place: int
    cite: str
    several: bool = False


def _earnest(lines: Sequence[str]) -> Iterator[_Told]:
    """Yield what people stated, in order, without what they took back."""
    found = [match for line in lines if (match := _SAID.match(line))]
    several = len({match["name"] for match in found}) > 1
    told: list[_Told] = []
    spoken: dict[str, int] = {}
    for match in found:
        speaker, text = match["name"], match["text"]
        place = spoken[speaker] = spoken.get(speaker, 0) + 1
        if retracts(text):
            told = [one for one in told if one.speaker != speaker or one.place < place - 1]
        said = datetime.strptime(match["ts"], "%Y-%m-%d %H:%M")  # a wall time, zone unknown
        for clause, statement in statements(text, said):
            before = [one for one in told if one.speaker == speaker]
            stated = statement or _corrected(clause, before[-1:], place)
            if stated is not None:
                told.append(_Told(stated, speaker, place, match["cite"], several))
    yield from told


def _corrected(clause: Clause, last: Sequence[_Told], place: int) -> Statement | None:
    """Return the last statement with the value that a correction such as "no, it's Anna" gives it."""
    if not clause.corrects or not last or place - last[0].place > CORRECTED_WITHIN:
        return None
    before = last[0].statement
    stated, match = read_fact(before.text), _MEANT.match(clause.text)
    if stated is None or match is None or not stated.single:
        return None
    value = match["value"].strip(" .!")
    # "No, it's raining" names nothing; "No, it's Anna" does.
    alike = value[0].isupper() == stated.value[0].isupper() and len(value.split()) <= 3
    if not alike or value.casefold() == stated.value.casefold():
        return None
    text = before.text.replace(stated.value, value)
    return Statement(text, before.kin) if text != before.text else None


@dataclass(slots=True)
class _Line:
    """A line of a block on its way: `old` as it stands now, "" for a new one."""

    block: str
    words: str
    stated: Stated | None
    old: str = ""
    cites: tuple[str, ...] = ()
    changed: bool = False


class _Blocks:
    """The lines of the blocks that may be written, and what becomes of them."""

    def __init__(self, head: str) -> None:
        open_blocks = [(label, lines) for label, lines, closed in blocks_in(head) if not closed]
        self.labels = [label for label, _ in open_blocks]
        self.lines = [
            _Line(label, words_of(line), read_fact(words_of(line)), old=line)
            for label, lines in open_blocks
            for line in lines
        ]

    def take(self, told: _Told) -> None:
        """Let a statement add a line, take an older one's place, or change nothing."""
        label = self._label()
        if label is None:
            return
        named = told.several or self._names(told.speaker)
        person = told.speaker if named and told.speaker != UNNAMED else ""
        words = told.statement.line(person)
        stated = read_fact(words)
        if told.statement.negated:
            older = self._denied_by(replace(told.statement, negated=False).line(person))
        elif self._says(words, stated):
            return
        else:
            older = [line for line in self._standing() if _gives_way(line.stated, stated)]
        if older:
            for line in older:
                line.words, line.changed, line.cites = "", True, (told.cite,)
            older[0].words, older[0].stated = words, stated
        elif not told.statement.negated:
            self.lines.append(_Line(label, words, stated, cites=(told.cite,), changed=True))

    def edits(self) -> list[dict[str, Any]]:
        """Return the edits that make the blocks what their lines are now."""
        return [
            {
                "op": "replace" if line.old else "add",
                "block": line.block,
                "old": line.old,
                "new": f"- {line.words}" if line.words else "",
                "cites": list(line.cites),
            }
            for line in self.lines
            if line.changed and (line.old or line.words)
        ]

    def _label(self) -> str | None:
        """Return the block for facts about people: the person's own, else any but the persona."""
        if DEFAULT_BLOCK in self.labels:
            return DEFAULT_BLOCK
        return next((label for label in self.labels if label != "persona"), None)

    def _names(self, speaker: str) -> bool:
        """Say whether a block speaks of this speaker by name."""
        return any(
            line.stated is not None and line.stated.owner == speaker.casefold()
            for line in self._standing()
        )

    def _standing(self) -> list[_Line]:
        return [line for line in self.lines if line.words]

    def _says(self, words: str, stated: Stated | None) -> bool:
        return any(
            plain_value(line.words) == plain_value(words) or _says_as_much(line.stated, stated)
            for line in self._standing()
        )

    def _denied_by(self, words: str) -> list[_Line]:
        stated = read_fact(words)
        return [
            line
            for line in self._standing()
            if plain_value(line.words) == plain_value(words)
            or (stated and line.stated and _same(line.stated, stated) and not line.stated.negated)
        ]


def blocks_in(text: str) -> Iterator[tuple[str, list[str], bool]]:
    """Yield each block that a prompt shows: its label, its lines, and whether it is read-only."""
    match: re.Match[str] | None = None
    lines: list[str] = []
    for raw in text.splitlines():
        if match is None:
            match, lines = _BLOCK.match(raw), []
        elif raw == "</block>":
            yield match["label"], lines, bool(match["closed"])
            match = None
        elif raw.strip():
            lines.append(raw)


def words_of(line: str) -> str:
    """Return a block's line without its bullet and its citations."""
    return " ".join(_CITED.sub("", re.sub(r"^\s*[-*+]\s+", "", line)).split())


def _same(one: Stated, other: Stated) -> bool:
    return (
        same_subject(one, other)
        and one.attribute == other.attribute
        and same_value(one.value, other.value)
    )


def _says_as_much(known: Stated | None, new: Stated | None) -> bool:
    """Say whether a line holds all that a new statement says."""
    if known is None or new is None or known.negated != new.negated or not _same(known, new):
        return False
    return set(plain_value(new.value).split()) <= set(plain_value(known.value).split())


def _gives_way(known: Stated | None, new: Stated | None) -> bool:
    """Say whether a newer statement takes a line's place."""
    if known is None or new is None or not same_subject(known, new):
        return False
    same_one = known.attribute == new.attribute and known.single and new.single
    return same_one or contradict(known, new)
