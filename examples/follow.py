"""Follow a turn as it happens: text in pieces, each tool call in one line. Runs without a key.

python examples/follow.py [FOLDER]
"""

from __future__ import annotations

import sys
import tempfile

from fsagent import Agent, Workspace
from fsagent.agent.events import Finished, TextDelta, ToolFinished, ToolStarted


def main(folder: str) -> None:
    """Put a document into memory and ask about it."""
    with Workspace.init(folder) as workspace:
        path = workspace.archival.import_document(
            "boat.md", b"# The boat\n\nThe boat is called Havella.\nIt was built in 1974.\n"
        )
        print(f"imported {path}")
        with Agent(workspace, model="offline") as agent:
            for event in agent.stream("What is the boat called?"):
                match event:
                    case ToolStarted(summary=summary):
                        print(f"> {summary}")
                    case ToolFinished(summary=summary, failed=failed):
                        print(f"  {'failed: ' if failed else ''}{summary}")
                    case TextDelta(text=text):
                        print(text, end="")
                    case Finished(answer=answer):
                        print(f"\n({answer.stop}, cites {len(answer.citations)})")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
