"""Find the model where none is named: a server of this machine, or the one of the base URL."""

from __future__ import annotations

from fsagent.cli.common import note
from fsagent.config import Settings
from fsagent.errors import ConfigError, ModelError

CHOICES = frozenset({"model", "base_url", "api_key"})
MAX_NAMES = 6
_FOR_ALL_PROGRAMS = "environment OPENAI_BASE_URL"


def found_here(settings: Settings) -> Settings:
    """Return settings with the first server found on this machine; unchanged where one is chosen.

    Only the ports of `local_ports` on loopback are asked, all of them within 150 ms. Where a base
    URL is chosen and no model, its server is asked for its own.
    """
    from fsagent.models.discover import QUICK_TIMEOUT_S, discover, ports_of

    if CHOICES & settings.origins.keys():
        return of_the_server(settings)
    servers = discover(ports_of(settings.local_ports), timeout_s=QUICK_TIMEOUT_S)
    server = next((one for one in servers if one.chat_model), None)
    if server is None or server.chat_model is None:
        return settings
    note(
        f"(found {server.kind} on this machine, {server.base_url}: using its {server.chat_model}."
        f"{_others(server.models, server.chat_model)} --model NAME takes another, "
        "--model offline none of them)"
    )
    origin = f"{server.kind} on this machine"
    return settings.with_values(origin, model=server.chat_model, base_url=server.base_url)


def of_the_server(settings: Settings) -> Settings:
    """Return settings with the model that the chosen base URL serves, where none is named.

    A server with several models away from this machine may take money for the wrong one: it is not
    chosen from. An OPENAI_BASE_URL stands in the environment for other programs too: it chooses
    nothing. Raises `ConfigError` with what to write.
    """
    origin = settings.origins.get("base_url")
    if "model" in settings.origins or settings.base_url is None or origin == _FOR_ALL_PROGRAMS:
        return settings
    from urllib.parse import urlsplit

    from fsagent.models.addresses import is_loopback
    from fsagent.models.discover import talks

    url = settings.base_url
    listed = _listed(url, settings)
    talking = list(filter(talks, listed))
    if len(talking) != 1 and not (talking and is_loopback(urlsplit(url).hostname)):
        there = ", ".join(listed[:MAX_NAMES]) or "none"
        raise ConfigError(f"no model is chosen; add --model NAME. The server at {url} has: {there}")
    note(f"(using {talking[0]} of {url}.{_others(listed, talking[0])})")
    return settings.with_values(f"the server at {url}", model=talking[0])


def _listed(url: str, settings: Settings) -> tuple[str, ...]:
    from fsagent.models.openai_chat import OpenAIChat

    asked = OpenAIChat("", base_url=url, api_key=settings.api_key, max_retries=0)
    try:
        return tuple(str(one["id"]) for one in asked.listed() if "id" in one)
    except ModelError as err:
        raise ConfigError(
            f"no model is chosen, and the server does not say which it has; add --model NAME. {err}"
        ) from err


def _others(names: tuple[str, ...], used: str) -> str:
    others = [name for name in names if name != used]
    return f" It also has {', '.join(others[:MAX_NAMES])}." if others else ""
