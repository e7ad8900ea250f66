"""Core memory: blocks, Markdown files that stand in the context at every step."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fsagent.config import Settings
from fsagent.errors import BlockLimitExceeded, CorruptFile, PathRejected, ToolError
from fsagent.tokens import estimate_text
from fsagent.workspace import frontmatter
from fsagent.workspace.paths import canonical
from fsagent.workspace.tree import Tree, sha256

FOLDER = "core"
DEFAULT_LIMIT = 5000
_SUFFIX = ".md"
_MERGE_MARK = re.compile(r"^(?:<{7}|>{7}|\|{7}) ", re.M)


@dataclass(frozen=True, slots=True)
class Block:
    """A core block. `value` is its text without front matter, `limit` in characters."""

    label: str
    description: str
    value: str
    limit: int
    read_only: bool
    path: str

    @property
    def size(self) -> int:
        """The value's characters."""
        return len(self.value)


class Core:
    """The blocks of a workspace: read, append, replace; every edit durable and compare-and-swap."""

    def __init__(self, tree: Tree, settings: Settings) -> None:
        self._tree, self._settings = tree, settings

    def blocks(self, bad: list[CorruptFile] | None = None) -> list[Block]:
        """Return all blocks by label; those that cannot be read go into `bad`.

        Without `bad` the first of them is raised, a `CorruptFile` with its line.
        """
        if not self._tree.is_dir(FOLDER):
            return []
        found: list[Block] = []
        for entry in self._tree.list(FOLDER):
            if entry.is_dir or not entry.path.endswith(_SUFFIX):
                continue
            try:
                found.append(self._parse(entry.path, self._tree.read_bytes(entry.path))[0])
            except CorruptFile as err:
                if bad is None:
                    raise
                bad.append(err)
        return found

    def block(self, label: str) -> Block:
        """Return one block. Raises `ToolError` naming the blocks there are."""
        return self._load(label)[0]

    def append(self, label: str, content: str) -> Block:
        """Add a line to a block's end."""
        with self._edited(label) as (block, document, digest):
            end = _first(document) + block.size
            new = content.strip() if not block.value else "\n" + content.strip()
            if not document.plain_body[end:].startswith("\n"):
                new += "\n"
            return self._write(block, document, digest, (end, end, new))

    def replace(self, label: str, old: str, new: str) -> Block:
        """Replace the one place where `old` stands in a block; an empty `new` deletes it."""
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
        with self._edited(label) as (block, document, digest):
            _check_once(block, old)
            start = _first(document) + block.value.index(old)
            end = start + len(old)
            if new == "":
                end = _line_end(document.plain_body, start, end)
            return self._write(block, document, digest, (start, end, new))

    @contextmanager
    def _edited(self, label: str) -> Iterator[tuple[Block, frontmatter.Document, str]]:
        """Hold a block's lock from reading to writing, so that no other writer's edit is lost."""
        with self._tree.lock(self._path(label)):
            yield self._load(label)

    def _path(self, label: str) -> str:
        if "/" in label or not label.strip():
            raise ToolError(f"{label!r} is not a block's label; {self._labels()}")
        return canonical(f"{FOLDER}/{label}{_SUFFIX}")

    def _load(self, label: str) -> tuple[Block, frontmatter.Document, str]:
        path = self._path(label)
        try:
            data = self._tree.read_bytes(path)
        except PathRejected as err:
            if err.code == "MISSING":
                raise ToolError(f"There is no block {label!r}; {self._labels()}") from err
            raise
        block, document = self._parse(path, data)
        return block, document, sha256(data)

    def _labels(self) -> str:
        return "blocks are: " + (", ".join(block.label for block in self.blocks([])) or "none")

    def _parse(self, path: str, data: bytes) -> tuple[Block, frontmatter.Document]:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as err:
            line = data[: err.start].count(b"\n") + 1
            raise CorruptFile(path, "is not UTF-8 text; save it as UTF-8", line=line) from err
        mark = _MERGE_MARK.search(text)
        if mark is not None:
            line = text.count("\n", 0, mark.start()) + 1
            reason = "holds the marks of a merge that is not resolved; choose a side"
            raise CorruptFile(path, reason, line=line)
        document = frontmatter.parse(path, text)
        return _block(path, document), document

    def _write(
        self,
        block: Block,
        document: frontmatter.Document,
        digest: str,
        edit: tuple[int, int, str],
    ) -> Block:
        """Write one splice of the body, checked on the block it gives."""
        if block.read_only:
            raise ToolError(f"Not written: block {block.label!r} is read-only; a person edits it.")
        text = document.spliced(*edit)
        data = text.encode("utf-8", "replace")
        try:
            after, parsed = self._parse(block.path, data)
        except CorruptFile as err:
            raise ToolError(
                f"Not written: block {block.label!r} could not be read again: it {err.reason}"
            ) from err
        if parsed.head != document.head:
            raise ToolError(
                f"Not written: block {block.label!r} would begin with '---', which a file of memory "
                "reads as its front matter; begin with another line."
            )
        # An edit that shortens a block over its limit (a person lowered it) has to be possible.
        if after.size > block.limit and after.size >= block.size:
            raise BlockLimitExceeded(
                label=block.label, size=after.size, limit=block.limit, value=block.value
            )
        self._check_total(block, after.value)
        self._tree.replace(block.path, data, expect=digest)
        return after

    def _check_total(self, block: Block, value: str) -> None:
        total = sum(
            estimate_text(other.value) for other in self.blocks([]) if other.label != block.label
        )
        tokens, limit = total + estimate_text(value), self._settings.core_tokens
        if tokens > limit and len(value) > block.size:
            raise ToolError(
                f"Not written: all blocks together would hold about {tokens} tokens, the limit is {limit}. "
                "Shorten a block first, or put the text into archival with archival_memory_insert. "
                f"Block {block.label!r} now:\n{block.value}"
            )


