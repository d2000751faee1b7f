"""Server-sent events: only what every official SDK takes passes (wire.md 1.5, as tables)."""

import pickle
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import dialects
from engine.relay import sse
from engine.relay.sse import Cleaner, NotAnEvent
from engine.values.errors import EventTooLarge
from engine.values.event_json import LONG_EVENT
from tests.support.each import each
from tests.support.growth import MAX_GROWTH, growth
from tests.support.loop_turns import loop_turns

KINDS = [dialects.get(name) for name in ("openai", "anthropic", "gemini")]


def cleaner(kind):
    dialect = kind if not isinstance(kind, str) else dialects.get(kind)
    return Cleaner(dialect.stream)


def through(kind, *pieces):
    given_to = cleaner(kind)
    return b"".join([*map(given_to.feed, pieces), given_to.finish()])


A, B = b'data: {"a":1}\n\n', b'data: {"b":2}\n\n'
NAMED = b'event: ping\ndata: {"a":1}\n\n'

# What comes in, what openai and anthropic routes get, what gemini routes get.
TABLE = [
    ("clean", A + B, A + B, A + B),
    ("crlf", A.replace(b"\n", b"\r\n") + B.replace(b"\n", b"\r\n"), A + B, A + B),
    ("cr", A.replace(b"\n", b"\r") + B.replace(b"\n", b"\r"), A + B, A + B),
    ("mixed line ends", b'data: {"a":1}\r\n\n' + b'data: {"b":2}\r\r\n', A + B, A + B),
    (
        "u+2028 in data",
        'data: {"x":"\u2028"}\n\n'.encode(),
        *['data: {"x":"\u2028"}\n\n'.encode()] * 2,
    ),
    ("comment", b": keep-alive\n\n" + A, b": keep-alive\n\n" + A, A),
    ("comment in an event", b": note\n" + A, A, A),
    ("comment alone", b":\n\n" + A, b":\n\n" + A, A),
    ("two comments", b": a\n: b\n\n" + A, b": a\n: b\n\n" + A, A),
    ("no space after data", b'data:{"a":1}\n\n', A, A),
    ("event name", NAMED, NAMED, A),
    ("event name after data", b'data: {"a":1}\nevent: ping\n\n', NAMED, A),
    ("event name without space", b'event:ping\ndata:{"a":1}\n\n', NAMED, A),
    ("event name without data", b"event: ping\n\n" + A, A, A),
    (
        "error as a field",
        b'error: {"a":1}\n\n' + B,
        *[b'data: {"error":{"a":1}}\n\n' + B] * 2,
    ),
    (
        "error as a field, in full",
        b'error: {"error":{"a":1}}\n\n' + B,
        *[b'data: {"error":{"a":1}}\n\n' + B] * 2,
    ),
    ("half of an error as a field", A + b'error: {"a"\n\n', A, A),
    ("retry", b"retry: 3000\n\n" + A, A, A),
    ("retry in an event", b"retry: 3000\n" + A, A, A),
    ("id", b"id: 7\n" + A + b": c\n\n" + B, A + b": c\n\n" + B, A + B),
    ("id alone", b"id: 7\n\n" + A, A, A),
    ("id and a bare blank line", b"id: 7\n" + A + b"\n\n" + B, A + B, A + B),
    ("empty data", b"data:\n\n" + A, A, A),
    ("empty data with a space", b"data: \n\n" + A, A, A),
    ("data without colon", b"data\n\n" + A, A, A),
    ("event with empty data", b"event: ping\ndata:\n\n" + A, A, A),
    ("blank lines", b"\n\n\n" + A + b"\n\n\n\n" + B, A + B, A + B),
    ("byte order mark", b"\xef\xbb\xbf" + A, A, A),
    ("byte order mark and a name", b"\xef\xbb\xbf" + NAMED, NAMED, A),
    ("no last blank line", A + b'data: {"b":2}\n', A + B, A + B),
    ("no last line end", A + b'data: {"b":2}', A + B, A + B),
    ("done", A + b"data: [DONE]\n\n", A + b"data: [DONE]\n\n", A),
    ("done without space", A + b"data:[DONE]\n\n", A + b"data: [DONE]\n\n", A),
    ("unknown field", b"foo: bar\n" + A, A, A),
    ("unknown field alone", b"foo: bar\n\n" + A, A, A),
    ("data of two lines", b"data: {\ndata: }\n\n", b"data: { }\n\n", b"data: { }\n\n"),
    ("text of two lines", b"data: a\ndata: b\n\n", b"data: a\ndata: b\n\n", b"data: a b\n\n"),
    *(
        (f"object as {text!r}", text + B, A + B, A + B)
        for text in (
            b'data:\t{"a":1}\n\n',
            b'data: data: {"a":1}\n\n',
            b'data: [{"a":1}]\n\n',
            b'data: "{\\"a\\":1}"\n\n',
            b' data: {"a":1}\n\n',
            b'\xef\xbb\xbfdata: {"a":1}\n\n',
            b'\x00\n\ndata: {"a":1}\n\n',
        )
    ),
    *(
        (f"end as {text!r}", A + text, A + b"data: [DONE]\n\n", A)
        for text in (
            b"data:  [DONE] \n\n",
            b'data: "[DONE]"\n\n',
            b"data: [done]\n\n",
            b"data: data: [DONE]\n\n",
            b"data: DONE\n\n",
            b"[DONE]\n\n",
            b"[DONE]",
        )
    ),
    ("two objects in an array", b'data: [{"a":1},{}]\n\n', *[b'data: [{"a":1},{}]\n\n'] * 2),
    ("a word in quotes", b'data: "a"\n\n', *[b'data: "a"\n\n'] * 2),
    (
        "one line end between events",
        b'event: a\ndata: {"a":1}\nevent: b\ndata: {"b":2}\ndata: [DONE]\n\n',
        b"event: a\n" + A + b"event: b\n" + B + b"data: [DONE]\n\n",
        A + B,
    ),
    ("two spaces after data", b"data:  x\n\n", b"data:  x\n\n", b"data:  x\n\n"),
    ("event field is case-sensitive", b"Data: x\n\n" + A, A, A),
    ("utf-8", 'data: {"é":"日本"}\n\n'.encode(), *['data: {"é":"日本"}\n\n'.encode()] * 2),
    *(
        (f"kept alive by {text.decode()!r}", text + A, b": keep-alive\n\n" + A, A)
        for text in (
            b"data: : keepalive\n\n",
            b"data: ping\n\n",
            b"data: [HEARTBEAT]\n\n",
            b'data: ""\n\n',
            b"event: ping\ndata: keep-alive\n\n",
            b"event:heartbeat\ndata:1764524042\n\n",
            b"event: keepalive\ndata: null\n\n",
        )
    ),
    ("a text", b"data: pings\n\n", b"data: pings\n\n", b"data: pings\n\n"),
    ("an array", b"data: [1]\n\n", b"data: [1]\n\n", b"data: [1]\n\n"),
]
ROWS = [(row[0], *row[1:]) for row in TABLE]


