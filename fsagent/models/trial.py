"""A small request that shows how a model calls tools."""

from __future__ import annotations

from fsagent.types import Message, ToolSpec

ASK_ONE = (Message("user", "What is the weather in Oslo? Use the tool."),)
ASK_TWO = (
    Message("user", "What is the weather in Oslo and in Rome? Call the tool for both at once."),
)
WEATHER = ToolSpec(
    "get_weather",
    "Return the weather of a city.",
    {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "For example `Paris`."}},
        "required": ["city"],
    },
)
