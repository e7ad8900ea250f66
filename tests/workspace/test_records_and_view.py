"""The codec of a recall line, its text view, front matter and paths, by properties."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fsagent.errors import CorruptFile, PathRejected
from fsagent.types import ToolCall
from fsagent.workspace import frontmatter
from fsagent.workspace.paths import canonical, canonical_dir, legal_name
from fsagent.workspace.records import CONTENT_KEY, Record, decode, encode
from fsagent.workspace.view import NEWLINE_MARK, UNREADABLE, render, render_line, view_lines

# Lone surrogates are kept; two that make a pair become the one character they mean.
NO_PAIR = st.text().filter(lambda text: text == _joined(text))
ODD = st.text(st.sampled_from('a"\\\n\r\t\0\x7f\x85\u2028\u2029\ufeff{}:,é日\U0001f600\ud800'))
TEXTS = st.one_of(NO_PAIR, ODD.filter(lambda text: text == _joined(text)))


def _joined(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


RECORDS = st.builds(
    Record,
    seq=st.integers(0, 10**15 - 1),
    ts=st.datetimes(timezones=st.timezones())
    .map(lambda moment: moment.replace(microsecond=0).isoformat())
    .filter(lambda ts: len(ts) == 25),
    turn=TEXTS,
    role=st.sampled_from(["user", "assistant", "tool", "system"]),
    name=TEXTS,
    content=TEXTS,
    session=st.none() | TEXTS,
    kind=st.none() | st.sampled_from(["begin", "end"]),
    model=st.none() | TEXTS,
    source=st.none() | TEXTS,
    tool_calls=st.lists(st.builds(ToolCall, TEXTS, TEXTS, TEXTS), max_size=3).map(tuple),
    tool_call_id=st.none() | TEXTS,
    usage=st.none() | st.dictionaries(st.sampled_from(["prompt_tokens"]), st.integers(0, 9)),
    images=st.lists(TEXTS, max_size=3).map(tuple),
    clamped=st.booleans(),
)


@given(RECORDS)
def test_a_record_comes_back_as_it_was(record: Record) -> None:
    line = encode(record)
    assert decode(line) == record
    assert decode(line.rstrip(b"\n")) == record
    assert json.loads(line)["content"] == record.content


@given(RECORDS)
def test_a_record_is_one_line_for_every_reader(record: Record) -> None:
    line = encode(record)
    text = line.decode("utf-8")
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert len(text.splitlines()) == 1
    assert line.startswith(b'{"crc":"')
    assert line.count(CONTENT_KEY) == 1
    assert next(iter(json.loads(line))) == "crc"
    assert [*json.loads(line)][-1] == "content"


@given(RECORDS)
def test_a_rendered_record_is_one_line(record: Record) -> None:
    text = render(record)
    assert len(text.splitlines()) <= 1
    text.encode("utf-8")
    assert render_line(encode(record)) == text


@given(RECORDS, st.data())
@settings(max_examples=200)
def test_a_damaged_record_is_noticed(record: Record, data: Any) -> None:
    line = encode(record)[:-1]
    at = data.draw(st.integers(18, len(line) - 1))  # behind the checksum
    damaged = line[:at] + bytes([line[at] ^ data.draw(st.integers(1, 255))]) + line[at + 1 :]
    with pytest.raises(ValueError):
        decode(damaged)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_record_or_a_value_error(data: bytes) -> None:
    try:
        decode(data)
    except ValueError:
        assert render_line(data) == UNREADABLE


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*Record.__slots__, "x"]), inner, max_size=6)
    ),
)


@given(JSON)
def test_any_json_is_a_record_or_a_value_error(shape: object) -> None:
    try:
        record = decode(json.dumps(shape).encode())
    except ValueError:
        return
    assert decode(encode(record)) == record


def test_text_stays_readable_in_the_file() -> None:
    line = encode(Record(1, "2026-11-30T09:00:00Z", "", "user", "李", "grüße\u2028 日本語 \x1b"))
    assert "grüße\\u2028 日本語 \\u001b".encode() in line


@given(st.binary(max_size=200))
@example(b"\xef\xbb\xbf")
def test_the_view_of_any_bytes_has_the_lines_of_the_file(data: bytes) -> None:
    text = data.removeprefix(b"\xef\xbb\xbf")  # a mark alone is no line of a document
    for path, shown in (("archival/x.md", text), ("recall/2026/2026-11-30.jsonl", data)):
        lines = view_lines(path, data)
        if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
            assert len(lines) == shown.count(b"\n") + (not shown.endswith(b"\n") and shown != b"")


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\nb", ["a", "b"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        ("\ufeffä\nb".encode("utf-16-le"), ["ä", "b"]),
        ("\ufeffä\nb".encode("utf-16-be"), ["ä", "b"]),
        (b"a\xffb\n", ["a\ufffdb"]),
        ("a\u2028b\x85c\n".encode(), ["a\u2028b\x85c"]),
        (b"", []),
        (b"\n\n", ["", ""]),
    ],
)
def test_a_file_is_shown_in_its_own_lines(data: bytes, lines: list[str]) -> None:
    assert view_lines("archival/x.md", data) == lines


def test_newlines_and_captions_and_tools_are_shown_in_one_line() -> None:
    record = Record(
        1,
        "2026-11-30T09:05:00+08:00",
        "",
        "assistant",
        "fs",
        "one\r\ntwo\u2028three",
        tool_calls=(ToolCall("1", "grep", "{}"),),
        images=("a\nboat",),
    )
    marked = NEWLINE_MARK.join(["one", "two", "three"])
    assert render(record) == (
        f"2026-11-30 09:05 fs: {marked} [image: a{NEWLINE_MARK}boat] [called grep]"
    )


@given(st.text(st.sampled_from("ab/.~$%-:\\\0 \n.é\u0301日\uff0e\u2025\u202e"), max_size=30))
@settings(max_examples=500)
def test_a_canonical_path_is_final_and_stays_inside(path: str) -> None:
    for make in (canonical, canonical_dir):
        try:
            name = make(path)
        except PathRejected as err:
            assert str(err).isprintable()
            continue
        assert make(name) == name
        assert name == unicodedata.normalize("NFC", name)
        assert not name.startswith("/")
        parts = name.split("/")
        assert ".." not in parts
        if name != ".":
            assert all(legal_name(part, top=not n) == part for n, part in enumerate(parts))


NAMES = st.text(st.characters(codec="utf-8", categories=["L", "Nd"]), min_size=1, max_size=20).map(
    lambda name: unicodedata.normalize("NFC", name)
)


@given(st.lists(NAMES, min_size=1, max_size=5))
def test_names_of_letters_and_digits_are_legal(names: list[str]) -> None:
    path = "archival/" + "/".join(f"n{name}" for name in names)
    if set(unicodedata.normalize("NFKC", path)) & set("\\:.") or "//" in path:
        return
    try:
        assert canonical(path) == unicodedata.normalize("NFC", path)
    except PathRejected as err:
        assert err.code == "LONG" or "separator" in err.reason


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_front_matter_is_parted_from_the_body(end: str, mark: str) -> None:
    text = mark + "---\nlimit: 5\n# kept\n---\nbody\n---\nmore\n".replace("\n", end)
    document = frontmatter.parse("core/x.md", text)
    assert document.meta == {"limit": 5}
    assert document.head + document.body == text
    assert document.plain_body == "body\n---\nmore\n"
    assert document.spliced(0, 4, "text\nmore") == text.replace("body", f"text{end}more")


@given(st.text(st.sampled_from("a-\r\n: \u2028"), max_size=40), st.data())
def test_a_splice_leaves_the_rest_of_any_text(text: str, data: Any) -> None:
    try:
        document = frontmatter.parse("x.md", text)
    except CorruptFile:
        return
    assert document.head + document.body == text
    plain = document.plain_body
    start = data.draw(st.integers(0, len(plain)))
    end = data.draw(st.integers(start, len(plain)))
    spliced = document.spliced(start, end, "NEW")
    assert spliced.startswith(document.head)
    body = spliced[len(document.head) :]
    left, _, right = body.partition("NEW")
    assert document.body.startswith(left)
    assert document.body.endswith(right)
    removed = document.body[len(left) : len(document.body) - len(right)]
    assert removed.replace("\r\n", "\n") == plain[start:end]


def test_a_torn_checksum_is_reported_in_words() -> None:
    with pytest.raises(ValueError, match="it has no whole checksum; the line was torn or edited"):
        decode(b'{"crc":"aa","seq":99,"ts":"2026')
