"""Read what a server says has gone wrong, and decide what kind of failure it is."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fsagent.errors import ContextOverflow, MalformedResponse, ModelError, ModelUnavailable

Kind = Literal[
    "busy",  # come back later: 429, 5xx, overloaded
    "refused",  # nobody listens there
    "broken",  # the connection or the stream broke, stalled or made no sense
    "quota",  # no money left
    "auth",
    "model",  # the server has no such model
    "path",  # no chat completions at this address
    "parameter",  # a parameter was refused
    "tools",  # the tools were refused
    "roles",  # the chat template refused the order of the messages
    "overflow",  # the messages do not fit
    "final",  # anything else that a retry does not mend
]
RETRIED: frozenset[Kind] = frozenset({"busy", "refused", "broken"})


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as a server reports it, its many shapes folded into one."""

    message: str
    status: int | None = None
    code: str = ""
    param: str = ""
    retry_after_s: float | None = None
    limit_tokens: int | None = None


class Fault(Exception):
    """One attempt failed.

    `parameters` are the optional ones that the server named; `malformed` says that the server
    answered, but not with a chat completion.
    """

    def __init__(
        self,
        kind: Kind,
        problem: Problem,
        *,
        parameters: tuple[str, ...] = (),
        malformed: bool = False,
    ) -> None:
        self.kind, self.problem, self.parameters = kind, problem, parameters
        self.malformed = malformed
        super().__init__(problem.message)


_OVERFLOW = re.compile(
    r"context[_ ](length|size|window)|maximum context|prompt is too long|input is too long"
    r"|too many (input )?tokens|reduce the length|exceeds? the (model's )?(maximum|max|context)"
    r"|longer than the (model's )?context|maximum (input|model|prompt) length|range of input length"
    r"|(input|prompt)( token count| length)?( of)? \d+ exceeds"
    r"|\binputs\b.{0,40}must (be <=|have less than) \d",
    re.I,
)
_NOT_OVERFLOW = re.compile(r"per (minute|day|hour)|\b[TR]P[MD]\b|rate limit", re.I)
_TOO_LARGE_A_REPLY = re.compile(
    r"max_(completion_)?tokens\b.{0,60}\b(too large|too high|at most)", re.I
)
_QUOTA = re.compile(
    r"insufficient_quota|exceeded your current quota|billing|insufficient (credit|balance|fund)",
    re.I,
)
# A rate limit's text may speak of billing too: how to get a higher limit.
_SOON = re.compile(r"rate.?limit.?(reached|exceeded)|(try|retry)( again)? in \d", re.I)
_NO_TOOLS = re.compile(
    r"(not|n't) support(ed)?\b.{0,40}\b(tools?|function.?call)"
    r"|\b(tools?|function.?call\w*|tool.?use|tool.?choice)\b.{0,60}(not (supported|available|enabled)"
    r"|unsupported|requires|not permitted|unknown|unrecognized)"
    r"|(unknown|unrecognized|unsupported|unexpected|extra)\b.{0,60}\btools\b",
    re.I | re.S,
)
_ROLES = re.compile(
    r"roles?\b.{0,60}\balternat|\balternat\w*\b.{0,60}\b(user|assistant)\b|\bunexpected role\b"
    r"|\bsystem (role|messages?)\b.{0,60}(not (be )?(supported|allowed)|unsupported|must|only|beginning|first)"
    r"|\b(multiple|consecutive|successive)\b.{0,30}\b(user|assistant|system)\b|\bonly user and assistant roles\b"
    r"|\blast (role|message)\b.{0,60}\b(user|tool|assistant)\b",
    re.I | re.S,
)
_NO_FORMAT = re.compile(
    r"response_format|json.?schema|json.?object|grammar|structured output", re.I
)
_NO_MODEL = re.compile(
    r"\bmodel\b.{0,120}(not found|not exist|does not exist|not available|not loaded|unknown)"
    r"|(unknown|invalid|no such) model|model_not_found|DeploymentNotFound",
    re.I | re.S,
)
_BUSY = re.compile(
    r"rate.?limit|overloaded|server_error|temporar|try again|timeout|unavailable|loading", re.I
)
_LIMITS = (
    re.compile(
        r"(?:context|model|maximum(?: input)?) (?:length|size|window)\D{0,30}?(\d[\d,]{2,})", re.I
    ),
    re.compile(r"(?:must be <=|less than|\[1,|limit of) (\d[\d,]{2,})", re.I),
    re.compile(r"(\d[\d,]{2,})\s*(?:tokens? )?(?:maximum|context)", re.I),
)


