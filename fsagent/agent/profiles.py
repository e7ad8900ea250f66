"""The two profiles: which tools a model has, which prompt, and when a turn goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fsagent.errors import ConfigError, ToolError
from fsagent.tools.files import FileTools
from fsagent.tools.memory import MemoryTools
from fsagent.tools.schema import Tool
from fsagent.tools.scope import Scope
from fsagent.types import ToolCall, ToolSpec

HEARTBEAT = "request_heartbeat"
SEND_MESSAGE = "send_message"
WRITING_TOOLS = frozenset({"core_memory_append", "core_memory_replace", "archival_memory_insert"})

_HEARTBEAT_SCHEMA: Mapping[str, Any] = {
    "type": "boolean",
    "description": "True to go on after this call's result, false to end your turn.",
}


@dataclass(frozen=True, slots=True)
class Profile:
    """A tool set, a prompt, and a rule for going on.

    With `heartbeats` a call says by `request_heartbeat` whether the turn goes on, and only
    `send_message` speaks; without, a tool call goes on and text ends the turn.
    """

    name: str
    tools: Callable[[Scope], list[Tool]]
    heartbeats: bool = False

    @property
    def prompt(self) -> str:
        """The name of its prompt under `prompts/`."""
        return self.name


@dataclass(frozen=True, slots=True)
class Done:
    """One call that has its result. `heartbeat` is None where the model did not say it."""

    call: ToolCall
    failed: bool
    heartbeat: bool | None


def goes_on(done: Sequence[Done], *, silent: bool) -> bool:
    """Say whether a turn goes on after its calls; `silent` where nothing was said to the person yet.

    A call may ask for it; a failure does, and with nothing said yet a write.
    """
    return any(
        one.heartbeat
        or one.failed
        or (silent and (one.heartbeat is None or one.call.name in WRITING_TOOLS))
        for one in done
    )


def profile_named(name: str) -> Profile:
    """Return a profile. Raises ConfigError naming those there are."""
    if name not in _PROFILES:
        raise ConfigError(f"profile {name!r} is unknown; write one of: {', '.join(_PROFILES)}")
    return _PROFILES[name]


def send_message(message: str) -> str:
    """Speak to the person. Nothing else you write reaches them.

    Args:
        message: What you say, e.g. `You moved to Oslo in May 2026. [2026-05-09:14]`.
    """
    if not message.strip():
        raise ToolError("Nothing was sent: the message is empty. Write what you say.")
    return "Sent."


def with_heartbeat(specs: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """Return the specs with `request_heartbeat` on every tool."""
    return tuple(_with_parameter(spec) for spec in specs)


def take_heartbeat(call: ToolCall) -> tuple[ToolCall, bool | None]:
    """Return the call without its heartbeat, and the heartbeat; None where it was not said."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call, None
    if not isinstance(arguments, dict) or HEARTBEAT not in arguments:
        return call, None
    asked = arguments.pop(HEARTBEAT)
    plain = replace(call, arguments=json.dumps(arguments, ensure_ascii=False))
    return plain, asked if isinstance(asked, bool) else str(asked).lower() == "true"


def short_specs(specs: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """Return the specs for a small window: the first sentence, parameters without prose."""
    return tuple(_short(spec) for spec in specs)


def _filesystem(scope: Scope) -> list[Tool]:
    memory = MemoryTools(scope)
    return [*FileTools(scope).tools(), *memory.core_tools(), memory.archival_memory_insert]


def _memgpt(scope: Scope) -> list[Tool]:
    memory = MemoryTools(scope)
    return [
        send_message,
        *memory.core_tools(),
        *memory.archival_tools(),
        *memory.recall_tools(),
    ]


_PROFILES: Mapping[str, Profile] = {
    "filesystem": Profile("filesystem", _filesystem),
    "memgpt": Profile("memgpt", _memgpt, heartbeats=True),
}


def _with_parameter(spec: ToolSpec) -> ToolSpec:
    schema = dict(spec.parameters)
    schema["properties"] = {**schema["properties"], HEARTBEAT: dict(_HEARTBEAT_SCHEMA)}
    schema["required"] = [*schema["required"], HEARTBEAT]
    return replace(spec, parameters=schema)


def _short(spec: ToolSpec) -> ToolSpec:
    schema = dict(spec.parameters)
    schema["properties"] = {
        name: {
            key: value for key, value in property.items() if key not in ("description", "default")
        }
        for name, property in schema["properties"].items()
    }
    sentence = spec.description.partition("\n")[0]
    return replace(spec, description=sentence, parameters=schema)
