"""Chat completions at any OpenAI-compatible endpoint, through the `openai` package."""

from __future__ import annotations

import contextlib
import copy
import importlib
import logging
import random
import ssl
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast
from urllib.parse import urlsplit

from fsagent.errors import ModelError
from fsagent.models import faults, json_mode, tool_text
from fsagent.models.addresses import OPENAI_URL, addresses, is_loopback
from fsagent.models.assembly import Reply
from fsagent.models.chunks import DONE, read_chunks
from fsagent.models.faults import Fault, Problem
from fsagent.models.quirks import Quirks, QuirkStore
from fsagent.models.retry import MAX_REFUSED_RETRIES, MAX_RETRIES, retry_after_s, wait_s
from fsagent.models.thinking import opens_in_prompt, strip_thinking
from fsagent.models.trial import ASK_ONE, WEATHER
from fsagent.models.visible import VisibleText
from fsagent.models.wire import mended, wire_messages, wire_tools
from fsagent.types import Completion, Message, ToolSpec

if TYPE_CHECKING:
    import openai

log = logging.getLogger(__name__)

_T = TypeVar("_T")
ToolMode = Literal["auto", "native", "json"]
CONNECT_TIMEOUT_S = 10.0
MAX_REPAIRS = 12
JSON_MAX_TOKENS = 1_024  # under a grammar a small model may write white space for ever


