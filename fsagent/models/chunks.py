"""Read the body of a chat-completions response as chunks, streamed or whole."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from typing import Any

from fsagent.models import faults
from fsagent.models.faults import Fault, Problem
from fsagent.models.idle import IdleLimit
from fsagent.models.sse import Event, events

DONE: Mapping[str, Any] = {"done": True}
"""Comes last, where the server says that the reply is whole."""


def read_chunks(
    response: Any, *, first_s: float, idle_s: float, broken: tuple[type[Exception], ...]
) -> Iterator[Mapping[str, Any]]:
    """Yield the chunks of an open response, and `DONE` where it ends as it should.

    An error, in whatever shape it comes, is a chunk with `error`. `first_s` bounds the wait for the
    first event, `idle_s` the silence between events; `broken` are the HTTP library's errors.
    """
    kind = response.headers.get("content-type", "")
    if "html" in kind:
        raise Fault("path", Problem("an HTML page instead of an answer", 200))
    if "event-stream" in kind:
        yield from _streamed(response, first_s, idle_s, broken)
    else:
        yield from _whole(response.read())


def _streamed(
    response: Any, first_s: float, idle_s: float, broken: tuple[type[Exception], ...]
) -> Iterator[Mapping[str, Any]]:
    stream = response.http_response.extensions.get("network_stream")
    sock: socket.socket | None = stream.get_extra_info("socket") if stream else None
    with IdleLimit(sock, first_s=first_s, limit_s=idle_s) as limit:
        try:
            for event in events(response.iter_bytes()):
                if event is not None:
                    limit.feed()
                    yield _chunk(event)
        except broken as err:
            if not limit.expired:
                raise
            raise Fault("broken", Problem("the stream stalled")) from err
    if limit.expired:
        raise Fault("broken", Problem("the stream stalled"))


def _chunk(event: Event) -> Mapping[str, Any]:
    if event.data.startswith("[DONE]"):
        return DONE
    try:
        value = json.loads(event.data)
    except (ValueError, RecursionError) as err:
        if event.name == "error":
            return {"error": event.data}
        raise Fault(
            "broken", Problem(f"an event is not JSON: {event.data[:80]!r}"), malformed=True
        ) from err
    if isinstance(value, list) and faults.is_error(value):
        value = value[0]
    if event.name == "error" and not faults.is_error(value):
        return {"error": value}
    return value if isinstance(value, Mapping) else {}


def _whole(body: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the chunk of a reply that was not streamed, or whose stream has no content type."""
    if body.lstrip().startswith((b"data:", b"event:", b":")):
        yield from (_chunk(event) for event in events([body]) if event is not None)
        return
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError) as err:
        shown = body[:80].decode("utf-8", "replace")
        raise Fault(
            "broken", Problem(f"the answer is not JSON: {shown!r}"), malformed=True
        ) from err
    if isinstance(payload, Mapping) and "choices" in payload:
        yield payload
        yield DONE
    else:
        yield {"error": payload}
