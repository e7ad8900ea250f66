"""The late tail: what changes from step to step, behind everything that stays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from fsagent.agent.prompts import render_block
from fsagent.memory.core import Block
from fsagent.tools.windows import Window
from fsagent.types import FinishReason

PRESSURE = (
    "Memory pressure: the context is {percent} % full. Save what matters from it now (core memory "
    "for lasting facts, archival for the rest) and close files you no longer need; soon the oldest "
    "messages will be replaced by a summary. Everything stays in recall."
)
LAST_STEP = "This is your last step in this turn: answer now with what you have, without a tool."
CUT = (
    "Your last reply was cut at the reply's token limit; its tool calls were not run. "
    "Reply again, shorter, with one call at a time."
)
CUT_EMPTY = (
    "Your last reply was cut at the reply's token limit before it said anything. "
    "Think less, and call a tool or answer the person."
)
EMPTY = "Your last reply was empty. Call a tool or answer the person."
SPEAK = "No heartbeat is left: speak to the person with send_message now."


def empty_note(finish_reason: FinishReason) -> str:
    """Return what a model is told of its empty reply; one cut short was all reasoning."""
    return CUT_EMPTY if finish_reason == "length" else EMPTY


def clock_line(now: datetime) -> str:
    """Return the clock's line, to the minute."""
    return f"Now: {now:%Y-%m-%d %H:%M %A}"


def changed_blocks(frozen: Mapping[str, str], blocks: Sequence[Block]) -> str:
    """Return the blocks that differ from the session's start, as they are now."""
    now = {block.label: block for block in blocks}
    changed = [block for label, block in now.items() if frozen.get(label) != block.value]
    gone = sorted(frozen.keys() - now.keys())
    if not changed and not gone:
        return ""
    lines = ["Core blocks changed since this session began; these hold now:"]
    lines += [render_block(block) for block in changed]
    lines += [f"Block {label} is gone." for label in gone]
    return "\n".join(lines)


def outside_edits(diff: str) -> str:
    """Return the diff of what others changed in memory, empty for none."""
    return f"Memory was edited from outside since your last turn:\n{diff}" if diff else ""


def open_files_line(windows: Iterable[Window]) -> str:
    """Return which files are open, empty for none."""
    shown = [f"{window.path} {window.start}-{window.end}" for window in windows]
    return f"Open files: {', '.join(shown)}" if shown else ""


def join_tail(parts: Iterable[str]) -> str:
    """Return the tail's text of its parts, empty ones left out."""
    return "\n".join(part for part in parts if part)
