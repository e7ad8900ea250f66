"""Data for the harness: LoCoMo where a copy is at hand, and a conversation of our own."""

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DEMO = REPOSITORY / "fsagent" / "demo" / "conversation.json"


@pytest.fixture(scope="session")
def locomo_file() -> Path:
    """The three conversations of LoCoMo; its licence keeps them out of the repository."""
    given = os.environ.get("FSAGENT_LOCOMO")
    path = (
        Path(given) if given else REPOSITORY.parent / "shared" / "data" / "locomo" / "locomo3.json"
    )
    if not path.exists():
        pytest.skip("no LoCoMo file; set FSAGENT_LOCOMO")
    return path


@pytest.fixture
def demo_file() -> Path:
    return DEMO
