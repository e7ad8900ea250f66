"""How a sentence holds what it says: stated, denied, wished or asked; of the speaker or of another.

Words alone do not tell "I eat meat" from "I don't eat meat", "I want a dog" from "I have a dog" or
"my sister is a nurse" from "I am a nurse". The rules know English best; of other languages they
read the negation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fsagent.attributes import KIN
from fsagent.memory.words import content_words, has_word, is_negated, telling_words

_SENTENCE = re.compile(r"[^.!?。！？⏎\n]+(?:\.(?=\w)[^.!?。！？⏎\n]+)*[.!?。！？]*")
_CLAUSE = re.compile(
    r"[,;:，、；：()]\s*|\s[-–—]\s|\s(?=(?:but|because|although|though|that i|and i|so i|and we|"
    r"and my|and not|aber|weil|pero)\b)",
    re.IGNORECASE,
)
_IDLE = re.compile(
    r"\b(?:not only|no problem|no doubt|don['’]?t (?:let me |ever )?forget|never mind|(?:can(?:no|['’])t|can not) wait|"
    r"not to mention|no wonder|no matter)\b|^\W*(?:no|nope|nein)\s+(?=(?:i|my|we|it|ich)\b)",
    re.IGNORECASE,
)
_ENDED = re.compile(
    r"\b(?:stop(?:s|ped|ping)?|quit(?:s|ting)?|g[ia]ve[sn]? up|giving up|avoid(?:s|ed|ing)?|"
    r"dislikes?|disliked|hate[sd]?|hating|detests?|loathes?|cancel(?:s|led|ed|ling|ing)?|refuse[sd]?|"
    r"against|former(?:ly)?|ex|used to|leave|leaves|leaving|left|lost|los[et]s?|died|dies|dead|"
    r"passed away|broke up|breaking up|broken up|split up|separated|divorced|sold|ended|ends|"
    r"forget|too (?:expensive|far)|aufgehört|früher|dejé|dejó)\b",
    re.IGNORECASE,
)
_EITHER = re.compile(
    r"\b(?:allerg\w+|intoleran\w+|vegan\w*|vegetarian\w*|only|hardly|rarely|seldom|barely|unless|"
    r"apart from|afraid|scared|except)\b",
    re.IGNORECASE,
)
_WISHED = re.compile(
    r"\b(?:wants?|wanted|wish(?:es|ed)?|would|(?<=i['’])d|might|(?-i:may)|could|maybe|perhaps|possibly|"
    r"think(?:s|ing)? (?:of|about)|consider(?:s|ing)?|dream(?:s|ing)?|hop(?:e|es|ing)|if|"
    r"plan(?:s|ned|ning)?|going to|will|won['’]t|(?<=['’])ll|i should|we should|trying to|tries to|"
    r"almost|nearly|intend\w*|have to|has to|need to|needs to|must|looking for|interested in|"
    r"suppose\w*|pretend\w*|imagine\w*)\b",
    re.IGNORECASE,
)
_LIKING = re.compile(
    r"\b(?:prefer\w*|like[sd]?|lov(?:e|es|ed|ing)|enjoy\w*|asked|asks)\b", re.IGNORECASE
)
_ASKING = re.compile(
    r"^\W*(?:and |but |so |or |ok(?:ay)?,? |hey,? )*(?:do|does|did|is|are|am|was|were|have|has|had|can|"
    r"could|will|would|should|shall|may|might|what|where|when|who|whom|whose|which|why|how)\b",
    re.IGNORECASE,
)
_ASKING_YOU = re.compile(r"^\W*(?:do|did|are|were|have|can|could|will|would) you\b", re.IGNORECASE)
_TAKEN_FOR_GRANTED = re.compile(
    r"\b(?:my|our)(?: [\w'’-]+){1,4}|\b(?:that|as|since|because) (?:i|we)\b.*|\bi['’](?:m|ve)\b.*",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours|myself|im|ive)\b", re.IGNORECASE)
_SUBJECT = re.compile(r"\b(?:i|we|im|ive)\b", re.IGNORECASE)
_RELATIVE = re.compile(rf"\b(?:my|our) (?:[\w-]+ ){{0,1}}?(?P<kin>{KIN})\b", re.IGNORECASE)
_PLACE = re.compile(r"\b(?:in|at|to|from|near|for) [\w'’-]+", re.IGNORECASE)
_OTHER = re.compile(
    r"^\W*(?:(?:the|a|an|this|that|his|her|their) )?(?P<who>[\w'’-]+) (?:is|are|was|were|has|had|lives?|"
    r"works?|loves?|likes?|owns?|moved|wants?)\b",
    re.IGNORECASE,
)


DENIED = "it is denied"
NOT_DENIED = "it is not denied"
_MIN_TAKEN_BACK = 1 / 3
"""The share of a fact's words that a sentence shares which takes the fact back."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence. `about` is the relative or the other person it speaks of, "" for the speaker."""

    text: str
    words: frozenset[str]
    denied: bool | None
    wished: bool
    about: str


