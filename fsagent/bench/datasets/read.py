"""Read a benchmark's file by the name of its format."""

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


def read_dataset(path: Path, format: str = "locomo") -> Dataset:
    """Return the data set at `path`. Raises `ConfigError` for a file of another shape."""
    if format not in FORMATS:
        raise ConfigError(f"no format {format!r}; there are {', '.join(FORMATS)}")
    return FORMATS[format](path)
