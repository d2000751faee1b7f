"""The settings of a session: what an update changes, and what it does not."""

import base64

import pytest

from tests.support.realtime import valid
from tests.support.realtime_mock import ask, conversation, refusal, respond, speak


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


def test_telephone_audio_takes_fewer_bytes():
    talk = conversation()
    line = {"format": {"type": "audio/pcmu"}}
    change = {"type": "realtime", "audio": {"input": line, "output": line}}
    ask(talk, type="session.update", session=change)
    speak(talk, bytes(1_600))
    answer = respond(talk, text=False)
    sound = [event for event in answer if event["type"] == "response.output_audio.delta"]
    assert [len(base64.b64decode(event["delta"])) for event in sound] == [800, 800]