def clauses(text: str) -> Iterator[Clause]:
    """Yield the parts of a text; of a question only what it takes for granted ("my dog Rex")."""
    for found in _SENTENCE.finditer(text):
        yield from _clauses_of(found[0])


def disagreement(fact: str, said: str, *, dated_ahead: bool = False) -> str:
    """Return how what was said does not hold the fact: "" where it does.

    `dated_ahead` tells that the fact has a date to come, so that an intention supports it. A part
    of the fact counts by the part of what was said that shares most of its words.
    """
    there = list(clauses(said))
    ours = [part for part in _parts(fact) if part.words]
    liked = bool(_LIKING.search(fact))
    for part in ours:
        near = _nearest(part.words, there)
        if not near:
            if not there or content_words(said) & part.words:
                return "it is only asked"
            continue
        reasons = [_against(part, fact, one, planned=dated_ahead or liked) for one in near]
        if all(reasons):
            return reasons[0]
    return ""


def takes_back(said: str, fact: str) -> bool:
    """Say whether a sentence denies a fact, or what it speaks of has ended: "my dog died"."""
    words = content_words(fact) - telling_words() or content_words(fact)
    shared = {word for word in words if has_word(content_words(said), word)}
    if len(shared) < max(1, _MIN_TAKEN_BACK * len(words)):
        return False
    return disagreement(" ".join(shared) if not is_negated(fact) else fact, said) in (
        DENIED,
        NOT_DENIED,
    )


def _against(part: Clause, fact: str, one: Clause, *, planned: bool) -> str:
    """Return why one clause does not hold a part of a fact."""
    if part.denied is not None and one.denied is not None and part.denied != one.denied:
        return DENIED if one.denied else NOT_DENIED
    if one.wished and not part.wished and not planned:
        return "it is only wished, planned or supposed"
    if one.about and (not content_words(one.about) & content_words(_PLACE.sub(" ", fact))):
        return f"it is said of another ({one.about})"
    return ""


def _parts(fact: str) -> Iterator[Clause]:
    """Yield the parts of a fact; where a later part has no verb of its own it may be denied or not."""
    first = True
    for text in _CLAUSE.split(fact):
        if text.strip():
            denied: bool | None = _is_denied(text)
            if not first and not denied:
                denied = None
            yield Clause(text, content_words(text), denied, bool(_WISHED.search(fact)), "")
            first = False


def _clauses_of(sentence: str) -> Iterator[Clause]:
    denied: bool | None = False
    wished, about = False, ""
    asked = sentence.rstrip().endswith(("?", "？")) or bool(_ASKING_YOU.match(sentence))
    for number, text in enumerate(_CLAUSE.split(_IDLE.sub(" ", sentence))):
        if not text.strip():
            continue
        if asked and _is_question(text):
            yield from _granted(text)
            continue
        own, relative = _SUBJECT.search(text), _RELATIVE.search(text)
        if own or relative or number == 0:
            denied, wished = _is_denied(text), bool(_WISHED.search(text))
            about = _about(text, own, relative)
        else:
            # "I don't eat meat, fish or eggs": what has no subject goes on as it began.
            denied = denied if denied is None else denied or bool(_is_denied(text))
            wished = wished or bool(_WISHED.search(text))
        yield Clause(text, content_words(text), denied, wished, about)


def _is_question(text: str) -> bool:
    return bool(_ASKING.match(text)) or not text.isascii()


def _granted(text: str) -> Iterator[Clause]:
    for found in _TAKEN_FOR_GRANTED.finditer(text):
        relative = _RELATIVE.search(found[0])
        about = _about(found[0], None, relative)
        yield Clause(found[0], content_words(found[0]), None, False, about)


def _is_denied(text: str) -> bool | None:
    """Say whether a clause denies or ends what it speaks of; None where it may be read as both."""
    if _EITHER.search(text):
        return None
    return is_negated(text) or bool(_ENDED.search(text))


def _about(text: str, own: re.Match[str] | None, relative: re.Match[str] | None) -> str:
    """Return of whom a clause speaks; "" for the speaker."""
    if relative and (own is None or relative.start() < own.start()):
        return relative["kin"].rpartition(" ")[2]
    other = None if _SPEAKER.search(text) else _OTHER.match(text)
    return other["who"] if other and content_words(other["who"]) else ""


def _nearest(words: frozenset[str], there: Sequence[Clause]) -> list[Clause]:
    """Return the clauses that share the most words, none where none shares any."""
    counts = [sum(has_word(one.words, word) for word in words) for one in there]
    most = max(counts, default=0)
    return [one for one, count in zip(there, counts, strict=True) if count == most] if most else []
