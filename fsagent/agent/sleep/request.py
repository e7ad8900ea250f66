"""What a sleep asks its model, and the edits it reads out of the reply."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from fsagent.agent.prompts import render_block
from fsagent.agent.sleep.material import Said
from fsagent.errors import BadArguments, MalformedResponse
from fsagent.memory.core import Block
from fsagent.memory.edits import OPS, CoreEdit
from fsagent.tokens import estimate_message, estimate_request
from fsagent.types import Completion, Message, Model, ToolSpec, Usage

TOOL = "memory_patch"
MOST_EDITS = 60
_TRIES = 2
_NUDGE = (
    "Your reply could not be used: {problem}. Reply with one call of memory_patch and nothing else; "
    'an empty list of edits, {{"edits": []}}, means that there is nothing to keep.'
)

SPEC = ToolSpec(
    TOOL,
    "Propose edits of core memory. An empty list means that there is nothing to keep.",
    {
        "type": "object",
        "properties": {
            "edits": {
                "type": "array",
                "description": "The edits, at most one for each fact.",
                "items": {
                    "type": "object",
                    "properties": {
                        "op": {
                            "type": "string",
                            "enum": list(OPS),
                            "description": "add a line; replace a line (empty new: remove it); "
                            "archive a line that is rarely needed.",
                        },
                        "block": {
                            "type": "string",
                            "description": "The block's label, e.g. human.",
                        },
                        "old": {
                            "type": "string",
                            "description": "The whole line as it stands now; empty for add.",
                        },
                        "new": {
                            "type": "string",
                            "description": "The new line, absolute dates, e.g. `- Lives in Porto.`",
                        },
                        "cites": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": 'The lines that say so, e.g. ["2026-11-29:14"].',
                        },
                    },
                    "required": ["op", "block", "old", "new", "cites"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["edits"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class Proposed:
    """The edits of one reply, and what the requests for it cost. `malformed` counts what was no edit."""

    edits: tuple[CoreEdit, ...]
    usage: Usage
    model: str
    malformed: tuple[str, ...] = ()


def request_messages(
    prompt: str, now: datetime, blocks: Iterable[Block], lines: Sequence[Said]
) -> list[Message]:
    """Return the messages of one request."""
    shown = "\n".join(render_block(block) for block in blocks)
    said = "\n".join(line.shown() for line in lines)
    text = f"Now: {now:%Y-%m-%d %H:%M %A}\n\n# Core memory\n{shown}\n\n# Said since the last sleep\n{said}"
    return [Message("system", prompt), Message("user", text)]


def propose(model: Model, messages: Sequence[Message], spend: Callable[[Usage], None]) -> Proposed:
    """Ask for edits, once more where the reply cannot be read.

    `spend` is told of each request's cost. Raises `ModelError`; `MalformedResponse` where no reply
    was a whole patch. Nothing is ever taken from a reply that was cut.
    """
    asked, usage, problem = list(messages), Usage(), ""
    for _ in range(_TRIES):
        completion = model.complete(asked, [SPEC])
        used = _counted(completion, asked)
        spend(used)
        usage += used
        try:
            edits, malformed = read_patch(completion)
        except BadArguments as err:
            problem = str(err)
            asked = [*messages, Message("user", _NUDGE.format(problem=problem))]
        else:
            return Proposed(edits, usage, completion.model or model.name, malformed)
    raise MalformedResponse(f"the model gave no patch that can be read: {problem}")


def _counted(completion: Completion, asked: Sequence[Message]) -> Usage:
    """Return a request's usage, estimated where the server reported none."""
    usage = completion.usage
    return Usage(
        usage.prompt_tokens or estimate_request(asked, [SPEC]),
        usage.completion_tokens or estimate_message(completion.message),
        usage.cached_tokens,
    )


def read_patch(completion: Completion) -> tuple[tuple[CoreEdit, ...], tuple[str, ...]]:
    """Return a reply's edits, and what in it was no edit. Raises `BadArguments` for no whole patch."""
    if completion.finish_reason in ("length", "content_filter"):
        raise BadArguments(f"it was cut ({completion.finish_reason})")
    calls = [call for call in completion.message.tool_calls if call.name == TOOL]
    if not calls:
        raise BadArguments(f"it does not call {TOOL}")
    edits: list[CoreEdit] = []
    malformed: list[str] = []
    for call in calls:
        for shape in _listed(call.arguments):
            try:
                edits += _split(CoreEdit.from_dict(shape))
            except BadArguments as err:
                malformed.append(str(err))
    if len(edits) > MOST_EDITS:
        raise BadArguments(f"it holds {len(edits)} edits; at most {MOST_EDITS} are taken")
    return tuple(dict.fromkeys(edits)), tuple(malformed)


def _listed(arguments: str) -> list[object]:
    try:
        shape = json.loads(arguments)
    except (ValueError, RecursionError) as err:
        raise BadArguments(f"its arguments are not JSON ({err})") from err
    edits = shape.get("edits") if isinstance(shape, Mapping) else None
    if isinstance(edits, str):
        return _listed(json.dumps({"edits": _loaded(edits)}))
    if not isinstance(edits, list):
        raise BadArguments("its arguments are not an object with a list of edits")
    return edits


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _split(edit: CoreEdit) -> list[CoreEdit]:
    """Return an added text of several lines as an edit a line."""
    lines = [line for line in edit.new.splitlines() if line.strip()]
    if edit.op != "add" or len(lines) < 2:
        return [edit]
    return [replace(edit, new=line) for line in lines]
