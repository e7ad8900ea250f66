"""Find the secrets of a text: the rules, tokens that look drawn, tokens broken over two lines.

Ordinary text is passed over in a few microseconds: a token is a long run without spaces, an
assignment has its word.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fsagent.workspace.secrets.randomness import LEAST_CHARS, decoded, looks_random
from fsagent.workspace.secrets.rules import LOOSE, RULES, Rule

_SHORTEST_RUN = 16
_RUN = re.compile(rf"[!-~]{{{_SHORTEST_RUN}}}")
_TOKEN = re.compile(rf"[A-Za-z0-9+/=_-]{{{LEAST_CHARS},}}")
_BREAK = re.compile(r"(?<=[\w+/=.-])\r?\n[ \t]*(?=[\w+/=-])", re.ASCII)
_NEXT_LINE = re.compile(r"\r?\n[ \t]*([\w+/=-]{6,200})[ \t]*(?=\r?\n|$)", re.ASCII)
_HINTED = tuple((hint, rule) for rule in RULES for hint in rule.hints)
_WORDED = tuple((word, rule) for rule in LOOSE for word in rule.hints)
_SIGNS = (":", "=", "：", "＝")
# Within these nothing is a key for looking drawn: addresses, digests, public keys, attachments.
_PUBLIC = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{0,30}://\S+|\bwww\.\S+|\bdata:\S+|\bsha(?:1|224|256|384|512)[-:=]\S+"
    r"|-----BEGIN (?!(?:[A-Z0-9]+ )?PRIVATE)[A-Z0-9 ]{1,40}-----(?:(?!-----BEGIN)[\s\S]){0,8000}?-----END "
    r"|^(?:[A-Za-z0-9+/]{60,76}\r?\n)+[A-Za-z0-9+/=]{1,76}$|(?:^|(?<=\s))(?:~|\.{1,2})?/\S+",
    re.M,
)


class Found(NamedTuple):
    """A secret's place in a text, and its kind."""

    start: int
    end: int
    kind: str


def may_hold_secret(text: str) -> bool:
    """Say whether it is worth trying the rules: a long run without spaces, or a word that assigns."""
    if len(text) >= _SHORTEST_RUN and _has_long_run(text):
        return True
    # A loop, since a generator costs more than what it would ask.
    for sign in _SIGNS:
        if sign in text:
            return bool(_hinted(text.lower(), _WORDED))
    return False


def find_secrets(text: str) -> list[Found]:
    """Return the secrets of a text in the order of their places, none overlapping another."""
    tokens = list(_TOKEN.finditer(text))
    named = merged([*_by_rules(text), *_encoded(tokens)])
    whole = merged([_to_its_end(text, found) for found in named])
    broken = _over_breaks(text, whole) if "\n" in text else ()
    return merged([*whole, *broken, *_drawn(text, tokens, whole)])


def merged(found: Iterable[Found]) -> list[Found]:
    """Return places in order; where two overlap the one that begins first is widened."""
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if kept and one.start < kept[-1].end:
            kept[-1] = kept[-1]._replace(end=max(kept[-1].end, one.end))
        else:
            kept.append(one)
    return kept


def _has_long_run(text: str) -> bool:
    # Splitting is twice as fast as the pattern; text without spaces (Chinese) needs the pattern.
    return max(map(len, text.split()), default=0) >= _SHORTEST_RUN and bool(_RUN.search(text))


def _by_rules(text: str) -> Iterator[Found]:
    for rule in _hinted(text, _HINTED):
        yield from _matches(rule, text)
    for rule in _hinted(text.lower(), _WORDED):
        yield from _matches(rule, text)


def _hinted(text: str, hinted: Sequence[tuple[str, Rule]]) -> dict[Rule, None]:
    """Return the rules of which a hint stands in the text, in their order."""
    return {rule: None for hint, rule in hinted if hint in text}


def _matches(rule: Rule, text: str) -> Iterator[Found]:
    return (Found(start, end, rule.kind) for start, end in rule.places(text))


def _encoded(tokens: Iterable[re.Match[str]]) -> Iterator[Found]:
    """Yield base64 runs whose readable text holds a secret."""
    for match in tokens:
        inner = decoded(match[0])
        if inner is not None:
            for found in _by_rules(inner):
                yield Found(match.start(), match.end(), found.kind)
                break


def _to_its_end(text: str, found: Found) -> Found:
    """Return a secret with the rest of it that a line break cut off."""
    match = _NEXT_LINE.match(text, found.end)
    if match and _is_rest(match[1]):
        return found._replace(end=match.end(1))
    return found


def _is_rest(line: str) -> bool:
    return (
        any(map(str.isdigit, line))
        and any(map(str.islower, line))
        and any(map(str.isupper, line))
        and "-" not in line
    )


def _over_breaks(text: str, known: Sequence[Found]) -> Iterator[Found]:
    """Yield the tokens that only a line break keeps from being found."""
    breaks = list(_BREAK.finditer(text))
    if not breaks:
        return
    pieces, starts, gaps, at, gone = list[str](), [0], [0], 0, 0
    for one in breaks:
        pieces.append(text[at : one.start()])
        gone += one.end() - one.start()
        starts.append(one.end() - gone)
        gaps.append(gone)
        at = one.end()
    joined = "".join([*pieces, text[at:]])
    for rule in _hinted(joined, _HINTED):
        if not rule.wraps:
            continue
        for start, end in rule.places(joined):
            first, last = bisect_right(starts, start), bisect_right(starts, end - 1)
            found = Found(start + gaps[first - 1], end + gaps[last - 1], rule.kind)
            if first != last and not any(_meet(found, other) for other in known):
                yield found


def _drawn(text: str, tokens: Iterable[re.Match[str]], known: Sequence[Found]) -> Iterator[Found]:
    """Yield the tokens that look drawn and stand in nothing public."""
    random = [
        Found(match.start(), match.end(), "random token")
        for match in tokens
        if looks_random(match[0])
    ]
    random = [one for one in random if not any(_meet(one, other) for other in known)]
    if not random:
        return
    public = [Found(*match.span(), "") for match in _PUBLIC.finditer(text)]
    yield from (one for one in random if not any(_meet(one, other) for other in public))


def _meet(one: Found, other: Found) -> bool:
    return one.start < other.end and other.start < one.end
