"""Where blocks lie: a folder in a guarded tree, a file a block.

The workspace's own folder is one; another, outside of it, can be mounted by the setting `shared`,
so that several agents see and edit the same blocks. It is opened as its own guarded tree, with the
same rules of names and links, and its locks lie with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from fsagent.config import Settings
from fsagent.errors import ConfigError, CorruptFile, PathRejected, ToolError
from fsagent.memory.blocks import SUFFIX, Block, read_block
from fsagent.workspace.frontmatter import Document
from fsagent.workspace.locate import is_workspace
from fsagent.workspace.paths import MOUNTED, canonical
from fsagent.workspace.tree import Tree, sha256


class Shelf:
    """A folder of blocks: reads and writes their files; the rules of core memory are `Core`'s."""

    shared = False

    def __init__(self, tree: Tree, folder: str) -> None:
        self.tree, self.folder = tree, folder

    def labels(self) -> list[str]:
        """Return the labels of the blocks that lie here and are used, sorted."""
        return self.all_labels()

    def all_labels(self) -> list[str]:
        """Return the labels of the blocks that lie here, sorted."""
        if not self.tree.is_dir(self.folder):
            return []
        names = (
            entry.path.rpartition("/")[2]
            for entry in self.tree.list(self.folder)
            if not entry.is_dir
        )
        return [name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)]

    def blocks(
        self, bad: list[CorruptFile] | None, *, without: Sequence[str] = ()
    ) -> Iterator[Block]:
        """Yield the blocks by label; one that cannot be read goes into `bad`, or is raised."""
        for label in self.labels():
            if label in without:
                continue
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

    def known_as(self, label: str) -> str:
        """Return the path by which people and messages know a block's file."""
        return self.path(label)

    def read_bytes(self, label: str) -> bytes:
        """Return the bytes of a block's file."""
        return self.tree.read_bytes(self.path(label))

    def read(self, label: str) -> tuple[Block, Document, str]:
        """Return a block, its file's parts, and the hash to write against."""
        data = self.read_bytes(label)
        return *self.parse(label, data), sha256(data)

    def parse(self, label: str, data: bytes) -> tuple[Block, Document]:
        """Return the block that some bytes would be here. Raises `CorruptFile`."""
        return read_block(self.known_as(label), label, data, shared=self.shared)

    def lock(self, label: str) -> AbstractContextManager[None]:
        """Hold the lock of a block's file; it lies with the file, so that all its writers share it."""
        return self.tree.lock(self.path(label))

    def write(self, label: str, data: bytes, *, expect: str) -> None:
        """Write a block's file. Raises `StaleWrite` where it is not as `expect` says."""
        self.tree.replace(self.path(label), data, expect=expect)


class Mount(Shelf):
    """The folder of shared blocks; of its blocks those in `attached` are used, all where it is None."""

    shared = True

    def __init__(self, tree: Tree, folder: str, attached: tuple[str, ...] | None) -> None:
        super().__init__(tree, folder)
        self.attached = attached
        self.of_workspace = is_workspace(tree.root)

    def labels(self) -> list[str]:
        """Return the labels of the attached blocks that lie here, sorted."""
        return [label for label in self.all_labels() if self.attaches(label)]

    def missing(self) -> list[str]:
        """Return the labels that are attached by name and not there."""
        return sorted(set(self.attached or ()) - set(self.all_labels()))

    def attaches(self, label: str) -> bool:
        """Say whether the block of that label is attached, if it is there."""
        return self.attached is None or label in self.attached

    def holds(self, label: str) -> bool:
        """Say whether an attached block of that label lies here."""
        return self.attaches(label) and super().holds(label)

    def known_as(self, label: str) -> str:
        """Return the name that tells a block's file from one of the workspace's own."""
        return MOUNTED + self.path(label)


def open_mount(settings: Settings, root: Path) -> Mount | None:
    """Open the folder that the setting `shared` names, None where it names none.

    Raises `ConfigError` where there is no such folder, or where it is the workspace's own. A folder
    inside another workspace is opened as that workspace's, so that both take the same locks.
    """
    if settings.shared is None:
        return None
    folder = _mounted_folder(settings, root)
    home = next((one for one in (folder, *folder.parents) if is_workspace(one)), folder)
    inside = folder.relative_to(home).as_posix()
    tree = Tree(home, announced_as=MOUNTED)
    return Mount(tree, inside, settings.shared_blocks)


def _mounted_folder(settings: Settings, root: Path) -> Path:
    shared, origin = settings.shared, settings.origins.get("shared", "set by the program")
    told = f"shared is {shared!r} ({origin})"
    try:
        folder = (root / Path(shared or "").expanduser()).resolve(strict=True)
    except (OSError, RuntimeError) as err:
        raise _no_folder(told) from err
    if not folder.is_dir():
        raise _no_folder(told)
    if folder == root or folder in root.parents or root in folder.parents:
        raise ConfigError(
            f"{told}: that is in this workspace, or around it; name a folder beside it"
        )
    return folder


def _no_folder(told: str) -> ConfigError:
    return ConfigError(f"{told}: there is no such folder; make it, or take the setting out")
