"""The mock's half of a realtime session: what it answers to each of the caller's events."""

import base64

from tests.support.realtime import valid
from tests.support.realtime_mock import (
    ask,
    kinds,
    receive,
    refusal,
    respond,
    say,
    speak,
    start_reply,
)


def test_a_response_outside_the_conversation_adds_no_item(talk):
    say(talk)
    part = {"type": "input_text", "text": "aside"}
    aside = [{"type": "message", "role": "user", "content": [part]}]
    answer = respond(talk, conversation="none", input=aside, metadata={"a": "b"})
    response = answer[-1]["response"]
    assert response["output"][0]["content"][0]["text"] == "aside"
    assert response["metadata"] == {"a": "b"}
    assert "conversation_id" not in response
    assert not any(event["type"].startswith("conversation.") for event in answer)
    error_events = ask(talk, type="conversation.item.delete", item_id=response["output"][0]["id"])
    assert refusal(error_events) == ("item_delete_invalid_item_id", "item_id")


def test_sound_is_transcribed_where_that_is_wanted(talk):
    transcription = {"model": "whisper-1"}
    change = {"type": "realtime", "audio": {"input": {"transcription": transcription}}}
    ask(talk, type="session.update", session=change)
    answer = speak(talk)
    assert answer[0]["type"] == "input_audio_buffer.committed"
    kind = "conversation.item.input_audio_transcription"
    assert kinds(answer)[-2:] == [f"{kind}.delta", f"{kind}.completed"]
    assert answer[-1]["transcript"] == "250 ms of audio"
    assert answer[-1]["item_id"] == answer[0]["item_id"]


def test_a_cleared_buffer_is_empty(talk):
    ask(talk, type="input_audio_buffer.append", audio="AAAA")
    assert kinds(ask(talk, type="input_audio_buffer.clear")) == ["input_audio_buffer.cleared"]
    empty = ask(talk, type="input_audio_buffer.commit")
    assert refusal(empty) == ("input_audio_buffer_commit_empty", None)


def test_sound_that_is_too_much_at_once_is_refused(talk):
    sound = base64.b64encode(bytes(15 * 1024 * 1024 + 1)).decode()
    answer = list(receive(talk, {"type": "input_audio_buffer.append", "audio": sound}))
    assert refusal(answer) == ("invalid_value", "audio")


def test_after_an_interruption_the_conversation_goes_on(talk):
    say(talk)
    reply, events = start_reply(talk)
    ask(talk, type="response.cancel", response_id=events[0]["response"]["id"])
    list(reply)
    say(talk, "again")
    assert respond(talk)[-1]["response"]["output"][0]["content"][0]["text"] == "again"


def test_only_a_response_in_progress_can_be_cancelled(talk):
    none = ("response_cancel_not_active", None)
    assert refusal(ask(talk, type="response.cancel")) == none
    say(talk)
    reply, _ = start_reply(talk)
    assert refusal(ask(talk, type="response.cancel", response_id="resp_other")) == none
    assert list(reply)[-1]["response"]["status"] == "completed"
    assert refusal(ask(talk, type="response.cancel")) == none


def test_a_second_response_at_the_same_time_is_refused(talk):
    say(talk)
    reply, _ = start_reply(talk)
    second = ask(talk, type="response.create")
    assert refusal(second) == ("conversation_already_has_active_response", None)
    assert list(reply)[-1]["response"]["status"] == "completed"


def test_a_response_whose_caller_left_ends(talk):
    say(talk)
    reply, _ = start_reply(talk)
    reply.close()
    assert respond(talk)[-1]["response"]["status"] == "completed"


def test_an_item_deleted_in_the_middle_stays_deleted(talk):
    say(talk)
    reply, events = start_reply(talk)
    item_id = events[1]["item"]["id"]
    ask(talk, type="conversation.item.delete", item_id=item_id)
    assert list(reply)[-1]["response"]["status"] == "completed"
    error_events = ask(talk, type="conversation.item.retrieve", item_id=item_id)
    assert refusal(error_events) == ("item_retrieve_invalid_item_id", "item_id")


def test_an_error_of_the_mock_ends_a_response_as_failed(talk):
    say(talk)
    reply, _ = start_reply(talk)
    (error,) = talk.fail()
    assert valid(error) == "error"
    assert error["error"]["type"] == "server_error"
    *_, response = reply
    assert valid(response) == "response.done"
    assert response["response"]["status"] == "failed"
    assert response["response"]["status_details"]["error"]["code"] == "mock_fault"
