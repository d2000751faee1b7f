"""How many callers fit into a process's file descriptors."""

import errno
import resource

import pytest

from engine.process import file_descriptors


@pytest.fixture
def limit(monkeypatch):
    """The process's soft and hard limit. It has 24 open descriptors, which need not be the lowest
    numbers, and one more while it lists them."""
    state = {"soft": 1024, "hard": 4096}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (state["soft"], state["hard"]))
    monkeypatch.setattr(
        resource, "setrlimit", lambda kind, pair: state.update(soft=pair[0], hard=pair[1])
    )
    monkeypatch.setattr("os.listdir", lambda path: [str(7 * number) for number in range(25)])
    return state


@pytest.mark.parametrize(
    ("soft", "hard", "connections", "after"),
    [
        (1024, 100_000, 10_000, 20_256),
        (1024, 4096, 10_000, 4096),
        (1024, resource.RLIM_INFINITY, 10_000, 20_256),
        (50_000, 100_000, 10_000, 50_000),  # never lowered
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, 10_000, resource.RLIM_INFINITY),
        (64, 64, 10_000, 64),
    ],
)
def test_the_soft_limit_is_raised_to_what_the_connections_need(
    limit, soft, hard, connections, after
):
    limit.update(soft=soft, hard=hard)
    file_descriptors.raise_limit(connections)
    assert (limit["soft"], limit["hard"]) == (after, hard)


@pytest.mark.parametrize("soft", [64, 128, 1024, 20_256])
def test_each_caller_has_a_descriptor_for_its_upstream_and_some_are_left(limit, soft):
    limit["soft"] = soft
    callers, reserve = file_descriptors.capacity()
    assert callers > 0
    assert 24 + 2 * callers + reserve <= soft
    assert reserve >= 16


def test_the_raised_default_limit_is_enough_for_all_connections(limit):
    limit.update(hard=100_000)
    file_descriptors.raise_limit(10_000)
    assert file_descriptors.capacity()[0] >= 10_000


def test_without_dev_fd_the_lowest_free_descriptor_counts(limit, monkeypatch):
    def unlisted(path: str) -> list[str]:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)

    listed = file_descriptors.capacity()
    monkeypatch.setattr("os.listdir", unlisted)
    monkeypatch.setattr("os.open", lambda *_: 24)
    monkeypatch.setattr("os.close", lambda number: None)
    assert file_descriptors.capacity() == listed


def test_under_a_very_low_limit_one_caller_may_connect(limit):
    limit.update(soft=26)
    assert file_descriptors.capacity()[0] == 1


def test_only_errors_from_a_lack_of_descriptors_are_exhaustion():
    assert file_descriptors.is_exhausted(OSError(errno.EMFILE, "too many open files"))
    assert not file_descriptors.is_exhausted(OSError(errno.ECONNREFUSED, "refused"))
