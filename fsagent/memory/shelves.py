"""Where blocks lie: a folder in a guarded tree, a file a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

from fsagent.errors import CorruptFile, PathRejected, ToolError
from fsagent.memory.blocks import SUFFIX, Block, read_block
from fsagent.workspace.frontmatter import Document
from fsagent.workspace.paths import canonical
from fsagent.workspace.tree import Tree, sha256


class Shelf:
    """A folder of blocks: reads and writes their files; the rules of core memory are `Core`'s."""

    def __init__(self, tree: Tree, folder: str) -> None:
        self.tree, self.folder = tree, folder

    def labels(self) -> list[str]:
        """Return the labels of the blocks that lie here, sorted."""
        if not self.tree.is_dir(self.folder):
            return []
        names = (
            entry.path.rpartition("/")[2]
            for entry in self.tree.list(self.folder)
            if not entry.is_dir
        )
        return [name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)]

    def blocks(self, bad: list[CorruptFile] | None) -> Iterator[Block]:
        """Yield the blocks by label; one that cannot be read goes into `bad`, or is raised."""
        for label in self.labels():
            try:
                yield self.read(label)[0]
            except PathRejected as err:
                if err.code != "MISSING":  # gone meanwhile
                    raise
            except CorruptFile as err:
                if bad is None:
                    raise
                bad.append(err)

    def path(self, label: str) -> str:
        """Return the path of a block's file in the tree. Raises `ToolError` for what is no label."""
        if "/" in label or not label.strip():
            raise ToolError(f"{label!r} is not a block's label; write a name such as human")
        name = f"{label}{SUFFIX}"
        return canonical(name if self.folder == "." else f"{self.folder}/{name}")

    def holds(self, label: str) -> bool:
        """Say whether a block of that label lies here."""
        return self.tree.exists(self.path(label))

    def read_bytes(self, label: str) -> bytes:
        """Return the bytes of a block's file."""
        return self.tree.read_bytes(self.path(label))

    def read(self, label: str) -> tuple[Block, Document, str]:
        """Return a block, its file's parts, and the hash to write against."""
        data = self.read_bytes(label)
        return *self.parse(label, data), sha256(data)

    def parse(self, label: str, data: bytes) -> tuple[Block, Document]:
        """Return the block that some bytes would be here. Raises `CorruptFile`."""
        return read_block(self.path(label), label, data)

    def lock(self, label: str) -> AbstractContextManager[None]:
        """Hold the lock of a block's file; it lies with the file, so that all its writers share it."""
        return self.tree.lock(self.path(label))

    def write(self, label: str, data: bytes, *, expect: str) -> None:
        """Write a block's file. Raises `StaleWrite` where it is not as `expect` says."""
        self.tree.replace(self.path(label), data, expect=expect)
