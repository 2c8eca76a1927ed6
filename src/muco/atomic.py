"""Files that appear whole or not at all, and groups of files that appear together.

    Batch ── add(release) ── add(certificate) ── add(policy)      prepared: .muco-<pid>-<token>.tmp, 0600, synced
      └───── on leaving the `with` block ─────────────────────    policy, certificate, then the release are renamed

A temporary stands in its target's own directory (a rename cannot leave a file system) and is locked while its
writer lives; `sweep_stale` removes those whose writer was killed. A target that is a symbolic link is written
through: the link stays, the file it points to is replaced.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from muco.errors import OutputError, PolicyError
from muco.write_fault import reported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import BinaryIO

    type_of_path = str | os.PathLike[str]
    Content = str | bytes | Callable[[Path], None]

_TEMPORARY = re.compile(r"\.muco-(\d+)-[0-9a-f]{16}\.tmp")


class Existing(StrEnum):
    """What becomes of a file that already stands at the target."""

    REFUSE = "refuse"
    REPLACE = "replace"


class Readers(StrEnum):
    """Who may read a file once it stands: everyone the umask allows, or its owner alone (0600)."""

    PUBLIC = "public"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A finished temporary and the place it goes to; the open handle holds its lock."""

    target: Path
    temporary: Path
    handle: BinaryIO
    readers: Readers

    def appear(self) -> None:
        """Rename the temporary over its target."""
        os.fchmod(self.handle.fileno(), 0o600 if self.readers is Readers.OWNER else 0o666 & ~_umask())
        os.fsync(self.handle.fileno())
        self.temporary.replace(self.target)


class Batch:
    """Files that belong together: every one is prepared in full before the first appears.

    They appear in the reverse order of `add`, so add the release first and it is the last to appear. An error or
    an interrupt before that moment leaves every target as it was; a kill may leave the later-added ones new, each
    of them whole.
    """

    def __init__(self, *, existing: Existing = Existing.REFUSE, inputs: Iterable[type_of_path] = ()) -> None:
        """`inputs` are the files being read: none of them may be a target."""
        self._existing = existing
        self._inputs = tuple(inputs)
        self._prepared: list[_Prepared] = []
        self._temporaries: list[Path] = []
        self._handles: list[BinaryIO] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self._prepared:
                self._appear()
        finally:
            for temporary in self._temporaries:
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)
            for handle in self._handles:
                handle.close()

    def add(self, path: type_of_path, content: Content, *, readers: Readers = Readers.PUBLIC) -> str:
        """Prepare one file and return the SHA-256 of its bytes, in hexadecimal.

        `content` is the text (written as UTF-8), the bytes, or a function that writes the file whose path it is
        given. Errors: PolicyError for a target that exists, is an input or is taken; OutputError for a write
        that fails.
        """
        beside = [prepared.target for prepared in self._prepared]
        target = check_target(path, existing=self._existing, inputs=self._inputs, beside=beside)
        sweep_stale(target.parent)
        with reported(path):
            temporary, handle = self._reserve(target.parent)
            if callable(content):
                content(temporary)
            else:
                temporary.write_bytes(content.encode() if isinstance(content, str) else content)
            os.fsync(handle.fileno())
            self._prepared.append(_Prepared(target, temporary, handle, readers))
            with temporary.open("rb") as whole:
                return hashlib.file_digest(whole, "sha256").hexdigest()

    def _reserve(self, directory: Path) -> tuple[Path, BinaryIO]:
        """An empty locked temporary; its name is noted first, so that an interrupt leaves nothing unknown."""
        while True:
            temporary = self._name_temporary(directory)
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            handle = os.fdopen(descriptor, "r+b", buffering=0)
            self._handles.append(handle)
            with suppress(OSError):  # no locks on this file system: sweep_stale asks for the pid there
                fcntl.flock(handle, fcntl.LOCK_EX)
            if os.fstat(handle.fileno()).st_nlink:  # else swept between its creation and its lock
                return temporary, handle

    def _name_temporary(self, directory: Path) -> Path:
        temporary = directory / f".muco-{os.getpid()}-{secrets.token_hex(8)}.tmp"
        self._temporaries.append(temporary)
        return temporary

    def _appear(self) -> None:
        """Rename all, the first added last; on any error put back what was renamed before it."""
        release = self._prepared[0]
        undo: list[Callable[[], object]] = []
        try:
            for prepared in self._prepared:
                check_target(prepared.target, existing=self._existing, inputs=self._inputs)
            for prepared in reversed(self._prepared):
                with reported(prepared.target):
                    if prepared is not release:
                        undo.append(self._way_back(prepared.target))
                    prepared.appear()
        except BaseException:
            if release.temporary.exists():  # else an interrupt came after the last rename: all is done
                for step in reversed(undo):
                    with suppress(OSError):
                        step()
            raise
        for directory in {prepared.target.parent for prepared in self._prepared}:
            _sync_directory(directory)

    def _way_back(self, target: Path) -> Callable[[], object]:
        """What restores `target` as it is now: its old file is kept under a second name until the end."""
        if not target.exists():
            return partial(target.unlink, missing_ok=True)
        kept = self._name_temporary(target.parent)
        with suppress(OSError):  # a file system without hard links cannot go back, but every file is whole
            kept.hardlink_to(target)
        return partial(kept.replace, target)


