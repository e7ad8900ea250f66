"""A model that replays a script: deterministic, and it remembers what it was asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from fsagent.errors import ConfigError, ModelError
from fsagent.types import Completion, FinishReason, Message, ToolCall, ToolSpec, Usage

Step = Completion | str | ModelError | Callable[["Request"], "Completion | str"]
"""One reply of a script: a completion, a text, an error to raise, or a function of the request."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the model was asked in one step."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]


class Scripted:
    """Answer each request with the next step of a script.

    `script` is a sequence of steps (a generator is read as it is needed), or the path of a YAML
    or JSON file. `requests` holds every request received. A request beyond the end of the script
    raises `ModelError`.
    """

    def __init__(self, script: Iterable[Step] | Path, *, name: str = "scripted") -> None:
        self._steps: Iterator[Step] = iter(
            read_script(script) if isinstance(script, Path) else script
        )
        self._name = name
        self.requests: list[Request] = []

    @property
    def name(self) -> str:
        return self._name

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """Return the next step's completion; its text streams word by word."""
        request = Request(tuple(messages), tuple(tools))
        self.requests.append(request)
        completion = self._next(request)
        if on_text is not None:
            for piece in re.findall(r"\S+\s*|\s+", completion.message.content):
                on_text(piece)
        return completion

    def _next(self, request: Request) -> Completion:
        count = len(self.requests)
        try:
            step = next(self._steps)
        except StopIteration:
            raise ModelError(
                f"The script is exhausted: it has {count - 1} replies and this is request {count}. "
                "Add a reply for it."
            ) from None
        if isinstance(step, ModelError):
            raise step
        made = step(request) if callable(step) else step
        completion = reply(made) if isinstance(made, str) else made
        return _numbered(completion, count, self._name)


def reply(
    text: str, *, finish_reason: FinishReason = "stop", usage: Usage | None = None
) -> Completion:
    """Return a completion that only says `text`."""
    return Completion(Message("assistant", text), finish_reason, usage or Usage())


def call(name: str, /, **arguments: Any) -> Completion:
    """Return a completion with one tool call."""
    return raw_call(name, json.dumps(arguments, ensure_ascii=False))


def raw_call(name: str, arguments: str, *, text: str = "") -> Completion:
    """Return a completion with one tool call whose arguments are this text, valid JSON or not."""
    message = Message("assistant", text, (ToolCall("", name, arguments),))
    return Completion(message, "tool_calls")


def calls(*completions: Completion) -> Completion:
    """Return one completion with the tool calls of all `completions`, in order (parallel calls)."""
    together = tuple(one for completion in completions for one in completion.message.tool_calls)
    return Completion(Message("assistant", "", together), "tool_calls")


def _numbered(completion: Completion, step: int, model: str) -> Completion:
    # Ids come from the position, so that the same script gives the same conversation every time.
    named = tuple(
        one if one.id else replace(one, id=f"call_{step}_{index}")
        for index, one in enumerate(completion.message.tool_calls, 1)
    )
    message = replace(completion.message, tool_calls=named)
    return replace(completion, message=message, model=completion.model or model)


def read_script(path: Path) -> list[Step]:
    """Read a script file: a YAML or JSON list of steps.

    A step is a text, or a mapping with `reply: TEXT`, `call: NAME` with `arguments: {...}`,
    `calls: [{name, arguments}, ...]` or `error: TEXT`; `finish_reason` and `usage` are optional.
    """
    import yaml

    try:
        steps = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise ConfigError(f"cannot read the script {path}: {err.strerror}") from err
    except (yaml.YAMLError, UnicodeDecodeError) as err:
        raise ConfigError(f"the script {path} is neither YAML nor JSON: {err}") from err
    if not isinstance(steps, list):
        raise ConfigError(
            f"the script {path} must be a list of replies, not {type(steps).__name__}"
        )
    return [_step(item, f"{path}, reply {number}") for number, item in enumerate(steps, 1)]


def _step(item: object, where: str) -> Step:
    if isinstance(item, str):
        return reply(item)
    if not isinstance(item, Mapping):
        raise ConfigError(f"{where}: write a text or a mapping, not {type(item).__name__}")
    if "error" in item:
        return ModelError(str(item["error"]))
    tool_calls = _tool_calls(item, where)
    if not tool_calls and "reply" not in item:
        raise ConfigError(f"{where}: it needs one of reply, call, calls, error")
    message = Message("assistant", str(item.get("reply", "")), tool_calls)
    finish = item.get("finish_reason", "tool_calls" if tool_calls else "stop")
    if finish not in get_args(FinishReason):
        raise ConfigError(f"{where}: finish_reason {finish!r} is none of {get_args(FinishReason)}")
    return Completion(message, finish, _usage(item.get("usage"), where))


def _tool_calls(item: Mapping[Any, Any], where: str) -> tuple[ToolCall, ...]:
    single = (
        [{"name": item["call"], "arguments": item.get("arguments", {})}] if "call" in item else []
    )
    listed = item.get("calls", single)
    if not isinstance(listed, list) or not all(
        isinstance(one, Mapping) and "name" in one for one in listed
    ):
        raise ConfigError(f"{where}: calls is a list of mappings with name and arguments")
    return tuple(
        ToolCall("", str(one["name"]), _arguments(one.get("arguments", {}))) for one in listed
    )


def _arguments(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _usage(value: object, where: str) -> Usage:
    if value is None:
        return Usage()
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where}: usage is a mapping with prompt_tokens and completion_tokens")
    return Usage(
        value.get("prompt_tokens"), value.get("completion_tokens"), value.get("cached_tokens")
    )
