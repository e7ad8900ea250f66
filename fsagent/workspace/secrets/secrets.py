"""Replace secrets before they reach the disk, and keep count of what was replaced.

What stands in place of a secret is `[secret: openai key, removed]`. A secret's text is never
logged, counted or shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsagent.workspace.secrets.rulefile import OwnRules, own_rules

if TYPE_CHECKING:
    from fsagent.workspace.secrets.finder import Found

_SURROGATE = re.compile("[\ud800-\udfff]")


class Secrets:
    """The secrets of one workspace: its own rules beside those that are built in."""

    def __init__(self, root: Path) -> None:
        self._own: OwnRules = own_rules(root)
        self._removed: list[str] = []

    def find(self, text: str) -> list[Found]:
        """Return where secrets stand in a text."""
        # The rules are loaded when a text is first looked at: a command that writes nothing needs none.
        from fsagent.workspace.secrets.finder import find_secrets, may_hold_secret, merged

        if not self._own.patterns and not may_hold_secret(text):
            return []
        plain = _SURROGATE.sub("\ufffd", text)  # RE2 takes no lone surrogates; places stay the same
        found = merged([*find_secrets(plain), *self._by_own_rules(plain)])
        return [one for one in found if not self._is_allowed(plain[one.start : one.end])]

    def clean(self, text: str) -> str:
        """Return the text with its secrets replaced, and count them."""
        found = self.find(text)
        if not found:
            return text
        self._removed += [one.kind for one in found]
        return replaced(text, found)

    def clean_new(self, text: str, old: str) -> str:
        """Return a changed text with the secrets replaced that `old` does not hold, and count them.

        What a person put into a file themselves stays theirs; `find` tells of it.
        """
        found = [one for one in self.find(text) if text[one.start : one.end] not in old]
        self._removed += [one.kind for one in found]
        return replaced(text, found) if found else text

    def hide(self, text: str) -> str:
        """Return the text with its secrets replaced and none counted: what they stand in is told of."""
        found = self.find(text)
        return replaced(text, found) if found else text

    def first(self, text: str) -> tuple[int, str] | None:
        """Return the line, from 1, and the kind of the first secret of a text, None for none."""
        found = self.find(text)
        return (text.count("\n", 0, found[0].start) + 1, found[0].kind) if found else None

    def clean_json(self, text: str) -> str:
        """Return JSON text with the secrets in its strings replaced; other text as it is cleaned.

        A secret may be written with escapes, so the strings are read first. JSON that holds none
        stays byte for byte.
        """
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return self.clean(text)
        cleaned = mapped(value, self.clean)
        return text if cleaned == value else json.dumps(cleaned, ensure_ascii=False)

    def clean_all(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return several texts cleaned."""
        return tuple(self.clean(text) for text in texts)

    def take_removed(self) -> tuple[str, ...]:
        """Return the kinds of the secrets replaced since the last call, each once."""
        removed, self._removed = self._removed, []
        return tuple(dict.fromkeys(removed))

    def _by_own_rules(self, text: str) -> list[Found]:
        from fsagent.workspace.secrets.finder import Found

        return [
            Found(match.start(), match.end(), name)
            for name, pattern in self._own.patterns
            for match in pattern.finditer(text)
            if match.end() > match.start()
        ]

    def _is_allowed(self, secret: str) -> bool:
        return any(pattern.fullmatch(secret) for pattern in self._own.allowed)


def replaced(text: str, found: Iterable[Found]) -> str:
    """Return a text with the found places replaced by what they held."""
    parts: list[str] = []
    at = 0
    for one in found:
        parts += [text[at : one.start], f"[secret: {one.kind}, removed]"]
        at = one.end
    return "".join([*parts, text[at:]])


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON value with every string in it changed, those of keys too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(str(key)): mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mapped(item, change) for item in value]
    return value
