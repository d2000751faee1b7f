"""How bodies are received, in memory and on disk."""

import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.exchange.request_body import IN_MEMORY, Body
from engine.exchange.spooled_body import SpooledBody, receive, spool
from engine.values.errors import GatewayError

BIG = bytes(range(256)) * 5000  # 1.28 MB


class Stream:
    """What arrives on a connection: reads give at most what is asked for, in pieces."""

    def __init__(self, data):
        self._data = io.BytesIO(data)
        self.largest = 0

    def read(self, size, /):
        self.largest = max(self.largest, size)
        return self._data.read(size)


def everything(body):
    return b"".join(body.chunks())


@pytest.fixture
def spooled(monkeypatch):
    """The temporary files that are opened during a test."""
    opened = []
    real = tempfile.TemporaryFile

    def spy(*args, **kwargs):
        opened.append(real(*args, **kwargs))
        return opened[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", spy)
    return opened


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize("size", [0, 1, IN_MEMORY - 1, IN_MEMORY])
def test_a_body_up_to_one_megabyte_stays_in_memory(spooled, size, announced):
    data = b"x" * size
    body = receive(Stream(data), size if announced else None, 2 * IN_MEMORY)
    assert (body.in_memory, body.size, everything(body), spooled) == (data, size, data, [])


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize("data", [b"x" * (IN_MEMORY + 1), BIG], ids=["one more", "big"])
def test_a_larger_body_spools_to_disk_and_arrives_whole(spooled, data, announced):
    body = receive(Stream(data), len(data) if announced else None, 2 * IN_MEMORY)
    assert (len(spooled), body.in_memory, body.size) == (1, None, len(data))
    assert everything(body) == data
    assert everything(body) == data
    assert bytes(body.buffer) == data
    body.close()
    assert spooled[0].closed


def test_a_body_that_announces_too_much_is_refused_unread():
    stream = Stream(b"x" * 101)
    with pytest.raises(GatewayError) as excinfo:
        receive(stream, 101, 100)
    assert (excinfo.value.status, stream.largest) == (413, 0)


@pytest.mark.parametrize("limit", [100, IN_MEMORY + 100])
def test_a_body_that_grows_too_large_is_refused_and_leaves_no_file(spooled, limit):
    with pytest.raises(GatewayError) as excinfo:
        receive(Stream(BIG[: limit + 1]), None, limit)
    assert excinfo.value.status == 413
    assert all(file.closed for file in spooled)


@pytest.mark.parametrize("limit", [100, IN_MEMORY + 100])
def test_a_body_of_just_the_limit_passes(limit):
    body = receive(Stream(BIG[:limit]), None, limit)
    assert body.size == limit
    body.close()


@pytest.mark.parametrize("length", [10, IN_MEMORY + 10, IN_MEMORY + 100_000])
def test_a_body_shorter_than_announced_is_refused(spooled, length):
    with pytest.raises(GatewayError) as excinfo:
        receive(Stream(b"x" * (length - 5)), length, 10 * IN_MEMORY)
    assert (excinfo.value.status, excinfo.value.code) == (400, "incomplete_body")
    assert all(file.closed for file in spooled)


def test_the_file_is_given_back_when_the_caller_leaves(spooled):
    class Leaving(Stream):
        def read(self, size, /):
            if self.largest:
                raise ConnectionResetError
            return super().read(size)

    with pytest.raises(ConnectionResetError):
        receive(Leaving(BIG), None, 10 * IN_MEMORY)
    assert [file.closed for file in spooled] == [True]


@pytest.mark.parametrize("length", [len(BIG), None])
def test_a_body_for_which_the_disk_has_no_room_is_refused(monkeypatch, length):
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: open("/dev/full", "r+b"))  # noqa: SIM115
    with pytest.raises(GatewayError) as raised:
        receive(Stream(BIG), length, 2_000_000)
    assert (raised.value.status, raised.value.code) == (503, "no_room_for_body")
    assert ("retry-after", "1") in raised.value.headers


def test_a_body_without_a_folder_for_its_file_is_refused(monkeypatch):
    def missing(**_):
        raise FileNotFoundError("No usable temporary directory")

    monkeypatch.setattr(tempfile, "TemporaryFile", missing)
    with pytest.raises(GatewayError, match="no room"):
        spool([b"x"])


def test_a_source_that_fails_is_not_a_disk_that_is_full(spooled):
    def chunks():
        yield b"x"
        raise ConnectionResetError("left")

    with pytest.raises(ConnectionResetError):
        spool(chunks())
    assert spooled[0].closed


def test_no_read_asks_for_a_whole_large_body():
    stream = Stream(BIG)
    receive(stream, len(BIG), 10 * IN_MEMORY).close()
    assert stream.largest <= IN_MEMORY + 1


def test_chunks_of_a_file_are_small():
    body = receive(Stream(BIG), None, 10 * IN_MEMORY)
    assert max(len(chunk) for chunk in body.chunks()) <= 65_536
    body.close()


@given(st.data())
def test_replacing_leaves_every_other_byte_in_memory_and_on_disk(data):
    text = data.draw(st.binary(max_size=200))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    new = data.draw(st.binary(max_size=20))
    expected = text[:start] + new + text[end:]
    for body in [Body(text), *([spool([text])] if text else [])]:
        replaced = body.with_edits((start, end, new))
        assert (everything(replaced), replaced.size) == (expected, len(expected))
        assert everything(body) == text
        body.close()


def test_closing_twice_is_harmless_and_a_replaced_body_closes_its_file(spooled):
    body = receive(Stream(BIG), None, 10 * IN_MEMORY)
    assert bytes(body.buffer) == BIG
    replaced = body.with_edits((0, 1, b"yy"))
    body.close()
    replaced.close()
    assert spooled[0].closed


def test_an_empty_body_is_empty():
    assert (Body().size, Body().buffer, list(Body().chunks())) == (0, b"", [b""])


def _mapped() -> int:
    """Bytes of files that this process has in its memory."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssFile:")[2].split()[0]) * 1024


def test_a_search_of_a_large_body_leaves_nothing_of_it_in_memory(tmp_path):
    size = 100_000_000
    path = tmp_path / "body"
    with path.open("w+b") as file:
        file.truncate(size)
        file.seek(8 * 262_144 - 3)
        file.write(b"needle")  # across the border of two windows
        file.flush()
        body = SpooledBody(file, size)
        before = _mapped()
        assert body.buffer.find(b"needle") == 8 * 262_144 - 3
        assert body.buffer.find(b"needle", 8 * 262_144) == -1
        assert body.buffer.find(b"needle", 0, 8 * 262_144) == -1
        assert body.buffer.rfind(b"needle") == 8 * 262_144 - 3
        assert body.buffer.rfind(b"needle", 0, 8 * 262_144 + 3) == 8 * 262_144 - 3
        assert body.buffer.rfind(b"needle", 0, 8 * 262_144 + 2) == -1
        assert body.buffer.rfind(b"needle", 8 * 262_144 - 2) == -1
        assert _mapped() - before < 4_000_000
        body.close()
