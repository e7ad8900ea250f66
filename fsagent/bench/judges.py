"""Judges: a model says whether an answer is right, in strict JSON that is parsed exactly.

`generous` follows the judge that most published figures use (on topic is enough), for comparison.
`strict` asks for every required fact and the right date, and is the headline. A reply that does not
parse is an error: asked again, then listed; never right, never wrong.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from fsagent.errors import MalformedResponse, ModelError, ModelUnavailable
from fsagent.types import Message, Model, Usage

Label = Literal["CORRECT", "WRONG"]
LABELS: tuple[Label, ...] = ("CORRECT", "WRONG")
ATTEMPTS = 3

_REPLY = """\
Reply with one JSON object and nothing else, in this form:
{"reason": "one sentence", "label": "CORRECT"}
The label is CORRECT or WRONG."""

_GENEROUS = f"""\
You grade an answer to a question about what two people said in their conversations. You get the \
question, the gold answer and the given answer. The gold answer is short; the given answer may be \
much longer. Be generous: as long as the given answer touches on the same topic as the gold \
answer, it is CORRECT. For questions about time, an answer that refers to the same date or period \
is CORRECT whatever its format, and a relative time counts where it means the same.
{_REPLY}"""

_STRICT = f"""\
You grade an answer to a question about what two people said in their conversations. You get the \
question, the gold answer and the given answer. The given answer is CORRECT only if
- it states every fact that the gold answer states, in any words (of a list: every item; where the \
gold answer names alternatives with "or", one of them);
- nothing in it contradicts the gold answer;
- a date or a period is the same one, in any format; a vaguer time ("in spring") is WRONG where \
the gold answer is exact, and so is a time relative to an unnamed day.
An answer that only names the topic, hedges between several answers, or says that nothing is known \
is WRONG. Extra detail that the gold answer does not speak of is no fault.
{_REPLY}"""

JUDGE_PROMPTS = {"generous": _GENEROUS, "strict": _STRICT}
JUDGE_NAMES = tuple(JUDGE_PROMPTS)

_FENCE = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said. `label` is None after an error, which `error` then names.

    `reply` is the last reply that could not be read; with `outage` the model gave none at all.
    """

    label: Label | None
    reason: str = ""
    error: str | None = None
    reply: str | None = None
    outage: bool = False
    attempts: int = 1
    usage: Usage = field(default_factory=Usage)


def judge(model: Model, name: str, *, question: str, gold: str, answer: str) -> Verdict:
    """Ask a judge about one answer, again where its reply does not parse or the model fails."""
    request = [
        Message("system", JUDGE_PROMPTS[name]),
        Message("user", f"Question: {question}\nGold answer: {gold}\nGiven answer: {answer}"),
    ]
    usage, error, reply, outage = Usage(), "", None, False
    for attempt in range(1, ATTEMPTS + 1):
        try:
            completion = model.complete(request)
            usage += completion.usage
            reply = completion.message.content
            if completion.finish_reason == "length":
                raise MalformedResponse("the reply was cut at its length limit")
            label, reason = parse_verdict(reply)
            return Verdict(label, reason, attempts=attempt, usage=usage)
        except (ValueError, ModelError) as err:
            error = f"{type(err).__name__}: {err}"
            outage = isinstance(err, ModelUnavailable)
            # Another request than before, so that a cache does not give the same reply again.
            note = f"Attempt {attempt} could not be read ({err}). {_REPLY}"
            request = [*request[:2], Message("user", note)]
    return Verdict(None, error=error, reply=reply, outage=outage, attempts=ATTEMPTS, usage=usage)


def parse_verdict(reply: str) -> tuple[Label, str]:
    """Return label and reason of a judge's reply.

    Accepted is one JSON object, alone or in one code fence, with exactly the keys `label` and
    `reason`. Raises ValueError for everything else: a word like CORRECT in a sentence is no verdict.
    """
    text = reply.strip()
    if fenced := _FENCE.fullmatch(text):
        text = fenced.group(1)
    try:
        content = json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as err:
        raise ValueError(f"the reply is not JSON: {err}") from err
    except RecursionError as err:
        raise ValueError("the reply is nested too deeply") from err
    if not isinstance(content, dict):
        raise ValueError("the reply is not a JSON object")
    if set(content) != {"label", "reason"}:
        raise ValueError(f"the keys are {sorted(content)}, not label and reason")
    label, reason = content["label"], content["reason"]
    if label not in LABELS or not isinstance(reason, str):
        raise ValueError(f"the label is {label!r}, not CORRECT or WRONG, or the reason is no text")
    return label, reason


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)
