"""Search in other languages than the workspace's: stems, accents, scripts without spaces, mixed text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fsagent.memory.workspace import Workspace
from fsagent.search.analysis import detect
from fsagent.search.ranked import Search
from fsagent.search.text import find_tokens

SAID = {
    "de": "Gestern sind wir mit den Kindern in die alten Häuser am Fluss gegangen.",
    "fr": "Nous avons mangé des crêpes délicieuses avec mes cousines à Lyon.",
    "es": "Las niñas estaban cantando canciones en la plaza del pueblo.",
    "it": "Abbiamo comprato delle scarpe nuove per il matrimonio di mia sorella.",
    "pt": "Os gatos dormiam nas cadeiras da cozinha durante a tarde.",
    "nl": "De kinderen hebben gisteren in de tuinen gespeeld met de honden.",
    "sv": "Barnen lekte med hundarna i trädgården hela dagen.",
    "tr": "Çocuklar dün bahçede köpeklerle oynadılar.",
    "ru": "Вчера мы гуляли по набережной, мои книги лежат на полках.",
    "el": "Χθες πήγαμε στη θάλασσα με τη γάτα.",
    "zh": "昨天我在北京买了一辆自行车。",
    "ja": "昨日、東京タワーに行きました。カメラを買った。",
    "ko": "어제 서울에서 친구를 만났어요.",
    "th": "เมื่อวานฉันไปตลาดกับเพื่อน",
    "mixed": "我的MacBook在东京坏了 yesterday, said Žižek",
}


@pytest.fixture
def talk(memory: Workspace, say: Callable[..., None]) -> Workspace:
    for number, text in enumerate(SAID.values(), 1):
        say(f"2026-11-{number:02d}", f"Ann: {text}")
    return memory


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("Haus", "de"),
        ("Häusern", "de"),
        ("crepe", "fr"),
        ("cousin", "fr"),
        ("niña", "es"),
        ("cancion", "es"),
        ("scarpa", "it"),
        ("gato cadeira", "pt"),
        ("tuin", "nl"),
        ("trädgårdar", "sv"),
        ("hund", "sv"),
        ("köpek", "tr"),
        ("книга", "ru"),
        ("полка", "ru"),
        ("θαλασσες", "el"),
        ("京", "zh"),
        ("北京", "zh"),
        ("自行车", "zh"),
        ("カメラ", "ja"),
        ("ｶﾒﾗ", "ja"),
        ("タ", "ja"),
        ("서울", "ko"),
        ("친", "ko"),
        ("ตลาด", "th"),
        ("macbook坏了", "mixed"),
        ("zizek", "mixed"),
    ],
)
def test_a_word_in_another_form_finds_its_line(talk: Workspace, query: str, language: str) -> None:
    page = Search(talk.tree, talk.settings, talk.clock).search(query)
    assert any(SAID[language][:20] in hit.text for hit in page.hits[:2])


@pytest.mark.parametrize(
    "language", [code for code in SAID if code not in ("zh", "ja", "ko", "th", "mixed")]
)
def test_a_sentence_tells_its_language(language: str) -> None:
    assert detect(find_tokens(SAID[language].lower()), "en") == language


@pytest.mark.parametrize(
    "text",
    [
        "My friend Müller ate a crêpe in the garden.",
        "I met Zoë and José at the café.",
        "OK.",
        "We had a great time in São Paulo and Malmö with Łukasz",
    ],
)
def test_english_with_names_from_elsewhere_stays_english(text: str) -> None:
    assert detect(find_tokens(text.lower()), "en") == "en"


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("kitchn plan", "archival/kitchen-plan.md"),
        ("kichen-plan.md", "archival/kitchen-plan.md"),
        ("reise nach rohm", "archival/reise_nach_rom.md"),
        ("旅行", "archival/北京旅行.md"),
    ],
)
def test_a_files_name_is_found_with_its_faults(memory: Workspace, query: str, path: str) -> None:
    for name in ("kitchen-plan", "reise_nach_rom", "北京旅行"):
        memory.archival.import_document(f"{name}.md", b"Little is said here.\n")
    page = Search(memory.tree, memory.settings, memory.clock).search(query)
    assert page.hits[0].path == path


def test_a_name_written_as_one_word_is_named_in_the_reply(memory: Workspace) -> None:
    memory.archival.import_document("kitchen-plan.md", b"Little is said here.\n")
    page = Search(memory.tree, memory.settings, memory.clock).search("kitchenplan")
    assert page.notes == (
        "no line holds: kitchenplan",
        "files with such a name: archival/kitchen-plan.md",
    )
