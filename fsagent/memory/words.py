"""The words that carry a text's meaning, for comparing facts with facts and with what was said."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from fsagent.fuzzy import similarity
from fsagent.wordlists import CJK, IRREGULAR

_WORD = re.compile(rf"[{CJK}]+|(?:(?![{CJK}])[^\W_])+(?:['’](?:(?![{CJK}])[^\W_])+)?")
_RUN = re.compile(f"[{CJK}]+")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
# Of a Japanese run its Chinese characters and its katakana: hiragana is endings and particles.
_JAPANESE = re.compile("[\u3005\u3400-\u9fff\uf900-\ufaff]+|[\u30a1-\u30fa\u30fc]+")
_ORDINAL = re.compile(r"^(\d+)(?:st|nd|rd|th)$")
_UNIT = re.compile(r"(?<=\d)(?!(?:st|nd|rd|th)\b)(?=[^\W\d_])", re.IGNORECASE)
_PASSED_AWAY = re.compile(r"\bpass(?:ed|es) away\b", re.IGNORECASE)
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")

_NO = """
no not never nor none neither nobody nothing without longer cannot except
nicht nichts kein keine keinen keinem keiner nie niemals ohne nunca sin tampoco jamás pas jamais
sans nenhum nenhuma não sem nem senza geen niet nooit zonder inte aldrig не нет никогда без
"""
_NEGATIONS = frozenset(_NO.split())
_NEGATED_CJK = re.compile("[不没沒别別無无未]|ない|なく|なかった|ません|ぬ\\b|안 |않|못|없|아니")
_STOP = """
a an the and or of in on at to for from by with as is am are was were be been being have has had
having do does did doing she he they it its his her him their them this that these those i my me we
our us you your yours mine s t d m ll re ve don since about into than so who whom which where when
there here over just also very really too some any now then
ich du er es mein meine meinen ein eine einen einem einer der das dem den und im mit für seit von zu
el los las un una unos en yo mi mis con por para es soy está de la le les une je tu il elle mon ma
mes avec pour est suis au aux du um uma eu meu minha em da com é sou io il mio mia che sono
"""
_STOP_WORDS = frozenset(_STOP.split())
_COUNTS = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty
"""
_NUMBERS = {word: str(number) for number, word in enumerate(_COUNTS.split(), 1)}
_SAME = {
    "lives": "live", "goes": "go", "leaves": "leave", "papa": "dad", "grandma": "grandmother",
    "granny": "grandmother", "grandpa": "grandfather", "neighbor": "neighbour", "born": "birthday",
    "favorite": "favourite", "color": "colour", "flatmate": "roommate",
}  # fmt: skip
_TELLING = """
person user client dislike hate name call like love enjoy prefer want live move work own get go come use
currently old originally spring summer autumn winter week weekend month year day job assistant remind
"""

_WORD_SIMILARITY = 88
_MIN_FUZZY_LETTERS = 5


def words_of(text: str) -> list[str]:
    """Return a text's words and whole runs of Chinese, Japanese or Korean, as they are written."""
    return _WORD.findall(_UNIT.sub(" ", unicodedata.normalize("NFKC", text).replace("’", "'")))


@lru_cache(maxsize=4_096)
def content_words(text: str) -> frozenset[str]:
    """Return the words that carry a text's meaning, lower-case, as stems; numbers as digits."""
    return frozenset(content_sequence(text))


def content_sequence(text: str) -> list[str]:
    """Return `content_words` in their order."""
    found: list[str] = []
    text = _PASSED_AWAY.sub("died", _GROUPED.sub("", text))
    for word in words_of(text):
        if _RUN.match(word):
            found += _pairs(word)
        else:
            plain = word.casefold()
            if plain not in _STOP_WORDS and plain not in _NEGATIONS and not plain.endswith("n't"):
                found.append(stem(plain))
    return found


def names_in(text: str) -> frozenset[str]:
    """Return the stems of the words that begin with a capital: no slip of the pen makes two one."""
    return frozenset(stem(word.casefold()) for word in words_of(text) if word[:1].isupper())


def has_word(known: Iterable[str], word: str, exact: frozenset[str] = frozenset()) -> bool:
    """Say whether a word stands among others, a slip of the pen allowed in a long word.

    A word in `exact` (a name) has to stand there letter by letter: Martin is not Martina.
    """
    if word in (known := frozenset(known)):
        return True
    if word in exact or len(word) < _MIN_FUZZY_LETTERS or not word.isalpha():
        return False
    return any(
        len(other) >= _MIN_FUZZY_LETTERS
        and other[0] == word[0]
        and other not in exact
        and similarity(word, other) >= _WORD_SIMILARITY
        for other in known
    )


def stem(word: str) -> str:
    """Return a lower-case word's stem; a number as digits, an ordinal as its number."""
    if match := _ORDINAL.match(word):
        return match[1]
    plain = word.removesuffix("'s")
    plain = _NUMBERS.get(plain) or _SAME.get(plain) or IRREGULAR["en"].get(plain, plain)
    return _stemmed(plain)


def is_negated(text: str) -> bool:
    """Say whether a text denies something: "not", "never", "no longer", 不, nicht."""
    words = [word.casefold() for word in words_of(text)]
    if any(word in _NEGATIONS or word.endswith("n't") for word in words):
        return True
    return bool(_NEGATED_CJK.search(text))


def telling_words() -> frozenset[str]:
    """Return the words in which facts are told, whatever they say: live, like, person."""
    return content_words(_TELLING)


def _pairs(run: str) -> Sequence[str]:
    """Return a run's pairs of characters, its negations left out; one character alone as it is."""
    parts = _JAPANESE.findall(run) if _KANA.search(run) else _NEGATED_CJK.sub(" ", run).split()
    return [
        pair
        for part in parts
        for pair in ([part[i : i + 2] for i in range(len(part) - 1)] or [part])
    ]


@lru_cache(maxsize=20_000)
def _stemmed(word: str) -> str:
    import Stemmer

    stemmed: str = Stemmer.Stemmer("english").stemWord(word)
    return stemmed
