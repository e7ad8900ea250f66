"""The systems by name."""

from __future__ import annotations

from fsagent.bench.systems.base import Setup, System
from fsagent.errors import ConfigError

SYSTEM_NAMES = (
    "agent",
    "search",
    "bm25",
    "bm25-session",
    "grep",
    "embeddings",
    "full-context",
    "no-memory",
    "oracle",
)


_PLAIN = {"full-context": "FullContext", "no-memory": "NoMemory", "oracle": "Oracle"}


def make_system(name: str, setup: Setup) -> System:
    """Return the system of that name for one sample. Raises `ConfigError` for another name."""
    if name == "agent":
        from fsagent.bench.systems.agent import AgentSystem

        return AgentSystem(setup)
    if name in ("search", "grep"):
        from fsagent.bench.systems.searches import GrepSystem, SearchSystem

        return SearchSystem(setup) if name == "search" else GrepSystem(setup)
    if name in ("bm25", "bm25-session"):
        from fsagent.bench.systems.bm25 import SessionBM25, TurnBM25

        return TurnBM25(setup) if name == "bm25" else SessionBM25(setup)
    if name == "embeddings":
        from fsagent.bench.systems.embeddings import Embeddings

        return Embeddings(setup)
    if name in _PLAIN:
        from fsagent.bench.systems import plain

        plain_system: System = getattr(plain, _PLAIN[name])(setup)
        return plain_system
    raise ConfigError(f"no system {name!r}; there are {', '.join(SYSTEM_NAMES)}")
