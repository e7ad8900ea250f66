"""Write a page of hits as the text a model reads.

One hit a line as `path:line: text`, lines around it as `path-line- text`; then an empty line and
sentences in parentheses: what was cut, and the literal call that shows more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fsagent.tools.scope import clip_bytes
from fsagent.types import Hit, HitPage


def render_page(page: HitPage, *, tool: str, arguments: Mapping[str, Any], limit_bytes: int) -> str:
    """Return the text of a page that has hits. `arguments` are the call's, for the next page."""
    lines, shown = _fitting(page.hits, limit_bytes)
    sentences = [_sentence(note) for note in page.notes]
    if shown < len(page.hits) or page.next is not None or page.clipped_hits:
        more = {**arguments, "offset": int(arguments.get("offset") or 0) + shown}
        sentences.insert(0, f"({_count(page, shown)}; next page: {literal_call(tool, more)})")
    else:
        sentences.insert(0, f"({_count(page, shown)})")
    if page.timed_out:
        sentences.append("(the search ran out of time; narrow the path or the pattern)")
    if any(hit.clipped_line for hit in page.hits[:shown]):
        sentences.append("(long lines are clipped around what was found; open shows more)")
    return "\n".join([*lines, "", *sentences])


def render_none(what: str, page: HitPage, advice: str) -> str:
    """Return the text of a page without hits. `what` is the query or pattern."""
    flags = " The search ran out of time." if page.timed_out else ""
    notes = "".join(f"\n{_sentence(note)}" for note in page.notes)
    return f'No hits for "{what[:200]}".{flags} {advice}{notes}'


def literal_call(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as it would be typed; parameters that are empty are left out."""
    given = {
        name: value for name, value in arguments.items() if value not in (None, "", 0, False, [])
    }
    values = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in given.items())
    return f"{tool}({', '.join(values)})"


def _fitting(hits: Sequence[Hit], limit_bytes: int) -> tuple[list[str], int]:
    """Return the lines of as many hits as fit, at least of one, and how many these are."""
    lines: list[str] = []
    printed: set[tuple[str, int]] = set()
    used = 0
    for count, hit in enumerate(hits):
        block = list(_lines_of(hit, printed))
        size = sum(len(line.encode("utf-8", "replace")) + 1 for line in block)
        if count and used + size > limit_bytes:
            return lines, count
        lines += [clip_bytes(line, limit_bytes) for line in block]
        used += size
    return lines, len(hits)


def _lines_of(hit: Hit, printed: set[tuple[str, int]]) -> Iterator[str]:
    around = [(number, text, "-") for number, text in (*hit.before, *hit.after)]
    for number, text, mark in sorted([*around, (hit.line, hit.text, ":")]):
        if mark == ":" or (hit.path, number) not in printed:
            printed.add((hit.path, number))
            yield f"{hit.path}{mark}{number}{mark} {text}"


def _count(page: HitPage, shown: int) -> str:
    if page.total is None:
        return f"{shown} hits, more may follow" if page.next else _hits(shown)
    return _hits(shown) if page.total == shown else f"{shown} of {_hits(page.total)}"


def _hits(count: int) -> str:
    return f"{count} hit" if count == 1 else f"{count} hits"


def _sentence(note: str) -> str:
    return note if note.startswith("(") else f"({note.rstrip('.')})"
