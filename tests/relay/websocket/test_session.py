"""Two sides and what passes between them: every frame, every end, every limit; on real sockets."""

from __future__ import annotations

import struct

import gevent
import gevent.socket
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.frames import Opcode

from engine.exchange.request_record import Traffic
from engine.relay.websocket import close_frames
from engine.relay.websocket.channel import Channel
from engine.relay.websocket.frames import FrameWriter
from engine.relay.websocket.handshake import deflate_offer, negotiate_deflate, negotiated_deflate
from engine.relay.websocket.outbox import FULL
from engine.relay.websocket.session import Session, SessionLimits
from engine.values.errors import GatewayError
from engine.values.redaction import Redaction
from engine.values.usage import Usage
from tests.support.frames import (
    BINARY,
    CLOSE,
    CONT,
    MASK,
    PING,
    PONG,
    TEXT,
    RawFrame,
    close,
    frame,
)
from tests.support.session import PATIENCE, Between, pair, session, until
from tests.support.thorough import examples

WAYS = ["caller", "upstream"]


def ends(between: Between, way: str):
    """The side that begins, and the other."""
    both = (between.caller, between.upstream)
    return both if way == "caller" else both[::-1]


def turn_often():
    """Let the event loop do all there is to do."""
    for _ in range(100):
        gevent.sleep(0.001)


# What passes.


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "frames",
    [
        [RawFrame(TEXT, True, "grüße".encode())],
        [RawFrame(BINARY, True, bytes(range(256)))],
        [RawFrame(TEXT, True, b"")],
        [RawFrame(TEXT, False, b"a"), RawFrame(CONT, False, b""), RawFrame(CONT, True, b"c")],
        [RawFrame(TEXT, False, b"\xc3"), RawFrame(CONT, True, b"\xa9")],
        [RawFrame(BINARY, True, b"x" * 65_536), RawFrame(BINARY, True, b"y" * 125)],
        [RawFrame(BINARY, False, b"x" * 300_000), RawFrame(CONT, True, b"y")],
    ],
    ids=["text", "binary", "empty", "fragments", "half a character", "large", "large fragments"],
)
def test_frames_pass_as_they_came(way, frames):
    with session() as between:
        here, there = ends(between, way)
        for each_frame in frames:
            here.send(each_frame.opcode, each_frame.data, fin=each_frame.fin)
            assert there.next() == each_frame


def test_errors_of_the_upstream_are_redacted():
    redaction = Redaction(["Bearer sk-secret"])
    with session(redact=redaction.redact) as between:
        for data, expected in (
            (b'{"type":"error","message":"sk-secret"}', b'{"type":"error","message":"[redacted]"}'),
            (b'{"text":"sk-secret"}', b'{"text":"sk-secret"}'),
        ):
            between.upstream.send(TEXT, data)
            assert between.caller.next().data == expected
        between.caller.send(TEXT, b'{"error":"sk-secret"}')
        assert between.upstream.next().data == b'{"error":"sk-secret"}'


@pytest.mark.parametrize("way", WAYS)
def test_many_frames_in_one_packet_and_one_frame_in_many(way):
    with session() as between:
        here, there = ends(between, way)
        many = [frame(TEXT, b"%d" % i, mask=here.mask) for i in range(100)]
        here.sock.sendall(b"".join(many))
        assert [there.next().data for _ in range(100)] == [b"%d" % i for i in range(100)]
        for byte in frame(TEXT, b"slowly", mask=here.mask):
            here.sock.sendall(bytes([byte]))
            gevent.sleep(0)
        assert there.next().data == b"slowly"


@pytest.mark.parametrize("way", WAYS)
def test_a_ping_is_answered_once_and_passed_on(way):
    with session() as between:
        here, there = ends(between, way)
        here.send(PING, b"p1")
        assert here.next() == RawFrame(PONG, True, b"p1")
        assert there.next() == RawFrame(PING, True, b"p1")
        there.send(PONG, b"p1")  # this one ends at the gateway
        there.send(PONG, b"unasked")
        assert here.next() == RawFrame(PONG, True, b"unasked")


