"""Heads of requests as they stand on the wire: what is read, what is refused, and how two other
parsers, gunicorn's and llhttp, read the same bytes."""

from __future__ import annotations

import httptools
import pytest
from gunicorn.config import Config
from gunicorn.http.errors import NoMoreData, ParseException
from gunicorn.http.parser import RequestParser
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.server.http1.request import HeadReader, InvalidRequest, Limits, RequestHead
from tests.support.thorough import examples


def read(data: bytes, limits: Limits | None = None) -> RequestHead:
    """The head of a request that is complete."""
    parsed = HeadReader(limits or Limits()).feed(data)
    assert parsed is not None
    return parsed[0]


def get(*headers: bytes, target: bytes = b"/") -> bytes:
    return b"GET " + target + b" HTTP/1.1\r\nHost: h:1\r\n" + b"".join(headers) + b"\r\n"


def post(*headers: bytes) -> bytes:
    return b"POST / HTTP/1.1\r\nHost: h\r\n" + b"".join(headers) + b"\r\n"


def test_a_head_is_read_and_what_follows_is_left() -> None:
    parsed = HeadReader(Limits()).feed(get(b"X-A: 1\r\n", target=b"/a%2Fb?c=d") + b"more")
    assert parsed is not None
    head, rest = parsed
    assert (head.method, head.minor_version, rest) == ("GET", 1, b"more")
    assert (head.target, head.path, head.query) == ("/a%2Fb?c=d", "/a%2Fb", "c=d")
    assert head.headers == {"HTTP_HOST": "h:1", "HTTP_X_A": "1"}
    assert (head.content_length, head.close, head.expects_continue) == (0, False, False)


@pytest.mark.parametrize("size", [1, 7])
def test_a_head_may_come_in_pieces(size: int) -> None:
    reader, data = HeadReader(Limits()), get(b"X-A: 1\r\n")
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    for _ in range(2):  # of one connection
        assert [reader.feed(piece) for piece in pieces[:-1]] == [None] * (len(pieces) - 1)
        parsed = reader.feed(pieces[-1])
        assert parsed is not None
        assert (parsed[0].headers["HTTP_X_A"], parsed[1]) == ("1", b"")


