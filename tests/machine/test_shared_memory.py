"""The folder and the database that the workers of one machine share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import lmdb
import pytest

from engine.machine.shared_memory import Attachment, SharedMemory, attach, detach
from engine.process.runtime_dir import runtime_directory
from engine.stores.counters.memory import MemoryCounters
from engine.values.counters import CountersAway
from tests.support.clock import MicrosecondClock
from tests.support.counters import Limit, records_in, shared_rate, take


def test_workers_of_one_deployment_share_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = runtime_directory(Path("gateway.yaml"))
    assert here == runtime_directory(tmp_path / "gateway.yaml")
    assert here != runtime_directory(tmp_path / "other.yaml")
    assert f"-{os.getuid()}-" in here.name


def test_the_folder_and_its_files_are_closed_to_others(path, store):
    take(store, shared_rate())
    assert path.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o077 for file in path.iterdir()} == {0}


def open_to_others(path: Path) -> None:
    path.mkdir()
    path.chmod(0o755)


def link_to_elsewhere(path: Path) -> None:
    path.with_name("elsewhere").mkdir(mode=0o700)
    path.symlink_to("elsewhere")


@pytest.mark.parametrize("make", [open_to_others, link_to_elsewhere, Path.touch])
def test_a_folder_open_to_others_is_refused(path, make):
    make(path)
    with pytest.raises(PermissionError, match=r"expected a folder of user \d+ .*remove it"):
        MemoryCounters(path)


def test_a_folder_of_another_user_is_refused(path, monkeypatch):
    MemoryCounters(path).close()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(PermissionError, match="user 12345"):
        MemoryCounters(path)


def test_a_child_opens_the_counters_again_and_shares_the_count(store):
    take(store, shared_rate(amount=2))
    child = os.fork()
    if not child:
        is_granted = take(store, shared_rate(amount=2)).denied is None
        os._exit(0 if is_granted else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert take(store, shared_rate(amount=2)).denied == 0


def test_a_child_that_ends_releases_no_slot_of_its_parent(store):
    slot = [Limit("slots:a", 1, 0)]
    take(store, slot)
    child = os.fork()
    if not child:
        os._exit(0 if take(store, slot).denied == 0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert take(store, slot).denied == 0


def test_slots_of_a_child_are_free_when_it_ends(store):
    slot = [Limit("slots:a", 2, 0)]
    take(store, slot)
    child = os.fork()
    if not child:
        os._exit(0 if take(store, slot).denied is None else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert take(store, slot).denied is None
    assert take(store, slot).denied == 0


def test_closing_a_removed_database_leaves_the_new_one_open(path, store):
    take(store, shared_rate(cost=1))
    shutil.rmtree(path)
    second_store = MemoryCounters(path, clock=MicrosecondClock())
    take(second_store, shared_rate(cost=3))
    store.close()
    assert take(second_store, shared_rate(cost=1)).denied == 0
    assert records_in(path) == 2  # the limit, and the number of the next worker
    second_store.close()


def test_memory_is_reserved_before_it_is_written(path, store, monkeypatch):
    reserved, reserve = [0], os.posix_fallocate

    def reserving(file: int, at: int, size: int) -> None:
        reserve(file, at, size)
        if os.readlink(f"/proc/self/fd/{file}").endswith("data.mdb"):
            assert at == reserved[-1]
            reserved.append(at + size)

    monkeypatch.setattr(os, "posix_fallocate", reserving)
    for part in range(20):
        for caller in range(1000):
            take(store, shared_rate(f"caller-{part}-{caller}"))
        memory = attach(path, 1 << 28)
        end = memory.written_size()
        detach(memory)
        assert end < reserved[-1] < end + (4 << 20)
    assert end > 2 << 20


def test_memory_that_cannot_be_reserved_is_not_written(path, monkeypatch):
    reserve = os.posix_fallocate

    def full(file: int, at: int, size: int) -> None:
        if os.readlink(f"/proc/self/fd/{file}").endswith("data.mdb"):
            raise OSError(28, "No space left on device")
        reserve(file, at, size)

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="no room"):
        SharedMemory(path, 1 << 20)
    store = MemoryCounters(path)
    with pytest.raises(CountersAway, match="no room"):
        take(store, shared_rate())


def test_the_file_of_locks_is_reserved_before_it_is_written(path):
    """LMDB only makes it longer, and then writes it by its map."""
    path.mkdir(mode=0o700)
    (path / "lock.mdb").write_bytes(b"")
    os.truncate(path / "lock.mdb", 8192)  # as a worker left it that died for want of room
    memory = SharedMemory(path, 1 << 20)
    status = (path / "lock.mdb").stat()
    assert (status.st_size, status.st_blocks * 512) == (8192, 8192)
    memory.close()


def test_a_database_that_is_open_keeps_its_locks(path):
    """A process that closes a file releases all of its POSIX locks on it."""
    memory = SharedMemory(path, 1 << 20)
    inode = (path / "lock.mdb").stat().st_ino
    with pytest.raises(lmdb.Error, match="already open"):
        SharedMemory(path, 1 << 20)
    assert f":{inode} " in Path("/proc/locks").read_text()
    memory.close()


def test_a_database_is_not_opened_without_room_for_its_locks(path, monkeypatch):
    def full(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.delattr("engine.machine.shared_memory.lmdb.open")
    with pytest.raises(OSError, match="no room"):
        SharedMemory(path, 1 << 20)


def test_an_attachment_looks_once_a_second_for_the_file_at_its_path(path, monkeypatch):
    now, looks = [100.0], []
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr(SharedMemory, "is_current", lambda memory: looks.append(now[0]) or True)
    attachment = Attachment(path, 1 << 20)
    memory = attachment.memory()
    for now[0] in (100.1, 100.9, 101.05, 102.0, 102.2):
        assert attachment.memory() is memory
    attachment.close()
    assert looks == [100.1, 102.0]
