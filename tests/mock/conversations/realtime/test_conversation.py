"""The mock's half of a realtime session: what it answers to each of the caller's events."""

import base64
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.mock.conversations.realtime.conversation import RealtimeConversation
from tests.support.realtime import valid

SAID = 'hello brave "new" world: \u00e9\u4e16'
SOUND = bytes(range(256)) * 47  # 12,032 bytes: 250 ms at 48 bytes each, and a little


def conversation():
    numbers = itertools.count(1)
    return RealtimeConversation(
        "gpt-realtime",
        clock=lambda: 1_000.0,
        new_id=lambda prefix: f"{prefix}_{next(numbers)}",
    )


@pytest.fixture
def talk():
    return conversation()


def ask(talk, **event):
    """The whole answer to an event, each part of it valid."""
    answer = list(talk.receive(event))
    for said in answer:
        valid(said)
    return answer


def say(talk, text=SAID, **more):
    part = {"type": "input_text", "text": text}
    item = {"type": "message", "role": "user", "content": [part], **more}
    return ask(talk, type="conversation.item.create", item=item)


def speak(talk, sound=SOUND):
    ask(talk, type="input_audio_buffer.append", audio=base64.b64encode(sound[:5]).decode())
    ask(talk, type="input_audio_buffer.append", audio=base64.b64encode(sound[5:]).decode())
    return ask(talk, type="input_audio_buffer.commit")


def respond(talk, text=True, **response):
    response = {**({"output_modalities": ["text"]} if text else {}), **response}
    return ask(talk, type="response.create", response=response)


def kinds(events):
    """The names of events, a run of the same one told once."""
    return [kind for kind, _ in itertools.groupby(event["type"] for event in events)]


def joined(events, kind):
    return "".join(event["delta"] for event in events if event["type"] == kind)


def refusal(answer):
    assert [event["type"] for event in answer] == ["error"]
    return answer[0]["error"]["code"], answer[0]["error"]["param"]


# Sessions


def test_a_session_begins_with_its_settings(talk):
    (created,) = talk.opening()
    assert valid(created) == "session.created"
    session = created["session"]
    assert (session["model"], session["expires_at"]) == ("gpt-realtime", 1_000 + 3_600)


def test_an_update_changes_what_it_names_and_nothing_else():
    talk = conversation()
    before = talk.opening()[0]["session"]
    change = {
        "type": "realtime",
        "instructions": "Be brief.",
        "audio": {
            "input": {
                "transcription": {"model": "whisper-1"},
                "turn_detection": {"type": "semantic_vad", "eagerness": "low"},
                "noise_reduction": None,
            }
        },
    }
    (updated,) = ask(talk, type="session.update", session=change)
    expected = {**before, "instructions": "Be brief."}
    expected["audio"] = {
        **before["audio"],
        "input": {
            **before["audio"]["input"],
            "transcription": {"model": "whisper-1"},
            "turn_detection": {"type": "semantic_vad", "eagerness": "low"},
        },
    }
    assert (updated["type"], updated["session"]) == ("session.updated", expected)


def test_null_removes_a_setting(talk):
    output = {"voice": "ash"}
    transcription = {"transcription": {"model": "whisper-1"}}
    change = {"type": "realtime", "audio": {"input": transcription, "output": output}}
    (updated,) = ask(talk, type="session.update", session=change)
    assert updated["session"]["audio"]["input"]["transcription"] == {"model": "whisper-1"}
    change = {"type": "realtime", "audio": {"input": {"transcription": None}}}
    (updated,) = ask(talk, type="session.update", session=change)
    assert "transcription" not in updated["session"]["audio"]["input"]
    assert updated["session"]["audio"]["output"]["voice"] == "ash"


def test_the_model_of_a_session_stays(talk):
    change = {"type": "realtime", "model": "another"}
    (updated,) = ask(talk, type="session.update", session=change)
    assert updated["session"]["model"] == "gpt-realtime"


