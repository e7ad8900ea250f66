"""Take apart what a person said: which clauses state something of the person in earnest.

What is asked, supposed, quoted, pasted, joked or told of others yields nothing. Where it is not
clear, nothing is the answer: a fact that is missed can be told again, a false one is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fsagent.attributes import KIN, LANGUAGES, NAME
from fsagent.models.offline.idioms import NO_NAMES
from fsagent.models.offline.question import is_question
from fsagent.models.offline.words import sentences

MAX_LINES, MAX_CHARACTERS = 12, 1_500
"""A longer message is taken for pasted text."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One statement, contractions written out. `corrects` tells that it began as a correction."""

    text: str
    corrects: bool = False


_FENCE = re.compile(r"```.*?(?:```|$)|`[^`]*`", re.DOTALL)
_JOKE = re.compile(
    r"\b(?:just )?(?:kidding|joking|jk|j/k|lol|lmao|rofl|haha\w*|hehe\w*|sarcasm|april fool\w*)\b"
    r"|[😂🤣😜😝😉🙃]|[;:]-?[)pP](?=\s|$)|(?:^|\s)/s(?:\s|$)|\bnot!",
    re.IGNORECASE,
)
_RETRACTED = re.compile(
    r"^\W*(?:(?:no|haha\w*|lol|sorry|ok|okay)\W+)*(?:i (?:was|am)|i'?m)? ?(?:just |only )?(?:kidding|joking|jk)\b"
    r"|\b(?:forget|ignore|scratch) (?:that|what i (?:just )?said)\b",
    re.IGNORECASE,
)
_PASTED = re.compile(
    r"\b(?:text|e-?mail|mail|letter|message|article|paragraph|essay|lyrics?|log|logs|notes?|poem|story|"
    r"code|following|below|draft|bio|review|post|tweet|transcript|chapter|passage|sentences?|quote|"
    r"caption|translate|translation|summari[sz]e|proofread|rewrite|rephrase|paraphrase|improve|"
    r"explain|fix|edit|correct this|example|dialogue|script|role|character|prompt|song)\b[^.!?]*:\s*$",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]*)[\"”“»]|(?<!\w)[‘']([^'‘’]{3,300})[’'](?!\w)")