@pytest.mark.parametrize("way", WAYS)
def test_one_pong_may_answer_several_pings(way):
    with session() as between:
        here, there = ends(between, way)
        for data in (b"1", b"2", b"3"):
            here.send(PING, data)
            assert there.next() == RawFrame(PING, True, data)
        there.send(PONG, b"3")
        there.send(PONG, b"1")
        assert [here.next().data for _ in range(4)] == [b"1", b"2", b"3", b"1"]


@pytest.mark.parametrize("way", WAYS)
def test_a_ping_in_the_middle_of_a_message_is_answered_there(way):
    with session() as between:
        here, there = ends(between, way)
        here.send(TEXT, b"be", fin=False)
        here.send(PING, b"p")
        assert here.next() == RawFrame(PONG, True, b"p")
        here.send(CONT, b"gin")
        frames_read = [there.next() for _ in range(3)]
        assert [(g.opcode, g.data) for g in frames_read] == [
            (TEXT, b"be"),
            (PING, b"p"),
            (CONT, b"gin"),
        ]


@pytest.mark.parametrize("way", WAYS)
def test_pings_are_answered_while_the_other_side_takes_nothing(way):
    with session(small=True) as between:
        here, there = ends(between, way)
        here.send(BINARY, b"x" * (FULL - 70_000))
        here.send(PING, b"are you there")
        assert here.next() == RawFrame(PONG, True, b"are you there")
        assert there.next().data == b"x" * (FULL - 70_000)


@pytest.mark.parametrize("way", WAYS)
def test_pings_are_answered_while_much_is_sent_to_their_side(way):
    with session(SessionLimits(max_pings=2000), small=True) as between:
        here, there = ends(between, way)
        there.send(BINARY, b"x" * (FULL - 70_000))
        until(lambda: between.channels[0 if way == "caller" else 1].outbox.backlog)
        for number in range(1000):
            here.send(PING, b"%d" % number)
        assert here.next() == RawFrame(BINARY, True, b"x" * (FULL - 70_000))
        pongs = [here.next().data]
        while pongs[-1] != b"999":
            pongs.append(here.next().data)
        assert pongs == sorted(pongs, key=int)
        assert len(pongs) < 1000  # of those that had to wait only the last was kept


@pytest.mark.parametrize("way", WAYS)
def test_a_slow_reader_stops_the_reading_of_the_other_side(way):
    with session(small=True) as between:
        here, there = ends(between, way)
        sent = 0

        def send():
            nonlocal sent
            for _ in range(400):
                here.send(BINARY, b"x" * 10_000)
                sent += 10_000

        sending = gevent.spawn(send)
        sink = between.channels[1 if way == "caller" else 0].outbox
        until(lambda: sink.full)
        turn_often()
        sent_before = sent
        assert sink.backlog < FULL + 70_000
        turn_often()
        assert sent == sent_before < 2_000_000
        for _ in range(400):
            assert len(there.next().data) == 10_000
        sending.get(timeout=PATIENCE)


def test_both_ways_flow_at_once():
    with session(small=True) as between:
        count, data = 200, b"z" * 9_000

        def send(peer):
            for _ in range(count):
                peer.send(BINARY, data)

        def receive(peer):
            return sum(len(peer.next().data) for _ in range(count))

        both = (between.caller, between.upstream)
        senders = [gevent.spawn(send, peer) for peer in both]
        readers = [gevent.spawn(receive, peer) for peer in both]
        gevent.joinall([*senders, *readers], raise_error=True, timeout=PATIENCE)
        assert [reader.value for reader in readers] == [count * len(data)] * 2


