"""Patterns a model wrote: compiled by RE2, refused with advice, and the literals they require.

`\\w`, `\\d`, `\\s` and `\\b` are ASCII, as in RE2; `\\pL` names letters of every script. A pattern never
matches a line's end, and `^` and `$` are a line's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fsagent.errors import BadArguments, printable

MAX_PATTERN_CHARS = 1_000
_LOOK_AROUND = re.compile(r"\(\?(?:[=!]|<[=!])")
_BACK_REFERENCE = re.compile(r"\\[1-9]|\(\?P=")
_POSSESSIVE = re.compile(r"\(\?>|[*+?}]\+")
_LEADING_ANY = re.compile(r"^(?:\.\*\??)+(?=[^?*+{|)])")


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A compiled pattern. Every match holds one of `literals` (None: nothing is known of it).

    `inner`: a match is letters, digits and underscores alone, so that it stands within one part of a
    line (its date, its speaker, its text) and in the line's raw bytes too, in a line whose text holds
    no escape of JSON. `bounded`: what stands before and behind a match counts. `digits`: it may hold
    some.
    """

    regex: Any
    literals: tuple[str, ...] | None
    ignore_case: bool
    inner: bool = False
    bounded: bool = False
    digits: bool = True

    def search(self, data: bytes, start: int = 0) -> tuple[int, int] | None:
        """Return the span of the first match at or after byte `start`."""
        match = self.regex.search(data, start)
        return (match.start(), match.end()) if match else None


def compile_pattern(pattern: str, *, ignore_case: bool = False, literal: bool = False) -> Pattern:
    """Compile `pattern`. Raises `BadArguments` with what to write instead."""
    if not pattern:
        raise BadArguments("pattern is empty; write a word or an RE2 regular expression")
    if len(pattern) > MAX_PATTERN_CHARS:
        raise BadArguments(
            f"pattern has {len(pattern)} characters, the limit is {MAX_PATTERN_CHARS}; search for "
            "a shorter part of it"
        )
    if "\n" in pattern:
        raise BadArguments("pattern holds a line break; grep works line by line, search one line")
    source = re.escape(pattern) if literal else pattern
    regex = _compile(source, pattern, ignore_case)
    parser = _parsed(source)
    if parser is None:
        return Pattern(regex, None, ignore_case or "(?" in source)
    literals = tuple(sorted(parser.words)) if parser.words else None
    # The raw time has a T where the text has a space: a digit's boundary may be another one there.
    inner = parser.inner and not (parser.bounded and parser.digits)
    return Pattern(
        regex, literals, ignore_case or parser.folds, inner, parser.bounded, parser.digits
    )


def _compile(source: str, shown: str, ignore_case: bool) -> Any:
    import re2

    options = re2.Options()
    options.never_nl = True
    options.never_capture = True
    options.log_errors = False
    options.case_sensitive = not ignore_case
    # An outer `.*` finds the same lines and makes the scan quadratic.
    body = _LEADING_ANY.sub("", source) if "|" not in source else source
    try:
        return re2.compile(b"(?m)" + body.encode("utf-8"), options)
    except re2.error as err:
        raise BadArguments(_refusal(source, shown, err)) from err
    except UnicodeEncodeError as err:
        raise BadArguments("pattern holds half a character (a lone surrogate)") from err


def _refusal(source: str, shown: str, err: Exception) -> str:
    if _LOOK_AROUND.search(source):
        return (
            "look-around (?=...), (?!...), (?<=...) is not supported; search for the whole text, "
            "e.g. `foo.*bar` instead of `foo(?=.*bar)`, and leave out unwanted lines yourself"
        )
    if _BACK_REFERENCE.search(source):
        return "back-references (\\1) are not supported; write the repeated text out"
    if _POSSESSIVE.search(source):
        return "atomic groups and possessive quantifiers are not supported; write (...) and + or *"
    reason = err.args[0] if err.args else ""
    text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    return (
        f"pattern {printable(shown, limit=80)} is not a regular expression RE2 knows ({text}); "
        "put a backslash before . * + ? ( ) [ ] { } | ^ $ to mean the character, or use literal=true"
    )


def required_literals(source: str) -> tuple[str, ...] | None:
    """Return words of which every match holds at least one; None: no such words.

    Only runs of letters and digits are used: JSON leaves them as they are.
    """
    parser = _parsed(source)
    return tuple(sorted(parser.words)) if parser and parser.words else None


