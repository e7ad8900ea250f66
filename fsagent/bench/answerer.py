"""The common answerer: the same prompts for every system that does not answer itself.

A prompt is chosen for a run, never by a question's category, but in the mode `official-prompt`
(`fsagent.bench.official_prompt`).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from fsagent.bench.official_prompt import CHOICE, DATE_HINT, SEED
from fsagent.types import Completion, Message, Model

OFFICIAL = "official-prompt"
REFUSAL = "No information available"

_SHORT_RULES = f"""\
- Answer in at most 5 or 6 words, with words of the lines where possible; a list with commas.
- When asked for a time, give the date itself: work out "yesterday" or "last week" from the date \
at the head of the line.
- If the lines do not hold the answer, reply exactly: {REFUSAL}
Reply with the answer alone."""

_EXPLAINED_RULES = f"""\
- First say in a few sentences which lines bear on the question and what follows from them.
- Watch who says what: a line speaks for its speaker.
- When asked for a time, give the date itself: work out "yesterday" or "last week" from the date \
at the head of the line.
- If the lines do not hold the answer, the answer is exactly: {REFUSAL}
End with one line that begins with "Answer:" and holds the answer alone, as short as it can be."""

# LoCoMo's own evaluation asks for no refusal; a question it has no answer for becomes a choice.
_OFFICIAL_RULES = """\
- Answer with a short phrase, in exact words of the lines wherever that is possible.
Reply with the answer alone."""

_GIVEN = "Answer the question from the lines of a conversation that are given to you."
_REMEMBERED = "# How to answer\nAnswer from the lines of memory that your tools show you."
_RULES = {"short": _SHORT_RULES, "explained": _EXPLAINED_RULES, OFFICIAL: _OFFICIAL_RULES}

ANSWER_PROMPTS = {name: f"{_GIVEN}\n{rules}" for name, rules in _RULES.items()}
AGENT_STYLES = {name: f"{_REMEMBERED}\n{rules}" for name, rules in _RULES.items()}
"""The same rules for an agent, which finds its lines itself: the end of its system prompt."""

_ANSWER_LINE = re.compile(r"^\W*answer\W*:\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer as it is scored, and the exchange it came from."""

    text: str
    messages: tuple[Message, ...]
    completion: Completion


def answer(model: Model, question: str, context: str, *, prompt: str, now: str) -> Answered:
    """Ask `model` to answer `question` from `context`. Raises `ModelError` where it cannot."""
    messages = (
        Message("system", ANSWER_PROMPTS[prompt]),
        Message("user", f"Today is {now}.\n\n{context or '(no lines)'}\n\nQuestion: {question}"),
    )
    completion = model.complete(messages)
    return Answered(final_answer(completion.message.content, prompt), messages, completion)


def final_answer(reply: str, prompt: str) -> str:
    """Return the part of a reply that is scored: for `explained`, what its last line answers."""
    text = reply.strip()
    if prompt == "explained" and (found := _ANSWER_LINE.findall(text)):
        return str(found[-1])
    return text


def answering_sha256(prompt: str) -> str:
    """Return the hash of all the words by which a run asks for its answers."""
    texts = [ANSWER_PROMPTS[prompt], AGENT_STYLES[prompt]]
    return prompt_sha256("".join(texts + ([DATE_HINT, CHOICE, SEED] if prompt == OFFICIAL else [])))


def prompt_sha256(text: str) -> str:
    """Return the hash by which a run names a prompt."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
