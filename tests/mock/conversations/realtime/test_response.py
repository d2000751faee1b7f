"""The events of a response: words, audio, function calls, usage, and how it ends."""

import base64
import json

from tests.support.realtime import valid
from tests.support.realtime_mock import (
    SOUND,
    TEXT,
    ask,
    deltas_of,
    kinds,
    receive,
    respond,
    say,
    speak,
    start_reply,
)


def test_a_text_turn_echoes_word_by_word(talk):
    say(talk)
    answer = respond(talk)
    assert kinds(answer) == [
        "response.created",
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "conversation.item.done",
        "response.done",
    ]
    deltas = [event["delta"] for event in answer if event["type"] == "response.output_text.delta"]
    assert "".join(deltas) == TEXT
    assert len(deltas) == len(TEXT.split())
    response = answer[-1]["response"]
    assert response["status"] == "completed"
    assert response["output"][0]["content"] == [{"type": "output_text", "text": TEXT}]


def test_usage_counts_words(talk):
    say(talk, "one two three")
    usage = respond(talk, instructions="Be brief.")[-1]["response"]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (5, 3, 8)
    # What was answered is read again in the next turn.
    say(talk, "four")
    usage = respond(talk)[-1]["response"]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (7, 1, 8)


def test_a_setting_of_null_is_that_of_the_session(talk):
    say(talk)
    answer = respond(talk, instructions=None, tools=None, max_output_tokens=None)
    assert deltas_of(answer, "response.output_text.delta") == TEXT


def test_an_empty_turn_gets_an_empty_response(talk):
    answer = respond(talk)
    assert deltas_of(answer, "response.output_text.delta") == ""
    assert answer[-1]["response"]["status"] == "completed"


def test_a_response_ends_at_its_limit(talk):
    say(talk, "one two three four")
    response = respond(talk, max_output_tokens=2)[-1]["response"]
    assert (response["status"], response["status_details"]["reason"]) == (
        "incomplete",
        "max_output_tokens",
    )
    assert response["output"][0]["content"][0]["text"] == "one two "
    assert response["usage"]["output_tokens"] == 2


def test_a_function_is_called_where_it_must_be(talk):
    say(talk, "hi there")
    tool = {"type": "function", "name": "look_up", "parameters": {"type": "object"}}
    answer = respond(talk, tools=[tool], tool_choice="required")
    call = answer[-1]["response"]["output"][0]
    assert (call["type"], call["name"]) == ("function_call", "look_up")
    assert json.loads(call["arguments"]) == {"said": "hi there"}
    assert deltas_of(answer, "response.function_call_arguments.delta") == call["arguments"]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "found it"}
    ask(talk, type="conversation.item.create", item=result)
    assert respond(talk)[-1]["response"]["output"][0]["content"][0]["text"] == "found it"


def test_sound_comes_back_in_pieces_with_a_transcript(talk):
    speak(talk)
    answer = respond(talk, text=False)
    pieces = [
        base64.b64decode(event["delta"])
        for event in answer
        if event["type"] == "response.output_audio.delta"
    ]
    assert [len(piece) for piece in pieces] == [4_800, 4_800, len(SOUND) - 9_600]
    assert b"".join(pieces) == SOUND
    assert deltas_of(answer, "response.output_audio_transcript.delta") == "250 ms of audio"
    response = answer[-1]["response"]
    assert response["output"][0]["content"] == [
        {"type": "output_audio", "transcript": "250 ms of audio"}
    ]
    usage = response["usage"]
    assert usage["input_token_details"]["audio_tokens"] == 3
    assert usage["output_token_details"] == {"text_tokens": 4, "audio_tokens": 6}
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (3, 10, 13)


def test_text_is_spoken_where_sound_is_wanted(talk):
    say(talk, "one two")
    answer = respond(talk, text=False)
    assert deltas_of(answer, "response.output_audio_transcript.delta") == "one two"
    sound = [event for event in answer if event["type"] == "response.output_audio.delta"]
    assert [len(base64.b64decode(event["delta"])) for event in sound] == [4_800, 4_800]


def test_a_cancelled_response_closes_its_parts(talk):
    say(talk, "one two three four")
    reply, _ = start_reply(talk)
    assert ask(talk, type="response.cancel") == []
    last_events = list(reply)
    for event in last_events:
        valid(event)
    assert kinds(last_events)[:2] == ["response.output_text.done", "response.content_part.done"]
    response = last_events[-1]["response"]
    assert response["status"] == "cancelled"
    assert response["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}
    assert response["output"][0]["status"] == "incomplete"
    assert response["output"][0]["content"][0]["text"] == "one two "
    assert response["usage"]["output_tokens"] == 2


def test_a_function_call_can_be_interrupted(talk):
    say(talk, "one two three")
    response = {"tools": [{"type": "function", "name": "f"}], "tool_choice": "required"}
    reply = receive(talk, {"type": "response.create", "response": response})
    while not next(reply)["type"].endswith(".delta"):
        pass
    ask(talk, type="response.cancel")
    assert list(reply)[-1]["response"]["status"] == "cancelled"
