"""The official OpenAI SDK, with base URL and key, calls every operation."""

from __future__ import annotations

import asyncio
import base64
import json
import struct
from collections.abc import Iterator

import openai
import pydantic
import pytest
from openai import AsyncOpenAI, OpenAI

from tests.support.running import ALL, Platform
from tests.support.waiting import PATIENCE

MESSAGE = 'hello brave "new" world: \u00e9\u4e16\U0001f600'
TURNS = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": MESSAGE}]
FLOATS = [0.5, -0.25, 0.125, 0.75]
PNG = ("a.png", b"\x89PNG\r\n\x1a\n\x00\xff", "image/png")
WAV = ("a.wav", b"RIFF\x00\x00\x00\x00WAVE\xff\xfe", "audio/wav")
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Today's weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


@pytest.fixture(scope="module")
def client(platform: Platform) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{platform.url}/v1", api_key=ALL, max_retries=0, timeout=PATIENCE) as sdk:
        yield sdk


# Chat


def test_chat_answers_what_was_said(client: OpenAI) -> None:
    answer = client.chat.completions.create(model="gpt-4o", messages=TURNS)
    assert answer.choices[0].message.content == MESSAGE
    assert answer.choices[0].finish_reason == "stop"
    assert answer.model == "gpt-4o"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def test_chat_takes_explicit_nulls_and_unknown_fields(client: OpenAI) -> None:
    answer = client.chat.completions.create(
        model="gpt-4o",
        messages=TURNS,
        temperature=None,
        stop=None,
        seed=None,
        logit_bias=None,
        extra_body={"top_k": 40, "provider": {"order": ["a"]}},
    )
    assert answer.choices[0].message.content == MESSAGE


@pytest.mark.parametrize("model", ["meta-llama/Llama-3:free", "org/m:x", "renamed", "gpt-4o-mini"])
def test_chat_takes_models_of_any_name(client: OpenAI, model: str) -> None:
    answer = client.chat.completions.create(model=model, messages=TURNS)
    assert answer.choices[0].message.content == MESSAGE
    assert answer.model == {"renamed": "the-real-name"}.get(model, model)


def test_chat_streams_word_by_word(client: OpenAI) -> None:
    chunks = list(client.chat.completions.create(model="gpt-4o", messages=TURNS, stream=True))
    pieces = [c.choices[0].delta.content for c in chunks if c.choices[0].delta.content]
    assert "".join(pieces) == MESSAGE
    assert len(pieces) == len(MESSAGE.split())
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert all(chunk.usage is None for chunk in chunks)


def test_chat_streams_usage_where_asked_for(client: OpenAI) -> None:
    stream = client.chat.completions.create(
        model="gpt-4o", messages=TURNS, stream=True, stream_options={"include_usage": True}
    )
    *chunks, last = stream
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == MESSAGE
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.total_tokens > 0


def test_chat_stream_helper(client: OpenAI) -> None:
    with client.chat.completions.stream(model="gpt-4o", messages=TURNS) as stream:
        assert stream.get_final_completion().choices[0].message.content == MESSAGE


def test_chat_calls_tools(client: OpenAI) -> None:
    answer = client.chat.completions.create(
        model="gpt-4o", messages=TURNS, tools=[WEATHER], tool_choice="required"
    )
    message = answer.choices[0].message
    assert message.tool_calls is not None
    call = message.tool_calls[0]
    assert call.type == "function"
    assert call.function.name
    assert json.loads(call.function.arguments)
    # The next turn sends the message that the SDK returned.
    turns = [*TURNS, message, {"role": "tool", "tool_call_id": call.id, "content": "17 degrees"}]
    again = client.chat.completions.create(
        model="gpt-4o", messages=[*turns, {"role": "user", "content": "and?"}], tools=[WEATHER]
    )
    assert again.choices[0].message.content == "and?"


def test_chat_streams_tool_calls(client: OpenAI) -> None:
    with client.chat.completions.stream(
        model="gpt-4o", messages=TURNS, tools=[WEATHER], tool_choice="required"
    ) as stream:
        calls = stream.get_final_completion().choices[0].message.tool_calls
    assert calls is not None
    assert json.loads(calls[0].function.arguments)