@pytest.mark.parametrize(
    "line",
    [
        b"GET  / HTTP/1.1",
        b"GET /  HTTP/1.1",
        b" GET / HTTP/1.1",
        b"GET / HTTP/1.1 ",
        b"GET\t/ HTTP/1.1",
        b"GET /\tHTTP/1.1",
        b"GET / HTTP/1.1\t",
        b"GET \t/ HTTP/1.1",
        b"GET /a b HTTP/1.1",
        b"GET /",
        b"GET",
        b"GET * HTTP/1.1",
        b"GET host:80 HTTP/1.1",
        b"GET a/b HTTP/1.1",
        b"GET 1://h/a HTTP/1.1",
        b"GET ://h/a HTTP/1.1",
        b"GET " + b"/" + b"\x7f HTTP/1.1",
        b"GET / HTTP/1.1 HTTP/1.1",
        b"GET / http/1.1",
        b"GET / HTTP/1.10",
        b"GET / HTTP/01.1",
        b"GO / HTTP/1.1",
        b"G" * 21 + b" / HTTP/1.1",
        b"G#T / HTTP/1.1",
        b"GET http://[h/a HTTP/1.1",
        b"GET / HTTP/1.2",
        b"GET / HTTP/2.0",
        b"get / HTTP/1.1",
        b"G(T / HTTP/1.1",
        b"GET /\x00 HTTP/1.1",
        b"\r\nGET  / HTTP/1.1",
        b"\r\n\r\nGET / HTTP/1.1",
        b"\r\n" * 100 + b"GET / HTTP/1.1",
        b"\nGET / HTTP/1.1",
        b"\rGET / HTTP/1.1",
        b" \r\nGET / HTTP/1.1",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_an_invalid_request_line_is_refused(line: bytes) -> None:
    with pytest.raises(InvalidRequest) as excinfo:
        read(line + b"\r\nHost: h\r\n\r\n")
    assert excinfo.value.status == 400


@pytest.mark.parametrize(
    ("target", "path"),
    [
        (b"/", "/"),
        (b"/a?b=c", "/a"),
        (b"http://h/a?b", "/a"),
        (b"http://h", "/"),
        (b"HTTPS://u@[::1]:80/a;b", "/a;b"),
        (b"a+b-c.1://h/a", "/a"),
        (b"/%20", "/%20"),
        (b"/\xa0", "/\xa0"),
        (b"//a", "//a"),
    ],
)
def test_one_empty_line_may_stand_before_a_request(target: bytes, path: str) -> None:
    head = read(b"\r\n" + get(target=target))
    assert (head.target, head.path) == (target.decode("latin-1"), path)


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (b"X: a\r\n b\r\n", 400),  # folded
        (b"X: a\r\n\tb\r\n", 400),
        (b"X: a\n", 400),
        (b"X: a\rb\r\n", 400),
        (b"X : a\r\n", 400),
        (b" X: a\r\n", 400),
        (b": a\r\n", 400),
        (b"X\r\n", 400),
        (b"X\x80: a\r\n", 400),
        (b"X(: a\r\n", 400),
        (b"X: a\x00\r\n", 400),
        (b"X: a\x7f\r\n", 400),
        (b"X: a\x0b\r\n", 400),
        (b"X: a\x1b[0m\r\n", 400),
        (b"X\t: a\r\n", 400),
        (b"X\r: a\r\n", 400),
        (b"X: a\r\r\n", 400),
        (b"X: a\n\r\n", 400),
        (b"X: a\nY: b\r\n", 400),
        (b"Content_Length: 5\r\n", 400),
        (b"Expect: 200-maybe\r\n", 417),
        (b"Transfer-Encoding: gzip\r\n", 400),
        (b"Transfer-Encoding: chunked, chunked\r\n", 400),
        (b"Transfer-Encoding: identity, chunked\r\n", 400),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400),
        (b"Transfer-Encoding: \r\n", 400),
        (b"Content-Length: 5\r\nContent-Length: 6\r\n", 400),
        (b"Content-Length: 5\r\nContent-Length: 5\r\n", 400),
        (b"Content-Length: 5, 5\r\n", 400),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", 400),
        (b"Content-Length: 5\r\nTransfer-Encoding: identity\r\n", 400),
    ],
)
def test_a_header_that_two_servers_could_read_differently_is_refused(
    header: bytes, status: int
) -> None:
    with pytest.raises(InvalidRequest) as excinfo:
        read(post(header))
    assert excinfo.value.status == status