@each(("stream", "passes"), [r[1:3] for r in ROWS], ids=[r[0] for r in ROWS])
@each("kind", ["openai", "anthropic"])
def test_dialects_with_names_get_what_their_sdks_take(kind, stream, passes):
    if kind == "anthropic":  # whose streams have no end marker
        passes = passes.replace(b"data: [DONE]\n\n", b"")
    assert through(kind, stream) == passes


@pytest.mark.parametrize(
    ("stream", "passes"), [(r[1], r[3]) for r in ROWS], ids=[r[0] for r in ROWS]
)
def test_gemini_gets_data_lines_and_nothing_else(stream, passes):
    assert through("gemini", stream) == passes


@each("stream", [r[1] for r in ROWS], ids=[r[0] for r in ROWS])
@each("kind", KINDS, ids=lambda kind: kind.name)
def test_byte_by_byte_gives_the_same(kind, stream):
    assert through(kind, *[stream[i : i + 1] for i in range(len(stream))]) == through(kind, stream)


@each("stream", [r[1] for r in ROWS], ids=[r[0] for r in ROWS])
@each("kind", KINDS, ids=lambda kind: kind.name)
def test_cleaning_twice_changes_nothing(kind, stream):
    assert through(kind, through(kind, stream)) == through(kind, stream)