@pytest.mark.parametrize(
    ("session", "error"),
    [
        ({}, ("missing_required_parameter", "session.type")),
        ({"type": "transcription"}, ("invalid_value", "session.type")),
        ({"type": "realtime", "voice": "ash"}, ("unknown_parameter", "session.voice")),
        ({"type": "realtime", "instructions": 1}, ("invalid_type", "session.instructions")),
        (
            {"type": "realtime", "audio": {"input": {"format": {"type": "audio/pcm", "rate": 8}}}},
            ("invalid_value", "session.audio.input.format.rate"),
        ),
    ],
)
def test_a_wrong_update_changes_nothing_and_says_where(session, error):
    talk = conversation()
    before = talk.opening()[0]["session"]
    assert refusal(ask(talk, type="session.update", session=session)) == error
    assert talk.opening()[0]["session"] == before


# Text


def test_an_item_is_added(talk):
    answer = say(talk)
    assert kinds(answer) == ["conversation.item.added", "conversation.item.done"]
    assert answer[0]["previous_item_id"] is None
    assert say(talk)[0]["previous_item_id"] == answer[0]["item"]["id"]


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
    assert "".join(deltas) == SAID
    assert len(deltas) == len(SAID.split())
    done = answer[-1]["response"]
    assert done["status"] == "completed"
    assert done["output"][0]["content"] == [{"type": "output_text", "text": SAID}]


def test_usage_counts_words(talk):
    say(talk, "one two three")
    usage = respond(talk, instructions="Be brief.")[-1]["response"]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (5, 3, 8)
    # What was answered is read again in the next turn.
    say(talk, "four")
    usage = respond(talk)[-1]["response"]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (7, 1, 8)


def test_nothing_said_is_answered_with_nothing(talk):
    answer = respond(talk)
    assert joined(answer, "response.output_text.delta") == ""
    assert answer[-1]["response"]["status"] == "completed"


def test_a_reply_ends_at_its_limit(talk):
    say(talk, "one two three four")
    done = respond(talk, max_output_tokens=2)[-1]["response"]
    assert (done["status"], done["status_details"]["reason"]) == ("incomplete", "max_output_tokens")
    assert done["output"][0]["content"][0]["text"] == "one two "
    assert done["usage"]["output_tokens"] == 2


def test_a_reply_outside_of_the_conversation_leaves_no_trace(talk):
    say(talk)
    part = {"type": "input_text", "text": "aside"}
    aside = [{"type": "message", "role": "user", "content": [part]}]
    answer = respond(talk, conversation="none", input=aside, metadata={"a": "b"})
    done = answer[-1]["response"]
    assert done["output"][0]["content"][0]["text"] == "aside"
    assert done["metadata"] == {"a": "b"}
    assert "conversation_id" not in done
    assert not any(event["type"].startswith("conversation.") for event in answer)
    gone = ask(talk, type="conversation.item.delete", item_id=done["output"][0]["id"])
    assert refusal(gone) == ("item_delete_invalid_item_id", "item_id")


def test_a_function_is_called_where_it_must_be(talk):
    say(talk, "hi there")
    tool = {"type": "function", "name": "look_up", "parameters": {"type": "object"}}
    answer = respond(talk, tools=[tool], tool_choice="required")
    call = answer[-1]["response"]["output"][0]
    assert (call["type"], call["name"]) == ("function_call", "look_up")
    assert json.loads(call["arguments"]) == {"said": "hi there"}
    assert joined(answer, "response.function_call_arguments.delta") == call["arguments"]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "found it"}
    ask(talk, type="conversation.item.create", item=result)
    assert respond(talk)[-1]["response"]["output"][0]["content"][0]["text"] == "found it"


# Sound


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
    assert joined(answer, "response.output_audio_transcript.delta") == "250 ms of audio"
    done = answer[-1]["response"]
    assert done["output"][0]["content"] == [
        {"type": "output_audio", "transcript": "250 ms of audio"}
    ]
    usage = done["usage"]
    assert usage["input_token_details"]["audio_tokens"] == 3
    assert usage["output_token_details"] == {"text_tokens": 4, "audio_tokens": 6}
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (3, 10, 13)