def test_a_side_may_be_compressed_and_the_other_not():
    answered, server = negotiate_deflate(deflate_offer())
    client = negotiated_deflate([answered], True)
    with session(extensions=(server, ())) as between:
        writer = FrameWriter(mask=True, extensions=client)
        between.caller.sock.sendall(writer.encode(Opcode.TEXT, b"a" * 5_000))
        assert between.upstream.next() == RawFrame(TEXT, True, b"a" * 5_000)


# How it ends.


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("code", "reason", "passed"),
    [
        (1000, b"", (1000, "")),
        (1001, "geh weg ü".encode(), (1001, "geh weg ü")),
        (1008, b"policy", (1008, "policy")),
        (1011, b"", (1011, "")),
        (1012, b"", (1012, "")),
        (3000, b"invalid_request_error.invalid_api_key", None),
        (4999, b"r" * 123, (4999, "r" * 123)),
        (None, b"", (1000, "")),
    ],
)
def test_a_close_passes_with_its_code_and_reason(way, code, reason, passed):
    with session() as between:
        here, there = ends(between, way)
        here.close(code, reason)
        assert there.closed() == (passed or (code, reason.decode()))
        there.close(code or 1000, reason)
        assert here.closed() == (code, reason.decode())
        assert (here.ended(), there.ended()) == (b"", b"")
        between.over()
        assert between.traffic.code == (code or 1000)


@pytest.mark.parametrize("way", WAYS)
def test_messages_before_a_close_arrive_before_it(way):
    with session(small=True) as between:
        here, there = ends(between, way)
        here.send(BINARY, b"x" * 150_000)
        here.close(1000)
        assert there.next().data == b"x" * 150_000
        assert there.closed() == (1000, "")


@pytest.mark.parametrize("way", WAYS)
def test_a_close_in_the_middle_of_a_message_is_a_close(way):
    with session() as between:
        here, there = ends(between, way)
        here.send(TEXT, b"be", fin=False)
        here.close(1001)
        assert there.next().data == b"be"
        assert there.closed() == (1001, "")
        assert here.closed() == (1001, "")


@pytest.mark.parametrize("way", WAYS)
def test_a_side_that_never_answers_a_close_is_disconnected(way):
    with session() as between:
        here, there = ends(between, way)
        here.close(1000)
        assert here.closed() == (1000, "")
        assert there.closed() == (1000, "")
        assert there.ended() == b""
        between.over()


def hang_up(sock, how):
    if how == "reset":
        linger = struct.pack("ii", 1, 0)
        sock.setsockopt(gevent.socket.SOL_SOCKET, gevent.socket.SO_LINGER, linger)
    if how == "half":
        sock.shutdown(gevent.socket.SHUT_WR)
    else:
        sock.close()


def test_an_upstream_is_waited_for_less_than_a_second_once_its_caller_has_left():
    assert close_frames.caller_disconnected().timeout < 1


@pytest.mark.parametrize("how", ["end", "half"])
def test_a_caller_who_leaves_ends_the_upstream(how):
    with session() as between:
        between.caller.text("hello")
        assert between.upstream.next().data == b"hello"
        hang_up(between.caller.sock, how)
        assert between.upstream.closed() == (1011, "the caller left")
        assert between.upstream.ended() == b""
        between.over()
        assert between.traffic.code == 1011


def test_a_caller_who_leaves_while_the_upstream_takes_nothing_is_noticed():
    with session(small=True) as between:
        sending = gevent.spawn(between.caller.send, BINARY, b"x" * 3 * FULL)
        until(lambda: between.channels[1].outbox.full)
        sending.kill()
        between.caller.sock.close()
        between.over()


@pytest.mark.parametrize("how", ["end", "half"])
def test_a_caller_gets_an_error_event_when_the_upstream_disconnects(how):
    with session(error=lambda error: f"error: {error.message}".encode()) as between:
        hang_up(between.upstream.sock, how)
        message = between.caller.next()
        assert message == RawFrame(
            TEXT, True, b"error: The upstream left in the middle of the session."
        )
        assert between.caller.closed() == (1011, "the upstream left")
        between.caller.close(1011)
        assert between.caller.ended() == b""
        between.over()