@each("stream", [r[1] for r in ROWS], ids=[r[0] for r in ROWS])
@each("kind", KINDS, ids=lambda kind: kind.name)
def test_a_long_event_is_cleaned_like_any_other(kind, stream):
    pieces = [*pieces_of(b'data: {"x":"' + b"y" * LONG_EVENT + b'"}\n\n'), stream]
    expected = b"".join(pieces[:-1]) + through(kind, A + stream)[len(A) :]
    assert through(kind, *pieces) == expected
    assert through(kind, *pieces[:-2], pieces[-2] + stream) == expected  # in one read
    pieces = pieces_of(stream + b'data: {"x":"' + b"y" * LONG_EVENT + b'"}\n\n')
    assert through(kind, *pieces) == through(kind, b"".join(pieces))


def pieces_of(stream):
    return [stream[at : at + 65_536] for at in range(0, len(stream), 65_536)]


@pytest.mark.parametrize("end", [b"", b"data: [DONE]\n\n"], ids=["alone", "before another"])
@pytest.mark.parametrize("beginning", [b"data: ", b"event: response.completed\ndata: "])
def test_a_long_event_is_not_copied(beginning, end):
    *pieces, last = pieces_of(beginning + b'{"x":"' + b"y" * 4 * LONG_EVENT + b'"}\n\n' + end)
    given_to = cleaner("openai")
    tracemalloc.start()
    try:
        assert b"".join(map(given_to.feed, pieces)) == b""
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        event = given_to.feed(last)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert event == b"".join([*pieces, last])
    assert peak - before < LONG_EVENT


LINES = st.sampled_from(
    [
        b'data: {"a":1}',
        b"data: x",
        b"data:",
        b"data: ",
        b"data",
        b"data: [DONE]",
        b"event: ping",
        b"data: [ping]",
        b"data: : c",
        b"event:",
        b"id: 7",
        b"retry: 1",
        b": comment",
        b":",
        b"foo: bar",
        b"",
        b"",
        b"",
        b"\xef\xbb\xbf",
        "data: é".encode(),
        b"data:  two",
    ]
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=25).map(
    lambda lines: b"".join(line + end for line, end in lines)
)


@st.composite
def cut(draw):
    """A stream, and the same stream in pieces."""
    stream = draw(st.one_of(STREAMS, st.binary(max_size=40)))
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    edges = [0, *cuts, len(stream)]
    return stream, [stream[a:b] for a, b in pairwise(edges)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@given(cut())
def test_any_pieces_of_a_stream_give_the_same(kind, pair):
    stream, pieces = pair
    assert through(kind, *pieces) == through(kind, stream)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@given(cut())
def test_only_what_sdks_take_ever_passes(kind, pair):
    out = through(kind, *pair[1])
    assert out == b"" or out.endswith(b"\n\n")
    assert b"\r" not in out
    for event in out.split(b"\n\n")[:-1]:
        lines = event.split(b"\n")
        fields = [line.partition(b":")[0] for line in lines]
        if kind.stream.comments and set(fields) == {b""}:
            continue
        assert set(fields) <= ({b"event", b"data"} if kind.stream.names else {b"data"})
        assert fields.count(b"event") <= 1
        assert any(line[5:].strip() for line in lines if line.startswith(b"data:"))


WORDS = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=8)


