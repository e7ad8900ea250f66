"""What a fact about a person says: whose, which attribute, which value; and when two clash.

A table of attributes reads the lines that facts are written in ("Lives in Porto (since 2026-11)."),
whoever wrote them. An attribute of which a person has one at a time ("home", "employer") makes two
lines with different values a contradiction, and lets a newer statement take an older one's place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

KIN_ONE = (
    "wife husband spouse partner girlfriend boyfriend fiancé fiancée fiance fiancee mother mom mum "
    "mama father dad papa boss manager ex-wife ex-husband"
)
"""Relations of which a person has one at a time."""

KIN_MANY = (
    "sister brother twin daughter son child children kid kids baby aunt uncle cousin niece nephew "
    "grandmother grandma granny grandfather grandpa grandson granddaughter stepmother stepfather "
    "stepson stepdaughter mother-in-law father-in-law sister-in-law brother-in-law parents "
    "siblings friend colleague coworker co-worker neighbour neighbor roommate flatmate housemate "
    "doctor dentist therapist teacher dog dogs puppy pup cat cats kitten parrot rabbit hamster horse "
    "pony bird fish turtle tortoise snake guinea-pig pet pets"
)
"""Relations and animals of which there may be several."""

PETS = (
    "dog", "puppy", "pup", "cat", "kitten", "parrot", "rabbit", "hamster", "horse", "pony", "bird", "fish",
    "turtle", "tortoise", "snake",
)  # fmt: skip

_OLDER = "older|elder|younger|little|big|twin|best|late|oldest|youngest|eldest|half|step|other|new"
_KIN = "|".join(sorted(re.split(r"\s+", f"{KIN_ONE} {KIN_MANY}"), key=len, reverse=True))
KIN = rf"(?:(?:{_OLDER}) )?(?:{_KIN})"
"""A pattern of somebody's sister, best friend, dog."""

NAME = (
    r"[^\W\d_a-z][\w'’-]*(?: (?:(?:van|von|de|da|dos|di|la|le|el|bin) )*[^\W\d_a-z][\w'’-]*){0,3}"
)
"""A pattern of a name: words that begin with a capital."""

LANGUAGES = (
    "(?:arabic|bengali|bulgarian|cantonese|catalan|chinese|croatian|czech|danish|dutch|english|"
    "estonian|finnish|french|german|greek|hebrew|hindi|hungarian|icelandic|indonesian|irish|italian|"
    "japanese|korean|latin|latvian|lithuanian|malay|mandarin|norwegian|persian|polish|portuguese|"
    "punjabi|romanian|russian|serbian|slovak|slovenian|spanish|swahili|swedish|tagalog|tamil|thai|"
    "turkish|ukrainian|urdu|vietnamese|welsh)"
)

OPPOSITES = {"likes": "dislikes", "dislikes": "likes"}

