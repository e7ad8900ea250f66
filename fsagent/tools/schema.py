"""Describe a tool to a model: a JSON schema from a function's signature and docstring.

A tool is a typed function. Its name, its parameters' types and defaults come from the
signature, its description from the docstring up to `Args:`, and each parameter's description
from the Google-style `Args:` section. Supported types: `str`, `int`, `float`, `bool`,
`list[...]` of these, `Literal[...]` of strings, and any of them `| None`.
"""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, Union

from fsagent.types import ToolSpec

Tool = Callable[..., Any]
"""A typed function with a Google-style docstring; what it returns is the tool's result.

Text is the result as it is, anything else becomes JSON.
"""

F = TypeVar("F", bound=Tool)

REQUIRED = inspect.Parameter.empty
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_SCALARS: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_ARGUMENT = re.compile(r"^(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")


@dataclass(frozen=True, slots=True)
class ParameterType:
    """The type of a parameter in the terms of JSON.

    `kind` is string, integer, number, boolean or array; `choices` lists the allowed strings,
    `item` is an array's element type, `optional` says that null is allowed.
    """

    kind: str
    optional: bool = False
    choices: tuple[str, ...] = ()
    item: ParameterType | None = None

    def as_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the type."""
        schema: dict[str, Any] = {"type": self.kind}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.item is not None:
            schema["items"] = self.item.as_schema()
        return schema


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool. `default` is `REQUIRED` where there is none."""

    name: str
    type: ParameterType
    default: Any = REQUIRED
    description: str = ""

    @property
    def required(self) -> bool:
        """Say whether a call must name it."""
        return self.default is REQUIRED

    def as_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the parameter; a default that is null or empty is left out."""
        schema = self.type.as_schema()
        if self.description:
            schema["description"] = self.description
        if not self.required and self.default not in (None, "", ()) and _is_json(self.default):
            schema["default"] = self.default
        return schema


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def check_tool(function: Tool) -> None:
    """Raise TypeError for what cannot be called like a tool, saying what to write instead."""
    if not inspect.isroutine(function):
        raise TypeError(
            f"a tool is a function with a name of its own, not {function!r}; wrap it into a def"
        )
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(
            f"tool {function.__name__} is async; wrap it into a def that calls asyncio.run"
        )
    if inspect.isgeneratorfunction(function):
        raise TypeError(f"tool {function.__name__} is a generator; return its text instead")


def tool_spec(function: Tool) -> ToolSpec:
    """Return what a model is told of `function`. Raises TypeError for a type JSON does not have."""
    description, _ = read_docstring(function)
    schema = object_schema(parameters_of(function))
    finds = bool(getattr(function, "finds", False))
    return ToolSpec(function.__name__, description, schema, finds)


def finds(function: F) -> F:
    """Mark a tool that looks things up by words and changes nothing.

    A model in JSON mode begins a question with one of these.
    """
    function.__dict__["finds"] = True
    return function


def object_schema(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the JSON schema of a call's arguments."""
    return {
        "type": "object",
        "properties": {name: parameter.as_schema() for name, parameter in parameters.items()},
        "required": [name for name, parameter in parameters.items() if parameter.required],
        "additionalProperties": False,
    }


def parameters_of(function: Tool) -> dict[str, Parameter]:
    """Return the parameters of `function` in order."""
    hints = typing.get_type_hints(function)
    _, described = read_docstring(function)
    found = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in _NAMED or name not in hints:
            raise TypeError(
                f"tool {function.__name__}: parameter {name} needs a type of its own, and a name to "
                "pass it by"
            )
        found[name] = Parameter(
            name, parameter_type(hints[name]), parameter.default, described.get(name, "")
        )
    return found


def parameter_type(hint: Any) -> ParameterType:
    """Translate a type annotation."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in _SCALARS:
        return ParameterType(_SCALARS[hint])
    if origin in (Union, types.UnionType):
        rest = [argument for argument in arguments if argument is not type(None)]
        if len(rest) == 1:
            inner = parameter_type(rest[0])
            return ParameterType(inner.kind, True, inner.choices, inner.item)
    if origin is Literal and all(isinstance(choice, str) for choice in arguments):
        return ParameterType("string", choices=tuple(arguments))
    if origin is list and arguments:
        return ParameterType("array", item=parameter_type(arguments[0]))
    raise TypeError(f"a tool's parameter cannot be {hint!r}")


def read_docstring(function: Tool) -> tuple[str, dict[str, str]]:
    """Split a docstring into its description and what its `Args:` section says of each name."""
    text = inspect.getdoc(function) or ""
    description, _, section = text.partition("\nArgs:\n")
    return description.strip(), _read_arguments(section)


def _read_arguments(section: str) -> dict[str, str]:
    described: dict[str, str] = {}
    name = ""
    for line in inspect.cleandoc(section).split("\n"):
        if line and not line[0].isspace() and not _ARGUMENT.match(line):
            break
        if match := _ARGUMENT.match(line):
            name, described[match[1]] = match[1], match[2]
        elif name:
            described[name] = f"{described[name]} {line.strip()}".strip()
    return described