@given(st.lists(WORDS, max_size=6), st.lists(st.integers(0, 200), max_size=6))
def test_a_clean_stream_passes_byte_for_byte(words, cuts):
    stream = b"".join(b'data: {"t":"' + word.encode() + b'"}\n\n' for word in words)
    edges = [0, *sorted(min(at, len(stream)) for at in cuts), len(stream)]
    pieces = [stream[a:b] for a, b in pairwise(edges)]
    for kind in KINDS:
        assert through(kind, *pieces) == stream


def test_a_clean_stream_may_be_cut_at_any_byte():
    stream = A + B
    for kind in KINDS:
        for at in range(len(stream)):
            assert through(kind, stream[:at], stream[at:]) == stream, (kind.name, at)


def test_a_whole_clean_event_passes_as_the_very_bytes_that_came():
    for kind in KINDS:
        new_cleaner = cleaner(kind)
        assert new_cleaner.feed(A) is A
        assert new_cleaner.feed(B) is B


def test_an_event_passes_as_soon_as_it_is_complete():
    new_cleaner = cleaner("openai")
    assert [
        new_cleaner.feed(b"data: x"),
        new_cleaner.feed(b"\n"),
        new_cleaner.feed(b"\n"),
        new_cleaner.feed(A),
    ] == [
        b"",
        b"",
        b"data: x\n\n",
        A,
    ]


def test_an_event_ended_by_two_carriage_returns_does_not_wait_for_more():
    assert cleaner("openai").feed(b"data: x\r\n\r") == b"data: x\n\n"


@pytest.mark.parametrize("kind", KINDS)
def test_a_carriage_return_ends_a_line_in_every_piece(kind):
    cleaned = through(kind, A, b"data: a\ndata: b\n\n")
    assert through(kind, A, b"data: a\rdata: b\n\n") == cleaned


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_two_events_may_be_cut_at_any_byte(kind):
    for cut in range(len(A + B)):
        assert through(kind, (A + B)[:cut], (A + B)[cut:]) == A + B


def test_nothing_is_held_back_of_a_piece_with_one_and_a_half_events():
    new_cleaner = cleaner("openai")
    assert new_cleaner.feed(A + b"data: ha") == A
    assert new_cleaner.feed(b"lf\n\n") == b"data: half\n\n"


@pytest.mark.parametrize("cut_at", [1, 2, 3])
def test_a_byte_order_mark_may_come_in_pieces(cut_at):
    stream = b"\xef\xbb\xbf" + A
    assert through("openai", stream[:cut_at], stream[cut_at:]) == A


def test_a_byte_order_mark_of_each_event_is_removed():
    assert through("openai", A + b"\xef\xbb\xbf" + B) == A + B


