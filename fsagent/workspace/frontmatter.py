"""Front matter: the YAML between two `---` lines at the head of a Markdown file.

Only the body is ever rewritten: the head's bytes, unknown keys and comments included, stay as the
person wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fsagent.errors import CorruptFile

_FENCE = "---"


@dataclass(frozen=True, slots=True)
class Document:
    """A Markdown file in its parts: `head` is the raw front matter with both fences, or empty."""

    meta: Mapping[str, Any]
    head: str
    body: str

    def spliced(self, start: int, end: int, new: str) -> str:
        """Return the whole text with a span of the body replaced.

        `start` and `end` count each line break as one character (the body as `plain_body` gives
        it); what is outside the span stays byte for byte. New lines end as the body's lines do.
        """
        if "\r\n" in self.head or "\r\n" in self.body:
            new = new.replace("\r\n", "\n").replace("\n", "\r\n")
        left, right = _offset(self.body, start), _offset(self.body, end)
        return self.head + self.body[:left] + new + self.body[right:]

    @property
    def plain_body(self) -> str:
        """The body with every line break as LF."""
        return self.body.replace("\r\n", "\n")


def _offset(body: str, position: int) -> int:
    """Return where a position of the plain body stands in the body."""
    start = 0
    while (at := body.find("\r\n", start)) >= 0 and at < position:
        # One character more in the body than in the plain text for each CRLF passed.
        position, start = position + 1, at + 2
    return position


def parse(path: str, text: str) -> Document:
    """Return a Markdown file's parts; a byte order mark belongs to the head.

    Raises `CorruptFile` with the line where the front matter is not a YAML mapping or has no end.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    # Split on LF only: U+2028 and U+0085 are characters of a text, not ends of its lines.
    lines = text[len(mark) :].split("\n")
    if not is_fence(lines[0]) or len(lines) == 1:
        return Document({}, mark, text[len(mark) :])
    end = next((n for n, line in enumerate(lines[1:], 1) if is_fence(line)), None)
    if end is None:
        raise CorruptFile(path, "the front matter has no closing '---'; add it", line=1)
    body = "\n".join(lines[end + 1 :])
    head = text[: len(text) - len(body)]
    return Document(_meta(path, "\n".join([*lines[1:end], ""])), head, body)


def is_fence(line: str) -> bool:
    """Say whether a line opens or closes front matter."""
    return line.startswith(_FENCE) and line.rstrip(" \t\r") == _FENCE


def _meta(path: str, text: str) -> Mapping[str, Any]:
    import yaml

    try:
        meta = yaml.safe_load(text)
    except yaml.YAMLError as err:
        mark = getattr(err, "problem_mark", None)
        line = mark.line + 2 if mark is not None else 2
        problem = getattr(err, "problem", None) or "not valid YAML"
        raise CorruptFile(
            path, f"the front matter is not valid YAML ({problem}); correct it", line=line
        ) from err
    if meta is None:
        return {}
    if not isinstance(meta, dict):
        raise CorruptFile(
            path, "the front matter is not a mapping of keys to values; correct it", line=2
        )
    return {str(key): value for key, value in meta.items()}


def dump(meta: Mapping[str, Any], body: str) -> str:
    """Return a new Markdown file with front matter."""
    import yaml

    head = yaml.safe_dump(dict(meta), allow_unicode=True, sort_keys=False, width=1000)
    return f"{_FENCE}\n{head}{_FENCE}\n{body}"
