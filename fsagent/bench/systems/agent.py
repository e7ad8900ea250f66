"""`agent`: our agent itself, with its tools on the sample's workspace, a new one for each question.

What it was shown by its tools, in order, stands for what it retrieved. Questions go into a trace,
never into recall; a store that a question has changed all the same is thrown away and laid anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fsagent.agent.loop import Agent
from fsagent.bench.ingest import Store, open_store
from fsagent.bench.systems.base import Response, Setup
from fsagent.bench.systems.shown import shown_turns
from fsagent.memory.recall import Reference
from fsagent.types import Message, Usage

WRITING_TOOLS = frozenset({"core_memory_append", "core_memory_replace", "archival_memory_insert"})
_CITATION = re.compile(r"\s*\[(?:\d{4}-\d\d-\d\d|[\w./-]+\.\w+):\d+(?:-\d+)?\]")


class AgentSystem:
    """The agent on one sample."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._laid = 0
        self._store = self._lay()

    def respond(self, question: str) -> Response:
        """Let the agent answer. Raises `ModelError` where its model fails."""
        recorder = TraceRecorder()
        try:
            with Agent(
                self._store.workspace,
                self._setup.make_model(),
                profile=self._setup.settings.profile,
                recorder=recorder,
                settings=self._store.workspace.settings,
            ) as agent:
                answer = agent.run(question)
        finally:
            if recorder.wrote:
                self._store.close()
                self._store = self._lay()
        ranked = shown_turns(recorder.results, self._store.dia_ids)
        return Response(
            ranked=ranked.dia_ids,
            tokens=ranked.tokens,
            shown=ranked.dia_ids,
            context="\n".join(recorder.results),
            shown_tokens=ranked.total_tokens,
            answer=_CITATION.sub("", answer.text).strip(),
            tool_calls=answer.tool_calls,
            usage=answer.usage,
            trace=tuple(recorder.events),
        )

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def _lay(self) -> Store:
        """Return a fresh store whose prompt says how this run wants its answers."""
        self._laid += 1
        store = open_store(
            self._setup.sample, self._setup.folder / f"store-{self._laid}", self._setup.settings
        )
        if self._setup.style:
            path = f"prompts/{self._setup.settings.profile}.md"
            prompt = store.workspace.tree.read_text(path)
            text = f"{prompt.rstrip()}\n\n{self._setup.style}\n"
            store.workspace.tree.replace(path, text.encode("utf-8"))
        return store


class TraceRecorder:
    """Keeps a turn's messages here, so that nothing of it reaches recall."""

    def __init__(self) -> None:
        self.events: list[Mapping[str, Any]] = []
        self.results: list[str] = []
        self.wrote = False

    def begin(self, turn: str, message: Message) -> Reference | None:
        """Keep the question."""
        self._keep(message)
        return None

    def message(
        self,
        turn: str,
        message: Message,
        *,
        model: str | None = None,
        usage: Usage | None = None,
        source: str | None = None,
    ) -> Reference | None:
        """Keep a message; a tool's result is what the agent was shown."""
        self._keep(message)
        if message.role == "tool":
            self.results.append(message.content)
        self.wrote |= any(call.name in WRITING_TOOLS for call in message.tool_calls)
        return None

    def mark(
        self,
        turn: str,
        kind: str,
        facts: Mapping[str, Any],
        *,
        model: str | None = None,
        usage: Usage | None = None,
    ) -> Reference | None:
        """Keep what happened beside the messages."""
        self.events.append({"kind": kind, **facts})
        return None

    def end(self, turn: str, stop: str) -> None:
        """Keep why the turn ended."""
        self.events.append({"kind": "end", "stop": stop})

    def _keep(self, message: Message) -> None:
        from fsagent.bench.worker import message_event

        self.events.append(message_event(message))
