"""A local HTTP server that sends exactly what a test tells it to, faults included."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """One response: status, headers and body; the body may be cut, stalled or reset after it."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    chunked: bool = False
    then: str = "close"  # close, stall, reset, drip; vanish: no answer at all
    before_s: float = 0.0


@dataclass
class Request:
    """What the server was sent."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]


@dataclass
class Tally:
    """What the fault suites have counted in this run."""

    faults: int = 0
    as_specified: int = 0
    streams_cut: int = 0
    half_calls: int = 0


Script = Sequence[Answer] | Callable[[Request], Answer]


class FaultServer:
    """Serve a script of answers on loopback; the last one repeats."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.script: Script = []
        self.stop_stalling = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = json.loads(self.rfile.read(length) or b"{}")
                server._answer(
                    self, Request(self.path, body, {k.lower(): v for k, v in self.headers.items()})
                )

            def do_GET(self) -> None:
                server._answer(
                    self, Request(self.path, {}, {k.lower(): v for k, v in self.headers.items()})
                )

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def play(self, *answers: Answer) -> None:
        """Serve these from now on; the last one repeats."""
        self.script, self.requests = list(answers), []

    @contextmanager
    def running(self) -> Iterator[FaultServer]:
        self._thread.start()
        try:
            yield self
        finally:
            self.stop_stalling.set()
            self._http.shutdown()
            self._http.server_close()
            self._thread.join()

    def _answer(self, handler: BaseHTTPRequestHandler, request: Request) -> None:
        self.requests.append(request)
        if callable(self.script):
            answer = self.script(request)
        else:
            answer = self.script[min(len(self.requests), len(self.script)) - 1]
        try:
            self._send(handler, answer)
        except OSError:
            handler.close_connection = True

    def _send(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        if answer.then == "vanish":
            handler.close_connection = True
            return
        time.sleep(answer.before_s)
        handler.send_response(answer.status)
        handler.send_header("Content-Type", answer.content_type)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        whole = answer.then == "close" and not answer.chunked
        if answer.chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        elif whole and answer.content_type == "application/json":
            handler.send_header("Content-Length", str(len(answer.body)))
        else:
            handler.send_header("Connection", "close")
        handler.end_headers()
        if answer.chunked:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(answer.body), answer.body))
        else:
            handler.wfile.write(answer.body)
        handler.wfile.flush()
        self._finish(handler, answer)

    def _finish(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        if answer.then == "stall":
            self.stop_stalling.wait(30)
        if answer.then == "drip":  # keep-alive comments for ever, never an event
            while not self.stop_stalling.wait(0.02):
                handler.wfile.write(b": keep-alive\n\n")
        if answer.then == "reset":
            linger = struct.pack("ii", 1, 0)
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        if answer.content_type != "application/json" or answer.then != "close":
            handler.close_connection = True


def chunk(
    delta: Mapping[str, Any] | None = None, finish: str | None = None, **more: Any
) -> dict[str, Any]:
    """Return one streamed chunk."""
    choices = [] if delta is None else [{"index": 0, "delta": dict(delta), "finish_reason": finish}]
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": choices, **more}


def call_delta(index: int, id: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    """Return the delta of a piece of a tool call."""
    function: dict[str, Any] = {"arguments": arguments}
    if name is not None:
        function["name"] = name
    piece: dict[str, Any] = {"index": index, "type": "function", "function": function}
    if id is not None:
        piece["id"] = id
    return {"tool_calls": [piece]}


def sse(chunks: Iterable[Any], *, done: bool = True) -> bytes:
    """Return chunks as a server-sent event stream."""
    lines = [
        c if isinstance(c, str) else f"data: {json.dumps(c, ensure_ascii=False)}" for c in chunks
    ]
    return "".join(f"{line}\n\n" for line in [*lines, *(["data: [DONE]"] if done else [])]).encode()


def stream(*chunks: Any, done: bool = True, **more: Any) -> Answer:
    """Return a streamed answer."""
    return Answer(sse(chunks, done=done), content_type="text/event-stream", **more)


def text(content: str, finish: str = "stop", **more: Any) -> Answer:
    """Return a streamed answer that says `content` in two pieces."""
    half = len(content) // 2
    return stream(
        chunk({"role": "assistant", "content": content[:half]}),
        chunk({"content": content[half:]}),
        chunk({}, finish),
        chunk(usage={"prompt_tokens": 9, "completion_tokens": 3}),
        **more,
    )


def body(payload: Any, status: int = 200, **headers: str) -> Answer:
    """Return an answer that is not streamed; underscores in header names become hyphens."""
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return Answer(json.dumps(payload).encode(), status, named)


def error(
    message: str, status: int, *, headers: Mapping[str, str] | None = None, **fields: Any
) -> Answer:
    """Return an error in OpenAI's shape."""
    shape = {"error": {"message": message, **fields}}
    return Answer(json.dumps(shape).encode(), status, headers or {})


def role_refusal(messages: Sequence[Mapping[str, Any]], *, system: bool = True) -> str | None:
    """Return what a strict chat template says of these messages, None where it takes them.

    As Mistral's: a system message at the head alone, then user and assistant in turn; results follow
    their call and are followed by the assistant. Without `system`, as Gemma's, which has no such role.
    """
    if any(one["role"] == "system" for one in messages[0 if not system else 1 :]):
        return "System role not supported"
    said = [one for one in messages if one["role"] != "system"]
    expected = {"user"}
    for one in said:
        if one["role"] not in expected:
            return (
                "After the optional system message, conversation roles must alternate user and "
                "assistant roles except for tool calls and results."
            )
        calls = one.get("tool_calls")
        after = {"user": {"assistant"}, "tool": {"tool", "assistant"}, "assistant": {"user"}}
        expected = {"tool"} if calls else after[one["role"]]
    if not said or said[-1]["role"] == "assistant":
        return "Expected last role User or Tool but got assistant"
    return None