def read_problem(payload: object, *, status: int | None = None) -> Problem:
    """Fold an error body (an object, a list, a text) into a `Problem`."""
    if isinstance(payload, str | bytes):
        payload = _parsed(payload)
    if isinstance(payload, list) and payload:  # Gemini wraps its error into a list
        payload = payload[0]
    if not isinstance(payload, Mapping):
        return Problem(_one_line(str(payload or "no message")), status)
    error = payload.get("error", payload)
    if not isinstance(error, Mapping):
        error = {**payload, "message": error}
    message, param = _message(error, payload)
    code = error.get("code")
    if status in (None, 200) and isinstance(code, int):
        status = code
    limit = error.get("n_ctx")  # llama.cpp says its context size
    return Problem(
        _one_line(message),
        status,
        f"{code or ''} {error.get('type') or ''}".strip(),
        str(error.get("param") or param),
        limit_tokens=limit if isinstance(limit, int) else _limit(message),
    )


def _message(error: Mapping[str, Any], payload: Mapping[str, Any]) -> tuple[str, str]:
    """Return the text of an error and the parameter it points at."""
    message = error.get("message") or payload.get("detail") or payload.get("message")
    if isinstance(message, list):  # FastAPI lists {loc, msg}
        first = message[0] if message and isinstance(message[0], Mapping) else {}
        where = [str(part) for part in first.get("loc", ()) if part != "body"]
        return f"{'.'.join(where)}: {first.get('msg', message)}", where[0] if where else ""
    return str(message or json.dumps(dict(error), ensure_ascii=False)), ""


def is_error(payload: object) -> bool:
    """Return whether a body that came with status 200, or an event of a stream, is an error."""
    if isinstance(payload, list):
        return bool(payload) and is_error(payload[0])
    if not isinstance(payload, Mapping):
        return False
    return (
        bool(payload.get("error"))
        or payload.get("object") == "error"
        or ("choices" not in payload and bool(payload.get("detail")))
    )


def classify(problem: Problem, *, sent: Collection[str] = ()) -> Fault:
    """Return the fault that a problem is. `sent` names the optional parameters of the request."""
    said, status = f"{problem.code} {problem.message}", problem.status
    no_model = bool(_NO_MODEL.search(said))
    # The order matters: "maximum context length ... lower max_tokens" names a parameter too.
    rules: tuple[tuple[Kind, bool], ...] = (
        ("quota", status == 402 or (status in (403, 429, None) and _lacks_quota(said))),
        ("auth", status == 401 or (status == 403 and not no_model)),
        ("overflow", status in (400, 413, 422, 500, None) and _overflows(said)),
        ("roles", status in (400, 422, 500, None) and bool(_ROLES.search(said))),
        ("tools", status in (400, 404, 422, 500, 501) and _refuses_tools(problem, said, sent)),
        ("parameter", bool(_refused(problem, said, sent))),
        ("model", status in (400, 403, 404, 422) and no_model),
        ("path", status in (404, 405)),
        ("busy", _comes_back(status, said)),
    )
    kind: Kind = next((kind for kind, holds in rules if holds), "final")
    return Fault(kind, problem, parameters=_refused(problem, said, sent))


def _lacks_quota(said: str) -> bool:
    comes_again = _SOON.search(said) and "insufficient_quota" not in said
    return bool(_QUOTA.search(said)) and not comes_again


def _overflows(said: str) -> bool:
    return bool(_OVERFLOW.search(said)) and not (
        _NOT_OVERFLOW.search(said) or _TOO_LARGE_A_REPLY.search(said)
    )