def test_chunks_belong_to_http_1_1() -> None:
    with pytest.raises(InvalidRequest):
        read(b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert read(post(b"Transfer-Encoding: Chunked\r\n")).content_length is None


@pytest.mark.parametrize("length", ["0", "5", "0" * 16 + "5", "0" * 17 + "5", "0" * 19 + "5"])
def test_a_length_is_a_decimal_number(length: str) -> None:
    head = read(post(f"Content-Length: {length}\r\n".encode()))
    assert (head.content_length, head.headers["CONTENT_LENGTH"]) == (int(length), length)


@pytest.mark.parametrize(
    "length", ["9" * 400, "0" * 5000 + "5", "+5", "-5", "5, 5", "0x5", "5_0", "", "\xb2", "5 5"]
)
def test_an_invalid_content_length_is_refused(length: str) -> None:
    with pytest.raises(InvalidRequest):
        read(post(f"Content-Length: {length}\r\n".encode("latin-1")))


@pytest.mark.parametrize(
    "name", ["Host", "Content-Type", "Content-Length", "User-Agent", "x-api-key", "Authorization"]
)
def test_headers_that_may_occur_once_are_not_repeated(name: str) -> None:
    lines = f"{name}: 0\r\n{name.lower()}: 1\r\n".encode()
    with pytest.raises(InvalidRequest, match=f"the header '{name.lower()}' is repeated"):
        read(b"POST / HTTP/1.1\r\n" + lines + b"\r\n")


@pytest.mark.parametrize("name", ["User-Agent", "x-api-key", "Authorization"])
def test_a_header_that_is_repeated_with_the_same_value_is_one(name: str) -> None:
    line = f"{name}: a/b\r\n".encode()
    headers = read(b"POST / HTTP/1.1\r\n" + line * 3 + b"X-A: 1\r\n\r\n").headers
    assert [*headers.values()] == ["a/b", "1"]


@pytest.mark.parametrize("name", ["Host", "Content-Length", "Content-Type"])
def test_the_host_and_what_a_body_is_read_by_are_never_repeated(name: str) -> None:
    line = f"{name}: 0\r\n".encode()
    with pytest.raises(InvalidRequest, match=name):
        read(b"POST / HTTP/1.1\r\n" + line * 2 + b"\r\n")


def test_repeated_headers_are_joined() -> None:
    assert read(get(b"X-A: 1\r\n", b"x-a: 2\r\n")).headers["HTTP_X_A"] == "1,2"


@pytest.mark.parametrize("name", ["session_id", "Conversation_ID", "thread_id"])
def test_correlation_ids_are_read_as_if_they_had_a_dash(name: str) -> None:
    key = "HTTP_" + name.upper()
    assert read(get(f"{name}: a\r\n".encode())).headers[key] == "a"
    assert read(get(f"x-{name}: a\r\n".encode())).headers[f"HTTP_x-{name.lower()}"] == "a"


def test_a_name_with_an_underscore_is_not_the_one_with_a_dash() -> None:
    lines = (b"X_A: 1\r\n", b"x-a: 2\r\n", b"x_a: 3\r\n")
    assert read(get(*lines)).headers == {"HTTP_x_a": "1,3", "HTTP_X_A": "2", "HTTP_HOST": "h:1"}


@pytest.mark.parametrize(
    "name", ["Content_Length", "content_type", "transfer_encoding", "Transfer_Encoding", "1_2", "_"]
)
def test_one_that_a_proxy_may_take_for_the_length_of_the_body_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest):
        read(get(f"{name}: 0\r\n".encode()))


@pytest.mark.parametrize("name", [b"x" * 65, b"x" * 8000])
def test_long_names_are_read_like_short_ones(name: bytes) -> None:
    key = "HTTP_" + name.decode().upper()
    assert read(get(name + b": a\r\n")).headers[key] == "a"


@pytest.mark.parametrize(
    ("version", "connection", "close"),
    [
        (1, [], False),
        (1, [b"close"], True),
        (1, [b"Close"], True),
        (1, [b"keep-alive, close"], True),
        (1, [b"keep-alive", b"close"], True),
        (1, [b"close", b"keep-alive"], True),
        (1, [b"Upgrade"], False),
        (0, [], True),
        (0, [b"keep-alive"], False),
        (0, [b"Keep-Alive, x"], False),
        (0, [b"close"], True),
    ],
)
def test_whether_the_caller_wants_another_request(
    version: int, connection: list[bytes], close: bool
) -> None:
    """RFC 9112 9.3."""
    lines = b"".join(b"Connection: " + value + b"\r\n" for value in connection)
    head = read(b"GET / HTTP/1.%d\r\nHost: h\r\n%b\r\n" % (version, lines))
    assert head.close == close


def test_only_http_1_1_waits_for_100_continue() -> None:
    """RFC 9110 10.1.1."""
    assert read(post(b"Expect: 100-Continue\r\n")).expects_continue
    assert not read(b"POST / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n").expects_continue


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", 414),
        (get(b"X: " + b"a" * 17_000 + b"\r\n"), 431),
        (get(*[b"X: 1\r\n"] * 100), 431),
        (get(*[b"X:" + b"a" * 200 + b"\r\n"] * 100), 431),
        (b"\r\n" + b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", 414),
        (get(b"X:\r\n" * 100_000), 431),
    ],
)
def test_a_head_is_bounded(data: bytes, status: int) -> None:
    with pytest.raises(InvalidRequest) as excinfo:
        read(data)
    assert excinfo.value.status == status