def _block(path: str, document: frontmatter.Document) -> Block:
    return Block(
        label=path.removeprefix(f"{FOLDER}/").removesuffix(_SUFFIX),
        description=str(document.meta.get("description") or ""),
        value=document.plain_body.strip("\n"),
        limit=_whole_number(path, document.meta, "limit", DEFAULT_LIMIT),
        read_only=_flag(path, document.meta, "read_only"),
        path=path,
    )


def _whole_number(path: str, meta: Mapping[str, Any], key: str, default: int) -> int:
    value = meta.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CorruptFile(path, f"{key} is {value!r}; write a whole number of characters")
    return value


def _flag(path: str, meta: Mapping[str, Any], key: str) -> bool:
    value = meta.get(key, False)
    if not isinstance(value, bool):
        raise CorruptFile(path, f"{key} is {value!r}; write true or false")
    return value


def _first(document: frontmatter.Document) -> int:
    """Return where a block's value begins in the plain body: behind its empty lines."""
    body = document.plain_body
    return len(body) - len(body.lstrip("\n"))


def _count(text: str, old: str) -> int:
    """Count the places where `old` stands, those that overlap included."""
    count, at = 0, text.find(old)
    while at >= 0:
        count, at = count + 1, text.find(old, at + 1)
    return count


def _line_end(body: str, start: int, end: int) -> int:
    """Return the end of a span, with its line break where it fills whole lines."""
    fills = (start == 0 or body[start - 1] == "\n") and body[end : end + 1] == "\n"
    return end + 1 if fills else end


def _check_once(block: Block, old: str) -> None:
    if not old:
        raise ToolError("old is empty; give the exact text to replace")
    count = _count(block.value, old)
    if count == 0:
        raise ToolError(
            f"Not written: {old!r} does not stand in block {block.label!r}, which reads:\n{block.value}"
        )
    if count > 1:
        lines = [number for number, line in enumerate(block.value.split("\n"), 1) if old in line]
        where = f" on lines {', '.join(map(str, lines))}" if lines else ""
        raise ToolError(
            f"Not written: {old!r} stands {count} times in block {block.label!r}{where}; "
            "give more of the text around the one you mean."
        )
