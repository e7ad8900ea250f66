"""A run against a server that fails a third of its requests, killed twice, ends as a clean one."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fsagent.bench.rundir import RunDirectory

ANSWER_S = 0.03


class FaultyServer(ThreadingHTTPServer):
    """Chat completions that depend on the request alone; `faulty` spoils every third."""

    daemon_threads = True

    def __init__(self, *, faulty: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.faulty, self.count, self.faults = faulty, 0, 0
        self.guard = threading.Lock()

    def fault(self) -> str | None:
        """Return the fault of the next request, None for none."""
        with self.guard:
            self.count += 1
            if not self.faulty or self.count % 3:
                return None
            self.faults += 1
            return ("429", "500", "garbage", "drop")[self.faults % 4]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A killed client is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: FaultyServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fault = self.server.fault()
        time.sleep(ANSWER_S)
        if fault == "drop":
            self.close_connection = True
        elif fault == "garbage":
            self._send(200, b'{"id": "x", "choices": [{"mess', "application/json")
        elif fault is not None:
            error = json.dumps({"error": {"message": "try again"}}).encode()
            self._send(int(fault), error, "application/json", retry_after="0")
        else:
            self._answer(request)

    def _answer(self, request: dict[str, Any]) -> None:
        text = json.dumps(request["messages"], sort_keys=True)
        answer = f"answer {hashlib.sha256(text.encode()).hexdigest()[:8]}"
        usage = {"prompt_tokens": len(text) // 4, "completion_tokens": 4}
        shape: dict[str, Any] = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
        if request.get("stream"):
            delta = {"index": 0, "delta": {"role": "assistant", "content": answer}}
            chunks = [
                {**shape, "object": "chat.completion.chunk", "choices": [delta]},
                {
                    **shape,
                    "object": "chat.completion.chunk",
                    "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                    "usage": usage,
                },
            ]
            body = (
                "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
            )
            self._send(200, body.encode(), "text/event-stream")
            return
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": answer},
            "finish_reason": "stop",
        }
        body = json.dumps({**shape, "choices": [choice], "usage": usage})
        self._send(200, body.encode(), "application/json")

    def _send(self, status: int, body: bytes, kind: str, *, retry_after: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


@pytest.fixture
def servers() -> Iterator[dict[str, FaultyServer]]:
    made = {"clean": FaultyServer(faulty=False), "faulty": FaultyServer(faulty=True)}
    threads = [threading.Thread(target=one.serve_forever, daemon=True) for one in made.values()]
    for thread in threads:
        thread.start()
    yield made
    for one in made.values():
        one.shutdown()
        one.server_close()
    for thread in threads:
        thread.join()


def command(data: Path, server: FaultyServer, out: Path, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "fsagent", "bench", "locomo", "--data", str(data)),
        *("--system", "bm25", "--out", str(out), "--model", "m"),
        *("--base-url", f"http://127.0.0.1:{server.server_port}/v1", *more),
    ]


def environment(tmp_path: Path) -> dict[str, str]:
    settings = {"HOME": str(tmp_path), "FSAGENT_MAX_RETRIES": "6", "FSAGENT_API_KEY": "none"}
    return {**os.environ, **settings}


def answered(out: Path) -> int:
    file = out / "predictions.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def kill_after(process: "subprocess.Popen[bytes]", out: Path, count: int) -> None:
    """Kill a run, without warning, once it has answered `count` questions."""
    deadline = time.monotonic() + 60
    while answered(out) < count and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()


def final(out: Path) -> list[dict[str, Any]]:
    run = RunDirectory.open(out)
    try:
        rows = run.predictions()
    finally:
        run.close()
    return [{k: v for k, v in rows[key].items() if k != "latency_s"} for key in sorted(rows)]


def test_a_faulty_server_and_two_kills_end_in_the_clean_predictions(
    servers: dict[str, FaultyServer], demo_file: Path, tmp_path: Path
) -> None:
    clean, out, env = tmp_path / "clean", tmp_path / "run", environment(tmp_path)
    subprocess.run(command(demo_file, servers["clean"], clean), env=env, check=True, timeout=60)
    start = command(demo_file, servers["faulty"], out)
    for count in (3, 9):
        more = ["--resume"] if out.exists() else []
        kill_after(subprocess.Popen([*start, *more], env=env), out, count)
        assert count <= answered(out) < 16
    for _ in range(3):  # a question that failed for good is asked again by a resume
        done = subprocess.run([*start, "--resume"], env=env, check=False, timeout=90)
        if done.returncode == 0:
            break
    assert done.returncode == 0
    assert servers["faulty"].faults >= 5
    assert final(out) == final(clean)
    assert len({row["answer"] for row in final(out)}) == 16
