"""A file that lives at another vendor than the model that reads it, through the shipped gateway and
the mock, with the vendors' SDKs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from anthropic import APIStatusError as AnthropicError
from google import genai
from google.genai import types
from openai import OpenAI

from engine.values.caller import digest
from tests.support.running import (
    ALL,
    Running,
    gateway,
    mock,
    patient,
    pointed_at,
    shipped_with_files,
)
from tests.support.waiting import until

KEY = "0123456789abcdef0123456789abcdef"
OBJECTS = f"""
objects: {{key: "{KEY}", files: {{copy: true, max_size: 1MB}}}}
stores: {{records: "sqlite:///records.db"}}
"""
OTHER = "mw-" + "e" * 64
CONTENT = b"%PDF-1.4 a page"


@pytest.fixture(scope="module")
def gateways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Running]]:
    """Two gateways with one database."""
    folder: Path = tmp_path_factory.mktemp("copies")
    config = shipped_with_files(folder / "project")
    other = f"{{name: other, sha256: {digest(OTHER)}}}"
    config = config.replace("\ntokens:\n", f"\ntokens:\n  - {other}\n", 1)
    path = folder / "project" / "mock.yaml"
    path.write_text(config.replace("{listen}", "127.0.0.1:1") + f'\nobjects: {{key: "{KEY}"}}\n')
    text = patient(config + OBJECTS)
    with (
        mock(folder, "--config", str(path)) as upstream,
        gateway(folder / "project", text, pointed_at(upstream.url)) as one,
        gateway(folder / "project", text, pointed_at(upstream.url)) as two,
    ):
        yield [one, two]


def openai(running: Running, key: str = ALL) -> OpenAI:
    return OpenAI(base_url=f"{running.url}/v1", api_key=key, max_retries=0)


def anthropic(running: Running, key: str = ALL) -> Anthropic:
    return Anthropic(base_url=running.url, api_key=key, max_retries=0)


def gemini(running: Running) -> genai.Client:
    options = types.HttpOptions(base_url=running.url)
    return genai.Client(api_key=ALL, http_options=options)


def ask_claude(client: Anthropic, file_id: str) -> Any:
    source = {"type": "file", "file_id": file_id}
    content = [{"type": "document", "source": source}, {"type": "text", "text": "?"}]
    return client.beta.messages.create(
        model="claude-sonnet",
        max_tokens=9,
        messages=[{"role": "user", "content": content}],  # type: ignore[typeddict-item,list-item]
        betas=["files-api-2025-04-14"],
    )


def test_a_file_of_openai_is_read_by_claude(gateways: list[Running]) -> None:
    with openai(gateways[0]) as client, anthropic(gateways[0]) as claude:
        file = client.files.create(file=("page.pdf", CONTENT), purpose="user_data")
        before = {each.id for each in claude.beta.files.list(limit=1000).data}
        for _ in range(2):
            assert ask_claude(claude, file.id).content
        copies = [each for each in claude.beta.files.list().data if each.id not in before]
        assert [(each.filename, each.size_bytes) for each in copies] == [("page.pdf", len(CONTENT))]
        assert claude.beta.files.download(copies[0].id).read() == CONTENT


def test_two_gateways_copy_a_file_once(gateways: list[Running]) -> None:
    with openai(gateways[0]) as client:
        file = client.files.create(file=("once.pdf", CONTENT), purpose="user_data")
    clients = [anthropic(running) for running in gateways for _ in range(3)]
    with ThreadPoolExecutor(len(clients)) as pool:
        answers = [*pool.map(lambda client: ask_claude(client, file.id), clients)]
    assert all(answer.content for answer in answers)
    names = [each.filename for each in clients[0].beta.files.list(limit=1000).data]
    assert names.count("once.pdf") == 1
    for each in clients:
        each.close()


def test_files_of_all_vendors_are_read_by_all(gateways: list[Running]) -> None:
    with openai(gateways[0]) as client, anthropic(gateways[0]) as claude:
        google = gemini(gateways[0])
        theirs = claude.beta.files.upload(file=("a.txt", b"Hello", "text/plain"))
        item = {"type": "input_file", "file_id": theirs.id}
        response = client.responses.create(
            model="gpt-4o",
            input=[{"role": "user", "content": [item]}],  # type: ignore[list-item,misc]
        )
        assert response.status == "completed"
        assert "a.txt" in [each.filename for each in client.files.list().data]
        part = types.Part.from_uri(file_uri=theirs.id, mime_type="text/plain")
        answer = google.models.generate_content(model="gemini-flash", contents=[part, "?"])
        assert answer.candidates
        copy = next(each for each in google.files.list() if each.display_name == "a.txt")
        assert copy.size_bytes == 5
        assert ask_claude(claude, str(copy.name)).content


def test_copies_are_requests_of_their_caller(gateways: list[Running]) -> None:
    with openai(gateways[0]) as client, anthropic(gateways[0], OTHER) as other:
        file = client.files.create(file=("mine.pdf", CONTENT), purpose="user_data")
        with pytest.raises(AnthropicError) as excinfo:
            ask_claude(other, file.id)
        assert excinfo.value.status_code == 404
        big = client.files.create(file=("big.pdf", b"x" * 1_100_000), purpose="user_data")
    with anthropic(gateways[0]) as claude:
        assert ask_claude(claude, file.id).content
        with pytest.raises(AnthropicError) as excinfo:
            ask_claude(claude, big.id)
    assert excinfo.value.status_code == 400
    assert "lives at 'openai', and cannot be copied to 'anthropic'" in str(excinfo.value)
    google = gemini(gateways[0])
    part = types.Part.from_uri(file_uri=file.id, mime_type="application/pdf")
    assert google.models.generate_content(model="gemini-flash", contents=[part, "?"]).candidates

    def rows() -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(gateways[0].log.parent / "records.db")) as records:
            query = "SELECT operation, cost, token FROM ledger WHERE via = 'copy'"
            return records.execute(query).fetchall()

    names = {
        "openai-files.downloadFile",
        "anthropic-files.createFile",
        "gemini-files.sendFilePiece",
    }
    until(lambda: names <= {row[0] for row in rows()}, "the rows of the ledger")
    assert {row[1] for row in rows()} == {0}
    assert {row[2] for row in rows()} == {"everything"}
