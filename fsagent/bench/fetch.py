"""Fetch LoCoMo from its public repository: the licence shown, the sum checked, nothing half-written."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from pathlib import Path

from fsagent.bench.datasets.locomo import SHA256
from fsagent.errors import ConfigError

URL = "https://raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json"
MAX_BYTES = 16 * 1024 * 1024
TIMEOUT_S = 60.0
LICENCE = """\
LoCoMo (Maharana et al., 2024), github.com/snap-research/locomo, is licensed under
Creative Commons Attribution-NonCommercial 4.0 (CC BY-NC 4.0): name its authors, no commercial use.
https://creativecommons.org/licenses/by-nc/4.0/"""


def fetch_locomo(target: Path, *, url: str = URL, sha256: str = SHA256) -> Path:
    """Download the file to `target` and return it; a file with the right sum is left as it is.

    Raises `ConfigError` without a network, for a server's refusal and for a wrong sum; `target` is
    then as it was.
    """
    if target.exists():
        if _sum(target.read_bytes()) == sha256:
            return target
        raise ConfigError(f"{target} exists and is another file; move it, or choose another --out")
    data = _download(url)
    if _sum(data) != sha256:
        raise ConfigError(
            f"{url} gave {len(data)} bytes with the sum {_sum(data)}, expected {sha256}; "
            "nothing was written"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    part.write_bytes(data)
    part.replace(target)
    return target


def _download(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as reply:
            data: bytes = reply.read(MAX_BYTES + 1)
    except urllib.error.HTTPError as err:
        err.close()
        raise ConfigError(f"{url} answered {err.code} {err.reason}") from err
    except (OSError, ValueError) as err:
        reason = getattr(err, "reason", err)
        raise ConfigError(
            f"no connection to {url} ({reason}); download it where there is a network, "
            "and pass it with --data"
        ) from err
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{url} gave more than {MAX_BYTES} bytes; nothing was written")
    return data


def _sum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