_CODE_LINE = re.compile(r"^\s*(?:>|\$ |#!|//|\| |[{}<])|[{};]\s*$|^\s{4,}\S|\w\(.*\)\s*[:{;]?\s*$")
_UNREAL = re.compile(
    r"\b(?:if|suppose|supposing|imagine|imagined|pretend|pretending|wish|wished|would|could|might|may be|maybe|"
    r"perhaps|possibly|let's say|lets say|say i|assume|assuming|as though|in case|unless|hypothetical\w*|"
    r"in theory|dream(?:ed|t|s)? (?:that|i|of|about)|in (?:my|a|the) (?:dream|novel|story|book|game|movie|"
    r"play|simulation)|my character|role-?play\w*|act as|almost|nearly|supposedly|whether|for example|"
    r"for instance|e\.g\.|sometimes i (?:think|feel)|when (?:i|we) (?:was|were)|as a (?:kid|child|teenager|boy|girl)|"
    r"back (?:then|when)|at the time|in those days|until|as a joke|once upon|in another life|in my next life)\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:(?:(?i:he|she|they|it|you|who|someone|somebody|everyone|everybody|people|nobody|one)|"
    r"(?i:my|his|her|their|the|a|our) [\w-]+(?: [\w-]+)?|[A-Z][\w'’-]+)"
    r" (?:also |just |always |once |even |jokingly )?"
    r"(?:said|says|say|told|tells|tell|claim(?:s|ed)?|think(?:s)?|thought|wrote|writes|ask(?:s|ed)?|"
    r"believe[sd]?|joke[sd]?|insist(?:s|ed)?|heard|assume[sd]?|reckon(?:s|ed)?|texted|replied|"
    r"announce[sd]?|goes like|was like|were like)|according to|quote|as the \w+ goes|i (?:said|told|lied|heard|read|"
    r"dreamt|dreamed|pretended|wrote|wondered|thought))\b"
)
_OPENER = re.compile(
    r"^(?:(?:hi|hello|hey|well|oh|ah|ok|okay|so|and|but|also|yes|yeah|yep|yup|thanks|thank you|great|"
    r"cool|nice|right|sure|please|because|'?cause|cos|since(?= (?:i|my)\b)|by the way|btw|fyi|for the record|just so you know|just fyi|"
    r"for your information|as you know|you know(?: what)?|to be honest|honestly|personally|in fact|"
    r"fun fact|remember(?: that| this)?|please (?:remember|note|keep in mind|know)(?: that)?|note that|keep in mind(?: that)?|"
    r"i (?:want|wanted|have) to (?:tell|say|let) you (?:know )?(?:that )?|(?:i should|let me) (?:mention|add|tell you)(?: that)?|"
    r"the thing is(?: that)?|update|good news|big news|news|guess what|luckily|sadly|unfortunately|happily|finally|"
    r"these days|nowadays|currently|right now|at the moment|recently|lately|meanwhile|wow|anyway)"
    r"(?:[,:.!;—–-]+\s*|\s+|$)(?!to\b|of\b))+",
    re.IGNORECASE,
)  # fmt: skip
_CORRECTION = re.compile(
    r"^(?:(?:no|nope|actually|sorry|correction|wait|oops|my mistake|my bad|rather|i mean|i meant|"
    r"to correct myself|let me correct that|scratch that|not anymore)(?:[,:.!;—–-]+\s*|\s+|$))+",
    re.IGNORECASE,
)
_VERBS = "live|work|love|like|hate|prefer|enjoy|have|am|play|speak|study|own|dislike|moved|need|volunteer"
_SPLIT = re.compile(
    r"\s*[;—–]\s*|\s+-+\s+|\s*[,:]\s*(?=(?:and|but|so|which|where|because|'?cause|cos|since|though|although|while|when|who|"
    r"i|my|we|it|it's|he|she|they|you|that|thanks|please|not|right|remember|especially|even|hence)\b)"
    rf"|\s+(?=(?:but(?! (?:now |also )?(?:{_VERBS})\b)|because|'?cause|cos|which|although|though|while|whereas|so(?= (?:i|we|my|please|you|it|that|don't|do)\b)|"
    r"and(?= (?:i|my|we|he|she|they|it|you|that|please)\b)|where(?= (?:i|my|we|he|she|they|it|you)\b)|"
    r"when(?= (?:i|my|we|he|she|they|it|you)\b))\b)",
    re.IGNORECASE,
)
_THIRD = "lives|works|loves|likes|hates|prefers|is|speaks|plays|moved"
_SHARED = re.compile(
    rf"\s*,?\s+(?:and|but) (?=(?:also |really |now )?(?:{_VERBS}|{_THIRD})\b)", re.IGNORECASE
)
_SUBJECT = re.compile(
    rf"(?:\w+ )?(?P<own>i|my \w+ and i)\b|(?P<kin>my {KIN}(?: (?-i:{NAME}))?)(?= )", re.IGNORECASE
)
_REMINDER = re.compile(r"(?:do not let me forget|remind me) ", re.IGNORECASE)
_CONTRACTIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), whole)
    for pattern, whole in (
        (r"\bi'm\b|\bim(?= [a-z])", "I am"), (r"\bi've\b|\bive(?= [a-z])", "I have"), (r"\bi'd\b", "I would"),
        (r"\bi'll\b", "I will"), (r"\bwe're\b", "we are"), (r"\bwe've\b", "we have"),
        (r"\bcan't\b|\bcannot\b", "can not"), (r"\bwon't\b", "will not"), (r"\bdont\b", "do not"),
        (r"(\w)n't\b", r"\1 not"), (r"\b(name|birthday|email|mail|number|job)'s\b", r"\1 is"),
        (r"\b(from now on|in (?:the )?future),? please\b", r"\1"), (r"\b(it|that|here|there|he|she|what|who)'s\b", r"\1 is"),
        (r"'s (?=(?:called|named|allergic|vegetarian|vegan|from|a|an|turning)\b)", " is "),
    )
)  # fmt: skip


