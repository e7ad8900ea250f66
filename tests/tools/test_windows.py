"""Windows of open files stay within their share of the context."""

from __future__ import annotations

from fsagent.tools.windows import Window, Windows


def window(
    path: str, call_id: str, *, lines: tuple[int, int] = (1, 10), tokens: int = 100
) -> Window:
    return Window(path, *lines, tokens, call_id)


def paths(windows: Windows) -> list[str]:
    return [each.path for each in windows.open_windows]


def test_least_recently_used_windows_page_out_beyond_the_budget() -> None:
    windows = Windows(1000)  # 400 tokens for all windows
    for number in range(4):
        assert windows.open(window(f"{number}.md", f"c{number}")) == []
    gone = windows.open(window("4.md", "c4", tokens=150))
    assert [each.path for each in gone] == ["0.md", "1.md"]
    assert paths(windows) == ["2.md", "3.md", "4.md"]
    assert windows.tokens == 350


def test_close_frees_every_window_of_a_path() -> None:
    windows = Windows(10_000)
    windows.open(window("a.md", "c1"))
    windows.open(window("a.md", "c2", lines=(50, 60)))
    assert len(windows.close("a.md")) == 2
    assert windows.tokens == 0
    assert windows.close("a.md") == []


def test_a_window_that_covers_another_takes_its_place() -> None:
    windows = Windows(10_000)
    windows.open(window("a.md", "c1", lines=(5, 8)))
    windows.open(window("a.md", "c2", lines=(1, 20)))
    assert windows.tokens == 100
    assert windows.replacement("c1") == "(a.md lines 5-8 closed; open it again to read it)"
    assert windows.replacement("c2") is None


def test_one_window_over_the_budget_stays_as_the_only_one() -> None:
    windows = Windows(1000)
    windows.open(window("a.md", "c1"))
    windows.open(window("big.md", "c2", tokens=9_000))
    assert paths(windows) == ["big.md"]
