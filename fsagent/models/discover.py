"""Find model servers on this machine, on the ports they usually have."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PORTS: Mapping[int, str] = {11434: "Ollama", 8080: "llama.cpp", 1234: "LM Studio", 8000: "vLLM"}
TIMEOUT_S = 0.5
MAX_BODY_BYTES = 1_000_000
_OWNERS = {
    "llamacpp": "llama.cpp",
    "vllm": "vLLM",
    "library": "Ollama",
    "organization_owner": "LM Studio",
}


@dataclass(frozen=True, slots=True)
class Found:
    """A model server: what it is, its base URL, and the models it lists."""

    kind: str
    base_url: str
    models: tuple[str, ...]

    def serves(self, name: str) -> str | None:
        """Return the server's own name of a model, None where it has none such."""
        return next((one for one in (name, f"{name}:latest") if one in self.models), None)


def discover(
    ports: Mapping[int, str] | None = None, *, timeout_s: float = TIMEOUT_S
) -> list[Found]:
    """Return the chat-completions servers that answer on loopback; asks nobody else.

    `ports` (default `PORTS`) says what usually listens where.
    """
    usual = PORTS if ports is None else ports
    found = (_ask(port, kind, timeout_s) for port, kind in usual.items())
    return [one for one in found if one is not None]


def _ask(port: int, kind: str, timeout_s: float) -> Found | None:
    listed = _models(port, timeout_s)
    if listed is None:
        return None
    owner = next((str(one.get("owned_by")) for one in listed if one.get("owned_by")), "")
    names = tuple(sorted(str(one["id"]) for one in listed if "id" in one))
    return Found(_OWNERS.get(owner, kind), f"http://127.0.0.1:{port}/v1", names)


def _models(port: int, timeout_s: float) -> list[dict[str, Any]] | None:
    """Return what `/v1/models` lists, None where no such server is there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request("GET", "/v1/models", headers={"Accept": "application/json"})
        response = connection.getresponse()
        body = json.loads(response.read(MAX_BODY_BYTES)) if response.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    listed = body.get("data") if isinstance(body, dict) else None
    if not isinstance(listed, list):
        return None
    return [one for one in listed if isinstance(one, dict)]
