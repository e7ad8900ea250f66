"""Tell an agent something, and ask for it in another conversation. Runs without a key.

python examples/remember.py [FOLDER]
"""

from __future__ import annotations

import sys
import tempfile

from fsagent import Agent, Workspace


def main(folder: str) -> None:
    """Talk twice with the memory in `folder`."""
    with Workspace.init(folder) as workspace:
        with Agent(workspace, model="offline") as agent:
            agent.run("I adopted a puppy called Rex in May 2026.")

        # Another agent, another conversation: what it knows is in the folder.
        with Agent(workspace, model="offline") as agent:
            answer = agent.run("What is my puppy called?")

    print(answer.text)
    for citation in answer.citations:
        print(f"  {citation.path}:{citation.line}  {citation.text}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
