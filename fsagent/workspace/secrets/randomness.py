"""Tell a random token from an identifier, a digest, a path or encoded text.

A token is read as a walk over the classes lower, upper and digit. `_ODDS` holds, for each step, the
logarithm of how much likelier it is in uniformly random characters than in the names people write
(`getUserById2`, `notes-2026-11-29`); their sum decides. Hex alone is never random here: digests,
UUIDs and object names look the same as a key.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from itertools import pairwise

LEAST_CHARS, MOST_CHARS = 24, 256
"""What is shorter is rarely a key; what is longer is data."""

_LEAST_ONE_CASE = 32
_LEAST_PIECE = 16
_LEAST_PART_OF_PATH = 20
_LEAST_ODDS = 5.0
_LEAST_NAMED_ODDS = -3.0
_HEX = re.compile(r"(?:[0-9a-f]+|[0-9A-F]+)")
_JOINTS = re.compile(r"[-_=+]")
_BASE58_ADDRESS = re.compile(r"[13][1-9A-HJ-NP-Za-km-z]{25,33}")
_PUBLIC_KEY = ("AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "AAAAGnNr")

# Rows: the class left, columns: the class entered; l, u, d.
_NAMES = {
    "l": {"l": 0.85, "u": 0.10, "d": 0.05},
    "u": {"l": 0.70, "u": 0.25, "d": 0.05},
    "d": {"l": 0.15, "u": 0.20, "d": 0.65},
}


def _odds(shares: dict[str, float]) -> dict[str, dict[str, float]]:
    return {
        left: {right: math.log(shares[right] / row[right]) for right in shares}
        for left, row in _NAMES.items()
    }


_MIXED = _odds({"l": 26 / 62, "u": 26 / 62, "d": 10 / 62})
_LOWER = _odds({"l": 26 / 36, "d": 10 / 36})
_UPPER = _odds({"u": 26 / 36, "d": 10 / 36})


def looks_random(token: str) -> bool:
    """Say whether a run of `[A-Za-z0-9+/=_-]` looks like a key that some program drew."""
    core = "".join(char for char in token if char.isalnum())
    if not LEAST_CHARS <= len(token.strip("-_=")) <= MOST_CHARS or _HEX.fullmatch(core):
        return False
    if max(map(len, token.split("/"))) < min(_LEAST_PART_OF_PATH, len(token)):
        return False
    if max(map(len, _JOINTS.split(token))) < _LEAST_PIECE:
        return False
    if _BASE58_ADDRESS.fullmatch(token) or token.startswith(_PUBLIC_KEY):
        return False
    return _is_drawn(core) and decoded(token) is None


def is_mixed(text: str) -> bool:
    """Say whether a token that a rule names holds what its random part must: letters and digits.

    It keeps `sk-learn-pipeline-for-beginners` from being a key.
    """
    core = "".join(char for char in text if char.isalnum())
    if core.isalpha() or not any(map(str.isalpha, core)):
        return False
    hexed = _HEX.fullmatch(text.rpartition("-")[2])
    return odds(core) > _LEAST_NAMED_ODDS or (hexed is not None and len(hexed[0]) >= LEAST_CHARS)


def odds(core: str) -> float:
    """Return how much likelier, as a logarithm, letters and digits are drawn than named."""
    classes = "".join("d" if char.isdigit() else "u" if char.isupper() else "l" for char in core)
    table = _MIXED if {"l", "u"} <= set(classes) else _UPPER if "u" in classes else _LOWER
    return sum(table[left][right] for left, right in pairwise(classes))


def decoded(token: str) -> str | None:
    """Return the text that a token encodes in base64, None where it is not readable text."""
    plain = token.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        text = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    readable = sum(char.isprintable() or char in "\r\n\t" for char in text)
    return text if text and readable == len(text) else None


def _is_drawn(core: str) -> bool:
    if core.isalpha() or core.isdigit():
        return False
    one_case = core == core.lower() or core == core.upper()
    if one_case and len(core) < _LEAST_ONE_CASE:
        return False
    return odds(core) >= _LEAST_ODDS
