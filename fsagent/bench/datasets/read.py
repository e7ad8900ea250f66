"""Read a benchmark's file by the name of its format, or by what it looks like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from fsagent.bench.datasets import folder, locomo, longmemeval, realtalk
from fsagent.bench.datasets.schema import Dataset
from fsagent.errors import ConfigError

FORMATS: Mapping[str, Callable[[Path], Dataset]] = {
    "locomo": locomo.load,
    "longmemeval": longmemeval.load,
    "realtalk": realtalk.load,
    "folder": folder.load,
}
AUTO = "auto"
_HEAD_BYTES = 1 << 16


def read_dataset(path: Path, format: str = AUTO) -> Dataset:
    """Return the data set at `path`. Raises `ConfigError` for a file of another shape."""
    if format not in (AUTO, *FORMATS):
        raise ConfigError(f"no format {format!r}; there are {', '.join((AUTO, *FORMATS))}")
    if not path.exists():
        raise ConfigError(
            f"there is no {path}; `fsagent bench fetch locomo` downloads LoCoMo's file, "
            "and --data names another"
        )
    return FORMATS[detect(path) if format == AUTO else format](path)


def detect(path: Path) -> str:
    """Return the format that a file or folder looks like; `locomo` where nothing tells."""
    if path.is_dir():
        # A folder of chats is REALTALK's; every other folder is to be one's own, and is told so.
        chats = not (path / folder.QUESTIONS).exists() and any(path.glob("*.json"))
        return "realtalk" if chats else "folder"
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return "locomo"  # its loader says why it cannot be read
    if b'"question_type"' in head or b'"haystack_sessions"' in head:
        return "longmemeval"
    return "realtalk" if b'"speaker_1"' in head else "locomo"
