"""Patches that wait for a person: kept durably under `.fsagent/review`, one file each."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from fsagent.errors import BadArguments, CorruptFile, WorkspaceError
from fsagent.memory.edits import CoreEdit
from fsagent.types import Clock
from fsagent.workspace.derived import MAX_KEPT_BYTES
from fsagent.workspace.tree import Tree

FOLDER = "review"
Proposer = Literal["agent", "sleep"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """Edits that were not written, and why.

    `sources` are the places their text descends from (`archival/evil.md:3`), where that is known.
    """

    id: str
    ts: str
    by: Proposer
    turn: str
    reasons: tuple[str, ...]
    edits: tuple[CoreEdit, ...]
    sources: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of a proposal."""
        return {
            "id": self.id,
            "ts": self.ts,
            "by": self.by,
            "turn": self.turn,
            "reasons": list(self.reasons),
            "edits": [edit.as_dict() for edit in self.edits],
            "sources": list(self.sources),
        }


class Review:
    """The proposals of a workspace: keep, list, find, drop."""

    def __init__(self, tree: Tree, clock: Clock) -> None:
        self._tree, self._clock = tree, clock

    def keep(
        self,
        by: Proposer,
        edits: Sequence[CoreEdit],
        reasons: Iterable[str],
        *,
        turn: str = "",
        sources: Iterable[str] = (),
    ) -> Proposal:
        """Keep edits durably and return the proposal; one with the same edits is kept once.

        Secrets in it are replaced, so an edit of a line that holds one fits no more when accepted.
        """
        edits = tuple(self._cleaned(edit) for edit in edits)
        waiting = self.all()
        for known in waiting:
            if known.edits == edits:
                return known
        now = self._clock()
        made = Proposal(
            _new_id(f"{now:%m%d}-", [one.id for one in waiting]),
            now.isoformat(timespec="seconds"),
            by,
            turn,
            self._tree.secrets.clean_all(reasons),
            edits,
            self._tree.secrets.clean_all(dict.fromkeys(sources)),
        )
        data = json.dumps(made.as_dict(), ensure_ascii=False, indent=1).encode("utf-8", "replace")
        self._tree.state.keep(FOLDER, f"{made.id}.json", data)
        return made

    def _cleaned(self, edit: CoreEdit) -> CoreEdit:
        clean = self._tree.secrets.clean
        return replace(edit, block=clean(edit.block), old=clean(edit.old), new=clean(edit.new))

    def all(self, bad: list[CorruptFile] | None = None) -> list[Proposal]:
        """Return every proposal, oldest first; files that cannot be read go into `bad`."""
        found = []
        for name in self._tree.state.names(FOLDER):
            try:
                found.append(self._load(name))
            except CorruptFile as err:
                if bad is not None:
                    bad.append(err)
        return sorted(found, key=lambda one: (one.ts, one.id))

    def get(self, name: str) -> Proposal:
        """Return the proposal of an id or of the beginning of one. Raises `WorkspaceError`."""
        waiting = self.all()
        found = [one for one in waiting if one.id == name] or [
            one for one in waiting if name and one.id.startswith(name)
        ]
        if len(found) == 1:
            return found[0]
        there = ", ".join(one.id for one in waiting) or "none"
        problem = "names several proposals" if found else "is no proposal"
        raise WorkspaceError(f"{name!r} {problem}; waiting are: {there}")

    def drop(self, name: str) -> None:
        """Let go of a proposal that was decided."""
        self._tree.state.drop(f"{FOLDER}/{name}.json")

    def _load(self, name: str) -> Proposal:
        path = f".fsagent/{FOLDER}/{name}"
        data = self._tree.state.read(f"{FOLDER}/{name}", limit=MAX_KEPT_BYTES)
        try:
            return _proposal(name.removesuffix(".json"), json.loads(data or b""))
        except (ValueError, KeyError, TypeError, BadArguments) as err:
            raise CorruptFile(path, "is not a proposal; delete it") from err


def _new_id(day: str, taken: Sequence[str]) -> str:
    """Return an id that sorts behind those of its day, with two digits of chance: none is given twice."""
    numbers = [int(name[5:7]) for name in taken if name.startswith(day) and name[5:7].isdigit()]
    return f"{day}{max(numbers, default=0) + 1:02d}{secrets.token_hex(1)}"


def _proposal(name: str, shape: Any) -> Proposal:
    if shape["by"] not in ("agent", "sleep"):
        raise ValueError(shape["by"])
    return Proposal(
        id=name,
        ts=str(shape["ts"]),
        by=shape["by"],
        turn=str(shape["turn"]),
        reasons=tuple(map(str, shape["reasons"])),
        edits=tuple(CoreEdit.from_dict(one) for one in shape["edits"]),
        sources=tuple(map(str, shape["sources"])),
    )
