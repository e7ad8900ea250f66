"""Opening names beneath a pinned folder without ever following a link.

`openat2(2)` through ctypes on Linux; elsewhere, and where the kernel says no, a walk that opens each
component with O_NOFOLLOW. Both need `dir_fd`, which Windows does not have: there the tree refuses
to open, since a check of the path before the open is the race this module exists to avoid.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat as stat_module
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from fsagent.errors import PathRejected, WorkspaceError, printable
from fsagent.workspace.durable import NotSettled

_SYS_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


class _OpenHow(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


def resolved_root(root: Path) -> Path:
    """Return the folder itself, links followed once. Raises `WorkspaceError` where it is none."""
    try:
        resolved = root.resolve()
    except (OSError, RuntimeError) as err:
        raise WorkspaceError(f"{root} is a link that leads in a circle") from err
    if not resolved.is_dir():
        raise WorkspaceError(f"{root} is not a folder; make a workspace with: fsagent init {root}")
    return resolved


def open_root(root: Path) -> int:
    """Return a descriptor of the workspace's root. Raises `WorkspaceError` where that cannot be."""
    if os.open not in os.supports_dir_fd:
        raise WorkspaceError(
            "this system cannot open files relative to a folder (dir_fd), so a workspace cannot be "
            "guarded here; on Windows run fsagent inside WSL"
        )
    try:
        return os.open(root, os.O_RDONLY | os.O_DIRECTORY | _CLOEXEC)
    except OSError as err:
        raise WorkspaceError(f"{root} cannot be opened: {err.strerror}") from err


def open_beneath(root_fd: int, name: str, flags: int, mode: int = 0o644) -> int:
    """Open a canonical `name` beneath `root_fd`. Raises OSError; ELOOP for a link on the way."""
    call = _openat2()
    if call is None:
        return _walk(root_fd, name, flags, mode)
    how = _how(flags, mode if flags & os.O_CREAT else 0)
    while True:
        fd = int(call(_SYS_OPENAT2, root_fd, name.encode(), how, _HOW_BYTES))
        if fd >= 0:
            return fd
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            raise OSError(code, os.strerror(code))


_RESOLVE = _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS


_HOW_BYTES = ctypes.sizeof(_OpenHow)


@lru_cache(maxsize=64)
def _how(flags: int, mode: int) -> Any:
    """Return a pointer to what openat2 is asked; the same one for the same question."""
    return ctypes.byref(_OpenHow(flags | _CLOEXEC, mode, _RESOLVE))


@lru_cache(maxsize=1)
def _openat2() -> ctypes._NamedFuncPointer | None:
    """Return libc's `syscall` where the kernel has openat2 (Linux 5.6), else None."""
    if sys.platform != "linux":
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    how = _OpenHow(os.O_RDONLY | os.O_DIRECTORY | _CLOEXEC, 0, _RESOLVE)
    here = os.open("/", os.O_RDONLY | os.O_DIRECTORY | _CLOEXEC)
    try:
        fd = int(call(_SYS_OPENAT2, here, b".", ctypes.byref(how), ctypes.sizeof(how)))
    finally:
        os.close(here)
    if fd < 0:
        return None
    os.close(fd)
    return call


def _walk(root_fd: int, name: str, flags: int, mode: int) -> int:
    """Open component by component; a link anywhere gives ELOOP (macOS, old kernels)."""
    *folders, leaf = name.split("/")
    fd = os.dup(root_fd)
    try:
        for folder in folders:
            step = _step(fd, folder, os.O_RDONLY | os.O_DIRECTORY, mode)
            os.close(fd)
            fd = step
        return _step(fd, leaf, flags, mode)
    finally:
        os.close(fd)


def _step(fd: int, part: str, flags: int, mode: int) -> int:
    try:
        return os.open(part, flags | _NOFOLLOW | _CLOEXEC, mode, dir_fd=fd)
    except NotADirectoryError as err:
        # O_DIRECTORY speaks before O_NOFOLLOW does: a link to a folder gives ENOTDIR on Linux.
        if is_link(lstat_at(fd, part)):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from err
        raise


