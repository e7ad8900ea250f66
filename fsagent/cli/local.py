"""Use a model server of this machine where nothing else is chosen, and say so first."""

from __future__ import annotations

from fsagent.cli.common import note
from fsagent.config import Settings

CHOICES = frozenset({"model", "base_url", "api_key"})
MAX_NAMES = 6


def found_here(settings: Settings) -> Settings:
    """Return settings with the first server found on this machine; unchanged where one is chosen.

    Only the ports of `local_ports` on loopback are asked, all of them within 150 ms.
    """
    from fsagent.models.discover import QUICK_TIMEOUT_S, discover, ports_of

    if CHOICES & settings.origins.keys():
        return settings
    servers = discover(ports_of(settings.local_ports), timeout_s=QUICK_TIMEOUT_S)
    server = next((one for one in servers if one.chat_model), None)
    if server is None or server.chat_model is None:
        return settings
    others = [name for name in server.models if name != server.chat_model]
    more = f" It also has {', '.join(others[:MAX_NAMES])}." if others else ""
    note(
        f"(found {server.kind} on this machine, {server.base_url}: using its {server.chat_model}."
        f"{more} --model NAME takes another, --model offline none of them)"
    )
    origin = f"{server.kind} on this machine"
    return settings.with_values(origin, model=server.chat_model, base_url=server.base_url)
