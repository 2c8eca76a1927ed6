"""Files that appear whole or not at all."""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from muco.atomic import Batch, Existing, Readers, check_target, sweep_stale
from muco.errors import OutputError, PolicyError

REPLACE = Existing.REPLACE


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write_c(path: Path) -> None:
    path.write_text("c")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask_022() -> Iterator[None]:
    former = os.umask(0o022)
    yield
    os.umask(former)


@pytest.mark.usefixtures("umask_022")
def test_files_of_a_batch_appear_together_with_their_digests_and_modes(tmp_path: Path) -> None:
    with Batch() as batch:
        digest = batch.add(tmp_path / "a", "äb")
        batch.add(tmp_path / "b", b"\x00")
        batch.add(tmp_path / "c", write_c, readers=Readers.OWNER)
        assert all(name.startswith(".muco-") for name in left(tmp_path))
        assert {mode(path) for path in tmp_path.iterdir()} == {0o600}
    assert left(tmp_path) == ["a", "b", "c"]
    assert digest == hashlib.sha256((tmp_path / "a").read_bytes()).hexdigest()
    assert [mode(tmp_path / name) for name in "abc"] == [0o644, 0o644, 0o600]


def test_an_error_in_a_batch_leaves_everything_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(KeyboardInterrupt), Batch(existing=REPLACE) as batch:
        batch.add(tmp_path / "a", "new")
        batch.add(tmp_path / "b", "new")
        raise KeyboardInterrupt
    assert left(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_a_rename_that_fails_puts_the_others_back(tmp_path: Path) -> None:
    (tmp_path / "certificate").write_text("old")
    with pytest.raises(OutputError, match="release cannot be written: it is a directory"):  # noqa: SIM117
        with Batch(existing=REPLACE) as batch:
            batch.add(tmp_path / "release", "new")
            batch.add(tmp_path / "certificate", "new")
            (tmp_path / "release").mkdir()
    assert left(tmp_path) == ["certificate", "release"]
    assert (tmp_path / "certificate").read_text() == "old"


def test_what_came_to_stand_at_the_target_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="a exists: use --force"), Batch() as batch:
        batch.add(tmp_path / "a", "new")
        (tmp_path / "a").write_text("theirs")
    assert (tmp_path / "a").read_text() == "theirs"
    assert left(tmp_path) == ["a"]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with Batch(existing=REPLACE) as batch:
        batch.add(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_targets_that_cannot_be_written_are_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "hard").hardlink_to(tmp_path / "file")
    (tmp_path / "round").symlink_to("round")
    os.mkfifo(tmp_path / "pipe")
    for name, kind, message in (
        ("file", PolicyError, "file exists: use --force to replace it, or name another output"),
        ("none/file", OutputError, "its directory does not exist. Make it first"),
        (".", OutputError, "it is a directory. Name a file in it"),
        ("pipe", OutputError, "it is not a regular file. Name another output"),
        ("round", OutputError, "its symbolic links go in a circle"),
        ("n" * 300, OutputError, "the name is too long. Choose a shorter one"),
    ):
        with pytest.raises(kind, match=message):
            check_target(tmp_path / name)
    for name in ("file", "hard"):
        with pytest.raises(PolicyError, match="is an input: it is never overwritten"):
            check_target(tmp_path / name, existing=REPLACE, inputs=[tmp_path / "file"])


def test_two_files_of_a_batch_may_not_be_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a")
    with pytest.raises(PolicyError, match="two of the files to be written are the same"), Batch() as batch:
        batch.add(tmp_path / "a", "1")
        batch.add(tmp_path / "link", "2")
    assert left(tmp_path) == ["link"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_directory_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match=r"permission is denied. Ask for it, or write elsewhere"):
        check_target(tmp_path / "a")
    tmp_path.chmod(0o700)


@contextmanager
def mounted(disk: Path, options: str) -> Iterator[Path]:
    """A small disk of its own, where it may be mounted."""
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("a disk may not be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_read_only_file_system_is_refused(tmp_path: Path) -> None:
    refused = pytest.raises(OutputError, match=r"the file system is read-only. Write elsewhere")
    with mounted(tmp_path / "disk", "ro") as disk, refused:
        check_target(disk / "a")


def test_what_a_writer_raises_never_becomes_a_context(tmp_path: Path) -> None:
    def write(_: Path) -> None:
        raise RuntimeError("canary: No space left on device (os error 28)")

    with pytest.raises(OutputError, match=r"the disk is full. Free some space") as caught, Batch() as batch:
        batch.add(tmp_path / "a", write)
    assert caught.value.__context__ is None
    assert left(tmp_path) == []


def test_a_file_that_grows_past_its_limit_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(OutputError, match="grew past the size allowed"), Batch(existing=REPLACE) as batch:
            batch.add(tmp_path / "a", b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert left(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_a_full_disk_is_one_error(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=64k") as disk:
        with pytest.raises(OutputError, match=r"the disk is full. Free some space"), Batch() as batch:
            batch.add(disk / "a", b"x" * 100_000)
        assert left(disk) == []


def test_temporaries_of_the_dead_are_swept_and_those_of_the_living_kept(tmp_path: Path) -> None:
    dead = tmp_path / ".muco-999999-0123456789abcdef.tmp"
    dead.write_text("half")
    others = [tmp_path / ".muco-1-x.tmp", tmp_path / "muco-1-0123456789abcdef.tmp"]
    for path in others:
        path.write_text("theirs")
    (tmp_path / ".muco-2-0123456789abcdef.tmp").symlink_to("muco-1-0123456789abcdef.tmp")
    with Batch() as batch:
        batch.add(tmp_path / "a", "new")
        living = list(tmp_path.glob(f".muco-{os.getpid()}-*.tmp"))
        assert not dead.exists()
        assert sweep_stale(tmp_path) == 0
        assert all(path.exists() for path in [*living, *others])
    assert len(left(tmp_path)) == 4
    assert sweep_stale(tmp_path / "none") == 0


WRITER = """
import sys
from pathlib import Path
from muco.atomic import Batch, Existing
folder = Path(sys.argv[1])
print("ready", flush=True)
for turn in range(10**6):
    with Batch(existing=Existing.REPLACE) as batch:
        for name in ("release", "certificate"):
            batch.add(folder / name, f"{turn:09}" * 30_000)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_writer_stopped_at_any_point_leaves_whole_files(tmp_path: Path, number: signal.Signals) -> None:
    for turn in range(8):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.003 + 0.0071 * turn)
        writer.send_signal(number)
        writer.communicate()
        sweep_stale(tmp_path)
        assert set(left(tmp_path)) <= {"release", "certificate"}
        for path in tmp_path.iterdir():
            text = path.read_text()
            assert text == text[:9] * 30_000
