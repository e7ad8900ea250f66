"""Load a model by its name: `offline`, `scripted:FILE`, or a model of an endpoint."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from fsagent.errors import ConfigError
from fsagent.types import Model

if TYPE_CHECKING:
    from fsagent.config import Settings

log = logging.getLogger(__name__)

SCRIPTED = "scripted:"


def load_model(
    name: str,
    settings: Settings,
    *,
    quirks_path: Path | None = None,
    ports: Mapping[int, str] | None = None,
) -> Model:
    """Return the model that `name` stands for.

    `quirks_path` is where what an endpoint refuses is kept (`.fsagent/endpoints.json`).
    Without a key and a base URL, a server on this machine that has the model is taken; `ports` says
    where to look (default: the setting `local_ports`).
    Raises `ConfigError` where there is none.
    """
    if name == "offline":
        from fsagent.models.offline import Offline

        return Offline()
    if name.startswith(SCRIPTED):
        from fsagent.models.scripted import Scripted

        return Scripted(Path(name.removeprefix(SCRIPTED)), name=name)
    if not name.strip():
        raise ConfigError("the model has no name; write offline, scripted:FILE or a model's name")
    return _endpoint(name, settings, quirks_path, ports)


def _endpoint(
    name: str, settings: Settings, quirks_path: Path | None, ports: Mapping[int, str] | None
) -> Model:
    from fsagent.models.discover import ports_of
    from fsagent.models.openai_chat import OpenAIChat

    base_url = settings.base_url
    if base_url is None and settings.api_key is None:
        name, base_url = _local(name, ports_of(settings.local_ports) if ports is None else ports)
    return OpenAIChat(
        name,
        base_url=base_url,
        api_key=settings.api_key,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        timeout_s=settings.timeout_s,
        idle_timeout_s=settings.idle_timeout_s,
        max_retries=settings.max_retries,
        tool_mode=cast(Literal["auto", "native", "json"], settings.tool_mode),
        try_tools=base_url is not None,
        quirks=quirks_path,
    )


def _local(name: str, ports: Mapping[int, str]) -> tuple[str, str]:
    """Return the model's own name and the base URL of the server on this machine that has it."""
    from fsagent.models.discover import discover

    servers = discover(ports)
    for server in servers:
        if own := server.serves(name):
            log.info("%s is served by %s at %s", own, server.kind, server.base_url)
            return own, server.base_url
    there = "; ".join(
        f"{one.kind} at {one.base_url} has {', '.join(one.models[:8]) or 'no model'}"
        for one in servers
    )
    found = f" Found on this machine: {there}." if there else ""
    raise ConfigError(
        f"no endpoint for model {name!r}: set OPENAI_API_KEY, give the address of a server with "
        f"--base-url, or use --model offline.{found}"
    )