_INTRODUCED = re.compile(
    rf"(?i:hi|hello|hey|good (?:morning|afternoon|evening))\b[^.!?]{{0,15}}[,.!]*\s+"
    rf"(?i:I am|this is|it is) (?!(?i:{LANGUAGES})\b)(?P<name>{NAME})(?=[.,!]|$| (?:and|here|by|from)\b)"
)


def clauses(content: str) -> Iterator[Clause]:
    """Yield the clauses of a message that state something in earnest; its newlines show as ` ⏎ `."""
    if _JOKE.search(content):
        return
    if (met := _INTRODUCED.match(written_out(content))) and met["name"].casefold() not in NO_NAMES:
        yield Clause(f"my name is {met['name']}")
    for line in _own_lines(content):
        for sentence in sentences(line):
            yield from _of_sentence(sentence)


def retracts(content: str) -> bool:
    """Say whether a message takes back what was said before it: it was a joke."""
    return bool(_RETRACTED.search(content))


def written_out(text: str) -> str:
    """Return text with straight apostrophes and its contractions written out."""
    text = text.replace("’", "'")
    for pattern, whole in _CONTRACTIONS:
        text = pattern.sub(whole, text)
    return re.sub(r"^i(?= )|(?<= )i(?= )", "I", text)


def _own_lines(content: str) -> Iterator[str]:
    """Yield the lines that are the person's own words: no code, no quotes, nothing pasted."""
    text = _FENCE.sub(" ", content.replace(" ⏎ ", "\n"))
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > MAX_LINES or len(text) > MAX_CHARACTERS:
        return
    for line in lines:
        if _CODE_LINE.search(line):
            continue
        head, colon, _ = line.partition(":")
        if colon and _PASTED.search(head + ":"):
            return
        yield _unquoted(line)


def _unquoted(line: str) -> str:
    """Return a line whose quotes are gone; a name in quotes stays, bare."""

    def bare(match: re.Match[str]) -> str:
        inside = (match[1] or match[2] or "").strip()
        named = re.search(r"\b(?:called|named|name is|me|is)\s*$", line[: match.start()], re.I)
        return inside if named and 0 < len(inside.split()) <= 3 else "\0"

    return _QUOTED.sub(bare, line)


def _of_sentence(sentence: str) -> Iterator[Clause]:
    text = written_out(sentence.strip(" *_~-•·\t"))
    if "\0" in text or text.startswith("[image:"):
        return
    text, corrects = _opened(text)
    if not text or "?" in text or (is_question(text) and not _REMINDER.match(text)):
        return
    if _UNREAL.search(text) or _REPORTED.search(text):
        return
    for part in _parts(text):
        inner, again = _opened(part)
        if inner := inner.strip(" .!,;:…"):
            yield Clause(inner, corrects or again)


def _opened(text: str) -> tuple[str, bool]:
    """Return a text without its opening words, and whether they announce a correction."""
    corrects = False
    while True:
        start = text
        text = text[match.end() :] if (match := _OPENER.match(text)) else text
        if match := _CORRECTION.match(text):
            text, corrects = text[match.end() :], True
        if text == start:
            return text, corrects


def _parts(text: str) -> Iterator[str]:
    """Yield the clauses of a sentence; a verb that shares its subject gets one of its own."""
    for part in _SPLIT.split(text):
        pieces = _SHARED.split(part)
        yield pieces[0]
        subject = _SUBJECT.match(pieces[0])
        shared = "I" if subject and subject["own"] else subject["kin"] if subject else ""
        for piece in pieces[1:]:
            yield f"{shared} {piece}".lstrip()