def test_text_is_spoken_where_sound_is_wanted(talk):
    say(talk, "one two")
    answer = respond(talk, text=False)
    assert joined(answer, "response.output_audio_transcript.delta") == "one two"
    sound = [event for event in answer if event["type"] == "response.output_audio.delta"]
    assert [len(base64.b64decode(event["delta"])) for event in sound] == [4_800, 4_800]


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


def test_telephones_take_less_room():
    talk = conversation()
    line = {"format": {"type": "audio/pcmu"}}
    change = {"type": "realtime", "audio": {"input": line, "output": line}}
    ask(talk, type="session.update", session=change)
    speak(talk, bytes(1_600))
    answer = respond(talk, text=False)
    sound = [event for event in answer if event["type"] == "response.output_audio.delta"]
    assert [len(base64.b64decode(event["delta"])) for event in sound] == [800, 800]


def test_a_cleared_buffer_is_empty(talk):
    ask(talk, type="input_audio_buffer.append", audio="AAAA")
    assert kinds(ask(talk, type="input_audio_buffer.clear")) == ["input_audio_buffer.cleared"]
    empty = ask(talk, type="input_audio_buffer.commit")
    assert refusal(empty) == ("input_audio_buffer_commit_empty", None)


def test_sound_that_is_too_much_at_once_is_refused(talk):
    sound = base64.b64encode(bytes(15 * 1024 * 1024 + 1)).decode()
    answer = list(talk.receive({"type": "input_audio_buffer.append", "audio": sound}))
    assert refusal(answer) == ("invalid_value", "audio")


# Interruptions


def begun(talk, deltas=2, text=True):
    """A reply that has said `deltas` of its pieces, and what it has said."""
    modalities = {"output_modalities": ["text"]} if text else {}
    reply = talk.receive({"type": "response.create", "response": modalities})
    said = []
    while sum(event["type"].endswith(".delta") for event in said) < deltas:
        said.append(next(reply))
    return reply, said


