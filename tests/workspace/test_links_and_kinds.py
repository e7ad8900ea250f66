"""What lies under a legal name: links, pipes, sockets, second names, look-alikes, odd names."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from fsagent.errors import PathRejected, WorkspaceError
from fsagent.workspace import openat
from fsagent.workspace.tree import Tree

READ: dict[str, Callable[[Tree, str], object]] = {
    "read": lambda tree, name: tree.read_bytes(name),
    "stat": lambda tree, name: tree.stat(name),
    "chunks": lambda tree, name: list(tree.chunks(name)),
}
WRITE: dict[str, Callable[[Tree, str], object]] = {
    "replace": lambda tree, name: tree.replace(name, b"evil\n"),
    "append": lambda tree, name: tree.append(name, b"evil\n"),
    "truncate": lambda tree, name: tree.truncate(name, 0),
    "remove": lambda tree, name: tree.remove(name),
}


@pytest.fixture(params=["openat2", "walk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of opening beneath the root."""
    if request.param == "walk":
        monkeypatch.setattr(openat, "_openat2", lambda: None)
    return str(request.param)


def plant(root: Path) -> dict[str, str]:
    """Plant links; return name -> where it lies."""
    outside = root.parent / "outside"
    core = root / "core"
    (core / "file.md").symlink_to(outside / "secret.md")
    (core / "passwd.md").symlink_to("/etc/passwd")
    (core / "inside.md").symlink_to("persona.md")
    (core / "dangling.md").symlink_to(outside / "made.md")
    (core / "fd.md").symlink_to("/proc/self/fd/0")
    (core / "loop.md").symlink_to("loop.md")
    (root / "archival" / "dir").symlink_to(outside)
    (root / "archival" / "cwd").symlink_to("/proc/self/cwd")
    return {
        "65 a link to a file outside": "core/file.md",
        "65 a link to passwd": "core/passwd.md",
        "66 below a link to a folder": "archival/dir/secret.md",
        "67 a link inside": "core/inside.md",
        "68 a dangling link": "core/dangling.md",
        "71 a link to a descriptor": "core/fd.md",
        "71 below a link to the cwd": "archival/cwd/x.md",
        "a link to itself": "core/loop.md",
        "a new file below a link": "archival/dir/made.md",
    }


@pytest.mark.parametrize("operation", READ | WRITE)
def test_a_link_is_never_followed(tree: Tree, root: Path, way: str, operation: str) -> None:
    for row, name in plant(root).items():
        with pytest.raises(PathRejected) as caught:
            (READ | WRITE)[operation](tree, name)
        assert caught.value.code == "LNK", row
        assert str(root.parent) not in str(caught.value)
    outside = root.parent / "outside"
    assert [path.name for path in outside.iterdir()] == ["secret.md"]
    assert (outside / "secret.md").read_bytes() == b"canary\n"


def test_links_and_what_is_behind_them_are_not_listed(tree: Tree, root: Path, way: str) -> None:
    plant(root)
    assert [entry.path for entry in tree.walk("core")] == ["core/persona.md"]
    left_out: set[str] = set()
    assert [entry.path for entry in tree.list("archival", left_out=left_out)] == [
        "archival/note.md"
    ]
    assert left_out == {"'dir'", "'cwd'"}


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_pipe_or_socket_is_refused_at_once(
    tree: Tree, tmp_path: Path, way: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree.root / "core")  # a socket's address is at most 108 bytes
    server = socket.socket(socket.AF_UNIX)
    if kind == "pipe":
        os.mkfifo("odd.md")
    else:
        server.bind("odd.md")
    try:
        for operation in (READ | WRITE).values():
            started = time.monotonic()
            with pytest.raises(PathRejected) as caught:
                operation(tree, "core/odd.md")
            assert caught.value.code == "KIND"
            assert time.monotonic() - started < 0.2
    finally:
        server.close()
    assert [entry.path for entry in tree.walk("core")] == ["core/persona.md"]


def test_a_folder_is_not_a_file_and_a_file_not_a_folder(tree: Tree, way: str) -> None:
    for operation in (READ | WRITE).values():
        with pytest.raises(PathRejected) as caught:
            operation(tree, "core")
        assert caught.value.code == "KIND"
        with pytest.raises(PathRejected) as caught:
            operation(tree, "core/persona.md/x.md")
        assert caught.value.code == "KIND"
    with pytest.raises(PathRejected) as caught:
        tree.list("core/persona.md")
    assert caught.value.code == "KIND"