def test_a_head_as_large_as_its_limits_is_read() -> None:
    limits = Limits(request_line=100, headers=3, header_size=50)
    target = b"/" + b"a" * (100 - len(b"GET / HTTP/1.1"))
    lines = [b"X-%d: %b\r\n" % (at, b"a" * 43) for at in range(3)]
    data = b"GET %b HTTP/1.1\r\n%b\r\n" % (target, b"".join(lines))
    assert len(read(data, limits).headers) == 3
    for longer in (data.replace(b"/a", b"/aa"), data.replace(b"X-1", b"X-11")):
        with pytest.raises(InvalidRequest):
            read(longer, limits)


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\xfc\x03\x03",  # a TLS ClientHello
        b"GET / HTTP/1.1\nHost: h\n\n",
        b"GET / HTTP/1.1\r\nX: a\rb",
        b"\n",
        b"GET /\x00",
    ],
)
def test_what_cannot_become_a_head_is_refused_before_its_end(data: bytes) -> None:
    with pytest.raises(InvalidRequest) as excinfo:
        HeadReader(Limits()).feed(data)
    assert excinfo.value.status == 400


def test_a_head_that_never_ends_is_refused() -> None:
    reader, size = HeadReader(Limits(100, 2, 100)), 0
    with pytest.raises(InvalidRequest) as excinfo:  # noqa: PT012 - it may be refused at any piece
        while size < 10_000:
            assert reader.feed(b"GET / HTTP/1.1\r\nX: " if not size else b"a" * 50) is None
            size += 50
    assert excinfo.value.status == 431
    assert size < 500


# gunicorn's own reading