def check_target(
    path: type_of_path,
    *,
    existing: Existing = Existing.REFUSE,
    inputs: Iterable[type_of_path] = (),
    beside: Iterable[Path] = (),
) -> Path:
    """The file that writing to `path` would replace; asked before a long run, and again before a rename.

    Errors: PolicyError for a target that may not be replaced, is one of `inputs` or of the targets `beside` it;
    OutputError for one that cannot be written.
    """
    with reported(path):
        try:
            target = Path(path).resolve()
        except RuntimeError:  # how Path.resolve tells of a circle
            raise OSError(errno.ELOOP, "") from None
        if not target.parent.is_dir():
            raise OutputError(f"{path} cannot be written: its directory does not exist. Make it first.")
        if target.is_dir():
            raise OutputError(f"{path} cannot be written: it is a directory. Name a file in it.")
        if target.exists():
            if any(Path(given).exists() and target.samefile(given) for given in inputs):
                raise PolicyError(f"{path} is an input: it is never overwritten. Name another output.")
            if not target.is_file():
                raise OutputError(f"{path} cannot be written: it is not a regular file. Name another output.")
            if existing is Existing.REFUSE:
                raise PolicyError(f"{path} exists: use --force to replace it, or name another output.")
        if target in beside:
            raise PolicyError(f"two of the files to be written are the same, {path}: give each its own name")
        if not os.access(target.parent, os.W_OK | os.X_OK):
            is_read_only = os.statvfs(target.parent).f_flag & os.ST_RDONLY
            raise OSError(errno.EROFS if is_read_only else errno.EACCES, "")
    return target


def sweep_stale(directory: type_of_path) -> int:
    """Remove the temporaries in `directory` whose writer was killed, and return how many they were.

    A living writer holds a lock on each of its own; its pid says less, in a container or when given again.
    """
    swept = 0
    with suppress(OSError):
        for path in Path(directory).iterdir():
            named = _TEMPORARY.fullmatch(path.name)
            if named and not path.is_symlink() and path.is_file():
                with suppress(OSError):
                    swept += _removed_if_abandoned(path, int(named[1]))
    return swept


def _removed_if_abandoned(path: Path, pid: int) -> bool:
    with path.open("r+b") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # no locks on this file system
            if _is_alive(pid):
                return False
        path.unlink()
    return True


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError) as error:
        return isinstance(error, PermissionError)
    return True


def _umask() -> int:
    """The umask; it can only be read by setting it, and 077 for that moment errs on the safe side."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sync_directory(directory: Path) -> None:
    """Make the renames in `directory` survive a power cut, where it may be read and its file system knows how."""
    with suppress(PermissionError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                what = f"{directory} has the new files, but its disk did not confirm it"
                raise OutputError(f"{what}: {error.strerror}") from None
        finally:
            os.close(descriptor)