@pytest.mark.parametrize("operation", WRITE)
def test_a_file_with_a_second_name_is_not_written(tree: Tree, root: Path, operation: str) -> None:
    os.link(root.parent / "outside" / "secret.md", root / "core" / "twin.md")
    with pytest.raises(PathRejected) as caught:
        WRITE[operation](tree, "core/twin.md")
    assert caught.value.code == "LNK"
    assert (root.parent / "outside" / "secret.md").read_bytes() == b"canary\n"


@pytest.mark.parametrize(
    "name", ["core/Persona.md", "core/PERSONA.MD", "Core/new.md", "CORE/persona.md"]
)
def test_a_name_that_differs_in_case_only_is_a_collision(tree: Tree, name: str) -> None:
    with pytest.raises(PathRejected) as caught:
        tree.create(name, b"text\n")
    assert caught.value.code == "COL"
    with pytest.raises(PathRejected) as caught:
        tree.append(name, b"text\n")
    assert caught.value.code == "COL"


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
def test_a_name_is_one_file_in_either_form(tree: Tree, root: Path, stored: str, way: str) -> None:
    folder = root / "archival" / unicodedata.normalize(stored, "détails")
    folder.mkdir()
    (folder / unicodedata.normalize(stored, "café.md")).write_bytes(b"un\n")
    name = "archival/détails/café.md"
    assert next(entry.path for entry in tree.walk("archival")) == name
    for form in ("NFC", "NFD"):
        given = unicodedata.normalize(form, name)
        assert tree.read_bytes(given) == b"un\n"
        with pytest.raises(PathRejected) as caught:
            tree.create(given, b"deux\n")
        assert caught.value.code == "COL"
    tree.replace(name, b"deux\n")
    tree.append(name, b"trois\n")
    assert len(list(folder.iterdir())) == 1
    assert tree.read_bytes(name) == b"deux\ntrois\n"
    tree.create("archival/détails/autre.md", b"x\n")
    assert len(list(folder.iterdir())) == 2


def test_a_name_that_is_no_text_is_left_out_and_told(tree: Tree, root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root / "core") + b"/\xff\xfe.md")).write_bytes(b"x")
    (root / "core" / "a\nb.md").write_bytes(b"x")
    (root / "core" / ".swp").write_bytes(b"x")
    left_out: set[str] = set()
    assert [entry.path for entry in tree.list("core", left_out=left_out)] == ["core/persona.md"]
    assert left_out == {"'\\udcff\\udcfe.md'", "'a\\nb.md'"}
    assert tree.names("core") == ("persona.md",)


def test_what_is_listed_can_be_opened_down_to_the_deepest_folder(tree: Tree, root: Path) -> None:
    folder = root / "archival"
    for level in range(30):
        folder = folder / f"{level:02d}".ljust(60, "x")
        folder.mkdir()
        (folder / "x.md").write_bytes(b"x")
    found = [entry.path for entry in tree.walk("archival")]
    assert found
    for path in found:
        tree.read_bytes(path)


def test_a_folder_of_many_files_is_listed(tree: Tree, root: Path, nightly: bool) -> None:
    count = 100_000 if nightly else 3_000
    for number in range(count):
        (root / "archival" / f"n{number}.md").touch()
    started = time.monotonic()
    assert len(tree.list("archival")) == count + 1
    assert time.monotonic() - started < 5


def test_a_root_that_is_a_link_is_resolved_once_and_pinned(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    tree = Tree(link)
    link.unlink()
    link.symlink_to(root.parent / "outside")
    assert tree.read_bytes("core/persona.md") == b"I am kind.\n"
    tree.create("core/new.md", b"x\n")
    assert (root / "core" / "new.md").exists()
    assert not (root.parent / "outside" / "core").exists()
    tree.close()


@pytest.mark.parametrize("what", ["missing", "file", "loop"])
def test_a_root_that_is_no_folder_is_told(tmp_path: Path, what: str) -> None:
    root = tmp_path / "root"
    if what == "file":
        root.write_bytes(b"")
    if what == "loop":
        root.symlink_to(root)
    with pytest.raises(WorkspaceError):
        Tree(root)


def test_without_dir_fd_the_tree_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "supports_dir_fd", set())
    with pytest.raises(WorkspaceError, match="WSL"):
        Tree(root)