_PERSON = re.compile(
    r"(?:the |my )?(?:user|person)(?:['’]s)? |(?:he|she|they|his|her|their) ", re.I
)
_OWNER = re.compile(rf"(?P<owner>{NAME})(?:['’]s)? ")
_RELATIVE = re.compile(
    rf"(?:(?:his|her|their|the) )?(?P<kin>{KIN})(?:['’]s)?,? (?:(?P<name>(?-i:{NAME})),? )?", re.I
)
_SINCE = re.compile(r"\s*\((?:since|until|from|as of)?\s*[^()]*\d[^()]*\)")
_NO_LONGER = re.compile(
    r"\b(?:no longer|not|never|does not|doesn't|do not|don't)\s+|\s+any ?more\b", re.IGNORECASE
)
_SMALL = re.compile(r"\b(?:a|an|the|his|her|their|my)\b|[^\w\s@.+-]|\.(?=\s|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Attribute:
    """A thing that can be said of somebody; `single` where the old value ends with the new."""

    name: str
    single: bool
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Stated:
    """What a line says. `subject` is "" for the person a block is about, else who it is.

    `kin` is the relation of a relative or pet ("sister"), `subject` then its name where it is known.
    """

    owner: str
    kin: str
    subject: str
    attribute: str
    value: str
    single: bool
    negated: bool = False


def _one(name: str, pattern: str) -> Attribute:
    return Attribute(name, True, re.compile(rf"^(?:{pattern})$", re.IGNORECASE))


def _many(name: str, pattern: str) -> Attribute:
    return Attribute(name, False, re.compile(rf"^(?:{pattern})$", re.IGNORECASE))


_V = "(?P<value>.+)"
_ADVERB = "(?:(?:now|currently|really|still|also|mostly|usually|always) )?"
ATTRIBUTES = (
    _one("called", rf"(?:(?:wants|prefers|likes|asked) to be (?:called|addressed as)|goes by) {_V}"),
    _one("name", rf"(?:(?:is|are) (?:called|named)|(?:first |full )?name is|named) {_V}"),
    _one("home", rf"{_ADVERB}(?:lives?|resides?|is based|is living|moved|relocated) (?:in|to|near) {_V}"),
    _one("home", rf"(?:wohnt|lebt|vive|vit|habite|mora|abita) (?:in|en|à|a|no|na|em) {_V}"),
    _one("home", r"(?:现在|現在)?住在(?P<value>[^。，]+)。?|(?P<value2>[^。、]+)に住んでい(?:る|ます)。?"),
    _one("birthplace", r"was born in (?P<value>\D+)"),
    _one("birthday", rf"(?:(?:has )?(?:a )?(?:birthday|date of birth) (?:is )?(?:on |in )?|(?:was |is )?born (?:on |in )?){_V}"),
    _one("origin", rf"(?:is|comes?|came) (?:originally )?from {_V}"),
    _one("childhood home", rf"grew up in {_V}"),
    _one("age", r"(?:is|was|turned) (?P<value>\d{1,3})(?: years old)?(?: on .*)?"),
    _one("workplace", rf"works from {_V}"),
    _one("job", rf"{_ADVERB}(?:works? (?:as|in)|job is|occupation is|profession is|is employed as) {_V}"),
    _one("job", r"is (?:now )?(?P<value>retired|unemployed|self-employed|between jobs|an? \w*(?:[\w-]+ )?(?:teacher|nurse|doctor|engineer|developer|programmer|lawyer|student))"),
    _one("job", r"(?:lost|quit|left) (?:the|their|a) (?P<value>job).*"),
    _one("employer", rf"{_ADVERB}(?:works? (?:at|for)|is employed (?:at|by)|employer is) {_V}"),
    _one("answer language", rf"(?:wants|prefers|likes) (?:(?:answers|replies|responses) in|the assistant to \w+(?: in)?) (?P<value>{LANGUAGES})"),
    _many("answer style", rf"(?:wants|prefers|likes) (?:answers|replies|responses|the assistant to) {_V}"),
    _one("diet", r"is (?:a |an )?(?P<value>vegetarian|vegan|pescatarian|omnivore|flexitarian)|(?:follows|keeps) a (?P<value2>\w+) diet"),
    _many("avoids", rf"(?:does not|doesn't|avoids) (?:eat|eating|drink|drinking) {_V}"),
    _many("allergy", rf"(?:is|has) (?:an? )?(?:severely |very )?(?:allerg(?:ic|y|ies) to|intolerant to) {_V}|(?:is|has) (?:an? )?(?P<value2>[\w -]+?) (?:allergy|intolerance|intolerant)"),
    _one("family status", r"(?:is|got|was) (?P<value>married|single|divorced|engaged|widowed)\b.*"),
    _one("pronouns", rf"pronouns are {_V}"),
    _one("email", rf"e-?mail(?: address)? is {_V}"),
    _one("phone", rf"(?:phone|mobile|cell|telephone)(?: number)? is {_V}"),
    _one("address", rf"address is {_V}"),
    _many("speaks", rf"speaks {_V}"),
    _many("dislikes", rf"(?:(?:really |strongly )?(?:hates|dislikes|detests|cannot stand|can't stand)|(?:does not|doesn't) (?:like|enjoy|love)|is not a fan of) {_V}"),
    _many("likes", rf"{_ADVERB}(?:likes?|loves?|enjoys?|adores?|is (?:a )?(?:big |huge )?fan of|is into|is interested in|is passionate about|is keen on) {_V}"),
    _many("prefers", rf"{_ADVERB}prefers {_V}"),
    _many("volunteers", rf"volunteers (?:at|for|in|with) {_V}"),
    _many("plays", rf"plays {_V}"),
    _many("has", rf"(?:has|owns) {_V}"),
)  # fmt: skip
"""Every attribute with the patterns of its lines; the first that matches counts."""

_FAVOURITE = re.compile(r"^favou?rite (?P<of>[\w -]+?) (?:is|are) (?P<value>.+)$", re.IGNORECASE)


@lru_cache(maxsize=5_000)
def read_fact(words: str) -> Stated | None:
    """Return what a fact's words say, None where no attribute of the table is in them."""
    text = _SINCE.sub("", words).strip().rstrip(".!")
    for owner, kin, name, said in _readings(text):
        negated = bool(_NO_LONGER.search(said))
        # "Does not like" is read whole, as a dislike: not as the denial of a liking.
        for form, denied in ((said, False), (_NO_LONGER.sub("", said), negated)):
            if found := _attribute_of(form):
                attribute, single, value = found
                single = single and not (attribute == "name" and _has_many(kin))
                return Stated(owner, kin, name, attribute, value, single, denied)
    return None


def same_subject(one: Stated, other: Stated) -> bool:
    """Say whether two facts are about the same person or pet."""
    if (one.owner, one.kin) != (other.owner, other.kin):
        return False
    return one.subject == other.subject or (
        not (one.subject and other.subject) and not _has_many(one.kin)
    )


def same_value(one: str, other: str) -> bool:
    """Say whether two values are one, or one of them only says more: Porto, and Porto in Portugal."""
    first, second = set(plain_value(one).split()), set(plain_value(other).split())
    return first <= second or second <= first


def contradict(one: Stated, other: Stated) -> bool:
    """Say whether two facts cannot both hold."""
    if not same_subject(one, other):
        return False
    if one.attribute == other.attribute:
        if one.negated != other.negated:
            return same_value(one.value, other.value)
        if one.attribute == "prefers":
            return _reversed(one.value, other.value)
        return one.single and not one.negated and not same_value(one.value, other.value)
    if OPPOSITES.get(one.attribute) != other.attribute or one.negated or other.negated:
        return False
    return plain_value(one.value) == plain_value(other.value)


def plain_value(value: str) -> str:
    """Return a value for comparison: lower case, no articles, no marks."""
    return " ".join(_SMALL.sub(" ", value).casefold().split())


def _readings(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield how a line may be parted into owner, relation, the relative's name, and what is said."""
    for owner, rest in _owners(text):
        for relative in _prefixes(_RELATIVE, rest):
            name = (relative["name"] or "").casefold()
            yield owner, relative["kin"].casefold(), name, rest[relative.end() :]
        yield owner, "", "", rest


def _owners(text: str) -> Iterator[tuple[str, str]]:
    yield "", text
    if person := _PERSON.match(text):
        yield "", text[person.end() :]
    for owner in _prefixes(_OWNER, text):
        named = owner["owner"].casefold().replace("’", "'").removesuffix("'s")
        yield named, text[owner.end() :]


def _prefixes(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the pattern's match at the beginning, longest first; a name may end a word earlier."""
    end = len(text)
    while match := pattern.match(text, 0, end):
        yield match
        end = match.end() - 1


def _attribute_of(said: str) -> tuple[str, bool, str] | None:
    if match := _FAVOURITE.match(said):
        of = match["of"].casefold().replace("color", "colour")
        return f"favourite {of}", True, match["value"]
    for attribute in ATTRIBUTES:
        if match := attribute.pattern.match(said):
            value = match["value"] or match.groupdict().get("value2") or ""
            return attribute.name, attribute.single, value
    return None


def _has_many(kin: str) -> bool:
    return bool(kin) and kin.rsplit(maxsplit=1)[-1] not in KIN_ONE.split(" ")


def _reversed(one: str, other: str) -> bool:
    """Say whether one prefers tea to coffee and the other coffee to tea."""
    first = re.split(r" (?:to|over|rather than) ", plain_value(one), maxsplit=1)
    second = re.split(r" (?:to|over|rather than) ", plain_value(other), maxsplit=1)
    return len(first) == 2 and first == second[::-1] and first[0] != first[1]
