"""The addresses a base URL may stand for."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

OPENAI_URL = "https://api.openai.com/v1"


def addresses(base_url: str) -> list[str]:
    """Return the addresses to try, likeliest first: people write base URLs with and without /v1.

    An address copied with `/chat/completions` at its end loses it.
    """
    base = base_url.rstrip("/")
    for suffix in ("/chat/completions", "/completions"):
        base = base.removesuffix(suffix)
    if base.endswith("/v1"):
        return [base, base.removesuffix("/v1")]
    with_v1 = f"{base}/v1"
    return [with_v1, base] if urlsplit(base).path in ("", "/") else [base, with_v1]


def is_loopback(host: str | None) -> bool:
    """Return whether a host is this machine."""
    if host is None:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
