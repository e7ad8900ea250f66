"""Sentence vectors of an OpenAI-compatible embeddings endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fsagent.errors import ConfigError, ModelError
from fsagent.models.openai_chat import OpenAIChat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fsagent.config import Settings

BATCH = 128
OWN = ("minilm",)
"""The encoders that need no endpoint."""


def load_encoder(settings: Settings) -> EndpointEncoder | None:
    """Return the encoder of the endpoint that the settings name, None where they name none."""
    if settings.embeddings is None or settings.embeddings in OWN:
        return None
    try:
        import numpy  # noqa: F401
    except ImportError as err:
        raise ConfigError("embeddings need numpy: pip install 'fsagent[vectors]'") from err
    base_url = settings.embeddings_base_url or settings.base_url
    if base_url is None and settings.api_key is None:
        raise ConfigError(
            f"embeddings is {settings.embeddings!r}, a model of an endpoint, and there is none: set "
            "embeddings_base_url, or OPENAI_API_KEY, or embeddings: minilm"
        )
    endpoint = OpenAIChat(
        settings.embeddings,
        base_url=base_url,
        api_key=settings.api_key,
        timeout_s=settings.timeout_s,
    )
    return EndpointEncoder(endpoint)


class EndpointEncoder:
    """Vectors of unit length from an endpoint. Its failures are `ModelError`s."""

    def __init__(self, endpoint: OpenAIChat) -> None:
        self._endpoint = endpoint

    @property
    def name(self) -> str:
        return f"{self._endpoint.name} at {self._endpoint.base_url}"

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row a text."""
        import numpy as np

        rows: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            # An empty input is an error at most endpoints.
            rows += self._endpoint.embed([text or "-" for text in texts[start : start + BATCH]])
        found = np.array(rows, dtype=np.float32)
        if found.ndim != 2 or len(found) != len(texts):
            raise ModelError(f"{self.name} sent {len(rows)} vectors for {len(texts)} texts")
        unit: NDArray[np.float32] = found / np.maximum(
            np.linalg.norm(found, axis=1, keepdims=True), 1e-12
        )
        return unit
