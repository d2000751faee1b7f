"""A stream as the text of a tool's result."""

from engine.mcp.protocol.streamed_result import event_data, stream_text
from tests.support.each import each
from tests.support.loop_turns import loop_turns


def events(*data):
    return b"".join(b"data: " + each_data + b"\n\n" for each_data in data)


@each(
    "stream, text",
    [
        (
            events(
                b'{"choices":[{"delta":{"role":"assistant","content":""}}]}',
                b'{"choices":[{"delta":{"content":"Hel"}}]}',
                b'{"choices":[{"delta":{"content":"lo"}}],"usage":null}',
                b"[DONE]",
            ),
            "Hello",
        ),
        (events(b'{"choices":[{"text":"a"}]}', b'{"choices":[{"text":"b"}]}'), "ab"),
        (
            b"event: content_block_delta\n"
            + events(b'{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}'),
            "Hi",
        ),
        (events(b'{"type":"response.output_text.delta","delta":"Yes"}'), "Yes"),
        (
            events(
                b'{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}]}',
                b'{"candidates":[{"content":{"parts":[{"text":"So"}]}}]}',
            ),
            "So",
        ),
        (events(b'{"n":1}', b"two"), '{"n":1}\ntwo'),
        (b": beat\r\n\r\ndata:a\r\ndata: b\r\n\r\n", "a\nb"),
        (b"", ""),
        (
            events(b"[1]", b'{"choices":5,"candidates":[{"content":1}]}'),
            '[1]\n{"choices":5,"candidates":[{"content":1}]}',
        ),
    ],
)
def test_the_text_of_a_chat_is_joined_and_other_events_are_lines(stream, text):
    assert stream_text(stream) == text


def test_the_data_of_an_event_may_have_several_lines():
    assert event_data(b"\xef\xbb\xbfdata: a\ndata:  b\nid: 1\n\nevent: x\n\n") == [b"a\n b"]


@each("line", [b"\n", b"\r", b"\r\n", b"data:\n\n", b": a\n\n", b"data: {}\n\n"])
def test_a_flood_of_lines_leaves_turns_to_others(line):
    lines = line * (40_000 // len(line))
    assert set(stream_text(lines + b"data: [DONE]\n\n")) <= {"{", "}", "\n"}
    if line.strip():
        assert loop_turns(lambda: stream_text(lines)) >= 2