def make_folders(root_fd: int, name: str) -> None:
    """Make a folder and those above it, refusing a name that differs from a sibling in case only."""
    done = "."
    for part in name.split("/"):
        fd = open_beneath(root_fd, done, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if lstat_at(fd, part) is None:
                twin = look_alike(fd, part)
                if twin is not None:
                    reason = f"would stand beside {twin!r}, which differs only in case or form"
                    raise PathRejected(name, "COL", reason)
                os.mkdir(part, dir_fd=fd)
                os.fsync(fd)
        except FileExistsError:
            pass
        finally:
            os.close(fd)
        done = part if done == "." else f"{done}/{part}"


def as_stored(root_fd: int, name: str) -> str:
    """Return a canonical name as the disk spells it: other systems store names in NFD.

    A component that is not there keeps its form.
    """
    stored = ""
    for part in name.split("/"):
        if not part.isascii():
            with _opened(root_fd, stored or ".") as fd:
                part = stored_leaf(fd, part)  # noqa: PLW2901
        stored = f"{stored}/{part}" if stored else part
    return stored


@contextmanager
def _opened(root_fd: int, folder: str) -> Iterator[int | None]:
    try:
        fd = open_beneath(root_fd, folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        yield None
        return
    try:
        yield fd
    finally:
        os.close(fd)


def stored_leaf(fd: int | None, leaf: str) -> str:
    """Return a name as a folder spells it, itself where there is no such name or folder."""
    if fd is None or leaf.isascii() or lstat_at(fd, leaf) is not None:
        return leaf
    with os.scandir(fd) as names:
        return next(
            (item.name for item in names if unicodedata.normalize("NFC", item.name) == leaf), leaf
        )


def is_link(info: os.stat_result | None) -> bool:
    """Say whether a status is that of a symbolic link."""
    return info is not None and stat_module.S_ISLNK(info.st_mode)


def check_regular(path: str, info: os.stat_result, *, to_write: bool) -> None:
    """Refuse what is not a regular file, and to write one that has a second name elsewhere."""
    if is_link(info):
        raise PathRejected(path, "LNK", "is a link; links are not followed")
    if not stat_module.S_ISREG(info.st_mode):
        raise PathRejected(path, "KIND", f"is {_kind(info.st_mode)}, not a file")
    if to_write and info.st_nlink > 1:
        raise PathRejected(path, "LNK", "has more than one hard link; copy it first")


def check_size(path: str, size: int, limit: int) -> None:
    """Refuse a file that is too large to read whole."""
    if size > limit:
        raise PathRejected(path, "LIM", f"is {size} bytes, over the limit of {limit}")


def _kind(mode: int) -> str:
    names = {
        stat_module.S_IFDIR: "a folder",
        stat_module.S_IFIFO: "a pipe",
        stat_module.S_IFSOCK: "a socket",
    }
    return names.get(stat_module.S_IFMT(mode), "a device")


def lstat_at(fd: int, leaf: str) -> os.stat_result | None:
    """Return the status of a name in a folder without following it, None where it is not there."""
    try:
        return os.stat(leaf, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def look_alike(fd: int, leaf: str) -> str | None:
    """Return a sibling equal to `leaf` when case and Unicode form are ignored, else None."""
    folded = _fold(leaf)
    with os.scandir(fd) as names:
        return next(
            (item.name for item in names if item.name != leaf and _fold(item.name) == folded), None
        )


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


_CODES = {
    errno.ELOOP: ("LNK", "is or passes through a link; links are not followed"),
    errno.EXDEV: ("ESC", "leads outside the workspace"),
    errno.ENOENT: ("MISSING", "does not exist; list_files shows what there is"),
    errno.ENOTDIR: ("KIND", "passes through something that is not a folder"),
    errno.EISDIR: ("KIND", "is a folder, not a file"),
    errno.ENXIO: ("KIND", "is a pipe or socket, not a file"),
    errno.ENAMETOOLONG: ("LONG", "is too long"),
    errno.EACCES: ("IO", "may not be read or written (permission denied)"),
    errno.EPERM: ("IO", "may not be read or written (not permitted)"),
}


@contextmanager
def refusals(path: str, *, saving: bool = False) -> Iterator[None]:
    """Turn the system's errors into refusals by name, without the host's path."""
    try:
        yield
    except OSError as err:
        code, reason = _CODES.get(err.errno or 0, ("", ""))
        if code:
            raise PathRejected(path, code, reason) from err
        text = os.strerror(err.errno) if err.errno else str(err)
        outcome = "; nothing was saved by this call" if saving else ""
        if isinstance(err, NotSettled):
            outcome = (
                "; the file is written, but may not last: look at it before you repeat the edit"
            )
        raise WorkspaceError(f"{printable(path)}: {text}{outcome}") from err
