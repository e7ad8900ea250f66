"""The systems without a search: full context, no memory, and the oracle that is told the evidence."""

from __future__ import annotations

from fsagent.bench.systems.base import RankedContext, Response, Setup


class FullContext:
    """`full-context`: every turn is shown, in order. Its ranks mean nothing, its cost does."""

    def __init__(self, setup: Setup) -> None:
        context = RankedContext(setup.sample, None)
        self._response = context.response(turn.dia_id for turn in setup.sample.turns)

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
