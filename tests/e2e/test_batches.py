"""Batches through the vendors' SDKs, the shipped gateway and the mock."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from anthropic import BadRequestError as AnthropicRefusal
from google import genai
from google.genai import errors, types
from openai import APIStatusError, BadRequestError, NotFoundError, OpenAI

from engine.values.caller import digest
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
OBJECTS = f"""
objects: {{key: "{KEY}"}}
stores: {{records: "sqlite:///records.db"}}
prices:
  gpt-4o-mini: {{input: 0.15, output: 0.6, batch: 0.5}}
  claude-sonnet: {{input: 3, output: 15, batch: 0.5}}
"""


POOR = "mw-" + "e" * 64
"""A token with a small budget."""
RENAMED = "  renamed: {to: [{upstream: openai, model: the-real-name}]}\n"


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("batches")
    config = shipped_with_files(folder / "project")
    path = folder / "project" / "mock.yaml"
    config = config.replace("  gpt-4o: &chat", f"{RENAMED}  gpt-4o: &chat", 1)
    poor = f"{{name: poor, sha256: {digest(POOR)}, budget: 0.0001 USD/month}}"
    config = config.replace("\ntokens:\n", f"\ntokens:\n  - {poor}\n", 1)
    path.write_text(config.replace("{listen}", "127.0.0.1:1") + f'\nobjects: {{key: "{KEY}"}}\n')
    with (
        mock(folder, "--config", str(path)) as upstream,
        gateway(folder / "project", patient(config + OBJECTS), pointed_at(upstream.url)) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def client(front: Running) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{front.url}/v1", api_key=ALL, max_retries=0) as client:
        yield client


def other(front: Running) -> OpenAI:
    """The client of another caller."""
    return OpenAI(base_url=f"{front.url}/v1", api_key=LIMITED, max_retries=0)


def chat(name: str, model: str = "gpt-4o", **more: Any) -> dict[str, Any]:
    """A line of a batch."""
    body = {"model": model, "messages": [{"role": "user", "content": name}], **more}
    return {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}


def jsonl(*lines: Any) -> io.BytesIO:
    file = io.BytesIO(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    file.name = "batch.jsonl"
    return file


def upload(client: OpenAI, *lines: Any) -> str:
    return client.files.create(file=jsonl(*lines), purpose="batch").id


def refusal(client: OpenAI, *lines: Any) -> dict[str, Any]:
    """The error of a batch that is refused."""
    with pytest.raises(BadRequestError) as refused:
        upload(client, *lines)
    error: dict[str, Any] = refused.value.body  # type: ignore[assignment]
    return error


def test_a_batch_goes_on_with_the_vendor_s_names_of_models(client: OpenAI) -> None:
    file = upload(client, chat("a", "renamed"), chat("b"))
    lines = client.files.content(file).text.splitlines()
    assert [json.loads(line)["body"]["model"] for line in lines] == ["the-real-name", "gpt-4o"]
    assert lines[1] == json.dumps(chat("b")), "what needs no change keeps its bytes"


def test_every_problem_has_its_line_and_place(client: OpenAI) -> None:
    error = refusal(client, chat("a"), chat("b", messages="hi"), {**chat("c"), "method": "GET"})
    assert error["param"] == "line 2.body.messages"
    assert "Line 2 (custom_id 'b', body.messages)" in error["message"]
    assert "Line 3 (custom_id 'c', method): 'method' must be POST." in error["message"]


def test_a_caller_has_no_model_by_a_batch_that_it_has_not_by_a_request(front: Running) -> None:
    with other(front) as client:
        upload(client, chat("a"))
        error = refusal(client, chat("a"), chat("b", "gpt-3.5-turbo"))
    assert error["code"] == "model_not_allowed"
    assert error["param"] == "line 2.body.model"


def test_names_and_files_of_a_batch_are_unique(client: OpenAI) -> None:
    error = refusal(client, chat("a"), {**chat("b"), "custom_id": "a"})
    assert "An earlier request has this 'custom_id', too." in error["message"]
    assert refusal(client)["message"] == "This batch has no requests."


def test_a_batch_is_not_uploaded_in_parts(client: OpenAI) -> None:
    with pytest.raises(BadRequestError, match="cannot be uploaded in parts"):
        client.uploads.create(bytes=9, filename="b", mime_type="text/plain", purpose="batch")
    client.uploads.create(bytes=9, filename="b", mime_type="text/plain", purpose="assistants")


def test_a_large_batch_is_judged_in_a_heavy_worker(client: OpenAI) -> None:
    lines = [chat(f"r{number}", "renamed", user="x" * 900) for number in range(2_000)]
    assert upload(client, *lines)
    lines[1_500]["body"]["messages"] = []
    lines[1_999]["url"] = "/v1/files"
    error = refusal(client, *lines)
    assert "Line 1501 (custom_id 'r1500', body.messages)" in error["message"]
    assert "Line 2000 (custom_id 'r1999', url)" in error["message"]


def messages(name: str, model: str = "claude-sonnet", **more: Any) -> Any:
    """A request of a message batch."""
    turns = [{"role": "user", "content": name}]
    return {
        "custom_id": name,
        "params": {"model": model, "max_tokens": 9, "messages": turns, **more},
    }


def test_a_message_batch_is_judged(front: Running) -> None:
    with Anthropic(base_url=front.url, api_key=ALL, max_retries=0) as client:
        batch = client.messages.batches.create(requests=[messages("a"), messages("b")])
        assert batch.id.startswith("msgbatch_mw")
        with pytest.raises(AnthropicRefusal) as refused:
            client.messages.batches.create(
                requests=[messages("a"), messages("b", messages=[{"role": "user"}])]
            )
        assert "Requests[1] (custom_id 'b', params.messages[0]" in refused.value.message
        with pytest.raises(AnthropicRefusal, match="'gpt-4o' is not served at 'anthropic'"):
            client.messages.batches.create(requests=[messages("a", "gpt-4o")])


def test_a_batch_of_gemini_is_judged(front: Running) -> None:
    client = google(front)
    batch = client.batches.create(model="gemini-2.5-flash", src=[{"contents": "hi"}])
    assert batch.name is not None
    assert batch.name.startswith("batches/6d77") or "mw" in batch.name
    with pytest.raises(errors.ClientError, match="'gpt-4o' is not served at 'gemini'"):
        client.batches.create(model="gpt-4o", src=[{"contents": "hi"}])
    limited = google(front, LIMITED)  # a client closes when it is collected
    with pytest.raises(errors.ClientError, match="may not use the model"):
        limited.batches.create(model="gemini-2.5-flash", src=[{"contents": "hi"}])


def google(front: Running, token: str = ALL) -> genai.Client:
    return genai.Client(api_key=token, http_options=types.HttpOptions(base_url=front.url))


def gemini_line(name: str, *parts: Any) -> dict[str, Any]:
    parts = parts or ({"text": name},)
    return {"key": name, "request": {"contents": [{"role": "user", "parts": [*parts]}]}}


def gemini_file(client: genai.Client, *lines: Any) -> str:
    config = types.UploadFileConfig(mime_type="jsonl", display_name="requests")
    return str(client.files.upload(file=jsonl(*lines), config=config).name)


def of_file(client: genai.Client, file: str, model: str = "gemini-2.5-flash") -> Any:
    return client.batches.create(model=model, src=file)


def test_requests_in_a_file_of_gemini_are_judged_and_their_results_count(front: Running) -> None:
    client = google(front)
    batch = of_file(client, gemini_file(client, gemini_line("one"), gemini_line("two")))
    while batch.state != types.JobState.JOB_STATE_SUCCEEDED:
        batch = client.batches.get(name=batch.name)
    results = client.files.download(file=batch.dest.file_name).splitlines()
    texts = [json.loads(line)["response"]["candidates"][0]["content"] for line in results]
    assert [text["parts"][0]["text"] for text in texts] == ["one", "two"]
    rows = usage(front, upstream="gemini", model_asked="gemini-2.5-flash")
    assert len(rows) == 2
    stranger = google(front, LIMITED)
    with pytest.raises(errors.ClientError, match="404"):
        stranger.files.download(file=batch.dest.file_name)


def test_a_file_of_gemini_is_refused_with_the_place_of_each_problem(front: Running) -> None:
    client, limited = google(front), google(front, LIMITED)
    file = gemini_file(client, gemini_line("a"), {"key": "b", "request": {"contents": 7}})
    with pytest.raises(errors.ClientError, match=r"Line 2 \(key 'b', request.contents\)"):
        of_file(client, file)
    with pytest.raises(errors.ClientError, match="404"):
        of_file(limited, file)
    with pytest.raises(errors.ClientError, match="may not use the model"):
        of_file(limited, gemini_file(limited, gemini_line("a")))
    with pytest.raises(errors.ClientError, match="'gpt-4o' is not served at 'gemini'"):
        of_file(client, file, "gpt-4o")
    with pytest.raises(errors.ClientError, match="has not kept it"):
        of_file(client, gemini_file(client, {"a": 1}))


def test_ids_in_a_file_of_gemini_are_those_of_the_vendor_in_a_file_of_the_gateway_s(
    front: Running,
) -> None:
    client, poor = google(front), google(front, POOR)
    config = types.UploadFileConfig(mime_type="text/plain", display_name="mine")
    page = client.files.upload(file=io.BytesIO(b"a page"), config=config)
    part = {"fileData": {"fileUri": page.uri, "mimeType": "text/plain"}}
    file = gemini_file(client, gemini_line("a"), gemini_line("b", part))
    assert of_file(client, file).name
    edited = next(f for f in client.files.list() if f.display_name == "batch.jsonl")
    lines = client.files.download(file=str(edited.name)).splitlines()
    assert json.loads(lines[0]) == gemini_line("a")
    uri = json.loads(lines[1])["request"]["contents"][0]["parts"][0]["fileData"]["fileUri"]
    assert uri.startswith("https://generativelanguage.googleapis.com/v1beta/files/")
    assert "/mw" not in uri
    with pytest.raises(errors.ClientError, match="no such object"):
        of_file(poor, gemini_file(poor, gemini_line("b", part)))


def test_a_large_file_of_gemini_comes_in_pieces(front: Running) -> None:
    client = google(front)
    lines = [gemini_line(f"r{number}", {"text": "x" * 9_000}) for number in range(1_000)]
    assert of_file(client, gemini_file(client, *lines)).name  # in two pieces of 8 MB at most
    lines[999]["request"]["contents"] = 7
    with pytest.raises(errors.ClientError, match=r"Line 1000 \(key 'r999'"):
        of_file(client, gemini_file(client, *lines))


def usage(front: Running, **where: str) -> list[dict[str, Any]]:
    """The rows of the ledger of requests of batches, with these values."""
    database = sqlite3.connect(front.log.parent / "records.db")
    database.row_factory = sqlite3.Row
    with closing(database):
        rows = database.execute("SELECT * FROM usage WHERE via = 'batch'").fetchall()
    entries = [dict(row) for row in rows]
    return [each for each in entries if all(each[name] == value for name, value in where.items())]


def finished(client: OpenAI, *lines: Any) -> Any:
    """A batch that has ended."""
    batch = client.batches.create(
        input_file_id=upload(client, *lines),
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"note": "mine"},
    )
    while batch.status != "completed":
        batch = client.batches.retrieve(batch.id)
    return batch


def test_results_count_once_with_the_names_of_callers(front: Running, client: OpenAI) -> None:
    batch = finished(client, chat("a", "renamed"), chat("b", "renamed"))
    assert batch.metadata == {"note": "mine"}
    assert usage(front, model_asked="renamed") == []
    for _ in range(3):
        results = client.files.content(batch.output_file_id).text.splitlines()
        bodies = [json.loads(line)["response"]["body"] for line in results]
        assert [body["model"] for body in bodies] == ["renamed", "renamed"]
    rows = usage(front, model_asked="renamed")
    assert len(rows) == 2
    assert {(row["token"], row["model_served"], row["upstream"]) for row in rows} == {
        ("everything", "the-real-name", "openai")
    }
    assert {row["operation"] for row in rows} == {"openai.createChatCompletion"}
    assert rows[0]["client"].startswith("openai")
    assert sum(row["input"] for row in rows) == sum(b["usage"]["prompt_tokens"] for b in bodies)


def test_a_batch_costs_half(front: Running, client: OpenAI) -> None:
    batch = finished(client, chat("one two three", "gpt-4o-mini"))
    body = json.loads(client.files.content(batch.output_file_id).text)["response"]["body"]
    (row,) = usage(front, model_asked="gpt-4o-mini")
    full = body["usage"]["prompt_tokens"] * 150 + body["usage"]["completion_tokens"] * 600
    assert row["cost"] == full // 2
    assert row["price"] == "config"


def test_results_count_against_a_budget_when_they_are_read(front: Running) -> None:
    with OpenAI(base_url=f"{front.url}/v1", api_key=POOR, max_retries=0) as client:
        batch = finished(client, *(chat(f"{n} two three", "gpt-4o-mini") for n in range(200)))
        ask = {"model": "gpt-4o-mini", "max_tokens": 1}
        turns: Any = [{"role": "user", "content": "hi"}]
        client.chat.completions.create(**ask, messages=turns)
        client.files.content(batch.output_file_id)
        with pytest.raises(APIStatusError) as refused:
            client.chat.completions.create(**ask, messages=turns)
    assert refused.value.status_code == 402


def test_nobody_else_reads_results(front: Running, client: OpenAI) -> None:
    batch = finished(client, chat("mine"))
    with other(front) as stranger:
        for ask in (
            lambda: stranger.files.content(batch.output_file_id),
            lambda: stranger.batches.retrieve(batch.id),
            lambda: stranger.batches.cancel(batch.id),
            lambda: stranger.batches.create(
                input_file_id=batch.input_file_id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
            ),
        ):
            with pytest.raises(NotFoundError):
                ask()
        assert [*stranger.batches.list()] == []


def test_an_upload_that_looks_like_results_counts_nothing(front: Running, client: OpenAI) -> None:
    line = {"custom_id": "x", "response": {"status_code": 200, "body": {"model": "fake"}}}
    file = client.files.create(file=jsonl(line), purpose="user_data")
    assert client.files.content(file.id).text
    assert usage(front, model_served="fake") == []


def test_results_of_message_batches_count(front: Running) -> None:
    with Anthropic(base_url=front.url, api_key=ALL, max_retries=0) as client:
        batch = client.messages.batches.create(requests=[messages("a"), messages("b")])
        while batch.processing_status != "ended":
            batch = client.messages.batches.retrieve(batch.id)
        for _ in range(2):
            results = [*client.messages.batches.results(batch.id)]
            assert [each.result.message.model for each in results] == ["claude-sonnet"] * 2
    rows = usage(front, model_asked="claude-sonnet")
    assert len(rows) == 2
    assert rows[0]["cost"] > 0
    with (
        Anthropic(base_url=front.url, api_key=LIMITED, max_retries=0) as stranger,
        pytest.raises(Exception, match="no such object"),
    ):
        [*stranger.messages.batches.results(batch.id)]


def test_results_of_gemini_count(front: Running) -> None:
    client = google(front)
    before = len(usage(front, upstream="gemini"))
    batch = client.batches.create(
        model="gemini-2.5-flash", src=[{"contents": "hi"}, {"contents": "you"}]
    )
    while batch.state != types.JobState.JOB_STATE_SUCCEEDED:
        batch = client.batches.get(name=batch.name)
    client.batches.get(name=batch.name)
    assert batch.dest is not None
    assert [each.response.text for each in batch.dest.inlined_responses] == ["hi", "you"]
    rows = usage(front, upstream="gemini")
    assert len(rows) == before + 2
    assert {row["operation"] for row in rows} == {"gemini.generateContent"}
    stranger = google(front, LIMITED)
    with pytest.raises(errors.ClientError, match="404"):
        stranger.batches.get(name=batch.name)
