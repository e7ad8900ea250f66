"""What may not stand in core memory as a line, whatever it says."""

from __future__ import annotations

import re

from fsagent.memory.facts import fact_of
from fsagent.memory.unseen import unseen
from fsagent.memory.words import content_words

NOTHING = "it says nothing"
MOST_FACT_CHARS = 400

_TAGS = re.compile(
    r"</?(?:think|thinking|reasoning|tool_call|tool_response|block)\b", re.IGNORECASE
)
# Not in quotation marks: a song may be called "I Will".
_FIRST_PERSON = re.compile(r"(?<![\"“'])\b(?:I|I'm|I’m|I've|I’ve|[Mm]y|[Mm]yself)\b(?!\.)")
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_RELATIVE = re.compile(
    rf"\b(?:today|yesterday|tomorrow|tonight|gestern|vorgestern|übermorgen|ayer|(?:last|next|this) "
    rf"(?:week|month|year|weekend|night|morning|evening|summer|winter|spring|autumn|fall|{_DAYS})|"
    r"\w+ (?:days?|weeks?|months?|years?) ago|in (?:\d+|an?|a few|[a-z]+) (?:days?|weeks?|months?|years?)\b"
    r"(?! (?:of|with|the|to)\b)|the other day)\b|昨天|前天|今天|明天|后天|昨日|一昨日|今日|明日",
    re.IGNORECASE,
)


def unfit_line(new: str) -> str:
    """Return why a line may not stand in a block; empty where it may."""
    words = fact_of(new).words
    relative = relative_date(words)
    for wrong, reason in (
        (not content_words(words), NOTHING),
        ("\n" in new.strip(), "it is several lines; a fact is one"),
        (len(new) > MOST_FACT_CHARS, f"it has {len(new)} characters; a fact has {MOST_FACT_CHARS}"),
        (any(unseen(new)), "it holds invisible characters"),
        (bool(_TAGS.search(new)), "it holds the tags of a prompt or of reasoning"),
        (words.startswith(("---", "#")), "it reads as front matter or a heading"),
        (bool(_FIRST_PERSON.search(words)), "it speaks in the first person"),
        (bool(relative), f"{relative!r} is not an absolute date"),
    ):
        if wrong:
            return reason
    return ""


def relative_date(words: str) -> str:
    """Return a date that counts from a day the line does not name; a title (Last Week Tonight) is none."""
    for found in _RELATIVE.finditer(words):
        if found.start() == 0 or not found[0][0].isupper():
            return found[0]
    return ""
