"""fsagent: an agent whose memory is a folder of plain files."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from fsagent.agent.loop import Agent
    from fsagent.memory.workspace import Workspace

__all__ = ["Agent", "Workspace", "__version__"]

_HOMES = {"Agent": "fsagent.agent.loop", "Workspace": "fsagent.memory.workspace"}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import fsagent` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'fsagent' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
