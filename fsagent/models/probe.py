"""Try out what an endpoint can do, with a handful of small requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fsagent.errors import ModelError
from fsagent.models.openai_chat import OpenAIChat
from fsagent.models.trial import ASK_ONE, ASK_TWO, WEATHER
from fsagent.types import Completion, Message, Model

_HELLO = (Message("user", "Say hello."),)
_IN_A_ROW = (Message("system", "Be brief."), Message("user", "I am Ada."), *_HELLO)
_SIZES = ("n_ctx", "max_model_len", "context_length", "loaded_context_length", "max_context_length")


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """One thing that was tried. `ok` is None where it could not be told."""

    name: str
    ok: bool | None
    detail: str

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of a result."""
        return {"name": self.name, "ok": self.ok, "detail": self.detail}


def probe(model: Model) -> list[ProbeResult]:
    """Try the endpoint of a model; about eight small requests. What it refuses is learned.

    The first one finds out whether the endpoint answers at all; without an answer it is the
    only result.
    """
    if not isinstance(model, OpenAIChat):
        return [ProbeResult("endpoint", None, f"{model.name} has none: nothing to try")]
    first = _tried("streaming", lambda: _streaming(model))
    if first.ok is False:
        return [first]
    checks: Iterable[tuple[str, Callable[[], ProbeResult]]] = (
        (
            "token parameter",
            lambda: _parameter("token parameter", model.varied(max_tokens=16), "max_tokens"),
        ),
        (
            "temperature",
            lambda: _parameter("temperature", model.varied(temperature=0.0), "temperature"),
        ),
        ("message order", lambda: _order(model)),
        ("tools", lambda: _tools(model)),
        ("parallel calls", lambda: _parallel(model)),
        ("JSON schema", lambda: _schema(model)),
        ("context size", lambda: _context(model)),
    )
    return [first, *(_tried(name, check) for name, check in checks)]


def _tried(name: str, check: Callable[[], ProbeResult]) -> ProbeResult:
    try:
        return check()
    except ModelError as err:
        return ProbeResult(name, False, str(err))


def _streaming(model: OpenAIChat) -> ProbeResult:
    pieces: list[str] = []
    completion = model.complete(_HELLO, on_text=pieces.append)
    if not model.quirks.stream:
        return ProbeResult("streaming", None, "refused; replies come whole")
    counted = "reported" if completion.usage.prompt_tokens else "not reported, so estimated"
    return ProbeResult("streaming", True, f"{len(pieces)} pieces; usage {counted}")


def _parameter(name: str, model: OpenAIChat, parameter: str) -> ProbeResult:
    model.complete(_HELLO)
    quirks = model.quirks
    if parameter in quirks.dropped:
        return ProbeResult(name, False, f"{parameter} refused; left out")
    return ProbeResult(name, True, quirks.renamed.get(parameter, parameter))


def _order(model: OpenAIChat) -> ProbeResult:
    model.complete(_IN_A_ROW)
    order = {
        "any": "messages in any order",
        "alternating": "refused two messages of one role in a row; they are joined",
        "no_system": "refused system messages; they are told as the user's",
    }
    roles = model.quirks.roles
    return ProbeResult("message order", roles == "any", order[roles])


def _tools(model: OpenAIChat) -> ProbeResult:
    native = model.varied(tool_mode="native", temperature=0.0)
    try:
        completion = native.complete(ASK_ONE, [WEATHER])
    except ModelError as err:
        model.learn(tools="json")
        return ProbeResult("tools", False, f"refused, so JSON mode drives it: {err}")
    if not completion.message.tool_calls:
        model.learn(tools="json")
        return ProbeResult("tools", False, "offered, but not called; JSON mode drives it")
    if native.last_calls_were_text:
        model.learn(tools="json")
        return ProbeResult("tools", False, "calls come as text; JSON mode drives it")
    model.learn(tools="native")
    (call, *_) = completion.message.tool_calls
    return ProbeResult("tools", True, f"native calls: {call.name}({call.arguments})")


def _parallel(model: OpenAIChat) -> ProbeResult:
    count = len(model.varied(temperature=0.0).complete(ASK_TWO, [WEATHER]).message.tool_calls)
    return ProbeResult("parallel calls", count > 1, f"{count} calls where 2 were asked for")


def _schema(model: OpenAIChat) -> ProbeResult:
    forced = model.varied(tool_mode="json", temperature=0.0)
    completion = forced.complete(ASK_ONE, [WEATHER])
    kind = model.quirks.response_format
    if kind == "none":
        return ProbeResult(
            "JSON schema", False, "no response_format taken; calls are read from text"
        )
    good = _fits(completion)
    return ProbeResult(
        "JSON schema", good and kind == "json_schema", f"{kind}, {_said(completion)}"
    )


def _fits(completion: Completion) -> bool:
    try:
        return [list(json.loads(one.arguments)) for one in completion.message.tool_calls] == [
            ["city"]
        ]
    except ValueError:
        return False


def _said(completion: Completion) -> str:
    calls = ", ".join(f"{one.name}({one.arguments})" for one in completion.message.tool_calls)
    return f"answered with {calls or repr(completion.message.content[:60])}"


def _context(model: OpenAIChat) -> ProbeResult:
    size = next(
        filter(None, (_size(one) for one in model.listed() if one.get("id") == model.name)), None
    )
    if size is None:
        size = model.quirks.context_tokens
    if size is None:
        return ProbeResult("context size", None, "not told; set context_tokens")
    model.learn(context_tokens=size)
    return ProbeResult("context size", True, f"{size} tokens")


def _size(listed: Mapping[str, Any]) -> int | None:
    meta = listed.get("meta")
    for place in (listed, meta if isinstance(meta, Mapping) else {}):
        for name in _SIZES:
            if isinstance(place.get(name), int):
                return int(place[name])
    return None