@pytest.mark.parametrize(
    "link", [".fsagent", ".fsagent/locks", ".fsagent/recall.json", ".fsagent/index"]
)
def test_derived_state_is_not_written_through_a_link(root: Path, link: str) -> None:
    target = root.parent / "outside"
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(target / "secret.md" if link.endswith("json") else target)
    with pytest.raises(WorkspaceError, match="is a link") as caught:
        Tree(root)
    assert str(root.parent) not in str(caught.value)
    assert [path.name for path in target.iterdir()] == ["secret.md"]


def test_a_link_planted_later_is_refused_when_it_is_used(tree: Tree, root: Path) -> None:
    tree.replace("core/persona.md", b"one\n")
    target = root.parent / "outside"
    subprocess.run(["rm", "-r", str(root / ".fsagent")], check=True)
    (root / ".fsagent").symlink_to(target)
    with pytest.raises(WorkspaceError):
        tree.replace("core/persona.md", b"two\n")
    assert [path.name for path in target.iterdir()] == ["secret.md"]


def test_derived_state_is_never_listed_or_opened(tree: Tree, root: Path) -> None:
    tree.replace("core/persona.md", b"one\n")
    assert (root / ".fsagent").is_dir()
    assert not [entry for entry in tree.walk(".") if "fsagent/" in entry.path]
    with pytest.raises(PathRejected) as caught:
        tree.list(".fsagent")
    assert caught.value.code == "RSV"


def test_a_replaced_file_keeps_its_permissions(tree: Tree, root: Path) -> None:
    path = root / "core" / "persona.md"
    path.chmod(0o600)
    tree.replace("core/persona.md", b"two\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_passed_over(tree: Tree, root: Path) -> None:
    (root / "archival" / "private").mkdir(mode=0)
    assert [entry.path for entry in tree.walk("archival")] == ["archival/note.md"]
    (root / "core" / "persona.md").chmod(0)
    with pytest.raises(PathRejected) as caught:
        tree.read_bytes("core/persona.md")
    assert caught.value.code == "IO"


SWAPPER = """
import ctypes, os, sys
root, outside = sys.argv[1:]
spot, link = f"{root}/archival/spot".encode(), f"{root}/archival/link".encode()
os.symlink(outside, link)
exchange = ctypes.CDLL(None, use_errno=True).renameat2
assert exchange(-100, spot, -100, link, 2) == 0, os.strerror(ctypes.get_errno())
print("go", flush=True)
while True:
    exchange(-100, spot, -100, link, 2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs renameat2")
def test_a_folder_swapped_for_a_link_never_leads_outside(
    tree: Tree, root: Path, nightly: bool, way: str, suite_line: list[str]
) -> None:
    spot = root / "archival" / "spot"
    spot.mkdir()
    (spot / "secret.md").write_bytes(b"mine\n")
    outside = root.parent / "outside"
    swapper = subprocess.Popen(
        [sys.executable, "-c", SWAPPER, str(root), str(outside)], stdout=subprocess.PIPE
    )
    try:
        assert swapper.stdout is not None
        swapper.stdout.readline()
        operations, escapes, control = _race(tree, root, seconds=60 if nightly else 1.0)
    finally:
        swapper.kill()
        swapper.communicate()
    escapes += (outside / "secret.md").read_bytes() != b"canary\n"
    escapes += len(list(outside.iterdir())) != 1
    suite_line.append(
        f"path races ({way}): {operations} racing operations: {escapes} escapes (control: {control})"
    )
    assert escapes == 0
    assert control > 0


def _race(tree: Tree, root: Path, *, seconds: float) -> tuple[int, int, int]:
    """Read and write under a swapper; the control resolves first and opens later."""
    operations = escapes = control = 0
    spot = root / "archival" / "spot"
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline or (not control and time.monotonic() < deadline + 20):
        for _ in range(20):
            operations += 1
            with contextlib.suppress(PathRejected):
                escapes += tree.read_bytes("archival/spot/secret.md") != b"mine\n"
            try:
                checked = not spot.is_symlink() and spot.resolve() == spot
                control += checked and (spot / "secret.md").read_bytes() == b"canary\n"
            except OSError:
                pass
        try:
            tree.append("archival/spot/secret.md", b"")
            tree.replace("archival/spot/new.md", b"x")
        except PathRejected:
            pass
    return operations, escapes, control
