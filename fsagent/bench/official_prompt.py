"""The mode `official-prompt`: a question's category selects its prompt, as LoCoMo's own evaluation does.

It is the one mode where the category may, named in every report, for figures to stand beside the
paper's. The rules are those published: a temporal question asks for an approximate date by the
conversations' dates; an adversarial one becomes a choice between "Not mentioned in the conversation"
and its trap. The wording is ours. Which of the two stands first hangs on the question alone.
"""

from __future__ import annotations

import hashlib
import re

from fsagent.bench.datasets.schema import ADVERSARIAL, Question

NOT_MENTIONED = "Not mentioned in the conversation"
SEED = "locomo"
TEMPORAL = 2

DATE_HINT = "Go by the dates of the conversations; an approximate date will do."
CHOICE = "Which of the two is right: (a) {a} (b) {b}?"

_CHOSEN = re.compile(r"\W*(?:option\s+)?([ab])\b\W*", re.IGNORECASE)


def official_question(question: Question) -> str:
    """Return the question as the answerer gets it in this mode."""
    if question.category == TEMPORAL:
        return f"{question.text} {DATE_HINT}"
    if choices := _choices(question):
        return f"{question.text} {CHOICE.format(**choices)}"
    return question.text


def official_answer(reply: str, question: Question) -> str:
    """Return what a reply chose where the question was a choice, else the reply."""
    chosen = _CHOSEN.match(reply)
    choices = _choices(question)
    if not choices or chosen is None or not _is_choice(reply, chosen):
        return reply
    return choices[chosen[1].lower()]


def _is_choice(reply: str, chosen: re.Match[str]) -> bool:
    """Tell "(a)", "b" and "(a) Not mentioned" from an answer that begins with the article."""
    return chosen.end() == len(reply) or ")" in chosen[0] or ":" in chosen[0]


def _choices(question: Question) -> dict[str, str]:
    """Return what (a) and (b) stand for, nothing where the question is no choice."""
    if question.category != ADVERSARIAL or question.trap is None:
        return {}
    drawn = hashlib.sha256(f"{SEED}/{question.sample_id}/{question.index}".encode()).digest()[0]
    if drawn % 2:
        return {"a": question.trap, "b": NOT_MENTIONED}
    return {"a": NOT_MENTIONED, "b": question.trap}
