"""Split English text into words, stems and sentences, and know its small words."""

from __future__ import annotations

import re
from functools import lru_cache


def word_set(text: str) -> frozenset[str]:
    """Return the words of `text`, which are parted by single blanks."""
    return frozenset(text.split(" "))


DETERMINERS = word_set("a an the this that these those some any each every no another")
POSSESSIVES = word_set("my your his her its our their")
PRONOUNS = word_set(
    "i you he she it we they me him us them myself yourself himself herself ourselves "
    "themselves someone everyone anyone nobody everybody something anything everything "
    "nothing"
)
SUBJECTS = word_set("i you he she it we they there that this who")
PREPOSITIONS = word_set(
    "of in on at for with from by to into onto about over after before under between through "
    "during without against around near like as than since until towards across along"
)
CONJUNCTIONS = word_set(
    "and or but so because cause since while when where if though although that which who "
    "whose whom why how what whether then plus"
)
AUXILIARIES = word_set(
    "am is are was were be been being do does did have has had will would can could shall "
    "should may might must i'm you're we're they're he's she's it's that's there's i've "
    "you've we've they've i'd you'd we'd they'd i'll you'll we'll they'll don't doesn't "
    "didn't isn't aren't wasn't weren't haven't hasn't hadn't won't wouldn't can't couldn't "
    "shouldn't gonna wanna gotta let's"
)
ADVERBS = word_set(
    "just really very so too also even still already always never ever often sometimes now "
    "then here there again back away out up down off super totally definitely pretty quite "
    "actually recently finally soon yet maybe well much more most only almost"
)
FUNCTION = (
    DETERMINERS | POSSESSIVES | PRONOUNS | PREPOSITIONS | CONJUNCTIONS | AUXILIARIES | ADVERBS
) | word_set("not yes no oh wow hey hi thanks etc 's s t")
# Words that stand in questions without saying what is asked for.
VAGUE = word_set(
    "kind type sort name say said tell told mention mentioned describe described happen "
    "happened thing things get got go going went make made do doing did take took use used "
    "new many much long often give gave feel felt think thought recently according date year "
    "month day time currently specific certain person people someone"
)
NUMBER_WORDS = word_set(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "twenty thirty forty fifty sixty hundred thousand once twice dozen couple"
)
_COMMON_VERBS = word_set(
    "accept achieve act add admire adopt advise agree allow appreciate ask attend bake become "
    "begin believe bike bring build buy call camp care carry catch celebrate change chat check "
    "choose clean climb collect come compete consider cook create cry dance decide decorate "
    "design develop discover discuss donate draw drink drive eat encourage enjoy enter explain "
    "explore express face fall feel fight find finish fix follow get give go grow happen hate "
    "hear help hike hold hope host imagine improve include inspire invite join jump keep know "
    "laugh launch lead learn leave let like listen live look lose love make manage meet mention "
    "miss motivate move need notice offer open organize own paint pass pay perform pick plan play "
    "practice prepare provide push put raise reach read realize receive recommend relax remember "
    "remind represent research run save say see seem sell send set share show sing sit sleep "
    "speak spend stand start stay stop struggle study suggest support swim symbolize take talk "
    "teach tell thank think travel try turn understand use visit volunteer wait walk want watch "
    "wear win wish work worry write"
)
_IRREGULAR = {
    form: base
    for base, forms in {
        "go": "went gone", "buy": "bought", "make": "made", "take": "took taken", "get": "got gotten",
        "see": "saw seen", "give": "gave given", "find": "found", "begin": "began begun",
        "teach": "taught", "think": "thought", "bring": "brought", "feel": "felt", "meet": "met",
        "read": "read", "write": "wrote written", "speak": "spoke spoken", "tell": "told",
        "say": "said", "lose": "lost", "win": "won", "run": "ran", "swim": "swam swum",
        "sing": "sang sung", "eat": "ate eaten", "drink": "drank drunk", "drive": "drove driven",
        "ride": "rode ridden", "fly": "flew flown", "grow": "grew grown", "know": "knew known",
        "draw": "drew drawn", "break": "broke broken", "choose": "chose chosen", "fall": "fell fallen",
        "hear": "heard", "hold": "held", "keep": "kept", "leave": "left", "build": "built",
        "send": "sent", "spend": "spent", "sell": "sold", "catch": "caught", "fight": "fought",
        "become": "became", "come": "came", "wear": "wore worn", "sleep": "slept", "pay": "paid",
        "child": "children kid kids", "person": "people", "mother": "mom mum moms", "life": "lives",
        "father": "dad dads", "photo": "photograph picture pic photos", "foot": "feet",
        "movie": "film films", "study": "studies studied", "understand": "understood",
    }.items()
    for form in forms.split(" ")
}  # fmt: skip

_WORD = re.compile(r"[^\W_]+(?:['’.&+-][^\W_]+)*\+?")
_TITLES = "".join(rf"(?<!\b{title}\.)" for title in ("Mr", "Mrs", "Ms", "Dr", "St", "Prof"))
_SENTENCE_END = re.compile(
    rf"(?<=[.!?…]){_TITLES}[\"'”’)]*\s+(?=[^a-z\s])|\s*⏎\s*|\s+(?=\[image: )"
)


def words(text: str) -> list[str]:
    """Return the words of `text` as written."""
    return _WORD.findall(text)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return where each word of `text` starts and ends."""
    return [match.span() for match in _WORD.finditer(text)]


def plain(word: str) -> str:
    """Return a word in lower case, with straight quotes and without a possessive ending."""
    return word.lower().replace("’", "'").removesuffix("'s")


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of one word; irregular forms go to their base first."""
    base = plain(word)
    base = _IRREGULAR.get(base, base)
    return str(_stemmer().stemWord(base))


def is_verb(word: str) -> bool:
    """Tell whether a word is a form of a common verb (it may be a noun too)."""
    return stem(word) in _verb_stems()


@lru_cache(maxsize=1)
def _verb_stems() -> frozenset[str]:
    return frozenset(stem(verb) for verb in _COMMON_VERBS)


def content_stems(text: str) -> list[str]:
    """Return the stems of the words of `text` that carry meaning, in order."""
    return [stem(word) for word in words(text) if is_content(word)]


def is_content(word: str) -> bool:
    """Tell whether a word carries meaning of its own."""
    low = word.lower().replace("’", "'")
    return low not in FUNCTION and plain(word) not in FUNCTION


def sentences(text: str) -> list[str]:
    """Split `text` into sentences; a caption `[image: ...]` is one of its own."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]


@lru_cache(maxsize=1)
def _stemmer() -> _Snowball:
    import Stemmer

    stemmer: _Snowball = Stemmer.Stemmer("english")
    return stemmer


class _Snowball:
    """What of PyStemmer is used here; the package has no types of its own."""

    def stemWord(self, word: str) -> str:  # noqa: N802
        raise NotImplementedError
