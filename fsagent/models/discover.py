"""Find model servers on this machine, on the ports they usually have."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fsagent.errors import ConfigError

PORTS: Mapping[int, str] = {11434: "Ollama", 8080: "llama.cpp", 1234: "LM Studio", 8000: "vLLM"}
TIMEOUT_S = 0.5
QUICK_TIMEOUT_S = 0.15
"""How long all ports together may take: a named model is waited for, a look in passing is quick."""

MAX_BODY_BYTES = 1_000_000
_OWNERS = {
    "llamacpp": "llama.cpp",
    "vllm": "vLLM",
    "library": "Ollama",
    "organization_owner": "LM Studio",
}


_NO_CHAT = re.compile(r"embed|rerank|whisper|\btts\b|\bclip\b|\bbge-|minilm", re.I)


@dataclass(frozen=True, slots=True)
class Found:
    """A model server: what it is, its base URL, and the models it lists, in its own order."""

    kind: str
    base_url: str
    models: tuple[str, ...]

    def serves(self, name: str) -> str | None:
        """Return the server's own name of a model, None where it has none such."""
        return next((one for one in (name, f"{name}:latest") if one in self.models), None)

    @property
    def chat_model(self) -> str | None:
        """The first model that can talk, going by its name; Ollama lists the newest first."""
        return next(filter(talks, self.models), None)


def talks(name: str) -> bool:
    """Say whether a model can talk, going by its name: embeddings, speech and ranking cannot."""
    return not _NO_CHAT.search(name)


def ports_of(text: str) -> dict[int, str]:
    """Return the ports that the setting `local_ports` names, and what usually listens there."""
    words = text.replace(",", " ").split()
    if words == ["none"]:
        return {}
    if not all(word.isascii() and word.isdecimal() and 0 < int(word) < 65536 for word in words):
        raise ConfigError(f"local_ports is {text!r}; write ports such as 11434 8080, or none")
    return {int(word): PORTS.get(int(word), "a server") for word in words}


def discover(
    ports: Mapping[int, str] | None = None, *, timeout_s: float = TIMEOUT_S
) -> list[Found]:
    """Return the chat-completions servers that answer on loopback; asks nobody else.

    `ports` (default `PORTS`) says what usually listens where. All are asked at once, and what has
    not answered after `timeout_s` is left out.
    """
    usual = PORTS if ports is None else ports
    found: dict[int, Found | None] = {}

    def ask(port: int, kind: str) -> None:
        found[port] = _ask(port, kind, timeout_s)

    threads = [
        threading.Thread(target=ask, args=one, name="fsagent-discover", daemon=True)
        for one in usual.items()
    ]
    deadline = time.monotonic() + timeout_s
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return [one for port in usual if (one := found.get(port)) is not None]


def _ask(port: int, kind: str, timeout_s: float) -> Found | None:
    listed = _models(port, timeout_s)
    if listed is None:
        return None
    owner = next((str(one.get("owned_by")) for one in listed if one.get("owned_by")), "")
    names = tuple(one["id"] for one in listed if isinstance(one.get("id"), str))
    return Found(_OWNERS.get(owner, kind), f"http://127.0.0.1:{port}/v1", names)


def _models(port: int, timeout_s: float) -> list[dict[str, Any]] | None:
    """Return what `/v1/models` lists, None where no such server is there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request("GET", "/v1/models", headers={"Accept": "application/json"})
        response = connection.getresponse()
        body = json.loads(response.read(MAX_BODY_BYTES)) if response.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return None
    finally:
        connection.close()
    listed = body.get("data") if isinstance(body, dict) else None
    if not isinstance(listed, list):
        return None
    return [one for one in listed if isinstance(one, dict)]
