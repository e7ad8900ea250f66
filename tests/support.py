"""Names that tests share."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess

NOW = datetime(2026, 11, 29, 13, 56, tzinfo=UTC)
ROOT = Path(__file__).resolve().parent.parent

Run = Callable[..., CompletedProcess[str]]
"""Runs the real command line in a process of its own."""
