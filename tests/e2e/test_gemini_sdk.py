"""The official Google SDK, with base URL and key, calls every operation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from google import genai
from google.genai import types
from openai import DefaultHttpxClient

from tests.support.running import ALL, LIMITED, Platform
from tests.support.waiting import PATIENCE

MESSAGE = 'hello brave "new" world: \u00e9\u4e16\U0001f600'
FLASH = "gemini-2.5-flash"
REQUEST = {"contents": [{"role": "user", "parts": [{"text": MESSAGE}]}]}


def connected(platform: Platform, version: str | None = None, token: str = ALL) -> genai.Client:
    options = types.HttpOptions(base_url=platform.url, api_version=version, timeout=20_000)
    return genai.Client(api_key=token, http_options=options)


@pytest.fixture(scope="module")
def client(platform: Platform) -> Iterator[genai.Client]:
    with connected(platform) as sdk:
        yield sdk


@pytest.fixture(scope="module")
def http(platform: Platform) -> Iterator[DefaultHttpxClient]:
    with DefaultHttpxClient(base_url=platform.url, timeout=PATIENCE) as http_client:
        yield http_client


def test_content_is_generated(client: genai.Client) -> None:
    answer = client.models.generate_content(model=FLASH, contents=MESSAGE)
    assert answer.text == MESSAGE
    assert answer.usage_metadata is not None
    assert answer.usage_metadata.total_token_count


@pytest.mark.parametrize("version", ["v1", "v1beta", "v1alpha"])
def test_every_version_of_the_path_is_served(platform: Platform, version: str) -> None:
    with connected(platform, version) as client:
        assert client.models.generate_content(model=FLASH, contents=MESSAGE).text == MESSAGE
        assert client.models.get(model=FLASH).name == f"models/{FLASH}"
        pieces = client.models.generate_content_stream(model=FLASH, contents=MESSAGE)
        assert "".join(piece.text or "" for piece in pieces) == MESSAGE


@pytest.mark.parametrize("model", ["gemini-9-pro", f"models/{FLASH}"])
def test_content_is_generated_by_models_of_other_names(client: genai.Client, model: str) -> None:
    assert client.models.generate_content(model=model, contents=MESSAGE).text == MESSAGE


@pytest.mark.parametrize(
    "path", ["meta-llama/Llama-3:free", "meta-llama%2FLlama-3%3Afree", "meta-llama/Llama-3%3afree"]
)
def test_model_names_with_slash_and_colon_work_in_paths(
    http: DefaultHttpxClient, path: str
) -> None:
    answer = http.post(f"/v1beta/models/{path}:generateContent?key={ALL}", json=REQUEST)
    assert answer.status_code == 200, answer.text
    assert answer.json()["candidates"][0]["content"]["parts"][0]["text"] == MESSAGE
    assert answer.json()["modelVersion"] == "meta-llama/Llama-3:free"


def test_content_streams_word_by_word(client: genai.Client) -> None:
    pieces = list(client.models.generate_content_stream(model=FLASH, contents=MESSAGE))
    assert "".join(piece.text or "" for piece in pieces) == MESSAGE
    assert len([piece for piece in pieces if piece.text]) == len(MESSAGE.split())


def test_configuration_tools_and_files_pass(client: genai.Client) -> None:
    weather = types.FunctionDeclaration(
        name="f", parameters_json_schema={"type": "object", "properties": {}}
    )
    config = types.GenerateContentConfig(
        system_instruction="Be brief.",
        temperature=0.5,
        max_output_tokens=5,
        top_k=3,
        stop_sequences=["x"],
        tools=[types.Tool(function_declarations=[weather])],
        thinking_config=types.ThinkingConfig(thinking_budget=0),
        safety_settings=[
            types.SafetySetting(
                category=types.HarmCategory.HARM_CATEGORY_HARASSMENT,
                threshold=types.HarmBlockThreshold.BLOCK_NONE,
            )
        ],
        response_mime_type="application/json",
        response_json_schema={"type": "object"},
    )
    contents = [types.Part.from_bytes(data=b"\x00\xff", mime_type="image/png"), MESSAGE]
    answer = client.models.generate_content(model=FLASH, contents=contents, config=config)
    assert answer.text == MESSAGE or answer.function_calls


def test_chat_keeps_its_history(client: genai.Client) -> None:
    chat = client.chats.create(model=FLASH)
    assert chat.send_message("first").text == "first"
    assert "".join(p.text or "" for p in chat.send_message_stream("second one")) == "second one"
    assert len(chat.get_history()) >= 4


def test_content_is_embedded(client: genai.Client) -> None:
    answer = client.models.embed_content(model="gemini-embedding-001", contents=["a", "b"])
    assert answer.embeddings
    assert answer.embeddings[0].values


def test_one_content_is_embedded_by_the_plain_operation(http: DefaultHttpxClient) -> None:
    answer = http.post(
        "/v1beta/models/gemini-embedding-001:embedContent",
        headers={"x-goog-api-key": ALL},
        json={"content": {"parts": [{"text": "a"}]}, "taskType": "RETRIEVAL_QUERY"},
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["embedding"]["values"]


def test_tokens_are_counted(client: genai.Client) -> None:
    assert client.models.count_tokens(model=FLASH, contents=MESSAGE).total_tokens


def test_async_client(platform: Platform) -> None:
    async def many() -> list[str | None]:
        client = connected(platform).aio
        answers = await asyncio.gather(
            *(client.models.generate_content(model=FLASH, contents=f"n {n}") for n in range(10))
        )
        await client.aclose()
        return [answer.text for answer in answers]

    assert asyncio.run(many()) == [f"n {n}" for n in range(10)]


def test_models_are_listed_page_by_page(client: genai.Client) -> None:
    all_names = [model.name for model in client.models.list(config={"page_size": 1000})]
    assert {"models/meta-llama/Llama-3:free", "models/gpt-4o", f"models/{FLASH}"} < set(all_names)
    assert "models/native-gpt" not in all_names, "its requests are not translated"
    assert [model.name for model in client.models.list(config={"page_size": 4})] == all_names


def test_one_model_is_shown(client: genai.Client) -> None:
    model = client.models.get(model=FLASH)
    assert (model.name, model.display_name) == (f"models/{FLASH}", "Gemini 2.5 Flash")
    assert model.supported_actions == ["generateContent", "streamGenerateContent", "countTokens"]
    model = client.models.get(model="gpt-4o")
    assert model.supported_actions == ["generateContent", "streamGenerateContent", "countTokens"]
    model = client.models.get(model="gemini-embedding-by-a-wildcard")
    assert model.supported_actions == ["countTokens", "embedContent", "batchEmbedContents"]


def test_models_are_those_the_token_may_use(platform: Platform) -> None:
    with connected(platform, token=LIMITED) as client:
        names = [model.name for model in client.models.list()]
    assert names == ["models/gpt-4o", "models/gpt-4o-mini"]


# By raw HTTP, as the vendor's manual shows it


@pytest.mark.parametrize("mount", ["/v1beta", "/v1", "/v1alpha"])
def test_key_in_the_query_and_events_by_alt_sse(http: DefaultHttpxClient, mount: str) -> None:
    path = f"{mount}/models/{FLASH}:streamGenerateContent?alt=sse&key={ALL}"
    answer = http.post(path, json=REQUEST)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.headers["cache-control"] == "no-cache"
    *frames, last = answer.text.split("\n\n")
    assert last == ""
    events = [json.loads(frame.removeprefix("data: ")) for frame in frames]
    assert said_in(events) == MESSAGE


def test_without_alt_sse_a_json_array_is_streamed(http: DefaultHttpxClient) -> None:
    path = f"/v1beta/models/{FLASH}:streamGenerateContent?key={ALL}"
    answer = http.post(path, json=REQUEST)
    assert answer.headers["content-type"].startswith("application/json")
    assert said_in(answer.json()) == MESSAGE
    assert len(answer.json()) >= len(MESSAGE.split())


def test_snake_case_bodies_pass(http: DefaultHttpxClient) -> None:
    body = {**REQUEST, "system_instruction": {"parts": [{"text": "s"}]}}
    body["generation_config"] = {"max_output_tokens": 5}
    answer = http.post(f"/v1beta/models/{FLASH}:generateContent?key={ALL}", json=body)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("mount", ["/v1beta", "/v1", "/v1alpha"])
def test_list_of_models_by_key_in_the_query(http: DefaultHttpxClient, mount: str) -> None:
    answer = http.get(f"{mount}/models?pageSize=2&key={ALL}")
    assert len(answer.json()["models"]) == 2
    token = answer.json()["nextPageToken"]
    following = http.get(f"{mount}/models", params={"key": ALL, "pageToken": token})
    names = [model["name"] for model in following.json()["models"]]
    assert answer.json()["models"][0]["name"] not in names


def said_in(chunks: list[dict[str, object]]) -> str:
    texts = []
    for chunk in chunks:
        for candidate in chunk["candidates"]:  # type: ignore[attr-defined]
            parts = candidate.get("content", {}).get("parts", [])
            texts += [part.get("text", "") for part in parts]
    return "".join(texts)
