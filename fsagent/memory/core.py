"""Core memory: blocks, Markdown files that stand in the context at every step.

Every writer goes through `Core`: the model's tools, the sleep, a person's commands. Here the limits
hold, here `read_only` does, and an edit is made on the text as it is under the block's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from typing import Literal

from fsagent.config import Settings
from fsagent.errors import (
    BlockConflict,
    BlockLimitExceeded,
    ConfigError,
    CoreTokensExceeded,
    CorruptFile,
    ToolError,
)
from fsagent.memory.blocks import Block, added, new_block, plain, replaced, rewritten
from fsagent.memory.merge import Conflict, merge_lines
from fsagent.memory.shelves import Mount, Shelf, open_mount
from fsagent.tokens import estimate_text
from fsagent.workspace.entries import StaleWrite
from fsagent.workspace.frontmatter import Document
from fsagent.workspace.paths import MOUNTED
from fsagent.workspace.tree import Tree, sha256
from fsagent.workspace.view import decode_text

__all__ = ["FOLDER", "Block", "By", "Core"]

FOLDER = "core"
LOCK = "core"
"""The lock that every write of core memory holds, since all blocks share one budget."""

By = Literal["model", "person"]
Record = Callable[[str, By], AbstractContextManager[None]]
"""Receives the path of a shared block in its folder and who writes; the write is made inside."""
_TRIES = 5
"""How often an edit is made anew because an editor that knows no lock wrote in between."""


class Core:
    """The blocks of a workspace; every edit durable, checked, and compare-and-swap.

    A `read_only` block is written by a person only. Edits raise `ToolError` with what to do.
    """

    def __init__(self, tree: Tree, settings: Settings, record: Record | None = None) -> None:
        self._tree, self._settings, self._record = tree, settings, record
        self._own = Shelf(tree, FOLDER)

    @cached_property
    def mount(self) -> Mount | None:
        """The mounted folder of shared blocks, opened when first asked for. Raises `ConfigError`."""
        return open_mount(self._settings, self._tree.root)

    def mounted(self) -> Mount:
        """Return the mounted folder. Raises `ConfigError` where none is mounted."""
        if self.mount is None:
            raise ConfigError(
                "no folder of shared blocks is mounted here; write into fsagent.yaml for instance "
                "shared: ../team/core"
            )
        return self.mount

    def close(self) -> None:
        """Let go of the mounted folder."""
        if self.__dict__.get("mount") is not None:
            self.mount.tree.close()  # type: ignore[union-attr]

    def blocks(self, bad: list[CorruptFile] | None = None) -> list[Block]:
        """Return all blocks by label, the shared ones among them; the unreadable go into `bad`.

        Without `bad` the first of them is raised, a `CorruptFile` with its line.
        """
        found = list(self._own.blocks(bad))
        if self.mount is not None:
            found += self.mount.blocks(bad, without=self.hidden())
        return sorted(found, key=lambda block: block.label)

    def own_labels(self) -> list[str]:
        """Return the labels of the blocks that are the workspace's own."""
        return self._own.labels()

    def hidden(self) -> list[str]:
        """Return the labels of shared blocks whose place a block of the workspace's own takes."""
        own = set(self._own.labels())
        return [] if self.mount is None else [one for one in self.mount.labels() if one in own]

    def block(self, label: str) -> Block:
        """Return one block. Raises `ToolError` naming the blocks there are."""
        return self._shelf(label).read(label)[0]

    def digest(self, path: str) -> str:
        """Return the sha256 of a file as a write of it was announced, `""` where it is not there."""
        if path.startswith(MOUNTED) and self.mount is not None:
            return self.mount.tree.digest(path.removeprefix(MOUNTED))
        return self._tree.digest(path)

    def tokens(self) -> int:
        """Return about how many tokens all blocks hold; the budget is the setting `core_tokens`."""
        return sum(estimate_text(block.value) for block in self.blocks([]))

    def append(self, label: str, content: str) -> Block:
        """Add a line to a block's end."""
        return self._change(label, lambda value: added(value, content), ended=True)

    def replace(self, label: str, old: str, new: str) -> Block:
        """Replace the one place where `old` stands in a block; an empty `new` deletes it."""
        return self._change(label, lambda value: replaced(label, value, old, new))

    def write(self, label: str, value: str, *, base: str, by: By = "model") -> Block:
        """Write a block's whole value, which was made from `base`, the value that was read.

        What another wrote since then is merged line by line. Raises `BlockConflict` where both
        changed the same lines.
        """
        return self._change(label, lambda now: _merged(label, base, value, now), by=by, ended=True)

    def read_file(self, label: str) -> bytes:
        """Return a block's file as it is, readable as a block or not."""
        return self._shelf(label).read_bytes(label)

    def save_file(self, label: str, data: bytes, *, base: bytes) -> Block:
        """Write a block's whole file, front matter too, as a person edited it from `base`.

        What another wrote since then is merged line by line. Raises `BlockConflict`, and
        `CorruptFile` for bytes that are no block.
        """
        with self._writing(label) as shelf:
            now = shelf.read_bytes(label)
            merged = self._cleaned(_merged_file(label, base, data, now), now)
            after = shelf.parse(label, merged)[0]
            self._check(_readable(shelf, label, now), after)
            if merged != now:
                self._put(shelf, label, merged, expect=sha256(now), by="person")
            return after

    def create(
        self,
        label: str,
        *,
        description: str,
        limit: int,
        read_only: bool = False,
        value: str = "",
        shared: bool = False,
    ) -> Block:
        """Make a new block, `shared`: in the mounted folder.

        Raises `ToolError` where there is one of that label, `ConfigError` where nothing is mounted.
        """
        data = self._cleaned(new_block(description, limit, value, read_only=read_only), b"")
        shelf = self.mounted() if shared else self._own
        with self._tree.lock(LOCK):
            after = shelf.parse(label, data)[0]
            self._check(None, after)
            try:
                if shared and self._own.holds(label):
                    raise StaleWrite(self._own.path(label))
                with shelf.lock(label):
                    self._put(shelf, label, data, expect="", by="person")
            except StaleWrite as err:
                raise ToolError(
                    f"There is a block {label!r} already; edit that, or choose another label."
                ) from err
        return after

    def remove(self, label: str, *, base: bytes) -> None:
        """Delete a block's file, never a shared one.

        Raises `BlockConflict` where it is not what `base` says any more.
        """
        with self._writing(label) as shelf:
            if shelf.shared:
                raise ToolError(
                    f"Block {label!r} is shared with others and was not removed; detach lets go of it "
                    "here. To take it from everybody, delete its file in the shared folder."
                )
            now = shelf.read_bytes(label)
            if now != base:
                raise BlockConflict(label=label, yours="(to remove it)", theirs=decode_text(now))
            shelf.tree.remove(shelf.path(label))

    def path(self, label: str) -> str:
        """Return the path by which people know a block's file."""
        return self._shelf(label).known_as(label)

    # One edit, under the locks.

    @contextmanager
    def _writing(self, label: str) -> Iterator[Shelf]:
        """Hold the locks of one edit, from reading to writing, so that no other's edit is lost."""
        shelf = self._shelf(label)
        with self._tree.lock(LOCK), shelf.lock(label):
            yield shelf

    def _change(
        self, label: str, change: Callable[[str], str], *, by: By = "model", ended: bool = False
    ) -> Block:
        """Make an edit of a block's value. `change` gets the value as it is, perhaps twice."""
        for left in reversed(range(_TRIES)):
            try:
                with self._writing(label) as shelf:
                    return self._land(shelf, label, change, by=by, ended=ended)
            except StaleWrite:
                if not left:
                    raise
        raise AssertionError("the last try returns or raises")

    def _land(
        self, shelf: Shelf, label: str, change: Callable[[str], str], *, by: By, ended: bool
    ) -> Block:
        block, document, digest = shelf.read(label)
        if block.read_only and by == "model":
            raise ToolError(f"Not written: block {label!r} is read-only; a person edits it.")
        value = self._tree.secrets.clean_new(change(block.value), block.value)
        if value == block.value:
            return block
        data = rewritten(document, value, ended=ended).encode("utf-8", "replace")
        after = _read_again(shelf, label, data, document)
        self._check(block, after)
        self._put(shelf, label, data, expect=digest, by=by)
        return after

    def _put(self, shelf: Shelf, label: str, data: bytes, *, expect: str, by: By) -> None:
        recorded = self._record(shelf.path(label), by) if shelf.shared and self._record else None
        with recorded or nullcontext():
            shelf.write(label, data, expect=expect)

    def _cleaned(self, data: bytes, old: bytes) -> bytes:
        """Return a file's bytes with the secrets replaced that are new in it; others stay theirs."""
        text = decode_text(data)
        clean = self._tree.secrets.clean_new(text, decode_text(old))
        return data if clean == text else clean.encode("utf-8", "replace")

    def _shelf(self, label: str) -> Shelf:
        if self._own.holds(label):
            return self._own
        if self.mount is not None and self.mount.holds(label):
            return self.mount
        labels = ", ".join(block.label for block in self.blocks([])) or "none"
        raise ToolError(f"There is no block {label!r}; blocks are: {labels}")

    # The limits.

    def _check(self, before: Block | None, after: Block) -> None:
        """Refuse an edit over a limit; one that shortens what is over it already has to be possible."""
        value, size = (before.value, before.size) if before else ("", -1)
        if after.value == value:
            return
        if after.size > after.limit and after.size >= size:
            raise BlockLimitExceeded(
                label=after.label, size=after.size, limit=after.limit, value=value
            )
        if after.size > size:
            self._check_total(after, value)

    def _check_total(self, after: Block, value: str) -> None:
        others = (block.value for block in self.blocks([]) if block.label != after.label)
        tokens = sum(map(estimate_text, others)) + estimate_text(after.value)
        limit = self._settings.core_tokens
        if tokens > limit:
            raise CoreTokensExceeded(label=after.label, tokens=tokens, limit=limit, value=value)


