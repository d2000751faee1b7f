"""The roles of the processes of a config."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.config.server import Server
from engine.server.recorder_process import RecorderProcess
from engine.server.serving_processes import Role, ServingProcesses


@pytest.fixture
def group() -> Iterator[ServingProcesses]:
    group = ServingProcesses(Server(workers=2, heavy_processes=1, heavy_above=9), after=5)
    yield group
    group.close()


WORKER, HEAVY = Role(is_heavy=False), Role(is_heavy=True)


@pytest.mark.parametrize(
    ("living", "is_heavy"),
    [
        ([], False),
        ([(6, WORKER)], False),
        ([(6, WORKER), (7, WORKER)], True),
        ([(6, WORKER), (7, WORKER), (8, HEAVY)], False),
        ([(7, WORKER), (8, HEAVY)], False),
        ([(4, WORKER), (5, WORKER), (6, WORKER)], False),
        ([(5, HEAVY), (6, WORKER), (7, WORKER)], True),
    ],
    ids=["first", "second", "third", "more", "a worker died", "old workers", "an old heavy one"],
)
def test_workers_come_first(
    group: ServingProcesses, living: list[tuple[int, Role]], is_heavy: bool
) -> None:
    role = group.next_role(living, 3)
    assert (role.is_heavy, role.workers, role.above) == (is_heavy, 2, 9)


def test_all_processes_of_a_config_share_a_channel(group: ServingProcesses) -> None:
    channel = group.next_role([], 3).channel
    assert channel is not None
    assert group.next_role([(6, WORKER), (7, WORKER)], 3).channel is channel


def test_without_heavy_processes_there_is_no_channel() -> None:
    group = ServingProcesses(Server(workers=1, heavy_processes=0), after=0)
    assert group.next_role([(1, WORKER)], 1) == Role(workers=1, above=Server().heavy_above)
    group.close()


@pytest.mark.parametrize(
    ("living", "lacks"),
    [([(6, WORKER)], True), ([(6, WORKER), (7, HEAVY)], False), ([(5, HEAVY)], True)],
    ids=["none", "one", "an old one"],
)
def test_a_heavy_worker_may_be_missing(
    group: ServingProcesses, living: list[tuple[int, Role]], lacks: bool
) -> None:
    assert group.lacks_heavy_workers(living) is lacks


def test_workers_know_the_channel_of_the_recorder() -> None:
    recorder = RecorderProcess(lambda channel: None)
    group = ServingProcesses(Server(workers=1), 0, recorder)
    roles = [group.next_role([], 2), group.next_role([(1, WORKER)], 2)]
    assert [(role.is_heavy, role.recorder) for role in roles] == [
        (False, recorder.channel),
        (True, recorder.channel),
    ]
    group.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        recorder.channel.send([0])
