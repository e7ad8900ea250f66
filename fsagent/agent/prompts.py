"""The prompts: files of the workspace a person may edit, else the template's."""

from __future__ import annotations

from collections.abc import Sequence

from fsagent.errors import PathRejected
from fsagent.memory.core import Block
from fsagent.tokens import BYTES_PER_TOKEN, estimate_text
from fsagent.tools.scope import clip_bytes
from fsagent.workspace.template import template_text
from fsagent.workspace.tree import Tree

CORE_SHARE = 0.3
"""The share of the context that core blocks may fill in the prompt."""


def read_prompt(tree: Tree, name: str) -> str:
    """Return the text of `prompts/<name>.md`."""
    path = f"prompts/{name}.md"
    try:
        return tree.read_text(path).strip()
    except PathRejected as err:
        if err.code != "MISSING":
            raise
    return template_text(path).strip()


def system_prompt(prompt: str, blocks: Sequence[Block], *, context_tokens: int) -> str:
    """Return the system message: the prompt, then every core block."""
    budget = int(context_tokens * CORE_SHARE)
    shown = [render_block(block) for block in blocks]
    used = sum(map(estimate_text, shown))
    if used > budget:
        share = budget * BYTES_PER_TOKEN // max(1, len(shown))
        shown = [_clipped(text, share) for text in shown]
    return "\n\n".join([prompt, "# Core memory", *shown])


def render_block(block: Block) -> str:
    """Return a block as it stands in the context."""
    about = f" description={block.description!r}" if block.description else ""
    limits = f"{block.size}/{block.limit} characters" + (", read-only" if block.read_only else "")
    limits += ", shared with other agents" if block.shared else ""
    return f"<block label={block.label!r}{about} use={limits!r}>\n{block.value}\n</block>"


def _clipped(text: str, limit_bytes: int) -> str:
    cut = clip_bytes(text, limit_bytes)
    return (
        text if cut == text else f"{cut}\n(clipped: the context is small; open the file)\n</block>"
    )
