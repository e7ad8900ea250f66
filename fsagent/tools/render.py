"""Write a page of hits as the text a model reads.

One hit a line as `path:line: text`, lines around it as `path-line- text`; where these meet they are
written in the order of the file, at the place of the best hit, and no line twice. Then an empty line
and sentences in parentheses: what was cut, and the literal call that shows more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fsagent.search.merge import Passage, passages
from fsagent.tools.data_text import fenced
from fsagent.tools.scope import clip_bytes
from fsagent.tools.taint import Taint
from fsagent.types import Hit, HitPage


def render_page(
    page: HitPage, *, tool: str, arguments: Mapping[str, Any], limit_bytes: int, taint: Taint
) -> str:
    """Return the text of a page that has hits. `arguments` are the call's, for the next page.

    Where a line is untrusted text, all of them are fenced as data.
    """
    before = taint.count
    lines, shown = _fitting(page.hits, limit_bytes, taint)
    if taint.count > before:
        lines = fenced(lines)
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


def _fitting(hits: Sequence[Hit], limit_bytes: int, taint: Taint) -> tuple[list[str], int]:
    """Return the lines of as many hits as fit, at least of one, and how many hits these are."""
    used, shown = 0, 0
    printed: set[tuple[str, int]] = set()
    for hit in hits:
        lines = {hit.line: hit.text, **dict((*hit.before, *hit.after))}
        new = {n: text for n, text in lines.items() if (hit.path, n) not in printed}
        size = sum(len(line.encode("utf-8", "replace")) + 1 for line in _written(hit.path, new))
        if shown and used + size > limit_bytes:
            break
        printed.update((hit.path, number) for number in new)
        used, shown = used + size, shown + 1
    lines_of = (line for passage in passages(hits[:shown]) for line in _lines_of(passage, taint))
    return [clip_bytes(line, limit_bytes) for line in lines_of], shown


def _written(path: str, lines: Mapping[int, str]) -> Iterator[str]:
    yield from (f"{path}:{number}: {text}" for number, text in lines.items())


def _lines_of(passage: Passage, taint: Taint) -> Iterator[str]:
    for number, text, hit in passage:
        mark = ":" if hit else "-"
        yield f"{passage.path}{mark}{number}{mark} {taint.line(passage.path, number, text)}"


def _count(page: HitPage, shown: int) -> str:
    if page.total is None:
        return f"{shown} hits, more may follow" if page.next else _hits(shown)
    return _hits(shown) if page.total == shown else f"{shown} of {_hits(page.total)}"


def _hits(count: int) -> str:
    return f"{count} hit" if count == 1 else f"{count} hits"


def _sentence(note: str) -> str:
    return note if note.startswith("(") else f"({note.rstrip('.')})"
