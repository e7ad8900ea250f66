"""The history of a workspace: who changed what in which turn, committed behind the reply.

A turn's marker is on disk before its commit is made, so a crash in between loses nothing: the next
start commits it. A commit that cannot be made (no git, a merge under way) is said and tried again;
the edit stands either way.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from fsagent.config import Settings
from fsagent.errors import FsagentError, HistoryError, WorkspaceLocked
from fsagent.memory.history.asof import memory_at
from fsagent.memory.history.commits import CommitsHeld
from fsagent.memory.history.lines import words_of_turn
from fsagent.memory.history.messages import SLEPT_KEY, By, TurnNote, author_of, commit_message
from fsagent.memory.history.outside import unshown_edits
from fsagent.memory.history.pending import Pending
from fsagent.memory.history.place import first_notice
from fsagent.memory.history.policy import due_files
from fsagent.memory.history.repository import Repository, Scope, open_repository
from fsagent.memory.history.scan import in_recall, own_paths
from fsagent.memory.history.undo import FilePlan, apply_plan
from fsagent.memory.recall import Recall
from fsagent.types import Clock
from fsagent.workspace.tree import Tree

if TYPE_CHECKING:
    from fsagent.memory.history.log import Commit

_log = logging.getLogger(__name__)
TURN_LOCK = "turn"
RECALL_EVERY_TURNS = 32
LOOSE_OBJECTS = 2000
CURSORS = 50


class History:
    """Commits of a workspace, or with `hidden` of a folder beside it, kept in its `.fsagent/git`.

    Use `begin_turn` and `end_turn` around a turn, `close` at the end.

    These never raise for git's sake: what went wrong stands in `notices` and is tried again.
    """

    def __init__(
        self, tree: Tree, settings: Settings, clock: Clock, *, hidden: bool = False
    ) -> None:
        self._tree, self._settings = tree, settings
        self._recall = Recall(tree, settings, clock)
        self._repository = open_repository(tree, hidden=hidden)
        self._pending = Pending(tree.derived / "history", tree.secrets.hide)
        self._turn = ExitStack()
        self._jobs: queue.Queue[bool] = queue.Queue()
        self._worker: threading.Thread | None = None
        self._turns = 0
        self._notices: list[str] = []
        self._said: set[tuple[str, str]] = set()
        if not hidden:
            place = self._repository.place if self._repository else None
            self._notices += first_notice(place, tree.derived / "history")

    @property
    def repository(self) -> Repository:
        """The git side. Raises `HistoryError` where the machine has no git."""
        if self._repository is None:
            raise HistoryError("there is no git on this machine; install git to use the history")
        return self._repository

    def now(self) -> datetime:
        """Return now in the workspace's zone."""
        return self._recall.now()

    def notices(self) -> list[str]:
        """Return what a person should be told, each once."""
        said, self._notices = self._notices, []
        return said

    # A turn.

    def begin_turn(self, turn: str, *, model: str = "") -> str:
        """Mark the turn's begin; commit what was edited outside before it, and return it as a diff.

        The text is empty where nothing was edited by others since the agent's last turn.
        """
        if self._repository is None:
            return ""
        self._jobs.join()
        with self.tolerant():
            self._turn.close()
            self._turn.enter_context(self._tree.lock(TURN_LOCK, timeout_s=0))
            self._catch_up(after_crash=True)
            self._commit_outside()
            self._tree.take_written()
            self._pending.put(TurnNote(turn=turn, model=model))
            return unshown_edits(self._repository)
        return ""

    def end_turn(self, note: TurnNote, *, paths: Iterable[str] | None = None) -> None:
        """Mark the turn's end durably and commit it in the background.

        `paths` are the files the turn's tools wrote; None means what the workspace's tree wrote.
        """
        if self._repository is None:
            return
        with self.tolerant():
            self._pending.put(note, self._written(paths))
        self._turn.close()
        self._turns += 1
        self._ensure_worker()
        self._jobs.put(True)

    def wait(self) -> None:
        """Wait until what ended turns wrote is committed."""
        self._jobs.join()

    def commit_turn(self, note: TurnNote, *, paths: Iterable[str] | None = None) -> str | None:
        """Commit a turn's changes now and return the commit's name, None where nothing changed.

        Only what the turn wrote: an edit by others meanwhile is committed as theirs later.
        """
        chosen = self._written(paths)
        self._turns += 1
        try:
            commit = self._commit_all("agent", self._with_words(note), paths=chosen)
            self._pending.drop(note.turn)
        finally:
            self._turn.close()
        return commit

    def commit(
        self,
        by: By,
        note: TurnNote | None = None,
        *,
        lead: str = "",
        paths: Iterable[str] | None = None,
        recall: tuple[str, ...] = (),
    ) -> str | None:
        """Commit what changed in memory as somebody's; None where nothing did. Raises `HistoryError`."""
        chosen = None if paths is None else own_paths(paths)
        return self._commit_all(by, note or TurnNote(), lead=lead, paths=chosen, recall=recall)

    def mark(self, note: TurnNote, paths: Iterable[str]) -> None:
        """Say durably what is about to be written and by whom; a crash leaves it to the next start.

        Hold the lock `TURN_LOCK` from here to `commit_marked`.
        """
        if self._repository is not None:
            self._pending.put(note, own_paths(paths))

    def commit_marked(self, note: TurnNote, paths: Iterable[str]) -> str | None:
        """Commit what was marked; None where nothing changed, or where the commit has to wait.

        Why it waits stands in `notices`; the edits stand, and the next turn commits them.
        """
        if self._repository is None:
            return None
        with self.tolerant():
            commit = self._commit_all(note.by, note, paths=own_paths(paths))
            self._pending.drop(note.turn)
            return commit
        return None

    def slept_through(self) -> list[str]:
        """Return the cursors of sleep in the newest commits that hold one, newest first."""
        if self._repository is None or self._repository.tip() is None:
            return []
        from fsagent.memory.history.log import newest_trailers

        return newest_trailers(self._repository.git, SLEPT_KEY, limit=CURSORS)

    def last_change(self, path: str, data: bytes) -> Commit | None:
        """Return the last commit that changed a file, None where the file is not as it left it."""
        tip = self.repository.tip()
        if tip is None:
            return None
        from fsagent.memory.history.log import read_log
        from fsagent.memory.history.scan import blob_name, hash_of

        git, name = self.repository.git, self.repository.tracked(tip).get(path, "")
        if name != blob_name(data, hash_of([name])):
            return None
        return next(iter(read_log(git, tip, paths=[path], limit=1)), None)

    def record(self, lead: str, *, paths: Iterable[str] | None = None) -> str | None:
        """Commit what a command of the person's changed (None: all that differs).

        Return the commit's name. What hinders it becomes a notice.
        """
        if self._repository is not None:
            with self.tolerant():
                return self.commit("person", lead=lead, paths=paths)
        return None

    def settle(self, path: str = "") -> bool:
        """Commit what was edited outside before a command of the person's writes.

        Say whether `path` is committed as it is now, so that it can be brought back.
        """
        if self._repository is None:
            return False
        with self.tolerant():
            self.look()
            if path:
                self.commit("outside", paths=[path])
            return path in self._repository.tracked(self._repository.tip())
        return False

    def apply(self, plans: Sequence[FilePlan], *, lead: str, undoes: str = "") -> str | None:
        """Write planned files and commit them as the person's; return the commit's name."""
        apply_plan(self.repository, plans)
        paths = [plan.path for plan in plans]
        return self.commit("person", TurnNote(undoes=undoes), lead=lead, paths=paths)

    def as_of(self, moment: datetime) -> AbstractContextManager[tuple[Path, str | None]]:
        """Lay memory as it stood at a moment into a temporary folder, with the commit it is from."""
        return memory_at(self._tree, self._repository, moment)

    def look(self) -> str | None:
        """Commit what was edited outside, unless a turn is under way; return the commit's name."""
        if self._repository is None:
            return None
        with contextlib.suppress(WorkspaceLocked), self._tree.lock(TURN_LOCK, timeout_s=0):
            self._catch_up(after_crash=True)
            return self._commit_outside()
        return None

    def commit_recall(self, *, closing: bool) -> str | None:
        """Commit the recall files that are due; with `closing` as at a session's end."""
        sizes = self.repository.recall_sizes()
        today = self._recall.path_of(self.now())
        due = due_files(sizes, today=today, closing=closing)
        return self._commit_recall_files(due)

    def commit_everything(self) -> None:
        """Commit all there is, the whole recall log too (before an export)."""
        self.look()
        sizes = self.repository.recall_sizes()
        due = tuple(path for path, (size, committed) in sizes.items() if size != committed)
        self._commit_recall_files(due)

    def close(self) -> None:
        """Wait for the last turn's commit, then commit the recall log where it is due."""
        self._turn.close()
        if self._worker is not None:
            self._jobs.put(False)
            self._worker.join()
            self._worker = None
        if self._turns and self._repository is not None:
            with self.tolerant():
                self.commit_recall(closing=True)
                self.repository.save()
                self._tidy()

    def _written(self, paths: Iterable[str] | None) -> frozenset[str]:
        chosen = self._tree.take_written() if paths is None else frozenset(paths)
        return frozenset(path for path in own_paths(chosen) if not in_recall(path))

    # Behind the reply.

    def _ensure_worker(self) -> None:
        if self._worker is None or not self._worker.is_alive():
            self._worker = threading.Thread(target=self._work, name="fsagent-history", daemon=True)
            self._worker.start()

    def _work(self) -> None:
        while True:
            go_on = self._jobs.get()
            try:
                if not go_on:
                    return
                self._do_turn()
            finally:
                self._jobs.task_done()

    def _do_turn(self) -> None:
        with self.tolerant():
            self._catch_up(after_crash=False)
            if self._turns % RECALL_EVERY_TURNS == 1:
                self.commit_recall(closing=False)
                self._tidy()

    def _catch_up(self, *, after_crash: bool) -> None:
        """Commit the turns whose markers wait."""
        waiting = self._pending.all()
        for note, paths in waiting:
            if not (after_crash and note.turn and self._is_committed(note.turn)):
                self._commit_all(note.by, self._with_words(note), paths=paths)
            self._pending.drop(note.turn)
        if after_crash and waiting:
            self._pending.clear()

    def _commit_outside(self) -> str | None:
        """Commit what no turn wrote; the first commit of all lays the workspace down."""
        if self.repository.tip() is None:
            return self._commit_all("person", TurnNote(), lead="start")
        return self._commit_all("outside", TurnNote())

    def _is_committed(self, turn: str) -> bool:
        from fsagent.memory.history.log import one_commit

        tip = self.repository.tip()
        return tip is not None and one_commit(self.repository.git, tip).turn == turn

    def _commit_all(
        self,
        by: By,
        note: TurnNote,
        *,
        lead: str = "",
        paths: frozenset[str] | None = None,
        recall: tuple[str, ...] = (),
    ) -> str | None:
        commit = self.repository.commit(
            Scope(paths=paths, recall=recall),
            lambda changes: commit_message(
                changes, by=by, note=note, lead=lead, hide=self._tree.secrets.hide
            ),
            author=author_of(by, self._settings.user_name),
            when=self.now(),
        )
        self._say_left_out()
        return commit

    def _say_left_out(self) -> None:
        """Note, once each, the files that are not in the history, and why."""
        for path, reason in self.repository.skipped.items():
            if (path, reason) not in self._said:
                self._said.add((path, reason))
                self._notices.append(f"left out of the history: {path} {reason}")

    def _commit_recall_files(self, paths: tuple[str, ...]) -> str | None:
        if not paths:
            return None
        return self.repository.commit(
            Scope(memory=False, recall=paths),
            lambda changes: commit_message(changes, by="agent", note=TurnNote()),
            author=author_of("agent", self._settings.user_name),
            when=self.now(),
        )

    def _with_words(self, note: TurnNote) -> TurnNote:
        """Add the person's words that led to the turn, and where they stand."""
        if note.source:
            return note
        words = words_of_turn(self._tree, note.turn)
        if words is None:
            return note
        return replace(note, source=f"{words.path}:{words.line}", why=note.why or words.text[17:])

    def _tidy(self) -> None:
        """Let git pack in a process of its own once there are many loose objects."""
        git = self.repository.git
        # Git's own estimate: object names are even, so one of 256 folders tells.
        with contextlib.suppress(OSError):
            if len(list((git.directory / "objects" / "17").iterdir())) * 256 > LOOSE_OBJECTS:
                flags = {"gc.auto": str(LOOSE_OBJECTS), "gc.autoDetach": "true"}
                git.spawn("gc", "--auto", "--quiet", flags=flags)

    @contextlib.contextmanager
    def tolerant(self) -> Iterator[None]:
        """Turn what git cannot do into a notice: the edits stand, the commit is tried again."""
        try:
            yield
        except WorkspaceLocked as err:
            _log.debug("not committed now: %s", err)
        except CommitsHeld as err:
            self._notices.append(f"this turn's commit waits: {err}")
        except (FsagentError, OSError) as err:
            _log.debug("a commit failed", exc_info=True)
            self._notices.append(f"the commit was not made, the edits stand: {err}")
