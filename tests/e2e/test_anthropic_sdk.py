"""The official Anthropic SDK, with base URL and key, calls every operation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import anthropic
import pytest
from anthropic import Anthropic, AsyncAnthropic, Omit
from openai import OpenAI

from tests.support.running import ALL, LIMITED, Platform
from tests.support.waiting import PATIENCE

MESSAGE = 'hello brave "new" world: \u00e9\u4e16\U0001f600'
TURNS = [{"role": "user", "content": MESSAGE}]
WEATHER = {
    "name": "get_weather",
    "description": "Today's weather",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}


@pytest.fixture(scope="module")
def client(platform: Platform) -> Iterator[Anthropic]:
    with Anthropic(base_url=platform.url, api_key=ALL, max_retries=0, timeout=PATIENCE) as sdk:
        yield sdk


def text_of(message: object) -> str:
    return "".join(block.text for block in message.content if block.type == "text")  # type: ignore[attr-defined]


def test_message_answers_what_was_said(client: Anthropic) -> None:
    answer = client.messages.create(
        model="claude-sonnet", max_tokens=99, system="Be brief.", messages=TURNS
    )
    assert text_of(answer) == MESSAGE
    assert answer.model == "claude-sonnet-4-5"
    assert answer.usage.output_tokens > 0
    assert answer.stop_reason == "end_turn"


@pytest.mark.parametrize("model", ["claude-opus-9", "meta-llama/Llama-3:free"])
def test_message_takes_models_of_any_name(client: Anthropic, model: str) -> None:
    answer = client.messages.create(model=model, max_tokens=99, messages=TURNS)
    assert (text_of(answer), answer.model) == (MESSAGE, model)


def test_message_takes_blocks_images_tools_and_thinking(client: Anthropic) -> None:
    image = {"type": "base64", "media_type": "image/png", "data": "AA=="}
    turns = [
        {"role": "user", "content": [{"type": "image", "source": image}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Oslo"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [{"type": "text", "text": "17"}],
                },
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "text", "text": MESSAGE, "cache_control": {"type": "ephemeral"}},
            ],
        },
    ]
    answer = client.messages.create(
        model="claude-sonnet",
        max_tokens=99,
        messages=turns,
        tools=[WEATHER],
        thinking={"type": "enabled", "budget_tokens": 1024},
        metadata={"user_id": "u"},
        stop_sequences=["x"],
        extra_body={"temperature": 1, "top_k": 5},
    )
    assert text_of(answer) == MESSAGE


def test_beta_headers_and_fields_pass(client: Anthropic) -> None:
    answer = client.beta.messages.create(
        model="claude-sonnet", max_tokens=99, messages=TURNS, betas=["context-1m-2025-08-07"]
    )
    assert text_of(answer) == MESSAGE


def test_message_streams_events(client: Anthropic) -> None:
    events = list(
        client.messages.create(model="claude-sonnet", max_tokens=99, messages=TURNS, stream=True)
    )
    pieces = [
        event.delta.text
        for event in events
        if event.type == "content_block_delta" and event.delta.type == "text_delta"
    ]
    assert "".join(pieces) == MESSAGE
    assert len(pieces) == len(MESSAGE.split())
    assert events[0].type == "message_start"
    assert events[-1].type == "message_stop"


def test_message_stream_helper(client: Anthropic) -> None:
    with client.messages.stream(model="claude-sonnet", max_tokens=99, messages=TURNS) as stream:
        assert "".join(stream.text_stream) == MESSAGE
        assert text_of(stream.get_final_message()) == MESSAGE
        assert stream.get_final_message().stop_reason == "end_turn"


def test_message_calls_tools(client: Anthropic) -> None:
    answer = client.messages.create(
        model="claude-sonnet",
        max_tokens=99,
        messages=TURNS,
        tools=[WEATHER],
        tool_choice={"type": "auto"},
    )
    # The next turn sends the message that the SDK returned.
    turns = [
        *TURNS,
        {"role": "assistant", "content": answer.content},
        {"role": "user", "content": "and?"},
    ]
    again = client.messages.create(model="claude-sonnet", max_tokens=99, messages=turns)
    assert text_of(again) == "and?"


def test_tokens_are_counted(client: Anthropic) -> None:
    counted = client.messages.count_tokens(
        model="claude-sonnet", messages=TURNS, system="Be brief.", tools=[WEATHER]
    )
    assert counted.input_tokens > 0


def test_token_may_travel_as_x_api_key(platform: Platform) -> None:
    headers = {"Authorization": Omit(), "x-api-key": ALL}
    with Anthropic(
        base_url=platform.url, api_key="unused", default_headers=headers, max_retries=0
    ) as client:
        answer = client.messages.create(model="claude-sonnet", max_tokens=9, messages=TURNS)
    assert text_of(answer) == MESSAGE


def test_token_may_travel_as_bearer(platform: Platform) -> None:
    headers = {"Authorization": f"Bearer {ALL}", "x-api-key": Omit()}
    with Anthropic(
        base_url=platform.url, api_key="unused", default_headers=headers, max_retries=0
    ) as client:
        answer = client.messages.create(model="claude-sonnet", max_tokens=9, messages=TURNS)
    assert text_of(answer) == MESSAGE


def test_async_client_runs_streams_side_by_side(platform: Platform) -> None:
    async def one(client: AsyncAnthropic, number: int) -> str:
        turns = [{"role": "user", "content": f"number {number}"}]
        async with client.messages.stream(
            model="claude-sonnet", max_tokens=9, messages=turns
        ) as stream:
            return await stream.get_final_text()

    async def many() -> list[str]:
        async with AsyncAnthropic(base_url=platform.url, api_key=ALL, max_retries=0) as client:
            return await asyncio.gather(*(one(client, number) for number in range(10)))

    assert asyncio.run(many()) == [f"number {number}" for number in range(10)]


def test_models_are_listed_page_by_page(client: Anthropic) -> None:
    all_ids = [model.id for model in client.models.list(limit=1000)]
    assert {"claude-sonnet", "gpt-4o", "meta-llama/Llama-3:free"} < set(all_ids)
    assert "native-gpt" not in all_ids, "its requests are not translated"
    first = client.models.list(limit=3)
    assert [model.id for model in first.data] == all_ids[:3]
    assert first.has_more
    assert (first.first_id, first.last_id) == (all_ids[0], all_ids[2])
    assert [model.id for model in first] == all_ids  # the SDK asks for page after page
    before = client.models.list(limit=2, before_id=all_ids[4])
    assert [model.id for model in before.data] == all_ids[2:4]


def test_one_model_is_shown(client: Anthropic) -> None:
    model = client.models.retrieve("claude-sonnet")
    assert (model.id, model.display_name, model.type) == ("claude-sonnet", "Claude Sonnet", "model")
    for name in ("meta-llama/Llama-3:free", "claude-by-a-wildcard", "gpt-4o"):
        assert client.models.retrieve(name).id == name
    with pytest.raises(anthropic.NotFoundError, match="not served in this format"):
        client.models.retrieve("native-gpt")


def test_models_are_those_the_token_may_use(platform: Platform) -> None:
    with Anthropic(base_url=platform.url, api_key=LIMITED, max_retries=0) as client:
        assert [model.id for model in client.models.list()] == ["gpt-4o", "gpt-4o-mini"]
    with OpenAI(base_url=f"{platform.url}/v1", api_key=LIMITED, max_retries=0) as client:
        names = {model.id for model in client.models.list()}
    assert names == {"gpt-4o", "gpt-4o-mini", "gpt-4o-transcribe", "gpt-4o-mini-tts"}


def test_every_answer_has_the_request_id_the_sdk_looks_for(client: Anthropic) -> None:
    answer = client.messages.create(model="claude-sonnet", max_tokens=9, messages=TURNS)
    assert (answer._request_id or "").startswith("req_")
