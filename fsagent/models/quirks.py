"""What endpoints refuse, learned once and kept per base URL and model."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from fsagent.models.alternation import STRICTER, Roles
from fsagent.models.faults import Fault

log = logging.getLogger(__name__)

ToolMode = Literal["native", "json"]
Format = Literal["json_schema", "json_object", "none"]
_WEAKER: Mapping[str, Format] = {"json_schema": "json_object", "json_object": "none"}
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


@dataclass(frozen=True, slots=True)
class Quirks:
    """What is known of one endpoint and model.

    `tools` is None until a tool call has come one way or the other; `address` is the base URL
    that answered, where it is not the one given; `dropped` and `renamed` are parameters; `roles` is
    the order of messages that its chat template takes.
    """

    address: str | None = None
    tools: ToolMode | None = None
    response_format: Format = "json_schema"
    stream: bool = True
    headless_thinking: bool = False
    roles: Roles = "any"
    context_tokens: int | None = None
    dropped: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)

    def after(self, fault: Fault) -> Quirks | None:
        """Return the quirks that avoid this fault, or None where there is nothing to change."""
        if fault.kind == "tools" and self.tools != "json":
            return replace(self, tools="json")
        if fault.kind == "roles":
            stricter = STRICTER.get(self.roles)
            return replace(self, roles=stricter) if stricter else None
        if fault.kind != "parameter":
            return None
        changed = self
        for name in fault.parameters:
            changed = changed.without(name, fault.problem.message)
        return None if changed == self else changed

    def without(self, name: str, said: str) -> Quirks:
        """Return the quirks with one parameter renamed, where the server names its other name, or dropped."""
        if name == "response_format":
            return replace(self, response_format=_WEAKER.get(self.response_format, "none"))
        if name == "stream":
            return replace(self, stream=False)
        original = next((old for old, new in self.renamed.items() if new == name), name)
        other = _OTHER_NAME.get(name)
        if other and other in said and original not in self.renamed:
            return replace(self, renamed={**self.renamed, name: other})
        return replace(self, dropped=tuple(sorted({*self.dropped, original})))

    def apply(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters as this endpoint takes them."""
        return {
            self.renamed.get(name, name): value
            for name, value in parameters.items()
            if name not in self.dropped
        }


class QuirkStore:
    """The quirks of all endpoints in one JSON file, or in this process alone without a path.

    The file is derived: losing it costs one refused request per endpoint. A file that cannot be
    read or written is reported at debug level and done without.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, Any] = {}
        self._guard = threading.Lock()

    def get(self, base_url: str, model: str) -> Quirks:
        """Return what is known of a model at a base URL."""
        with self._guard:
            self._known = {**self._known, **self._read()}
            return _decode(self._known.get(_key(base_url, model)))

    def learn(self, base_url: str, model: str, quirks: Quirks) -> None:
        """Keep the quirks of a model at a base URL; what others learned meanwhile stays."""
        shape = {
            name: value for name, value in asdict(quirks).items() if value not in (None, (), {})
        }
        with self._guard:
            self._known = {**self._known, **self._read(), _key(base_url, model): shape}
            self._write()

    def _read(self) -> dict[str, Any]:
        if self._path is None:
            return {}
        try:
            read = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as err:
            log.debug("endpoint quirks not read: %s", err)
            return {}
        return read if isinstance(read, dict) else {}

    def _write(self) -> None:
        if self._path is None:
            return
        text = json.dumps(self._known, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        part = self._path.with_name(f"{self._path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(text, encoding="utf-8", newline="\n")
            part.replace(self._path)
        except OSError as err:
            log.debug("endpoint quirks not written: %s", err)
            with contextlib.suppress(OSError):
                part.unlink()


def _key(base_url: str, model: str) -> str:
    return f"{base_url.rstrip('/')} {model}"


def _decode(shape: object) -> Quirks:
    """Return the quirks in a JSON value; a field of the wrong type is as if it were not there."""
    if not isinstance(shape, Mapping):
        return Quirks()
    checks: dict[str, Any] = {
        "address": lambda v: isinstance(v, str),
        "tools": lambda v: v in ("native", "json"),
        "response_format": lambda v: v in ("json_schema", "json_object", "none"),
        "stream": lambda v: isinstance(v, bool),
        "roles": lambda v: v in ("any", "alternating", "no_system"),
        "headless_thinking": lambda v: isinstance(v, bool),
        "context_tokens": lambda v: isinstance(v, int) and v > 0,
        "dropped": lambda v: isinstance(v, list | tuple) and all(isinstance(one, str) for one in v),
        "renamed": lambda v: (
            isinstance(v, dict) and all(isinstance(one, str) for one in v.values())
        ),
    }
    known = {one.name: shape[one.name] for one in fields(Quirks) if one.name in shape}
    right = {name: value for name, value in known.items() if checks[name](value)}
    if "dropped" in right:
        right["dropped"] = tuple(right["dropped"])
    return Quirks(**right)
