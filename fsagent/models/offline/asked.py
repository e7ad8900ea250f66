"""Understand a question about a person's attribute: "Where does my sister live?", "What is my name?"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from fsagent.attributes import KIN, NAME


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose attribute is asked for: `owner` is "" for the one who asks, `kin` a relative or pet.

    `attributes` are those of `fsagent.attributes` that would answer, the best first.
    """

    owner: str
    kin: str
    attributes: tuple[str, ...]


_BE = "(?:is|am|are|was|were)"
_DO = "(?:do|does|did)"
_WHO = rf"(?:I|we|(?:my|our) (?P<kin>{KIN})|(?P<owner>(?-i:{NAME})?)(?:['’]s (?P<their>{KIN}))?)"
_WHOSE = (
    rf"(?:(?:my|our)(?: (?P<kin>{KIN})(?:['’]s)?)?"
    rf"|(?P<owner>(?-i:{NAME}?))['’]s(?: (?P<their>{KIN})(?:['’]s)?)?)"
)
_ROWS = (
    (rf"where {_DO} WHO live", "home"),
    (rf"where {_BE} WHO (?:based|living)", "home"),
    (rf"(?:in )?(?:what|which) (?:city|town|country|place|village) {_DO} WHO live(?: in)?", "home"),
    (rf"where {_BE} WHO (?:originally )?from", "origin"),
    (rf"where {_DO} WHO come from", "origin"),
    (rf"where {_BE} WHO born", "birthplace"),
    (rf"where {_DO} WHO grow up", "childhood home"),
    (r"(?:what|who) is WHOSE (?:(?:full|real|first) )?name", "name"),
    (rf"what {_BE} WHO (?:called|named)", "name"),
    (rf"what {_BE} WHOSE (?:called|named|names)", "name"),
    (r"who (?:is|are) WHOSE", "name"),
    (r"who am I", "name"),
    (r"do you (?:know|remember) WHOSE name", "name"),
    (r"(?:what|how) (?:do|should|shall|may|can) (?:you|I|people) (?:call|address) (?:me|WHO)", "called,name"),
    (r"when is WHOSE birthday", "birthday"),
    (r"when (?:was|were) WHO born", "birthday"),
    (r"how old (?:am|is|are) WHO", "age"),
    (rf"where {_DO} WHO work", "employer,job"),
    (rf"who(?:m)? {_DO} WHO work for", "employer"),
    (r"what is WHOSE (?:job|profession|occupation)", "job,employer"),
    (rf"what {_DO} WHO (?:work as|do for (?:a living|work))", "job,employer"),
    (rf"what {_BE} WHO allergic to", "allergy"),
    (rf"what allergies {_DO} WHO have", "allergy"),
    (rf"what {_DO} WHO (?:like|love|enjoy)(?: (?:to do|doing))?", "likes"),
    (rf"what {_DO} WHO (?:not like|dislike|hate)", "dislikes"),
    (rf"what {_DO} WHO prefer", "prefers"),
    (r"(?:what|who) (?:is|are) WHOSE (?P<plain>favou?rite [\w -]+?|e-?mail|phone|address|pronouns)(?: address| number)?", ""),
    (rf"(?:what|which) languages? {_DO} WHO speak", "speaks"),
    (r"(?:in )?(?:what|which) language should you (?:answer|reply|speak|write)(?: to me| in)*", "answer language"),
    (rf"who {_BE} WHO married to", "family status"),
    (rf"(?:what|which) (?:instruments?|sports?) {_DO} WHO play", "plays"),
    (rf"where {_DO} WHO volunteer", "volunteers"),
    (r"what pets? (?:do|does) WHO have", "has"),
)  # fmt: skip


def asked(question: str) -> Asked | None:
    """Return the attribute that a question asks for, None where it asks for something else."""
    text = re.sub(r"(?i)\b(what|who|where|when)['’]s\b", r"\1 is", question.strip())
    text = re.sub(
        r"(?i)(?:[\s,]+(?:now|currently|these days|at the moment|again|please))?[\s?.!]*$", "", text
    )
    for pattern, attributes in _patterns():
        if match := pattern.fullmatch(text):
            found = match.groupdict(default="")
            plain = (
                found.get("plain", "")
                .casefold()
                .replace("color", "colour")
                .replace("favorite", "favourite")
            )
            kin = found.get("kin", "") or found.get("their", "")
            return Asked(
                found.get("owner", "").casefold(),
                kin.casefold(),
                (plain.replace("e-mail", "email"),) if plain else tuple(attributes.split(",")),
            )
    return None


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(row.replace("WHOSE", _WHOSE).replace("WHO", _WHO), re.IGNORECASE), attributes)
        for row, attributes in _ROWS
    )