class OpenAIChat:
    """A model behind a chat-completions endpoint.

    `timeout_s` bounds the wait for the first event, `idle_timeout_s` the silence between events;
    `max_retries` counts only failures that a retry can mend. What the endpoint refuses is left out
    or renamed, and kept in `quirks`. With `try_tools`, an endpoint of which nothing is known is first
    shown one small tool, since many take tools and never call them. `extra` goes into the request's
    body as it is. Every failure of the model's side is a `ModelError` that says what to do.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        seed: int | None = None,
        timeout_s: float = 120.0,
        idle_timeout_s: float = 60.0,
        max_retries: int = MAX_RETRIES,
        tool_mode: ToolMode = "auto",
        stream: bool = True,
        try_tools: bool = False,
        quirks: QuirkStore | Path | None = None,
        extra: Mapping[str, Any] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        dice: random.Random | None = None,
    ) -> None:
        self._model, self.base_url, self._api_key = model, base_url or OPENAI_URL, api_key
        self._timeout_s, self._idle_timeout_s = timeout_s, idle_timeout_s
        self._max_retries, self._tool_mode, self._stream = max_retries, tool_mode, stream
        self._store = quirks if isinstance(quirks, QuirkStore) else QuirkStore(quirks)
        optional = {"temperature": temperature, "max_tokens": max_tokens, "seed": seed}
        self._parameters: dict[str, Any] = {
            key: value for key, value in optional.items() if value is not None
        }
        self._parameters |= dict(extra or {})
        self._try_tools, self.last_calls_were_text = try_tools, False
        self._sleep, self._dice = sleep, dice or random.Random()
        self._clients: dict[str, openai.OpenAI] = {}

    @property
    def name(self) -> str:
        return self._model

    @property
    def quirks(self) -> Quirks:
        """What is known of this endpoint and model."""
        return self._store.get(self.base_url, self._model)

    @property
    def address(self) -> str:
        """The address that requests go to: the base URL, with or without /v1."""
        return self.quirks.address or addresses(self.base_url)[0]

    @property
    def context_tokens(self) -> int | None:
        """The size of the model's context window, where the endpoint has told it."""
        return self.quirks.context_tokens

    @property
    def identity(self) -> dict[str, Any]:
        """What else than the messages a reply depends on."""
        kept = {"base_url": self.base_url, "tool_mode": self._tool_mode, **self._parameters}
        return kept if self._tool_mode == "native" else {"json_mode": json_mode.FORM, **kept}

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """Ask the endpoint, with bounded retries; see `Model`."""
        if tools and self._try_tools and self._tool_mode == "auto" and self.quirks.tools is None:
            self._exchange(ASK_ONE, [WEATHER], None)
            if self.quirks.tools is None:
                self.learn(tools="json")
        return self._exchange(messages, tools, on_text)

    def _exchange(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        on_text: Callable[[str], None] | None,
    ) -> Completion:
        known = quirks = self.quirks
        visible = VisibleText(on_text, calls=bool(tools), headless=known.headless_thinking)
        failed = repairs = 0
        while True:
            try:
                completion, quirks = self._attempt(messages, tools, quirks, visible)
                break
            except Fault as fault:
                log.debug("%s at %s: %s", self._model, self.base_url, fault)
                repaired = self._repair(quirks, fault) if repairs < MAX_REPAIRS else None
                if repaired is not None:
                    quirks, repairs = repaired, repairs + 1
                    continue
                if not self._comes_again(fault, failed):
                    raise self._error(fault, failed) from fault
                self._sleep(wait_s(failed, fault.problem.retry_after_s, dice=self._dice))
                failed += 1
        if quirks != known:
            self._store.learn(self.base_url, self._model, quirks)
        return completion

    def varied(self, *, tool_mode: ToolMode | None = None, **parameters: Any) -> OpenAIChat:
        """Return the same endpoint with another tool mode or other parameters of the request."""
        other = copy.copy(self)
        other._tool_mode = tool_mode or self._tool_mode
        other._parameters = {**self._parameters, **parameters}
        return other

    def learn(self, **known: Any) -> None:
        """Remember these fields of the endpoint's `Quirks`."""
        self._store.learn(self.base_url, self._model, replace(self.quirks, **known))

    def models(self) -> list[str]:
        """Return the names of the models that the server lists."""
        return sorted(str(one.get("id")) for one in self.listed())

    def listed(self) -> list[dict[str, Any]]:
        """Return what the server lists of its models, in the server's own words."""
        client = self._client(self.address).with_options(timeout=CONNECT_TIMEOUT_S)
        # Whoever cannot list its models is not asked for a list of those it has instead.
        return self._once(lambda: [one.to_dict() for one in client.models.list()], offer=False)

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return the server's embedding of each text, where this is an embedding model."""
        made = self._client(self.address).embeddings
        return self._once(
            lambda: [
                one.embedding
                for one in made.create(model=self._model, input=texts, encoding_format="float").data
            ]
        )

    def _once(self, send: Callable[[], _T], *, offer: bool = True) -> _T:
        """Send one request; its failures are `ModelError`s."""
        try:
            with self._faults(()):
                return send()
        except Fault as fault:
            raise self._error(fault, 0, offer=offer) from fault

    def _attempt(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        quirks: Quirks,
        visible: VisibleText,
    ) -> tuple[Completion, Quirks]:
        """Return one reply and what it taught, or raise a `Fault`."""
        in_json = self._in_json(quirks)
        body = self._body(messages, tools, quirks)
        reply = Reply()
        visible.begin(in_json=in_json and bool(tools))
        try:
            self._receive(reply, quirks.address or addresses(self.base_url)[0], body, visible.grow)
        except Fault as fault:
            # The server had said that the reply is whole: only its trailer is lost.
            if reply.finish is None or fault.kind != "broken" or fault.malformed:
                raise
        completion = self._completion(reply, tools, in_json=in_json)
        visible.finish(completion.message.content)
        return completion, self._taught(quirks, reply, completion, tools)

    def _in_json(self, quirks: Quirks) -> bool:
        return self._tool_mode == "json" or (self._tool_mode == "auto" and quirks.tools == "json")

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], quirks: Quirks
    ) -> dict[str, Any]:
        optional = dict(self._parameters)
        if self._stream and quirks.stream:
            optional |= {"stream": True, "stream_options": {"include_usage": True}}
        told = messages
        if self._in_json(quirks):
            told = json_mode.json_messages(messages, tools)
            if shape := json_mode.response_format(quirks.response_format, messages, tools):
                optional["response_format"] = shape
                optional.setdefault("max_tokens", JSON_MAX_TOKENS)
        elif tools:
            optional["tools"] = wire_tools(tools)
        sent = wire_messages(told, quirks.roles)
        return {"model": self._model, "messages": sent, **quirks.apply(optional)}

    def _receive(
        self, reply: Reply, address: str, body: Mapping[str, Any], grow: Callable[[str], None]
    ) -> None:
        """Fill `reply` from the endpoint; returns only when the server says that it is whole."""
        sent = body.keys() - {"model", "messages"}
        with contextlib.closing(self._chunks(address, body)) as chunks:
            for chunk in chunks:
                if chunk is DONE:
                    reply.end()
                    break
                if faults.is_error(chunk):
                    raise faults.classify(faults.read_problem(chunk), sent=sent)
                reply.add(chunk)
                grow(reply.text)
                if reply.is_endless():
                    break
        if not reply.choices:
            raise Fault("broken", Problem("the reply holds no choices"), malformed=True)
        if reply.finish is None:
            said = reply.broken_off or "the stream ended before the reply was whole"
            raise Fault("broken", Problem(said))

    def _chunks(
        self, address: str, body: Mapping[str, Any]
    ) -> Generator[Mapping[str, Any], None, None]:
        """Yield the chunks of one request, `DONE` after the last one."""
        rest = {
            key: value for key, value in body.items() if key not in ("model", "messages", "stream")
        }
        create = cast(Any, self._client(address).chat.completions.with_streaming_response.create)
        with (
            self._faults(body.keys() - {"model", "messages"}),
            create(
                model=body["model"],
                messages=body["messages"],
                stream=bool(body.get("stream")),
                extra_body=rest,
            ) as response,
        ):
            yield from read_chunks(
                response,
                first_s=self._timeout_s,
                idle_s=self._idle_timeout_s,
                broken=_transport_errors(),
            )

    def _completion(self, reply: Reply, tools: Sequence[ToolSpec], *, in_json: bool) -> Completion:
        text, calls = strip_thinking(mended(reply.text)), reply.tool_calls()
        finish = reply.finish or "unknown"
        if calls:
            finish = "tool_calls"
        elif finish == "tool_calls":
            finish = "stop"
        completion = Completion(
            Message("assistant", text, calls),
            finish,
            reply.usage,
            reply.model or self._model,
            reply.calls_were_cut,
        )
        if calls or not tools:
            return completion
        if in_json:
            return json_mode.read_json_reply(completion, tools)
        return tool_text.read_text_calls(completion, tools)

    def _taught(
        self, quirks: Quirks, reply: Reply, completion: Completion, tools: Sequence[ToolSpec]
    ) -> Quirks:
        self.last_calls_were_text = bool(completion.message.tool_calls) and not reply.tool_calls()
        if opens_in_prompt(reply.text):
            quirks = replace(quirks, headless_thinking=True)
        if (
            tools
            and quirks.tools is None
            and self._tool_mode == "auto"
            and completion.message.tool_calls
        ):
            quirks = replace(quirks, tools="native" if reply.tool_calls() else "json")
        return quirks

    def _repair(self, quirks: Quirks, fault: Fault) -> Quirks | None:
        if fault.kind == "path":
            return self._elsewhere(quirks)
        if fault.kind == "tools" and self._tool_mode == "native":
            return None
        if fault.kind == "overflow" and fault.problem.limit_tokens:
            self.learn(context_tokens=fault.problem.limit_tokens)
            return None
        return quirks.after(fault)

    def _elsewhere(self, quirks: Quirks) -> Quirks | None:
        """Return the quirks with the next address of the base URL, None after the last one."""
        known = addresses(self.base_url)
        place = known.index(quirks.address) if quirks.address in known else 0
        return replace(quirks, address=known[place + 1]) if place + 1 < len(known) else None

    def _comes_again(self, fault: Fault, failed: int) -> bool:
        if fault.kind not in faults.RETRIED:
            return False
        most = (
            min(self._max_retries, MAX_REFUSED_RETRIES)
            if fault.kind == "refused"
            else self._max_retries
        )
        return failed < most

    def _error(self, fault: Fault, failed: int, *, offer: bool = True) -> ModelError:
        offered: list[str] = []
        if fault.kind == "model" and offer:
            with contextlib.suppress(ModelError):
                offered = self.models()
        error = faults.as_model_error(
            fault, model=self._model, base_url=self.base_url, retries=failed, offered=offered
        )
        if self._api_key:
            error.args = tuple(str(part).replace(self._api_key, "***") for part in error.args)
        return error

    @contextlib.contextmanager
    def _faults(self, sent: Any) -> Iterator[None]:
        """Turn what the openai package and its HTTP library raise into faults."""
        import openai

        try:
            yield
        except openai.APIStatusError as err:
            problem = faults.read_problem(err.response.text, status=err.status_code)
            pause = retry_after_s(err.response.headers, datetime.now(UTC))
            raise faults.classify(replace(problem, retry_after_s=pause), sent=sent) from err
        except openai.APITimeoutError as err:
            raise Fault("broken", Problem(f"no answer within {self._timeout_s:g} s")) from err
        except openai.APIConnectionError as err:
            raise faults.connection_fault(err) from err
        except openai.OpenAIError as err:
            raise Fault("final", Problem(str(err))) from err
        except _transport_errors() as err:
            raise Fault("broken", Problem(f"the connection broke ({type(err).__name__})")) from err

    def _client(self, address: str) -> openai.OpenAI:
        if address not in self._clients:
            import openai

            timeout = openai.Timeout(self._timeout_s, connect=CONNECT_TIMEOUT_S)
            # A proxy of the environment is never the way to this machine.
            trust = not is_loopback(urlsplit(address).hostname)
            http = openai.DefaultHttpxClient(timeout=timeout, trust_env=trust)
            self._clients[address] = openai.OpenAI(
                api_key=self._api_key or "none",
                base_url=address,
                max_retries=0,  # the one retry layer is ours
                timeout=timeout,
                http_client=http,
            )
            weakref.finalize(self, http.close)
        return self._clients[address]


def _transport_errors() -> tuple[type[Exception], ...]:
    import openai

    # The HTTP library under openai is httpx up to 2.x and httpx2 from 3.x: ask which one it is.
    homes = [base.__module__.partition(".")[0] for base in openai.DefaultHttpxClient.__mro__]
    library = importlib.import_module(next(home for home in homes if home.startswith("httpx")))
    return (library.HTTPError, library.StreamError, ssl.SSLError, OSError)