def test_an_api_without_words_for_errors_closes_only():
    with session() as between:
        between.upstream.sock.close()
        assert between.caller.closed() == (1011, "the upstream left")


def test_no_error_event_is_put_into_the_middle_of_a_message():
    with session(error=lambda error: b"error") as between:
        between.upstream.send(TEXT, b"be", fin=False)
        assert between.caller.next().data == b"be"
        between.upstream.sock.close()
        assert between.caller.closed() == (1011, "the upstream left")


BREACHES = {
    "a reserved bit": (lambda m: frame(TEXT, b"a", mask=m, reserved=4), 1002, 1011),
    "an unknown opcode": (lambda m: frame(3, b"a", mask=m), 1002, 1011),
    "an oversized ping": (lambda m: frame(PING, b"x" * 126, mask=m), 1002, 1011),
    "a ping in fragments": (lambda m: frame(PING, b"x", fin=False, mask=m), 1002, 1011),
    "a continuation of nothing": (lambda m: frame(CONT, b"x", mask=m), 1002, 1011),
    "a text in a text": (lambda m: frame(TEXT, fin=False, mask=m) + frame(TEXT, mask=m),
                         1002, 1011),
    "the wrong mask": (lambda m: frame(TEXT, b"a", mask=None if m else MASK), 1002, 1011),
    "a close of one byte": (lambda m: frame(CLOSE, b"\x03", mask=m), 1002, 1011),
    "a close code of nobody": (lambda m: frame(CLOSE, close(1005), mask=m), 1002, 1011),
    "a close with bad words": (lambda m: frame(CLOSE, close(1000, b"\xff"), mask=m), 1007, 1011),
    "text that is none": (lambda m: frame(TEXT, b"\xff", mask=m), 1007, 1011),
    "half a character": (
        lambda m: frame(TEXT, b"a", fin=False, mask=m) + frame(CONT, b"\xc3", mask=m), 1007, 1011
    ),
    "a message too long": (lambda m: frame(BINARY, b"x" * 1001, mask=m), 1009, 1009),
    "a message said to be too long": (lambda m: frame(BINARY, size=2**40, mask=m), 1009, 1009),
    "fragments too long": (
        lambda m: frame(BINARY, b"x" * 600, fin=False, mask=m) + frame(CONT, b"x" * 500, mask=m),
        1009,
        1009,
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", BREACHES)
def test_a_violation_closes_both_sides_with_their_codes(case, way):
    make, code, passed = BREACHES[case]
    with session(SessionLimits(max_message=1000), error=lambda error: b"error") as between:
        here, there = ends(between, way)
        here.sock.sendall(make(here.mask))
        code_sent, words = here.closed()
        assert (code_sent, bool(words)) == (code, True)
        first_frames = [next_frame := there.next()]
        while next_frame.opcode != CLOSE:
            first_frames.append(next_frame := there.next())
        assert struct.unpack("!H", next_frame.data[:2])[0] == passed
        in_message = any(not frame.fin for frame in first_frames)
        events = [frame for frame in first_frames if frame.data == b"error"]
        assert len(events) == (way == "upstream" and not in_message)
        there.close()
        assert here.ended() == there.ended() == b""
        between.over()
        assert between.traffic.code == (code if way == "caller" else passed)


@pytest.mark.parametrize("way", WAYS)
def test_frames_before_a_violation_pass(way):
    with session() as between:
        here, there = ends(between, way)
        good, bad = frame(TEXT, b"good", mask=here.mask), frame(TEXT, b"\xff", mask=here.mask)
        here.sock.sendall(good + bad)
        assert there.next() == RawFrame(TEXT, True, b"good")
        assert here.closed()[0] == 1007


@pytest.mark.parametrize("way", WAYS)
def test_a_silent_side_is_pinged_and_then_disconnected(way):
    with session(SessionLimits(ping=0.6)) as between:
        here, there = ends(between, way)
        answering = gevent.spawn(answer_pings, there)
        assert here.next() == RawFrame(PING, True, b"")
        code, _ = here.closed()
        assert code == 1011
        between.over()
        assert answering.get(timeout=PATIENCE)[0] == 1011


def answer_pings(peer, counter=None):
    while (next_frame := peer.next()).opcode == PING:
        peer.send(PONG, next_frame.data)
        if counter is not None:
            counter[peer] += 1
    return struct.unpack("!H", next_frame.data[:2])


def test_sides_that_answer_pings_may_be_silent_for_long():
    with session(SessionLimits(ping=0.5)) as between:
        pings = {between.caller: 0, between.upstream: 0}
        answering = [gevent.spawn(answer_pings, peer, pings) for peer in pings]
        until(lambda: min(pings.values()) >= 3)
        assert not any(greenlet.ready() for greenlet in answering)
        assert len(between.sessions) == 1
        gevent.killall(answering)


def test_a_session_that_is_killed_says_1012_to_both():
    with session() as between:
        until(lambda: len(between.sessions) == 1)
        between.running.kill()
        assert between.caller.closed()[0] == 1012
        assert between.upstream.closed()[0] == 1012


def test_a_fault_of_ours_closes_both_sides_and_is_raised():
    def fail(_message):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), session(usage=fail) as between:  # noqa: PT012
        between.upstream.text("{}")
        assert between.caller.next().data == b"{}"
        assert between.caller.closed()[0] == 1011
        assert between.upstream.closed()[0] == 1011


def test_what_passed_is_counted():
    usage = [Usage(input=2, output=1), None, Usage(input=3, output=5)]
    with session(usage=lambda message: usage.pop(0)) as between:
        between.caller.text("hello")
        between.caller.send(BINARY, b"12", fin=False)
        between.caller.send(CONT, b"345")
        for text in ("a", "bc", "def"):
            between.upstream.text(text)
        until(lambda: between.traffic.received.messages == 3)
        until(lambda: between.traffic.sent.bytes == 10)
        between.caller.close()
    traffic = between.traffic
    assert (traffic.sent.messages, traffic.received.bytes) == (2, 6)
    assert traffic.usage == Usage(input=5, output=6)
    assert traffic.seconds > 0


def test_a_killed_session_leaves_no_greenlet_on_a_blocked_side(capfd):
    with session(small=True) as between:
        between.upstream.send(BINARY, b"x" * (FULL - 70_000))
        outbox = between.channels[0].outbox
        until(lambda: outbox.backlog)
        between.running.kill()
        assert (outbox.backlog, outbox.broken) == (0, True)
        gevent.sleep(0.05)
    assert capfd.readouterr().err == ""


def test_the_sockets_of_a_killed_session_close_at_once():
    (one, caller), (two, upstream) = pair(), pair()
    limit = SessionLimits()
    running = Session(
        Channel(one, client=True, limit=limit.max_message),
        Channel(two, client=False, limit=limit.max_message),
        limit,
        Traffic(),
    )
    unclosed = []

    def run() -> None:
        try:
            running.run()
        finally:
            for sock, peer in ((one, caller), (two, upstream)):
                sock.close()
                peer.settimeout(0.0)
                try:
                    while peer.recv(1000):
                        pass
                except BlockingIOError:
                    unclosed.append(peer)

    greenlet = gevent.spawn(run)
    gevent.sleep(0.01)
    greenlet.kill()
    assert unclosed == []
    caller.close()
    upstream.close()


# Whatever comes.

NOISE = st.lists(
    st.one_of(
        st.binary(max_size=300),
        st.builds(
            lambda opcode, data, fin, masked, reserved: frame(
                opcode, data, fin=fin, mask=MASK if masked else None, reserved=reserved
            ),
            st.integers(0, 15),
            st.binary(max_size=200),
            st.booleans(),
            st.booleans(),
            st.sampled_from([0, 0, 0, 0, 1, 2, 4]),
        ),
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=examples(50), deadline=None)
@given(noise=NOISE)
def test_random_bytes_end_in_a_close_and_never_in_an_error(way, noise):
    with session(SessionLimits(max_message=1000), error=lambda error: b"error") as between:
        here, there = ends(between, way)
        for data in noise:
            here.sock.sendall(data)
        here.sock.shutdown(gevent.socket.SHUT_WR)
        for peer in (here, there):
            close_sent = None
            while close_sent is None or close_sent.opcode != CLOSE:
                close_sent = peer.next()
            if peer is here and not close_sent.data:
                continue  # its own close said nothing, and that is the answer to it
            code = struct.unpack("!H", close_sent.data[:2])[0]
            assert code in (*range(1000, 1004), *range(1007, 1015), *range(3000, 5000))
        there.close()


# Pings without end.


@pytest.mark.parametrize("opcode", [PING, PONG], ids=["pings", "pongs that answer nothing"])
@pytest.mark.parametrize("way", WAYS)
def test_a_side_that_sends_too_many_pings_gets_1008(way: str, opcode: int):
    with session(SessionLimits(max_pings=20)) as between:
        one, other = ends(between, way)
        for number in range(40):
            one.send(opcode, b"%d" % number)
        code, words = one.closed()
        assert code == 1008
        assert "20 pings and pongs a minute" in words
        passed = [other.next().opcode for _ in range(20)]
        assert passed == [opcode] * 20
        assert other.closed()[0] == 1011
        between.over()
    assert between.traffic.outcome == ("complete" if way == "caller" else "upstream_cut")


def test_pongs_that_answer_pings_of_the_other_side_are_not_counted():
    with session(SessionLimits(max_pings=5)) as between:
        for number in range(5):
            between.caller.send(PING, b"%d" % number)
            assert between.caller.next() == RawFrame(PONG, True, b"%d" % number)
            assert between.upstream.next() == RawFrame(PING, True, b"%d" % number)
            between.upstream.send(PONG, b"%d" % number)
        between.upstream.send(PING, b"mine")
        assert between.upstream.next() == RawFrame(PONG, True, b"mine")
        assert between.caller.next() == RawFrame(PING, True, b"mine")


class Shouting:
    """Edits that refuse what is secret."""

    def sent(self, message):
        if message == b"secret":
            raise GatewayError(404, "not_found", "There is no such object.")
        return message.upper()

    def received(self, message):
        return message[::-1]


def test_edited_messages_are_sent_as_a_whole():
    with session(edits=Shouting()) as between:
        between.caller.send(TEXT, b"on", fin=False)
        between.caller.send(PING, b"p")
        between.caller.send(CONT, b"e")
        between.caller.send(BINARY, b"two")
        assert between.upstream.next() == RawFrame(PING, True, b"p")
        assert between.upstream.next() == RawFrame(TEXT, True, b"ONE")
        assert between.upstream.next() == RawFrame(BINARY, True, b"TWO")
        between.upstream.send(TEXT, b"abc")
        assert between.caller.next() == RawFrame(PONG, True, b"p")
        assert between.caller.next() == RawFrame(TEXT, True, b"cba")


def test_a_message_that_must_not_be_sent_is_an_error_and_the_session_goes_on():
    with session(edits=Shouting(), error=lambda error: error.code.encode()) as between:
        between.caller.send(TEXT, b"secret")
        between.caller.send(TEXT, b"one")
        assert between.caller.next() == RawFrame(TEXT, True, b"not_found")
        assert between.upstream.next() == RawFrame(TEXT, True, b"ONE")


def test_without_words_for_errors_the_session_ends():
    with session(edits=Shouting()) as between:
        between.caller.send(TEXT, b"secret")
        assert between.caller.closed() == (1008, "There is no such object.")
