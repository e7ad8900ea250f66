"""The run directory: what a run leaves; a kill at any moment loses the questions under way only.

run.json            manifest: commit, data, configuration and its hash, versions
ingest.jsonl        a line a sample: turns, bytes, seconds
predictions.jsonl   a line a question, appended durably as it is answered
judgements.jsonl    a line a verdict
traces/             every model and tool call, a file a question
summary.json        the figures
report.md           the figures to read
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fsagent.bench.ingest import folder_name
from fsagent.errors import ConfigError, CorruptFile, PathRejected
from fsagent.workspace.tree import MAX_WRITE_BYTES, Tree

Key = tuple[str, int]
Row = dict[str, Any]


class RunDirectory:
    """A run's folder, opened. Holds the run's lock while `locked`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._tree = Tree(root)

    @classmethod
    def create(cls, root: Path) -> RunDirectory:
        """Make the folder, or open an empty one. Raises `ConfigError` if a run is there already."""
        if (root / "run.json").exists():
            raise ConfigError(f"{root} holds a run already; add --resume, or choose another --out")
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as err:
            raise ConfigError(f"cannot make the run directory {root}: {err.strerror}") from err
        return cls(root)

    @classmethod
    def open(cls, root: Path) -> RunDirectory:
        """Open a run that is there. Raises `ConfigError` where there is none."""
        if not (root / "run.json").is_file():
            raise ConfigError(f"{root} is not a run directory: it has no run.json")
        return cls(root)

    def close(self) -> None:
        """Let go of the folder."""
        self._tree.close()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for one process; a second one gets `WorkspaceLocked`."""
        with self._tree.lock("run", timeout_s=1.0):
            yield

    def read_json(self, name: str) -> Row:
        """Return a JSON object of the run."""
        try:
            content = json.loads(self._tree.read_bytes(name))
        except ValueError as err:
            raise CorruptFile(name, f"not JSON: {err}") from err
        if not isinstance(content, dict):
            raise CorruptFile(name, "not a JSON object")
        return content

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a JSON object as a whole."""
        text = json.dumps(content, ensure_ascii=False, indent=1)
        self._tree.replace(name, (text + "\n").encode("utf-8", "replace"))

    def write_text(self, name: str, text: str) -> None:
        """Write a text file as a whole."""
        self._tree.replace(name, text.encode("utf-8", "replace"))

    def append(self, name: str, row: Mapping[str, Any]) -> None:
        """Append a row to a JSONL file; it is on disk when this returns."""
        self._tree.append(name, _line(row))

    def rows(self, name: str) -> list[Row]:
        """Return the rows of a JSONL file, none where it is missing.

        A last line without its end was cut by a kill: it is left out here, and cut off by `mend`.
        """
        try:
            data = self._tree.read_bytes(name, limit=1 << 30)
        except PathRejected as err:
            if err.code == "MISSING":
                return []
            raise
        return [_row(name, i, line) for i, line in enumerate(data.split(b"\n")[:-1], 1)]

    def mend(self, name: str) -> None:
        """Cut a torn last line off a JSONL file, so that the next append starts a line."""
        if not self._tree.exists(name):
            return
        data = self._tree.read_bytes(name, limit=1 << 30)
        if data and not data.endswith(b"\n"):
            self._tree.truncate(name, data.rfind(b"\n") + 1)

    def predictions(self) -> dict[Key, Row]:
        """Return the predictions by question; of several for one question the last counts."""
        return {(row["sample_id"], row["qa_index"]): row for row in self.rows("predictions.jsonl")}

    def settle(self, name: str, rows: Iterable[Row]) -> None:
        """Replace a JSONL file by these rows; one too large for a single write stays as it is.

        Either way a reader takes the last row of a question, so nothing depends on it.
        """
        data = b"".join(map(_line, rows))
        if len(data) <= MAX_WRITE_BYTES:
            self._tree.replace(name, data)

    def write_trace(self, key: Key, events: Iterable[Mapping[str, Any]]) -> None:
        """Write what happened while a question was answered."""
        name = f"traces/{folder_name(key[0])}/{key[1]:04d}.jsonl"
        self._tree.replace(name, b"".join(_line(event) for event in events))

    def read_trace(self, key: Key) -> list[Row]:
        """Return what happened while a question was answered, nothing where it was not kept."""
        return self.rows(f"traces/{folder_name(key[0])}/{key[1]:04d}.jsonl")


def _line(row: Mapping[str, Any]) -> bytes:
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def _row(name: str, number: int, line: bytes) -> Row:
    try:
        row = json.loads(line)
    except ValueError as err:
        raise CorruptFile(name, f"not JSON: {err}", line=number) from err
    if not isinstance(row, dict):
        raise CorruptFile(name, "not a JSON object", line=number)
    return row
