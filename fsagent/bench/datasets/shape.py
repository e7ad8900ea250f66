"""Check foreign data where it comes in: each complaint says which key of which sample."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from fsagent.errors import ConfigError


def read_json(path: Path) -> tuple[Any, str]:
    """Return a file's JSON and the sha256 of its bytes."""
    try:
        raw = path.read_bytes()
    except OSError as err:
        raise ConfigError(f"cannot read {path}: {err.strerror or err}") from err
    try:
        return json.loads(raw.decode("utf-8-sig")), hashlib.sha256(raw).hexdigest()
    except (ValueError, RecursionError) as err:
        raise ConfigError(f"{path} is not JSON in UTF-8: {err}") from err


def field(of: Mapping[str, Any], key: str, where: str) -> Any:
    """Return a key's value, which must be there and not null."""
    if of.get(key) is None:
        raise ConfigError(f"{where} has no {key!r}")
    return of[key]


def mapping(value: object, where: str) -> Mapping[str, Any]:
    """Return a value that must be an object."""
    if not isinstance(value, dict):
        raise ConfigError(f"{where} is {kind(value)}, an object was expected")
    return value


def sequence(value: object, where: str) -> list[Any]:
    """Return a value that must be a list."""
    if not isinstance(value, list):
        raise ConfigError(f"{where} is {kind(value)}, a list was expected")
    return value


def moment(value: object, formats: tuple[str, ...], where: str, example: str) -> datetime:
    """Return a date and time written in one of the formats."""
    text = str(value).strip()
    for format in formats:
        try:
            return datetime.strptime(text, format)
        except ValueError:
            continue
    raise ConfigError(f"{where} is {text!r}, expected like {example!r}")


def kind(value: object) -> str:
    """Return what a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    names = {dict: "an object", str: "a string", bool: "a boolean"}
    return names.get(type(value), "a number")
