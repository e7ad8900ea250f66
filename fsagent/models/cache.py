"""Keep the replies of a model on disk, so that a run can be repeated without paying twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from fsagent.types import Completion, FinishReason, Message, Model, ToolCall, ToolSpec, Usage

VERSION = 1
"""Part of every key: raise it when the shape of a request or of a kept reply changes."""


class Cached:
    """A model whose replies are kept in `folder`, by the hash of the whole request.

    The key holds the model's name and, where it has one, its `identity` (address, parameters),
    all messages and all tools. `salt` keeps several replies to one request apart (an epoch's
    number). A kept reply that cannot be read is asked for again. `hits` and `misses` count.
    """

    def __init__(self, model: Model, folder: Path, *, salt: str = "") -> None:
        self._model, self._folder, self._salt = model, folder, salt
        self._guard = threading.Lock()
        self.hits = self.misses = 0

    @property
    def name(self) -> str:
        return self._model.name

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """Return the kept reply, else ask the model and keep what it says."""
        path = self._path(messages, tools)
        kept = _read(path)
        self._count(hit=kept is not None)
        if kept is None:
            kept = self._model.complete(messages, tools, on_text=on_text)
            _write(path, kept)
        elif on_text is not None and kept.message.content:
            on_text(kept.message.content)
        return kept

    def _count(self, *, hit: bool) -> None:
        with self._guard:
            self.hits += hit
            self.misses += not hit

    def _path(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Path:
        request = {
            "version": VERSION,
            "salt": self._salt,
            "model": self._model.name,
            "identity": getattr(self._model, "identity", None),
            "messages": [asdict(message) for message in messages],
            "tools": [[tool.name, tool.description, dict(tool.parameters)] for tool in tools],
        }
        text = json.dumps(request, sort_keys=True, ensure_ascii=True)
        key = hashlib.sha256(text.encode("ascii")).hexdigest()
        return self._folder / key[:2] / f"{key}.json"


def _read(path: Path) -> Completion | None:
    try:
        return _decode(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(path: Path, completion: Completion) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        part.write_text(json.dumps(asdict(completion), indent=1), encoding="utf-8", newline="\n")
        part.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()


def _decode(shape: dict[str, Any]) -> Completion:
    message = shape["message"]
    if shape["finish_reason"] not in get_args(FinishReason) or not isinstance(
        message["content"], str
    ):
        raise ValueError("not a kept reply")
    calls = tuple(
        ToolCall(one["id"], one["name"], one["arguments"]) for one in message["tool_calls"]
    )
    return Completion(
        Message(message["role"], message["content"], calls),
        shape["finish_reason"],
        Usage(**shape["usage"]),
        shape["model"],
        bool(shape.get("calls_were_cut")),
    )
