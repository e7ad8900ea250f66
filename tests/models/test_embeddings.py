"""Sentence vectors of an endpoint: what is sent, what comes back, what fails."""

from __future__ import annotations

import json

import numpy as np
import pytest
from fault_server import Answer, FaultServer, Request, error

from fsagent.config import Settings
from fsagent.errors import ConfigError, ModelError
from fsagent.models.embeddings import BATCH, load_encoder


def answer(request: Request) -> Answer:
    rows = [
        {"object": "embedding", "index": n, "embedding": [3.0 * len(text), 4.0 * len(text)]}
        for n, text in enumerate(request.body["input"])
    ]
    shape = {"object": "list", "model": "e", "data": rows, "usage": {"prompt_tokens": 1}}
    return Answer(json.dumps(shape).encode())


def recorded(server: FaultServer) -> list[Request]:
    seen: list[Request] = []

    def script(request: Request) -> Answer:
        seen.append(request)
        return answer(request)

    server.script = script
    return seen


def settings(server: FaultServer) -> Settings:
    return Settings(embeddings="e", embeddings_base_url=server.url)


def test_texts_are_sent_in_batches_and_come_back_with_unit_length(server: FaultServer) -> None:
    seen = recorded(server)
    encoder = load_encoder(settings(server))
    assert encoder is not None
    rows = encoder.vectors(["a"] * BATCH + ["", "ccc"])
    assert rows.shape == (BATCH + 2, 2)
    assert np.allclose(rows, [0.6, 0.8])
    assert [len(request.body["input"]) for request in seen] == [BATCH, 2]
    assert seen[0].path.endswith("/v1/embeddings") and seen[0].body["model"] == "e"
    assert seen[1].body["input"][0], "an empty text is refused by most endpoints"


def test_an_endpoint_that_fails_is_a_model_error(server: FaultServer) -> None:
    server.play(error("no such model", 404))
    encoder = load_encoder(settings(server))
    assert encoder is not None
    with pytest.raises(ModelError):
        encoder.vectors(["a"])


def test_too_few_vectors_are_refused(server: FaultServer) -> None:
    shape = {"object": "list", "model": "e", "data": [], "usage": {}}
    server.play(Answer(json.dumps(shape).encode()))
    encoder = load_encoder(settings(server))
    assert encoder is not None
    with pytest.raises(ModelError):
        encoder.vectors(["a"])


@pytest.mark.parametrize("name", [None, "minilm"])
def test_no_endpoint_is_asked_for(name: str | None) -> None:
    assert load_encoder(Settings(embeddings=name)) is None


def test_a_model_without_an_endpoint_is_refused_with_advice() -> None:
    with pytest.raises(ConfigError, match="embeddings_base_url"):
        load_encoder(Settings(embeddings="text-embedding-3-small"))
