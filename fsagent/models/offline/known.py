"""Answer what is asked about a person's attribute: out of core, else out of what they last stated.

Core stands in the context, so such an answer needs no search. Of two statements the newer counts;
one that was made since the last sleep is newer than core.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from fsagent.attributes import Stated, read_fact, same_value
from fsagent.models.offline.answer import Reply
from fsagent.models.offline.asked import Asked
from fsagent.models.offline.evidence import Evidence
from fsagent.models.offline.question import ASSISTANT
from fsagent.models.offline.sleep import blocks_in, words_of
from fsagent.models.offline.statements import statements
from fsagent.types import Message

PERSONA = "persona"
MOST_VALUES = 8
_CITATION = re.compile(r"\[(?P<first>[^\[\]:,]+:(?P<line>\d+))[^\[\]]*\]\s*$")


@dataclass(frozen=True, slots=True)
class Known:
    """A fact, where it is cited from, and a key that orders facts by when they were said."""

    stated: Stated
    words: str
    citation: str = ""
    age: tuple[str, int] = ("", 0)


def core_facts(messages: Sequence[Message]) -> list[Known]:
    """Return the facts of the core blocks in the context; a block shown again is as shown last."""
    blocks: dict[str, list[str]] = {}
    for message in messages:
        if message.role == "system":
            blocks |= {label: lines for label, lines, _ in blocks_in(message.content)}
    return [
        known
        for label, lines in blocks.items()
        if label != PERSONA
        for line in lines
        if (known := _of_line(line)) is not None
    ]


def stated_in(evidence: Evidence, *, own: bool) -> Iterator[Known]:
    """Yield what people state in lines of recall of which one value holds at a time.

    `own` reads every speaker as the one who asks; otherwise a fact is its speaker's.
    """
    for line in evidence.lines:
        if line.said is None or line.speaker in (None, ASSISTANT):
            continue
        for _, found in statements(line.body, line.said):
            stated = read_fact(found.line("" if own else line.speaker or "")) if found else None
            if found is not None and stated is not None and stated.single:
                age = (line.said.date().isoformat(), line.number)
                yield Known(stated, found.line(), line.citation, age)


def states_again(messages: Sequence[Message], question: Asked) -> bool:
    """Say whether the conversation in the context speaks of the attribute, maybe newly."""
    return any(
        found is not None and _answers(read_fact(found.line()), question, {""})
        for message in messages
        if message.role == "user"
        for _, found in statements(message.content, datetime(2000, 1, 1))
    )


def answer_known(question: Asked, known: Sequence[Known], people: set[str]) -> Reply | None:
    """Return the answer that facts hold. `people` are the names under which the asked one goes."""
    if "name" in question.attributes and question.kin and (named := _name(question, known, people)):
        return named
    for attribute in question.attributes:
        one = Asked(question.owner, question.kin, (attribute,))
        fit = sorted((k for k in known if _answers(k.stated, one, people)), key=lambda k: k.age)
        if not fit:
            continue
        newest = fit[-1]
        if newest.stated.negated:
            return _reply([newest], newest.words.rstrip("."))
        if newest.stated.single:
            return _reply([newest], newest.stated.value)
        kept = [
            k
            for place, k in enumerate(fit)
            if not k.stated.negated and not _later(k, fit[place + 1 :])
        ]
        return _reply(kept[-MOST_VALUES:], ", ".join(k.stated.value for k in kept[-MOST_VALUES:]))
    return None


def names_of(known: Sequence[Known], question: Asked) -> set[str]:
    """Return the names that mean the one asked about: "" is the person that core is about."""
    own = {
        k.stated.value.casefold()
        for k in known
        if k.stated.attribute == "name" and not k.stated.kin
    }
    if not question.owner:
        return {"", *own}
    first = {name.partition(" ")[0] for name in own}
    return {question.owner, ""} if question.owner in own | first else {question.owner}


def _answers(stated: Stated | None, question: Asked, people: set[str]) -> bool:
    return (
        stated is not None
        and stated.attribute in question.attributes
        and stated.kin == question.kin
        and stated.owner in people | {name.partition(" ")[0] for name in people}
    )


def _name(question: Asked, known: Sequence[Known], people: set[str]) -> Reply | None:
    """Return a relative's or a pet's name out of facts that say something else: "Has a dog called Rex"."""
    called = re.compile(rf"\b{question.kin}s? (?:called|named) (?P<names>.+)")
    for one in reversed(known):
        if one.stated.owner not in people:
            continue
        if one.stated.kin == question.kin and one.stated.subject:
            return _reply([one], one.stated.subject.title())
        if one.stated.attribute == "has" and (match := called.search(one.stated.value)):
            return _reply([one], match["names"])
    return None


def _later(known: Known, later: Sequence[Known]) -> bool:
    """Say whether a later fact of the same attribute says the same or takes it back."""
    return any(same_value(known.stated.value, other.stated.value) for other in later)


def _reply(facts: Sequence[Known], text: str) -> Reply:
    return Reply(text, tuple(dict.fromkeys(k.citation for k in facts if k.citation)))


def _of_line(line: str) -> Known | None:
    words = words_of(line)
    stated, cited = read_fact(words), _CITATION.search(line)
    if stated is None:
        return None
    if cited is None:
        return Known(stated, words)
    day = cited["first"].rpartition(":")[0]
    return Known(stated, words, f"[{cited['first']}]", (day, int(cited["line"])))
