"""The items of a conversation: their order, their form, what is cut and deleted."""

import base64

import pytest

from tests.support.realtime_mock import SOUND, ask, kinds, refusal, respond, say, speak


def test_an_item_is_added(talk):
    answer = say(talk)
    assert kinds(answer) == ["conversation.item.added", "conversation.item.done"]
    assert answer[0]["previous_item_id"] is None
    assert say(talk)[0]["previous_item_id"] == answer[0]["item"]["id"]


def test_an_item_is_put_where_it_is_wanted(talk):
    first = say(talk, "a", id="item_a")[0]
    say(talk, "b", id="item_b")
    part = {"type": "input_text", "text": "c"}
    item = {"id": "item_c", "type": "message", "role": "system", "content": [part]}
    create = {"type": "conversation.item.create", "item": item}
    assert ask(talk, **create, previous_item_id="item_a")[0]["previous_item_id"] == "item_a"
    again = {**create, "item": {**item, "id": "item_d"}}
    assert ask(talk, **again, previous_item_id="root")[0]["previous_item_id"] is None
    assert first["previous_item_id"] is None
    unknown = {**create, "item": {**item, "id": "item_e"}}
    assert refusal(ask(talk, **unknown, previous_item_id="item_x")) == (
        "item_create_invalid_previous_item_id",
        "previous_item_id",
    )
    assert refusal(say(talk, id="item_a")) == ("item_create_duplicate_id", "item.id")


def test_an_item_is_retrieved_with_its_sound(talk):
    item_id = speak(talk)[0]["item_id"]
    (retrieved,) = ask(talk, type="conversation.item.retrieve", item_id=item_id)
    assert base64.b64decode(retrieved["item"]["content"][0]["audio"]) == SOUND


def test_a_deleted_item_is_not_answered(talk):
    say(talk, "first")
    item_id = say(talk, "second")[0]["item"]["id"]
    (deleted,) = ask(talk, type="conversation.item.delete", item_id=item_id)
    assert (deleted["type"], deleted["item_id"]) == ("conversation.item.deleted", item_id)
    assert respond(talk)[-1]["response"]["output"][0]["content"][0]["text"] == "first"


def test_sound_is_cut_where_the_caller_stopped_listening(talk):
    speak(talk)
    item_id = respond(talk, text=False)[-1]["response"]["output"][0]["id"]
    cut = {"type": "conversation.item.truncate", "item_id": item_id, "content_index": 0}
    (truncated,) = ask(talk, **cut, audio_end_ms=100)
    assert (truncated["type"], truncated["audio_end_ms"]) == ("conversation.item.truncated", 100)
    (retrieved,) = ask(talk, type="conversation.item.retrieve", item_id=item_id)
    (part,) = retrieved["item"]["content"]
    assert (base64.b64decode(part["audio"]), part["transcript"]) == (SOUND[:4_800], "")
    assert refusal(ask(talk, **cut, audio_end_ms=101)) == ("invalid_value", "audio_end_ms")
    other = {**cut, "item_id": "item_x"}
    assert refusal(ask(talk, **other, audio_end_ms=0)) == (
        "item_truncate_invalid_item_id",
        "item_id",
    )


def test_only_sound_of_the_mock_can_be_cut(talk):
    item_id = say(talk)[0]["item"]["id"]
    cut = {"item_id": item_id, "content_index": 0, "audio_end_ms": 0}
    answer = ask(talk, type="conversation.item.truncate", **cut)
    assert refusal(answer) == ("invalid_value", "content_index")


MESSAGE = {"type": "message", "role": "user"}


@pytest.mark.parametrize(
    ("item", "error"),
    [
        ({}, ("missing_required_parameter", "item.type")),
        ({"type": "message", "content": []}, ("missing_required_parameter", "item.role")),
        (MESSAGE, ("missing_required_parameter", "item.content")),
        ({**MESSAGE, "content": "hi"}, ("invalid_type", "item.content")),
        ({**MESSAGE, "content": ["hi"]}, ("invalid_type", "item.content[0]")),
        (
            {**MESSAGE, "content": [{"type": "input_text"}]},
            ("missing_required_parameter", "item.content[0].text"),
        ),
        (
            {**MESSAGE, "content": [{"type": "input_text", "text": "a"}, {"type": "input_audio"}]},
            ("missing_required_parameter", "item.content[1].audio"),
        ),
        (
            {**MESSAGE, "content": [{"type": "input_audio", "audio": "?"}]},
            ("invalid_value", "item.content[0].audio"),
        ),
        (
            {**MESSAGE, "role": "assistant", "content": [{"type": "input_text", "text": "a"}]},
            ("invalid_value", "item.content[0].type"),
        ),
        ({"type": "function_call", "name": "f"}, ("missing_required_parameter", "item.arguments")),
    ],
)
def test_a_wrong_item_is_refused_with_its_place(talk, item, error):
    assert refusal(ask(talk, type="conversation.item.create", item=item)) == error
