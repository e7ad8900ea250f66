"""What a system under test is given and what it returns.

It gets a sample when it is made and the text of a question when it is asked. No key, evidence or
category reaches it; only `oracle`, the upper bound, is told the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

from fsagent.bench.datasets.schema import Sample
from fsagent.bench.ingest import chronological, rendered_turns
from fsagent.config import Settings
from fsagent.tokens import estimate_text
from fsagent.types import Model, Usage

DEFAULT_BUDGET_TOKENS = 1500


@dataclass(frozen=True, slots=True)
class Response:
    """What a system found for a question, and its answer where it answers itself.

    `ranked` are `dia_id`s, best first (for an agent: in the order it was shown them), each once;
    `tokens[i]` is what showing `ranked[:i + 1]` costs. `shown` are those the answerer sees, as
    `context`. `answer` is None where the common answerer is to answer from the context.
    """

    ranked: tuple[str, ...] = ()
    tokens: tuple[int, ...] = ()
    shown: tuple[str, ...] = ()
    context: str = ""
    shown_tokens: int = 0
    answer: str | None = None
    tool_calls: int = 0
    usage: Usage = field(default_factory=Usage)
    trace: tuple[Mapping[str, Any], ...] = ()


class System(Protocol):
    """A memory of one sample that can be asked."""

    def respond(self, question: str) -> Response: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Setup:
    """What a system may be made of. `folder` is empty and its own; `make_model` makes a new model.

    `window_tokens` is the model's context window where it is known, `style` how an agent is told to
    answer. `evidence` (by question text) is for `oracle` alone and empty for every other system.
    """

    sample: Sample
    folder: Path
    settings: Settings
    make_model: Callable[[], Model]
    budget_tokens: int = DEFAULT_BUDGET_TOKENS
    window_tokens: int | None = None
    style: str = ""
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class RankedContext:
    """Turns ranked lists of a sample's turns into responses: costs, the cut, the context's text."""

    def __init__(self, sample: Sample, budget_tokens: int | None) -> None:
        self._sample = sample
        self._budget = budget_tokens
        self.lines = rendered_turns(sample)
        self._costs = {dia_id: estimate_text(line + "\n") for dia_id, line in self.lines.items()}

    def response(
        self, ranked: Iterable[str], *, trace: Sequence[Mapping[str, Any]] = ()
    ) -> Response:
        """Return the response: the longest beginning of `ranked` within the budget is shown.

        It is shown in the order of the conversation, at least one turn of it.
        """
        order = tuple(dict.fromkeys(ranked))
        tokens = tuple(accumulate(self._costs[dia_id] for dia_id in order))
        within = sum(self._budget is None or spent <= self._budget for spent in tokens)
        shown = order[: max(within, 1)]
        return Response(
            ranked=order,
            tokens=tokens,
            shown=shown,
            context="\n".join(self.lines[dia_id] for dia_id in chronological(shown, self._sample)),
            shown_tokens=tokens[len(shown) - 1] if shown else 0,
            trace=tuple(trace),
        )