def _read_again(shelf: Shelf, label: str, data: bytes, document: Document) -> Block:
    """Return the block that an edit gives; refuse one that would be read as something else."""
    try:
        after, parsed = shelf.parse(label, data)
    except CorruptFile as err:
        raise ToolError(
            f"Not written: block {label!r} could not be read again: it {err.reason}"
        ) from err
    if parsed.head != document.head:
        raise ToolError(
            f"Not written: block {label!r} would begin with '---', which a file of memory "
            "reads as its front matter; begin with another line."
        )
    return after


def _readable(shelf: Shelf, label: str, data: bytes) -> Block | None:
    """Return the block some bytes are, None where they are none."""
    try:
        return shelf.parse(label, data)[0]
    except CorruptFile:
        return None


def _merged(label: str, base: str, value: str, now: str) -> str:
    """Return the value to write where `value` was made from `base` and the block holds `now`."""
    base, value = plain(base).strip("\n"), plain(value).strip("\n")
    if base == now:
        return value
    try:
        return "\n".join(merge_lines(_lines(base), _lines(value), _lines(now)))
    except Conflict as err:
        raise BlockConflict(label=label, yours=value, theirs=now) from err


def _merged_file(label: str, base: bytes, data: bytes, now: bytes) -> bytes:
    try:
        return b"\n".join(merge_lines(*(side.split(b"\n") for side in (base, data, now))))
    except Conflict as err:
        raise BlockConflict(label=label, yours=decode_text(data), theirs=decode_text(now)) from err


def _lines(value: str) -> list[str]:
    return value.split("\n") if value else []