def test_chat_takes_images_audio_and_files(client: OpenAI) -> None:
    data = base64.b64encode(b"\x00\xff").decode()
    content = [
        {"type": "text", "text": MESSAGE},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
        {"type": "image_url", "image_url": {"url": "https://x.invalid/a.png", "detail": "low"}},
        {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf,x"}},
    ]
    answer = client.chat.completions.create(
        model="gpt-4o", messages=[{"role": "user", "content": content}]
    )
    assert answer.choices[0].message.content == MESSAGE


def test_chat_parse_helper_reads_the_answer_into_a_type(client: OpenAI) -> None:
    class Place(pydantic.BaseModel):
        city: str

    answer = client.chat.completions.parse(
        model="gpt-4o",
        messages=[{"role": "user", "content": '{"city": "Oslo"}'}],
        response_format=Place,
    )
    assert answer.choices[0].message.parsed == Place(city="Oslo")


def test_async_client_runs_chats_side_by_side(platform: Platform) -> None:
    async def one(client: AsyncOpenAI, number: int) -> str:
        turns = [{"role": "user", "content": f"number {number}"}]
        stream = await client.chat.completions.create(model="gpt-4o", messages=turns, stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    async def many() -> list[str]:
        url = f"{platform.url}/v1"
        async with AsyncOpenAI(base_url=url, api_key=ALL, max_retries=0) as client:
            return await asyncio.gather(*(one(client, number) for number in range(20)))

    assert asyncio.run(many()) == [f"number {number}" for number in range(20)]


# Completions, embeddings, moderations, rerank


def test_completion_answers_the_prompt(client: OpenAI) -> None:
    answer = client.completions.create(model="gpt-3.5-turbo-instruct", prompt=MESSAGE, max_tokens=9)
    assert answer.choices[0].text == MESSAGE


def test_completion_streams(client: OpenAI) -> None:
    stream = client.completions.create(model="gpt-3.5-turbo-instruct", prompt=MESSAGE, stream=True)
    assert "".join(chunk.choices[0].text for chunk in stream) == MESSAGE


def test_embeddings_travel_as_base64_by_default(client: OpenAI) -> None:
    answer = client.embeddings.create(model="text-embedding-3-small", input=["a", "b"])
    assert answer.data[0].embedding == FLOATS
    raw = client.embeddings.with_raw_response.create(
        model="text-embedding-3-small", input="a", encoding_format="base64"
    )
    embedding = json.loads(raw.text)["data"][0]["embedding"]
    assert list(struct.unpack("<4f", base64.b64decode(embedding))) == FLOATS


@pytest.mark.parametrize("text", ["a", ["a", "b"], [1, 2], [[1, 2], [3]]])
def test_embeddings_as_numbers_of_every_kind_of_input(client: OpenAI, text: object) -> None:
    answer = client.embeddings.create(
        model="text-embedding-3-large", input=text, encoding_format="float", dimensions=4
    )
    assert answer.data[0].embedding == FLOATS


@pytest.mark.parametrize(
    "text",
    [
        "fine",
        ["fine", "too"],
        [
            {"type": "text", "text": "fine"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        ],
    ],
)
def test_moderation_of_every_kind_of_input(client: OpenAI, text: object) -> None:
    answer = client.moderations.create(input=text, model="omni-moderation-latest")
    assert not answer.results[0].flagged
    assert answer.results[0].categories.hate_threatening is False


def test_moderation_without_a_model_takes_the_routes_own(client: OpenAI) -> None:
    answer = client.moderations.create(input="fine")
    assert answer.model == "omni-moderation-latest"


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_rerank_by_the_sdks_own_post(client: OpenAI, version: str) -> None:
    """Clients of the vendor use the paths of both versions."""
    body = {"model": "rerank-v3.5", "query": "q", "documents": ["a", "b"], "top_n": 2}
    path = str(client.base_url.copy_with(path=f"/{version}/rerank"))
    answer = client.post(path, body=body, cast_to=object)
    assert isinstance(answer, dict)
    results = answer["results"]
    assert {type(result["index"]) for result in results} == {int}
    assert all(0 <= result["relevance_score"] <= 1 for result in results)


def test_nothing_else_is_served_below_v2(client: OpenAI) -> None:
    path = str(client.base_url.copy_with(path="/v2/chat/completions"))
    with pytest.raises(openai.NotFoundError, match="There is no POST /v2/chat/completions"):
        client.post(path, body={"model": "gpt-4o", "messages": []}, cast_to=object)


@pytest.mark.parametrize(
    ("model", "has"),
    [
        ("whisper-1", "openai.createTranscription and openai.createTranslation"),
        ("gpt-9-transcribe-large", "openai.createTranscription"),
        ("gpt-image-9", "openai.createImage and openai.createImageEdit"),
        ("native-claude", "anthropic.createMessage and anthropic.countTokens"),
    ],
)
def test_what_is_no_chat_model_is_not_found_for_chat_and_says_what_it_can_do(
    client: OpenAI, model: str, has: str
) -> None:
    with pytest.raises(openai.NotFoundError) as excinfo:
        client.chat.completions.create(model=model, messages=[{"role": "user", "content": "x"}])
    assert excinfo.value.code == "model_not_found"
    assert f"it has {has}." in excinfo.value.message


# Images


def test_image_is_generated(client: OpenAI) -> None:
    answer = client.images.generate(prompt="a cat", model="gpt-image-1", n=1, size="1024x1024")
    assert answer.data is not None
    assert base64.b64decode(answer.data[0].b64_json or "")


def test_image_without_a_model_takes_the_routes_own(client: OpenAI) -> None:
    answer = client.images.generate(prompt="a cat", response_format="url")
    assert answer.data is not None
    assert answer.data[0].url


def test_image_streams_its_parts(client: OpenAI) -> None:
    stream = client.images.generate(
        prompt="a cat", model="gpt-image-1", stream=True, partial_images=1
    )
    types = [event.type for event in stream]
    assert types == ["image_generation.partial_image", "image_generation.completed"]


def test_one_image_is_edited(client: OpenAI) -> None:
    answer = client.images.edit(image=PNG, prompt="a cat", model="gpt-image-1")
    assert answer.data is not None
    assert answer.data[0].b64_json


def test_several_images_are_edited_with_a_mask_and_every_option(client: OpenAI) -> None:
    answer = client.images.edit(
        image=[PNG, PNG],
        mask=PNG,
        prompt="a cat",
        n=2,
        output_compression=80,
        quality="high",
        input_fidelity="low",
        background="auto",
        size=None,
        user="u",
    )
    assert answer.created


def test_image_edit_streams(client: OpenAI) -> None:
    stream = client.images.edit(image=PNG, prompt="a cat", stream=True, partial_images=1)
    assert [event.type for event in stream][-1] == "image_edit.completed"


# Audio


def test_transcription_as_json(client: OpenAI) -> None:
    answer = client.audio.transcriptions.create(
        file=WAV, model="gpt-4o-transcribe", include=["logprobs"], temperature=0.2, language="en"
    )
    assert answer.text


@pytest.mark.parametrize("form", ["text", "srt", "vtt"])
def test_transcription_as_plain_text(client: OpenAI, form: str) -> None:
    answer = client.audio.transcriptions.create(file=WAV, model="whisper-1", response_format=form)
    assert isinstance(answer, str)
    assert answer.strip()
    assert ("-->" in answer) == (form != "text")
    assert answer.startswith("WEBVTT") == (form == "vtt")


def test_transcription_with_times_of_words_and_segments(client: OpenAI) -> None:
    answer = client.audio.transcriptions.create(
        file=WAV,
        model="whisper-1",
        response_format="verbose_json",
        timestamp_granularities=["word", "segment"],
    )
    assert answer.words
    assert answer.segments


def test_transcription_with_nested_options(client: OpenAI) -> None:
    answer = client.audio.transcriptions.create(
        file=WAV,
        model="gpt-4o-transcribe",
        response_format="diarized_json",
        chunking_strategy={"type": "server_vad", "prefix_padding_ms": 3, "threshold": 0.5},
        known_speaker_names=["a"],
        known_speaker_references=["data:audio/wav;base64,AA=="],
    )
    assert answer.segments


def test_transcription_streams(client: OpenAI) -> None:
    stream = client.audio.transcriptions.create(file=WAV, model="gpt-4o-transcribe", stream=True)
    *deltas, last = stream
    assert {event.type for event in deltas} == {"transcript.text.delta"}
    assert last.type == "transcript.text.done"


def test_speech_is_bytes_untouched(client: OpenAI) -> None:
    answer = client.audio.speech.create(model="tts-1", input=MESSAGE, voice="alloy")
    assert answer.content == bytes(range(256)) * 128
    assert answer.response.headers["content-type"].startswith("audio/")


def test_speech_streams_bytes(client: OpenAI) -> None:
    with client.audio.speech.with_streaming_response.create(
        model="gpt-4o-mini-tts", input=MESSAGE, voice="brand-new-voice", response_format="pcm"
    ) as answer:
        assert b"".join(answer.iter_bytes(1000)) == bytes(range(256)) * 128


def test_speech_streams_events(client: OpenAI) -> None:
    answer = client.audio.speech.create(
        model="gpt-4o-mini-tts", input=MESSAGE, voice="alloy", stream_format="sse"
    )
    assert b"event: speech.audio.done\n" in answer.content or b"speech.audio.done" in answer.content


# Responses


def test_response_answers_what_was_said(client: OpenAI) -> None:
    answer = client.responses.create(model="gpt-4o", input=MESSAGE, instructions="Be brief.")
    assert answer.output_text == MESSAGE
    assert answer.usage is not None
    assert answer.usage.total_tokens > 0


def test_response_streams_events_in_order(client: OpenAI) -> None:
    events = list(client.responses.create(model="gpt-4o", input=MESSAGE, stream=True))
    text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    assert text == MESSAGE
    assert events[0].type == "response.created"
    assert events[-1].type == "response.completed"
    assert [event.sequence_number for event in events] == list(range(len(events)))


def test_response_stream_helper(client: OpenAI) -> None:
    with client.responses.stream(model="gpt-4o", input=MESSAGE) as stream:
        for _ in stream:
            pass
        assert stream.get_final_response().output_text == MESSAGE


def test_response_takes_back_what_it_gave(client: OpenAI) -> None:
    tool = {"type": "function", **WEATHER["function"]}  # type: ignore[dict-item]
    first = client.responses.create(
        model="gpt-4o", input=MESSAGE, tools=[tool], tool_choice="required"
    )
    call = first.output[0]
    assert call.type == "function_call"
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "17"}
    turns = [*first.output, result, {"role": "user", "content": "and?"}]
    assert client.responses.create(model="gpt-4o", input=turns).output_text == "and?"


# Models, realtime


def test_models_are_those_of_the_config(client: OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert {"gpt-4o", "whisper-1", "rerank-v3.5", "org/m:x", "renamed"} < set(names)
    assert {"claude-sonnet", "gemini-2.5-flash"} < set(names), "their requests are translated"
    assert "native-claude" not in names
    assert not any("*" in name for name in names)


@pytest.mark.parametrize(
    "name", ["gpt-4o", "org/m:x", "meta-llama/Llama-3:free", "gpt-by-a-wildcard"]
)
def test_one_model_is_shown(client: OpenAI, name: str) -> None:
    model = client.models.retrieve(name)
    assert (model.id, model.object) == (name, "model")


def test_realtime_over_plain_http_is_told_that_it_is_a_websocket(client: OpenAI) -> None:
    with pytest.raises(openai.APIStatusError, match="WebSocket") as excinfo:
        client.get("/realtime", cast_to=object, options={"params": {"model": "gpt-realtime"}})
    assert excinfo.value.status_code == 426
    assert excinfo.value.code == "upgrade_required"
    assert excinfo.value.response.headers["upgrade"] == "websocket"


def test_every_answer_has_a_request_id_for_the_sdk(client: OpenAI) -> None:
    answer = client.chat.completions.create(model="gpt-4o", messages=TURNS)
    assert (answer._request_id or "").startswith("req_")


def test_the_tokens_of_a_response_are_counted(client: OpenAI) -> None:
    count = client.responses.input_tokens.count(model="gpt-4o", input=MESSAGE, tools=[])
    assert count.object == "response.input_tokens"
    assert count.input_tokens > 0
