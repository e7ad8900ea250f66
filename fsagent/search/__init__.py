"""Find things in a workspace: grep, and ranked search."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fsagent.search.ranked import Search

__all__ = ["Search"]


def __getattr__(name: str) -> Any:
    """Load the search when it is first used."""
    if name != "Search":
        raise AttributeError(f"module 'fsagent.search' has no attribute {name!r}")
    from fsagent.search.ranked import Search

    return Search
