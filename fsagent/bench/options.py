"""What a run is asked to do, and the hash that says whether two runs were asked the same."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fsagent import __version__
from fsagent.bench.answerer import answering_sha256, prompt_sha256
from fsagent.bench.datasets.read import AUTO
from fsagent.bench.datasets.schema import Dataset, Question
from fsagent.bench.judging import CALIBRATION_QUESTIONS
from fsagent.bench.systems.base import DEFAULT_BUDGET_TOKENS
from fsagent.config import Settings
from fsagent.errors import ConfigError
from fsagent.workspace.template import template_text

AnswerPrompt = Literal["short", "explained", "official-prompt"]

SMOKE_QUESTIONS = 2
"""Questions of each category that a smoke run asks, of the first conversation."""

DRAW_SEED = 20240229
"""By which `draw` takes its questions."""

# Settings that change what a model is asked or may answer.
_MODEL_SETTINGS = (
    "model",
    "base_url",
    "profile",
    "tool_mode",
    "temperature",
    "max_steps",
    "max_tokens",
    "max_turn_tokens",
    "max_heartbeats",
    "context_tokens",
    "core_tokens",
)

# Settings that change what our own search finds.
_SEARCH_SETTINGS = ("embeddings", "embeddings_base_url", "language")


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """One run. `samples` and `categories` empty mean all; `limit` takes the first questions, `draw`
    so many by a fixed seed, `smoke` a few of each category to see that everything is connected.

    `budget_tokens` bounds the context that retrieval systems show the answerer. `workers` counts
    processes, with the `ray` executor actors. The rest of what a run depends on (model, profile,
    limits) is in `settings`. `epoch` tells apart runs of the same configuration; replies kept in
    `cache` are per epoch.

    The last fields say how predictions are scored and change none of them: `evaluate_only` scores
    a run that is there, `judges` and `calibration` (questions probed) need the judge's model,
    `errata` is a file of the key's known faults, `prices` one of prices that come before the table.
    """

    data: Path
    out: Path
    system: str = "agent"
    format: str = AUTO
    samples: tuple[str, ...] = ()
    categories: tuple[int, ...] = ()
    limit: int | None = None
    draw: int | None = None
    smoke: bool = False
    retrieval_only: bool = False
    answer_prompt: AnswerPrompt = "short"
    budget_tokens: int = DEFAULT_BUDGET_TOKENS
    workers: int = 1
    executor: Literal["local", "ray"] = "local"
    resume: bool = False
    settings: Settings = field(default_factory=Settings)
    epoch: int = 1
    cache: Path | None = None
    evaluate_only: bool = False
    judges: tuple[str, ...] = ()
    calibration: int = CALIBRATION_QUESTIONS
    errata: Path | None = None
    prices: Path | None = None

    @property
    def window_tokens(self) -> int | None:
        """The model's context window where somebody has set it; None where it is only assumed."""
        return self.settings.context_tokens if "context_tokens" in self.settings.origins else None

    @property
    def asks_model(self) -> bool:
        """Whether the run needs a model at all."""
        return self.system == "agent" or not self.retrieval_only


def select(dataset: Dataset, options: BenchOptions) -> tuple[Question, ...]:
    """Return the questions of a run. Raises `ConfigError` where nothing is left or a name is wrong."""
    known = [sample.sample_id for sample in dataset.samples]
    for sample_id in options.samples:
        if sample_id not in known:
            raise ConfigError(
                f"no sample {sample_id!r} in {dataset.path}; it has {', '.join(known)}"
            )
    for name, count in (("limit", options.limit), ("draw", options.draw)):
        if count is not None and count < 1:
            raise ConfigError(f"{name} is {count}; give a number of questions, 1 or more")
    chosen = [
        question
        for question in dataset.questions
        if (not options.samples or question.sample_id in options.samples)
        and (not options.categories or question.category in options.categories)
    ]
    if options.smoke:
        chosen = _first_of_each_category(chosen)
    if options.draw is not None:
        chosen = _drawn(chosen, options.draw)
    chosen = chosen[: options.limit]
    if not chosen:
        raise ConfigError("no question is left; check --sample and --categories")
    return tuple(chosen)


def _drawn(questions: Sequence[Question], count: int) -> list[Question]:
    """Return `count` questions, the same ones for every run over the same selection, in order."""
    places = random.Random(DRAW_SEED).sample(range(len(questions)), min(count, len(questions)))
    return [questions[place] for place in sorted(places)]


def _first_of_each_category(questions: Sequence[Question]) -> list[Question]:
    """Return the first few questions of each category, of the first conversation alone."""
    taken: Counter[int] = Counter()
    found = []
    for question in questions:
        first = question.sample_id == questions[0].sample_id
        if first and taken[question.category] < SMOKE_QUESTIONS:
            taken[question.category] += 1
            found.append(question)
    return found


def configuration(options: BenchOptions, dataset: Dataset) -> dict[str, Any]:
    """Return everything that a prediction depends on, as JSON."""
    settings = options.settings
    return {
        "fsagent": __version__,
        "data_sha256": dataset.sha256,
        "format": dataset.name,
        "system": options.system,
        "samples": sorted(options.samples),
        "categories": sorted(options.categories),
        "limit": options.limit,
        "draw": options.draw,
        "smoke": options.smoke,
        "epoch": options.epoch,
        "retrieval_only": options.retrieval_only,
        "budget_tokens": options.budget_tokens,
        "window_tokens": options.window_tokens if options.system == "full-context" else None,
        "answer_prompt": None
        if options.retrieval_only
        else {
            "name": options.answer_prompt,
            "sha256": answering_sha256(options.answer_prompt),
        },
        "agent_prompt_sha256": prompt_sha256(template_text(f"prompts/{settings.profile}.md"))
        if options.system == "agent"
        else None,
        "search": {name: getattr(settings, name) for name in _SEARCH_SETTINGS}
        if options.system in ("agent", "search")
        else None,
        "model": {name: getattr(settings, name) for name in _MODEL_SETTINGS}
        if options.asks_model
        else None,
    }


def config_sha256(configuration: dict[str, Any]) -> str:
    """Return the hash of a configuration."""
    text = json.dumps(configuration, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
