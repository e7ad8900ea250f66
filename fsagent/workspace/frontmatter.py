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

    def with_body(self, body: str) -> str:
        """Return the whole text with another body, in the file's own line endings."""
        if "\r\n" in self.head or "\r\n" in self.body:
            body = body.replace("\r\n", "\n").replace("\n", "\r\n")
        return self.head + body


def parse(path: str, text: str) -> Document:
    """Return a Markdown file's parts.

    Raises `CorruptFile` with the line where the front matter is not a YAML mapping or has no end.
    """
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].rstrip() != _FENCE:
        return Document({}, "", text)
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise CorruptFile(path, "the front matter has no closing '---'; add it", line=1)
    head = text[: len(text) - len("".join(lines[end + 1 :]))]
    return Document(_meta(path, "".join(lines[1:end])), head, "".join(lines[end + 1 :]))


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
