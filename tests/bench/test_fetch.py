"""Fetching LoCoMo, against a server on this machine."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fsagent.bench.fetch import LICENCE, fetch_locomo
from fsagent.errors import ConfigError

DATA = b'[{"sample_id": "x"}]'
SUM = hashlib.sha256(DATA).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status = 200 if self.path == "/data" else 404
        self.send_response(status)
        self.end_headers()
        self.wfile.write(DATA if status == 200 else b"no")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def test_the_file_is_written_when_its_sum_is_right(server: str, tmp_path: Path) -> None:
    target = fetch_locomo(tmp_path / "data" / "l.json", url=f"{server}/data", sha256=SUM)
    assert target.read_bytes() == DATA
    assert fetch_locomo(target, url="http://127.0.0.1:1/gone", sha256=SUM) == target


def test_a_wrong_sum_writes_nothing(server: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing was written"):
        fetch_locomo(tmp_path / "l.json", url=f"{server}/data")
    assert list(tmp_path.iterdir()) == []


def test_another_file_is_never_overwritten(server: str, tmp_path: Path) -> None:
    target = tmp_path / "l.json"
    target.write_bytes(b"mine")
    with pytest.raises(ConfigError, match="another file"):
        fetch_locomo(target, url=f"{server}/data", sha256=SUM)
    assert target.read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("url", "words"),
    [("/none", "404"), ("http://127.0.0.1:1/x", "no connection"), ("nonsense", "--data")],
)
def test_what_fails_is_said_in_a_sentence(
    server: str, tmp_path: Path, url: str, words: str
) -> None:
    full = f"{server}{url}" if url.startswith("/") else url
    with pytest.raises(ConfigError, match=words):
        fetch_locomo(tmp_path / "l.json", url=full)


def test_the_licence_is_named() -> None:
    assert "CC BY-NC 4.0" in LICENCE
