"""Responses that are stored: through OpenAI's SDK, the shipped gateway and the mock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from openai import NotFoundError, OpenAI

from tests.support.running import ALL, Running, gateway, mock, patient, pointed_at, shipped

OBJECTS = '\nobjects: {key: "0123456789abcdef0123456789abcdef"}\n'


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("stored")
    config = shipped(folder / "project").replace("# include: [objects", "include: [objects", 1)
    config += OBJECTS
    path = folder / "project" / "mock.yaml"
    path.write_text(config.replace("{listen}", "127.0.0.1:1"))
    with (
        mock(folder, "--config", str(path)) as upstream,
        gateway(folder / "project", patient(config), pointed_at(upstream.url)) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def client(front: Running) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{front.url}/v1", api_key=ALL, max_retries=0) as client:
        yield client


def test_a_stored_response_is_continued_read_and_deleted(client: OpenAI) -> None:
    first = client.responses.create(model="gpt-4o", input="one", store=True)
    second = client.responses.create(model="gpt-4o", input="two", previous_response_id=first.id)
    assert first.id.startswith("resp_mw")
    assert second.previous_response_id == first.id
    assert client.responses.retrieve(second.id).output_text == "two"
    assert client.responses.input_items.list(first.id).data[0].id.startswith("msg_mw")
    client.responses.delete(first.id)
    with pytest.raises(NotFoundError) as gone:
        client.responses.retrieve(first.id)
    assert first.id in str(gone.value), "an error of the vendor has the caller's id"


def test_a_conversation_holds_responses_until_it_is_deleted(client: OpenAI) -> None:
    conversation = client.conversations.create()
    response = client.responses.create(
        model="gpt-4o", input="hi", conversation={"id": conversation.id}
    )
    assert response.conversation is not None
    assert response.conversation.id == conversation.id
    client.conversations.delete(conversation.id)
    with pytest.raises(NotFoundError):
        client.responses.create(model="gpt-4o", input="hi", conversation=conversation.id)


def test_a_stream_in_the_background_is_resumed_with_the_same_ids(client: OpenAI) -> None:
    options = {"model": "gpt-4o", "input": "a b c", "background": True}
    events = [*client.responses.create(**options, stream=True)]
    (name,) = {event.response.id for event in events if hasattr(event, "response")}
    rest = [*client.responses.retrieve(name, stream=True, starting_after=4)]
    assert [event.sequence_number for event in rest] == [*range(5, len(events))]
    assert rest[-1].response.id == name


def test_a_response_in_the_background_is_cancelled(client: OpenAI) -> None:
    response = client.responses.create(model="gpt-4o", input="hi", background=True)
    cancelled = client.responses.cancel(response.id)
    assert (cancelled.id, cancelled.status) == (response.id, "cancelled")
