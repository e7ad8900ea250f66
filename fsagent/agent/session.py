"""What lives from turn to turn: one conversation of an agent with its model, tools and window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fsagent.agent.budget import Budget
from fsagent.agent.compaction import Summarise
from fsagent.agent.context import Context
from fsagent.agent.profiles import Profile
from fsagent.agent.recorder import Recorder
from fsagent.config import Settings
from fsagent.memory.workspace import Workspace
from fsagent.tools.registry import Toolbox
from fsagent.tools.scope import Scope
from fsagent.types import Message, Model


@dataclass(slots=True)
class Session:
    """The parts a turn works with, and the little that outlives it.

    `frozen` holds the values of the core blocks as the system prompt shows them; `outside` is the
    diff of what others edited since the last turn, while a turn is under way. `foreign_tools` are
    those that are not the profile's. `tainted` holds by turn the untrusted text it was shown,
    `summary_sources` what of it went into the summary, `before` what the last turn was shown (None:
    not looked up yet).
    """

    id: str
    workspace: Workspace
    settings: Settings
    model: Model
    heartbeat_model: Model | None
    profile: Profile
    toolbox: Toolbox
    scope: Scope
    context: Context
    recorder: Recorder
    budget: Budget
    summarise: Summarise
    frozen: Mapping[str, str]
    used_ids: set[str] = field(default_factory=set)
    outside: str = ""
    foreign_tools: frozenset[str] = frozenset()
    tainted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    summary_sources: tuple[str, ...] = ()
    before: tuple[str, ...] | None = None

    def with_own_ids(self, message: Message) -> Message:
        """Return the message with call ids that are new to this session.

        Some servers number their calls anew in every reply; a result is then told from an older
        one by nothing, and the window of an older call would be closed in its place.
        """
        if not message.tool_calls:
            return message
        calls = []
        for call in message.tool_calls:
            name, number = call.id or "call", len(self.used_ids)
            while name in self.used_ids:
                number += 1
                name = f"{call.id or 'call'}-{number}"
            self.used_ids.add(name)
            calls.append(replace(call, id=name))
        return replace(message, tool_calls=tuple(calls))
