"""Give the agent a tool of one's own: a typed function and nothing else.

A script stands in for a model here; with a key, pass its name instead: `model="gpt-4o-mini"`.

    python examples/own_tool.py [FOLDER]
"""

from __future__ import annotations

import sys
import tempfile

from fsagent import Agent, Workspace
from fsagent.errors import ToolError
from fsagent.models.scripted import Scripted, call

TIDES = {"Bodø": "high water at 14:20", "Svolvær": "high water at 14:05"}


def tide(place: str) -> str:
    """Tell when the tide is high today.

    Args:
        place: A harbour, e.g. `Bodø`.
    """
    if place not in TIDES:
        # The text of a ToolError is the tool's result: the model reads it and tries again.
        raise ToolError(f"No tide is known for {place!r}; known are {', '.join(TIDES)}.")
    return TIDES[place]


def main(folder: str) -> None:
    """Ask a question that needs the tool."""
    model = Scripted(
        [call("tide", place="Bodo"), call("tide", place="Bodø"), "High water is at 14:20."]
    )
    with Workspace.init(folder) as workspace, Agent(workspace, model, tools=[tide]) as agent:
        answer = agent.run("When is high water in Bodø?")
    print(f"{answer.text} ({answer.steps} steps, {answer.tool_calls} tool calls)")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