def _refuses_tools(problem: Problem, said: str, sent: Collection[str]) -> bool:
    return "tools" in sent and (_parameter_of(problem) == "tools" or bool(_NO_TOOLS.search(said)))


def _parameter_of(problem: Problem) -> str:
    """Return the parameter that a place in it belongs to: `tools` of `tools[0].function`."""
    return re.split(r"[.\[]", problem.param)[0]


def _refused(problem: Problem, said: str, sent: Collection[str]) -> tuple[str, ...]:
    """Return the optional parameters that a refusal names."""
    if problem.status in (400, 422, 500) and "response_format" in sent and _NO_FORMAT.search(said):
        return ("response_format",)
    if problem.status not in (400, 422):
        return ()
    where = _parameter_of(problem)
    if where in sent:
        return (where,)
    return tuple(
        name
        for name in sorted(sent)
        if name != "tools" and re.search(rf"\b{re.escape(name)}\b", problem.message)
    )


def _comes_back(status: int | None, said: str) -> bool:
    if status is None:
        return bool(_BUSY.search(said))
    return status in (408, 409, 425, 429) or (status >= 500 and status not in (501, 505))


def _limit(message: str) -> int | None:
    if not _OVERFLOW.search(message):
        return None
    for pattern in _LIMITS:
        if found := pattern.search(message):
            return int(found[1].replace(",", ""))
    return None


def _parsed(text: str | bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def _one_line(text: str) -> str:
    if "<html" in text[:500].lower() or "<!doctype" in text[:500].lower():
        return "an HTML page instead of an answer"
    flat = " ".join(text.split())
    return flat if len(flat) <= 400 else f"{flat[:400]}..."


def as_model_error(
    fault: Fault, *, model: str, base_url: str, retries: int = 0, offered: Sequence[str] = ()
) -> ModelError:
    """Return the error for a person: what happened where, and what to do."""
    problem = fault.problem
    said = problem.message if problem.status is None else f"{problem.message} ({problem.status})"
    if fault.kind == "overflow":
        text = f"The messages do not fit the context of {model}: {said}"
        return ContextOverflow(text, limit_tokens=problem.limit_tokens)
    if fault.malformed:
        return MalformedResponse(f"{base_url} does not answer as a chat-completions server: {said}")
    again = f" after {retries} retries" if retries else ""
    there = f" It has: {', '.join(offered[:12])}." if offered else ""
    advice: dict[Kind, str] = {
        "busy": f"{base_url} is not answering{again}: {said}. Try again later.",
        "refused": f"No server answers at {base_url}: {said}. Start it, give another address "
        "with --base-url, or use --model offline.",
        "broken": f"{base_url} broke off{again}: {said}. Try again.",
        "quota": f"The account at {base_url} has no quota left: {said}. Retrying will not help; "
        "see to its billing or use another key.",
        "auth": f"{base_url} refuses the key: {said}. Set OPENAI_API_KEY to a valid one.",
        "model": f"{base_url} has no model {model!r}: {said}.{there} Choose one with --model.",
        "path": f"There are no chat completions at {base_url}: {said}. Give the address that ends "
        "before /chat/completions with --base-url.",
        "roles": f"The chat template of {model} at {base_url} refuses the conversation's roles: "
        f"{said}. Give the server another template, or use another model.",
        "tools": f"{model} at {base_url} takes no tools: {said}. Set tool_mode to auto or json.",
    }
    text = advice.get(fault.kind, f"{base_url} refused the request to {model}: {said}.")
    return ModelUnavailable(text, status=problem.status)


def connection_fault(error: BaseException) -> Fault:
    """Return the fault of a connection that was not made, or broke."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError):
            return Fault("refused", Problem("the connection was refused"))
        if isinstance(cause, socket.gaierror):
            return Fault("refused", Problem("the host's name is not known"))
        cause = cause.__cause__ or cause.__context__
    return Fault("broken", Problem(f"the connection broke ({type(error.__cause__).__name__})"))
