"""Run tool calls: a failure of any kind is a text the model can act on."""

from __future__ import annotations

import difflib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property

from fsagent.errors import CorruptFile, ToolError, UnknownTool
from fsagent.tools.arguments import check_arguments
from fsagent.tools.schema import Parameter, Tool, check_tool, parameters_of, tool_spec
from fsagent.types import ToolCall, ToolSpec

log = logging.getLogger(__name__)

_call_id: ContextVar[str | None] = ContextVar("call_id", default=None)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave back. `failed` covers refusals, bad arguments and crashes alike."""

    text: str
    failed: bool = False


class Toolbox:
    """The tools a model has. Names are unique."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            check_tool(tool)
            if tool.__name__ in self._tools:
                raise ValueError(f"two tools are called {tool.__name__}")
            self._tools[tool.__name__] = tool
        self._parameters = {name: parameters_of(tool) for name, tool in self._tools.items()}

    @cached_property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told of the tools, in their order."""
        return tuple(tool_spec(tool) for tool in self._tools.values())

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names, in their order."""
        return tuple(self._tools)

    def parameters(self, name: str) -> Mapping[str, Parameter]:
        """Return the parameters of one tool."""
        return self._parameters[name]

    def call(self, call: ToolCall) -> str:
        """Run one call and return its result as text."""
        return self.run(call).text

    def run(self, call: ToolCall) -> ToolResult:
        """Run one call; never raises for what a model can get wrong.

        A tool that crashes gives a neutral text: a traceback would show the host's paths to
        the model, and through it to whoever wrote the text it reads.
        """
        try:
            tool = self._find(call.name)
            arguments = check_arguments(call.name, call.arguments, self._parameters[call.name])
            with _calling(call.id):
                return ToolResult(_as_text(tool(**arguments)))
        except (ToolError, CorruptFile) as err:
            return ToolResult(str(err), failed=True)
        except (Exception, SystemExit):  # a tool that exits ends its own call, not the program
            log.exception("tool %s failed", call.name)
            text = f"{call.name} failed inside; the call had no result. Try another way."
            return ToolResult(text, failed=True)

    def _find(self, name: str) -> Tool:
        if name in self._tools:
            return self._tools[name]
        near = difflib.get_close_matches(name, self._tools, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UnknownTool(
            f"The tool {name[:80]!r} does not exist; tools are {', '.join(self._tools)}.{hint}"
        )


def _as_text(result: object) -> str:
    """Return what a tool gave back as text that can be stored: JSON where it is not text already."""
    if result is None:
        return "Done; the call gives nothing back."
    if not isinstance(result, str):
        result = json.dumps(result, ensure_ascii=False, default=str)
    return result.encode("utf-8", "replace").decode("utf-8")


def current_call_id() -> str | None:
    """Return the id of the call under way in this context, for a tool that leaves state behind."""
    return _call_id.get()


@contextmanager
def _calling(call_id: str) -> Iterator[None]:
    token = _call_id.set(call_id)
    try:
        yield
    finally:
        _call_id.reset(token)
