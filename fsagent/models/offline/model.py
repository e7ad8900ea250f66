"""The embedded model: decides what to search, what to open and what to answer, without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fsagent.models.offline.answer import Reply, answer
from fsagent.models.offline.asked import Asked
from fsagent.models.offline.asked import asked as asked_attribute
from fsagent.models.offline.evidence import Evidence, read_context, read_evidence
from fsagent.models.offline.known import (
    Known,
    answer_known,
    core_facts,
    names_of,
    stated_in,
    states_again,
)
from fsagent.models.offline.question import Question, analyse, is_question
from fsagent.models.offline.reader import ranked
from fsagent.models.offline.sleep import TOOL as SLEEP_TOOL
from fsagent.models.offline.sleep import edits_of
from fsagent.tokens import estimate_message, estimate_request
from fsagent.types import Completion, FinishReason, Message, ToolCall, ToolSpec, Usage

SEARCH_LIMIT = 20
OPENED = 3  # windows opened around the best hits
AROUND = 3  # lines above and below a hit in such a window
_SEARCHES = ("search_files", "conversation_search")
_WHO = re.compile(
    r"\b(?:who|what) (?:model )?are you\b|\bare you (?:a|an) (?:model|ai|bot|llm)", re.I
)
_GREETING = re.compile(r"(?:hi|hello|hey|good (?:morning|afternoon|evening))\b[^?]{0,30}$", re.I)
_THANKS = re.compile(r"(?:thanks|thank you|thx|cheers|bye|goodbye|good night)\b[^?]{0,40}$", re.I)
_MARKED = re.compile(r"^\W*question:\W*(.+)$", re.IGNORECASE | re.MULTILINE)
_ABOUT = (
    "I am the offline model of fsagent: a small set of rules without a network. "
    "I search this memory, open what I find, and answer with its lines."
)


class Offline:
    """A model in the sense of `fsagent.types.Model` that runs on rules alone.

    It keeps nothing between calls: what it does next follows from the messages since the last
    user message, so that the same messages always give the same completion.
    """

    name = "offline"

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """Return the next tool calls or the reply."""
        asked, since = _turn(messages)
        offered = {spec.name: spec for spec in tools}
        step = sum(bool(m.tool_calls) for m in since)
        if SLEEP_TOOL in offered:
            # Only a sleep offers this tool: its request is data, never a question to answer.
            decided: str | list[_Call] = [(SLEEP_TOOL, {"edits": edits_of(asked)})]
        else:
            decided = _decide(asked, since, offered, messages)
        if isinstance(decided, list) or "send_message" in offered:
            calls = decided if isinstance(decided, list) else _speak(decided, offered, since)
            message = Message("assistant", "", tool_calls=_numbered(calls, step, offered))
        else:
            message = Message("assistant", decided)
            _stream(decided, on_text)
        return _completion(message, messages, tools)


_Call = tuple[str, dict[str, Any]]


def _decide(
    asked: str,
    since: list[Message],
    offered: Mapping[str, ToolSpec],
    messages: Sequence[Message],
) -> str | list[_Call]:
    """Return the text to say, or the tools to call first."""
    instruction, text = _split_context(asked)
    # Only the question counts: a context may well hold the words "what are you".
    if small := _small_talk(text):
        return small
    if not (is_question(text) or _MARKED.search(instruction)):
        return "Noted."
    question = analyse(text)
    search = next((name for name in _SEARCHES if name in offered), None)
    if search is None:
        return str(answer(question, ranked(question, read_context(instruction))))
    wanted, core = asked_attribute(question.text), core_facts(messages)
    # What was stated again in this conversation may be newer than core: then it is searched.
    in_core = None if wanted and states_again(_before(messages), wanted) else _known(wanted, core)
    evidence = read_evidence(since)
    if in_core is None and (calls := _next_calls(question, evidence, since, offered, search)):
        return calls
    return str(in_core or _known(wanted, core, evidence) or answer(question, evidence))


def _known(
    wanted: Asked | None, core: Sequence[Known], evidence: Evidence | None = None
) -> Reply | None:
    """Return the attribute that is asked for, out of core and what was stated in the evidence."""
    if wanted is None:
        return None
    people = names_of(core, wanted)
    stated = stated_in(evidence, own=not wanted.owner) if evidence else ()
    return answer_known(wanted, [*core, *stated], people)


def _next_calls(
    question: Question,
    evidence: Evidence,
    since: list[Message],
    offered: Mapping[str, ToolSpec],
    search: str,
) -> list[_Call]:
    """Search; search again with fewer words if that found nothing; open around the best hits."""
    called = [call for message in since for call in message.tool_calls]
    tried = [query for call in called if call.name == search for query in [_query(call)]]
    for query in (question.text, " ".join(question.terms)):
        if not tried or (not evidence.lines and query not in tried):
            return [(search, {"query": query, "limit": SEARCH_LIMIT})]
    if "open" in offered and evidence.hits() and not any(call.name == "open" for call in called):
        return [
            (
                "open",
                {
                    "path": hit.path,
                    "start": max(1, hit.number - AROUND),
                    "end": hit.number + AROUND,
                },
            )
            for hit in evidence.hits()[:OPENED]
        ]
    return []


def _query(call: ToolCall) -> str:
    try:
        return str(json.loads(call.arguments).get("query", ""))
    except (ValueError, AttributeError):
        return ""


def _turn(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """Return the last user message and what came after it."""
    last = max((i for i, m in enumerate(messages) if m.role == "user"), default=-1)
    return (messages[last].content if last >= 0 else ""), list(messages[last + 1 :])


def _before(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages before the last user message."""
    last = max((i for i, m in enumerate(messages) if m.role == "user"), default=0)
    return messages[:last]