def test_a_large_event_in_small_pieces_is_searched_once():
    """Searched again with each piece it would take minutes; the test's timeout ends that."""
    new_cleaner = cleaner("openai")
    size, piece = 15_000_000, b"x" * 250
    new_cleaner.feed(b"data: ")
    assert not any(new_cleaner.feed(piece) for _ in range(size // 250))
    assert len(new_cleaner.feed(b"\n\n")) == size + 8


def test_an_event_beyond_all_measure_is_refused(monkeypatch):
    monkeypatch.setattr(sse, "MAX_EVENT", 1000)
    new_cleaner = cleaner("openai")
    assert new_cleaner.feed(b"data: " + b"x" * 990) == b""
    with pytest.raises(EventTooLarge):
        new_cleaner.feed(b"x" * 10)


def test_no_pattern_of_the_quick_way_backtracks():
    """Each would run for minutes if it did; here it is done at once or the timeout ends it."""
    for data in (b"1", b"{}", b"[]", b'"a"'):
        event = b"data: " + data + b"\n\n"
        assert through("openai", event * 5_000 + event[:-1]) == event * 5_001
        assert through("anthropic", b"event: a\n" + event * 5_000 + event[:-1]).endswith(event)
    assert through("gemini", b"event: a\n" * 5_000 + A) == A


def test_the_loop_turns_between_thousands_of_events_to_clean():
    def turns(count):
        data = b"id: 1\ndata: 1\n\n" * count
        return loop_turns(lambda: cleaner("openai").feed(data))

    assert turns(2_000) >= 1_000
    assert turns(1) <= 1


def test_an_event_of_too_many_lines_is_refused():
    with pytest.raises(EventTooLarge):
        through("openai", b"data: x\n" * 20_000 + b"\n")


@each(
    ("before", "again", "after"),
    [
        ([], b"data: {}\n\n", []),
        ([], b"data: 1\r", []),
        ([], b"foo: 1\n\n", []),
        ([b'data: {"a":"'], b"x", [b'"}\n\n']),
        ([b"data: {\n"], b"data: 1,\n", [b"data: }\n\n"]),
        ([], b"data: {}\n", [b"\n"]),
    ],
)
def test_events_cost_what_their_pieces_cost(before, again, after):
    def prepare(size):
        pieces, one = [*before, *[again] * size, *after], cleaner("openai")
        return lambda: [*map(one.feed, pieces), one.finish()]

    assert growth(prepare) < MAX_GROWTH


def test_lines_that_come_at_once_cost_what_each_costs():
    def prepare(size):
        event = b"data: {\n" + b"data: 1,\n" * size + b"data: }\n\n"
        return lambda: cleaner("openai").feed(event)

    assert growth(prepare) < MAX_GROWTH


@each(
    ("before", "line", "after", "passes"),
    [
        (b"", b"id: ", b"\n\n", b""),
        (b"", b"retry: ", b"\ndata: x\n\n", b"data: x\n\n"),
        (b"data: x\n", b"id: ", b"\n\n", b"data: x\n\n"),
        (b"data: x\n", b": ", b"\nid: 1\n\n", b"data: x\n\n"),
        (A, b"id: ", b"\n\n", A),
    ],
)
def test_of_a_long_line_that_nobody_reads_the_rest_is_not_kept(before, line, after, passes):
    given_to, size = cleaner("openai"), 10 * 65_536
    assert (given_to.feed(B), given_to.feed(before + line)) == (B, passes if before == A else b"")
    tracemalloc.start()
    try:
        for _ in range(size // 4_096):
            assert given_to.feed(b"a" * 4_096) == b""
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    ends = [given_to.feed(bytes([byte])) for byte in after]
    assert b"".join(ends) == (b"" if before == A else passes)
    assert (given_to.feed(A), given_to.finish(), given_to.failure) == (A, b"", None)
    assert peak < size // 3


def test_of_a_long_comment_the_beginning_passes():
    given_to, piece = cleaner("openai"), b"a" * 50_000
    assert [given_to.feed(each) for each in (b": ", *[piece] * 9, b"\n")] == [b""] * 11
    assert given_to.feed(b"\n" + A) == b": " + piece * 2 + b"\n\n" + A


def test_a_long_line_of_data_is_kept():
    piece = b"a" * 50_000
    event = b'data: {"a": "%b"}\n\n' % (piece * 9)
    given_to = cleaner("openai")
    given_to.feed(A)
    assert [given_to.feed(each) for each in (event[:13], *[piece] * 9)] == [b""] * 10
    assert given_to.feed(event[13 + len(piece) * 9 :]) == event


def test_text_that_is_no_event_passes_between_processes() -> None:
    copy = pickle.loads(pickle.dumps(NotAnEvent(b'{"error": 1}', 503)))  # noqa: S301 - our own
    assert (copy.text, copy.document, copy.status) == (b'{"error": 1}', {"error": 1}, 503)


ODD = b'data: {"choices":[{"delta":{"role": "","content":"\\"role\\":\\"\\""}}]}\n\n'
MENDED = ODD.replace(b'"role": ""', b'"role":"assistant"')


def test_the_oddity_of_the_first_events_is_mended_in_all() -> None:
    odd = cleaner("openai")
    assert odd.mend(odd.feed(ODD)) == MENDED
    assert [odd.feed(each) for each in (ODD, A, ODD[:30], ODD[30:], ODD[:-1])] == [
        *(MENDED, A, b"", MENDED, b"")
    ]
    assert odd.finish() == MENDED


@each(
    ("kind", "odd", "mended"),
    [
        (
            "openai",
            b'event: response.created\ndata: {"response":{"object":"response"}}\n\n',
            b'event: response.created\ndata: {"type":"response.created",'
            b'"response":{"object":"response"}}\n\n',
        ),
        (
            "anthropic",
            b'event: message_start\ndata: {"type": "message_start", "message": {"id":"m"}}\n\n'
            b'event: ping\ndata: {"type":"ping","text":"\\"type\\":\\"message_start\\""}\n\n'
            b'event: message_delta\ndata: {"type":"message_delta","delta":{}}\n\n',
            b'event: message_start\ndata: {"type": "message_start", "message": {'
            b'"usage":{"input_tokens":0,"output_tokens":0},"id":"m"}}\n\n'
            b'event: ping\ndata: {"type":"ping","text":"\\"type\\":\\"message_start\\""}\n\n'
            b'event: message_delta\ndata: {"usage":{"input_tokens":0,"output_tokens":0},'
            b'"type":"message_delta","delta":{}}\n\n',
        ),
        (
            "anthropic",
            b'event: message_start\ndata: {"message":{"usage":{}}}\n\n'
            b"event: message_stop\ndata: {}\n\n",
            b'event: message_start\ndata: {"type":"message_start","message":{"usage":{}}}\n\n'
            b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
        ),
    ],
)
def test_types_and_usage_that_sdks_need_are_added(kind: str, odd: bytes, mended: bytes) -> None:
    clean = cleaner(kind)
    assert clean.mend(clean.feed(odd)) == mended
    assert clean.feed(odd) == mended


THREAD = b'event: thread.created\ndata: {"id":"thread_1"}\n\n'
WHOLE = b'event: message_start\ndata: {"type":"message_start","message":{"usage":{}}}\n\n'


@each(("kind", "event"), [("openai", THREAD), ("anthropic", WHOLE)])
def test_events_that_sdks_read_are_not_mended(kind: str, event: bytes) -> None:
    clean = cleaner(kind)
    assert clean.mend(clean.feed(event)) is event


UNNAMED = [
    b'data: {"type":"message_start","message":{"usage":{}}}\n\n',
    b'data: { "type": "ping"}\n\n',
    b'data: {"type":"content_block_delta","delta":{"text":"\\n\\ndata: {\\"type\\":\\"x\\""}}\n\n',
]
NAMES = (b"message_start", b"ping", b"content_block_delta")


def test_events_of_anthropic_get_the_names_that_they_have_in_their_data() -> None:
    named = [b"event: %b\n%b" % pair for pair in zip(NAMES, UNNAMED, strict=True)]
    stream = cleaner("anthropic")
    assert stream.mend(stream.feed(UNNAMED[0])) == named[0]
    assert stream.feed(UNNAMED[1] + UNNAMED[2][:9]) == named[1]
    assert stream.feed(UNNAMED[2][9:] + b": ping\n\n" + UNNAMED[1] + UNNAMED[2]) == b"".join(
        [named[2], b": ping\n\n", named[1], named[2]]
    )
    stream.feed(UNNAMED[0][:-1])
    assert stream.finish() == named[0]
    odd, usage = (
        b'data: {"type":"message_start","message":{"id":"m"}}',
        b'"usage":{"input_tokens":0',
    )
    both = stream.feed(odd + b"\n\n")
    assert both.startswith(b'event: message_start\ndata: {"type"')
    assert usage in both
    whole = cleaner("anthropic")
    assert whole.mend(whole.feed(b"".join(named))) == b"".join(named)
    assert whole.feed(named[2]) is named[2]


@each("kind", ["openai", "anthropic"])
def test_a_stream_without_oddity_passes_as_the_very_bytes(kind: str) -> None:
    plain = cleaner(kind)
    assert plain.mend(plain.feed(A)) is A
    assert plain.feed(ODD) is ODD
