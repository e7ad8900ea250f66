"""The table of what a person may state: a clause in the first person, and the fact it becomes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from fsagent.attributes import KIN, LANGUAGES, NAME, PETS
from fsagent.dates import MONTHS, WEEKDAYS
from fsagent.models.offline import idioms

Holds = Callable[[str], bool]
MAX_WORDS = 9


@dataclass(frozen=True, slots=True)
class Rule:
    """`line` is the fact's form; `holds` judges the value `v`; `dated` says what a date means for it.

    `dated`: "since" is added in brackets, "birthday" is the value itself, "age" adds the day of
    speaking, "on" the day it happened, "" leaves a date out; "for" needs one. A rule `of_kin` holds for a relative too.
    """

    pattern: re.Pattern[str]
    line: str
    holds: Holds
    dated: str
    of_kin: bool = False

    @property
    def named(self) -> bool:
        """Whether the value is a name, which some type in small letters."""
        return self.holds in (_name, _place)


_POINTING = re.compile(
    r"\b(?:i|me|you|your|yours|we|us|our|it|its|this|that|these|those|here|there|he|him|she|how|what|"
    r"where|when|why|who|which|them|they|otherwise|latest|anymore|today|tomorrow|now|then|than|tbh|though|if|such)\b"
    r"|^(?:the|so|too|not|just|all|some|and|or|but|having)\b"
    r"|^to (?:hear|see|know|say|think|admit|bother|ask|meet|be (?:clear|honest|fair|sure))\b",
    re.IGNORECASE,
)


def clean(value: str) -> str:
    """Return a value as the third person says it."""
    return re.sub(r"\bmy\b", "their", value.strip(" .,!;:\"'"), flags=re.IGNORECASE)


def is_plain(value: str) -> bool:
    """Say whether a value stands by itself: short, and it points at nothing outside its clause."""
    return (
        len(value.split()) <= MAX_WORDS
        and not _POINTING.search(value)
        and value.casefold() not in idioms.IDLE_VALUES
    )


def capitalised(value: str) -> str:
    """Return a name or a place that was typed small as it is written."""
    small = value.islower() and not re.search(idioms.PLACES, value)
    return " ".join(word[0].upper() + word[1:] for word in value.split()) if small else value


def _first(value: str) -> str:
    return value.split(maxsplit=1)[0].casefold() if value else ""


def _any(value: str) -> bool:
    return bool(value)


def _always(value: str) -> bool:
    return True


def _name(value: str) -> bool:
    parts = value.split()
    return (
        0 < len(parts) <= 4
        and all(part[0].isalpha() for part in parts)
        and not any(part.casefold() in idioms.NO_NAMES for part in parts)
        and value.casefold() not in (*WEEKDAYS, *MONTHS)
    )


def _written_name(value: str) -> bool:
    title = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?"
    return _name(value) and bool(re.fullmatch(f"{title}{NAME}", value))


def _place(value: str) -> bool:
    low = value.casefold()
    if (
        not value
        or re.search(r"\d{4}", value)
        or low in idioms.NO_HOMES
        or _first(value) in idioms.NO_HOMES
    ):
        return False
    small = len(value.split()) <= 2 and value.islower()
    return small or _has_capital(value) or bool(re.search(idioms.PLACES, value))


def _proper_place(value: str) -> bool:
    own = {word.casefold() for word in re.findall(r"\w+", value)}
    return _has_capital(value) and not own & idioms.TECHNOLOGY and _place(value)


def _has_capital(value: str) -> bool:
    return any(word[0].isupper() for word in re.findall(r"[^\W\d_]\w*", value))


def _profession(value: str) -> bool:
    head = re.split(r" (?:at|in|for|with|from|of|on) ", value)[0].split()
    return bool(head) and head[-1].casefold() in idioms.PROFESSIONS


def _organisation(value: str) -> bool:
    return _has_capital(value) or bool(re.search(rf"\b(?:{idioms.ORGANISATIONS})\b", value))


def _field(value: str) -> bool:
    return _first(value) not in idioms.NO_FIELDS


def _taste(value: str) -> bool:
    """Say whether somebody may like it for good: a kind of thing, not one that was just spoken of."""
    own = value.casefold().split() or [""]
    open_ended = own[-1] in (
        "to",
        "of",
        "with",
        "for",
        "in",
        "at",
        "on",
        "the",
        "a",
        "and",
        "about",
    )
    return (
        own[0] not in ("", "their", "your", "a", "an", "one", "another", "every") and not open_ended
    )


def _subject_of_study(value: str) -> bool:
    return _first(value) not in idioms.NO_SUBJECTS


def _undertaking(value: str) -> bool:
    """Say whether what was joined or begun goes on for a while."""
    passing = re.search(rf"\b(?:{idioms.PASSING})\b", value, re.IGNORECASE)
    return bool(value) and _first(value) not in ("their", "your", "him") and not passing


def _favourite(value: str) -> bool:
    return bool(value) and not re.match(r"(?:when|to|how|about|by|with)\b", value)


def _condition(value: str) -> bool:
    return value.casefold() in idioms.CONDITIONS


def _age(value: str) -> bool:
    return 2 < int(value) < 120


_V = r"(?P<v>.+?)"
_PROPER = rf"(?-i:{NAME})"
_NAMES = rf"{_PROPER}(?:(?:, | and |, and ){_PROPER})*"
_NOW = r"(?:(?:now|currently|still|also|actually|already|just|recently|really|mostly|both|absolutely) )*"
_I_AM = rf"I {_NOW}am {_NOW}"
_HAVE = rf"I (?:have )?{_NOW}"
_FEW = "(?:an?|one|two|three|four|five|six|\\d)"
_NOW_ON = r"(?:from (?:now|here) on|always|in (?:the )?future)"
_IN = rf"(?P<w>answer|reply|respond|write|speak|talk)(?: back)?(?: to me| me| with me)? in (?P<v>{LANGUAGES})"

_OF_ANYBODY = (
    (rf"I {_NOW}(?:live|am living|am based|reside) (?P<p>in|near) {_V}", "Lives {p} {v}", _place, "since"),
    (rf"I have {_NOW}(?:been living|lived) (?P<p>in|near) {_V}", "Lives {p} {v}", _place, "for"),
    (rf"{_HAVE}(?:moved|relocated) (?:back )?(?:over )?to {_V}(?: from .+)?", "Lives in {v}", _proper_place, "since"),
    (rf"(?:{_I_AM}|I come )(?:originally )?from {_V}", "Is from {v}", _proper_place, ""),
    (rf"I (?:was born and raised|grew up|was raised) in {_V}", "Grew up in {v}", _place, ""),
    (rf"I was born in {_V}", "Was born in {v}", _proper_place, ""),
    (r"I was born(?P<v>)", "Was born", _always, "birthday"),
    (rf"(?:{_I_AM}|{_HAVE}turned )(?P<v>\d{{1,3}})(?P<y> years old)?", "Was {v} {y}", _age, "age"),
    (rf"I {_NOW}(?:work|am working) as (?P<a>an?) {_V}", "Works as {a} {v}", _any, "since"),
    (rf"I {_NOW}work in (?P<v>[a-z][\w -]+)", "Works in {v}", _field, "since"),
    (rf"(?:I {_NOW}(?:work|am working)|I have been working) (?P<p>at|for) (?P<a>(?:the|an?) )?{_V}", "Works {p} {a} {v}", _organisation, "since"),
    (rf"{_I_AM}(?P<a>an?) {_V}", "Is {a} {v}", _profession, "since"),
    (rf"{_I_AM}(?P<v>retired|unemployed|self-employed)", "Is {v}", _any, "since"),
    (rf"{_I_AM}(?:an? )?(?:strict |lifelong )?(?P<v>vegetarian|vegan|pescatarian|left-handed|colou?r-?blind|diabetic|deaf|dyslexic)", "Is {v}", _any, "since"),
    (rf"{_I_AM}(?P<d>(?:severely|very|highly|deathly|terribly) )?allergic to {_V}", "Is {d} allergic to {v}", _taste, "since"),
    (rf"I {_NOW}have (?P<a>an?) (?P<d>(?:severe|bad|strong) )?(?P<v>[\w -]+?) (?P<k>allergy|intolerance)", "Has {a} {d} {v} {k}", _any, "since"),
    (rf"{_I_AM}(?P<v>\w+)[ -]intolerant", "Is {v} intolerant", _any, ""),
    (rf"I (?:no longer|do not) (?P<w>like|enjoy) {_V}", "Does not {w} {v}", _taste, ""),
    (rf"I {_NOW}(?P<w>love|like|enjoy|adore|hate|dislike|detest|prefer) {_V}", "{w}s {v}", _taste, ""),
    (rf"I {_NOW}speak (?P<v>(?:fluent |some |a little |a bit of )?{LANGUAGES}(?:(?:,? and |, ){LANGUAGES})*)", "Speaks {v}", _any, ""),
    (rf"(?:I {_NOW}play|I have {_NOW}played|I have been playing) (?P<a>the )?(?P<v>{idioms.INSTRUMENTS})", "Plays {a} {v}", _always, "since"),
    (rf"I {_NOW}have (?P<v>[\w -]+)", "Has {v}", _condition, "since"),
)  # fmt: skip
_OF_ONESELF = (
    (r"my (?:full |real )?name is (?:now )?(?P<v>[^\W\d]\S*(?: [^\W\d]\S*){0,3})", "Is called {v}", _name, ""),
    (r"I (?:am|have been) called (?P<v>\S+(?: \S+){0,2})", "Is called {v}", _written_name, ""),
    (rf"(?:(?:(?:you can|everyone can|just|always|feel free to|my friends|people|everyone|everybody|friends) )*calls? me|I (?:like|want|prefer) to be called) {_V}", "Wants to be called {v}", _written_name, ""),
    (rf"I go by {_V}", "Goes by {v}", _written_name, ""),
    (rf"I {_NOW}live (?P<v>alone|with (?:my|our) {KIN}(?: and (?:my |our )?{KIN})?)", "Lives {v}", _always, "since"),
    (rf"(?:my|our) (?:home|house|flat|apartment|place) is (?P<p>in|near) {_V}", "Lives {p} {v}", _place, "since"),
    (rf"we {_NOW}live (?P<p>in|near) {_V}", "Lives {p} {v}", _proper_place, "since"),
    (r"my birthday (?:is|was|falls)(?P<v>)", "Birthday is", _always, "birthday"),
    (rf"my (?:job|profession|occupation) is (?P<a>an? )?{_V}", "Works as {a} {v}", _profession, "since"),
    (rf"{_HAVE}(?:got|landed|took|started) a (?:new )?job (?:at|with) {_V}", "Works at {v}", _organisation, "since"),
    (rf"{_HAVE}(?:got|landed|took|started) a (?:new )?job as (?P<a>an?) {_V}", "Works as {a} {v}", _any, "since"),
    (rf"{_HAVE}(?:started|began) (?:working|work|a new job) (?P<p>at|for) {_V}", "Works {p} {v}", _organisation, "since"),
    (rf"{_HAVE}(?:started|began) (?:working|work) as (?P<a>an?) {_V}", "Works as {a} {v}", _any, "since"),
    (rf"{_HAVE}retired(?P<v>)", "Is retired", _always, "since"),
    (rf"{_HAVE}(?P<w>lost|quit|left) my job(?P<v>(?: (?:at|as|with) [^,]+)?)", "{w} the job {v}", _always, "on"),
    (rf"{_HAVE}(?P<w>opened|started|launched|founded) (?P<v>(?:my|an?|my own) (?:[\w-]+ ){{0,3}}(?:{idioms.VENTURES}))", "{w} {v}", _any, "on"),
    (rf"{_HAVE}(?P<w>joined|took up|signed up for|enrolled in|applied to|applied for|graduated from|graduated in) {_V}", "{w} {v}", _undertaking, "on"),
    (rf"{_HAVE}(?P<w>bought|sold) (?P<v>(?:my|an?|my own|our) (?:[\w-]+ ){{0,3}}(?:{idioms.POSSESSIONS}))", "{w} {v}", _any, "on"),
    (rf"{_HAVE}(?:got|was|been) promoted(?P<v>(?: to .+)?)", "Was promoted {v}", _always, "on"),
    (rf"I {_NOW}(?P<w>own|run) (?P<v>(?:my|an?|my own) (?:[\w-]+ ){{0,3}}(?:{idioms.VENTURES}))", "{w}s {v}", _any, "since"),
    (rf"I {_NOW}work from (?P<v>home)", "Works from {v}", _any, "since"),
    (rf"(?:{_I_AM}|I have {_NOW}been |{_HAVE}got )(?P<v>married|engaged|divorced|single|widowed)(?P<t>(?: to {_PROPER})?)", "Is {v} {t}", _any, "since"),
    (rf"{_NOW_ON},? (?:please )?(?:always )?{_IN}(?: with me)?", "Wants the assistant to {w} in {v}", _any, ""),
    (rf"(?:please )?{_IN},? (?:{_NOW_ON}|with me)", "Wants the assistant to {w} in {v}", _any, ""),
    (rf"(?:please )?(?:always )?speak (?P<v>{LANGUAGES}) (?:with|to) me", "Wants the assistant to speak {v}", _any, ""),
    (rf"I (?:would )?(?:prefer|like|want) (?:your )?(?:answers|replies) in (?P<v>{LANGUAGES})", "Wants answers in {v}", _any, ""),
    (rf"{_NOW_ON},? (?:please )?(?P<w>keep|answer|reply) (?:your )?(?P<u>(?:answers|replies) )?(?P<v>(?:short|brief|briefly|in bullet points|in one sentence|in short sentences|informally|formally|without emojis?)(?: and \w+)?)", "Wants the assistant to {w} {u} {v}", _any, ""),
    (rf"{_NOW_ON},? (?:please )?be (?P<v>concise|brief|formal|informal|short)", "Wants the assistant to be {v}", _any, ""),
    (rf"{_HAVE}(?P<w>quit|gave up|given up|stopped) (?P<v>smoking|drinking|drinking alcohol|vaping|gambling)", "{w} {v}", _always, "on"),
    (rf"(?:please )?(?P<w>keep) your (?P<u>answers|replies) (?P<v>short|brief|informal|formal),? {_NOW_ON}", "Wants the assistant to {w} {u} {v}", _any, ""),
    (rf"my (?:native|first) language is (?P<v>{LANGUAGES})", "Native language is {v}", _any, ""),
    (rf"I {_NOW}(?:do not|no longer) (?P<w>eat|drink) {_V}", "Does not {w} {v}", _taste, "since"),
    (rf"I (?:have )?stopped (?P<w>eat|drink)ing {_V}", "Does not {w} {v}", _taste, "since"),
    (rf"I can not stand {_V}", "Cannot stand {v}", _taste, ""),
    (rf"I am not an? (?:big |huge )?fan of {_V}", "Is not a fan of {v}", _taste, ""),
    (rf"{_I_AM}an? (?P<b>(?:big|huge) )?fan of {_V}", "Is a {b} fan of {v}", _taste, ""),
    (rf"{_I_AM}(?P<w>passionate about|interested in|keen on) {_V}", "Is {w} {v}", _taste, ""),
    (rf"my favou?rite (?P<k>[\w -]+?) (?P<b>is|are) {_V}", "Favourite {k} {b} {v}", _favourite, ""),
    (rf"my (?P<k>hobby|hobbies) (?P<b>is|are) {_V}", "{k} {b} {v}", _any, ""),
    (r"my pronouns are (?P<p>[\w/ ]+)(?P<v>)", "Pronouns are {p}", _always, ""),
    (r"my e-?mail(?: address)? is (?P<v>\S+@\S+\.\w+)", "Email is {v}", _any, ""),
    (r"my (?:phone|mobile|cell)(?: phone)?(?: number)? is (?P<v>\+?[\d() /-]{5,20})", "Phone number is {v}", _any, ""),
    (r"my (?:home |postal )?address is (?P<v>.*\d.*)", "Address is {v}", _any, ""),
    (rf"(?:I {_NOW}am|I have been) learning (?P<a>(?:to play )?the )?(?P<v>{LANGUAGES}|{idioms.INSTRUMENTS})", "Is learning {a} {v}", _always, "since"),
    (rf"(?:I {_NOW}study|I {_NOW}am studying) (?P<v>[a-z][\w -]*?(?: at {_PROPER})?)", "Studies {v}", _subject_of_study, "since"),
    (rf"(?:I {_NOW}volunteer|I {_NOW}am {_NOW}volunteering|I have been volunteering|{_HAVE}started volunteering) (?P<p>at|for|in|with) (?P<a>(?:the|an?) )?{_V}", "Volunteers {p} {a} {v}", _taste, "since"),
    (rf"(?:I|we) {_NOW}(?:have|own|have got) (?P<v>{_FEW} (?:[\w-]+ ){{0,2}}?{KIN}s?(?:(?:,|,? and) {_FEW} {KIN}s?){{0,2}}(?: (?:called|named) {_NAMES})?)", "Has {v}", _any, "since"),
    (rf"(?:I|we) (?:have )?{_NOW}(?:got|adopted|bought) (?P<v>(?:{_FEW}|another) (?:[\w-]+ ){{0,2}}?(?:{'|'.join(PETS)})s?(?: (?:called|named) {_NAMES})?)", "Has {v}", _any, "since"),
)  # fmt: skip


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """Return every rule, those of a person alone first; compiled when first asked for."""

    def compiled(
        table: tuple[tuple[str, str, Holds, str], ...], *, of_kin: bool
    ) -> tuple[Rule, ...]:
        return tuple(
            Rule(re.compile(pattern, re.IGNORECASE), line, holds, dated, of_kin)
            for pattern, line, holds, dated in table
        )

    return compiled(_OF_ONESELF, of_kin=False) + compiled(_OF_ANYBODY, of_kin=True)
