"""A tool is a typed function: its schema, its arguments, its failures."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator
from datetime import date
from typing import Literal

import pytest

from fsagent.errors import ToolError
from fsagent.tools.registry import Toolbox, ToolResult, current_call_id
from fsagent.tools.schema import Tool, tool_spec
from fsagent.types import ToolCall


def find(
    pattern: str,
    path: str = ".",
    *,
    limit: int = 50,
    exact: bool = False,
    weight: float = 1.0,
    tags: list[str] | None = None,
    order: Literal["new", "old"] = "new",
    until: str | None = None,
) -> str:
    """Find lines.

    Newest first.

    Args:
        pattern: What to find, e.g. `adopt(ion|ed)`,
            over several lines.
        path: Folder or file.
        limit: Most lines.
    """
    return repr((pattern, path, limit, exact, weight, tags, order, until))


def crash() -> str:
    """Fail inside."""
    raise RuntimeError("/home/someone/secret.md")


def refuse() -> str:
    """Refuse."""
    raise ToolError("No. Try find.")


@pytest.fixture
def box() -> Toolbox:
    return Toolbox([find, crash, refuse])


def run(box: Toolbox, arguments: str, name: str = "find") -> str:
    return box.call(ToolCall("c1", name, arguments))


def test_schema_comes_from_signature_and_docstring() -> None:
    spec = tool_spec(find)
    assert (spec.name, spec.description) == ("find", "Find lines.\n\nNewest first.")
    properties = spec.parameters["properties"]
    assert properties["pattern"] == {
        "type": "string",
        "description": "What to find, e.g. `adopt(ion|ed)`, over several lines.",
    }
    assert properties["limit"] == {"type": "integer", "description": "Most lines.", "default": 50}
    assert properties["tags"] == {"type": "array", "items": {"type": "string"}}
    assert properties["order"] == {"type": "string", "enum": ["new", "old"], "default": "new"}
    assert spec.parameters["required"] == ["pattern"]
    assert spec.parameters["additionalProperties"] is False


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ('{"pattern": "a", "limit": "5"}', "('a', '.', 5, False, 1.0, None, 'new', None)"),
        ('{"pattern": "a", "limit": 5.0}', "('a', '.', 5, False, 1.0, None, 'new', None)"),
        ('{"pattern": "a", "exact": "true"}', "('a', '.', 50, True, 1.0, None, 'new', None)"),
        ('{"pattern": "a", "tags": "[\\"x\\"]"}', "('a', '.', 50, False, 1.0, ['x'], 'new', None)"),
        ('{"pattern": "a", "tags": "x"}', "('a', '.', 50, False, 1.0, ['x'], 'new', None)"),
        ('{"pattern": 2022, "weight": "0.5"}', "('2022', '.', 50, False, 0.5, None, 'new', None)"),
        ('{"pattern": "a", "path": null}', "('a', '.', 50, False, 1.0, None, 'new', None)"),
        ('{"pattern": "a", "until": null}', "('a', '.', 50, False, 1.0, None, 'new', None)"),
    ],
)
def test_lossless_coercion(box: Toolbox, given: str, shown: str) -> None:
    assert run(box, given) == shown


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ('{"pattern": "a"', "not JSON: Expecting ',' delimiter at character 15"),
        ("", "not JSON"),
        ("find a dog", "not JSON"),
        ('{"pattern": "a"}{"pattern": "b"}', "several JSON objects"),
        ('{"pattern": "a"} and more', "one JSON object and then"),
        ('["a"]', "must be one JSON object"),
        ('"a"', "must be one JSON object"),
        ('{"pattern": "a", "pattern": "b"}', "'pattern' stands twice"),
        ('{"pattern": "a", "limit": NaN}', "NaN is not a JSON value"),
        ("{}", "parameter 'pattern' is missing"),
        ('{"pattern": null}', "parameter 'pattern' must be a string, not null"),
        ('{"pattern": true}', "parameter 'pattern' must be a string, not true"),
        ('{"pattern": "a", "limit": "many"}', "parameter 'limit' must be an integer"),
        ('{"pattern": "a", "limit": true}', "parameter 'limit' must be an integer, not true"),
        ('{"pattern": "a", "limit": 5.5}', "parameter 'limit' must be an integer, not 5.5"),
        ('{"pattern": "a", "exact": 1}', "parameter 'exact' must be true or false, not 1"),
        ('{"pattern": "a", "tags": "[1"}', "its text is not JSON"),
        ('{"pattern": "a", "tags": {}}', "must be a list"),
        ('{"pattern": "a", "order": "up"}', "must be one of new, old"),
        ('{"pattern": "a", "limits": 3}', "no parameter 'limits', did you mean 'limit'?"),
        ('{"pattern": "a", "limit": "--5"}', "parameter 'limit' must be an integer"),
        (
            '{"pattern": "a", "limit": "' + "9" * 5_000 + '"}',
            "parameter 'limit' must be an integer",
        ),
        ('{"pattern": "a", "weight": "true"}', "parameter 'weight' must be a number"),
        ('{"pattern": "a", "weight": "Infinity"}', "parameter 'weight' must be a number"),
        ('{"pattern": "a", "weight": 1e400}', "parameter 'weight' must be a number"),
        ('{"pattern": "a", "weight": 1' + "0" * 400 + "}", "parameter 'weight' must be a number"),
        ('{"pattern": "a", "tags": "' + "[" * 100_000 + '"}', "its text is not JSON"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_bad_arguments_are_refused_with_the_schema(box: Toolbox, given: str, says: str) -> None:
    result = box.run(ToolCall("c1", "find", given))
    assert result.failed
    assert says in result.text
    assert '"additionalProperties": false' in result.text
    assert result.text.startswith("find was not run: ")


def test_unknown_tool_names_the_nearest(box: Toolbox) -> None:
    text = run(box, "{}", name="fnid")
    assert text == (
        "The tool 'fnid' does not exist; tools are find, crash, refuse. Did you mean find?"
    )


def test_a_tool_error_is_the_result(box: Toolbox) -> None:
    assert box.run(ToolCall("c1", "refuse", "{}")).text == "No. Try find."


def test_a_crash_is_logged_and_shows_no_host_path(
    box: Toolbox, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        result = box.run(ToolCall("c1", "crash", "{}"))
    assert result.failed
    assert "/home" not in result.text
    assert "RuntimeError" in caplog.text


def test_a_tool_knows_the_id_of_its_call() -> None:
    def whoami() -> str:
        """Tell the call's id."""
        return str(current_call_id())

    assert Toolbox([whoami]).call(ToolCall("c7", "whoami", "{}")) == "c7"
    assert current_call_id() is None


