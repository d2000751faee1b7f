"""Events that wait for a verdict: what is joined, replaced, held and released."""

import json

import pytest

from engine import dialects
from engine.guardrails.held_events import MAX_EVENTS, MAX_HELD, HeldEvents
from engine.values.event_json import LONG_EVENT
from tests.support.growth import MAX_GROWTH, Work, growth
from tests.support.loop_turns import loop_turns

OPENAI = dialects.get("openai").meter.output
CLAUDE = dialects.get("anthropic").meter.output


def event(value, name=""):
    line = f"event: {name}\n" if name else ""
    return f"{line}data: {json.dumps(value)}\n\n".encode()


def delta(text, index=0):
    return event({"id": "c", "choices": [{"index": index, "delta": {"content": text}}]})


def block(text, index=0):
    value = {"type": "content_block_delta", "index": index, "delta": {"text": text}}
    return event(value, "content_block_delta")


def texts_in(data):
    return [
        json.loads(line[6:])["choices"][0]["delta"]["content"]
        for line in data.decode().splitlines()
        if line.startswith("data: {")
    ]


def held(output, *events):
    events_held = HeldEvents(output)
    passed = b"".join(map(events_held.add, events))
    return events_held, passed


def test_what_comes_before_the_first_text_is_not_held():
    start = event({"type": "message_start", "message": {}}, "message_start")
    events, passed = held(CLAUDE, start + b": ping\n\n", block("Hi"))
    assert passed == start + b": ping\n\n"
    assert events.characters == 2


def test_an_event_is_unread_until_it_is_released():
    events, passed = held(OPENAI, b"data: {\n\n", b"data: [DONE]\n\n", delta("a"))
    assert (events.is_unread, passed) == (True, b"")
    assert events.release(0).startswith(b"data: {\n\n")
    assert not events.is_unread


@pytest.mark.parametrize("first", [delta("a"), b"data: {\n\n"])
def test_an_event_costs_the_same_however_many_are_held(first: bytes) -> None:
    def prepare(size: int) -> Work:
        events = HeldEvents(OPENAI)

        def hold() -> None:
            for each in [first, *[event({"id": "c"})] * size]:
                events.add(each)
                assert events.is_unread == (first[6:7] == b"{") or events.characters

        return hold

    assert growth(prepare) < MAX_GROWTH


def test_the_loop_turns_between_events():
    events = HeldEvents(OPENAI)
    assert loop_turns(lambda: events.add(delta("a") * 20)) > 10
    assert loop_turns(events.texts) > 10
    assert loop_turns(lambda: events.release(100)) > 30  # it looks at all, and keeps them
    assert loop_turns(lambda: events.release(0)) > 10


def test_the_texts_of_an_event_are_replaced_at_the_cost_of_each():
    def prepare(size: int) -> Work:
        events, _ = held(None, event(["Ada"] * size))

        def replace() -> None:
            events.replace(dict.fromkeys(events.texts(), "new"), 0)
            assert events.release(0) == event(["new"] * size)

        return replace

    assert growth(prepare) < MAX_GROWTH


def test_an_event_that_is_a_text_is_replaced():
    events, _ = held(None, event("Ada"))
    assert events.texts() == {"/0": "Ada"}
    events.replace({"/0": "new"}, 0)
    assert events.release(0) == event("new")


def test_events_that_continue_each_other_have_one_text():
    events, _ = held(OPENAI, delta("I am ", 1), delta("You"), delta("Ada", 1), b"data: [DONE]\n\n")
    assert events.texts() == {
        "/0/choices/0/delta/content": "I am Ada",
        "/1/choices/0/delta/content": "You",
    }
    blocks, _ = held(CLAUDE, block("a"), block("b", 1), block("c"))
    assert list(blocks.texts().values()) == ["ac", "b"]


def test_all_of_it_is_released_as_it_came_if_nothing_is_replaced():
    data = [delta("one"), delta("two"), b"data: [DONE]\n\n"]
    events, _ = held(OPENAI, *data)
    assert events.release(0) == b"".join(data)
    assert events.texts() == {}


@pytest.mark.parametrize(
    ("overlap", "released", "rest"),
    [(0, 3, ""), (2, 2, "ef"), (3, 1, "cdef"), (6, 0, "abcdef"), (9, 0, "abcdef")],
)
def test_the_end_of_a_window_is_held(overlap, released, rest):
    events, _ = held(OPENAI, delta("ab"), delta("cd"), delta("ef"))
    assert len(texts_in(events.release(overlap))) == released
    assert "".join(events.texts().values()) == rest
    assert events.characters == 0


def test_a_replaced_text_stands_in_its_first_event_up_to_what_is_held():
    events, _ = held(OPENAI, delta("My name "), delta("is Ada"), delta(" Lovelace"))
    events.replace({"/0/choices/0/delta/content": "My name is <PERSON>"}, 4)
    assert texts_in(events.release(4)) == ["My name is <PER", ""]
    assert list(events.texts().values()) == ["SON>"]
    assert texts_in(events.release(0)) == ["SON>"]


def test_a_text_of_one_event_is_replaced_as_a_whole():
    events, _ = held(CLAUDE, block("I am Ada"))
    events.replace({"/0/delta/text": "I am <PERSON>"}, 4)
    released = events.release(0)
    assert released.startswith(b"event: content_block_delta\ndata: ")
    assert b"I am <PERSON>" in released


def test_too_many_bytes_are_full():
    events, _ = held(OPENAI, delta("a"), event({"image": "x" * MAX_HELD}))
    assert events.is_full


def test_too_many_events_are_full():
    events, _ = held(OPENAI, delta("a") + b"data: 1\n\n" * (MAX_EVENTS - 1))
    assert not events.is_full
    events.add(b"data: 1\n\n")
    assert events.is_full


def test_a_long_event_is_read_as_others_are():
    text = "x" * LONG_EVENT
    events, passed = held(OPENAI, delta(text))
    assert (passed, list(events.texts().values())) == (b"", [text])
    for data in (
        f'{{"n": 1e999, "a": "{text}"}}',
        f'"{text}\\ud800"',
        f'{{"n": NaN, "a": "{text}"}}',
    ):
        for size in (len(text), 1):
            events, _ = held(OPENAI, f"data: {data.replace(text, text[:size])}\n\n".encode())
            assert events.is_unread
