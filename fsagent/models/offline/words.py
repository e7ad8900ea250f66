"""Split English text into words, stems and sentences, and know its small words."""

from __future__ import annotations

import re
from functools import lru_cache


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split(" "))


DETERMINERS = _set("a an the this that these those some any each every no another")
POSSESSIVES = _set("my your his her its our their")
PRONOUNS = _set(
    "i you he she it we they me him us them myself yourself himself herself ourselves "
    "themselves someone everyone anyone nobody everybody something anything everything "
    "nothing"
)
SUBJECTS = _set("i you he she it we they there that this who")
PREPOSITIONS = _set(
    "of in on at for with from by to into onto about over after before under between through "
    "during without against around near like as than since until towards across along"
)
CONJUNCTIONS = _set(
    "and or but so because cause since while when where if though although that which who "
    "whose whom why how what whether then plus"
)
AUXILIARIES = _set(
    "am is are was were be been being do does did have has had will would can could shall "
    "should may might must i'm you're we're they're he's she's it's that's there's i've "
    "you've we've they've i'd you'd we'd they'd i'll you'll we'll they'll don't doesn't "
    "didn't isn't aren't wasn't weren't haven't hasn't hadn't won't wouldn't can't couldn't "
    "shouldn't gonna wanna gotta let's"
)
ADVERBS = _set(
    "just really very so too also even still already always never ever often sometimes now "
    "then here there again back away out up down off super totally definitely pretty quite "
    "actually recently finally soon yet maybe well much more most only almost"
)
FUNCTION = (
    DETERMINERS | POSSESSIVES | PRONOUNS | PREPOSITIONS | CONJUNCTIONS | AUXILIARIES | ADVERBS
) | _set("not yes no oh wow hey hi thanks etc 's s t")
# Words that stand in questions without saying what is asked for.
VAGUE = _set(
    "kind type sort name say said tell told mention mentioned describe described happen "
    "happened thing things get got go going went make made do doing did take took use used "
    "new many much long often give gave feel felt think thought recently according date year "
    "month day time currently specific certain person people someone"
)
NUMBER_WORDS = _set(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "twenty thirty forty fifty sixty hundred thousand once twice dozen couple"
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

_WORD = re.compile(r"[^\W_]+(?:['’.&+-][^\W_]+)*|[^\W_]")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+(?=[^a-z\s])|\s*⏎\s*|\s+(?=\[image: )")


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
