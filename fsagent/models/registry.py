"""Load a model by its name: `offline`, `scripted:FILE`, or a model of an endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from fsagent.errors import ConfigError
from fsagent.types import Model

if TYPE_CHECKING:
    from fsagent.config import Settings

SCRIPTED = "scripted:"


def load_model(name: str, settings: Settings, *, quirks_path: Path | None = None) -> Model:
    """Return the model that `name` stands for.

    `quirks_path` is where what an endpoint refuses is kept (`.fsagent/endpoints.json`).
    Raises `ConfigError` where no endpoint is known for the name.
    """
    if name == "offline":
        from fsagent.models.offline import Offline

        return Offline()
    if name.startswith(SCRIPTED):
        from fsagent.models.scripted import Scripted

        return Scripted(Path(name.removeprefix(SCRIPTED)), name=name)
    if not name.strip():
        raise ConfigError("the model has no name; write offline, scripted:FILE or a model's name")
    return _endpoint(name, settings, quirks_path)


def _endpoint(name: str, settings: Settings, quirks_path: Path | None) -> Model:
    from fsagent.models.openai_chat import OpenAIChat

    if settings.base_url is None and settings.api_key is None:
        raise ConfigError(
            f"no endpoint for model {name!r}: set OPENAI_API_KEY, give the address of a local server "
            "with --base-url, or use --model offline"
        )
    return OpenAIChat(
        name,
        base_url=settings.base_url,
        api_key=settings.api_key,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        timeout_s=settings.timeout_s,
        idle_timeout_s=settings.idle_timeout_s,
        max_retries=settings.max_retries,
        tool_mode=cast(Literal["auto", "native", "json"], settings.tool_mode),
        quirks=quirks_path,
    )
