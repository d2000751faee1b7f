"""Workers ask for tokens in another process, which may end, hang, or not keep up."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import gevent
import pytest
from gevent.event import Event

from engine.callers.record_service import RecordService
from engine.callers.records import Callers, RemoteRecords
from engine.process.channel import Channel, receive_message
from engine.stores.database.failures import DatabaseAway, DatabaseError, DatabaseRefuses
from engine.values.caller import Caller
from engine.values.quota import token_quota
from tests.support.waiting import PATIENCE

ANNA = Caller("anna", models=("gpt-*",), limits=(token_quota("rate", "60/1m", "USD"),))


class Responses:
    """Stored responses in the recorder."""

    def __init__(self) -> None:
        self.rows: dict[bytes, tuple[float, bytes]] = {}

    def put(self, key: bytes, expires: float, data: bytes) -> None:
        self.rows[key] = expires, data

    def get(self, key: bytes, now: float) -> bytes | None:
        expires, data = self.rows.get(key, (0.0, b""))
        return data if expires > now else None

    def size(self, prefix: bytes, now: float) -> int:
        return len([key for key in self.rows if key.startswith(prefix)])

    def remove(self, key: bytes) -> None:
        raise DatabaseRefuses("read-only")


class Sums:
    """The sums of the ledger in the recorder."""

    def sums(
        self, by: str, token: str, team: str, since: float, until: float
    ) -> list[dict[str, object]]:
        if team == "away":
            raise DatabaseAway("no database")
        return [{by: [token, team, since, until]}]

    def requests(self, token: str, after: str, limit: int) -> list[dict[str, object]]:
        return [{"id": [token, after, limit]}]


class Tokens:
    """The tokens in the recorder."""

    def first_to_expire(self, limit: int) -> list[Caller]:
        return [Caller(f"first of {limit}")]


class Database:
    """The records in the recorder: `queries` are the digests of each."""

    def __init__(self) -> None:
        self.queries: list[list[str]] = []
        self.responses = Responses()
        self.sums = Sums()
        self.tokens = Tokens()
        self.error: Exception | None = None
        self.ping_error = ""
        self.before: Callable[[], object] = lambda: None

    def look_up(self, digests: Sequence[str]) -> Callers:
        self.queries.append(sorted(digests))
        self.before()
        if self.error is not None:
            raise self.error
        return {"a": ANNA, "odd": UnicodeDecodeError("utf-8", b"", 0, 1, "its limits")}

    def ping(self) -> str:
        return self.ping_error

    def close(self) -> None:
        pass


@pytest.fixture
def database() -> Database:
    return Database()


@pytest.fixture
def channel() -> Iterator[Channel]:
    new_channel = Channel()
    yield new_channel
    new_channel.close()


@pytest.fixture(autouse=True)
def time_limit() -> Iterator[None]:
    with gevent.Timeout(PATIENCE):
        yield


@pytest.fixture
def recorder(channel: Channel, database: Database) -> Iterator[None]:
    """A recorder that answers."""
    service, greenlets = RecordService(database), []

    def receive() -> None:
        while descriptors := channel.receive():
            greenlets.extend(gevent.spawn(service.serve, each) for each in descriptors)

    greenlets.append(gevent.spawn(receive))
    yield
    gevent.killall(greenlets)


@pytest.fixture
def remote(channel: Channel) -> Iterator[RemoteRecords]:
    records = RemoteRecords(channel)
    yield records
    records.close()


def test_a_caller_is_looked_up_in_the_recorder(
    recorder: None, remote: RemoteRecords, database: Database
) -> None:
    (caller,) = remote.look_up(["a", "unknown"]).values()
    assert caller == ANNA
    assert isinstance(caller, Caller)
    assert caller.may_use("gpt-4o")
    assert not caller.may_use("claude")
    assert database.queries == [["a", "unknown"]]


def test_an_invalid_record_is_an_error_of_its_own_token(
    recorder: None, remote: RemoteRecords
) -> None:
    error = remote.look_up(["odd"])["odd"]
    assert isinstance(error, ValueError)
    assert "its limits" in str(error)


@pytest.mark.parametrize("error", [DatabaseAway("it is gone"), DatabaseRefuses("its disk is full")])
def test_an_error_of_the_database_is_raised_in_the_worker(
    recorder: None, remote: RemoteRecords, database: Database, error: DatabaseError
) -> None:
    database.error = error
    with pytest.raises(type(error), match=str(error)):
        remote.look_up(["a"])
    database.error = None
    assert list(remote.look_up(["a"])) == ["a"]


def test_a_bug_is_logged_in_the_recorder(
    recorder: None, remote: RemoteRecords, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    database.error = KeyError("a bug")
    with pytest.raises(DatabaseError, match="see the log of the recorder"):
        remote.look_up(["a"])
    assert caplog.records[0].exc_info is not None


def test_questions_of_the_same_moment_are_one_query(
    recorder: None, channel: Channel, database: Database
) -> None:
    """Of several workers as well."""
    with ExitStack() as stack:
        workers = [RemoteRecords(channel) for _ in range(3)]
        for worker in workers:
            stack.callback(worker.close)
        release = Event()
        database.before = release.wait
        waiting = [gevent.spawn(workers[0].look_up, [str(number)]) for number in range(4)]
        while len(database.queries) < 4:  # as many as run at once
            gevent.sleep(0.001)
        waiting += [gevent.spawn(worker.look_up, ["a", "b"]) for worker in workers]
        gevent.sleep(0.05)
        release.set()
        gevent.joinall(waiting, raise_error=True)
    assert database.queries[4:] == [["a", "b"]]


def test_one_stream_carries_one_question_after_the_other(
    remote: RemoteRecords, channel: Channel, database: Database
) -> None:
    service = RecordService(database)
    first = gevent.spawn(remote.look_up, ["a"])
    serving = gevent.spawn(service.serve, _stream(channel).detach())
    first.join()
    for _ in range(3):
        remote.look_up(["a"])
    remote.close()
    serving.join()
    assert len(database.queries) == 4


def test_a_question_survives_the_recorder(channel: Channel, remote: RemoteRecords) -> None:
    """It waits in the channel for the next one."""
    database = Database()
    service = RecordService(database)
    question = gevent.spawn(remote.look_up, ["a"])
    with _stream(channel) as first:
        receive_message(first)
    (descriptor,) = channel.receive() or []
    gevent.spawn(service.serve, descriptor)
    assert list(question.get()) == ["a"]


def _stream(channel: Channel) -> gevent.socket.socket:
    (descriptor,) = channel.receive() or []
    return gevent.socket.socket(fileno=descriptor)


def test_a_question_that_ends_two_recorders_fails(channel: Channel, remote: RemoteRecords) -> None:
    question = gevent.spawn(remote.look_up, ["a"])
    for _ in range(2):
        _stream(channel).close()
    with pytest.raises(DatabaseAway, match="has ended"):
        question.get()


def test_a_recorder_that_died_between_two_questions_is_not_noticed(
    channel: Channel, remote: RemoteRecords, database: Database
) -> None:
    service = RecordService(database)
    for _ in range(2):
        questions = [gevent.spawn(remote.look_up, ["a"]) for _ in range(3)]
        serving = [gevent.spawn(service.serve, _stream(channel).detach()) for _ in range(3)]
        gevent.joinall(questions, raise_error=True)
        gevent.killall(serving)


def test_an_answer_that_comes_too_late_is_not_taken_for_another(
    recorder: None, remote: RemoteRecords, database: Database
) -> None:
    release = Event()
    database.before = release.wait
    with pytest.raises(gevent.Timeout), gevent.Timeout(0.01):
        remote.look_up(["a"])
    release.set()
    assert remote.look_up(["unknown"]) == {}


def test_a_query_that_hangs_ends_in_the_recorder_too(
    recorder: None, remote: RemoteRecords, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.callers.records.LOOKUP_SECONDS", 0.01)
    database.before = lambda: gevent.sleep(PATIENCE)
    with pytest.raises(DatabaseAway, match="no answer within"):
        remote.look_up(["a"])


def test_a_recorder_that_does_not_keep_up_costs_no_wait(channel: Channel) -> None:
    while channel.send([0]):
        pass
    with pytest.raises(DatabaseAway, match="does not keep up"):
        RemoteRecords(channel).look_up(["a"])


def test_a_worker_without_descriptors_says_so(
    channel: Channel, remote: RemoteRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("gevent.socket.socketpair", fails)
    with pytest.raises(DatabaseAway, match="Too many open files"):
        remote.look_up(["a"])


@pytest.mark.parametrize("error", ["", "db does not answer"])
def test_the_database_is_pinged_by_the_recorder(
    recorder: None, remote: RemoteRecords, database: Database, error: str
) -> None:
    database.ping_error = error
    assert remote.ping() == error


def test_a_recorder_that_does_not_answer_is_no_database(
    remote: RemoteRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.callers.records.PING_SECONDS", 0.01)
    monkeypatch.setattr("engine.callers.records.PING_MARGIN", 0.0)
    assert remote.ping() == "the recorder, which asks the database: no answer within 0.01 s"


def test_stored_responses_are_kept_by_the_recorder(recorder: None, remote: RemoteRecords) -> None:
    responses = remote.responses
    responses.put(b"key", 9.0, b"x" * 300_000)
    assert (responses.get(b"key", 8.0), responses.get(b"key", 9.0)) == (b"x" * 300_000, None)
    assert (responses.size(b"ke", 8.0), responses.size(b"x", 8.0)) == (1, 0)
    with pytest.raises(DatabaseRefuses, match="read-only"):
        responses.remove(b"key")


def test_sums_are_those_of_the_recorder(recorder: None, remote: RemoteRecords) -> None:
    assert remote.sums.sums("day", "ann", "", 1.0, 2.0) == [{"day": ["ann", "", 1.0, 2.0]}]
    assert remote.sums.requests("ann", "x", 5) == [{"id": ["ann", "x", 5]}]
    with pytest.raises(DatabaseAway, match="no database"):
        remote.sums.sums("day", "", "away", 1.0, 2.0)


def test_tokens_are_those_of_the_recorder(recorder: None, remote: RemoteRecords) -> None:
    assert [caller.name for caller in remote.tokens.first_to_expire(5)] == ["first of 5"]
