"""Secrets are replaced before anything reaches the disk, in every place a text can go."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from secret_kit import benign_lines, sixty_secrets
from support import Run

from fsagent.agent.loop import Agent
from fsagent.config import Settings
from fsagent.errors import ConfigError, HistoryError
from fsagent.memory.edits import CoreEdit
from fsagent.memory.leaks import leaks
from fsagent.memory.recall import Draft
from fsagent.memory.workspace import Workspace
from fsagent.models.scripted import Scripted, call, reply
from fsagent.workspace.secrets.secrets import Secrets

SECRETS = sixty_secrets()
KEY = SECRETS["openai"][1]
BLOCK = "---\ndescription: Keys.\nlimit: 500000\n---\n"
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


@pytest.fixture
def roomy(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace whose core holds much, with a block for it."""
    settings = Settings(timezone="UTC", core_tokens=200_000, context_tokens=1_000_000)
    with Workspace.init(tmp_path / "w", settings=settings, clock=lambda: NOW) as made:
        (made.root / "core/keys.md").write_text(BLOCK, encoding="utf-8")
        yield made


def every_byte(root: Path) -> dict[str, bytes]:
    """Return all files below a folder but git's own objects, which are packed."""
    files = (path for path in root.rglob("*") if path.is_file())
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in files
        if ".git/objects" not in path.as_posix()
    }