def test_a_cancelled_reply_ends_properly(talk):
    say(talk, "one two three four")
    reply, _ = begun(talk)
    assert ask(talk, type="response.cancel") == []
    rest = list(reply)
    for event in rest:
        valid(event)
    assert kinds(rest)[:2] == ["response.output_text.done", "response.content_part.done"]
    done = rest[-1]["response"]
    assert done["status"] == "cancelled"
    assert done["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}
    assert done["output"][0]["status"] == "incomplete"
    assert done["output"][0]["content"][0]["text"] == "one two "
    assert done["usage"]["output_tokens"] == 2


def test_after_an_interruption_the_conversation_goes_on(talk):
    say(talk)
    reply, said = begun(talk)
    ask(talk, type="response.cancel", response_id=said[0]["response"]["id"])
    list(reply)
    say(talk, "again")
    assert respond(talk)[-1]["response"]["output"][0]["content"][0]["text"] == "again"


def test_a_function_call_can_be_interrupted(talk):
    say(talk, "one two three")
    response = {"tools": [{"type": "function", "name": "f"}], "tool_choice": "required"}
    reply = talk.receive({"type": "response.create", "response": response})
    while not next(reply)["type"].endswith(".delta"):
        pass
    ask(talk, type="response.cancel")
    assert list(reply)[-1]["response"]["status"] == "cancelled"


def test_only_a_reply_on_its_way_can_be_cancelled(talk):
    none = ("response_cancel_not_active", None)
    assert refusal(ask(talk, type="response.cancel")) == none
    say(talk)
    reply, _ = begun(talk)
    assert refusal(ask(talk, type="response.cancel", response_id="resp_other")) == none
    assert list(reply)[-1]["response"]["status"] == "completed"
    assert refusal(ask(talk, type="response.cancel")) == none


def test_one_reply_at_a_time(talk):
    say(talk)
    reply, _ = begun(talk)
    second = ask(talk, type="response.create")
    assert refusal(second) == ("conversation_already_has_active_response", None)
    assert list(reply)[-1]["response"]["status"] == "completed"


def test_the_output_buffer_is_cleared_while_a_reply_is_on_its_way(talk):
    none = ask(talk, type="output_audio_buffer.clear")
    assert refusal(none) == ("output_audio_buffer_not_active", None)
    say(talk)
    _, said = begun(talk, text=False)
    (cleared,) = ask(talk, type="output_audio_buffer.clear")
    assert cleared["type"] == "output_audio_buffer.cleared"
    assert cleared["response_id"] == said[0]["response"]["id"]


def test_a_reply_to_which_nobody_listens_any_more_is_forgotten(talk):
    say(talk)
    reply, _ = begun(talk)
    reply.close()
    assert respond(talk)[-1]["response"]["status"] == "completed"


def test_an_item_deleted_in_the_middle_stays_deleted(talk):
    say(talk)
    reply, said = begun(talk)
    item_id = said[1]["item"]["id"]
    ask(talk, type="conversation.item.delete", item_id=item_id)
    assert list(reply)[-1]["response"]["status"] == "completed"
    gone = ask(talk, type="conversation.item.retrieve", item_id=item_id)
    assert refusal(gone) == ("item_retrieve_invalid_item_id", "item_id")


def test_an_error_of_the_mocks_own_ends_a_reply_as_failed(talk):
    say(talk)
    reply, _ = begun(talk)
    (error,) = talk.fail()
    assert valid(error) == "error"
    assert error["error"]["type"] == "server_error"
    *_, done = reply
    assert valid(done) == "response.done"
    assert done["response"]["status"] == "failed"
    assert done["response"]["status_details"]["error"]["code"] == "mock_fault"


# Items


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
    (found,) = ask(talk, type="conversation.item.retrieve", item_id=item_id)
    assert base64.b64decode(found["item"]["content"][0]["audio"]) == SOUND


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
    (found,) = ask(talk, type="conversation.item.retrieve", item_id=item_id)
    (part,) = found["item"]["content"]
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


# Errors


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (b"", ("invalid_json", None)),
        ("not JSON", ("invalid_json", None)),
        (b"\xff\xfe", ("invalid_json", None)),
        ("[]", ("invalid_type", None)),
        ("{}", ("invalid_value", "type")),
        ('{"type": 5}', ("invalid_value", "type")),
        ('{"type": "session.created"}', ("invalid_value", "type")),
        ('{"type": "response.cancel", "x": 1}', ("unknown_parameter", "x")),
        ('{"type": "response.create", "response": []}', ("invalid_type", "response")),
        ('{"type": "conversation.item.delete"}', ("missing_required_parameter", "item_id")),
        (
            '{"type": "conversation.item.truncate", "item_id": "a", "content_index": true, '
            '"audio_end_ms": 0}',
            ("invalid_type", "content_index"),
        ),
        (
            '{"type": "response.create", "response": {"input": [5]}}',
            ("invalid_type", "response.input[0]"),
        ),
    ],
)
def test_what_cannot_be_served_is_an_error_event(talk, message, error):
    answer = list(talk.receive(message))
    valid(answer[0])
    assert refusal(answer) == error
    say(talk)  # and the session goes on
    assert respond(talk)[-1]["response"]["status"] == "completed"


def test_an_error_names_the_callers_event(talk):
    (error,) = ask(talk, type="conversation.item.delete", event_id="mine", item_id="item_x")
    assert error["error"]["event_id"] == "mine"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=9), below),
    max_leaves=9,
)
names = st.sampled_from(
    [
        *("session.update", "conversation.item.create", "conversation.item.truncate"),
        *("input_audio_buffer.append", "response.create", "response.cancel", "nonsense"),
    ]
)
fields = st.sampled_from(["session", "item", "audio", "response", "item_id", "event_id"])


@given(names, st.dictionaries(fields, json_values, max_size=3))
def test_whatever_an_event_holds_the_answer_is_valid(kind, members):
    talk = conversation()
    for event in talk.receive({**members, "type": kind}):
        valid(event)
