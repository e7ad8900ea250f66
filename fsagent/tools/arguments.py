"""Check a tool call's arguments: parse the JSON, coerce without loss, then be strict.

Nothing runs on arguments that are not exactly one JSON object: malformed text is reported with
its position and the schema, and is never taken for `{}`. `"5"`, `"true"` and `'["a"]'` become
what the schema asks for, since nothing is lost by it; anything else is refused by name.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from fsagent.errors import BadArguments
from fsagent.tools.schema import Parameter, ParameterType, object_schema

_NEAR = 20
_INTEGER = re.compile(r"[+-]?[0-9]{1,300}")
_NUMBER = re.compile(r"[+-]?[0-9]{1,300}(\.[0-9]{0,300})?([eE][+-]?[0-9]{1,3})?")


class _Mismatch(Exception):
    """The value does not fit; the text says what was expected."""


def check_arguments(tool: str, raw: str, parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the keyword arguments of a call.

    Raises BadArguments with a text the model can act on.
    """
    given = _parse_object(tool, raw, parameters)
    problems = [_unknown(name, parameters) for name in given if name not in parameters]
    problems += [
        f"parameter {name!r} is missing"
        for name, parameter in parameters.items()
        if parameter.required and name not in given
    ]
    values = {}
    for name in given.keys() & parameters.keys():
        try:
            values[name] = coerce(given[name], parameters[name])
        except _Mismatch as mismatch:
            problems.append(f"parameter {name!r} {mismatch}")
    if problems:
        raise BadArguments(_refusal(tool, "; ".join(sorted(problems)), parameters))
    return {name: values[name] for name in parameters if name in values}


def coerce(value: Any, parameter: Parameter) -> Any:
    """Return `value` as the parameter's type where nothing is lost by it."""
    if value is None and (parameter.type.optional or not parameter.required):
        return None if parameter.type.optional else parameter.default
    return _coerce(value, parameter.type)


def _coerce(value: Any, wanted: ParameterType) -> Any:
    if wanted.kind == "array":
        return _coerce_array(value, wanted)
    converted = {
        "string": _as_string,
        "integer": _as_integer,
        "number": _as_number,
        "boolean": _as_boolean,
    }[wanted.kind](value)
    if wanted.choices and converted not in wanted.choices:
        raise _Mismatch(f"must be one of {', '.join(wanted.choices)}, not {_shown(value)}")
    return converted


def _as_string(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _Mismatch(f"must be a string, not {_shown(value)}")


def _as_integer(value: Any) -> int:
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _Mismatch(f"must be an integer, not {_shown(value)}")


def _as_number(value: Any) -> float:
    number = value.strip() if isinstance(value, str) else value
    if isinstance(number, str) and _NUMBER.fullmatch(number):
        number = float(number)
    if isinstance(number, int | float) and not isinstance(number, bool):
        with contextlib.suppress(OverflowError):
            if math.isfinite(number):
                return float(number)
    raise _Mismatch(f"must be a number, not {_shown(value)}")


def _as_boolean(value: Any) -> bool:
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if isinstance(value, bool):
        return value
    raise _Mismatch(f"must be true or false, not {_shown(value)}")


def _coerce_array(value: Any, wanted: ParameterType) -> list[Any]:
    assert wanted.item is not None
    if isinstance(value, str):
        value = _array_from_text(value)
    if not isinstance(value, list):
        raise _Mismatch(f"must be a list, not {_shown(value)}")
    return [_coerce(item, wanted.item) for item in value]


def _array_from_text(text: str) -> Any:
    """Read `'["a"]'`; any other text is the only item of a list."""
    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as err:
            raise _Mismatch(f"must be a list, and its text is not JSON: {err}") from None
    return [text] if text.strip() else []


def _parse_object(tool: str, raw: str, parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    text = raw.strip()
    try:
        value, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError as err:
        near = text[max(0, err.pos - _NEAR) : err.pos + _NEAR]
        problem = f"the arguments are not JSON: {err.msg} at character {err.pos}, near {near!r}"
        raise BadArguments(_refusal(tool, problem, parameters)) from None
    except (ValueError, RecursionError) as err:
        raise BadArguments(
            _refusal(tool, f"the arguments are not JSON: {err}", parameters)
        ) from None
    if rest := text[end:].strip():
        kind = (
            "several JSON objects one after the other; make one call for each"
            if rest.startswith("{")
            else f"one JSON object and then {rest[:_NEAR]!r}"
        )
        problem = f"the arguments are {kind} (second begins at character {end})"
        raise BadArguments(_refusal(tool, problem, parameters))
    if not isinstance(value, dict):
        problem = f"the arguments must be one JSON object, not {_shown(value)}"
        raise BadArguments(_refusal(tool, problem, parameters))
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if twice := {key for key in keys if keys.count(key) > 1}:
        raise ValueError(f"key {sorted(twice)[0]!r} stands twice")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_no_constant)


def _unknown(name: str, parameters: Mapping[str, Parameter]) -> str:
    near = difflib.get_close_matches(name, parameters, n=1)
    hint = f", did you mean {near[0]!r}?" if near else ""
    return f"there is no parameter {name[:80]!r}{hint}"


def _refusal(tool: str, problem: str, parameters: Mapping[str, Parameter]) -> str:
    schema = json.dumps(object_schema(parameters), ensure_ascii=False)
    return f"{tool} was not run: {problem}. Send the call again; its schema is {schema}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:60]}..."