def test_a_parameter_without_a_type_is_a_bug_of_the_tool() -> None:
    def untyped(thing) -> str:  # type: ignore[no-untyped-def]
        """Take anything."""
        return str(thing)

    with pytest.raises(TypeError, match="thing needs a type"):
        Toolbox([untyped])


RESULTS = {
    "text": ("Rain.", "Rain."),
    "nothing": (None, "Done; the call gives nothing back."),
    "a mapping": ({"rain": True, "mm": 3}, '{"rain": true, "mm": 3}'),
    "a date": (date(2026, 5, 9), '"2026-05-09"'),
    "half a character": ("Rain \ud83d.", "Rain ?."),
}


@pytest.mark.parametrize(("given", "shown"), RESULTS.values(), ids=RESULTS.keys())
def test_whatever_a_tool_gives_back_becomes_text(given: object, shown: str) -> None:
    def weather() -> object:
        """Tell the weather."""
        return given

    assert Toolbox([weather]).run(ToolCall("c1", "weather", "{}")) == ToolResult(shown)


def test_a_tool_that_exits_ends_its_own_call_alone() -> None:
    def leave() -> str:
        """Exit."""
        raise SystemExit(3)

    assert Toolbox([leave]).run(ToolCall("c1", "leave", "{}")).failed


async def sleepy() -> str:
    """Wait."""
    return "Rain."


def drops() -> Iterator[str]:
    """Fall."""
    yield "Rain."


def by_place(city: str, /) -> str:
    """Tell the weather."""
    return city


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        (sleepy, "sleepy is async"),
        (drops, "drops is a generator"),
        (by_place, "city needs a type of its own, and a name"),
        (functools.partial(find, "a"), "a function with a name of its own"),
    ],
)
def test_what_cannot_be_called_like_a_tool_is_refused_at_once(tool: Tool, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        Toolbox([tool])


def test_a_default_that_json_does_not_have_is_not_told() -> None:
    def drive(speed: float = float("inf")) -> str:
        """Drive."""
        return str(speed)

    assert tool_spec(drive).parameters["properties"] == {"speed": {"type": "number"}}
