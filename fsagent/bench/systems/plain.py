"""The systems without a search: full context, no memory, and the oracle that is told the evidence."""

from __future__ import annotations

from fsagent.bench.systems.base import RankedContext, Response, Setup

WINDOW_SHARE = 0.6
"""How much of a window the conversation may take by our estimate of its tokens: lines full of dates
and names have up to 1.4 times as many, and the prompt and the answer need room too."""


class FullContext:
    """`full-context`: every turn is shown, in order. Its ranks mean nothing, its cost does.

    Where the model's window is set and smaller, the newest turns that fit are shown.
    """

    def __init__(self, setup: Setup) -> None:
        turns = [turn.dia_id for turn in setup.sample.turns]
        budget = None if setup.window_tokens is None else int(setup.window_tokens * WINDOW_SHARE)
        within = RankedContext(setup.sample, budget).response(reversed(turns)).shown
        self._response = RankedContext(setup.sample, None).response(
            turn for turn in turns if turn in set(within)
        )

    def respond(self, question: str) -> Response:
        """Show the whole conversation."""
        return self._response

    def close(self) -> None:
        """Nothing is held."""


class NoMemory:
    """`no-memory`: the question alone, the floor of guessing and of contamination."""

    def __init__(self, setup: Setup) -> None:
        pass

    def respond(self, question: str) -> Response:
        """Show nothing."""
        return Response()

    def close(self) -> None:
        """Nothing is held."""


class Oracle:
    """`oracle`: the evidence itself, the upper bound of the answerer and of the key."""

    def __init__(self, setup: Setup) -> None:
        self._context = RankedContext(setup.sample, None)
        self._evidence = setup.evidence

    def respond(self, question: str) -> Response:
        """Show the turns that the key names, nothing where it names none."""
        evidence = self._evidence.get(question, ())
        return self._context.response(evidence) if evidence else Response()

    def close(self) -> None:
        """Nothing is held."""
