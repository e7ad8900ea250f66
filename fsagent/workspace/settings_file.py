"""Change one list of names in `fsagent.yaml`; every other byte, comments included, stays."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from fsagent.config import SETTINGS_NAME
from fsagent.errors import ConfigError
from fsagent.workspace.tree import Tree, sha256

_PLAIN = re.compile(r"(?!(?:true|false|yes|no|on|off|null|y|n)\Z)[^\W\d][\w-]*", re.I)


def set_names(tree: Tree, key: str, names: Sequence[str]) -> None:
    """Write a list of names under a key of the settings, and read it back before it lands.

    Raises `ConfigError` where the file is written in a way that this cannot change safely.
    """
    data = tree.read_bytes(SETTINGS_NAME)
    text = data.decode("utf-8", "surrogateescape")
    after = with_names(text, key, names)
    if _loaded(after) != {**_loaded(text), key: list(names)}:
        raise _by_hand(key, names)
    tree.replace(SETTINGS_NAME, after.encode("utf-8", "surrogateescape"), expect=sha256(data))


def with_names(text: str, key: str, names: Sequence[str]) -> str:
    """Return the settings' text with `key: [names]`, in place of its value or as a new last line."""
    line = f"{key}: [{', '.join(map(_written, names))}]"
    end = "\r\n" if "\r\n" in text else "\n"
    span = _span(text, key)
    if span is None:
        return text + ("" if not text or text.endswith("\n") else end) + line + end
    start, stop = span
    if "#" in text[start:stop]:
        raise _by_hand(key, names)
    return text[:start] + line + text[stop:]


def _span(text: str, key: str) -> tuple[int, int] | None:
    """Return where a key of the top level and its value stand, without what follows them."""
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as err:
        raise ConfigError(f"{SETTINGS_NAME} is not valid YAML; correct it first") from err
    if not isinstance(root, yaml.MappingNode):
        return None
    for name, value in root.value:
        if name.value == key:
            return name.start_mark.index, max(_end(value), name.end_mark.index + 1)
    return None


def _end(node: Any) -> int:
    """Return where a value ends; a list of lines ends with its last item, not with the next key."""
    items = getattr(node, "value", None)
    if not node.__class__.__name__.startswith("Sequence") or node.flow_style or not items:
        return int(node.end_mark.index)
    return _end(items[-1])


def _loaded(text: str) -> dict[Any, Any]:
    import yaml

    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError:
        return {}
    return values if isinstance(values, dict) else {}


def _written(name: str) -> str:
    """Return a name as YAML reads it back: plain, or quoted as JSON."""
    return name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _by_hand(key: str, names: Sequence[str]) -> ConfigError:
    wanted = ", ".join(map(_written, names))
    return ConfigError(
        f"{SETTINGS_NAME} is written so that {key} cannot be changed without touching something "
        f"else; write there by hand: {key}: [{wanted}]"
    )
