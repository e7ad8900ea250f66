"""Terms: stop words, stems, irregular forms, accents, CJK."""

import pytest

from fsagent.search.text import fold, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dogs were running", ["dog", "run"]),
        ("Caroline's kids went home", ["carolin", "child", "go", "home"]),
        ("I don't think it’s a café", ["think", "cafe"]),
        ("pre-edit foo_bar", ["pre", "edit", "foo", "bar"]),
        ("我喜歡茶", ["我", "喜", "歡", "茶", "我喜", "喜歡", "歡茶"]),
        ("GPUサーバー123", ["gpu", "サ", "ー", "バ", "ー", "サー", "ーバ", "バー", "123"]),
        ("茶tea茶", ["茶", "tea", "茶"]),
        ("", []),
    ],
)
def test_terms_of_a_text(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_another_language_has_its_own_stemmer_and_stop_words() -> None:
    assert terms("die Häuser und die Gärten", "de") == ["haus", "gart"]
    assert terms("bonjour madame", "xx") == ["bonjour", "madame"]


def test_fold_keeps_marks_that_make_another_letter() -> None:
    assert fold("crème brûlée łódź") == "creme brulee lodz"
    assert fold("ガ") == "ガ"
    assert fold("й") == "й"
