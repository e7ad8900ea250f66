"""The values that travel between the parts: messages, tool calls, hits, answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "unknown"]

Clock = Callable[[], datetime]
"""Returns the aware datetime of now."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as it stands on the wire. `arguments` is the raw JSON text, not yet checked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat completion."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool. `parameters` is a JSON schema of type object.

    `finds` marks a tool that looks things up by words and changes nothing: a model that has to be
    led is led to one of these first.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    finds: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server reported them; None means unknown (a reported zero is unknown too).

    `estimated` says that at least one count is our estimate.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    estimated: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.prompt_tokens, other.prompt_tokens),
            _sum(self.completion_tokens, other.completion_tokens),
            _sum(self.cached_tokens, other.cached_tokens),
            self.estimated or other.estimated,
        )

    def or_estimate(self, prompt_tokens: int, completion_tokens: int) -> Usage:
        """Return the usage with what was not reported estimated."""
        if self.prompt_tokens and self.completion_tokens:
            return self
        return Usage(
            self.prompt_tokens or prompt_tokens,
            self.completion_tokens or completion_tokens,
            self.cached_tokens,
            True,
        )

    @classmethod
    def from_dict(cls, shape: Mapping[str, Any]) -> Usage:
        """Return a usage of its JSON shape, `estimated` with it where it stands there."""
        return cls(
            shape.get("prompt_tokens"),
            shape.get("completion_tokens"),
            shape.get("cached_tokens"),
            bool(shape.get("estimated")),
        )

    def as_dict(self) -> dict[str, int | None]:
        """Return the JSON shape of a usage."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_tokens": self.cached_tokens,
        }


def _sum(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply to one request.

    `calls_were_cut` says that it began tool calls which its token limit cut off; none of them is
    in the message.
    """

    message: Message
    finish_reason: FinishReason = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    calls_were_cut: bool = False


class Model(Protocol):
    """The thing that answers.

    `on_text` receives the visible text in pieces as it streams; the whole text is in the
    completion too. Raises `ModelError` and nothing else for a failure of the model's side.
    """

    @property
    def name(self) -> str: ...

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion: ...


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result, the same in `--json` and in the Python API.

    `line` is the file's own 1-based number; `text` is the line as `open` shows it, clipped;
    `ts` is ISO 8601 with offset and `speaker` the speaker's name, both for recall only.
    `score` is None for grep.
    """

    path: str
    line: int
    text: str
    ts: str | None = None
    speaker: str | None = None
    score: float | None = None
    clipped_line: bool = False
    before: tuple[tuple[int, str], ...] = ()
    after: tuple[tuple[int, str], ...] = ()
    features: Mapping[str, float] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of a hit."""
        shape: dict[str, Any] = {
            "path": self.path,
            "line": self.line,
            "text": self.text,
            "ts": self.ts,
            "speaker": self.speaker,
            "score": self.score,
        }
        if self.before or self.after:
            shape["before"] = [list(pair) for pair in self.before]
            shape["after"] = [list(pair) for pair in self.after]
        if self.features is not None:
            shape["features"] = dict(self.features)
        return shape


@dataclass(frozen=True, slots=True)
class HitPage:
    """A page of hits with honest flags.

    `total` counts every hit where it is known (None where the scan stopped at the page);
    `next` is the literal tool call for the next page, or None; `notes` are sentences a reader
    needs (terms that matched nothing, files skipped).
    """

    hits: tuple[Hit, ...] = ()
    total: int | None = 0
    clipped_hits: bool = False
    timed_out: bool = False
    next: str | None = None
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of a page."""
        return {
            "hits": [hit.as_dict() for hit in self.hits],
            "total": self.total,
            "clipped_hits": self.clipped_hits,
            "timed_out": self.timed_out,
            "next": self.next,
            **({"notes": list(self.notes)} if self.notes else {}),
        }


@dataclass(frozen=True, slots=True)
class Citation:
    """A line of memory that an answer rests on."""

    path: str
    line: int
    text: str

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of a citation."""
        return {"path": self.path, "line": self.line, "text": self.text}


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of a turn. `stop` names why it ended: answered, max_steps, ..."""

    text: str
    citations: tuple[Citation, ...] = ()
    steps: int = 0
    tool_calls: int = 0
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    turn: str = ""
    stop: str = "answered"

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of `fsagent ask --json`."""
        return {
            "answer": self.text,
            "citations": [citation.as_dict() for citation in self.citations],
            "steps": self.steps,
            "tool_calls": self.tool_calls,
            "usage": self.usage.as_dict(),
            "model": self.model,
            "turn": self.turn,
            "stop": self.stop,
        }