def every_object(root: Path) -> dict[str, bytes]:
    """Return the contents of all objects of a workspace's history, reachable or not."""
    git = ["git", "-C", str(root)]
    command = [*git, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    return {
        name: subprocess.run([*git, "cat-file", kind, name], capture_output=True, check=True).stdout
        for name, kind in (line.split() for line in lines if line)
    }


def holds(data: bytes, secret: str) -> bool:
    forms = {secret, json.dumps(secret)[1:-1], json.dumps(json.dumps(secret))[3:-3]}
    return any(form.encode() in data for form in forms)


def test_sixty_secrets_reach_no_file_and_no_object(roomy: Workspace, suite_line: list[str]) -> None:
    for name, (text, _) in SECRETS.items():
        script = [
            call("core_memory_append", label="keys", content=f"- {name}: {text}"),
            call("archival_memory_insert", title=f"Of {name}", content=text, tags=[text[:80]]),
            reply(f"I have noted this: {text}"),
        ]
        Agent(roomy, Scripted(script)).run(text)
        roomy.archival.import_document(f"{name}.md", f"# {name}\n\n{text}\n".encode())
        said = Draft("user", "Ann", f"{name}: {text}", images=(text,), ts=NOW, source="import:1")
        roomy.recall.append_many([said])
        roomy.review.keep("agent", [CoreEdit("add", "keys", new=text)], [f"it says {text}"])
    roomy.history.commit_everything()
    roomy.close()
    files, objects = every_byte(roomy.root), every_object(roomy.root)
    sinks = {
        "recall": "recall/", "core": "core/", "note": "archival/notes/", "import": "archival/",
        "review": ".fsagent/",
    }  # fmt: skip
    kept = [
        (name, sink)
        for name, (_, part) in SECRETS.items()
        for sink, folder in sinks.items()
        if any(holds(data, part) for path, data in files.items() if path.startswith(folder))
    ]
    parts = {name: part for name, (_, part) in SECRETS.items()}
    in_git = [
        name for name, part in parts.items() if any(holds(data, part) for data in objects.values())
    ]
    elsewhere = [
        path for path, data in files.items() for part in parts.values() if holds(data, part)
    ]
    places = len(SECRETS) * len(sinks)
    suite_line.append(
        f"secrets: {len(SECRETS)} x {len(sinks)} sinks: {places - len(kept)} of {places} replaced, "
        f"{len(in_git)} in any of {len(objects)} git objects"
    )
    assert (kept, in_git, elsewhere) == ([], [], [])
    assert len(objects) > 300 and len(files) > 130


def test_the_suite_bites_where_nothing_is_replaced(roomy: Workspace) -> None:
    path = roomy.root / "archival/by-hand.md"
    path.write_text(SECRETS["github classic"][0], encoding="utf-8")
    files = every_byte(roomy.root)
    assert [name for name, data in files.items() if holds(data, SECRETS["github classic"][1])] == [
        "archival/by-hand.md"
    ]


def test_two_thousand_benign_lines_stay_as_they_are(
    memory: Workspace, suite_line: list[str]
) -> None:
    lines = list(benign_lines())
    found = [line for line in lines if memory.tree.secrets.clean(line) != line]
    whole = "\n".join(lines)
    suite_line.append(f"secrets: {len(lines)} benign lines: {len(found)} false positives")
    assert found == []
    assert memory.tree.secrets.clean(whole) == whole


@pytest.mark.parametrize("seed", range(100, 110))
def test_other_draws_of_the_sixty_forms_are_found(memory: Workspace, seed: int) -> None:
    missed = [
        name
        for name, (text, part) in sixty_secrets(seed).items()
        if part in memory.tree.secrets.clean(text)
    ]
    # A token that only looks drawn may draw an unlikely walk; every other form is certain.
    assert len([name for name in missed if name.startswith("drawn")]) <= 1
    assert [name for name in missed if not name.startswith("drawn")] == []


def test_a_conversation_of_the_data_is_not_touched(memory: Workspace, locomo: Path) -> None:
    def texts(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            for item in value.values() if isinstance(value, dict) else value:
                yield from texts(item)

    lines = list(texts(json.loads(locomo.read_text(encoding="utf-8"))))
    assert len(lines) > 5_000
    assert [line for line in lines if memory.tree.secrets.find(line)] == []


def test_a_marker_says_what_was_there(memory: Workspace) -> None:
    assert memory.tree.secrets.clean(f"it is {KEY}.") == "it is [secret: openai key, removed]."
    url = memory.tree.secrets.clean("postgres://ann:sw0rdfish!@db.example.org/x")
    assert url == "postgres://ann:[secret: password, removed]@db.example.org/x"
    assert memory.tree.secrets.clean(url) == url
    assert memory.tree.secrets.take_removed() == ("openai key", "password")
    assert memory.tree.secrets.take_removed() == ()


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\n    "], ids=["lf", "crlf", "indented"])
@pytest.mark.parametrize("at", [6, 12, 20, 30, 38])
def test_a_token_over_a_line_break_is_found(memory: Workspace, line_end: str, at: int) -> None:
    token = SECRETS["github classic"][1]
    clean = memory.tree.secrets.clean(f"it is {token[:at]}{line_end}{token[at:]} ok")
    assert clean == "it is [secret: github token, removed] ok"


def test_words_behind_a_secret_are_left(memory: Workspace) -> None:
    text = f"{KEY}\nThanks\nand more"
    assert memory.tree.secrets.clean(text) == "[secret: openai key, removed]\nThanks\nand more"


def test_secrets_in_escaped_arguments_are_found_and_other_arguments_stay(memory: Workspace) -> None:
    pem = SECRETS["pem"][0]
    escaped = json.dumps({"content": pem, "label": "human"}).replace("MI", "\\u004dI")
    assert json.loads(memory.tree.secrets.clean_json(escaped)) == {
        "content": "My key:\n[secret: private key, removed]\nKeep it safe.",
        "label": "human",
    }
    odd = '{ "a" : "caf\\u00e9\\n",  "n": 1.50 }'
    assert memory.tree.secrets.clean_json(odd) == odd
    broken = f'{{"a": "{KEY}'
    assert memory.tree.secrets.clean_json(broken) == '{"a": "[secret: openai key, removed]'


def test_a_key_shown_with_line_numbers_is_found_whole(memory: Workspace) -> None:
    lines = SECRETS["pem"][0].split("\n")
    shown = "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1))
    clean = memory.tree.secrets.clean(shown)
    assert clean.split("\n") == [
        "1: My key:",
        "2: [secret: private key, removed]",
        f"{len(lines)}: Keep it safe.",
    ]
    part = "\n".join(shown.split("\n")[:6])
    assert not any(line in memory.tree.secrets.clean(part) for line in lines[2:5])


def test_base64_of_a_secret_is_found_and_what_is_missed_is_known(memory: Workspace) -> None:
    import base64
    from urllib.parse import quote

    token = SECRETS["github classic"][1]
    wrapped = base64.b64encode(f"token {token}".encode()).decode()
    assert wrapped not in memory.tree.secrets.clean(wrapped)
    # docs/security.md names these as missed.
    twice = base64.b64encode(wrapped.encode()).decode()
    for missed in (
        "my password is hunter2",
        "password: hunter2",
        quote(token, safe="").replace("g", "%67"),
        twice,
        " ".join(token),
        "the token is 5f4dcc3b5aa765d61d8327deb882cf99",
    ):
        assert memory.tree.secrets.clean(missed) == missed


def test_hostile_text_is_searched_in_time_that_grows_with_its_size(memory: Workspace) -> None:
    import time

    for piece in ("sk-", "eyJ", "password=", "a/", "-----BEGIN PRIVATE KEY-----", "a:b@", "://a:",
                  "Ab1" * 8 + "\n", "-----BEGIN CERTIFICATE-----\n", "glpat-a.", "bearer "):  # fmt: skip
        text = piece * (400_000 // len(piece))
        started = time.process_time()
        memory.tree.secrets.find(text)
        assert time.process_time() - started < 10, piece


# What is told.


def test_the_person_is_told_once_and_the_model_sees_the_message(roomy: Workspace) -> None:
    from fsagent.agent.events import Event, Notice

    model = Scripted([call("core_memory_append", label="keys", content=KEY), reply("Done.")])
    seen: list[Event] = []
    Agent(roomy, model).run(f"Keep {KEY}", seen.append)
    told = [event.text for event in seen if isinstance(event, Notice) and "secret" in event.text]
    assert told == ["A secret in your message is not stored (openai key)."]
    assert KEY in model.requests[0].messages[-2].content
    assert "[secret: openai key, removed]" in roomy.core.block("keys").value


def test_a_resumed_session_sees_what_was_stored(roomy: Workspace) -> None:
    Agent(roomy, Scripted([reply("Noted.")])).run(f"My key is {KEY}")
    model = Scripted([reply("Hello.")])
    Agent(roomy, model, resume=True).run("Hello")
    shown = "\n".join(message.content for message in model.requests[0].messages)
    assert "My key is [secret: openai key, removed]" in shown
    assert KEY not in shown


def test_a_crashed_edit_with_a_secret_is_finished_from_its_record(roomy: Workspace) -> None:
    """The intent's hash is that of the cleaned text, so recovery knows the edit for done."""

    class Gone(BaseException):
        pass

    def die(_: object) -> str:
        raise Gone

    script = [call("core_memory_append", label="keys", content=f"- {KEY}"), die]
    with pytest.raises(Gone):
        Agent(roomy, Scripted(script)).run("Keep it")
    again = Agent(roomy, Scripted([reply("ok")]))
    again.run("Hello")
    assert roomy.core.block("keys").value == "- [secret: openai key, removed]"


def test_a_compaction_summary_is_clean(roomy: Workspace) -> None:
    from fsagent.agent.recorder import RecallRecorder

    recorder = RecallRecorder(roomy.recall, session="s")
    recorder.mark("t", "compaction", {"summary": SECRETS["pem"][0], "through": 3})
    _, _, record = roomy.recall.tail(1)[0]
    assert json.loads(record.content)["summary"] == (
        "My key:\n[secret: private key, removed]\nKeep it safe."
    )


# What a person puts there.


def test_a_file_with_a_secret_of_the_persons_is_left_alone_and_out_of_the_history(
    roomy: Workspace,
) -> None:
    path = roomy.root / "archival/plan.md"
    path.write_text("# Plan\n\nAll well.\n", encoding="utf-8")
    roomy.history.look()
    text = f"# Plan\n\nThe key is {KEY}.\n"
    path.write_text(text, encoding="utf-8")
    roomy.history.look()
    assert path.read_text(encoding="utf-8") == text
    assert not any(holds(data, KEY) for data in every_object(roomy.root).values())
    assert roomy.history.notices() == [
        "left out of the history: archival/plan.md holds a secret on line 3 (openai key); take it "
        "out, or allow it in secrets.yaml"
    ]
    assert [(leak.path, leak.line, leak.kind) for leak in leaks(roomy.tree)] == [
        ("archival/plan.md", 3, "openai key")
    ]
    path.write_text("# Plan\n\nThe key is gone.\n", encoding="utf-8")
    assert roomy.history.look() is not None
    assert any(b"The key is gone." in data for data in every_object(roomy.root).values())


def test_going_back_over_a_file_that_was_held_is_refused(roomy: Workspace) -> None:
    from fsagent.memory.history.undo import rollback_plan

    path = roomy.root / "archival/plan.md"
    path.write_text("one\n", encoding="utf-8")
    first = roomy.history.look()
    path.write_text("two\n", encoding="utf-8")
    roomy.history.look()
    path.write_text(f"two {KEY}\n", encoding="utf-8")
    roomy.history.look()
    assert first is not None
    with pytest.raises(HistoryError, match=r"archival/plan\.md holds a secret on line 1"):
        rollback_plan(roomy.history.repository, first)


def test_a_secret_of_the_persons_stays_when_the_agent_edits_beside_it(roomy: Workspace) -> None:
    path = roomy.root / "core/keys.md"
    path.write_text(f"{BLOCK}- mine: {KEY}\n", encoding="utf-8")
    other = SECRETS["github classic"][1]
    roomy.core.append("keys", f"- new: {other}")
    assert roomy.core.block("keys").value == (
        f"- mine: {KEY}\n- new: [secret: github token, removed]"
    )


def test_an_imported_document_keeps_its_bytes_where_it_holds_none(memory: Workspace) -> None:
    data = "# Ünïcode\r\nplain\r\n".encode("utf-16")
    stored = memory.archival.import_document("wide.md", data)
    assert memory.tree.read_bytes(stored) == data
    twice = memory.archival.import_document(f"{KEY}.md", f"x {KEY}".encode())
    assert twice == memory.archival.import_document(f"{KEY}.md", f"x {KEY}".encode())
    assert "openai" in twice and KEY.lower() not in twice


# A person's own rules.


def test_own_rules_add_and_allow(tmp_path: Path) -> None:
    (tmp_path / "secrets.yaml").write_text(
        "rules:\n  - name: acme key\n    pattern: 'acme-[a-z]{6}'\nallow:\n  - 'sk-test.*'\n",
        encoding="utf-8",
    )
    secrets = Secrets(tmp_path)
    fake = "sk-test" + SECRETS["drawn 64"][1][:40]
    assert secrets.clean(f"acme-abcdef and {fake} \ud800") == (
        f"[secret: acme key, removed] and {fake} \ud800"
    )


def test_own_rules_of_the_user_hold_in_every_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config/secrets.yaml").write_text(
        "rules: [{name: badge, pattern: 'B-[0-9]{6}'}]\n", encoding="utf-8"
    )
    monkeypatch.setenv("FSAGENT_CONFIG", str(tmp_path / "config/config.yaml"))
    (tmp_path / "w").mkdir()
    assert Secrets(tmp_path / "w").clean("B-123456") == "[secret: badge, removed]"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("rules:\n  - name: a\n    pattern: '(?=x)'\n", 3, "RE2"),
        ("rules:\n  - name: a\n    pattern: 'x*'\n", 3, "empty text"),
        ("rules:\n  - nam: a\n    pattern: 'x'\n", 2, "a name and a pattern"),
        ("allow: 'x'\n", 1, "list"),
        ("# mine\nrule:\n  - x\n", 2, "'rule' is unknown"),
        ("- x\n", 1, "keys with values"),
        ("rules:\n  - name: 'a]b'\n    pattern: x\n", 2, "name"),
        ("rules:\n  - {name: a, pattern: [x]}\n", 2, "text"),
        ("rules: [\n", 2, "YAML"),
    ],
)  # fmt: skip
def test_a_bad_file_of_rules_is_named_with_its_line(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    (tmp_path / "secrets.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"secrets\.yaml:{line}: .*{re.escape(words)}"):
        Secrets(tmp_path)


def test_the_command_line_names_a_bad_file_and_a_leak(fsagent: Run, tmp_path: Path) -> None:
    assert fsagent("init", "w").returncode == 0
    (tmp_path / "w/archival/x.md").write_text(f"key {KEY}\n", encoding="utf-8")
    done = fsagent("doctor", "-w", "w")
    assert "archival/x.md:1 (openai key)" in done.stdout and KEY not in done.stdout
    (tmp_path / "doc.md").write_text(f"key {KEY}\n", encoding="utf-8")
    done = fsagent("import", "-w", "w", "doc.md")
    assert "holds a secret (openai key)" in done.stderr
    assert "[secret: openai key, removed]" in (tmp_path / "w/archival/doc.md").read_text("utf-8")
    (tmp_path / "w/secrets.yaml").write_text("rules: 1\n", encoding="utf-8")
    done = fsagent("ask", "-w", "w", "Hello?")
    assert done.returncode == 2 and "secrets.yaml:1" in done.stderr
