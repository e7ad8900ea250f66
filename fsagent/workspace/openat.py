"""Opening names beneath a pinned folder without ever following a link.

`openat2(2)` through ctypes on Linux; elsewhere, and where the kernel says no, a walk that opens each
component with O_NOFOLLOW. Both need `dir_fd`, which Windows does not have.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from fsagent.errors import PathRejected, WorkspaceError

_SYS_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


class _OpenHow(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


def open_root(root: Path) -> int:
    """Return a descriptor of the workspace's root."""
    return os.open(root, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOEXEC)


def open_beneath(root_fd: int, name: str, flags: int, mode: int = 0o644) -> int:
    """Open a canonical `name` beneath `root_fd`. Raises OSError; ELOOP for a link on the way."""
    call = _openat2()
    if call is None:
        return _walk(root_fd, name, flags, mode)
    how = _OpenHow(flags | _CLOEXEC, mode if flags & os.O_CREAT else 0, _RESOLVE)
    while True:
        fd = int(call(_SYS_OPENAT2, root_fd, name.encode(), ctypes.byref(how), ctypes.sizeof(how)))
        if fd >= 0:
            return fd
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            raise OSError(code, os.strerror(code))


_RESOLVE = _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS


@lru_cache(maxsize=1)
def _openat2() -> ctypes._NamedFuncPointer | None:
    """Return libc's `syscall` where the kernel has openat2 (Linux 5.6), else None."""
    if sys.platform != "linux":
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    how = _OpenHow(os.O_RDONLY | os.O_DIRECTORY | _CLOEXEC, 0, _RESOLVE)
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | _CLOEXEC)
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
            step = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | _NOFOLLOW | _CLOEXEC, dir_fd=fd)
            os.close(fd)
            fd = step
        return os.open(leaf, flags | _NOFOLLOW | _CLOEXEC, mode, dir_fd=fd)
    finally:
        os.close(fd)


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
def refusals(path: str) -> Iterator[None]:
    """Turn the system's errors into refusals by name, without the host's path."""
    try:
        yield
    except OSError as err:
        code, reason = _CODES.get(err.errno or 0, ("", ""))
        if code:
            raise PathRejected(path, code, reason) from err
        text = os.strerror(err.errno) if err.errno else str(err)
        raise WorkspaceError(f"{path}: {text}; nothing was saved by this call") from err
