"""Drives a realtime session of the mock; every event of an answer is checked."""

import base64
import itertools
import json

from engine.mock.conversations.realtime.conversation import RealtimeConversation
from tests.support.realtime import valid

TEXT = 'hello brave "new" world: \u00e9\u4e16'


SOUND = bytes(range(256)) * 47  # 12,032 bytes: 250 ms at 48 bytes each, and a little


def conversation():
    numbers = itertools.count(1)
    return RealtimeConversation(
        "gpt-realtime",
        clock=lambda: 1_000.0,
        new_id=lambda prefix: f"{prefix}_{next(numbers)}",
    )


def receive(talk, event):
    return talk.receive(json.dumps(event))


def ask(talk, **members):
    """The whole answer to an event, each part of it valid."""
    answer = list(receive(talk, members))
    for event in answer:
        valid(event)
    return answer


def say(talk, text=TEXT, **more):
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
    """The names of events; a run of equal names is one."""
    return [kind for kind, _ in itertools.groupby(event["type"] for event in events)]


def deltas_of(events, kind):
    return "".join(event["delta"] for event in events if event["type"] == kind)


def refusal(answer):
    assert [event["type"] for event in answer] == ["error"]
    return answer[0]["error"]["code"], answer[0]["error"]["param"]


def start_reply(talk, deltas=2, text=True):
    """A reply after `deltas` delta events, and its events so far."""
    modalities = {"output_modalities": ["text"]} if text else {}
    reply = receive(talk, {"type": "response.create", "response": modalities})
    events = []
    while sum(event["type"].endswith(".delta") for event in events) < deltas:
        events.append(next(reply))
    return reply, events