def _parsed(source: str) -> _Parser | None:
    """Return the parser of a pattern it has read to the end, None where it gave up."""
    try:
        parser = _Parser(source)
        parser.words = parser.alternation()
        return parser if parser.at == len(source) else None
    except (IndexError, _GiveUpError):
        return None


class _GiveUpError(Exception):
    """The pattern uses something whose literals are not worth finding."""


_Words = frozenset[str] | None
_QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d+)(?:,\d*)?\})\??")
_GROUP = re.compile(r"\((?:\?(?:P?<\w+>|([a-zA-Z-]*):|([a-zA-Z-]+)\)))?")
_CLASS_ESCAPES = frozenset("dDwWsSbBAzafnrtvCX")
_INNER_CLASS = re.compile(r"(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|\w)+")


class _Parser:
    """A small reader of regular expressions: the words a match must hold, and of what it is made."""

    def __init__(self, source: str) -> None:
        self.source, self.at, self.folds = source, 0, False
        self.words: _Words = None
        self.inner, self.bounded, self.digits = True, False, False

    def alternation(self) -> _Words:
        branches = [self.branch()]
        while self.at < len(self.source) and self.source[self.at] == "|":
            self.at += 1
            branches.append(self.branch())
        if any(branch is None for branch in branches):
            return None
        return frozenset().union(*(branch for branch in branches if branch is not None))

    def branch(self) -> _Words:
        runs: list[_Words] = []
        run = ""
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            char, words = self.item()
            least, quantified = self.quantifier()
            if char is not None and not quantified:
                run += char
                continue
            if char is not None and least:
                run += char
            runs.append(_longest(run))
            run = ""
            if words is not None and least:
                runs.append(words)
        runs.append(_longest(run))
        return max((r for r in runs if r), key=lambda words: min(map(len, words)), default=None)

    def item(self) -> tuple[str | None, _Words]:
        """Read one item: a literal character, or the words of a group, or neither."""
        char = self.source[self.at]
        if char == "(":
            return None, self.group()
        if char == "[":
            self.skip_class()
            return None, None
        if char == "\\":
            return self.escape(), None
        self.at += 1
        self.take(char)
        return (None if char in ".^$" else char), None

    def take(self, char: str) -> None:
        """Note a character that a match may hold."""
        self.inner &= char.isalnum() or char == "_"
        self.digits |= char.isdigit()

    def group(self) -> _Words:
        match = _GROUP.match(self.source, self.at)
        if match is None:
            raise _GiveUpError
        self.folds |= "i" in (match[1] or match[2] or "")
        self.at = match.end()
        if match[2] is not None:
            return None
        words = self.alternation()
        if self.source[self.at] != ")":
            raise _GiveUpError
        self.at += 1
        return words

    def skip_class(self) -> None:
        at = self.at + 1
        at += self.source[at] == "^"
        at += self.source[at] == "]"
        while self.source[at] != "]":
            if self.source[at] == "\\":
                at += 2
            elif self.source.startswith("[:", at):
                at = self.source.index(":]", at) + 2 if ":]" in self.source[at:] else at + 1
            else:
                at += 1
        body = self.source[self.at + 1 : at]
        self.inner &= _INNER_CLASS.fullmatch(body) is not None
        self.digits |= any(char.isdigit() for char in body)
        self.at = at + 1

    def escape(self) -> str | None:
        char = self.source[self.at + 1]
        if char in "QEpPx0123456789":
            raise _GiveUpError
        self.at += 2
        if char not in _CLASS_ESCAPES:
            self.take(char)
            return char
        self.inner &= char in "wdb"
        self.bounded |= char == "b"
        self.digits |= char in "wd"
        return None

    def quantifier(self) -> tuple[int, bool]:
        """Read what follows an item; return its least count and whether there was one."""
        least, quantified = 1, False
        while match := _QUANTIFIER.match(self.source, self.at):
            self.at = match.end()
            quantified = True
            few = int(match[1]) if match[1] else int(match[0][0] == "+")
            least = min(least, few)
        return least, quantified


def _longest(run: str) -> _Words:
    words = "".join(char if char.isalnum() else " " for char in run).split()
    return frozenset([max(words, key=len)]) if words else None
