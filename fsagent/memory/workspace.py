"""The workspace: a folder that is the memory, with its three tiers."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from fsagent.config import Settings, environment, load_settings
from fsagent.memory.archival import Archival
from fsagent.memory.core import By, Core
from fsagent.memory.recall import Recall
from fsagent.types import Clock
from fsagent.workspace.locate import check_workspace
from fsagent.workspace.tree import Tree

if TYPE_CHECKING:
    from fsagent.memory.history.history import History
    from fsagent.memory.review import Review


class Workspace:
    """A workspace that is open: `tree` opens its files, `core`, `recall` and `archival` are its tiers,
    `review` holds the edits that wait for a person.

    Use it as a context manager, or call `close`.
    """

    def __init__(self, root: Path, *, settings: Settings, clock: Clock) -> None:
        self.settings = settings
        self.clock = clock
        self.tree = Tree(root)
        self.root = self.tree.root
        _ = self.tree.secrets  # a bad file of rules is said now, not at the first write
        self.core = Core(self.tree, settings, self._shared_edit)
        self.recall = Recall(self.tree, settings, clock)
        self.archival = Archival(self.tree, clock)

    @classmethod
    def open(
        cls, path: Path | str, *, settings: Settings | None = None, clock: Clock | None = None
    ) -> Workspace:
        """Open the workspace at `path`. Raises `WorkspaceError` where it is none, `ConfigError` for bad settings."""
        root = check_workspace(Path(path))
        return cls(
            root,
            settings=settings or load_settings(root, environment()),
            clock=clock or system_clock,
        )

    @classmethod
    def init(
        cls, path: Path | str, *, settings: Settings | None = None, clock: Clock | None = None
    ) -> Workspace:
        """Lay a new workspace at `path` from the template and open it; what is there stays as it is."""
        from fsagent.workspace.template import lay_template

        lay_template(Path(path))
        return cls.open(path, settings=settings, clock=clock)

    @cached_property
    def review(self) -> Review:
        """The edits that wait for a person; its modules are loaded when first asked for."""
        from fsagent.memory.review import Review

        return Review(self.tree, self.clock)

    @cached_property
    def history(self) -> History:
        """The history of this workspace; its modules are loaded when first asked for."""
        from fsagent.memory.history.history import History

        return History(self.tree, self.settings, self.clock)

    @cached_property
    def shared_history(self) -> History | None:
        """The history of the mounted folder, kept there; None without one.

        A folder of another workspace has that workspace's history, which takes an edit of ours for
        one from outside.
        """
        from fsagent.memory.history.history import History

        mount = self.core.mount
        if mount is None or mount.of_workspace:
            return None
        return History(mount.tree, self.settings, self.clock, hidden=True)

    def notices(self) -> list[str]:
        """Return what a person should be told of the histories, each once."""
        shared = self.__dict__.get("shared_history")
        return self.history.notices() + ([] if shared is None else shared.notices())

    def _shared_edit(self, path: str, by: By) -> AbstractContextManager[None]:
        if self.shared_history is None:
            return nullcontext()
        from fsagent.memory.history.shared import committed

        person, name = by == "person", self.root.name
        return committed(self.shared_history, path, by_person=person, workspace=name)

    def close(self) -> None:
        """Finish what the history has to commit and let go of the folder."""
        if "history" in self.__dict__:
            self.history.close()
        self.core.close()
        self.tree.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def system_clock() -> datetime:
    """Return the system's time with its offset."""
    return datetime.now().astimezone()