def _split_context(asked: str) -> tuple[str, str]:
    """Return the context that a message carries, and the question at its end."""
    lines = [line for line in asked.strip().splitlines() if line.strip()] or [""]
    marked = [match[1] for line in lines if (match := _MARKED.match(line))]
    if marked:
        return asked, marked[-1]
    return asked, next((line for line in reversed(lines) if is_question(line)), lines[-1])


def _small_talk(asked: str) -> str | None:
    text = asked.strip().rstrip("!. ")
    if _WHO.search(text):
        return _ABOUT
    if _GREETING.fullmatch(text):
        return "Hello! Tell me something to remember, or ask me about what you told me."
    if _THANKS.fullmatch(text):
        return "You're welcome."
    return None


def _speak(text: str, offered: Mapping[str, ToolSpec], since: list[Message]) -> list[_Call]:
    """Say `text` with `send_message`, once; after that the turn is over."""
    said = any(call.name == "send_message" for message in since for call in message.tool_calls)
    return [] if said else [("send_message", {"message": text})]


def _numbered(
    calls: list[_Call], step: int, offered: Mapping[str, ToolSpec]
) -> tuple[ToolCall, ...]:
    """Give each call its id, and a heartbeat where the profile asks for one."""
    made = []
    for place, (name, arguments) in enumerate(calls):
        if "request_heartbeat" in offered[name].parameters.get("properties", {}):
            arguments["request_heartbeat"] = name != "send_message"
        text = json.dumps(arguments, ensure_ascii=False)
        made.append(ToolCall(f"call_{step + 1}_{place + 1}", name, text))
    return tuple(made)


def _stream(text: str, on_text: Callable[[str], None] | None) -> None:
    if on_text:
        for piece in re.findall(r"\S+\s*|\s+", text):
            on_text(piece)


def _completion(
    message: Message, messages: Sequence[Message], tools: Sequence[ToolSpec]
) -> Completion:
    reason: FinishReason = "tool_calls" if message.tool_calls else "stop"
    usage = Usage(estimate_request(messages, tools), estimate_message(message))
    return Completion(message, reason, usage, Offline.name)


__all__ = ["Offline", "Reply"]
