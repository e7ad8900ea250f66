"""Answer one question after another: the part of a run that goes on in each process."""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsagent.bench.answerer import AGENT_STYLES, OFFICIAL, answer, final_answer
from fsagent.bench.datasets.read import read_dataset
from fsagent.bench.datasets.schema import Question, Sample
from fsagent.bench.metrics.retrieval import TOKEN_BUDGETS, TURN_KS, sessions_of
from fsagent.bench.official_prompt import official_answer, official_question
from fsagent.bench.options import BenchOptions
from fsagent.bench.rundir import Key, Row
from fsagent.bench.systems.base import Response, Setup, System
from fsagent.bench.systems.registry import make_system
from fsagent.errors import ConfigError, FsagentError
from fsagent.types import Message, Model

NOW_FORMAT = "%A, %d %B %Y"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a question gave: its row, its trace, and the ingestion if one was needed for it."""

    row: Row
    trace: tuple[Mapping[str, Any], ...]
    ingest: Row | None = None


@dataclass
class _Open:
    """The one system a worker holds open, and the folder its store lives in until it is closed."""

    sample_id: str
    system: System
    folder: tempfile.TemporaryDirectory[str]

    def close(self) -> None:
        self.system.close()
        self.folder.cleanup()


class Worker:
    """Holds the data, and a system for one sample at a time; a store never outlives its worker."""

    def __init__(self, options: BenchOptions) -> None:
        self._options = options
        self._data = read_dataset(options.data, options.format)
        self._samples = {sample.sample_id: sample for sample in self._data.samples}
        self._questions = {question.key: question for question in self._data.questions}
        self._open: _Open | None = None
        self._model: Model | None = None

    def close(self) -> None:
        """Close the open system and delete its store."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def run(self, key: Key) -> Outcome:
        """Answer one question. A failure of the model or a tool is in the row, never an answer.

        Raises `ConfigError` alone: a person must act before any question can be answered.
        """
        question = self._questions[key]
        sample = self._samples[question.sample_id]
        ingested = self._prepare(sample)
        assert self._open is not None
        started = time.perf_counter()
        response, error = Response(), None
        events: list[Mapping[str, Any]] = []
        try:
            response = self._open.system.respond(self._asked_of_system(question))
            events.extend(response.trace)
            response, exchange = self._answered(response, question, sample)
            events.extend(exchange)
        except ConfigError:
            raise
        except FsagentError as err:
            error = f"{type(err).__name__}: {err}"
        latency = time.perf_counter() - started
        row = _row(question, response, latency_s=latency, error=error)
        return Outcome(row, tuple(events), ingested)

    def _prepare(self, sample: Sample) -> Row | None:
        if self._open is not None and self._open.sample_id == sample.sample_id:
            return None
        self.close()
        folder = tempfile.TemporaryDirectory(prefix="fsagent-bench-", ignore_cleanup_errors=True)
        started = time.perf_counter()
        try:
            system = make_system(self._options.system, self._setup(sample, Path(folder.name)))
        except BaseException:
            folder.cleanup()
            raise
        self._open = _Open(sample.sample_id, system, folder)
        return {
            "sample_id": sample.sample_id,
            "sessions": len(sample.sessions),
            "turns": len(sample.turns),
            "bytes": sum(f.stat().st_size for f in Path(folder.name).rglob("*") if f.is_file()),
            "seconds": round(time.perf_counter() - started, 4),
        }

    def _setup(self, sample: Sample, folder: Path) -> Setup:
        evidence: dict[str, tuple[str, ...]] = {}
        if self._options.system == "oracle":
            for question in self._data.questions:
                if question.sample_id == sample.sample_id:
                    known = evidence.get(question.text, ())
                    evidence[question.text] = tuple(dict.fromkeys(known + question.evidence))
        return Setup(
            sample=sample,
            folder=folder,
            settings=self._options.settings,
            make_model=self.model,
            budget_tokens=self._options.budget_tokens,
            window_tokens=self._options.window_tokens,
            style=AGENT_STYLES[self._options.answer_prompt],
            evidence=evidence,
        )

    def _asked_of_system(self, question: Question) -> str:
        """Return what the system is asked: the question, whatever its category.

        In `official-prompt` the agent, its own answerer, gets what an answerer gets there.
        """
        official = self._options.answer_prompt == OFFICIAL and self._options.system == "agent"
        return official_question(question) if official else question.text

    def _answered(
        self, response: Response, question: Question, sample: Sample
    ) -> tuple[Response, list[Mapping[str, Any]]]:
        """Return the response with the common answerer's answer, where one is wanted."""
        prompt = self._options.answer_prompt
        if response.answer is not None:
            text = self._read(final_answer(response.answer, prompt), question)
            return dataclasses.replace(response, answer=text), []
        if self._options.retrieval_only:
            return response, []
        done = answer(
            self.model(),
            official_question(question) if prompt == OFFICIAL else question.text,
            response.context,
            prompt=prompt,
            now=sample.now.strftime(NOW_FORMAT),
        )
        exchange: list[Mapping[str, Any]] = [
            *map(message_event, done.messages),
            message_event(done.completion.message),
        ]
        usage = response.usage + done.completion.usage
        text = self._read(done.text, question)
        return dataclasses.replace(response, answer=text, usage=usage), exchange

    def _read(self, text: str, question: Question) -> str:
        """Return the answer that is scored: in `official-prompt` what a choice stands for."""
        return official_answer(text, question) if self._options.answer_prompt == OFFICIAL else text

    def model(self) -> Model:
        """Return the run's model, made once a worker."""
        if self._model is None:
            self._model = make_model(self._options.settings.model, self._options)
        return self._model


def make_model(name: str, options: BenchOptions) -> Model:
    """Return a model for a run, its replies kept where the run has a cache."""
    from fsagent.models.cache import Cached
    from fsagent.models.registry import load_model

    model = load_model(name, options.settings)
    if options.cache is None:
        return model
    return Cached(model, options.cache, salt=str(options.epoch))


def message_event(message: Message) -> Row:
    """Return a message as a trace's line."""
    event: Row = {"role": message.role, "content": message.content}
    if message.tool_calls:
        event["tool_calls"] = [
            {"name": call.name, "arguments": call.arguments} for call in message.tool_calls
        ]
    return event


def _row(question: Question, response: Response, *, latency_s: float, error: str | None) -> Row:
    depth = _kept(response.tokens)
    shown = set(response.shown)
    return {
        "sample_id": question.sample_id,
        "qa_index": question.index,
        "category": question.category,
        "kind": question.kind,
        "question": question.text,
        "gold": question.gold,
        "trap": question.trap,
        "answer": None if error else response.answer,
        "evidence": list(question.evidence),
        "evidence_shown": [dia_id for dia_id in question.evidence if dia_id in shown],
        "retrieved": list(response.ranked[:depth]),
        "retrieved_sessions": sessions_of(response.ranked),
        "retrieved_tokens": list(response.tokens[:depth]),
        "shown_turns": len(response.shown),
        "shown_tokens": response.shown_tokens,
        "tool_calls": response.tool_calls,
        "usage": response.usage.as_dict(),
        "latency_s": round(latency_s, 4),
        "error": error,
    }


def _kept(tokens: tuple[int, ...]) -> int:
    """Return how many ranks a row keeps: all that any of the retrieval figures looks at."""
    within = sum(spent <= TOKEN_BUDGETS[-1] for spent in tokens)
    return max(within, TURN_KS[-1])
