"""Audit a workspace: every check, each finding with its place and what to do."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import datetime
from functools import lru_cache

from fsagent.agent.audit.facts import between_facts, outdated, uncited
from fsagent.agent.audit.findings import KINDS, Finding, Placed
from fsagent.agent.sleep.material import said_of
from fsagent.errors import ConfigError, CorruptFile, PathRejected
from fsagent.memory.blocks import Block
from fsagent.memory.facts import facts_of
from fsagent.memory.leaks import leaks
from fsagent.memory.support import Source, unsupported_part
from fsagent.memory.workspace import Workspace
from fsagent.search.drift import drift
from fsagent.tokens import estimate_text
from fsagent.workspace.records import Record
from fsagent.workspace.references import citation_name
from fsagent.workspace.view import is_recall, is_text_path, render, view_lines

_FACT_KINDS = frozenset({"duplicate", "near-duplicate", "contradiction"})


def audit(workspace: Workspace, only: Collection[str] = ()) -> list[Finding]:
    """Return what is wrong, by kind and place. `only` names the kinds to look for, none for all.

    Raises `ConfigError` for a kind there is not. Nothing is changed but a derived index, which is
    brought up to the files first.
    """
    if unknown := sorted(set(only) - KINDS.keys()):
        raise ConfigError(f"{unknown[0]!r} is no kind of finding; kinds are: {', '.join(KINDS)}")
    wanted = set(only or KINDS)
    found = [one for one in _findings(workspace, wanted) if one.kind in wanted]
    order = list(KINDS)
    return sorted(found, key=lambda one: (order.index(one.kind), one.path, one.line, one.text))


def _findings(workspace: Workspace, wanted: set[str]) -> Iterator[Finding]:
    bad: list[CorruptFile] = []
    blocks = workspace.core.blocks(bad)
    facts = [placed for block in blocks for placed in _placed(workspace, block)]
    if "unreadable" in wanted:
        workspace.review.all(bad)
        for err in bad:
            yield Finding(
                "unreadable", err.path, err.line or 1, f"it {err.reason}", "mend or delete it"
            )
    yield from _over_budget(workspace, blocks)
    if wanted & _FACT_KINDS:
        yield from between_facts(facts)
    yield from outdated(facts, workspace.recall.now().date())
    yield from uncited(facts)
    if "broken-citation" in wanted:
        yield from _broken(workspace, facts)
    if "secret" in wanted:
        for leak in leaks(workspace.tree):
            advice = "take it out of memory and its history: fsagent forget --purge"
            yield Finding(
                "secret", leak.path, leak.line, f"looks like a secret ({leak.kind})", advice
            )
    if "index-drift" in wanted:
        for path, reason in drift(workspace.tree, workspace.settings.language):
            advice = "delete .fsagent/index*; the next search makes it again"
            yield Finding("index-drift", path, 1, reason, advice)


def _placed(workspace: Workspace, block: Block) -> Iterator[Placed]:
    """Yield a block's facts at the lines of its file."""
    text = workspace.core.read_file(block.label).decode("utf-8").replace("\r\n", "\n")
    head = text.rstrip("\n").removesuffix(block.value).count("\n")
    for fact in facts_of(block.value):
        yield Placed(block, fact, head + fact.line)


def _over_budget(workspace: Workspace, blocks: list[Block]) -> Iterator[Finding]:
    for block in blocks:
        if block.size > block.limit:
            text = f"holds {block.size} characters, its limit is {block.limit}"
            advice = f"shorten it (fsagent block edit {block.label}), or raise its limit"
            yield Finding("over-budget", block.path, 1, text, advice)
    tokens, limit = (
        sum(estimate_text(block.value) for block in blocks),
        workspace.settings.core_tokens,
    )
    if tokens > limit:
        text = f"all blocks together hold about {tokens} tokens, core_tokens is {limit}"
        yield Finding(
            "over-budget", "core", 1, text, "shorten a block, or let fsagent sleep make room"
        )


def _broken(workspace: Workspace, facts: list[Placed]) -> Iterator[Finding]:
    cited = _Cited(workspace)
    for one in facts:
        if one.block.shared:
            continue  # its citations name lines of its writer's recall
        sources = []
        for path, line in one.fact.citations:
            end = _range_end(one.fact.text, citation_name(path, line)) or line
            lines = [cited.source(path, number) for number in range(line, end + 1)]
            if None in lines:
                name = citation_name(path, line + lines.index(None))
                advice = f"cite the line that says so: fsagent block edit {one.block.label}"
                yield one.finding("broken-citation", f"it cites {name}, which says nothing", advice)
            sources += [source for source in lines if source is not None]
        missing = unsupported_part(one.fact.words, sources) if sources else None
        if missing:
            where = ", ".join(citation_name(*place) for place in one.fact.citations)
            advice = f"fsagent why, then correct the line: fsagent block edit {one.block.label}"
            yield one.finding("broken-citation", f"{where} does not support: {missing}", advice)


_MOST_RANGE = 50


def _range_end(text: str, name: str) -> int | None:
    """Return the last line of a citation such as `2026-11-29:14-16`."""
    match = re.search(rf"{re.escape(name)}-(\d+)", text)
    first = int(name.rpartition(":")[2])
    return min(int(match[1]), first + _MOST_RANGE) if match else None


class _Cited:
    """Reads what citations name; each file once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._day = lru_cache(maxsize=32)(self._read_day)
        self._text = lru_cache(maxsize=32)(self._read_text)

    def source(self, path: str, line: int) -> Source | None:
        """Return a line as support of a fact, None where there is no such line or it says nothing."""
        if is_recall(path):
            record = self._day(path).get(line)
            if record is None:
                return None
            said = next(said_of([(path, line, record)]), None)
            words = render(record)
            if said is not None:
                return said.source
            day = datetime.fromisoformat(record.ts).date()
            return Source(record.name, words, day) if words else None
        lines = self._text(path)
        return (
            Source("", lines[line - 1])
            if 1 <= line <= len(lines) and lines[line - 1].strip()
            else None
        )

    def _read_day(self, path: str) -> dict[int, Record]:
        if not self._workspace.tree.exists(path):
            return {}
        return dict(self._workspace.recall.read(path))

    def _read_text(self, path: str) -> list[str]:
        if not is_text_path(path):
            return []
        try:
            return view_lines(path, self._workspace.tree.read_bytes(path))
        except PathRejected:
            return []
