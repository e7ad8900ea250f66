"""A patch that passed the gates: blocks' values before and after, and how far it has read."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fsagent.agent.sleep.gates import Verdict
from fsagent.errors import ConfigError
from fsagent.memory.accepting import NOTE


@dataclass(frozen=True, slots=True)
class Patch:
    """What a sleep would write. `moved` holds the lines that go to archival, by block.

    `slept` is the cursor's name in the commit, `seq` the cursor itself and
    `since` where it was before.
    """

    base: Mapping[str, str]
    values: Mapping[str, str]
    moved: Mapping[str, Sequence[str]]
    slept: str
    seq: int
    since: int
    verdicts: Sequence[Verdict] = field(default=())

    @property
    def changed(self) -> list[str]:
        """The labels of the blocks that it changes."""
        return [label for label, value in self.values.items() if value != self.base[label]]

    def growth(self, label: str) -> int:
        """Return how many bytes longer the patch leaves a block."""
        return len(self.values[label].encode()) - len(self.base[label].encode())

    def passed(self) -> list[Verdict]:
        """Return the verdicts on the edits that stand in it."""
        return [one for one in self.verdicts if one.outcome == "pass"]

    def refused(self) -> list[Verdict]:
        """Return the verdicts on the edits that wait for a person."""
        return [one for one in self.verdicts if one.outcome == "keep"]

    def then(self, later: Patch) -> Patch:
        """Return this patch and one made on top of it as one."""
        moved = {label: [*lines] for label, lines in self.moved.items()}
        for label, lines in later.moved.items():
            moved.setdefault(label, []).extend(lines)
        verdicts = [*self.verdicts, *later.verdicts]
        return Patch(self.base, later.values, moved, later.slept, later.seq, self.since, verdicts)

    def diff(self) -> str:
        """Return the change of the blocks as a unified diff."""
        parts: list[str] = []
        for label in self.changed:
            before, after = (text.split("\n") for text in (self.base[label], self.values[label]))
            path = f"core/{label}.md"
            parts += difflib.unified_diff(before, after, path, path, lineterm="", n=1)
        for label, lines in self.moved.items():
            parts += [f"+++ {NOTE.format(label=label)}", *(f"+{line}" for line in lines)]
        return "\n".join(parts)

    def as_json(self) -> bytes:
        """Return the patch as JSON, without its verdicts: what `sleep --apply` lands."""
        shape = {
            "base": dict(self.base),
            "values": dict(self.values),
            "moved": {label: list(lines) for label, lines in self.moved.items()},
            "slept": self.slept,
            "seq": self.seq,
            "since": self.since,
            "refused": [
                {"edit": one.edit.as_dict(), "reason": one.reason} for one in self.refused()
            ],
        }
        return json.dumps(shape, ensure_ascii=False).encode("utf-8", "replace")


def patch_of(data: bytes) -> Patch:
    """Return a patch of its JSON. Raises `ConfigError` for what is none."""
    from fsagent.memory.edits import CoreEdit

    try:
        shape: dict[str, Any] = json.loads(data)
        refused = [
            Verdict(CoreEdit.from_dict(one["edit"]), "keep", str(one["reason"]))
            for one in shape.pop("refused")
        ]
        return Patch(**shape, verdicts=refused)
    except (ValueError, TypeError, KeyError) as err:
        raise ConfigError(
            "the preview cannot be read; make it again: fsagent sleep --diff"
        ) from err
