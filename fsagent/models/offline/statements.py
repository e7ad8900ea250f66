"""Read what a person states of themselves as facts in the third person, with absolute dates.

English only. What a fact says is read back from its line by `fsagent.attributes`, which lets a
newer statement find the older one whoever wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from fsagent.attributes import KIN, NAME
from fsagent.models.offline.clause_dates import Dated, undated
from fsagent.models.offline.rules import capitalised, clean, is_plain, rules
from fsagent.models.offline.saying import Clause, clauses
from fsagent.models.offline.tasks import task


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact without its person: `Lives in Porto (since 2026-11).`

    `kin` is the relative or pet it is about ("Sister Irene"), "" for the person; `negated` tells
    that it holds no longer, which matters only where memory has it.
    """

    text: str
    kin: str = ""
    negated: bool = False

    def line(self, person: str = "") -> str:
        """Return the fact as a line without bullet; `person` names whose it is where that is needed."""
        text = denied(self.text) if self.negated else self.text
        subject = self.kin
        if person and self.kin:
            subject = f"{person}'s {self.kin[0].lower()}{self.kin[1:]}"
        elif person:
            subject = f"{person}'s" if _NOUN_FIRST.match(text) else person
        return f"{subject} {text[0].lower()}{text[1:]}" if subject else text


def statements(content: str, said: datetime) -> Iterator[tuple[Clause, Statement | None]]:
    """Yield each clause that a message states in earnest, with the fact it makes, if it does."""
    for clause in clauses(content):
        yield clause, _statement(_WE.sub("I ", clause.text), said)


def denied(text: str) -> str:
    """Return the line that says a fact holds no longer."""
    first, _, rest = text.partition(" ")
    if first in ("Is", "Has"):
        return f"{first} no longer {rest}"
    return f"No longer {first.lower()} {rest}"


_NOUN_FIRST = re.compile(
    r"(?:birthday|favourite|hobby|hobbies|pronouns|email|phone|address|native)\b"
    r"|.* is (?:on|in|by) \d{4}",
    re.IGNORECASE,
)
_WE = re.compile(
    rf"^(?:(?:my )?{KIN}(?: (?-i:{NAME}))? and I|I and my {KIN}|we both) "
    r"(?=live|moved|relocated|have|love|like|enjoy|hate)",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    rf"my (?P<kin>{KIN})(?:,? (?P<name>(?-i:{NAME})),?)?(?=\s|'s)", re.IGNORECASE
)
_NAMED = re.compile(
    rf"(?:(?:is|are) (?:called|named)|(?:'s )?names? (?:is|are)) "
    rf"(?P<names>{NAME}(?:(?:, | and |, and ){NAME})*)"
)
_FIRST_PERSON = {
    "lives": "live", "works": "work", "is": "am", "loves": "love", "likes": "like", "hates": "hate",
    "moved": "moved", "enjoys": "enjoy", "speaks": "speak", "plays": "play", "prefers": "prefer",
    "was": "was", "comes": "come", "dislikes": "dislike", "grew": "grew", "turned": "turned",
    "retired": "retired",
}  # fmt: skip
_NO_LONGER = re.compile(
    r"^I (?:(?P<am>am) )?(?:no longer|(?:do )?not|(?:have )?stopped|(?:have )?given up|gave up|quit|used to) "
    r"(?P<rest>.+)$",
    re.IGNORECASE,
)


def _statement(text: str, said: datetime) -> Statement | None:
    if due := task(text, said):
        return Statement(due)
    bare, when = undated(text, said)
    if relative := _RELATIVE.match(bare):
        return _of_relative(relative, bare, when, said)
    return _read(bare, when, said)


def _read(
    own: str, when: Dated | None, said: datetime, *, kin: str = "", of_kin: bool = False
) -> Statement | None:
    """Return the fact that a clause in the first person makes, or the one it takes back."""
    own, negated = re.sub(r" any ?more$", "", own), False
    line = _line(own, when, said, of_kin=of_kin)
    if line is None:
        own, negated = _positive(own)
        line = _line(own, when, said, of_kin=of_kin) if negated else None
    return Statement(line, kin, negated) if line else None


def _of_relative(
    relative: re.Match[str], bare: str, when: Dated | None, said: datetime
) -> Statement | None:
    """Read what is said of a relative as if the relative said it."""
    kin, rest = relative["kin"], bare[relative.end() :].strip()
    subject = f"{kin[0].upper()}{kin[1:].lower()} {relative['name'] or ''}".rstrip()
    if match := _NAMED.fullmatch(rest):
        verb = "Are" if kin.endswith(("s", "children")) else "Is"
        return Statement(f"{verb} called {match['names']}.", kin=subject)
    if re.fullmatch(r"(?:has )?(?:died|passed away)", rest):
        return Statement(f"Died{when.on if when else ''}.", kin=subject)
    verb, _, tail = rest.partition(" ")
    first = _FIRST_PERSON.get(verb.lower())
    if first is None:
        return None
    return _read(f"I {first} {tail}".rstrip(), when, said, kin=subject, of_kin=True)


def _positive(text: str) -> tuple[str, bool]:
    """Return a clause without its denial, and whether it was one: it holds no longer."""
    match = _NO_LONGER.match(text)
    if match is None:
        return text, False
    rest = match["rest"]
    if re.match(r"I (?:have )?(?:stopped|quit|gave|given)", text, re.IGNORECASE):
        rest = re.sub(r"^(\w+?)ing\b", r"\1", rest)
    return (f"I am {rest}" if match["am"] else f"I {rest}"), True


def _line(own: str, when: Dated | None, said: datetime, *, of_kin: bool = False) -> str | None:
    """Return the fact that a clause in the first person makes."""
    for rule in rules():
        match = rule.pattern.fullmatch(own) if rule.of_kin or not of_kin else None
        if match is None:
            continue
        values = {key: clean(value) for key, value in match.groupdict(default="").items()}
        values |= {key: values[key].lower() for key in values.keys() - {"v", "t"}}
        if not is_plain(values["v"]) or not rule.holds(values["v"]):
            continue
        if rule.named:
            values["v"] = capitalised(values["v"])
        made = " ".join(rule.line.format(**values).split())
        end = _end(rule.dated, when, said)
        return f"{made[0].upper()}{made[1:]}{end}." if end is not None else None
    return None


def _end(dated: str, when: Dated | None, said: datetime) -> str | None:
    """Return what a date adds to a fact; None where the fact needs one and has none."""
    if dated == "age":
        return f" on {when.start if when else said.date()}"
    if dated == "birthday":
        return f" {when.birthday}" if when and when.birthday else None
    if dated == "on":
        return when.on if when else ""
    if dated == "for":
        return when.since if when else None
    return when.since if when and dated == "since" else ""