PARTS = st.sampled_from(
    [
        *(b"GET", b"POST", b"OPTIONS", b"get", b"G T", b" ", b"  ", b"\t", b"\r\n", b"\n", b"\r"),
        *(b"/", b"/a?b", b"*", b"http://h/a", b"//x", b"/#f", b"h:80", b"/\x80", b"/\x00"),
        *(b"HTTP/1.1", b"HTTP/1.0", b"HTTP/1.2", b"HTTP/2.0", b"http/1.1"),
        *(b"Host: h", b"Host: i", b"X-A: 1", b"x-a:2", b"X_A: 3", b"session_id: 1", b"X-B:\t a \t"),
        *(b"Content-Length: 5", b"Content-Length: +5", b"Content-Length: 0", b"Content-Type: a/b"),
        *(b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip", b"Transfer-Encoding:identity"),
        *(b"Expect: 100-continue", b"Expect: x", b"Connection: close", b"Connection: keep-alive"),
        *(b"X: a\r\n b", b"X : a", b": a", b"X: \x7f", b"X: \xff", b"X-\xe9: a", b"hello"),
    ]
)


def gunicorn_reads(data: bytes) -> tuple[object, ...] | None:
    """What gunicorn's parser in Python reads, None for what it refuses."""
    config = Config()
    config.set("http_parser", "python")
    config.set("header_map", "refuse")
    config.set("forwarded_allow_ips", "")
    try:
        request = next(RequestParser(config, [data], ("10.0.0.1", 1)))
    except (ParseException, NoMoreData, StopIteration):
        return None
    fields: dict[str, str] = {}
    for name, value in request.headers:
        key = name if name in ("CONTENT-TYPE", "CONTENT-LENGTH") else f"HTTP_{name}"
        key = key.replace("-", "_")
        fields[key] = f"{fields[key]},{value}" if key in fields else value
    length = getattr(request.body.reader, "length", None)
    return request.method, request.uri, request.version[1], fields, length


def agrees(data: bytes) -> bool:
    """That what gunicorn refuses is refused here, and what both accept reads the same. Whether it
    was accepted."""
    try:
        parsed = HeadReader(Limits()).feed(data)
    except InvalidRequest:
        parsed = None
    if parsed is None:
        return False
    head = parsed[0]
    if any(name in head.headers for name in ("HTTP_SESSION_ID", "HTTP_x_a")):
        return False  # gunicorn refuses every name with an underscore
    own_reading = (head.method, head.target, head.minor_version, head.headers, head.content_length)
    assert gunicorn_reads(data) == own_reading
    return True


@settings(max_examples=examples(120), deadline=None)
@given(st.lists(PARTS, max_size=6), st.lists(PARTS, max_size=6))
def test_what_gunicorn_refuses_is_refused_and_the_rest_reads_the_same(
    line: list[bytes], headers: list[bytes]
) -> None:
    agrees(b" ".join(line) + b"\r\n" + b"".join(part + b"\r\n" for part in headers) + b"\r\n")


@settings(max_examples=examples(120), deadline=None)
@given(
    st.sampled_from([b"GET / HTTP/1.1", b"POST /a?b HTTP/1.1", b"PUT http://h/a HTTP/1.0"]),
    st.lists(PARTS, max_size=6),
    st.lists(st.tuples(st.integers(0, 200), st.binary(max_size=2)), max_size=2),
)
def test_a_head_with_a_few_other_bytes_reads_as_for_gunicorn(
    line: bytes, headers: list[bytes], changes: list[tuple[int, bytes]]
) -> None:
    data = line + b"\r\n" + b"".join(part + b"\r\n" for part in headers) + b"\r\n"
    for at, piece in changes:
        data = data[:at] + piece + data[at + len(piece) :]
    agrees(data)


# llhttp's reading

FIELD = st.one_of(PARTS, st.binary(max_size=12))


def _their_key(name: str) -> str:
    is_own_name = "_" in name and name != "session_id"
    return name.lower() if is_own_name else name.upper().replace("-", "_")


class Pairs(list[tuple[bytes, bytes]]):
    """The headers that httptools reads."""

    def on_header(self, name: bytes, value: bytes) -> None:
        self.append((name, value))


def llhttp_reads(data: bytes) -> list[tuple[bytes, bytes]] | None:
    """The headers of a head; None for what it refuses."""
    pairs = Pairs()
    try:
        httptools.HttpRequestParser(pairs).feed_data(data)
    except httptools.HttpParserUpgrade:
        return pairs
    except httptools.HttpParserError:
        return None
    return pairs


@settings(max_examples=examples(250), deadline=None)
@given(st.lists(FIELD, max_size=6), st.sampled_from([b"\r\n", b"\n", b"\r", b"\r\n "]))
def test_a_header_that_llhttp_refuses_is_refused_and_the_rest_reads_the_same(
    lines: list[bytes], line_end: bytes
) -> None:
    data = b"POST / HTTP/1.1\r\n" + b"".join(line + line_end for line in lines) + b"\r\n"
    try:
        parsed = HeadReader(Limits()).feed(data)
    except InvalidRequest:
        return
    if parsed is None:
        return
    head, rest = parsed
    pairs = llhttp_reads(data[: len(data) - len(rest)])
    assert pairs is not None
    theirs: dict[str, str] = {}
    for name, value in pairs:
        key, text = _their_key(name.decode()), value.strip(b" \t").decode("latin-1")
        theirs[key] = f"{theirs[key]},{text}" if key in theirs else text
    assert {key.removeprefix("HTTP_"): value for key, value in head.headers.items()} == theirs


def test_the_comparison_accepts_and_refuses() -> None:
    assert agrees(get(b"X-A: 1\r\n"))
    assert not agrees(get(b"X A: 1\r\n"))
    assert llhttp_reads(get(b"X-A:  1 \r\n")) == [(b"Host", b"h:1"), (b"X-A", b"1 ")]
    assert llhttp_reads(get(b"X A: 1\r\n")) is None
