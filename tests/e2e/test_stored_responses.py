"""Responses that are stored, by their vendor or in the records: through OpenAI's SDK, the shipped
gateway and the mock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openai import BadRequestError, NotFoundError, OpenAI

from tests.support.running import (
    ALL,
    LIMITED,
    Running,
    gateway,
    mock,
    patient,
    pointed_at,
    shipped_with_files,
)

KEY = "0123456789abcdef0123456789abcdef"
RECORDS = f"""
objects: {{key: "{KEY}", responses: {{store: records}}}}
stores: {{records: "sqlite:///records.db"}}
"""


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("stored")
    config = shipped_with_files(folder / "project")
    path = folder / "project" / "mock.yaml"
    path.write_text(config.replace("{listen}", "127.0.0.1:1") + f'\nobjects: {{key: "{KEY}"}}\n')
    config += RECORDS
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


def test_a_stored_chat_completion_is_its_caller_s(front: Running, client: OpenAI) -> None:
    turns: Any = [{"role": "user", "content": "hi"}]
    ask: Any = {"model": "gpt-4o", "messages": turns}
    chat = client.chat.completions.create(**ask, store=True, metadata={"topic": "a"})
    assert chat.id.startswith("chatcmpl-mw")
    stored = client.chat.completions.retrieve(chat.id)
    assert (stored.id, stored.metadata) == (chat.id, {"topic": "a"})
    assert [each.id for each in client.chat.completions.list()] == [chat.id]
    with OpenAI(base_url=f"{front.url}/v1", api_key=LIMITED, max_retries=0) as other:
        assert [*other.chat.completions.list()] == []
        with pytest.raises(NotFoundError):
            other.chat.completions.retrieve(chat.id)
    (streamed,) = {
        each.id for each in client.chat.completions.create(**ask, store=True, stream=True)
    }
    assert streamed.startswith("chatcmpl-mw")
    assert "-mw" not in client.chat.completions.create(**ask).id
    client.chat.completions.delete(chat.id)
    with pytest.raises(NotFoundError):
        client.chat.completions.retrieve(chat.id)


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


CHAT_MODELS = ("claude-sonnet", "gpt-4o", "gemini-2.5-flash")


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_goes_on_from_vendor_to_vendor(client: OpenAI, stream: bool) -> None:
    previous, said = None, []
    for model in (*CHAT_MODELS, *reversed(CHAT_MODELS)):
        said.append(f"turn {len(said)}")
        options = {"model": model, "input": said[-1], "previous_response_id": previous}
        if stream:
            response = [*client.responses.create(**options, stream=True)][-1].response
        else:
            response = client.responses.create(**options)
        assert response.previous_response_id == previous
        assert getattr(response, "store", True)  # the mock's streams say nothing of it
        assert client.responses.retrieve(response.id).output_text == said[-1]
        previous = response.id
    items = client.responses.input_items.list(previous, order="asc", limit=100).data
    users = [item.content[0].text for item in items if item.role == "user"]
    assert users == said
    assert len(items) == 2 * len(said) - 1


def test_a_response_of_the_records_ends_with_its_deletion(client: OpenAI) -> None:
    first = client.responses.create(model="claude-sonnet", input="one")
    second = client.responses.create(
        model="claude-sonnet", input="two", previous_response_id=first.id
    )
    with pytest.raises(BadRequestError, match="in the background"):
        client.responses.cancel(first.id)
    client.responses.delete(first.id)
    with pytest.raises(NotFoundError):
        client.responses.retrieve(first.id)
    with pytest.raises(BadRequestError) as gone:
        client.responses.create(model="gpt-4o", input="two", previous_response_id=first.id)
    assert gone.value.code == "previous_response_not_found"
    client.responses.create(model="gpt-4o", input="three", previous_response_id=second.id)


def test_nobody_else_reads_continues_or_deletes_it(front: Running, client: OpenAI) -> None:
    kept = client.responses.create(model="claude-sonnet", input="secret")
    with OpenAI(base_url=f"{front.url}/v1", api_key=LIMITED, max_retries=0) as other:
        attempts = (
            lambda: other.responses.retrieve(kept.id),
            lambda: other.responses.input_items.list(kept.id),
            lambda: other.responses.delete(kept.id),
            lambda: other.responses.create(
                model="gpt-4o", input="what?", previous_response_id=kept.id
            ),
        )
        for attempt in attempts:
            with pytest.raises(NotFoundError, match="does not belong to this token"):
                attempt()
    assert client.responses.retrieve(kept.id).output_text == "secret"


def test_what_is_not_to_be_stored_is_not(client: OpenAI) -> None:
    response = client.responses.create(model="claude-sonnet", input="hi", store=False)
    assert response.store is False
    with pytest.raises(BadRequestError):
        client.responses.create(
            model="claude-sonnet", input="two", previous_response_id=response.id
        )
