"""Tokens that workers of a machine share."""

from __future__ import annotations

import stat
from pathlib import Path

import gevent
import pytest

from engine.credentials.access_tokens.shared_token import SharedToken
from engine.credentials.access_tokens.token import CredentialUnavailable, Token


class Worker:
    """One of the workers that share a folder; its fetches give `name-1`, `name-2`, ..."""

    def __init__(self, folder: Path, name: str = "worker", token: str = "t") -> None:
        self.now = 0.0
        self.name = name
        self.fetches = 0
        self.seconds = 0.0
        self.shared = SharedToken(folder, token, clock=lambda: self.now)

    def fetch(self) -> Token:
        self.fetches += 1
        gevent.sleep(self.seconds)
        return Token({"token": f"{self.name}-{self.fetches}"}, self.now, self.now + 1000)

    def get(self, rejected_token: Token | None = None) -> str:
        return self.shared.get(rejected_token, self.fetch).values["token"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runtime"


def test_workers_share_a_token(folder: Path) -> None:
    first, second = Worker(folder, "one"), Worker(folder, "two")
    assert (first.get(), second.get()) == ("one-1", "one-1")


def test_only_the_user_can_read_it(folder: Path) -> None:
    Worker(folder).get()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = list(folder.iterdir())
    assert files
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_one_fetch_at_a_time_is_made_for_all_workers(folder: Path) -> None:
    workers = [Worker(folder, name) for name in "abc"]
    for worker in workers:
        worker.seconds = 0.01
    gets = [gevent.spawn(worker.get) for worker in workers]
    gevent.joinall(gets, raise_error=True)
    assert len({get.value for get in gets}) == 1
    assert sum(worker.fetches for worker in workers) == 1


@pytest.mark.parametrize(("now", "token"), [(749.0, "one-1"), (750.0, "two-1")])
def test_a_token_whose_renewal_is_due_is_fetched_again(
    folder: Path, now: float, token: str
) -> None:
    first, second = Worker(folder, "one"), Worker(folder, "two")
    first.get()
    second.now = now
    assert second.get() == token


def test_a_refused_token_is_not_taken_from_another_worker(folder: Path) -> None:
    first, second = Worker(folder, "one"), Worker(folder, "two")
    first.get()
    rejected_token = Token({"token": "one-1"}, 0, 1000)
    assert second.get(rejected_token) == "two-1"
    assert first.get(rejected_token) == "two-1"


def test_tokens_of_other_credentials_are_apart(folder: Path) -> None:
    assert Worker(folder, "one", "a").get() == "one-1"
    assert Worker(folder, "two", "b").get() == "two-1"


def test_a_file_that_holds_no_token_is_replaced(folder: Path) -> None:
    first, second = Worker(folder, "one"), Worker(folder, "two")
    first.get()
    (folder / "token-t").write_bytes(b"{")
    assert second.get() == "two-1"
    assert first.get() == "two-1"


def test_a_failed_fetch_leaves_the_lock_to_the_next(folder: Path) -> None:
    def fail() -> Token:
        raise CredentialUnavailable("no")

    first, second = Worker(folder, "one"), Worker(folder, "two")
    with pytest.raises(CredentialUnavailable):
        first.shared.get(None, fail)
    assert second.get() == "two-1"


def test_without_a_folder_each_worker_fetches_its_own(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.mkdir(mode=0o755)
    first, second = Worker(folder, "one"), Worker(folder, "two")
    assert (first.get(), second.get()) == ("one-1", "two-1")
    assert "a token is not shared by the workers" in caplog.text
    assert list(folder.iterdir()) == []


def test_tokens_that_have_ended_are_removed(folder: Path) -> None:
    old, new = Worker(folder, token="old"), Worker(folder, token="new")
    old.get()
    new.now = 999.0
    new.get()
    assert (folder / "token-old").exists()
    new.now = 2000.0
    new.get()
    assert not (folder / "token-old").exists()
    assert new.get() == "worker-2"
